"""A model with a coupler on it: the programs that the loop that keeps time runs.

The coupler's axes are rows of the system that pull instead of holding (`formulation.coupled_terms_program`); how much,
the loop says in two parameters for each. What they take hold of is a grip: expressions of the model, or a point of a
body that is chosen while the loop runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..api import Model
from ..api.answers import Answers, stepping_set
from ..api.simulation import ControlLaw, law_of, refuse_penetration
from ..api.starts import start_state
from ..backends import Kernel, compile
from ..formulation import SoftRow, coupled_terms_program, coupler_program, mobility_program
from ..model import ConfigurationEquations, PointOnPlane
from ..simulate import Routine

NAME = "coupler"
POINT = tuple(f"{NAME}_{axis}" for axis in "xyz")
"""Parameters: where a point that is held is in its body (m)."""


@dataclass(frozen=True, slots=True)
class Grip:
    """What a coupler has hold of: the terms of the motion in which it pulls there, where that is (`coupler_program`)
    and what it moves (`mobility_program`)."""

    terms: Kernel
    coupler: Kernel
    mobility: Kernel


class Coupling:
    """A model from a start, to be coupled to a device of so many axes; `on_bodies` keeps the place of a point free,
    for grips on bodies. `constraints` are those of the model, `start` is its state [q, u, work], `inputs` are those of
    all programs, among which pulls, gains and the point begin at `pull`, `gain` and `point`. It is driven by
    `control`, as for `simulate`."""

    def __init__(
        self,
        model: Model,
        axes: int,
        q: Any = None,
        u: Any = None,
        *,
        on_bodies: bool = False,
        control: ControlLaw | None = None,
    ):
        answers: Answers = model._answers  # pyright: ignore[reportPrivateUsage]
        mechanism, self._control = answers.mechanism, control
        self._soft = [SoftRow(f"{NAME}_pull_{i}", f"{NAME}_gain_{i}") for i in range(axes)]
        names = [*(row.pull for row in self._soft), *(row.gain for row in self._soft), *(POINT if on_bodies else ())]
        with answers.cache.lock:
            q0, u0 = start_state(answers, q, u, np.array([0.0, 1.0]))
            self._mechanism = mechanism.twin()
            for name in names:
                self._mechanism.parameter(name, 0.0, free=True)
            self._mechanism.revision += 1
            self._answers = answers.of(self._mechanism)
            self._permanent = len(mechanism.row_names)
            self.constraints = replace(stepping_set(self._answers, self._law_in(self._answers), "newton"), steady=False)
            self.inputs = np.concatenate([[0.0], q0, u0, [0.0], np.zeros(len(u0)), self._answers.values])
            refuse_penetration(mechanism, self.constraints, self.inputs)
        self.axes, self.on_bodies, layout = axes, on_bodies, self.constraints.layout
        free = [name for name, p in self._mechanism.parameters.items() if p.free]
        self.pull = layout.inputs["parameters"].start + free.index(names[0])
        self.gain, self.point = self.pull + axes, self.pull + 2 * axes
        self.start = self.inputs[1 : 1 + layout.state.size].copy()

    def grip(self, axes: Sequence[str]) -> Grip:
        """Hold of expressions in coordinates, one for each axis."""
        return self._make([ConfigurationEquations(tuple(axes))])

    def grip_body(self, name: str) -> Grip:
        """Hold of a point of a body, along x, y and z of N."""
        return self._make([PointOnPlane("ground", name, second_at=POINT, normal=axis) for axis in "xyz"])

    def _make(self, rows: Sequence[ConfigurationEquations | PointOnPlane]) -> Grip:
        held = self._mechanism.all_rows_held()
        with self._answers.cache.lock:
            for i, record in enumerate(rows):
                held.constrain(f"{NAME} {i}", record)
            answers, layout = self._answers.of(held), self.constraints.layout
            equations, law = answers.fresh_equations, self._law_in(answers)
            terms = coupled_terms_program(equations(), self._soft, layout, law, self._permanent)
            coupler, mobility = coupler_program(equations(), self.axes), mobility_program(equations(), self.axes)
            return Grip(compile(terms), compile(coupler), compile(mobility))

    def _law_in(self, answers: Answers) -> Any:
        """The control law of a twin of the model."""
        return None if self._control is None else law_of(answers, self._control)

    def look(self, grip: Grip, inputs: Any) -> tuple[Any, float, float]:
        """(place of each axis (m, rad), kinetic energy and that of gravity (J)) of a grip at inputs."""
        found = Routine(grip.coupler.address, grip.coupler.program.output_count)(inputs)
        return found[: self.axes], float(found[2 * self.axes]), float(found[2 * self.axes + 2])

    def effective_masses(self, grip: Grip, inputs: Any) -> tuple[float, ...]:
        """The mass (kg, kg m²) that each axis of a grip meets alone, constraints left out: 1 / a M⁻¹ aᵀ."""
        n = self.constraints.layout.speeds
        found = Routine(grip.mobility.address, grip.mobility.program.output_count)(inputs)
        mass, a = found[: n * n].reshape(n, n), found[n * n :].reshape(self.axes, n)
        with np.errstate(divide="ignore"):
            return tuple(float(x) for x in 1.0 / np.einsum("in,in->i", a, np.linalg.solve(mass, a.T).T))


__all__ = ["Coupling", "Grip"]
