"""How long the worst model files of just under a megabyte take to be judged, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measure import Row, exactly
from unit.model.large_files import HOSTILE, PARTS

ROOT = Path(__file__).parents[1]
SIZE = 999_000  # characters
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

GROUPS: Mapping[str, tuple[str, ...]] = {
    "parameters and expressions": ("parameters", "free parameters", "long", "numbers"),
    "bodies and joints": ("heavy", "shapes", "chain of", "turned", "prescribed", "joints", "spinning", "Hartenberg"),
    "coordinates, speeds, frames and points": ("coordinates", "chosen", "measure", "velocities", "frames", "points"),
    "loads": ("loads", "forces"),
    "constraints": ("constraints", "one constraint", "conditions", "rods", "wheels"),
    "contacts": ("contacts",),
    "drives, controls, limits and starts": ("rotors", "control", "one law", "limits", "initial", "bodies on"),
}
"""What the files are full of → how their names begin."""


def judged(name: str) -> tuple[float, float]:
    """(s, MB) of judging one file."""
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", PROBE, name, str(SIZE)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def large_files() -> list[Row]:
    """Of correct files by what they are full of, and of files that are no models, the slowest and the largest."""
    groups = {f"full of {what}": [n for n in PARTS if n.startswith(begins)] for what, begins in GROUPS.items()}
    left = set(PARTS) - {name for names in groups.values() for name in names}
    assert not left, f"files in no group: {left}"
    rows = []
    for what, names in {**groups, "that are no models": list(HOSTILE)}.items():
        found = {name: judged(name) for name in names}
        slowest = max(found, key=lambda name: found[name][0])
        largest = max(found, key=lambda name: found[name][1])
        title = f"{len(found)} model files of 1 MB {what}"
        rows += [
            Row(f"{title}: the slowest ({slowest})", exactly(found[slowest][0]), "s", 2.0, "at most"),
            Row(f"{title}: memory ({largest})", exactly(found[largest][1]), "MB", 300, "at most"),
        ]
    return rows
