"""Control laws along a trajectory, compiled into the simulation: computed torque, and PD with gravity compensation.

A law is given to `simulate(control=...)`. It builds efforts along the speeds, as expressions of t, q and u in the graph
of the equations of motion, so the loop never returns to Python. Errors are those of the coordinates, e = q_ref − q,
whatever speeds the model has chosen; each coordinate must have a motion variable of its own (revolute and prismatic
joints).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..errors import InputError, ModelError, Problem
from ..formulation import Equations
from ..graph import Expr, forward, reverse, substitute
from .trajectories import JointState, PlannedTrajectory, rates

Array = np.ndarray[Any, np.dtype[np.float64]]
Numbers = Sequence[float] | Array
Gains = float | Numbers


@dataclass(frozen=True, slots=True)
class Hold:
    """A trajectory that stays at one place (rad or m)."""

    position: tuple[float, ...]

    @property
    def duration(self) -> float:
        return 0.0

    def at(self, t: Any) -> JointState:
        q = np.broadcast_to(np.asarray(self.position, dtype=float), (*np.shape(t), len(self.position)))
        return JointState(q, np.zeros_like(q), np.zeros_like(q))

    def expressions(self, t: Expr) -> list[Expr]:
        return [t.graph.const(x) for x in self.position]


@dataclass(frozen=True, slots=True)
class ComputedTorque:
    """Efforts that give q̈ = q̈_ref + damping ė + stiffness e, by inverse dynamics inside the law.

    Then ë + damping ė + stiffness e = 0 for each coordinate, whatever the state. Gains: stiffness in 1/s², damping in
    1/s, one number for all coordinates or one for each. Numbers in place of a trajectory are a place to stay at.
    """

    trajectory: PlannedTrajectory | Numbers
    stiffness: Gains
    damping: Gains

    def __post_init__(self) -> None:
        _settle(self)

    def efforts(self, equations: Equations) -> list[Expr]:
        """Efforts along the speeds (N m, N), of t, q and u."""
        system = equations.system
        wanted = _Wanted(equations, self.trajectory)
        kp, kd = wanted.gains(self.stiffness, "stiffness"), wanted.gains(self.damping, "damping")
        qddot = [
            a + d * rate + k * way
            for a, d, rate, k, way in zip(wanted.qddot, kd, wanted.edot, kp, wanted.e, strict=True)
        ]
        udot = _speed_rates(equations, qddot)
        return substitute(equations.inverse_dynamics, dict(zip(system.udot, udot, strict=True)))


@dataclass(frozen=True, slots=True)
class GravityCompensation:
    """Efforts stiffness e + damping ė along the coordinates, and what holds the arm against gravity and springs.

    Gains: stiffness in N m/rad or N/m, damping in N m s/rad or N s/m, one number for all coordinates or one for each.
    Numbers in place of a trajectory are a place to stay at.
    """

    trajectory: PlannedTrajectory | Numbers
    stiffness: Gains
    damping: Gains

    def __post_init__(self) -> None:
        _settle(self)

    def efforts(self, equations: Equations) -> list[Expr]:
        """Efforts along the speeds (N m, N), of t, q and u."""
        system = equations.system
        wanted = _Wanted(equations, self.trajectory)
        kp, kd = wanted.gains(self.stiffness, "stiffness"), wanted.gains(self.damping, "damping")
        along = [k * way + d * rate for k, way, d, rate in zip(kp, wanted.e, kd, wanted.edot, strict=True)]
        # Power along the coordinates' rates, differentiated by the speeds: efforts along the speeds.
        pulled = reverse(dict(zip(system.qdot, along, strict=True)), system.u)
        at_rest = substitute(equations.bias, dict.fromkeys(system.u, 0.0))
        return [p + b for p, b in zip(pulled, at_rest, strict=True)]


def _settle(law: ComputedTorque | GravityCompensation) -> None:
    """Give a law what can be compared and hashed: a trajectory, and numbers in tuples."""
    if not hasattr(law.trajectory, "expressions"):
        place = _numbers("trajectory", law.trajectory, "a trajectory (move, cubic_spline, …), or a place to stay at")
        object.__setattr__(law, "trajectory", Hold(place if isinstance(place, tuple) else (place,)))
    for name in ("stiffness", "damping"):
        gains = _numbers(name, getattr(law, name), "one number, or one for each coordinate")
        if np.min(gains) < 0.0:
            fix = "give gains from 0 on: a negative one drives errors away from zero"
            raise InputError(f"{name} is {getattr(law, name)!r}\n    fix: {fix}")
        object.__setattr__(law, name, gains)


def _numbers(name: str, given: Any, wanted: str) -> float | tuple[float, ...]:
    """One number or a tuple of them, finite."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim > 1 or not np.all(np.isfinite(array)):
        raise InputError(f"{name} is {given!r}\n    fix: give {wanted}")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


class _Wanted:
    """The reference in the graph of the equations and the errors from it."""

    def __init__(self, equations: Equations, given: PlannedTrajectory | Numbers):
        system, trajectory = equations.system, cast("PlannedTrajectory", given)
        _check_coordinates(equations)
        q, qdot, self.qddot = rates(trajectory, system.t)
        self.names = equations.mechanism.coordinates
        if len(q) != len(system.q):
            raise InputError(
                f"the trajectory has {len(q)} coordinates; model '{equations.mechanism.name}' has {len(system.q)}:"
                f" {', '.join(self.names)}"
            )
        self.e = [a - b for a, b in zip(q, system.q, strict=True)]
        self.edot = [a - b for a, b in zip(qdot, system.qdot, strict=True)]

    def gains(self, given: Gains, what: str) -> Sequence[float]:
        """One gain per coordinate."""
        array = np.asarray(given, dtype=float)
        if array.shape not in ((), (len(self.names),)) or not np.all(np.isfinite(array)):
            raise InputError(f"{what} is {given!r}; give one number, or one for each of {', '.join(self.names)}")
        return np.broadcast_to(array, (len(self.names),)).tolist()


def _check_coordinates(equations: Equations) -> None:
    """Each coordinate must have its own motion variable."""
    mechanism = equations.mechanism
    own = set(mechanism.motion_variables.values())
    strange = [c.name for c in mechanism.coordinate_records.values() if mechanism.coordinate_rates[c.symbol] not in own]
    if strange or len(own) != len(mechanism.coordinates):
        raise ModelError(
            Problem(
                mechanism.where("control"),
                f"the rates of {', '.join(strange) or 'some coordinates'} are not motion variables by themselves",
                "errors of coordinates are controlled one by one",
                "use joints of one degree of freedom, or write a control law for the speeds",
            )
        )


def _speed_rates(equations: Equations, qddot: Sequence[Expr]) -> list[Expr]:
    """u̇ for given q̈, by u = Y s + Z: u̇ = Y ṡ + Ẏ s + Ż, the motion variables s being rates of coordinates."""
    system, mechanism = equations.system, equations.mechanism
    wanted = dict(
        zip((mechanism.coordinate_rates[c.symbol] for c in mechanism.coordinate_records.values()), qddot, strict=True)
    )
    clock: dict[Expr, Expr | float] = {system.t: 1.0, **dict(zip(system.q, system.qdot, strict=True))}
    remainder = forward(system.map.Z, clock)
    found = []
    for row, start in zip(system.map.Y, remainder, strict=True):
        total = start
        for y, ydot, s, v in zip(row, forward(row, clock), system.map.s, system.variables, strict=True):
            total = total + y * wanted[v] + ydot * s
        found.append(total)
    return found
