"""Motions in joint space: from rest to rest along a time law, and what every planned motion can be asked for.

A trajectory starts at t = 0; before that and after its duration it rests at its ends. Coordinates are rad or m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import InputError
from ..graph import Expr, forward
from .laws import Array, TimeLaw, fit_duration, law_of


class JointState(NamedTuple):
    """Coordinates, rates and second rates at some times: (n,) for one time, (k, n) for k of them."""

    q: Array
    qdot: Array
    qddot: Array


class PlannedTrajectory(Protocol):
    """A motion of n coordinates over `duration` (s), as numbers and as expressions."""

    @property
    def duration(self) -> float: ...
    def at(self, t: Any) -> JointState:
        """Coordinates and rates at the time or times t (s)."""
        ...

    def expressions(self, t: Expr) -> list[Expr]:
        """The coordinates as functions of t (s), in the graph of t."""
        ...


def rates(trajectory: PlannedTrajectory, t: Expr) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """(q, qdot, qddot) of a trajectory as expressions of t, the rates by differentiation in the graph."""
    q = trajectory.expressions(t)
    qdot = forward(q, {t: 1.0})
    return q, qdot, forward(qdot, {t: 1.0})


@dataclass(frozen=True, slots=True)
class Move:
    """From rest at `start` to rest at `end` in `duration` seconds, all coordinates in proportion, along one law."""

    start: tuple[float, ...]
    end: tuple[float, ...]
    duration: float
    law: TimeLaw

    def __post_init__(self) -> None:
        if len(self.start) != len(self.end):
            raise InputError(f"start has {len(self.start)} coordinates and end has {len(self.end)}; give the same ones")
        numbers = [*self.start, *self.end, self.duration]
        if not np.all(np.isfinite(numbers)) or self.duration <= 0.0:
            raise InputError(
                f"a move from {self.start} to {self.end} in {self.duration} s:"
                f" give finite numbers and a positive duration"
            )

    def at(self, t: Any) -> JointState:
        s, sdot, sddot = law_in_time(self.law, self.duration, t)
        way = np.subtract(self.end, self.start)
        rest = np.asarray(self.start)
        return JointState(rest + s[..., None] * way, sdot[..., None] * way, sddot[..., None] * way)

    def expressions(self, t: Expr) -> list[Expr]:
        s = self.law.expression(fraction(t, self.duration))
        return [a + (b - a) * s for a, b in zip(self.start, self.end, strict=True)]


def move(
    start: Any,
    end: Any,
    *,
    law: TimeLaw | str = "cycloid",
    duration: float | None = None,
    velocity: Any = math.inf,
    acceleration: Any = math.inf,
) -> Move:
    """The move from rest at `start` (n,) to rest at `end` (n,), in `duration` or as fast as the limits allow.

    `velocity` and `acceleration` bound the size of each coordinate's rates (rad/s or m/s, and per s²): one number for
    all or one for each. Laws: cycloid, 3-4-5, 4-5-6-7, trapezoid, or a `TimeLaw`.
    """
    start, end = (tuple(np.atleast_1d(np.asarray(a, dtype=float)).tolist()) for a in (start, end))
    if len(start) != len(end):
        raise InputError(f"start has {len(start)} coordinates and end has {len(end)}; give the same ones")
    way = np.abs(np.subtract(end, start))
    slope = least_ratio(limits(velocity, len(way), "velocity"), way)
    bend = least_ratio(limits(acceleration, len(way), "acceleration"), way)
    fit, shortest = fit_duration(law if duration is None else law_of(law), slope, bend)
    return Move(start, end, choose_duration(duration, shortest), fit)


def choose_duration(duration: float | None, shortest: float) -> float:
    """The duration asked for, refused where it is not positive or shorter than the limits allow, or the shortest
    one."""
    if duration is None:
        if not 0.0 < shortest < math.inf:
            raise InputError("nothing sets the duration of the motion: give duration=..., or limits and a way to go")
        return shortest
    if not 0.0 < duration < math.inf:
        raise InputError(f"duration is {duration:g} s; a duration is positive\n    fix: leave it out, or give seconds")
    if duration < shortest * (1.0 - 1e-12):
        raise InputError(
            f"{duration:g} s are too short for the limits: they need {shortest:.6g} s\n"
            f"    fix: leave out the duration, or give at least that"
        )
    return float(duration)


def limits(given: Any, n: int, what: str) -> Array:
    """Positive limits, one per coordinate, from one number or n of them; infinite for none."""
    try:
        array = np.broadcast_to(np.asarray(given, dtype=float), (n,))
    except (TypeError, ValueError):
        raise InputError(f"{what} is {given!r}; give one positive number, or {n} of them") from None
    if not np.all(array > 0.0):
        raise InputError(f"{what} is {given!r}; a limit is a positive number, or inf for none")
    return array


def least_ratio(limit: Array, size: Any) -> float:
    """The smallest limit / size, over sizes that are not zero; infinite if there are none."""
    return float(np.min([a / b for a, b in zip(limit, np.atleast_1d(size), strict=True) if b > 0.0], initial=math.inf))


def law_in_time(law: TimeLaw, duration: float, t: Any) -> tuple[Array, Array, Array]:
    """s, ds/dt and d²s/dt² at times t (s); at rest outside [0, duration]."""
    t = np.asarray(t, dtype=float)
    moving = (t >= 0.0) & (t <= duration)
    s, slope, bend = law.at(np.clip(t / duration, 0.0, 1.0))
    return s, np.where(moving, slope, 0.0) / duration, np.where(moving, bend, 0.0) / duration**2


def fraction(t: Expr, duration: float) -> Expr:
    """t / duration held within [0, 1]."""
    return (t / duration).max(0.0).min(1.0)
