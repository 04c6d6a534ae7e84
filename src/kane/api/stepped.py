"""A motion by time stepping as its check wants it: states and impulses of every step, and the programs of its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.steps import SteppedElement, SteppedMotion
from ..simulate import Routine
from ..simulate.changing import LAWS
from .answers import stepping_set
from .records import Array

if TYPE_CHECKING:
    from .trajectory import Trajectory


def in_steps(run: Trajectory) -> bool:
    """Whether a motion goes by time stepping."""
    return run.statistics.contact_residual is not None


def program_inputs(run: Trajectory) -> Array:
    """[t, q, u, work, tau, parameters] at each time of a motion, (k, inputs), the work of no account."""
    parameters = np.tile(run.answers.values, (len(run), 1))
    return np.column_stack([run.t, run.q, run.u, np.zeros(len(run)), run.tau, parameters])


def presence(run: Trajectory) -> Array:
    """Where what comes and goes is in force, (k, elements): conditions impose and free it."""
    changing = run.answers.mechanism.changing
    places = {name: e for e, name in enumerate(changing)}
    found = np.ones((len(run), len(changing)), dtype=bool)
    found[:, [not c.law.held for c in changing.values()]] = False
    for change in run.transitions:
        if change.cause in ("imposed", "freed"):
            found[run.t >= change.t, places[change.constraints[0]]] = change.cause == "imposed"
    return found


def stepped_motion(run: Trajectory) -> SteppedMotion | None:
    """The steps of a motion; None where it was asked for at given times, between steps."""
    answers, impulses = run.answers, run.step_impulses
    if impulses is None:
        return None
    changing = answers.make_once("stepping", lambda: stepping_set(answers, None, "newton"))
    layout, elements = changing.layout, changing.elements
    steps = len(impulses) if run.outcome.reason != "event" else len(impulses) - 1  # the last one was cut short
    assert changing.coordinate_rates is not None
    terms, laws = Routine(changing.terms.address, layout.terms.size), Routine(changing.laws.address, len(elements) * 5)
    numbers: dict[bytes, Array] = {}

    def laws_at(x: Array) -> Array:
        if not changing.fixed_laws or not numbers:
            numbers[b""] = laws(x).reshape(len(elements), len(LAWS))
        return numbers[b""]

    return SteppedMotion(
        program_inputs(run)[: steps + 1],
        layout.inputs["q"].place,
        layout.inputs["u"].place,
        changing.permanent,
        tuple(
            SteppedElement(e.type, first, e.rows, not (e.when or e.until or e.duration))
            for e, first in zip(elements, changing.first_rows, strict=True)
        ),
        lambda x: layout.terms.split(terms(x)),
        Routine(changing.coordinate_rates.address, layout.coordinates),
        laws_at,
        impulses.of_step,
        changing.steady,
        presence(run),
    )


__all__ = ["in_steps", "presence", "program_inputs", "stepped_motion"]
