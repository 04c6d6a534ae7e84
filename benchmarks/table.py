"""The results as a Markdown page and as JSON, with the machine that they were measured on."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.measure import Row, Spread

PACKAGES = ("kane", "numpy", "llvmlite", "numba", "pin", "mujoco", "sympy")
PREFIXES = {0: "s", -1: "ms", -2: "µs", -3: "ns"}
HEADER = """# Benchmarks

Made by `make bench`. Both sides are measured in turn in the same run and held to one core; a figure is the median, with
the quartiles in brackets. The error is the largest difference of the two sides' answers relative to the largest answer.
"""


def machine() -> dict[str, str]:
    """What a reader has to know of the machine and the versions."""
    return {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "load before the run": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
    }


def processor() -> str:
    """The processor's name as the system gives it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def digits(value: float) -> str:
    """Three digits, or all of a whole number."""
    return str(int(value)) if value == int(value) or value >= 1000 else f"{value:.3g}"


def figure(value: Spread) -> str:
    """Median, and quartiles where they differ."""
    if value.low == value.high:
        return digits(value.median)
    return f"{digits(value.median)} [{digits(value.low)}, {digits(value.high)}]"


def duration(value: Spread | None) -> str:
    """A time in a unit that suits its size."""
    if value is None:
        return ""
    power = max(-3, min(0, math.floor(math.log10(value.median) / 3)))
    scale = 1000.0**power
    return f"{figure(Spread(value.median / scale, value.low / scale, value.high / scale))} {PREFIXES[power]}"


def cells(row: Row) -> tuple[str, ...]:
    """The cells of one row of the table."""
    return (
        row.name,
        f"{figure(row.value)} {row.unit}",
        "" if row.target is None else f"{row.sense} {digits(row.target)}",
        {True: "yes", False: "**no**", None: ""}[row.met],
        duration(row.ours),
        f"{row.peer}: {duration(row.theirs)}" if row.peer else "",
        "" if row.error is None else f"{row.error:.0e}",
    )


def markdown(rows: Sequence[Row], facts: dict[str, str]) -> str:
    """The whole page."""
    titles = ("what", "result", "target", "met", "kane", "peer", "error")
    lines = [titles, ("---",) * len(titles), *(cells(row) for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"{HEADER}\n{table}\n\n## Machine\n\n{listed}\n"


def write(rows: Sequence[Row], facts: dict[str, str], folder: Path) -> None:
    """results.md and results.json in `folder`."""
    record = {"machine": facts, "rows": [asdict(row) | {"met": row.met} for row in rows]}
    (folder / "results.md").write_text(markdown(rows, facts), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
