"""Singular positions that a motion passes: where constraints that are independent elsewhere depend on each other.

Comes in: a motion on its constraints and a measure of how far from singular a position is. Between the times of the
motion coordinates are taken from cubics through q and q̇. The measure falls like |t − t*| to a singular position, so its
lowest points are looked at more closely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..constraints.thresholds import LOW, NEAR_SINGULAR
from .programs import Array

Measure = Callable[[Array, Array], Array]

_POINTS, _ROUNDS = 33, 5  # places tried in an interval, which is then cut down around the lowest


@dataclass(frozen=True, slots=True)
class Singularity:
    """A singular position: time (s), share of the usual distance from one that is left, degrees of freedom there."""

    t: float
    measure: float
    degrees: int

    def __str__(self) -> str:
        return f"t = {self.t:.6g} s, {self.degrees} degrees of freedom"


def find_singular(measure: Measure, t: Array, q: Array, qdot: Array) -> list[tuple[float, Array, float]]:
    """(t, q, share of the usual measure) at every singular position between the times; `measure` takes (t, q)."""
    sizes = measure(t, q)
    usual = float(np.median(sizes))
    if not usual > 0.0:
        return []
    padded = np.concatenate([[np.inf], sizes, [np.inf]])
    low = (sizes <= padded[:-2]) & (sizes <= padded[2:]) & (sizes < LOW * usual)
    found: list[tuple[float, Array, float]] = []
    for k in np.flatnonzero(low):
        first, last = max(int(k) - 1, 0), min(int(k) + 1, len(t) - 1)
        at, place, size = _refine_minimum(measure, t, q, qdot, first, last)
        apart = not found or abs(at - found[-1][0]) > 1e-6 * abs(t[-1] - t[0])
        if size < NEAR_SINGULAR * usual and apart:
            found.append((at, place, size / usual))
    return found


def _refine_minimum(
    measure: Measure, t: Array, q: Array, qdot: Array, first: int, last: int
) -> tuple[float, Array, float]:
    """(t, q, measure) where the measure is least between two rows of a motion."""
    low, high = float(t[first]), float(t[last])
    best, place, size = low, q[first], np.inf
    for _ in range(_ROUNDS):
        times = np.linspace(low, high, _POINTS)
        places = _interpolate(t, q, qdot, times)
        sizes = measure(times, places)
        k = int(np.argmin(sizes))
        if sizes[k] < size:
            best, place, size = float(times[k]), places[k], float(sizes[k])
        low, high = float(times[max(k - 1, 0)]), float(times[min(k + 1, _POINTS - 1)])
    return best, place, size


def _interpolate(t: Array, q: Array, qdot: Array, times: Array) -> Array:
    """q at `times`, by cubics through q and q̇ at the two rows around each."""
    sign = 1.0 if t[-1] >= t[0] else -1.0
    k = np.clip(np.searchsorted(sign * t, sign * times, side="right") - 1, 0, len(t) - 2)
    h = (t[k + 1] - t[k])[:, None]
    s = (times - t[k])[:, None] / h
    rise = q[k + 1] - q[k]
    return q[k] + s * rise + s * (1 - s) * ((1 - s) * (h * qdot[k] - rise) + s * (rise - h * qdot[k + 1]))


__all__ = ["Singularity", "find_singular"]
