"""Motions of a frame in space: straight lines and circles, with the orientation turning about a constant axis.

A path gives position and orientation over its parameter s in [0, 1]; a `Travel` runs through it along a time law.
Everything is in N: p (m), R_NB, the twist ω (rad/s), v (m/s), and its rate. The shortest rotation from one orientation
to another is about a constant axis, at constant rate in s: that is what slerp between two quaternions does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import InputError
from ..graph import Expr
from .laws import Array, TimeLaw, fit_duration, law_of
from .trajectories import choose_duration, fraction, law_in_time, limits

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_ORTHONORMAL = 1e-9  # how far R Rᵀ may be from the identity
_SAMPLES = 4001  # points at which the acceleration on a circle is looked at, before its peak is refined

Rows = tuple[tuple[float, ...], ...]


class FrameState(NamedTuple):
    """R (…, 3, 3), p (…, 3), twist (…, 6) with ω before v, and its rate (…, 6), all in N."""

    R: Array
    p: Array
    twist: Array
    twist_rate: Array

    @property
    def poses(self) -> Array:
        """R by rows and p, (…, 12), as programs of poses give them."""
        return np.concatenate([self.R.reshape(*self.R.shape[:-2], 9), self.p], axis=-1)


@dataclass(frozen=True, slots=True)
class Turn:
    """Rotation from the orientation `start` by `angle` (rad) about a unit `axis` in N, in proportion to s."""

    start: Rows = IDENTITY
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    angle: float = 0.0

    def __post_init__(self) -> None:
        R = np.asarray(self.start, dtype=float)
        if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=_ORTHONORMAL) or np.linalg.det(R) < 0:
            raise InputError(f"{self.start} is no orientation: three right-handed orthonormal rows are needed")
        if not math.isclose(math.hypot(*self.axis), 1.0, rel_tol=1e-9):
            raise InputError(f"the axis {self.axis} of a turn is not a unit vector")

    def at(self, s: Array) -> Array:
        """R_NB at s, (…, 3, 3)."""
        return _rotate_about(self.axis, self.angle * s) @ np.asarray(self.start)

    def expressions(self, s: Expr) -> list[Expr]:
        """R_NB by rows."""
        c, sine = (self.angle * s).cos(), (self.angle * s).sin()
        R0, K = np.asarray(self.start), _cross_matrix(self.axis)
        still, turned, crossed = R0 + K @ K @ R0, -(K @ K @ R0), K @ R0
        return [
            float(still[i, j]) + float(turned[i, j]) * c + float(crossed[i, j]) * sine
            for i in range(3)
            for j in range(3)
        ]


def slerp(start: Any, end: Any) -> Turn:
    """The shortest turn from one orientation to another, both R_NB (3, 3)."""
    R0, R1 = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    for R in (R0, R1):
        Turn(_rows(R))
    vector = rotation_vector(R1 @ R0.T)
    angle = float(np.linalg.norm(vector))
    axis = vector / angle if angle > 0.0 else np.array([0.0, 0.0, 1.0])
    return Turn(_rows(R0), tuple(axis.tolist()), angle)


class Path(Protocol):
    """Where a frame is for s in [0, 1], and how fast that changes with s."""

    @property
    def turn(self) -> Turn: ...
    @property
    def peaks(self) -> Peaks: ...
    def place(self, s: Array) -> tuple[Array, Array, Array]:
        """p, dp/ds and d²p/ds², each (…, 3)."""
        ...

    def place_expressions(self, s: Expr) -> list[Expr]:
        """p as expressions."""
        ...


class Peaks(NamedTuple):
    """Speed along the path per unit of ds/dt, and acceleration across it per unit of (ds/dt)² (both m)."""

    speed: float
    across: float


@dataclass(frozen=True, slots=True)
class Line:
    """The straight line from `start` to `end` (m, in N)."""

    start: tuple[float, ...]
    end: tuple[float, ...]
    turn: Turn = Turn()

    def __post_init__(self) -> None:
        _check_points(self.start, self.end)

    @property
    def peaks(self) -> Peaks:
        return Peaks(math.dist(self.start, self.end), 0.0)

    def place(self, s: Array) -> tuple[Array, Array, Array]:
        way = np.subtract(self.end, self.start)
        p = np.asarray(self.start) + s[..., None] * way
        return p, np.broadcast_to(way, p.shape), np.zeros_like(p)

    def place_expressions(self, s: Expr) -> list[Expr]:
        return [a + (b - a) * s for a, b in zip(self.start, self.end, strict=True)]


@dataclass(frozen=True, slots=True)
class Circle:
    """The arc from `start` by `angle` (rad) around `center` (m) about the unit `normal`; all in N."""

    start: tuple[float, ...]
    center: tuple[float, ...]
    normal: tuple[float, ...]
    angle: float = 2.0 * math.pi
    turn: Turn = Turn()

    def __post_init__(self) -> None:
        _check_points(self.start, self.center, self.normal)
        if not math.isclose(math.hypot(*self.normal), 1.0, rel_tol=1e-9):
            raise InputError(f"the normal {self.normal} of a circle is not a unit vector")
        arm = np.subtract(self.start, self.center)
        if not abs(arm @ np.asarray(self.normal)) <= 1e-9 * max(1.0, np.linalg.norm(arm)) or not np.any(arm):
            raise InputError(
                f"the start {self.start} is not in the plane around {self.center} with normal {self.normal},"
                f" or is the centre of the circle"
            )

    @property
    def radius(self) -> float:
        """Radius (m)."""
        return math.dist(self.start, self.center)

    @property
    def peaks(self) -> Peaks:
        return Peaks(self.radius * abs(self.angle), self.radius * self.angle**2)

    @property
    def _axes(self) -> tuple[Array, Array]:
        """From the centre to the start, and the same a quarter turn later (m)."""
        x = np.subtract(self.start, self.center)
        return x, np.cross(self.normal, x)

    def place(self, s: Array) -> tuple[Array, Array, Array]:
        x, y = self._axes
        turned = (self.angle * s)[..., None]
        out = np.cos(turned) * x + np.sin(turned) * y
        along = np.cos(turned) * y - np.sin(turned) * x
        return np.asarray(self.center) + out, self.angle * along, -(self.angle**2) * out

    def place_expressions(self, s: Expr) -> list[Expr]:
        x, y = (axis.tolist() for axis in self._axes)
        c, sine = (self.angle * s).cos(), (self.angle * s).sin()
        return [o + a * c + b * sine for o, a, b in zip(self.center, x, y, strict=True)]


@dataclass(frozen=True, slots=True)
class Travel:
    """A frame that runs through a path in `duration` seconds, from rest to rest along a time law."""

    path: Path
    duration: float
    law: TimeLaw

    def at(self, t: Any) -> FrameState:
        """Pose, twist and its rate at the time or times t (s)."""
        s, sdot, sddot = law_in_time(self.law, self.duration, t)
        p, slope, bend = self.path.place(s)
        turn = self.path.turn
        spin = turn.angle * np.asarray(turn.axis)
        rate, rise = sdot[..., None], sddot[..., None]
        twist = np.concatenate([rate * spin, rate * slope], axis=-1)
        twist_rate = np.concatenate([rise * spin, rise * slope + rate**2 * bend], axis=-1)
        return FrameState(turn.at(s), p, twist, twist_rate)

    def expressions(self, t: Expr) -> list[Expr]:
        """R_NB by rows and p as functions of t (s), in the graph of t."""
        s = self.law.expression(fraction(t, self.duration))
        return [*self.path.turn.expressions(s), *self.path.place_expressions(s)]


@dataclass(frozen=True, slots=True)
class FrameLimits:
    """Bounds of |v| (m/s), |a| (m/s²), |ω| (rad/s) and |α| (rad/s²)."""

    velocity: float = math.inf
    acceleration: float = math.inf
    angular_velocity: float = math.inf
    angular_acceleration: float = math.inf

    def __post_init__(self) -> None:
        for name in self.__slots__:
            limits(getattr(self, name), 1, name)


def travel(
    path: Path, *, law: TimeLaw | str = "cycloid", duration: float | None = None, within: FrameLimits | None = None
) -> Travel:
    """The motion through a path in `duration` seconds, or in the shortest time within the limits."""
    bound = FrameLimits() if within is None else within
    spin, (speed, across) = abs(path.turn.angle), path.peaks
    slope = min(_ratio(bound.velocity, speed), _ratio(bound.angular_velocity, spin))
    bend = min(_ratio(bound.acceleration, speed), _ratio(bound.angular_acceleration, spin))
    fit, shortest = fit_duration(law if duration is None else law_of(law), slope, bend)
    if across > 0.0 and math.isfinite(bound.acceleration):
        shortest = max(shortest, math.sqrt(_peak_acceleration(fit, speed, across) / bound.acceleration))
    return Travel(path, choose_duration(duration, shortest), fit)


def _peak_acceleration(law: TimeLaw, speed: float, across: float) -> float:
    """The largest |a| in 1 s: √((speed s'')² + (across s'²)²), searched on a grid and refined around its best point."""

    def size(x: Array) -> Array:
        _, slope, bend = law.at(x)
        return np.hypot(speed * bend, across * slope**2)

    low, high = 0.0, 1.0
    best = 0.0
    for _ in range(4):
        x = np.linspace(low, high, _SAMPLES)
        values = size(x)
        k = int(np.argmax(values))
        best = max(best, float(values[k]))
        low, high = float(x[max(k - 1, 0)]), float(x[min(k + 1, _SAMPLES - 1)])
    return best


def rotation_vector(R: Any) -> Array:
    """Axis times angle of rotations (…, 3, 3), the angle in [0, π]."""
    from scipy.spatial.transform import Rotation  # takes longer to import than to run

    return Rotation.from_matrix(R).as_rotvec()


def pose_of(R: Any, p: Any) -> Array:
    """R by rows and p, (…, 12), of orientations (…, 3, 3) and positions (…, 3)."""
    R, p = np.asarray(R, dtype=float), np.asarray(p, dtype=float)
    return np.concatenate([R.reshape(*R.shape[:-2], 9), p], axis=-1)


def _ratio(limit: float, size: float) -> float:
    return limit / size if size > 0.0 else math.inf


def _rows(R: Array) -> Rows:
    return tuple(tuple(row) for row in R.tolist())


def _cross_matrix(v: Sequence[float]) -> Array:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _rotate_about(axis: Sequence[float], angle: Array) -> Array:
    """Rotations about a unit axis: 1 + sin K + (1 − cos) K², K the matrix of the cross product with it."""
    K = _cross_matrix(axis)
    angle = np.asarray(angle)[..., None, None]
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def _check_points(*points: Sequence[float]) -> None:
    for p in points:
        if len(p) != 3 or not np.all(np.isfinite(p)):
            raise InputError(f"{p} is not a point or vector in space: give three finite numbers")
