"""Simulations that are killed or interrupted at any moment: what they leave can be read, and they go on to the same
bytes.

Here a run is kept after every chunk of its loop, so that many kills fall into a write.
"""

from __future__ import annotations

import contextlib
import io
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kane.__main__ import run
from kane.cli import main
from kane.simulate import checkpoints
from long.block import Disagreement
from long.forked import FRESH, Forked, started
from long.odd_arguments import elsewhere
from long.tries import draws

RUNS = (
    ("double-pendulum", "--t", "10000", "--samples", "300"),
    ("double-pendulum", "--t", "300", "--samples", "0", "--method", "radau"),
    ("stanford-arm", "--control", "feedback", "--t", "300", "--samples", "500"),
    ("four-bar", "--t", "100", "--samples", "400"),
    ("rocking-block", "--t", "20", "--samples", "20000"),
    ("four-bar-stop", "--t", "300", "--samples", "1000"),
    ("shopping-cart", "--t", "300", "--samples", "1000"),
)
"""Command lines of runs that take some seconds."""


def run_eagerly(words: list[str]) -> int:
    """The command, in which a run is kept as often as possible."""
    checkpoints.SECONDS, checkpoints.SHARE = 0.0, 0.5
    sys.argv = ["kane", *words]
    return run()


def run_limited(words: list[str], limit: int) -> int:
    """The same, with files that may have only so many bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return run_eagerly(words)


def start(folder: Path, line: tuple[str, ...], name: str, *, fresh: bool) -> subprocess.Popen[str] | Forked:
    """The process of a run that writes `name`.csv."""
    return started(run_eagerly, ["simulate", *line, "-o", f"{name}.csv"], folder=folder, fresh=fresh)


def finish(folder: Path, line: tuple[str, ...], name: str, *, fresh: bool) -> str:
    """Run to the end; what was said."""
    child = start(folder, line, name, fresh=fresh)
    said = child.communicate(timeout=280)[1]
    if child.returncode not in (0, 1):
        raise Disagreement(f"{line}: status {child.returncode}\n{said[-1500:]}")
    return said


@cache
def undisturbed(line: tuple[str, ...]) -> dict[str, bytes]:
    """The files `whole*` of a run that nobody stops, made in this process, which then has compiled what it needs."""
    with elsewhere() as folder, contextlib.redirect_stderr(io.StringIO()):
        main(["simulate", *line, "-o", "whole.csv"])
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_part(folder: Path, kind: str) -> bool:
    """Whether there is a part of the file; refuses one that is no beginning of the whole, cut between two lines."""
    part = folder / f"killed{kind}.csv.part"
    if not part.exists():
        return False
    found, whole = part.read_bytes(), (folder / f"whole{kind}.csv").read_bytes()
    if not found.endswith(b"\n") or found.count(b"\n") < 2 or not whole.startswith(found):
        raise Disagreement(
            f"{part.name}: {len(found)} bytes that the whole file, {len(whole)} bytes, does not begin with"
        )
    return True


def kill_and_go_on(line: tuple[str, ...], waits: Sequence[tuple[float, int]], *, fresh: bool = True) -> str:
    """Runs that get a signal so many seconds after the first moment was kept, each going on from the one before; then
    one to the end. Says how many were stopped."""
    whole = undisturbed(line)
    with tempfile.TemporaryDirectory() as name:
        folder, stopped = Path(name), 0
        for file, content in whole.items():
            (folder / file).write_bytes(content)
        for wait, number in waits:
            child = start(folder, line, "killed", fresh=fresh)
            first, until = _stamp(folder), time.monotonic() + 60.0
            while child.poll() is None and _stamp(folder) == first and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(wait)
            child.send_signal(number)
            said = child.communicate(timeout=280)[1]
            if (folder / "killed.csv").exists():  # too late: it was over
                break
            if child.returncode not in (-number, 130) or "Traceback" in said:
                raise Disagreement(f"{line}: status {child.returncode}\n{said[-1500:]}")
            if child.returncode == 130 and "the same command goes on from there" not in said:
                raise Disagreement(f"{line}: interrupted, and nobody says how it goes on\n{said[-1500:]}")
            stopped += 1
            if child.returncode == 130 and not check_part(folder, ""):
                raise Disagreement(f"{line}: interrupted, and left nothing to read")
            check_part(folder, "")
            check_part(folder, ".transitions")
        over = not (folder / "killed.csv.resume").exists()
        said = finish(folder, line, "killed", fresh=fresh)
        if stopped and not over and "the run goes on from t = " not in said:
            raise Disagreement(f"{line}: began anew after {stopped} kills\n{said[-1500:]}")
        for file, content in whole.items():
            if content != (folder / file.replace("whole", "killed")).read_bytes():
                raise Disagreement(f"{line}: {file} has other bytes after {stopped} kills")
        left = [p.name for p in folder.iterdir() if p.suffix != ".csv" and not p.name.startswith(".kane-")]
        if left:
            raise Disagreement(f"{line}: left {left}")
    return f"stopped {stopped} times, the same bytes" if stopped else "not stopped"


def _stamp(folder: Path) -> tuple[int, int] | None:
    """What tells one moment that was kept from the next."""
    try:
        found = (folder / "killed.csv.resume").stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def search(number: int) -> str:
    """A run is stopped one to four times, by kill −9 or Ctrl-C."""
    rng = draws("killed runs", number)
    line = RUNS[number % len(RUNS)]
    waits = [
        (float(np.exp(rng.uniform(np.log(1e-4), np.log(1.0)))), int(rng.choice([signal.SIGKILL, signal.SIGINT])))
        for _ in range(int(rng.integers(1, 5)))
    ]
    return kill_and_go_on(line, waits, fresh=number % FRESH == 0)


def fill_disk(line: tuple[str, ...], limit: int) -> str:
    """A run whose files may have only so many bytes fails with a sentence; with room again it goes on, to the same
    bytes."""
    whole = undisturbed(line)  # and what is compiled is in the cache, which the limit is for too
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "whole.csv").write_bytes(whole["whole.csv"])
        child = started(run_limited, ["simulate", *line, "-o", "killed.csv"], limit, folder=folder, fresh=True)
        told = child.communicate(timeout=280)[1]
        if child.returncode != 1 or "Traceback" in told or "cannot be written" not in told:
            raise Disagreement(f"{line}, {limit} bytes: status {child.returncode}\n{told[-1500:]}")
        if (folder / "killed.csv").exists():
            raise Disagreement(f"{line}, {limit} bytes: left a part of a file")
        check_part(folder, "")
        kept = (folder / "killed.csv.resume").exists()
        said = finish(folder, line, "killed", fresh=True)
        if kept != ("with room again" in told):
            raise Disagreement(f"{line}, {limit} bytes: nobody says what is kept\n{told[-1500:]}")
        if kept != ("the run goes on from t = " in said):
            raise Disagreement(f"{line}: {'began anew' if kept else 'went on from nothing'}\n{said[-1500:]}")
        if (folder / "killed.csv").read_bytes() != whole["whole.csv"]:
            raise Disagreement(f"{line}, {limit} bytes: other bytes after a full disk")
    return "went on with room again" if kept else "began anew with room again"
