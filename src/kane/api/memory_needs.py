"""What a motion or an ensemble will hold in memory, and a refusal of what this machine cannot hold, before the work.

Counted are numbers of 8 bytes that there are for certain, at one moment: what is refused would not have come to an end.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..ensemble import block_size
from ..ensemble.tallies import BINS
from ..errors import InputError
from ..model import Mechanism

KEEPS = ("motions", "ends", "tallies")
"""What is kept of each member: its states at all times, at its end, or nothing but why it ended."""

NUMBER = 8
"""Bytes of a number."""

TIMES = 3 * NUMBER
"""Bytes for each time of output: as it is given, as it is made, and a copy that nobody else changes."""

TALLY = NUMBER * (BINS + 7)
"""Bytes of the tally of one quantity at one time."""


@dataclass(frozen=True, slots=True)
class EnsembleSize:
    """How large an ensemble is: times of output, members, of which `known` are kept for certain, what is kept of them,
    numbers of events and of watched quantities, whether motions go to a store; blocks `in_work` on this machine and
    `held` there until they are taken in."""

    times: int
    members: int
    known: int
    keep: str
    events: int
    watched: int
    stored: bool
    in_work: int = 1
    held: int = 1

    def results(self, states: int) -> int:
        """Bytes of what is kept of the members, of so many numbers in a state."""
        ends = 2 + states + 2 * self.events + 3 * self.watched if self.keep != "tallies" else 0
        motions = states * self.times if self.keep == "motions" and not self.stored else 0
        return self.known * (1 + NUMBER * (ends + motions))

    def working_memory(self, states: int) -> int:
        """Bytes of times, of blocks in work and of tallies: states with the work done, what is watched of them twice;
        a store writes copies of tallies."""
        size = min(block_size(self.members), self.members)
        blocks = -(-self.members // size)
        in_work, held = min(self.in_work, blocks), min(self.held + 1, blocks)
        block = NUMBER * size * (states + 1 + 2 * self.watched)
        tallies = (held + self.stored * in_work) * self.watched * TALLY
        return self.times * (TIMES + in_work * block + tallies)


def require_ensemble_memory(mechanism: Mechanism, size: EnsembleSize) -> None:
    """Refuse an ensemble that this machine cannot hold."""
    states = len(mechanism.coordinates) + len(mechanism.speeds)
    kept, work = size.results(states), size.working_memory(states)
    ways = ["fewer times of output", "fewer watched quantities"]
    if kept > work:
        ways = [f"keep='{keep}'" for keep in KEEPS[KEEPS.index(size.keep) + 1 :]]
        ways += ["a store, where motions stay on disk"] if size.keep == "motions" and not size.stored else []
        ways += ["fewer members"]
    _require(f"{size.members} members at {size.times} times: what is held of them", kept + work, ways)


def require_motion_memory(mechanism: Mechanism, times: int) -> None:
    """Refuse a motion at so many times that this machine cannot hold: its states with the work done, as the loop writes
    them and as they are given out, and the efforts."""
    states, efforts = len(mechanism.coordinates) + len(mechanism.speeds) + 1, len(mechanism.speeds)
    needed = times * (TIMES + NUMBER * (2 * states + efforts))
    _require(f"a motion at {times} times", needed, ["fewer times of output"])


def _require(what: str, needed: int, ways: list[str]) -> None:
    there = _physical_memory()
    if there is not None and needed > there:
        fix = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
        raise InputError(
            f"{what} takes {needed / 1e9:.3g} GB, and this machine has {there / 1e9:.3g} GB\n    fix: {fix}"
        )


def _physical_memory() -> int | None:
    """Bytes of memory of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


__all__ = ["KEEPS", "EnsembleSize", "require_ensemble_memory", "require_motion_memory"]
