"""Splines through way-points in joint space: cubic and quintic, with the usual conditions at the ends.

Each piece is a polynomial in the time since its first way-point. Extremes of velocity and acceleration are roots of
polynomials, so the shortest duration that keeps to limits is exact: scaling time by k divides them by k and k².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from ..graph import Expr
from .laws import Array, horner, largest_size
from .trajectories import JointState, limits

Ends = Literal["clamped", "natural", "periodic"]


@dataclass(frozen=True, slots=True, eq=False)
class Spline:
    """Pieces Σ c_k (t − t_i)^k between the times t_0 = 0 < t_1 < … (s); `coefficients` is (pieces, degree + 1, n)."""

    times: Array
    coefficients: Array

    def __post_init__(self) -> None:
        if np.any(np.diff(self.times) <= 0.0) or len(self.coefficients) != len(self.times) - 1 or self.times[0] != 0.0:
            raise InputError(f"the times of a spline start at 0 and increase, one piece between each two: {self.times}")

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    @property
    def peak_velocity(self) -> Array:
        """The largest |qdot| of each coordinate, (n,)."""
        return self._peaks(1)

    @property
    def peak_acceleration(self) -> Array:
        """The largest |qddot| of each coordinate, (n,)."""
        return self._peaks(2)

    def _peaks(self, order: int) -> Array:
        derived = self._derivative_coefficients(order)
        return np.array(
            [
                max(largest_size(derived[i, :, j], length) for i, length in enumerate(np.diff(self.times)))
                for j in range(derived.shape[2])
            ]
        )

    def _derivative_coefficients(self, order: int) -> Array:
        c = self.coefficients
        for _ in range(order):
            c = c[:, 1:] * np.arange(1, c.shape[1])[:, None]
        return c

    def at(self, t: Any) -> JointState:
        t = np.asarray(t, dtype=float)
        held = np.clip(t, 0.0, self.duration)
        piece = np.clip(np.searchsorted(self.times, held, side="right") - 1, 0, len(self.coefficients) - 1)
        x = (held - self.times[piece])[..., None]
        q, qdot, qddot = (
            horner(
                [self._derivative_coefficients(order)[piece, k] for k in range(self.coefficients.shape[1] - order)], x
            )
            for order in range(3)
        )
        moving = ((t >= 0.0) & (t <= self.duration))[..., None]
        return JointState(q, np.where(moving, qdot, 0.0), np.where(moving, qddot, 0.0))

    def expressions(self, t: Expr) -> list[Expr]:
        """Coefficients are selected by t, then one polynomial per coordinate is evaluated."""
        held = t.max(0.0).min(self.duration)
        before = [t.less(float(end)) for end in self.times[1:-1]]

        def select_value(values: Array) -> Expr:
            found = t.graph.const(float(values[-1]))
            for condition, value in zip(reversed(before), values[-2::-1], strict=True):
                found = condition.select(float(value), found)
            return found

        x = held - select_value(self.times[:-1])
        n = self.coefficients.shape[2]
        return [horner([select_value(c[:, j]) for c in np.moveaxis(self.coefficients, 1, 0)], x) for j in range(n)]

    def scale_time(self, factor: float) -> Spline:
        """The same path, `factor` times as long in time."""
        powers = float(factor) ** -np.arange(self.coefficients.shape[1])
        return replace(self, times=self.times * factor, coefficients=self.coefficients * powers[:, None])

    def within(self, velocity: Any = math.inf, acceleration: Any = math.inf) -> Spline:
        """The same path in the shortest time in which no coordinate exceeds its limits (rad/s or m/s, and per s²)."""
        n = self.coefficients.shape[2]
        speed = float(np.max(self.peak_velocity / limits(velocity, n, "velocity")))
        rise = float(np.max(self.peak_acceleration / limits(acceleration, n, "acceleration")))
        factor = max(speed, math.sqrt(rise))
        if factor == 0.0:
            raise InputError("no limit sets the duration of this spline: give a velocity or an acceleration")
        return self.scale_time(factor)


def cubic_spline(points: Any, times: Sequence[float] | None = None, *, ends: Ends = "clamped") -> Spline:
    """The cubic spline through way-points (k, n): continuous acceleration.

    Ends: clamped (at rest), natural (no acceleration), periodic (last point = first; rates agree there).
    """
    return _interpolate(points, times, ends, 3)


def quintic_spline(points: Any, times: Sequence[float] | None = None, *, ends: Ends = "clamped") -> Spline:
    """The quintic spline through way-points (k, n): continuous up to the fourth derivative.

    Ends: clamped (at rest without acceleration), natural (third and fourth derivatives vanish), periodic.
    """
    return _interpolate(points, times, ends, 5)


def _interpolate(points: Any, times: Sequence[float] | None, ends: Ends, degree: int) -> Spline:
    from scipy.interpolate import make_interp_spline  # takes longer to import than to run

    points = _checked_points(points)
    at: Array = _times_by_distance(points) if times is None else np.asarray(times, dtype=float)
    if at.shape != (len(points),) or not np.all(np.isfinite(at)) or np.any(np.diff(at) <= 0.0):
        raise InputError(f"times are {at.tolist()}; give {len(points)} of them, increasing, one for each way-point")
    at = at - at[0]
    half, zero = (degree + 1) // 2, np.zeros(points.shape[1])
    clamped, natural = ([(order, zero) for order in orders] for orders in (range(1, half), range(half, degree)))
    conditions: dict[str, Any] = {"clamped": (clamped,) * 2, "natural": (natural,) * 2, "periodic": "periodic"}
    if ends not in conditions:
        raise InputError(f"ends are {ends!r}; choose one of {', '.join(conditions)}")
    if ends == "periodic":
        _check_periodic(points, degree)
    if ends == "natural" and len(points) < half:
        raise InputError(f"a natural spline of degree {degree} needs {half} way-points or more")
    spline = make_interp_spline(at, points, k=degree, bc_type=conditions[ends])
    # Taylor's coefficients at the start of each piece.
    coefficients = [spline(at[:-1], nu=k) / math.factorial(k) for k in range(degree + 1)]
    return Spline(at, np.stack(coefficients, axis=1))


def _checked_points(points: Any) -> Array:
    try:
        array = np.array(points, dtype=float)
    except (TypeError, ValueError):
        raise InputError("way-points are not an array of numbers: give (points, coordinates)") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) < 2 or not np.all(np.isfinite(array)):
        raise InputError(f"way-points have shape {array.shape}; give two or more rows of finite coordinates")
    return array


def _check_periodic(points: Array, degree: int) -> None:
    if not np.allclose(points[0], points[-1], rtol=0.0, atol=1e-12):
        raise InputError(f"a periodic spline ends where it starts: {points[0]} is not {points[-1]}")
    if len(points) < degree:
        raise InputError(f"a periodic spline of degree {degree} needs {degree} way-points or more")


def _times_by_distance(points: Array) -> Array:
    """Times in proportion to the distances between way-points, 1 s in all."""
    distances = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if np.any(distances == 0.0):
        raise InputError("two way-points in a row are the same, so times cannot be chosen by distance: give times=...")
    return np.concatenate([[0.0], np.cumsum(distances) / distances.sum()])
