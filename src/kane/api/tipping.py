"""Times at which something about a vehicle changes, and how near it is to tipping over along a motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .records import Array

if TYPE_CHECKING:
    from .lifting import Lifting

_SHOWN = 6  # crossings that a printed answer lists
_LOCATED = 1e-9
"""Share of the time of a motion within which a crossing is known: one that jumps at a sample may lie just beside it."""


class Crossing(float):
    """A time (s) at which something becomes negative, positive or zero, or a contact open, sliding, gripping or closed:
    a number, with `what` it is and `to` what it changes."""

    what: str
    to: str

    def __new__(cls, t: float, what: str, to: str) -> Crossing:
        self = super().__new__(cls, t)
        self.what, self.to = what, to
        return self

    @property
    def t(self) -> float:
        """The time (s)."""
        return float(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Crossing, (float(self), self.what, self.to)

    def __repr__(self) -> str:
        return f"{self.what} becomes {self.to} at t = {float(self):.9g} s"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Crossings by vehicle, and what there is to say about them."""

    crossings: Mapping[str, tuple[Crossing, ...]]
    sentences: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sentences)


def crossing_lines(crossings: Sequence[Crossing]) -> list[str]:
    """Lines about crossings, the first few."""
    more = len(crossings) - _SHOWN
    return [*(f"  {c!r}" for c in crossings[:_SHOWN]), *([f"  … {more} more"] if more > 0 else [])]


@dataclass(frozen=True, slots=True, repr=False)
class TipOver:
    """How near a vehicle is to tipping over, by the force-angle measure: positive is stable.

    For each of the `edges` of its support polygon, pairs of wheels counter-clockwise from above: `angle` (k, e) (rad)
    between the net force and the line to the edge, `per_edge` (k, e) (N rad), the angle times the net force, `beta` (k,
    e) (N m rad), times the distance and the force across the edge, and `moment` (k, e) (N m) that holds the vehicle
    down about the edge. `alpha` (k,) is the least of `per_edge`. `crossings` are the times at which an edge changes
    sign. Where wheels may lift, the measure of an edge is zero while the vehicle tips about it, and negative only if it
    stands on its wheels upside down: `crossings` tell each of these, also of the start; `lifting` tells what became of
    it, and is None where they may not.
    """

    t: Array
    edges: tuple[tuple[str, str], ...]
    alpha: Array
    per_edge: Array
    angle: Array
    moment: Array
    beta: Array
    crossings: tuple[Crossing, ...] = ()
    lifting: Lifting | None = None

    def __repr__(self) -> str:
        return "\n".join([self.headline, *crossing_lines(self.crossings)])

    @property
    def verdict(self) -> str:
        """What the vehicle does, in words: where wheels may lift it "tips over", or "tips" and comes back, where they
        may not it "would tip over"; or it "does not tip over"."""
        if self.lifting is not None and self.lifting.over is not None:
            return "tips over"
        if not self.spans:
            return "does not tip over"
        return "would tip over" if self.lifting is None else "tips"

    @property
    def headline(self) -> str:
        """The verdict in one line: of a vehicle that tips over since when and where it ends, else the least measure."""
        if self.lifting is not None and self.lifting.over is not None:
            return "; ".join(self.lifting.of_vehicle)
        worst = int(np.argmin(self.alpha))
        a, b = self.edges[int(np.argmin(self.per_edge[worst]))]
        least = f"least measure {self.alpha[worst]:.6g} N rad at t = {self.t[worst]:.6g} s, over {a}-{b}"
        back = f"; {self.lifting.ends}" if self.lifting is not None and self.lifting.ends else ""
        return f"{self.verdict}: {least}{back}"

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """(from, to) of the times (s) at which it tips over: where `alpha` is not positive, from one of the `crossings`
        to another; linear between samples where there is none."""
        unsafe: list[tuple[float, float]] = []
        for edge, measure in zip(self.edges, self.per_edge.T, strict=True):
            own = [c for c in self.crossings if c.what == name_of(edge)]
            unsafe += spans_without(self.t, measure, own)
        return join_spans(unsafe)


def name_of(edge: tuple[str, str]) -> str:
    """What crossings call an edge."""
    return f"edge {'-'.join(edge)}"


def spans_without(t: Array, values: Array, crossings: Sequence[Crossing] = ()) -> tuple[tuple[float, float], ...]:
    """(from, to) of the times at which a sampled function is not positive: between its crossings where it has some
    from one sample to the next, since it may jump there, else linear; single samples that are zero are left out.

    >>> spans_without(np.arange(4.0), np.array([1.0, -1.0, 1.0, 1.0]))
    ((0.5, 1.5),)
    >>> spans_without(np.arange(4.0), np.array([-1.0, -1.0, 9.0, 9.0]), [Crossing(1.75, "it", "positive")])
    ((0.0, 1.75),)
    """
    changes, near = [(float(c), c.to == "positive") for c in crossings], _LOCATED * float(t[-1] - t[0])
    for i in np.flatnonzero((values[:-1] > 0) != (values[1:] > 0)):
        if not any(t[i] - near <= c <= t[i + 1] + near for c in crossings):
            a, b = values[i], values[i + 1]
            changes.append((float(t[i] + (t[i + 1] - t[i]) * a / (a - b)), bool(b > 0)))
    spans, start = list[tuple[float, float]](), float(t[0]) if values[0] <= 0 else None
    for at, positive in sorted(changes):
        if positive and start is not None:
            spans.append((start, at))
            start = None
        elif not positive and start is None:
            start = at
    spans += [] if start is None else [(start, float(t[-1]))]
    return tuple((a, b) for a, b in spans if b > a)


def join_spans(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """All times that lie in one of the spans, by spans that do not touch.

    >>> join_spans([(1.0, 3.0), (0.0, 1.0), (5.0, 6.0), (2.0, 2.5)])
    ((0.0, 3.0), (5.0, 6.0))
    """
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def balanced_on(
    edges: Sequence[tuple[str, str]], t: Array, per_edge: Array, changes: Sequence[Crossing]
) -> tuple[Crossing, ...]:
    """When the measure of each edge of a vehicle whose wheels lift becomes zero, negative and positive: at the changes
    of its contacts, and at the start where it is not positive there."""
    found: list[Crossing] = []
    for edge, signs in zip(edges, np.sign(per_edge).T.astype(int).tolist(), strict=True):
        found += [Crossing(float(t[0]), name_of(edge), _SIGN[signs[0]])] if signs[0] <= 0 else []
        for i, (before, after) in enumerate(pairwise(signs)):
            if before != after:
                at = next((float(c) for c in changes if t[i] <= c <= t[i + 1]), float(t[i + 1]))
                found.append(Crossing(at, name_of(edge), _SIGN[after]))
    return tuple(sorted(found))


_SIGN = {1: "positive", 0: "zero", -1: "negative"}


__all__ = [
    "Crossing",
    "Judgement",
    "TipOver",
    "balanced_on",
    "crossing_lines",
    "join_spans",
    "name_of",
    "spans_without",
]
