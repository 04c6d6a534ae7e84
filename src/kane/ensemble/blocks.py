"""Blocks of members: how large they are, what a block holds, what computes one.

Blocks are the unit of everything that is shared: work, results, checkpoints. Their size depends on the number of
members alone, so that results do not depend on who computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..backends.kernel import LANES
from ..simulate import Members
from .tallies import JointTally, Tally

LARGEST, SMALLEST = 4096, 64
"""Members of a block."""

LOOKS = 100
"""Equal parts of a duration at whose ends watched quantities are looked at for their extremes: twenty in a swing of
which there are five, a parabola through three of which is off by 1e-4 of the swing. Twice as many would make a bicycle,
whose constraints have to hold at each, take half as long again."""

PORTION = 1 << 20
"""Numbers of states that are held for that at a time; some members in step are not fewer."""


@dataclass(frozen=True, slots=True)
class MemberBlock:
    """What came of the members from `first` on: their ends, and tallies of watched quantities over time.

    `low` and `high` (b, w) are the extremes of the watched quantities over the times of output or, of a duration, over
    the motion, `end` (b, w) their values at the last time, nan for members that ended before; `occurred` (e,) counts
    the members in which each event occurred; `numbers` (b, c) is what was given or drawn.
    """

    first: int
    members: Members
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    end: NDArray[np.float64]
    occurred: NDArray[np.int64]
    tallies: tuple[Tally, ...]
    joint: JointTally
    numbers: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.members.reason)


@dataclass(frozen=True, slots=True)
class Span:
    """The members first … last − 1, which are block `index`."""

    index: int
    first: int
    last: int


class Work(Protocol):
    """What computes members, here or in another process."""

    def run(self, first: int, last: int, look: Callable[[int], object] | None = None, given: Any = None) -> MemberBlock:
        """The members first … last − 1; what `look` raises ends it. `given` is what `given_to` gave of them."""
        ...

    def lighten(self) -> Work:
        """The same without numbers that each member is given: it travels once, they with each block."""
        ...

    def given_to(self, first: int, last: int) -> Any:
        """The numbers that are given to these members and that `lighten` leaves out."""
        ...

    def lose(self, first: int, last: int, why: str) -> MemberBlock:
        """The block of members that nobody could compute."""
        ...

    def parts(self) -> Iterator[tuple[str, Any]]:
        """What users gave that may not travel, by its name."""
        ...


def block_size(count: int) -> int:
    """Members of a block of an ensemble of so many."""
    wanted = count // 16 // SMALLEST * SMALLEST
    return min(LARGEST, max(SMALLEST, wanted))


def portion_size(states: int) -> int:
    """Members of so many numbers in a state that are looked at together along a duration."""
    return max(LANES, PORTION // (states * (LOOKS + 1)) // LANES * LANES)


def spans_of(count: int) -> Iterator[Span]:
    """The blocks of an ensemble of so many members, in their order."""
    size = block_size(count)
    for index, first in enumerate(range(0, count, size)):
        yield Span(index, first, min(first + size, count))


__all__ = ["LOOKS", "MemberBlock", "Span", "Work", "block_size", "portion_size", "spans_of"]
