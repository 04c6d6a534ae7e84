"""Whether a motion still advances: the one rule for all methods that choose their own step."""

from __future__ import annotations

STALL, ADVANCE, CRAWL = 50_000, 1e-6, 1e-9
"""A motion that in so many attempted steps advances by less than ADVANCE of the time behind it, or by less than CRAWL
of the whole span, is stalled: it nears a pole, or is held. A long span alone is no reason, since an event may be what
ends it. Counted in steps, not in seconds, so that the same motion always ends alike."""

REJECTED, HELD = 0.1, 1e-5
"""Where at least this share of the steps is rejected, less than HELD of the whole span is a stall already: a chattering
motion advances more."""


class Look:
    """A look at the progress of a motion from t0 to t1 (s), once in STALL attempted steps; `due` counts to the next."""

    def __init__(self, t0: float, t1: float):
        self.due = STALL
        self._t0, self._span = t0, abs(t1 - t0)
        self._t, self._rejected = t0, 0

    def contents(self) -> list[float]:
        """What this look remembers."""
        return [float(self.due), self._t, float(self._rejected)]

    def restore(self, contents: list[float]) -> None:
        """Remember what an earlier look did."""
        due, self._t, rejected = contents
        self.due, self._rejected = int(due), int(rejected)

    def is_stalled(self, attempts: int, rejected: int, t: float) -> bool:
        """Whether the motion, at t after so many attempted and rejected steps, has come nowhere since the last look."""
        if attempts < self.due:
            return False
        share = HELD if rejected - self._rejected > REJECTED * STALL else CRAWL
        advance = abs(t - self._t)
        self.due, self._t, self._rejected = attempts + STALL, t, rejected
        return advance < max(ADVANCE * abs(t - self._t0), share * self._span)
