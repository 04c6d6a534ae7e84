"""Whether a motion still advances: the one rule for all methods that choose their own step."""

from __future__ import annotations

STALL, ADVANCE, CRAWL = 50_000, 1e-6, 1e-9
"""A motion that in so many attempted steps advances by less than ADVANCE of the time behind it, or by less than CRAWL
of the whole span, is stalled: it nears a pole, or is held. A long span alone is no reason, since an event may be what
ends it. Counted in steps, not in seconds, so that the same motion always ends alike."""

REJECTED, HELD = 0.1, 1e-5
"""Where at least this share of the steps is rejected, less than HELD of the whole span is a stall already: a chattering
motion advances more."""

PACE, NEAR, GROWTH, TIMES = 5000, 1e-5, 1.2, 2
"""A motion that twice, in so many attempted steps, advances by less than NEAR of the time behind it while its largest
number grows by such a factor, runs into a pole, as a wheel does that falls flat while it rolls. A regular pole takes
few steps, and what passes one in time has numbers that fall again; chattering and stiff motions do not grow."""

EARLIEST = (TIMES + 1) * PACE
"""Attempted steps before which no motion is judged."""


class Look:
    """Looks at the progress of a motion from t0 to t1 (s) after PACE attempted steps each; `due` counts to the next."""

    def __init__(self, t0: float, t1: float):
        self.due = PACE
        self._t0, self._span = t0, abs(t1 - t0)
        self._stall = STALL
        self._t, self._rejected = t0, 0
        self._near = (t0, 0.0, 0)  # time, largest number, and how often it grew while the motion came nowhere

    def contents(self) -> list[float]:
        """What these looks remember."""
        return [float(self.due), float(self._stall), self._t, float(self._rejected), *map(float, self._near)]

    def restore(self, contents: list[float]) -> None:
        """Remember what earlier looks did."""
        due, stall, self._t, rejected, t, largest, times = contents
        self.due, self._stall, self._rejected = int(due), int(stall), int(rejected)
        self._near = (t, largest, int(times))

    def is_stalled(self, attempts: int, rejected: int, t: float, largest: float) -> bool:
        """Whether the motion, at t after so many attempted and rejected steps, with this `largest` number of its state,
        comes to no end."""
        if attempts < self.due:
            return False
        self.due = attempts + PACE
        before, size, times = self._near
        grew = abs(t - before) < NEAR * abs(t - self._t0) and largest > GROWTH * size
        self._near = (t, largest, times + 1 if grew else 0)
        return self._near[2] >= TIMES or self._came_nowhere(attempts, rejected, t)

    def _came_nowhere(self, attempts: int, rejected: int, t: float) -> bool:
        """Whether the last STALL attempted steps advanced by almost nothing."""
        if attempts < self._stall:
            return False
        share = HELD if rejected - self._rejected > REJECTED * STALL else CRAWL
        advance = abs(t - self._t)
        self._stall, self._t, self._rejected = attempts + STALL, t, rejected
        return advance < max(ADVANCE * abs(t - self._t0), share * self._span)
