"""Velocities and forces over a motion of the loop that keeps time, as a page draws them (`kane.page.Marks`).

They are worked out beside the loop, for one state at a time: reactions of the constraints that hold in the mode of that
state, under the force of the coupler. The programs are those of pages that simulate by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..api import Model
from ..api.answers import changing_set, embedding_of
from ..api.marks import forces_at, marked_places, marks_kernel, wheel_kernel
from ..api.simulation import ControlLaw, law_of
from ..simulate import IMPACT_LAWS, Routine
from ..simulate.sample_modes import row_terms, with_slips

Array = Any


@dataclass(frozen=True, slots=True)
class Pull:
    """A force (3,) (N) on a body at a place (3,) (m), both in N; `body` is its number, −1 for none."""

    body: int
    force: Array
    place: Array


class ForceMarks:
    """What is drawn over a model under a control law: `places` of constraints and `wheels` of vehicles. Calls must not
    overlap."""

    def __init__(self, model: Model, control: ControlLaw | None = None):
        answers = model._answers  # pyright: ignore[reportPrivateUsage]
        mechanism = answers.mechanism
        self._bodies, self._values = len(mechanism.bodies), answers.values
        law = None if control is None else law_of(answers, control)
        kernel, self._wheels = marks_kernel(answers), wheel_kernel(answers, law)
        self.places = marked_places(mechanism, () if self._wheels is None else self._wheels.marks.told)
        self.wheels = None if self._wheels is None else self._wheels.for_page()
        self._marks = Routine(kernel.address, kernel.program.output_count)
        self._constraints = len(mechanism.constraints) + len(mechanism.changing)
        self._embedding = embedding_of(answers, law) if mechanism.constraints and not mechanism.changing else None
        self._run = changing_set(answers, law, IMPACT_LAWS[0]).run() if mechanism.changing else None

    def __call__(self, x: Array, mode: dict[str, str], pull: Pull, poses: Array) -> dict[str, list[float]] | None:
        """Marks at inputs x = [t, q, u, work, tau, parameters] with the efforts of the pull in them, in a mode, where
        bodies have `poses` (bodies, 12); None where a reaction cannot be told, at a singular position say."""
        found = self._marks(x)
        velocity, rest = np.split(found, [3 * self._bodies])
        point, unit = (part.reshape(-1, 3) for part in np.split(rest, [3 * self._constraints]))
        multipliers, rates = self._react(x, mode)
        at = point[[p.index for p in self.places]]
        force = forces_at(self.places, multipliers[None], unit[None])[0]
        measure = np.zeros(0)
        if self._wheels is not None:
            marks = self._wheels.marks
            told = [x, self._wheels.pulls(pull.body, pull.force, pull.place, poses)]
            told += [multipliers] if marks.reads_multipliers else []
            told += [rates] if marks.reads_rates else []
            kernel, count = self._wheels.kernel, 3 * len(marks.wheels)
            ground = Routine(kernel.address, kernel.program.output_count)(np.concatenate(told))
            contact, own, measure = np.split(ground, [count, 2 * count])
            at, force = (np.concatenate([a, b.reshape(-1, 3)]) for a, b in ((at, contact), (force, own)))
        parts = {"velocities": velocity, "at": at.ravel(), "forces": force.ravel(), "measures": measure}
        if not all(np.isfinite(part).all() for part in parts.values()):
            return None
        return {name: part.tolist() for name, part in parts.items()}

    def _react(self, x: Array, mode: dict[str, str]) -> tuple[Array, Array]:
        """(multipliers of all rows, rates of the state where constraints come and go)."""
        if self._run is not None:
            constraints = self._run.constraints
            now = with_slips(constraints, mode, row_terms(constraints, x)["rate"])
            self._run.enter(now.mode, now.slip, x)
            return self._run.reactions(x), self._run.rates(x)
        if self._embedding is not None:
            return self._embedding.workspace().multipliers(x[None])[0], np.zeros(0)
        return np.zeros(0), np.zeros(0)


__all__ = ["ForceMarks", "Pull"]
