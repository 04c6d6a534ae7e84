"""A model with a coupler on it: the programs that the loop that keeps time runs.

The coupler's axes are rows of the system that pull instead of holding (`formulation.coupled_terms_program`); how much,
the loop says in two parameters for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..api import Model
from ..api.answers import Answers, changing_set
from ..api.simulation import refuse_penetration
from ..api.starts import start_state
from ..backends import Kernel, compile
from ..errors import InputError
from ..formulation import SoftRow, coupled_terms_program, coupler_program
from ..model import ConfigurationEquations, Mechanism
from ..simulate import ChangingSet, Routine

NAME = "coupler"


@dataclass(frozen=True, slots=True)
class Coupling:
    """What the loop runs: the constraints with terms in which the coupler pulls, the program of its places, the state
    at the start, the inputs of the programs, where among these the pulls and gains are; the place of each axis at the
    start (m, rad), the kinetic energy (J), and the mass that each axis meets there."""

    constraints: ChangingSet
    coupler: Kernel
    start: Any
    inputs: Any
    pull: int
    gain: int
    place: Any
    kinetic: float
    effective_mass: tuple[float, ...]


def couple(model: Model, axes: Sequence[str], q: Any = None, u: Any = None) -> Coupling:
    """The model from a start with a coupler on so many axes."""
    answers: Answers = model._answers  # pyright: ignore[reportPrivateUsage]
    mechanism = answers.mechanism
    with answers.cache.lock:
        q0, u0 = start_state(answers, q, u, np.array([0.0, 1.0]))
        soft = [SoftRow(f"{NAME}_pull_{i}", f"{NAME}_gain_{i}") for i in range(len(axes))]
        parameters = mechanism.twin()
        for name in (*(row.pull for row in soft), *(row.gain for row in soft)):
            parameters.parameter(name, 0.0, free=True)
        parameters.revision += 1
        plain = answers.of(parameters)
        constraints = changing_set(plain, None, "newton", stepping=True)
        layout = constraints.layout
        coupled = _with_axes(parameters, axes)
        equations = answers.of(coupled).fresh_equations
        permanent = len(mechanism.row_names)
        terms = compile(coupled_terms_program(equations(), soft, layout, None, permanent))
        coupler = compile(coupler_program(equations(), len(axes)))
        inputs = np.concatenate([[0.0], q0, u0, [0.0], np.zeros(len(u0)), plain.values])
        constraints = replace(constraints, terms=terms, steady=False)
        refuse_penetration(mechanism, constraints, inputs)
    first = layout.inputs["parameters"].start + list(_free(parameters)).index(soft[0].pull)
    mass = _effective_masses(answers.of(coupled), len(axes), inputs, layout.rows)
    start = inputs[1 : 1 + layout.state.size].copy()
    gripped = Routine(coupler.address, coupler.program.output_count)(inputs)
    place, kinetic = gripped[: len(axes)], float(gripped[2 * len(axes)])
    return Coupling(constraints, coupler, start, inputs, first, first + len(axes), place, kinetic, mass)


def _free(mechanism: Mechanism) -> list[str]:
    return [name for name, p in mechanism.parameters.items() if p.free]


def _with_axes(mechanism: Mechanism, axes: Sequence[str]) -> Mechanism:
    """The mechanism in which every row holds, those of the coupler last."""
    held = mechanism.all_rows_held()
    if NAME in held.constraints:
        raise InputError(f"the model has a constraint named '{NAME}' already\n    fix: rename it")
    held.constrain(NAME, ConfigurationEquations(tuple(axes)))
    return held


def _effective_masses(answers: Answers, axes: int, inputs: Any, rows: int) -> tuple[float, ...]:
    """The mass (kg, kg m²) that each axis meets alone at the start, all permanent rows left out: 1 / a M⁻¹ aᵀ."""
    equations = answers.fresh_equations()
    layout = equations.constraints
    n = len(equations.system.u)
    names = ("t", "q", "u", "work", "tau")
    found = compile(
        equations.lower_outputs(
            "effective_mass",
            names,
            {
                "M": ((n, n), [e for row in equations.mass_matrix for e in row]),
                "a": ((axes, n), [e for row in layout.A[rows:] for e in row]),
            },
        )
    )
    split = np.split(inputs, np.cumsum([1, len(equations.system.q), n, 1, n]))
    mass, a = found(float(split[0][0]), *split[1:])
    with np.errstate(divide="ignore"):
        return tuple(float(x) for x in 1.0 / np.einsum("in,in->i", a, np.linalg.solve(mass, a.T).T))


__all__ = ["Coupling", "couple"]
