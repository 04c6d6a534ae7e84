"""Kill -9 in the middle of a write, and disks that are full after some bytes: the old file or the new one, whole.

A write is a thousandth of what a command does, so kills at moments of the clock alone would miss it. Half of the kills
come from inside, at one of the calls that the write is made of; the others from outside, as soon as anything in the
folder changes, after a moment that may be shorter or longer than the write.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import kane
from kane.backends.cache import directory
from kane.cli import main
from kane.cli.files import write_motion
from kane.simulate.compiled.store import FOLDER
from long.block import Disagreement
from long.forked import FRESH, started
from long.odd_arguments import elsewhere
from long.tries import draws

OLD = "kept,from,before\n1,2,3\n"
WRITERS: dict[str, Callable[[Path], object]] = {
    "motion.csv": lambda path: write_motion(path, _run()),
    "motion.npz": lambda path: write_motion(path, _run()),
    "model.yaml": lambda path: _model().save(path),
    "program.c": lambda path: main(["derive", "pendulum", "--format", "c", "-o", str(path)]),
    "plot.png": lambda path: _run().plot(path),
    "page.html": lambda path: _model().page(path),
    "played.html": lambda path: _run().page(path),
    "report.html": lambda path: main(["report", "pendulum", "--t", "0.1", "-o", str(path)]),
}
"""File → how it is written; what is written is the same every time."""

IN_PLACE = """
from contextlib import contextmanager
from pathlib import Path
import kane.writing
@contextmanager
def replacing(path):
    with Path(path).open("wb") as stream:
        yield stream
kane.writing.replacing = replacing
"""
"""Python that puts back a writer which opens the file itself, for the check that its losses are noticed."""

COMMANDS = (
    ("simulate", "pendulum", "--t", "1", "--samples", "2000", "-o", "{}.csv"),
    ("simulate", "pendulum", "--t", "1", "--samples", "2000", "-o", "{}.npz"),
    ("derive", "stanford-arm", "--format", "c", "-o", "{}.c"),
    ("inverse", "pendulum", "--to", "q=1", "-o", "{}.csv"),
    ("page", "pendulum", "-o", "{}.html"),
    ("play", "pendulum", "--t", "0.2", "-o", "{}.npz"),
    ("vehicle", "tanner-mobile-manipulator", "--t", "0.1", "--plot", "{}.png"),
    ("vehicle", "tanner-mobile-manipulator", "--t", "0.1", "--animate", "{}.html"),
)


@cache
def _model() -> kane.Model:
    return kane.load("pendulum")


@cache
def _run() -> kane.Trajectory:
    return _model().simulate(np.linspace(0, 1, 5000))


class Calls:
    """Counts calls and returns, of Python and of C, from the first file that `replacing` opens to its end, which it
    comes to when it is left for the second time: a generator is left once with the stream. Kills the process at one."""

    def __init__(self, last: float = np.inf):
        self.last, self.seen, self._left, self._inside = last, 0, 0, False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        own = frame.f_code.co_name == "replacing" and frame.f_code.co_filename.endswith("writing.py")
        self._inside = self._inside or own
        self._left += own and event == "return"
        opened = self._inside and event == "c_call" and argument.__name__ == "open"
        if self._left == 2 or not (self.seen or opened):
            return
        self.seen += 1
        if self.seen >= self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def of(self, what: str, path: Path) -> int:
        """How many there are while a file is written."""
        sys.setprofile(self)
        try:
            WRITERS[what](path)
        finally:
            sys.setprofile(None)
        return self.seen


@cache
def undisturbed(what: str) -> tuple[bytes, int]:
    """The file that nobody disturbs, and of how many calls its write is made, all imported and compiled before."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        path = Path(folder) / what
        WRITERS[what](path)
        return path.read_bytes(), Calls().of(what, path)


def kill_itself(what: str, path: str, part: float) -> int:
    """What a process does that is killed from inside."""
    Calls(part * _begin(what, path)).of(what, Path(path))
    return 0


def write_for_ever(what: str, path: str) -> int:
    """What a process does that is killed from outside."""
    _begin(what, path)
    while True:
        WRITERS[what](Path(path))


def _begin(what: str, path: str) -> int:
    """Leave beside what the file will be, which says that the process is ready; of how many calls its write is made.

    A motion in .npz tells how long it took, so that only the process itself knows all of its bytes.
    """
    whole, calls = undisturbed(what)
    unfinished = Path(path).parent / "beside" / "unfinished"
    unfinished.write_bytes(whole)
    unfinished.rename(unfinished.with_name("whole"))
    return calls


def write_limited(line: list[str], limit: int) -> int:
    """A command whose every file may have only so many bytes, with the cache of programs in a folder of its own."""
    os.environ["KANE_CACHE_DIR"] = str(Path("cache").absolute())
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return main(line)


def kill_inside(what: str, part: float, before: str = "", *, fresh: bool = True) -> str:
    """A process kills itself after a part (0 to 1) of the calls of a write. `before` is Python that it runs first."""
    with tempfile.TemporaryDirectory() as folder:
        path = _old_file(folder, what)
        if not fresh:
            undisturbed(what)
        process = started(kill_itself, what, str(path), part, folder=folder, before=before, fresh=fresh)
        said = process.communicate(timeout=280)[1]
        if process.returncode not in (0, -signal.SIGKILL):
            raise RuntimeError(said[-1500:])
        return _judge(path)


def kill_outside(what: str, wait: float, *, fresh: bool = True) -> str:
    """A process that writes again and again is killed some time (s) after the folder has begun to change."""
    with tempfile.TemporaryDirectory() as folder:
        path = _old_file(folder, what)
        if not fresh:
            undisturbed(what)
        process = started(write_for_ever, what, str(path), folder=folder, fresh=fresh)
        while not (path.parent / "beside" / "whole").exists():
            if process.poll() is not None:
                raise RuntimeError(f"the writer of {what} ended: {process.communicate()[1][-1500:]}")
            time.sleep(1e-3)
        until, first = time.monotonic() + 60.0, _look(folder)
        while _look(folder) == first and time.monotonic() < until:
            pass
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return _judge(path)


def _old_file(folder: str, what: str) -> Path:
    path = Path(folder) / what
    (Path(folder) / "beside").mkdir()
    path.write_text(OLD, encoding="utf-8")
    return path


def _look(folder: str) -> list[tuple[str, int]]:
    """Names and sizes in a folder; a file that has gone meanwhile is none."""
    found = []
    for entry in os.scandir(folder):
        try:
            found.append((entry.name, entry.stat().st_size))
        except FileNotFoundError:
            continue
    return sorted(found)


def _judge(path: Path) -> str:
    """Refuse a file that is neither the old one nor the one that is written undisturbed."""
    found = path.read_bytes()
    if found == OLD.encode():
        return "killed: the old file"
    whole = (path.parent / "beside" / "whole").read_bytes()
    if found != whole:
        raise Disagreement(f"{path.name}: {len(found)} bytes that are neither the old file nor the {len(whole)} new")
    return "killed: the new file, whole"


def search_kills(number: int) -> str:
    """A process that writes a file over another one is killed, from inside or from outside."""
    rng = draws("kills", number)
    what, fresh = list(WRITERS)[int(rng.integers(len(WRITERS)))], number % FRESH == 0
    if rng.random() < 0.5:
        return kill_inside(what, float(rng.random()), fresh=fresh)
    return kill_outside(what, float(np.exp(rng.uniform(np.log(1e-5), np.log(0.1)))), fresh=fresh)


@cache
def warmed(line: tuple[str, ...]) -> None:
    """Let a command run here once, so that a process forked from this one finds all imported and compiled."""
    with elsewhere(), contextlib.redirect_stderr(io.StringIO()):
        main([word.format("out") for word in line])


def search_full_disks(number: int) -> str:
    """A command whose every file may have only so many bytes: status 0 or 1, a sentence, and no half of a file."""
    rng = draws("full disks", number)
    limit, fresh = int(np.exp(rng.uniform(0.0, np.log(1e6)))), number % FRESH == 0
    line = COMMANDS[number % len(COMMANDS)]
    if not fresh:
        warmed(line)
    with tempfile.TemporaryDirectory() as folder:
        command = [word.format("out") for word in line]
        target = Path(folder) / command[-1]
        target.write_text(OLD, encoding="utf-8")
        if not fresh:  # compiled loops are there, as they are in memory; programs are compiled and written
            shutil.copytree(directory() / FOLDER, Path(folder) / "cache" / FOLDER, copy_function=os.link)
        child = started(write_limited, command, limit, folder=folder, fresh=fresh)
        words = child.communicate(timeout=280)[1]
        if child.returncode not in (0, 1) or "Traceback" in words:
            raise Disagreement(f"{command}, {limit} bytes: status {child.returncode}\n{words[-1500:]}")
        if child.returncode == 1 and target.read_bytes() != OLD.encode():
            raise Disagreement(f"{command}, {limit} bytes: failed and left {target.stat().st_size} bytes of a file")
        expected = {target.name, "cache"} | ({"out.h"} if child.returncode == 0 and target.suffix == ".c" else set())
        left = [p.name for p in Path(folder).iterdir() if p.name not in expected]
        if left:
            raise Disagreement(f"{command}, {limit} bytes: left {left}")
    return "written in spite of it" if child.returncode == 0 else "refused, the old file kept"
