"""The searches for faults: where each is, how often it tries, and where its random numbers come from.

A search is a function of one number that returns an outcome in a few words, or raises. A short slice of each runs with
all tests; `python -m long` makes the others, as many as its time allows. KANE_TRIES scales the numbers of the long run
(`KANE_TRIES=0.01` asks for a hundredth).
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seeds import seed


@dataclass(frozen=True, slots=True)
class Search:
    """A module of this folder, numbers of tries in every run and in a long one, and how long (s) a try may take."""

    module: str
    short: int
    long: int
    hang: float = 120.0


SEARCHES: dict[str, Search] = {
    "files": Search("hostile_files", 80, 100_000, 30.0),
    "large files": Search("hostile_files", 3, 2000),
    "commands": Search("command_lines", 6, 2000, 300.0),
    "arguments": Search("odd_arguments", 80, 60_000),
    "programs": Search("random_programs", 5, 2000),
    "mechanisms": Search("random_mechanisms", 2, 10_000, 600.0),
    "constrained": Search("random_constraints", 2, 2000, 600.0),
    "linkages": Search("tilted_linkages", 1, 200, 600.0),
    "sequences": Search("random_sequences", 2, 1000, 600.0),
    "impacts": Search("random_impacts", 2, 240, 600.0),
    "orders": Search("random_orders", 2, 1000, 600.0),
    "threads": Search("thread_storms", 1, 100, 600.0),
    "kills": Search("interrupted_writes", 2, 400, 300.0),
    "killed runs": Search("killed_runs", 1, 400, 600.0),
    "full disks": Search("interrupted_writes", 1, 400, 300.0),
}
"""The one place for numbers of tries. A short slice takes seconds."""

LONG_SECONDS = float(os.environ.get("KANE_LONG_SECONDS", 8 * 3600))
"""Time (s) for all of `make test-long`: what has begun is finished, and nothing begins after it."""

TESTS_SHARE = 0.25
"""Part of that time that the tests may take; the searches have the rest."""


def function_of(name: str) -> Callable[[int], str]:
    """The function that makes one try: `search` of its module, or `search_<name>` where that has several."""
    module = importlib.import_module(f"long.{SEARCHES[name].module}")
    return getattr(module, f"search_{name.replace(' ', '_')}", None) or module.search


def wanted(name: str) -> int:
    """Tries of a long run."""
    return max(1, round(SEARCHES[name].long * float(os.environ.get("KANE_TRIES", "1"))))


def draws(name: str, number: int) -> np.random.Generator:
    """The random numbers of one try, different for every search; they follow from KANE_SEED where it is set."""
    return np.random.default_rng((seed(number), zlib.crc32(name.encode())))
