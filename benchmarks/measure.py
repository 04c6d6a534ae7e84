"""How two programs are timed against each other, and the row that comes out.

Both sides run in turn, so that a busy machine slows both; a repeat gives one ratio, and the ratios give a median and
quartiles. The faster of two neighbouring repeats is not preferred: what is reported is what a user gets half the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

REPEATS = 31
REPEAT_TIME = 0.01  # s, far above the clock's resolution and what a call costs


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and quartiles of repeated measurements."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was asked for, what was measured, and how well both sides agree.

    `value` is compared with `target` in the sense of `sense`; a row without target informs. `ours` and `theirs` are the
    times in s behind a ratio, `peer` is who they are. `error` is the largest difference of the two answers relative to
    the largest answer.
    """

    name: str
    value: Spread
    unit: str
    target: float | None = None
    sense: Literal["at least", "at most"] = "at least"
    peer: str = ""
    ours: Spread | None = None
    theirs: Spread | None = None
    error: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the median meets the target; None where there is none."""
        if self.target is None:
            return None
        return self.value.median >= self.target if self.sense == "at least" else self.value.median <= self.target


def spread(values: list[float]) -> Spread:
    """Median and quartiles of `values`."""
    low, median, high = np.percentile(values, [25, 50, 75])
    return Spread(float(median), float(low), float(high))


def exactly(value: float) -> Spread:
    """A figure that is counted, not measured."""
    number = float(value)  # one of NumPy's would be no number of JSON
    return Spread(number, number, number)


def seconds(task: Callable[[], object], runs: int = 1) -> float:
    """How long one run of `task` takes, in s, averaged over `runs` in a row."""
    start = time.perf_counter()
    for _ in range(runs):
        task()
    return (time.perf_counter() - start) / runs


def processor_seconds(task: Callable[[], object]) -> float:
    """How much processor time one run of `task` takes, in s: what others do on the machine is not in it."""
    start = time.process_time()
    task()
    return time.process_time() - start


def runs_that_fill(duration: float, task: Callable[[], object]) -> int:
    """How many runs of `task`, already warm, last about `duration` s; at least one."""
    return max(1, round(duration / min(seconds(task) for _ in range(3))))


@dataclass(frozen=True, slots=True)
class Duel:
    """Times in s of both sides, repeat by repeat, and who the other side is."""

    peer: str
    ours: list[float]
    theirs: list[float]

    def row(self, name: str, target: float | None, error: float, runs: int = 1) -> Row:
        """The row that says how many times faster we are; `runs` is how many evaluations one repeat makes."""
        ratios = [b / a for a, b in zip(self.ours, self.theirs, strict=True)]
        return Row(
            name=name,
            value=spread(ratios),
            unit="times faster",
            target=target,
            peer=self.peer,
            ours=spread([a / runs for a in self.ours]),
            theirs=spread([b / runs for b in self.theirs]),
            error=error,
        )


def duel(peer: str, ours: Callable[[], object], theirs: Callable[[], object], repeats: int = REPEATS) -> Duel:
    """Both sides timed in turn, each for about as long as the other: the steady state.

    A short task is run several times in a row. Otherwise the faster side would be charged in every repeat for the
    caches that the slower side has just filled with its own data; `alternating` measures just that.
    """
    ours()
    theirs()
    ours_runs, theirs_runs = runs_that_fill(REPEAT_TIME, ours), runs_that_fill(REPEAT_TIME, theirs)
    pairs = [(seconds(ours, ours_runs), seconds(theirs, theirs_runs)) for _ in range(repeats)]
    return Duel(peer, [a for a, _ in pairs], [b for _, b in pairs])


def alternating(peer: str, ours: Callable[[], object], theirs: Callable[[], object], repeats: int = REPEATS) -> Duel:
    """Both sides timed one run at a time, so that each finds in the caches what the other has left."""
    ours()
    theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return Duel(peer, [a for a, _ in pairs], [b for _, b in pairs])


def disagreement(ours: object, theirs: object) -> float:
    """The largest difference of two arrays relative to the largest entry of the second."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
