"""Whether a motion still advances: the one rule for all methods that choose their own step."""

from __future__ import annotations

from typing import Any

import numpy as np

STALL, ADVANCE, CRAWL = 50_000, 1e-6, 1e-9
"""A motion that in so many attempted steps advances by less than ADVANCE of the time behind it, or by less than CRAWL
of the whole span, is stalled: it nears a pole, or is held. A long span alone is no reason, since an event may be what
ends it. Counted in steps, not in seconds, so that the same motion always ends alike."""

REJECTED, HELD = 0.1, 1e-5
"""Where at least this share of the steps is rejected, less than HELD of the whole span is a stall already: a chattering
motion advances more."""

PACE, NEAR, GROWTH, TIMES = 5000, 2e-5, 1.2, 2
"""A motion that twice, in so many attempted steps, advances by less than NEAR of the time behind it while a number of
its state grows beyond all before by such a factor, runs into a pole, as a wheel does that falls flat while it rolls. A
regular pole takes few steps, and what passes one in time has numbers that fall again; chattering and stiff motions do
not grow."""

EARLIEST = (TIMES + 1) * PACE
"""Attempted steps before which no motion is judged."""


class Look:
    """Looks at the progress of a motion from t0 to t1 (s) after PACE attempted steps each; `due` counts to the next."""

    def __init__(self, t0: float, t1: float):
        self.due = PACE
        self._t0, self._span = t0, abs(t1 - t0)
        self._stall = STALL
        self._t, self._rejected = t0, 0
        self._before, self._times = t0, 0  # time of the last look, and how often the motion grew and came nowhere
        self._largest: Any = np.zeros(0)  # of each number of the state so far

    def contents(self) -> list[float]:
        """What these looks remember."""
        counts = map(float, (self.due, self._stall, self._rejected, self._times))
        return [*counts, self._t, self._before, *self._largest.tolist()]

    def restore(self, contents: list[float]) -> None:
        """Remember what earlier looks did."""
        self.due, self._stall, self._rejected, self._times = map(int, contents[:4])
        self._t, self._before, *largest = contents[4:]
        self._largest = np.array(largest)

    def is_stalled(self, attempts: int, rejected: int, t: float, y: Any) -> bool:
        """Whether the motion, at t in the state y after so many attempted and rejected steps, comes to no end."""
        if attempts < self.due:
            return False
        self.due = attempts + PACE
        now = np.abs(y)
        known = len(self._largest) == len(now)
        grew = known and bool(np.any((now > GROWTH * self._largest) & (self._largest > 0.0)))
        crawls = abs(t - self._before) < NEAR * abs(t - self._t0)
        self._times = self._times + 1 if grew and crawls else 0
        self._before, self._largest = t, np.maximum(now, self._largest) if known else now
        return self._times >= TIMES or self._came_nowhere(attempts, rejected, t)

    def _came_nowhere(self, attempts: int, rejected: int, t: float) -> bool:
        """Whether the last STALL attempted steps advanced by almost nothing."""
        if attempts < self._stall:
            return False
        share = HELD if rejected - self._rejected > REJECTED * STALL else CRAWL
        advance = abs(t - self._t)
        self._stall, self._t, self._rejected = attempts + STALL, t, rejected
        return advance < max(ADVANCE * abs(t - self._t0), share * self._span)
