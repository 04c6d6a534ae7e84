"""The results as a Markdown page and as JSON, each part with the machine that it was measured on."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, Spread

PACKAGES = ("kane", "numpy", "llvmlite", "numba", "pin", "mujoco", "sympy")
PREFIXES = {0: "s", -1: "ms", -2: "µs", -3: "ns"}
HEADER = """# Benchmarks

Made by `make bench`. Both sides are measured in turn in the same run and held to one core; a figure is the median, with
the quartiles in brackets. The error is the largest difference of the two sides' answers relative to the largest answer.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """What one benchmark has measured, and facts of the machine by name."""

    machine: Mapping[str, str]
    rows: tuple[Row, ...]


def machine() -> dict[str, str]:
    """What a reader has to know of the machine and the versions."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "load before": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
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


def markdown(parts: Mapping[str, Part]) -> str:
    """The whole page: a table of all rows, and which machine each part was measured on."""
    titles = ("what", "result", "target", "met", "kane", "peer", "error")
    rows = [row for part in parts.values() for row in part.rows]
    lines = [titles, ("---",) * len(titles), *(cells(row) for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    missed = [row.name for row in rows if row.met is False]
    judged = sum(row.met is not None for row in rows)
    summary = f"{judged - len(missed)} of {judged} targets are met" + (
        f"; not: {'; '.join(missed)}." if missed else "."
    )
    return f"{HEADER}\n{summary}\n\n{table}\n\n## Machine\n\n{_machines(parts)}\n"


def _machines(parts: Mapping[str, Part]) -> str:
    """What is the same for all parts as a list, and what differs as a table."""
    names = list(dict.fromkeys(name for part in parts.values() for name in part.machine))
    shared = [name for name in names if len({part.machine.get(name) for part in parts.values()}) == 1]
    other = [name for name in names if name not in shared]
    first = next(iter(parts.values()))
    listed = [f"- {name}: {first.machine[name]}" for name in shared]
    if not other:
        return "\n".join(listed)
    lines = [("part", *other), ("---",) * (1 + len(other))]
    lines += [(name, *(part.machine.get(fact, "") for fact in other)) for name, part in parts.items()]
    return "\n".join([*listed, "", *("| " + " | ".join(line) + " |" for line in lines)])


def read(folder: Path) -> dict[str, Part]:
    """What earlier runs have left in `folder`, by the name of the part."""
    path = folder / "results.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: Part(part["machine"], tuple(_row(row) for row in part["rows"])) for name, part in record.items()}


def _row(record: dict[str, Any]) -> Row:
    values: dict[str, Any] = {name: value for name, value in record.items() if name != "met"}
    for name in ("value", "ours", "theirs"):
        values[name] = None if values[name] is None else Spread(**values[name])
    return Row(**values)


def write(parts: Mapping[str, Part], folder: Path) -> None:
    """results.md and results.json in `folder`."""
    record = {
        name: {"machine": part.machine, "rows": [asdict(row) | {"met": row.met} for row in part.rows]}
        for name, part in parts.items()
    }
    (folder / "results.md").write_text(markdown(parts), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
