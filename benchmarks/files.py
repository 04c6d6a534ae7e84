"""How long the worst model files of just under a megabyte take to be judged, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Row, exactly
from unit.model.large_files import LARGE

ROOT = Path(__file__).parents[1]
SIZE = 900_000  # characters
PROBE = """
import json, resource, sys, time
from kane.errors import ModelError
from kane.model import read_mechanism
from unit.model.large_files import LARGE
text = LARGE[sys.argv[1]](int(sys.argv[2]))
start = time.process_time()
try:
    read_mechanism(text, "large.yaml")
except ModelError:
    pass
print(json.dumps([time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))
"""
VALID = ("chain of joints", "chosen speeds", "chosen speeds of many rates", "equations")
"""Models like any other, of thousands of parts: judged like the others, and to be formulated afterwards."""


def judged(name: str) -> tuple[float, float]:
    """(s, MB) of judging one file."""
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", PROBE, name, str(SIZE)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def large_files() -> list[Row]:
    """The slowest and the largest of a dozen hostile files, and of some that are correct."""
    rows = []
    for kind, names in (("bad", [name for name in LARGE if name not in VALID]), ("correct", VALID)):
        found = {name: judged(name) for name in names}
        slowest = max(found, key=lambda name: found[name][0])
        title = f"{len(found)} {kind} model files of 0.9 MB"
        rows += [
            Row(f"{title}: the slowest ({slowest})", exactly(found[slowest][0]), "s", 2.0, "at most"),
            Row(f"{title}: memory", exactly(max(m for _, m in found.values())), "MB", 300, "at most"),
        ]
    return rows
