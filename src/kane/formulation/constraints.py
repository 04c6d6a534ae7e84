"""Constraints in the graph of the equations: A u + c = 0, its rate A u̇ = b, and the residuals of configurations.

A row is the power of a unit reaction [Row]: velocities of points and frames times the reaction's vectors. Its rate
follows from the vector theorems, with the same accelerations at u̇ = 0 that the bias is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..graph import Expr, evaluate, linear_coefficients, time_derivative
from ..model.constraints import Row
from ..model.loads import EffortAction, ForceAction, TorqueAction
from ..space import Frame, Kinematics, Vector
from ..space.algebra import Triple, cross, dot, plus
from .polynomials import contracted_number
from .sizes import row_sizes
from .system import System


@dataclass(frozen=True, slots=True)
class Constraints:
    """The rows of all constraints, in order: names, A (m, n), c (m), their rate A u + c (m), b (m) with A u̇ = b, and
    phi (m), zero where a row restricts the motion only; `placed` are the indices of rows that have a residual; `sizes`
    (m,) what rows would be if nothing cancelled (`row_sizes`)."""

    names: tuple[str, ...]
    A: list[list[Expr]]
    c: list[Expr]
    rate: list[Expr]
    b: list[Expr]
    phi: list[Expr]
    placed: tuple[int, ...]
    sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    @property
    def driven(self) -> bool:
        """Whether some row moves by itself, so that its reaction does work."""
        return any(not e.is_zero for e in self.c)


def constraints(system: System, kin: Kinematics, *, spans: bool = False, accelerated: int | None = None) -> Constraints:
    """All constraints of a system in the kinematics of the bias: u̇ = 0, gravity through the base.

    With `spans` rows that leave the same motion take the place of those that are named, where they cost less. Where
    `accelerated` is given, b is worked out for so many rows, and is zero for the others.
    """
    records = list(system.mechanism.constraints.values())
    names = tuple(name for c in records for name in c.row_names())
    rows = [row for c in records for row in (c.span if spans and c.span else c.rows)]
    zero = system.graph.const(0.0)
    mechanism = system.mechanism
    rates: dict[Expr, Expr | float] = {**mechanism.coordinate_rates, mechanism.time: 1.0}
    described = Kinematics(mechanism.graph, rates)
    found = [_power(system.take, kin, row) for row in rows]
    likely = _constant_rows(system, found) if system.map.identity else [False] * len(rows)
    plain = [
        _constant_row_power(system, described, row) if may else None for row, may in zip(rows, likely, strict=True)
    ]
    rate = [power if simple is None else simple for power, simple in zip(found, plain, strict=True)]
    A, c = linear_coefficients(rate, system.u)
    wanted = [simple is None and (accelerated is None or k < accelerated) for k, simple in enumerate(plain)]
    b = [-_rate_of_power(system, kin, row) if due else zero for row, due in zip(rows, wanted, strict=True)]
    return Constraints(
        names,
        A,
        c,
        rate,
        b,
        [zero if row.residual is None else system.take.one(row.residual) for row in rows],
        tuple(i for i, row in enumerate(rows) if row.residual is not None),
        row_sizes(mechanism, rows),
    )


def _constant_row_power(system: System, described: Kinematics, row: Row) -> Expr | None:
    """Power of a row with coefficients that are numbers, such as vx + r ω of an upright wheel; None for all others.

    They show in the axes of the description, where what cancels on paper does; the rate of such a row at u̇ = 0 is zero.
    """
    coefficients, rest = linear_coefficients([_power(list, described, row)], system.variables)
    numbers = [contracted_number(e) for e in system.take([*coefficients[0], rest[0]])]
    total = system.graph.const(0.0)
    for k, s in zip(numbers, [*system.take(system.variables), system.graph.const(1.0)], strict=True):
        if k is None:
            return None
        total = total + k * s
    return total


def _constant_rows(system: System, powers: Sequence[Expr]) -> list[bool]:
    """For each row whether its power is the same at two places with the same speeds: a quick no for most."""
    here = system.generic_state()
    there = {**here, **{c: here[c] - 0.37 for c in system.mechanism.coordinates}}
    pairs = zip(evaluate(powers, here), evaluate(powers, there), strict=True)
    return [abs(x - y) <= 1e-9 * (1.0 + abs(x)) for x, y in pairs]


def _power(take: Callable[[Sequence[Expr]], list[Expr]], kin: Kinematics, row: Row) -> Expr:
    """v · F + ω · T + s f + rheonomic, in the graph that `take` brings expressions to."""
    (total,) = take([row.rheonomic])
    for action in row.actions:
        if isinstance(action, EffortAction):
            s, f = take([action.variable, action.value])
            total = total + s * f
            continue
        x, y, z = take(action.vector.xyz)
        if isinstance(action, ForceAction):
            velocity, home = kin.v(action.point), action.point.home
        else:
            velocity, home = kin.w(action.frame), action.frame
        total = total + dot(velocity, kin.turn((x, y, z), action.vector.frame, home))
    return total


def _rate_of_power(system: System, kin: Kinematics, row: Row) -> Expr:
    """a · F + v · Ḟ + α · T + ω · Ṫ + ṡ f + s ḟ + the rate of the rheonomic part."""
    (total,) = time_derivative([system.take.one(row.rheonomic)], kin.rates)
    net: dict[Frame, Triple] = {}
    for action in row.actions:
        if isinstance(action, ForceAction):
            home, axes = action.point.home, action.vector.frame
            net[axes] = plus(net.get(axes, kin.zero), system.take.triple(action.vector.xyz))
            total = total + dot(kin.a(action.point), _components(system, kin, action.vector, home))
            total = total + dot(kin.v(action.point), _rate_in(system, kin, action.vector, home))
        elif isinstance(action, TorqueAction):
            total = total + dot(kin.alpha(action.frame), _components(system, kin, action.vector, action.frame))
            total = total + dot(kin.w(action.frame), _rate_in(system, kin, action.vector, action.frame))
        else:
            s, f = system.take.one(action.variable), system.take.one(action.value)
            s_rate, f_rate = time_derivative([s, f], kin.rates)
            total = total + s_rate * f + s * f_rate
    for axes, force in net.items():  # the base accelerates by −g in place of gravity: taken back
        total = total + dot(kin.turn(system.gravity, system.mechanism.N, axes), force)
    return total


def _components(system: System, kin: Kinematics, vector: Vector, frame: Frame) -> Triple:
    return kin.turn(system.take.triple(vector.xyz), vector.frame, frame)


def _rate_in(system: System, kin: Kinematics, vector: Vector, frame: Frame) -> Triple:
    """The rate of a vector in N, its components in `frame`."""
    xyz = system.take.triple(vector.xyz)
    return kin.turn(plus(kin.rate(xyz), cross(kin.w(vector.frame), xyz)), vector.frame, frame)


def displacements(system: System) -> list[list[Expr]]:
    """∂q̇/∂u, (coordinates, n): how the coordinates follow a virtual displacement along the speeds."""
    return linear_coefficients(system.qdot, system.u)[0]


__all__ = ["Constraints", "constraints", "displacements"]
