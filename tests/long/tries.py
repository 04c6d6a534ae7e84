"""How often each search for faults tries, where its random numbers come from, and the table of what came out.

A search is a function of one number that returns an outcome in a few words, or raises. `blocks` cuts its tries into
parts that pytest runs one by one: a short one in every run, the others in `make test-long`. KANE_TRIES scales the
numbers of the long run (`KANE_TRIES=0.01 make test-long` tries a hundredth).
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seeds import seed


@dataclass(frozen=True, slots=True)
class Tries:
    """Numbers of tries: in every run, in a long run, in one block; and how long (s) one may take before it hangs."""

    short: int
    long: int
    block: int
    hang: float = 120.0


TRIES: dict[str, Tries] = {
    "files": Tries(150, 100_000, 2000, 30.0),
    "commands": Tries(12, 2000, 100, 300.0),
    "arguments": Tries(150, 60_000, 2000),
    "programs": Tries(8, 2000, 200),
    "mechanisms": Tries(4, 10_000, 100, 600.0),
    "constrained": Tries(4, 2000, 50, 600.0),
    "linkages": Tries(1, 200, 20, 600.0),
    "sequences": Tries(4, 1000, 50, 600.0),
    "orders": Tries(3, 1000, 50, 600.0),
    "threads": Tries(1, 100, 10, 600.0),
    "kills": Tries(2, 200, 20, 300.0),
    "full disks": Tries(4, 400, 40, 300.0),
}
"""The one place for numbers of tries. A short slice takes seconds."""

TALLY = "KANE_TALLY_DIR"
"""Environment: the folder in which blocks leave their outcomes, made for each run by `conftest.py`."""


def scale() -> float:
    """Share of the tries of a long run that are made."""
    return float(os.environ.get("KANE_TRIES", "1"))


def blocks(search: str) -> list[Any]:
    """(first, count) for `pytest.mark.parametrize`: the short slice, then the blocks of a long run."""
    t = TRIES[search]
    total = round(t.long * scale())
    starts = range(t.short, total, t.block)
    later = [pytest.param(k, min(t.block, total - k), marks=pytest.mark.long, id=f"{k}") for k in starts]
    return [pytest.param(0, t.short, id="short"), *later]


def draws(search: str, number: int) -> np.random.Generator:
    """The random numbers of one try, different for every search; they follow from KANE_SEED where it is set."""
    return np.random.default_rng((seed(number), zlib.crc32(search.encode())))


def leave(search: str, outcomes: Counter[str]) -> None:
    """Add the outcomes of a block to those of the run."""
    folder = os.environ.get(TALLY)
    if folder:
        handle, _ = tempfile.mkstemp(suffix=".json", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump([search, outcomes], file)


def table(folder: Path) -> list[str]:
    """The outcomes of a run: one line for each search and outcome, with how often it came."""
    total: dict[str, Counter[str]] = {}
    for path in sorted(folder.glob("*.json")):
        search, outcomes = json.loads(path.read_text(encoding="utf-8"))
        total.setdefault(search, Counter()).update(outcomes)
    lines = []
    for search in (name for name in TRIES if name in total):
        found = total[search]
        lines.append(f"{search:<12} {sum(found.values()):>8} tries")
        lines.extend(f"{'':<12} {count:>8} {outcome}" for outcome, count in found.most_common())
    return lines
