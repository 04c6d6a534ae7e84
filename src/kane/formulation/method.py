"""The steps of Kane's method as results: generalized active and inertia forces, partial velocities of all bodies.

Inverse dynamics has both forces in one sweep, with inertias regrouped and gravity in the acceleration of the base; here
they are apart, with inertias as described: F_r has tau, weights and loads, F_r* the inertia forces and torques, and
F_r + F_r* = 0 [KL83, Eqs. 78, 79 and 90].
"""

from __future__ import annotations

from ..graph import Expr
from ..space.algebra import cross, scaled
from .expressions import MotionExpressions, Output
from .sweep import Power, add_actions, add_inertia, add_rotors


def active_forces(e: MotionExpressions) -> list[Expr]:
    """F_r: efforts tau, weights and loads along the speeds (N m, N)."""
    system, kin, power = e.system, e.velocities, Power()
    for body in e.masses:
        g = kin.turn(system.gravity, e.mechanism.N, body.frame)
        power.add(kin.v(body.ref), scaled(body.inertia.m, g))
        power.add(kin.w(body.frame), cross(body.inertia.h, g))
    add_actions(power, system, kin, 1.0, e.actions())
    return [tau + f for tau, f in zip(e.tau, e.without_idle(power.derivatives(system.u)), strict=True)]


def inertia_forces(e: MotionExpressions) -> list[Expr]:
    """F_r*: inertia forces and torques along the speeds (N m, N)."""
    power = Power()
    add_inertia(power, e.accelerations, e.masses)
    add_rotors(power, e.system, e.accelerations)
    return [-f for f in power.derivatives(e.system.u)]


def partial_velocity_outputs(e: MotionExpressions) -> dict[str, Output]:
    """ω_r of all bodies and v_r of their mass centres, (bodies, 3, n) each, along the bodies' own axes."""
    angular: list[Expr] = []
    linear: list[Expr] = []
    for name in e.mechanism.bodies:
        w, v = e.partial_velocities(name)
        angular += [x for row in w for x in row]
        linear += [x for row in v for x in row]
    shape = (len(e.mechanism.bodies), 3, len(e.system.u))
    return {"angular": (shape, angular), "linear": (shape, linear)}


__all__ = ["active_forces", "inertia_forces", "partial_velocity_outputs"]
