"""The programs of a simulation. All take t, q, u, the work integral, tau and free parameters, in this order.

The state of an integrator is y = [q, u, work]; `work` is the integral of the power of all loads but gravity, so that
kinetic energy + potential energy of gravity − work stays constant along a true motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from ..graph import Expr, Inputs, Program, depends_on, forward, lower, substitute
from ..graph.layout import INPUTS, Blocks, Layout
from ..model.attitude import quaternion_places
from .constraints import Constraints, displacements
from .equations import Equations
from .ground import without_ground_symbols
from .reactions import multiplier_symbols
from .sweep import Power, add_actions


@runtime_checkable
class CompiledControl(Protocol):
    """A control law that builds its own efforts."""

    def efforts(self, equations: Equations) -> Sequence[Expr]:
        """Efforts along the speeds (N m, N), of t, q, u and parameters, in the graph of the equations."""
        ...


ControlLaw = Mapping[Expr, Expr] | CompiledControl
"""Motion variable or symbol of a chosen speed → effort along it, in the description's graph; or what builds efforts."""


def law_efforts(equations: Equations, law: ControlLaw) -> list[Expr]:
    """Efforts of a control law along the speeds."""
    return list(law.efforts(equations)) if isinstance(law, CompiledControl) else equations.control_efforts(law)


def motion_program(equations: Equations, law: ControlLaw | None = None) -> Program:
    """Rates of y. With a control law its efforts are compiled in and tau is what is added to them."""
    rates = _rates(equations, law)
    return equations.lower_outputs("motion", INPUTS, {"rates": ((len(rates),), rates)})


def terms_program(
    equations: Equations, law: ControlLaw | None = None, constraints: Constraints | None = None
) -> Program:
    """What constraints are embedded from at run time, `Layout.terms`; `constraints` where they are not those of the
    equations, with b of all rows."""
    rows = equations.constraints if constraints is None else constraints
    f = [t - b for t, b in zip(equations.tau, equations.bias, strict=True)]
    f, power = apply_law(equations, law, f), apply_law(equations, law, [load_power(equations)])
    found: dict[str, Sequence[Expr]] = {
        "qdot": equations.system.qdot,
        "M": [e for row in equations.mass_matrix for e in row],
        "f": f,
        "A": [e for row in rows.A for e in row],
        "rate": rows.rate,
        "b": rows.b,
        "phi": rows.phi,
        "power": power,
    }
    return _lower_blocks("terms", equations, layout_of(equations).terms, found)


def places_program(equations: Equations, constraints: Constraints | None = None) -> Program | None:
    """Residuals of configurations, their rows of A, and how coordinates follow displacements along the speeds,
    `Layout.places`; None where every row restricts the motion only. `constraints` as for `terms_program`."""
    rows = equations.constraints if constraints is None else constraints
    if not rows.placed:
        return None
    found: dict[str, Sequence[Expr]] = {
        "phi": [rows.phi[r] for r in rows.placed],
        "G": [e for r in rows.placed for e in rows.A[r]],
        "T": [e for row in displacements(equations.system) for e in row],
    }
    return _lower_blocks("places", equations, layout_of(equations).places, found)


def coordinate_rates_program(equations: Equations) -> Program:
    """q̇, (coordinates,), alone."""
    qdot = list(equations.system.qdot)
    return equations.lower_outputs("coordinate_rates", INPUTS, {"qdot": ((len(qdot),), qdot)})


def is_steady(terms: Program) -> bool:
    """Whether mass matrix and forces in a program of `Layout.terms` depend neither on the state nor on time, as those
    of balls that fall."""
    moving: list[bool] = []
    for group in terms.inputs:
        moving += [group.name in ("t", "q", "u")] * len(group)
    moving += [False] * len(terms.constants)
    for row in terms.rows:
        moving.append(any(moving[a] for a in row.args))
    return not any(moving[slot] for out in terms.outputs if out.name in ("M", "f") for slot in out.slots)


def layout_of(equations: Equations) -> Layout:
    """Where the numbers of a motion are, in its state and its programs."""
    sizes = len(equations.system.q), len(equations.system.u), len(equations.free)
    rows = [row for c in equations.mechanism.constraints.values() for row in c.rows]
    return Layout(*sizes, len(rows), tuple(i for i, row in enumerate(rows) if row.residual is not None))


def _lower_blocks(name: str, equations: Equations, blocks: Blocks, found: Mapping[str, Sequence[Expr]]) -> Program:
    """The program that writes what was found in the order of `blocks`."""
    return equations.lower_outputs(
        name, INPUTS, {block: (at.shape, list(found[block])) for block, at in blocks.items()}
    )


def jacobian_program(equations: Equations, law: ControlLaw | None = None) -> Program:
    """∂(rates of y)/∂y, (n, n), for implicit integrators: exact, from the graph."""
    rates = _rates(equations, law)
    state = [*equations.system.q, *equations.system.u, equations.graph.input("work")]
    columns = [forward(rates, {y: 1.0}) for y in state]
    flat = [column[i] for i in range(len(rates)) for column in columns]
    return equations.lower_outputs("jacobian", INPUTS, {"J": ((len(rates), len(state)), flat)})


def _rates(equations: Equations, law: ControlLaw | None) -> list[Expr]:
    udot, power = equations.forward_dynamics, load_power(equations)
    if equations.mechanism.constraints and equations.constraints.driven:
        power = power + _reaction_power(equations, udot)
    return apply_law(equations, law, [*equations.system.qdot, *udot, power])


def _reaction_power(equations: Equations, udot: Sequence[Expr]) -> Expr:
    """Power of the reactions (W), u · (M u̇ + bias − tau): what drives constraints that move by themselves."""
    system = equations.system
    efforts = substitute(equations.inverse_dynamics, dict(zip(system.udot, udot, strict=True)))
    total = equations.graph.const(0.0)
    for u, effort, tau in zip(system.u, efforts, equations.tau, strict=True):
        total = total + u * (effort - tau)
    return total


def apply_law(equations: Equations, law: ControlLaw | None, exprs: list[Expr]) -> list[Expr]:
    """Expressions with the efforts of a control law added to tau."""
    if law is None:
        return exprs
    efforts = law_efforts(equations, law)
    return substitute(exprs, {t: t + e for t, e in zip(equations.tau, efforts, strict=True)})


def load_power(equations: Equations) -> Expr:
    """Power of tau and of all loads but gravity (W)."""
    power = Power()
    kin = equations.velocities
    add_actions(power, equations.system, kin, 1.0, equations.actions())
    power.add(equations.system.u, equations.tau)
    return power.total(equations.graph)


def control_program(equations: Equations, law: ControlLaw) -> Program:
    """Efforts tau along the speeds of a control law, from t, q and u."""
    efforts = law_efforts(equations, law)
    return equations.lower_outputs("control", ("t", "q", "u"), {"tau": ((len(efforts),), efforts)})


def unit_program(equations: Equations) -> Program | None:
    """y with every quaternion made unit, or None where there is none."""
    state = [*equations.system.q, *equations.system.u, equations.graph.input("work")]
    found = quaternion_places(equations.mechanism)
    for indices in found.values():
        norm = sum((state[i] * state[i] for i in indices), equations.graph.const(0.0)).sqrt()
        for i in indices:
            state[i] = state[i] / norm
    return equations.lower_outputs("unit", INPUTS, {"y": ((len(state),), state)}) if found else None


def watch_program(equations: Equations, exprs: Sequence[Expr], law: ControlLaw | None = None) -> Program:
    """The functions that events watch, one output each, forces of the ground under a control law among them. Where one
    of them names a multiplier (`multiplier_symbols`) the program reads `Layout.event_inputs`, with the multipliers of
    all rows as its last inputs."""
    watched = apply_law(equations, law, without_ground_symbols(equations, equations.system.take(exprs)))
    outputs = {"events": ((len(watched),), watched)}
    symbols = multiplier_symbols(equations.graph, layout_of(equations).rows)
    if not depends_on(watched, symbols):
        return equations.lower_outputs("watch", INPUTS, outputs)
    groups = equations.groups([*INPUTS, *(["parameters"] if equations.free else [])])
    return lower("watch", [*groups, Inputs("multipliers", tuple(repr(s) for s in symbols))], outputs)
