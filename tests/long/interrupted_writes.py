"""Kill -9 in the middle of a write, and disks that are full after some bytes: the old file or the new one, whole."""

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

ROWS = 5_000  # samples of the motion that is written, so that a kill finds it in the middle
OLD = "kept,from,before\n1,2,3\n"
WRITER = """
import sys
from pathlib import Path
import numpy as np
from kane.cli.files import write_motion
import kane
run = kane.load("pendulum").simulate(np.linspace(0, 1, int(sys.argv[2])))
print("ready", flush=True)
while True:
    write_motion(Path(sys.argv[1]), run)
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
)


def search_kills(number: int) -> str:
    """A process that writes a motion over a file again and again is killed at a random moment."""
    rng = draws("kills", number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.csv"
        path.write_text(OLD, encoding="utf-8")
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(ROWS)], stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None and child.stdout.readline() == b"ready\n"
            time.sleep(float(rng.uniform(0.0, 0.6)))
        finally:
            child.send_signal(signal.SIGKILL)
            child.communicate()
        text = path.read_text(encoding="utf-8")
        if text == OLD:
            return "killed: the old file"
        lines = text.splitlines()
        if not text.endswith("\n") or len(lines) != ROWS + 1 or len(set(map(_columns, lines))) != 1:
            raise Disagreement(f"a file with {len(lines)} of {ROWS + 1} lines, {len(text)} characters")
        return "killed: the new file, whole"


def _columns(line: str) -> int:
    return line.count(",")


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
        left = [p.name for p in Path(folder).iterdir() if p.name not in (target.name, "cache")]
        if left:
            raise Disagreement(f"{command}, {limit} bytes: left {left}")
    return "written in spite of it" if child.returncode == 0 else "refused, the old file kept"
