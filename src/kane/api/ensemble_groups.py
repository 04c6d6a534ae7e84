"""Members of a block while they are computed: those that are simulated in one way, and what came of all so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..simulate import ENDS, Members, run_members
from .records import Array
from .simulation import Setup

REFUSED = ENDS.index("refused")


@dataclass(frozen=True, slots=True)
class MemberGroup:
    """Members of a block that are simulated in one way."""

    ready: Setup
    places: Any
    starts: Array
    parameters: Array

    def run(self, times: Array, keep: bool, look: Callable[[int], object] | None) -> Members:
        settings = dict(self.ready.settings)
        if self.ready.control is not None:
            settings["control"] = self.ready.control
        return run_members(self.ready.problem, self.starts, self.parameters, times, settings, keep=keep, look=look)

    def split(self, size: int) -> Iterator[MemberGroup]:
        """The same members, so many at a time."""
        for first in range(0, self.places.size, size):
            some = slice(first, first + size)
            yield MemberGroup(self.ready, self.places[some], self.starts[some], self.parameters[some])


class BlockResults:
    """What came of the members of a block so far."""

    def __init__(self, count: int, n: int, events: int, watched: int, times: Array, keep: bool, wheels: int):
        self.keep = keep
        self.wheels = wheels  # that are watched by events after all others
        self.events = events
        self.reason = np.full(count, REFUSED, dtype=np.int64)
        self.t = np.full(count, times[0])
        self.y = np.full((count, n), np.nan)
        self.outputs = np.full((count, times.size, n), np.nan) if keep else None
        self.first = np.full((count, events), np.nan)
        self.crossings = np.zeros((count, events), dtype=np.int64)
        self.low, self.high = np.full((2, count, watched), np.nan)  # on the way to the end, where t is a duration
        self.near_flat = np.zeros(count, dtype=bool)
        self.steps = np.zeros(count, dtype=np.int64)
        self.messages: dict[int, str] = {}

    def refuse(self, i: int, message: str) -> None:
        self.messages[i] = message

    def take(self, places: Any, made: Members) -> None:
        """Take in what came of some members."""
        self.reason[places], self.t[places], self.y[places] = made.reason, made.t, made.y
        self.steps[places] = made.steps
        self.near_flat[places] = (made.crossings[:, made.crossings.shape[1] - self.wheels :] > 0).any(axis=1)
        self.first[places] = made.first[:, : self.events]
        self.crossings[places] = made.crossings[:, : self.events]
        if self.outputs is not None and made.outputs is not None:
            self.outputs[places] = made.outputs
        self.messages |= {int(places[i]): text for i, text in made.messages.items()}

    def members(self, outputs: bool) -> Members:
        return Members(
            self.reason,
            self.t,
            self.y,
            self.outputs if outputs else None,
            self.first,
            self.crossings,
            self.steps,
            dict(sorted(self.messages.items())),
        )


__all__ = ["BlockResults", "MemberGroup"]
