"""The programs of a simulation. All take t, q, u, the work integral, tau and free parameters, in this order.

The state of an integrator is y = [q, u, work]; `work` is the integral of the power of all loads but gravity, so that
kinetic energy + potential energy of gravity − work stays constant along a true motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..graph import Expr, Inputs, Program, depends_on, forward, lower, substitute
from ..graph.layout import INPUTS, Blocks, Layout
from ..model import Mechanism
from ..model.attitude import quaternion_places
from .auxiliary import without_reaction_symbols
from .constraints import Constraints, displacements
from .equations import Equations
from .ground_symbols import without_ground_symbols
from .joint_symbols import without_joint_symbols
from .places import jacobian, place_of, pose
from .reactions import multiplier_symbols
from .sweep import Power, add_actions


@runtime_checkable
class CompiledControl(Protocol):
    """A control law that builds its own efforts."""

    def efforts(self, equations: Equations) -> Sequence[Expr]:
        """Efforts along the speeds (N m, N), of t, q, u and parameters, in the graph of the equations."""
        ...


@dataclass(frozen=True, slots=True)
class SoftRow:
    """A row that pulls and does not hold: names of the free parameters that say how much (`coupled_terms_program`)."""

    pull: str
    gain: str


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
    return _lower_blocks("terms", equations, layout_of(equations).terms, _terms(equations, law, rows))


def coupled_terms_program(
    equations: Equations, soft: Sequence[SoftRow], layout: Layout, law: ControlLaw | None, accelerated: int
) -> Program:
    """`terms_program` of a system whose last rows are soft: they do not hold, but pull. With a the row of one,

        F = pull + gain · a u̇,    M u̇ = f − aᵀ F    ⟹    (M + gain aᵀa) u̇ = f − aᵀ pull

    so that a spring and a damper are taken at the end of a step of length h: pull = K (φ + h φ̇) + B φ̇ at its beginning,
    gain = h² K + h B. Any stiffness is stable, whatever the mass that it moves. What is written are the `terms` of
    `layout`, that of the system without the soft rows, with b of the first `accelerated` rows.
    """
    rows, graph = equations.partial_constraints(accelerated), equations.graph
    found = _terms(equations, law, rows)
    n, held = layout.speeds, layout.rows
    mass, f = list(found["M"]), list(found["f"])
    for a, row in zip(rows.A[held:], soft, strict=True):
        pull, gain = graph.input(row.pull), graph.input(row.gain)
        for i in range(n):
            f[i] = f[i] - a[i] * pull
            for j in range(n):
                mass[i * n + j] = mass[i * n + j] + gain * (a[i] * a[j])
    found |= {"M": mass, "f": f, "A": found["A"][: held * n]}
    found |= {name: found[name][:held] for name in ("rate", "b", "phi")}
    return _lower_blocks("coupled_terms", equations, layout.terms, found)


def coupler_program(equations: Equations, axes: int) -> Program:
    """Where the last `axes` rows are and how fast they move, phi and rate (axes,), and energies (J) of the system:
    kinetic, potential, and potential of gravity alone."""
    rows = equations.partial_constraints(0)
    found: dict[str, tuple[tuple[int, ...], list[Expr]]] = {
        "place": ((axes,), rows.phi[len(rows) - axes :]),
        "rate": ((axes,), rows.rate[len(rows) - axes :]),
        "energy": ((3,), [equations.kinetic_energy, equations.potential_energy, equations.gravity_potential]),
    }
    return equations.lower_outputs("coupler", INPUTS, found)


def mobility_program(equations: Equations, axes: int) -> Program:
    """M (n, n) and the last `axes` rows of constraints, (axes, n)."""
    rows, n = equations.partial_constraints(0).A, len(equations.system.u)
    found: dict[str, tuple[tuple[int, ...], list[Expr]]] = {
        "M": ((n, n), [e for row in equations.mass_matrix for e in row]),
        "a": ((axes, n), [e for row in rows[len(rows) - axes :] for e in row]),
    }
    return equations.lower_outputs("mobility", INPUTS, found)


def _terms(equations: Equations, law: ControlLaw | None, rows: Constraints) -> dict[str, Sequence[Expr]]:
    """The blocks of `Layout.terms`."""
    f = [t - b for t, b in zip(equations.tau, equations.bias, strict=True)]
    f, power = apply_law(equations, law, f), apply_law(equations, law, [load_power(equations)])
    return {
        "qdot": equations.system.qdot,
        "M": [e for row in equations.mass_matrix for e in row],
        "f": f,
        "A": [e for row in rows.A for e in row],
        "rate": rows.rate,
        "b": rows.b,
        "phi": rows.phi,
        "power": power,
    }


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
    return equations.without_idle([power.total(equations.graph)])[0]


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


def scene_program(equations: Equations) -> Program:
    """What a picture of the motion is drawn and touched with: poses of all bodies (bodies, 12), R_NB by rows and the
    origin in N, their Jacobians (bodies, 6, n), of ω and of the velocity of the origin in N, kinetic energy and the
    potential of gravity (J)."""
    places = [place_of(equations, name) for name in equations.mechanism.bodies]
    poses = [e for place in places for e in pose(equations, place)]
    rows = [e for place in places for row in jacobian(equations, place) for e in row]
    count, n = len(places), len(equations.system.u)
    outputs = {
        "poses": ((count, 12), poses),
        "J": ((count, 6, n), rows),
        "energy": ((2,), [equations.kinetic_energy, equations.gravity_potential]),
    }
    return equations.lower_outputs("scene", INPUTS, outputs)


def watch_program(equations: Equations, exprs: Sequence[Expr], law: ControlLaw | None = None) -> Program:
    """The functions that events watch, one output each, forces of the ground under a control law among them. Where one
    of them names a multiplier (`multiplier_symbols`) the program reads `Layout.event_inputs`, with the multipliers of
    all rows as its last inputs."""
    watched = without_joint_symbols(equations, equations.system.take(exprs))
    watched = without_ground_symbols(equations, watched)
    watched = apply_law(equations, law, without_reaction_symbols(equations, watched))
    outputs = {"events": ((len(watched),), watched)}
    symbols = multiplier_symbols(equations.graph, layout_of(equations).rows)
    if not depends_on(watched, symbols):
        return equations.lower_outputs("watch", INPUTS, outputs)
    groups = equations.groups([*INPUTS, *(["parameters"] if equations.free else [])])
    return lower("watch", [*groups, Inputs("multipliers", tuple(repr(s) for s in symbols))], outputs)


def acceleration_symbols(mechanism: Mechanism) -> list[Expr]:
    """The symbols that stand for accelerations along the speeds, in the graph of a description: motion variables of a
    joint may have the names that accelerations have in the equations."""
    return [mechanism.graph.input(f"acceleration.{name}") for name in mechanism.speeds]


def evaluation_program(equations: Equations, exprs: Sequence[Expr]) -> Program:
    """Expressions of the description along a motion, (n,), from t and whichever of q, u, udot, work, tau, free
    parameters and multipliers (`multiplier_symbols`) they depend on."""
    system = equations.system
    values = without_joint_symbols(equations, system.take(exprs), accelerated=True)
    named = system.take(acceleration_symbols(equations.mechanism))
    values = substitute(values, dict(zip(named, system.udot, strict=True)))
    values = without_ground_symbols(equations, values)
    values = without_reaction_symbols(equations, values, accelerated=True)
    symbols = multiplier_symbols(equations.graph, layout_of(equations).rows)
    groups = ["q", "u", "udot", "work", "tau", "parameters"]
    inputs = [*equations.groups(["t", *groups]), Inputs("multipliers", tuple(repr(s) for s in symbols))]
    return lower("evaluation", inputs, {"values": ((len(values),), values)}, optional=(*groups, "multipliers"))


def power_program(equations: Equations) -> Program:
    """Power of tau and of all loads but gravity (W), (1,), from t, q, u and tau."""
    return equations.lower_outputs("power", ("t", "q", "u", "tau"), {"power": ((1,), [load_power(equations)])})
