"""What a motion or an ensemble will hold in memory, and a refusal of what this machine cannot hold, before the work.

Counted are numbers of 8 bytes that there are for certain, at one moment. Of an ensemble copies that live for a moment
may double that, so that it may ask for half of the memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..advice import KEEPS
from ..ensemble import block_size
from ..ensemble.blocks import LOOKS, portion_size
from ..ensemble.tallies import BINS
from ..errors import InputError
from ..model import Mechanism

NUMBER = 8
"""Bytes of a number."""

TIMES = 3 * NUMBER
"""Bytes for each time of output: as it is given, as it is made, and a copy that nobody else changes."""

TALLY = NUMBER * (BINS + 7)
"""Bytes of the tally of one quantity at one time, without what it has in common with others."""

SHARE = 0.5
"""Of the memory of a machine that an ensemble may ask for: its peak is up to twice what is counted."""


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
        """Bytes of times, of blocks in work and of tallies: states, work done, and twice what is watched."""
        size, blocks = self._blocks()
        rows = size * self.times
        if self.watched and self.times <= 2 and self.keep != "tallies":  # looked at on the way
            rows += min(size, portion_size(states + 1)) * (LOOKS + 1)
        block = NUMBER * rows * (states + 1 + 2 * self.watched)
        return self.times * TIMES + min(self.in_work, blocks) * block + self.tallies()

    def tallies(self) -> int:
        """Bytes of tallies at all times, whatever is kept of members: the one that grows, and those of blocks under
        way; a store writes copies of these."""
        blocks = self._blocks()[1]
        count = min(self.held + 1, blocks) + self.stored * min(self.in_work, blocks)
        return self.times * count * self.watched * (TALLY + NUMBER * (2 + self.watched))

    def _blocks(self) -> tuple[int, int]:
        """(members of a block, number of blocks)."""
        size = min(block_size(self.members), self.members)
        return size, -(-self.members // size)


def require_ensemble_memory(mechanism: Mechanism, size: EnsembleSize) -> None:
    """Refuse an ensemble that this machine cannot hold."""
    states = len(mechanism.coordinates) + len(mechanism.speeds)
    kept, work = size.results(states), size.working_memory(states)
    ways = ["fewer times of output", "fewer watched quantities"]
    if kept > work:
        ways = [f"keep='{keep}'" for keep in KEEPS[KEEPS.index(size.keep) + 1 :]]
        ways += ["a store, where motions stay on disk"] if size.keep == "motions" and not size.stored else []
        ways += ["fewer members"]
    tallied = f", {size.tallies() / 1e9:.3g} GB of it in tallies of {size.watched} quantities at every time"
    what = f"{size.members} members at {size.times} times: what is held of them"
    _require(what, kept + work, ways, tallied if size.tallies() > kept else "", SHARE)


def require_motion_memory(mechanism: Mechanism, times: int) -> None:
    """Refuse a motion at so many times that this machine cannot hold: its states with the work done, as the loop writes
    them and as they are given out, and the efforts."""
    states, efforts = len(mechanism.coordinates) + len(mechanism.speeds) + 1, len(mechanism.speeds)
    needed = times * (TIMES + NUMBER * (2 * states + efforts))
    _require(f"a motion at {times} times", needed, ["fewer times of output"])


def _require(what: str, needed: int, ways: list[str], most: str = "", share: float = 1.0) -> None:
    there = _physical_memory()
    if there is not None and needed > share * there:
        fix = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
        peak = f", for a moment up to {needed / share / 1e9:.3g} GB" if share < 1.0 else ""
        has = f"and this machine has {there / 1e9:.3g} GB"
        raise InputError(f"{what} takes {needed / 1e9:.3g} GB{most}{peak}, {has}\n    fix: {fix}")


def _physical_memory() -> int | None:
    """Bytes of memory of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


__all__ = ["EnsembleSize", "require_ensemble_memory", "require_motion_memory"]
