"""Properties of the whole system at a state: inertia and momentum about its mass centre, and what acts from outside.

Inertia and momentum are summed about the mass centre, not moved there from the origin of N: in orbit the origin is so
far away that moving them would leave no digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ModelError, Problem
from ..graph import Expr, Program
from ..model import Joint, Mechanism
from ..model.joints import Free
from ..model.loads import EffortAction, ForceAction, TorqueAction
from ..space import Frame, Point
from ..space.algebra import Triple, cross, minus, plus, rotate_tensor, scaled, sum_of
from .inertia import Inertia

if TYPE_CHECKING:
    from .equations import Equations

Output = tuple[tuple[int, ...], list[Expr]]


def _center(equations: Equations) -> tuple[Expr, Triple]:
    """(m, r): total mass and position of the mass centre in N."""
    _, (m, *moment) = equations.mass_center
    return m, (moment[0] / m, moment[1] / m, moment[2] / m)


def system_inertia(equations: Equations) -> dict[str, Output]:
    """Total mass (kg), mass centre in N (m), and inertia about the mass centre in N (kg m²)."""
    kin, N, graph = equations.velocities, equations.mechanism.N, equations.graph
    m, r = _center(equations)
    total = Inertia.nothing(graph).I
    for body in equations.masses:
        R = kin.orientation(body.frame)
        here = Inertia(body.inertia.m, kin.turn(body.inertia.h, body.frame, N), rotate_tensor(R, body.inertia.I))
        arm = minus(kin.position(body.ref), r)
        total = sum_of(total, here.shift(arm).I)
    return {"mass": ((), [m]), "center": ((3,), list(r)), "inertia": ((3, 3), [e for row in total for e in row])}


def central_momentum(equations: Equations) -> dict[str, Output]:
    """Linear momentum (kg m/s), and angular momentum about the mass centre (kg m²/s), in N."""
    kin, N = equations.velocities, equations.mechanism.N
    m, r = _center(equations)
    linear = equations.momentum[0]
    v = scaled(1.0 / m, linear)
    total = kin.zero
    for body in equations.masses:
        p, H = body.inertia.momentum(kin.w(body.frame), kin.v(body.ref))
        arm = minus(kin.position(body.ref), r)
        p_N = kin.turn(p, body.frame, N)
        moving = minus(p_N, scaled(body.inertia.m, v))  # relative to the mass centre: what the whole has in common is 0
        total = plus(total, plus(kin.turn(H, body.frame, N), cross(arm, moving)))
        total = minus(total, cross(kin.turn(body.inertia.h, body.frame, N), v))
    return {"linear": ((3,), list(linear)), "angular": ((3,), list(total))}


def external_program(equations: Equations) -> Program:
    """Resultant force (N) and moment about the origin (N m) of all that acts on the system from outside, in N.

    Uniform gravity, loads, and tau along the speeds of free joints; what acts between bodies cancels. Takes q, u, tau,
    and t where it matters. A body that is joined to the ground otherwise has reactions too, and is refused.
    """
    force, moment = _external(equations)
    outputs: dict[str, Output] = {"force": ((3,), list(force)), "moment": ((3,), list(moment))}
    return equations.lower_with_time("external_loads", ["q", "u", "tau"], outputs)


def _external(equations: Equations) -> tuple[Triple, Triple]:
    mechanism, kin, take = equations.mechanism, equations.velocities, equations.system.take
    N = mechanism.N
    _refuse_held(mechanism)
    m, *center = equations.mass_center[1]
    force = scaled(m, equations.system.gravity)
    moment = cross((center[0], center[1], center[2]), equations.system.gravity)
    efforts = _joint_efforts(equations)
    for load in mechanism.loads.values():
        for action in load.actions():
            if isinstance(action, EffortAction):
                if action.variable in efforts:
                    efforts[action.variable] = efforts[action.variable] + take.one(action.value)
            elif _on_a_body(mechanism, action):
                vector = kin.turn(take.triple(action.vector.xyz), action.vector.frame, N)
                if isinstance(action, ForceAction):
                    force = plus(force, vector)
                    vector = cross(kin.position(action.point), vector)
                moment = plus(moment, vector)
    for joint in _roots(mechanism):
        T, F = _wrench(equations, joint, [efforts[s] for s in joint.rates])
        force = plus(force, F)
        moment = plus(moment, T)
    return force, moment


def _joint_efforts(equations: Equations) -> dict[Expr, Expr]:
    """Motion variable of a free joint on the ground → what tau gives along it."""
    system = equations.system
    efforts: dict[Expr, Expr] = {}
    for joint in _roots(equations.mechanism):
        for s in joint.rates:
            column = system.variables.index(s)
            total = equations.graph.const(0.0)
            for row, tau in zip(system.map.Y, equations.tau, strict=True):
                total = total + row[column] * tau
            efforts[s] = total
    return efforts


def _wrench(equations: Equations, joint: Joint, f: list[Expr]) -> tuple[Triple, Triple]:
    """(moment about the origin, force), in N, of efforts along the six speeds of a free joint on the ground."""
    kin, N, kind = equations.velocities, equations.mechanism.N, joint.type
    assert isinstance(kind, Free) and joint.frame is not None and joint.frame.parent is not None
    pin = joint.child.origin.parent if joint.child.origin is not None else None
    assert pin is not None
    axes = joint.frame if kind.velocity == "body" else joint.frame.parent
    F = kin.turn((f[3], f[4], f[5]), axes, N)
    T = kin.turn((f[0], f[1], f[2]), joint.frame, N)
    return plus(T, cross(kin.position(pin), F)), F


def _roots(mechanism: Mechanism) -> list[Joint]:
    return [j for j in mechanism.joints.values() if j.parent is mechanism.ground]


def _refuse_held(mechanism: Mechanism) -> None:
    held = [f"joint '{j.name}'" for j in _roots(mechanism) if not isinstance(j.type, Free)]
    held += [f"body '{b.name}'" for b in mechanism.bodies.values() if b.joint is None]
    if held:
        raise ModelError(
            Problem(
                mechanism.where(held[0]),
                "joints to the ground transmit reactions, which are not among the loads",
                "loads from outside are the whole resultant only where every joint to the ground is free",
                "use the rate of momentum instead",
            )
        )


def _on_a_body(mechanism: Mechanism, action: ForceAction | TorqueAction) -> bool:
    """Whether an action is on a body and not on the ground."""
    if isinstance(action, TorqueAction):
        frames = {b.frame for b in mechanism.bodies.values()}
        frame: Frame | None = action.frame
        while frame is not None and frame not in frames:
            frame = frame.parent
        return frame is not None
    points = {b.origin for b in mechanism.bodies.values()}
    point: Point | None = action.point
    while point is not None and point not in points:
        point = point.parent
    return point is not None
