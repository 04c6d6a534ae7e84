"""Constraints in the graph of the equations: A u + c = 0, its rate A u̇ = b, and the residuals of configurations.

A row is the power of a unit reaction [Row]: velocities of points and frames times the reaction's vectors. Its rate
follows from the vector theorems, with the same accelerations at u̇ = 0 that the bias is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..graph import Expr, linear_coefficients, time_derivative
from ..model.constraints import Row
from ..model.loads import Force, Torque
from ..space import Frame, Kinematics, Vector
from ..space.algebra import Triple, cross, dot, plus
from .system import System


@dataclass(frozen=True, slots=True)
class Constraints:
    """The rows of all constraints, in order: names, A (m, n), A u + c (m), b (m) with A u̇ = b, and phi (m), zero where
    a row restricts the motion only; `placed` are the indices of rows that have a residual."""

    names: tuple[str, ...]
    A: list[list[Expr]]
    rate: list[Expr]
    b: list[Expr]
    phi: list[Expr]
    placed: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.names)


def constraints(system: System, kin: Kinematics) -> Constraints:
    """All constraints of a system in the kinematics of the bias: u̇ = 0, gravity through the base."""
    records = list(system.mechanism.constraints.values())
    names = tuple(name for c in records for name in c.row_names())
    rows = [row for c in records for row in c.rows]
    zero = system.graph.const(0.0)
    rate = [_power(system, kin, row) for row in rows]
    A, _ = linear_coefficients(rate, system.u)
    return Constraints(
        names,
        A,
        rate,
        [-_rate_of_power(system, kin, row) for row in rows],
        [zero if row.residual is None else system.take.one(row.residual) for row in rows],
        tuple(i for i, row in enumerate(rows) if row.residual is not None),
    )


def _power(system: System, kin: Kinematics, row: Row) -> Expr:
    """v · F + ω · T + s f + drift."""
    total = system.take.one(row.drift)
    for action in row.actions:
        if isinstance(action, Force):
            total = total + dot(kin.v(action.point), _in(system, kin, action.vector, action.point.home))
        elif isinstance(action, Torque):
            total = total + dot(kin.w(action.frame), _in(system, kin, action.vector, action.frame))
        else:
            total = total + system.take.one(action.variable) * system.take.one(action.value)
    return total


def _rate_of_power(system: System, kin: Kinematics, row: Row) -> Expr:
    """a · F + v · Ḟ + α · T + ω · Ṫ + ṡ f + s ḟ + the rate of drift."""
    (total,) = time_derivative([system.take.one(row.drift)], kin.rates)
    net: dict[Frame, Triple] = {}
    for action in row.actions:
        if isinstance(action, Force):
            home, axes = action.point.home, action.vector.frame
            net[axes] = plus(net.get(axes, kin.zero), system.take.triple(action.vector.xyz))
            total = total + dot(kin.a(action.point), _in(system, kin, action.vector, home))
            total = total + dot(kin.v(action.point), _rate_in(system, kin, action.vector, home))
        elif isinstance(action, Torque):
            total = total + dot(kin.alpha(action.frame), _in(system, kin, action.vector, action.frame))
            total = total + dot(kin.w(action.frame), _rate_in(system, kin, action.vector, action.frame))
        else:
            s, f = system.take.one(action.variable), system.take.one(action.value)
            s_rate, f_rate = time_derivative([s, f], kin.rates)
            total = total + s_rate * f + s * f_rate
    for axes, force in net.items():  # the base accelerates by −g in place of gravity: taken back
        total = total + dot(kin.turn(system.gravity, system.mechanism.N, axes), force)
    return total


def _in(system: System, kin: Kinematics, vector: Vector, frame: Frame) -> Triple:
    return kin.turn(system.take.triple(vector.xyz), vector.frame, frame)


def _rate_in(system: System, kin: Kinematics, vector: Vector, frame: Frame) -> Triple:
    """The rate of a vector in N, its components in `frame`."""
    xyz = system.take.triple(vector.xyz)
    return kin.turn(plus(kin.rate(xyz), cross(kin.w(vector.frame), xyz)), vector.frame, frame)


def displacements(system: System) -> list[list[Expr]]:
    """∂q̇/∂u, (coordinates, n): how the coordinates follow a virtual displacement along the speeds."""
    return linear_coefficients(system.qdot, system.u)[0]


__all__ = ["Constraints", "constraints", "displacements"]
