"""Kinematics of any point of any body: pose, Jacobian and its rate, velocity, acceleration; all in N.

A place is a point of a body and the body's axes there. Twists and Jacobians have ω first (rad/s), then v (m/s).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graph import Expr, Program, forward, linear_coefficients
from ..model.symbols import Quantity
from ..space import Frame, Kinematics, Point, Vector
from ..space.algebra import Triple, cross, minus, plus, times
from .links import Link
from .mass import columns

if TYPE_CHECKING:
    from .equations import Equations


@dataclass(frozen=True, slots=True)
class Place:
    """A point of a body, and the body's frame."""

    body: str
    frame: Frame
    point: Point


def place_of(equations: Equations, body: str, at: Sequence[Quantity] = (0.0, 0.0, 0.0)) -> Place:
    """The point of a body at `at` (m) in its frame."""
    mechanism = equations.mechanism
    record = mechanism.find_body(body, f"place on '{body}'")
    assert record.frame is not None and record.origin is not None
    offset = mechanism.triple(list(at), f"place on '{body}'")
    if all(e.is_zero for e in offset):
        return Place(body, record.frame, record.origin)
    still = mechanism.triple([0.0, 0.0, 0.0], "")
    return Place(body, record.frame, record.origin.locate_new(f"{body}.place", Vector(record.frame, offset), still))


def pose(equations: Equations, place: Place) -> list[Expr]:
    """R_NB by rows (9) and the position in N (3)."""
    kin = equations.velocities
    R = kin.orientation(place.frame)
    return [*R[0], *R[1], *R[2], *kin.position(place.point)]


def _twist(kin: Kinematics, place: Place, rate: Callable[[Point], Triple], turning: Triple) -> list[Expr]:
    R = kin.orientation(place.frame)
    home = kin.orientation(place.point.home)
    return [*times(R, turning), *times(home, rate(place.point))]


def velocity(equations: Equations, place: Place) -> list[Expr]:
    """ω and v in N."""
    kin = equations.velocities
    return _twist(kin, place, kin.v, kin.w(place.frame))


def acceleration(equations: Equations, place: Place) -> list[Expr]:
    """α and a in N, without gravity."""
    kin = equations.accelerations
    return _twist(kin, place, kin.a, kin.alpha(place.frame))


def jacobian(equations: Equations, place: Place) -> list[list[Expr]]:
    """J (6, n) with twist = J u + what time alone does."""
    links = equations.path(place.body)
    if links is None:
        return linear_coefficients(velocity(equations, place), equations.system.u)[0]
    kin, u = equations.velocities, equations.system.u
    zero = equations.graph.const(0.0)
    rows = [[zero] * len(u) for _ in range(6)]
    tip = kin.position(place.point)
    index = {e: k for k, e in enumerate(u)}
    for link in links:
        for s, column in zip(
            equations.system.take(link.joint.moved_by), _columns_at(equations, kin, link, tip), strict=True
        ):
            for i, e in enumerate(column):
                rows[i][index[s]] = rows[i][index[s]] + e
    return rows


def _columns_at(equations: Equations, kin: Kinematics, link: Link, tip: Triple) -> list[list[Expr]]:
    """ω and velocity at `tip`, in N, per unit of each motion variable of a link's joint."""
    R = kin.orientation(link.frame)
    arm = minus(tip, kin.position(link.point))
    found = []
    for w, v in columns(equations.system, kin, link):
        w_N = times(R, w)
        found.append([*w_N, *plus(times(R, v), cross(w_N, arm))])
    return found


def jacobian_rate(equations: Equations, place: Place) -> list[list[Expr]]:
    """dJ/dt (6, n)."""
    system = equations.system
    rates: dict[Expr, Expr | float] = {system.t: 1.0, **dict(zip(system.q, system.qdot, strict=True))}
    return [forward(row, rates) for row in jacobian(equations, place)]


def place_program(equations: Equations, what: str, place: Place) -> Program:
    """The program of one kinematic quantity of a place: pose, velocity, acceleration, jacobian, jacobian_rate, or
    `reach`, the pose and the Jacobian together."""
    n = len(equations.system.u)

    def flat(rows: list[list[Expr]]) -> list[Expr]:
        return [e for row in rows for e in row]

    table = {
        "pose": (("q",), lambda: {"pose": ((12,), pose(equations, place))}),
        "velocity": (("q", "u"), lambda: {"twist": ((6,), velocity(equations, place))}),
        "acceleration": (("q", "u", "udot"), lambda: {"twist_rate": ((6,), acceleration(equations, place))}),
        "jacobian": (("q",), lambda: {"J": ((6, n), flat(jacobian(equations, place)))}),
        "jacobian_rate": (("q", "u"), lambda: {"Jdot": ((6, n), flat(jacobian_rate(equations, place)))}),
        "reach": (
            ("q",),
            lambda: {"pose": ((12,), pose(equations, place)), "J": ((6, n), flat(jacobian(equations, place)))},
        ),
    }
    groups, outputs = table[what]
    return equations.lower_with_time(what, groups, outputs())
