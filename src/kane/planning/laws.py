"""Time laws: from rest at 0 to rest at 1, as x = t/T goes from 0 to 1.

A law gives s and its first two derivatives in x; a motion of length L in the time T along it has the speed L s'/T and
the acceleration L s''/T². With the peaks of |s'| and |s''| known exactly, so is the smallest T that keeps to limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import InputError
from ..graph import Expr

Array = np.ndarray[Any, np.dtype[np.float64]]


class LawValues(NamedTuple):
    """s, ds/dx and d²s/dx² at some x, all of the shape of x."""

    s: Array
    slope: Array
    bend: Array


class TimeLaw(Protocol):
    """A rest-to-rest law; `peak_slope` and `peak_bend` are the largest |s'| and |s''| on [0, 1]."""

    @property
    def peak_slope(self) -> float: ...
    @property
    def peak_bend(self) -> float: ...
    def at(self, x: Any) -> LawValues:
        """s, s', s'' for x in [0, 1]."""
        ...

    def expression(self, x: Expr) -> Expr:
        """s for x in [0, 1], in the graph of x."""
        ...


@dataclass(frozen=True, slots=True)
class Cycloid:
    """s = x − sin(2πx)/2π [KL83, Eq. 127; AMR89, example 1]: velocity and acceleration vanish at both ends."""

    @property
    def peak_slope(self) -> float:
        return 2.0

    @property
    def peak_bend(self) -> float:
        return 2.0 * math.pi

    def at(self, x: Any) -> LawValues:
        turn = 2.0 * math.pi * np.asarray(x, dtype=float)
        s = (turn - np.sin(turn)) / (2.0 * math.pi)
        return LawValues(s, 1.0 - np.cos(turn), 2.0 * math.pi * np.sin(turn))

    def expression(self, x: Expr) -> Expr:
        return x - (2.0 * math.pi * x).sin() / (2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class Polynomial:
    """s = Σ c_k x^k with the coefficients c_0, c_1, …; s and its rates have to fit rest at 0 and rest at 1."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        c = np.polynomial.Polynomial(self.coefficients)
        ends = [c(0.0), c(1.0) - 1.0, c.deriv()(0.0), c.deriv()(1.0)]
        if not np.all(np.abs(ends) < 1e-9):
            raise InputError(
                f"the polynomial {self.coefficients} is no time law: s(0) = {ends[0]:g}, s(1) = {ends[1] + 1.0:g},"
                f" s'(0) = {ends[2]:g}, s'(1) = {ends[3]:g}; a law goes from rest at 0 to rest at 1"
            )

    @property
    def peak_slope(self) -> float:
        return self._peak(1)

    @property
    def peak_bend(self) -> float:
        return self._peak(2)

    def _peak(self, order: int) -> float:
        p = np.polynomial.Polynomial(self.coefficients).deriv(order)
        return largest_size(p.coef, 1.0)

    def at(self, x: Any) -> LawValues:
        p = np.polynomial.Polynomial(self.coefficients)
        x = np.asarray(x, dtype=float)
        return LawValues(p(x), p.deriv()(x), p.deriv(2)(x))

    def expression(self, x: Expr) -> Expr:
        return horner(self.coefficients, x)


@dataclass(frozen=True, slots=True)
class Trapezoid:
    """Constant acceleration for the fraction `blend` of the time, constant velocity, constant deceleration.

    blend = 1/2 is a triangle: acceleration for one half, deceleration for the other.
    """

    blend: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 < self.blend <= 0.5:
            raise InputError(f"blend is {self.blend!r}; speeding up takes a fraction of the time above 0, at most 1/2")

    @property
    def peak_slope(self) -> float:
        return 1.0 / (1.0 - self.blend)

    @property
    def peak_bend(self) -> float:
        return 1.0 / (self.blend * (1.0 - self.blend))

    def at(self, x: Any) -> LawValues:
        x = np.asarray(x, dtype=float)
        V, A, b = self.peak_slope, self.peak_bend, self.blend
        where = [x < b, x <= 1.0 - b]
        s = np.select(where, [0.5 * A * x * x, V * (x - 0.5 * b)], 1.0 - 0.5 * A * (1.0 - x) ** 2)
        slope = np.select(where, [A * x, np.full_like(x, V)], A * (1.0 - x))
        return LawValues(s, slope, np.select(where, [np.full_like(x, A), np.zeros_like(x)], -A))

    def expression(self, x: Expr) -> Expr:
        V, A, b = self.peak_slope, self.peak_bend, self.blend
        left = 1.0 - x
        after = x.less_equal(1.0 - b).select(V * (x - 0.5 * b), 1.0 - 0.5 * A * left * left)
        return x.less(b).select(0.5 * A * x * x, after)


LAWS: dict[str, TimeLaw] = {
    "cycloid": Cycloid(),
    "3-4-5": Polynomial((0.0, 0.0, 0.0, 10.0, -15.0, 6.0)),
    "4-5-6-7": Polynomial((0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0)),
    "trapezoid": Trapezoid(),
}
"""The laws by name. 3-4-5 has no acceleration at the ends, 4-5-6-7 no jerk there either [ANG14, Ch. 6]."""


def law_of(law: TimeLaw | str) -> TimeLaw:
    """A time law, from itself or from its name."""
    if isinstance(law, str):
        if law not in LAWS:
            raise InputError(f"no time law is called {law!r}; there are {', '.join(LAWS)}")
        return LAWS[law]
    return law


def fit_duration(law: TimeLaw | str, slope: float, bend: float) -> tuple[TimeLaw, float]:
    """(law, T): the smallest T with |ds/dt| ≤ slope (1/s) and |d²s/dt²| ≤ bend (1/s²) all along.

    A trapezoid asked for by name takes the blend with which it is fastest: it then touches both limits, or is a
    triangle that touches the second. T is 0 where nothing limits it.
    """
    if law == "trapezoid" and math.isfinite(slope) and math.isfinite(bend):
        ramp = slope / bend
        if slope * ramp >= 1.0:
            return Trapezoid(0.5), 2.0 / math.sqrt(bend)
        duration = 1.0 / slope + ramp
        return Trapezoid(ramp / duration), duration
    law = law_of(law)
    return law, max(law.peak_slope / slope, math.sqrt(law.peak_bend / bend))


def horner(coefficients: Any, x: Any) -> Any:
    """Σ c_k x^k, for numbers or expressions."""
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


def largest_size(coefficients: Any, end: float) -> float:
    """The largest |Σ c_k x^k| on [0, end]: at an end, or where the derivative has a root."""
    p = np.polynomial.Polynomial(coefficients)
    roots = p.deriv().roots() if p.degree() > 1 else np.empty(0)
    inside = [r.real for r in np.atleast_1d(roots) if 0.0 < r.real < end]
    return float(np.abs(p(np.array([0.0, end, *inside]))).max())
