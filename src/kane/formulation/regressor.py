"""Efforts as a linear function of the inertial parameters: tau = Y(q, u, u̇) π.

Each body has ten parameters, about its own origin and in its own frame: m, hx, hy, hz (first moments, kg m), Ixx, Iyy,
Izz, Ixy, Ixz, Iyz (entries of the inertia matrix, kg m²). Loads other than gravity take no part.
"""

from __future__ import annotations

from ..graph import Expr, Program, linear_coefficients
from ..space.algebra import Triple
from .equations import Equations
from .expressions import Output
from .inertia import Inertia
from .sweep import Mass, Power, add_inertia

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


def regressor_outputs(equations: Equations) -> dict[str, Output]:
    """Y as outputs of a program."""
    rows = regressor(equations)
    return {"Y": ((len(rows), len(rows[0])), [e for row in rows for e in row])}


def regressor_program(equations: Equations) -> Program:
    """Y from q, u and u̇."""
    return equations.lower_with_time("regressor", ["q", "u", "udot"], regressor_outputs(equations))
