"""Translates the compiled loops for pages, so that a wheel has them and the first page need not wait: `make wheel`.

They are written to src/kane/simulate/compiled/translated, with a key of the sources that they are made of. Where these
or the processor are others, a page translates them itself.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path

from kane.simulate.compiled import portable


def main() -> None:
    """Write all loops, and their key last."""
    folder = Path(portable.__file__).parent / portable.SHIPPED
    folder.mkdir(exist_ok=True)
    (folder / portable.KEY).unlink(missing_ok=True)
    for name in portable.LOOPS:
        began = time.process_time()
        code = portable.translate_loop(name)
        (folder / f"{name}.wasm.gz").write_bytes(gzip.compress(code, 9, mtime=0))
        print(f"{name}: {len(code) / 1e3:.0f} kB, {time.process_time() - began:.1f} s of the processor", flush=True)
    (folder / portable.KEY).write_text(portable.shipped_key(), encoding="utf-8")


if __name__ == "__main__":
    main()
