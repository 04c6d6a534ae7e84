"""Exact first derivatives of the equations of motion along any direction, as one small program.

With F(q, u, u̇, λ) = M u̇ + bias − Aᵀλ, equal to tau along a motion, and g(q, u, u̇) = A u̇ − b, A u + c and the residuals
phi of configurations, all zero on the constraints, the program gives these and their changes along (dq, du, du̇):
tangents carried through the graph. A batch of unit directions gives every Jacobian; the program stays as small as a few
inverse dynamics, whatever the number of coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..graph import Expr, Inputs, Program, forward, linear_coefficients, lower, reverse
from ..model.attitude import quaternion_places
from .equations import Equations
from .expressions import Output
from .motion import ControlLaw, law_efforts


def _balance(equations: Equations) -> dict[str, list[Expr]]:
    """The expressions that vanish, or are efforts, along a motion; λ by row enters as inputs."""
    system = equations.system
    found = {"qdot": list(system.qdot), "F": list(equations.inverse_dynamics)}
    if not equations.mechanism.constraints:
        return found
    rows = equations.constraints
    pushes: dict[Expr, Expr | float] = {}
    for rate, multiplier in zip(rows.rate, _multipliers(equations), strict=True):
        pushes[rate] = multiplier + pushes[rate] if rate in pushes else multiplier  # equal rows are one node
    reactions = reverse(pushes, system.u)
    found["F"] = [f - r for f, r in zip(found["F"], reactions, strict=True)]
    rate_rates = forward(rows.rate, dict(zip(system.u, system.udot, strict=True)))
    found["g"] = [a - b for a, b in zip(rate_rates, rows.b, strict=True)]
    found["rate"], found["phi"] = list(rows.rate), list(rows.phi)
    return found


def _multipliers(equations: Equations) -> list[Expr]:
    return [equations.graph.input(label) for label in _labels("lambda", range(len(equations.constraints)))]


def _labels(kind: str, names: Iterable[object]) -> tuple[str, ...]:
    """Names of inputs that no name of a model can be."""
    return tuple(f"{kind}:{name}" for name in names)


def tangent_program(equations: Equations) -> Program:
    """Values and changes of q̇, F and, with constraints, g, A u + c and phi.

    Inputs t, q, u, udot, [lambda], dq, du, dudot [, parameters]; outputs `qdot`, `F`, … and then `dqdot`, `dF`, ….
    """
    groups = equations.groups(["t", "q", "u", "udot"])
    if equations.mechanism.constraints:
        groups.append(Inputs("lambda", _labels("lambda", range(len(equations.constraints)))))
    return _with_changes(equations, "tangents", groups, _balance(equations))


def acceleration_slopes(equations: Equations) -> dict[str, Output]:
    """u̇ and its Jacobians by q, u and tau, exact: `udot` (n,), `udot_q` (n, n_q), `udot_u` and `udot_tau` (n, n)."""
    system, udot = equations.system, equations.forward_dynamics
    found: dict[str, Output] = {"udot": ((len(udot),), udot)}
    for name, variables in (("q", system.q), ("u", system.u), ("tau", equations.tau)):
        columns = [forward(udot, {x: 1.0}) for x in variables]
        flat = [column[i] for i in range(len(udot)) for column in columns]
        found[f"udot_{name}"] = ((len(udot), len(variables)), flat)
    return found


def rates_program(equations: Equations, exprs: Sequence[Expr]) -> Program:
    """Expressions of the description in t, q and u: values `y`, rates of time `ydot`, and their changes `dy`, `dydot`.

    Inputs t, q, u, udot, dq, du, dudot [, parameters].
    """
    system = equations.system
    y = system.take(exprs)
    rates: dict[Expr, Expr | float] = {system.t: 1.0}
    rates.update(zip([*system.q, *system.u], [*system.qdot, *system.udot], strict=True))
    groups = equations.groups(["t", "q", "u", "udot"])
    return _with_changes(equations, "rates", groups, {"y": y, "ydot": forward(y, rates)})


def control_tangent_program(equations: Equations, law: ControlLaw) -> Program:
    """Efforts `tau` of a control law along the speeds, and their changes `dtau` along dq and du.

    Inputs t, q, u, dq, du, dudot [, parameters].
    """
    return _with_changes(equations, "control", equations.groups(["t", "q", "u"]), {"tau": law_efforts(equations, law)})


def _with_changes(
    equations: Equations, name: str, groups: Sequence[Inputs], values: Mapping[str, list[Expr]]
) -> Program:
    """A program of values, and of their changes along dq, du and dudot, named with a d before."""
    m, system = equations.mechanism, equations.system
    direction = [
        Inputs("dq", _labels("d", m.coordinates)),
        Inputs("du", _labels("d", m.speeds)),
        Inputs("dudot", _labels("d", [f"{s}'" for s in m.speeds])),
    ]
    labels = [label for group in direction for label in group.labels]
    seeds: dict[Expr, Expr | float] = {
        x: equations.graph.input(label) for x, label in zip([*system.q, *system.u, *system.udot], labels, strict=True)
    }
    changes = iter(forward([e for exprs in values.values() for e in exprs], seeds))
    outputs: dict[str, Output] = {k: ((len(e),), e) for k, e in values.items()}
    outputs.update({f"d{k}": ((len(e),), [next(changes) for _ in e]) for k, e in values.items()})
    parameters = equations.groups(["parameters"]) if equations.free else []
    return lower(name, [*groups, *direction, *parameters], outputs)


def turns_program(equations: Equations) -> Program | None:
    """How quaternions follow small rotations about the axes of their joints' moving frames, `E` (k, 4, 3), and the rate
    of that, `Edot`; None where there is no quaternion."""
    m, system = equations.mechanism, equations.system
    E: list[Expr] = []
    for name in quaternion_places(m):
        joint = m.joints[name]
        rates = [m.coordinate_rates[c.symbol] for c in joint.coordinates[:4]]
        E += system.take([e for row in linear_coefficients(rates, joint.rates[:3])[0] for e in row])
    if not E:
        return None
    Edot = forward(E, {system.t: 1.0, **dict(zip(system.q, system.qdot, strict=True))})
    shape = (len(E) // 12, 4, 3)
    return equations.lower_outputs("turns", ("t", "q", "u"), {"E": (shape, E), "Edot": (shape, Edot)})


def coordinates_in_equations(program: Program) -> tuple[str, ...]:
    """Coordinates that the equations of motion contain, by the tangent program; all others may run on in a steady
    motion."""
    needed = {slot for output in program.outputs if output.name in ("F", "g", "rate") for slot in output.slots}
    for place in reversed(range(program.first_row, program.first_row + len(program.rows))):
        if place in needed:
            needed.update(program.rows[place - program.first_row].args)
    slots = iter(range(program.input_count))
    return tuple(k for g in program.inputs for k in g.labels if next(slots) in needed and g.name == "q")


__all__ = [
    "acceleration_slopes",
    "control_tangent_program",
    "coordinates_in_equations",
    "rates_program",
    "tangent_program",
    "turns_program",
]
