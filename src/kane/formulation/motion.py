"""The programs of a simulation. All take t, q, u, the work integral, tau and free parameters, in this order.

The state of an integrator is y = [q, u, work]; `work` is the integral of the power of all loads but gravity, so that
kinetic energy + potential energy of gravity − work stays constant along a true motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph import Expr, Program, substitute
from .equations import Equations
from .sweep import Power, add_actions

INPUTS = ("t", "q", "u", "work", "tau")
QUATERNIONS = ("spherical", "free")
"""Kinds of joints whose first four coordinates are a unit quaternion."""


def motion_program(equations: Equations, law: Mapping[Expr, Expr] | None = None) -> Program:
    """Rates of y. With a control law its efforts are compiled in and tau is what is added to them."""
    rates = [*equations.system.qdot, *equations.forward_dynamics, load_power(equations)]
    if law is not None:
        efforts = equations.control_efforts(law)
        rates = substitute(rates, {t: t + e for t, e in zip(equations.tau, efforts, strict=True)})
    return equations.lowered("motion", INPUTS, {"rates": ((len(rates),), rates)})


def load_power(equations: Equations) -> Expr:
    """Power of tau and of all loads but gravity (W)."""
    power = Power()
    kin = equations.velocities
    add_actions(power, equations.system, kin, 1.0, equations.actions())
    power.add(equations.system.u, equations.tau)
    return power.total(equations.graph)


def control_program(equations: Equations, law: Mapping[Expr, Expr]) -> Program:
    """Efforts tau along the speeds of a control law, from t, q and u."""
    efforts = equations.control_efforts(law)
    return equations.lowered("control", ("t", "q", "u"), {"tau": ((len(efforts),), efforts)})


def unit_program(equations: Equations) -> Program | None:
    """y with every quaternion made unit, or None where there is none."""
    place = {c: i for i, c in enumerate(equations.mechanism.coordinates)}
    state = [*equations.system.q, *equations.system.u, equations.graph.input("work")]
    found = False
    for joint in equations.mechanism.joints.values():
        if joint.type.kind in QUATERNIONS:
            found = True
            indices = [place[c.name] for c in joint.coordinates[:4]]
            norm = sum((state[i] * state[i] for i in indices), equations.graph.const(0.0)).sqrt()
            for i in indices:
                state[i] = state[i] / norm
    return equations.lowered("unit", INPUTS, {"y": ((len(state),), state)}) if found else None


def watch_program(equations: Equations, exprs: Sequence[Expr]) -> Program:
    """The functions that events watch, one output each."""
    watched = equations.system.take(exprs)
    return equations.lowered("watch", INPUTS, {"events": ((len(watched),), watched)})
