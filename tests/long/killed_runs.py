"""Simulations that are killed or interrupted at any moment: what they leave can be read, and they go on to the same
bytes.

Here a run is kept after every chunk of its loop, so that many kills fall into a write.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from long.block import Disagreement
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

EAGER = """
import sys
from kane.simulate import checkpoints
checkpoints.SECONDS, checkpoints.SHARE = 0.0, 0.5
from kane.__main__ import run
sys.exit(run())
"""
"""The command, in which a run is kept as often as possible."""


def start(folder: Path, line: tuple[str, ...], name: str) -> subprocess.Popen[str]:
    """The process of a run that writes `name`.csv."""
    command = [sys.executable, "-c", EAGER, "simulate", *line, "-o", f"{name}.csv"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(folder: Path, line: tuple[str, ...], name: str) -> str:
    """Run to the end; what was said."""
    child = start(folder, line, name)
    said = child.communicate(timeout=280)[1]
    if child.returncode not in (0, 1):
        raise Disagreement(f"{line}: status {child.returncode}\n{said[-1500:]}")
    return said


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


def kill_and_go_on(line: tuple[str, ...], waits: Sequence[tuple[float, int]]) -> str:
    """Runs that get a signal so many seconds after the first moment was kept, each going on from the one before; then
    one to the end. Says how many were stopped."""
    with tempfile.TemporaryDirectory() as name:
        folder, stopped, went_on = Path(name), 0, 0
        finish(folder, line, "whole")
        for wait, number in waits:
            child = start(folder, line, "killed")
            first, until = _stamp(folder), time.monotonic() + 60.0
            while child.poll() is None and _stamp(folder) == first and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(wait)
            child.send_signal(number)
            said = child.communicate(timeout=280)[1]
            went_on += "the run goes on from t = " in said
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
        said = finish(folder, line, "killed")
        if stopped and not over and "the run goes on from t = " not in said:
            raise Disagreement(f"{line}: began anew after {stopped} kills\n{said[-1500:]}")
        for path in folder.glob("whole*"):
            if path.read_bytes() != (folder / path.name.replace("whole", "killed")).read_bytes():
                raise Disagreement(f"{line}: {path.name} has other bytes after {stopped} kills")
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
    return kill_and_go_on(line, waits)


def fill_disk(line: tuple[str, ...], limit: int) -> str:
    """A run whose files may have only so many bytes fails with a sentence; with room again it goes on, to the same
    bytes."""
    code = (
        "import resource\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, hard))\n" + EAGER
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finish(folder, line, "whole")  # and what is compiled is in the cache, which the limit is for too
        command = [sys.executable, "-c", code, "simulate", *line, "-o", "killed.csv"]
        child = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, env={**os.environ})
        if child.returncode != 1 or "Traceback" in child.stderr or "cannot be written" not in child.stderr:
            raise Disagreement(f"{line}, {limit} bytes: status {child.returncode}\n{child.stderr[-1500:]}")
        if (folder / "killed.csv").exists():
            raise Disagreement(f"{line}, {limit} bytes: left a part of a file")
        check_part(folder, "")
        kept = (folder / "killed.csv.resume").exists()
        said = finish(folder, line, "killed")
        if kept != ("with room again" in child.stderr):
            raise Disagreement(f"{line}, {limit} bytes: nobody says what is kept\n{child.stderr[-1500:]}")
        if kept != ("the run goes on from t = " in said):
            raise Disagreement(f"{line}: {'began anew' if kept else 'went on from nothing'}\n{said[-1500:]}")
        if (folder / "killed.csv").read_bytes() != (folder / "whole.csv").read_bytes():
            raise Disagreement(f"{line}, {limit} bytes: other bytes after a full disk")
    return "went on with room again" if kept else "began anew with room again"
