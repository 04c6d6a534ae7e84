"""Where random systems come from: the same ones in every ordinary run, new ones in a nightly run.

`make test-long` sets HYPOTHESIS_PROFILE=nightly. `tests/conftest.py` then takes a number from the clock, hands it to
all worker processes as KANE_SEED and prints it at the end of the run. With `KANE_SEED=<number>` a test draws the same
systems again, under any profile. What hypothesis draws is repeated by the blob that it prints with a failure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable
from typing import Any

import numpy as np
import pytest

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
NIGHTLY = PROFILE == "nightly"
FIXED = not NIGHTLY
"""For `derandomize`: whether laws that take long for each example always have the same ones."""

MORE = 10
"""Examples in a nightly run for each one of an ordinary run: what takes minutes then takes hours."""


def examples(count: int) -> int:
    """How many examples hypothesis draws where an ordinary run draws `count`."""
    return MORE * count if NIGHTLY else count


def in_long_runs(values: Iterable[Any], rest: Container[Any]) -> list[Any]:
    """Values of a test, of which the rest is left to long runs."""
    return [pytest.param(value, marks=pytest.mark.long) if value in rest else value for value in values]


def root() -> int | None:
    """The number that all seeds of this run follow from: the one that was given, the time at night, otherwise None."""
    given = os.environ.get("KANE_SEED")
    if given:
        return int(given)
    return time.time_ns() // 1_000_000 % 2**32 if NIGHTLY else None


def seed(number: int) -> int:
    """A seed for draw `number` of a test: that number, or one of its own that follows from KANE_SEED."""
    run = os.environ.get("KANE_SEED")
    return int(np.random.SeedSequence((int(run), number)).generate_state(1)[0]) if run else number


def generator(number: int) -> np.random.Generator:
    """The random numbers for draw `number` of a test."""
    return np.random.default_rng(seed(number))
