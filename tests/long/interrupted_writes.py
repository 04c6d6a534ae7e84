"""Kill -9 in the middle of a write, and disks that are full after some bytes: the old file or the new one, whole.

A write is a thousandth of what a command does, so kills at moments of the clock alone would miss it. Half of the kills
come from inside, at one of the calls that the write is made of; the others from outside, as soon as anything in the
folder changes, after a moment that may be shorter or longer than the write.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from long.block import Disagreement
from long.tries import draws

OLD = "kept,from,before\n1,2,3\n"
WRITERS = {
    "motion.csv": "write_motion(path, run)",
    "motion.npz": "write_motion(path, run)",
    "model.yaml": "model.save(path)",
    "program.c": "main(['derive', 'pendulum', '--format', 'c', '-o', str(path)])",
    "plot.png": "run.plot(path)",
    "page.html": "model.page(path)",
    "played.html": "run.page(path)",
    "report.html": "main(['report', 'pendulum', '--t', '0.1', '-o', str(path)])",
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

START = """
import os, signal, sys
from pathlib import Path
exec(compile(sys.argv[2], "writing.py", "exec"))
import numpy as np
import kane
from kane.cli import main
from kane.cli.files import write_motion
folder, name = Path(sys.argv[1]), sys.argv[3]
model = kane.load("pendulum")
run = model.simulate(np.linspace(0, 1, 5000)) if "run" in sys.argv[4] else None
def write(path):
    exec(sys.argv[4], {**globals(), "path": path})
write(folder / "whole" / name)
"""
"""What a writing process does first: write the file once, undisturbed, beside. Arguments: folder, Python to run before
anything is imported, name of the file, how it is written, and for kills from inside, at which part of the write."""

INSIDE = """
# Calls and returns, of Python and of C, are counted from the first file that `replacing` opens to its end, which it
# comes to when it is left for the second time: a generator is left once with the stream. The first write counts all.
events = seen = left = 0
inside = False
def watch(frame, event, argument):
    global inside, seen, left
    own = frame.f_code.co_name == "replacing" and frame.f_code.co_filename.endswith("writing.py")
    inside = inside or own
    left += own and event == "return"
    if left == 2 or not (seen or inside and event == "c_call" and argument.__name__ == "open"):
        return
    seen += 1
    if events and seen >= float(sys.argv[5]) * events:
        os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(watch)
write(folder / "whole" / name)
events, seen, left, inside = seen, 0, 0, False
write(folder / name)
"""

OUTSIDE = """
print("ready", flush=True)
while True:
    write(folder / name)
"""
LIMITED = """
import resource, sys
from kane.cli import main
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), hard))
sys.exit(main(sys.argv[2:]))
"""
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


def kill_inside(what: str, part: float, before: str = "") -> str:
    """A process kills itself after a part (0 to 1) of the calls of a write. `before` is Python that it runs first."""
    with tempfile.TemporaryDirectory() as folder:
        path = _old_file(folder, what)
        command = [sys.executable, "-c", START + INSIDE, folder, before, what, WRITERS[what], str(part)]
        child = subprocess.run(command, capture_output=True, timeout=280)
        if child.returncode not in (0, -signal.SIGKILL):
            raise RuntimeError(child.stderr.decode(errors="replace")[-1500:])
        return _judge(path)


def kill_outside(what: str, wait: float, before: str = "") -> str:
    """A process that writes again and again is killed some time (s) after the folder has begun to change."""
    with tempfile.TemporaryDirectory() as folder:
        path = _old_file(folder, what)
        command = [sys.executable, "-c", START + OUTSIDE, folder, before, what, WRITERS[what]]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            assert child.stdout is not None
            while (line := child.stdout.readline()) != b"ready\n":  # commands say what they have written
                if not line:
                    raise RuntimeError(f"the writer of {what} ended")
            until, first = time.monotonic() + 60.0, _look(folder)
            while _look(folder) == first and time.monotonic() < until:
                pass
            time.sleep(wait)
        finally:
            child.send_signal(signal.SIGKILL)
            child.communicate()
        return _judge(path)


def _old_file(folder: str, what: str) -> Path:
    path = Path(folder) / what
    (Path(folder) / "whole").mkdir()
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
    """Refuse a file that is neither the old one nor the one that was written undisturbed."""
    found = path.read_bytes()
    if found == OLD.encode():
        return "killed: the old file"
    whole = (path.parent / "whole" / path.name).read_bytes()
    if found != whole:
        raise Disagreement(f"{path.name}: {len(found)} bytes that are neither the old file nor the {len(whole)} new")
    return "killed: the new file, whole"


def search_kills(number: int) -> str:
    """A process that writes a file over another one is killed, from inside or from outside."""
    rng = draws("kills", number)
    what = list(WRITERS)[int(rng.integers(len(WRITERS)))]
    if rng.random() < 0.5:
        return kill_inside(what, float(rng.random()))
    return kill_outside(what, float(np.exp(rng.uniform(np.log(1e-5), np.log(0.1)))))


def search_full_disks(number: int) -> str:
    """A command whose every file may have only so many bytes: status 0 or 1, a sentence, and no half of a file."""
    rng = draws("full disks", number)
    limit = int(np.exp(rng.uniform(0.0, np.log(1e6))))
    with tempfile.TemporaryDirectory() as folder:
        command = [word.format("out") for word in COMMANDS[number % len(COMMANDS)]]
        target = Path(folder) / command[-1]
        target.write_text(OLD, encoding="utf-8")
        child = subprocess.run(
            [sys.executable, "-c", LIMITED, str(limit), *command],
            cwd=folder,
            env={**os.environ, "KANE_CACHE_DIR": str(Path(folder) / "cache")},
            capture_output=True,
            timeout=280,
        )
        words = child.stderr.decode(errors="replace")
        if child.returncode not in (0, 1) or "Traceback" in words:
            raise Disagreement(f"{command}, {limit} bytes: status {child.returncode}\n{words[-1500:]}")
        if child.returncode == 1 and target.read_bytes() != OLD.encode():
            raise Disagreement(f"{command}, {limit} bytes: failed and left {target.stat().st_size} bytes of a file")
        expected = {target.name, "cache"} | ({"out.h"} if child.returncode == 0 and target.suffix == ".c" else set())
        left = [p.name for p in Path(folder).iterdir() if p.name not in expected]
        if left:
            raise Disagreement(f"{command}, {limit} bytes: left {left}")
    return "written in spite of it" if child.returncode == 0 else "refused, the old file kept"
