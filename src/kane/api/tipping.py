"""Times at which something about a vehicle changes, and how near it is to tipping over along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .records import Array

_SHOWN = 6  # crossings that a printed answer lists


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
    sign. Where wheels may lift, the measure of an edge is never negative: it is zero while the vehicle tips about it.
    """

    t: Array
    edges: tuple[tuple[str, str], ...]
    alpha: Array
    per_edge: Array
    angle: Array
    moment: Array
    beta: Array
    crossings: tuple[Crossing, ...] = ()

    def __repr__(self) -> str:
        worst = int(np.argmin(self.alpha))
        a, b = self.edges[int(np.argmin(self.per_edge[worst]))]
        said = "tips" if self.spans else "does not tip"
        head = f"{said}: least measure {self.alpha[worst]:.6g} N rad at t = {self.t[worst]:.6g} s, over {a}-{b}"
        return "\n".join([head, *crossing_lines(self.crossings)])

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """(from, to) of the times (s) at which it tips over: where `alpha` is not positive, linear between samples."""
        return spans_without(self.t, self.alpha)


def spans_without(t: Array, values: Array) -> tuple[tuple[float, float], ...]:
    """(from, to) of the times at which a sampled function is not positive, linear between samples; single samples that
    are zero are left out.

    >>> spans_without(np.arange(4.0), np.array([1.0, -1.0, 1.0, 1.0]))
    ((0.5, 1.5),)
    """
    spans, start = list[tuple[float, float]](), float(t[0]) if values[0] <= 0 else None
    for i in np.flatnonzero((values[:-1] > 0) != (values[1:] > 0)):
        a, b = values[i], values[i + 1]
        at = float(t[i] + (t[i + 1] - t[i]) * a / (a - b))
        if start is None:
            start = at
        else:
            spans.append((start, at))
            start = None
    spans += [] if start is None else [(start, float(t[-1]))]
    return tuple((a, b) for a, b in spans if b > a)


def balanced_on(
    edges: Sequence[tuple[str, str]], t: Array, per_edge: Array, changes: Sequence[Crossing]
) -> tuple[Crossing, ...]:
    """When a vehicle whose wheels lift begins and ends to balance on each edge: at the changes of its contacts."""
    found: list[Crossing] = []
    for edge, measure in zip(edges, per_edge.T, strict=True):
        for i in np.flatnonzero((measure[:-1] > 0) != (measure[1:] > 0)):
            at = next((float(c) for c in changes if t[i] <= c <= t[i + 1]), float(t[i + 1]))
            found.append(Crossing(at, f"edge {'-'.join(edge)}", "zero" if measure[i] > 0 else "positive"))
    return tuple(sorted(found))


__all__ = ["Crossing", "TipOver", "balanced_on", "crossing_lines", "spans_without"]
