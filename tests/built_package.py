"""The package as users get it: sdist and wheel built, each installed into a fresh environment, and tried there.

Run by `make package`. The environments see the dependencies of the one that runs this, but not its `kane`: what they
import is what was built. Prints what it did; ends with an error where something is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TRIES = (["--version"], ["list"], ["check", "pendulum"], ["page", "pendulum", "-o", "swing.html"])
"""Commands that need all parts of a wheel: models, what runs in pages, translated loops or the means to make them."""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command prints; its own words and an end where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """(sdist, wheel), the wheel made of the sdist alone."""
    script = "import sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    tools = folder / "tools"
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "hatchling>=1.27")
    sdist = folder / run(tools / "bin" / "python", "-c", script, folder, cwd=ROOT).split()[-1]
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    script = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    return sdist, folder / run(tools / "bin" / "python", "-c", script, folder, cwd=source).split()[-1]


def build_without_component(folder: Path) -> Path:
    """The wheel of sources as a checkout has them, without what runs in pages: the build makes it."""
    (source,) = (folder / "source").iterdir()
    (source / "src" / "kane" / "page" / "component.js").unlink()
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder / "checkout", source)
    (wheel,) = (folder / "checkout").iterdir()
    return wheel


def check_metadata(wheel: Path) -> None:
    """Pictures and links of the package's page lead somewhere from everywhere."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
        parts = archive.namelist()
    assert "](docs/" not in text, "a picture or link of the README is relative"
    assert "Project-URL: Source" in text
    for part in ("kane/page/component.js", "kane/py.typed", "kane/model/builtin/pendulum.yaml"):
        assert part in parts, f"the wheel has no {part}"


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install a wheel into a fresh environment, and run commands in an empty folder."""
    place, empty = folder / "fresh", folder / "empty"
    empty.mkdir()
    run(sys.executable, "-m", "venv", place)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", wheel)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip())
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    home = run(python, "-c", "import kane; print(kane.__file__)", cwd=empty).strip()
    assert Path(home).is_relative_to(place), f"the package that was tried is another one: {home}"
    for words in TRIES:
        run(place / "bin" / "kane", *words, cwd=empty)
    assert (empty / "swing.html").stat().st_size > 100_000


def main() -> None:
    """Build, look, install, try."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sdist, wheel = build(folder)
        check_metadata(wheel)
        try_wheel(wheel, folder)
        check_metadata(build_without_component(folder))
        print(f"{sdist.name} and {wheel.name} are complete: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
