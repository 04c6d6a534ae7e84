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
from unit.model.large_options import OPTIONS
from unit.model.large_robots import BAD, GOOD
from unit.model.large_texts import FAULTY, TEXTS, TOGETHER

ROOT = Path(__file__).parents[1]
SIZE = 999_000  # characters
PROBE = """
import json, resource, sys, time
from kane.errors import ModelError
from kane.model import read_mechanism, read_urdf
from unit.model.large_files import LARGE
from unit.model.large_options import OPTIONS
from unit.model.large_robots import ROBOTS
from unit.model.large_texts import FAULTY, TEXTS, TOGETHER
kind, name, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
models = {**LARGE, **OPTIONS, **TEXTS, **TOGETHER, **FAULTY}
files, read = (ROBOTS, read_urdf) if kind == "urdf" else (models, read_mechanism)
text = files[name](size)
start = time.process_time()
try:
    read(text, f"large.{kind}")
except ModelError:
    pass
print(json.dumps([time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))
"""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "parameters and expressions": ("parameters", "free parameters", "long", "numbers"),
    "bodies and joints": (
        *(
            "heavy",
            "shapes",
            "chain of",
            "turned",
            "prescribed",
            "joints",
            "spinning",
            "Hartenberg",
            "vehicles",
            "one vehicle",
        ),
    ),
    "coordinates, speeds, frames and points": ("coordinates", "chosen", "measure", "velocities", "frames", "points"),
    "loads": ("loads", "forces"),
    "constraints": ("constraints", "one constraint", "conditions", "rods", "wheels"),
    "contacts": ("contacts",),
    "drives, controls, limits and starts": ("rotors", "control", "one law", "limits", "initial", "bodies on"),
}
"""What the files are full of → how their names begin."""


def judged(name: str, kind: str = "yaml") -> tuple[float, float]:
    """(s, MB) of judging one file."""
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", PROBE, kind, name, str(SIZE)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def large_files() -> list[Row]:
    """Of correct files by what they are full of, and of files that are no models, the slowest and the largest."""
    parts = {**PARTS, **OPTIONS}
    groups = {f"full of {what}": [n for n in parts if n.startswith(begins)] for what, begins in GROUPS.items()}
    left = set(parts) - {name for names in groups.values() for name in names}
    assert not left, f"files in no group: {left}"
    texts = {"that cost by their text": list(TEXTS), "full of two kinds of parts": list(TOGETHER)}
    models = {**groups, **texts, "that are no models": [*HOSTILE, *FAULTY]}
    rows = [row for what, names in models.items() for row in _worst("yaml", f"model files of 1 MB {what}", names)]
    for what, robots in (("with all that a robot may have", GOOD), ("that are no robots", BAD)):
        rows += _worst("urdf", f"URDF files of 1 MB {what}", list(robots))
    return rows


def _worst(kind: str, title: str, names: list[str]) -> list[Row]:
    found = {name: judged(name, kind) for name in names}
    slowest = max(found, key=lambda name: found[name][0])
    largest = max(found, key=lambda name: found[name][1])
    return [
        Row(f"{len(found)} {title}: the slowest ({slowest})", exactly(found[slowest][0]), "s", 2.0, "at most"),
        Row(f"{len(found)} {title}: memory ({largest})", exactly(found[largest][1]), "MB", 300, "at most"),
    ]
