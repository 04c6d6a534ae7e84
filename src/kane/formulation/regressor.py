"""Efforts as a linear function of the inertial parameters: tau = Y(q, u, u̇) π.

Each body has ten parameters, about its own origin and in its own frame: m, hx, hy, hz (first moments, kg m), Ixx, Iyy,
Izz, Ixy, Ixz, Iyz (entries of the inertia matrix, kg m²). Loads other than gravity take no part.
"""

from __future__ import annotations

from ..graph import Expr, Program, linear_coefficients
from ..model import Mechanism
from ..model.records import Joint
from ..model.urdf.losses import SMOOTH, joint_losses
from ..space.algebra import Triple
from .equations import Equations
from .expressions import Output
from .inertia import Inertia
from .sweep import Mass, Power, add_inertia

FRICTION = ("viscous", "Coulomb")
"""Parameters of friction of a joint."""

PARAMETERS = ("m", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def parameter_names(equations: Equations) -> list[str]:
    """Names of π: m.BODY, hx.BODY, …, bodies in order."""
    return [f"{p}.{body}" for body in equations.mechanism.bodies for p in PARAMETERS]


def parameter_values(equations: Equations) -> list[Expr]:
    """π of the model itself."""
    values = []
    take = equations.system.take
    for body in equations.mechanism.bodies.values():
        about = Inertia.of(take.one(body.mass), take.triple(body.center), take.matrix(body.inertia))
        I = about.I
        values += [about.m, *about.h, I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]]
    return values


def regressor(equations: Equations) -> list[list[Expr]]:
    """Y, (n, 10 bodies)."""
    graph, system = equations.graph, equations.system
    kin = system.kinematics(equations.original_links)
    symbols: list[Expr] = []
    bodies: list[Mass] = []
    for body in equations.mechanism.bodies.values():
        assert body.frame is not None and body.origin is not None
        s = [graph.input(f"{p}.{body.name}") for p in PARAMETERS]
        symbols += s
        h: Triple = (s[1], s[2], s[3])
        about = Inertia(s[0], h, ((s[4], s[7], s[8]), (s[7], s[5], s[9]), (s[8], s[9], s[6])))
        bodies.append(Mass(body.name, body.frame, body.origin, about))
    power = Power()
    add_inertia(power, kin, bodies)
    return linear_coefficients(power.derivatives(system.u), symbols)[0]


def friction_names(equations: Equations) -> list[str]:
    """Names of the parameters of friction: viscous.JOINT (N m s, N s/m) and Coulomb.JOINT (N m, N) of each joint that
    turns or slides with a coordinate of its own."""
    return [f"{kind}.{joint.name}" for joint in rubbing_joints(equations.mechanism) for kind in FRICTION]


def friction_values(equations: Equations) -> list[float]:
    """Values of these parameters in the model, from the losses of its joints."""
    losses = joint_losses(equations.mechanism)
    return [
        sum(loss.size for loss in losses.get(joint.name, ()) if loss.kind == kind)
        for joint in rubbing_joints(equations.mechanism)
        for kind in ("damping", "friction")
    ]


def rubbing_joints(mechanism: Mechanism) -> list[Joint]:
    """The joints that have columns of friction."""
    return [j for j in mechanism.joints.values() if j.type.kind in ("revolute", "prismatic")]


def friction_columns(equations: Equations) -> list[list[Expr]]:
    """What friction adds to the columns of Y, (n, 2 joints): efforts that overcome r and r/√(r² + v²), with the rate r
    of each joint and v = SMOOTH, as joints of a URDF have it."""
    system, take = equations.system, equations.system.take
    columns: list[list[Expr]] = []
    for joint in rubbing_joints(equations.mechanism):
        rate = take.one(joint.rates[0])
        for law in (rate, rate / (rate * rate + SMOOTH**2).sqrt()):
            columns.append([law * share for share in linear_coefficients([rate], list(system.u))[0][0]])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in system.u]


def regressor_outputs(equations: Equations, friction: bool = False) -> dict[str, Output]:
    """Y as outputs of a program, with the columns of friction if asked for."""
    rows = regressor(equations)
    if friction:
        rows = [[*row, *more] for row, more in zip(rows, friction_columns(equations), strict=True)]
    return {"Y": ((len(rows), len(rows[0])), [e for row in rows for e in row])}


def regressor_program(equations: Equations, friction: bool = False) -> Program:
    """Y from q, u and u̇, with the columns of friction if asked for."""
    return equations.lower_with_time("regressor", ["q", "u", "udot"], regressor_outputs(equations, friction))
