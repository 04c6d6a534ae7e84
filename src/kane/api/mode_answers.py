"""Motions under constraints that come and go: accelerations, reactions and laws, each in the mode of its time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.changing import ChangingMotion
from ..simulate import IMPACT_LAWS, ChangingSet, Transition
from ..simulate.changing import LAWS
from ..simulate.routine import Routine
from ..simulate.sample_modes import SampleMode, row_terms, with_slips
from .answers import Answers, changing_set
from .constrained import constraint_rows
from .records import Array
from .stepped import in_steps, presence, program_inputs

if TYPE_CHECKING:
    from .trajectory import Trajectory

STATIC, BOUND = LAWS.index("static"), LAWS.index("bound")


def modes_along(transitions: tuple[Transition, ...], t: Array) -> list[int]:
    """The index of the transition whose mode holds at each time of a motion; at the time of a transition the first
    state is the one before it."""
    times, found = [x.t for x in transitions[1:]], list[int]()
    first = 0  # the first state of the present time
    for i, now in enumerate(t.tolist()):
        first = first if i and t[i - 1] == now else i
        found.append(min(bisect_left(times, now) + i - first, len(transitions) - 1))
    return found


def sample_modes(run: Trajectory) -> list[SampleMode]:
    """The mode at each time of a motion; one object for all times between two transitions where these are found."""
    if in_steps(run):
        return _modes_in_steps(run)
    found = [SampleMode(x.mode, x.slip) for x in run.transitions]
    return [found[k] for k in modes_along(run.transitions, run.t)]


def _modes_in_steps(run: Trajectory) -> list[SampleMode]:
    """The modes of a motion in time steps: a transition at the end of a step says what held within it, so the state
    there is in the new mode, and that at the start in the one that the first step begins in."""
    changing = _changing_set(run.answers)
    times, found = [x.t for x in run.transitions], list[SampleMode]()
    for x, now in zip(program_inputs(run), run.t.tolist(), strict=True):
        change = run.transitions[max(0, bisect_right(times, now) - 1)]
        if now > times[0]:
            found.append(with_slips(changing, change.mode, row_terms(changing, x)["rate"]))
        else:
            found.append(SampleMode(change.mode, change.slip))
    return found


def answer_in_modes(run: Trajectory) -> tuple[Array, Array]:
    """(udot (k, n), λ of all rows (k, m)) at the states of a motion, each in the mode of its time."""
    changing = _changing_set(run.answers)
    asked, layout = changing.run(), changing.layout
    udot, multipliers = np.empty((len(run), layout.speeds)), np.empty((len(run), layout.rows))
    mode: SampleMode | None = None
    for i, (x, due) in enumerate(zip(program_inputs(run), sample_modes(run), strict=True)):
        if due is not mode:
            mode = due
            asked.enter(mode.mode, mode.slip, x)
        multipliers[i] = asked.reactions(x)  # first: it says which slips have only just begun
        udot[i] = asked.rates(x)[layout.coordinates : layout.coordinates + layout.speeds]
    return udot, multipliers


def changing_motion(run: Trajectory) -> ChangingMotion:
    """What came and went along a motion, with the rows of all constraints."""
    answers, mechanism = run.answers, run.answers.mechanism
    whole = answers.all_rows_held()
    rows, reactions = constraint_rows(whole, run.q, run.u, t=run.t), run.multipliers
    laws = _laws_along(run)
    first = len(mechanism.row_names)
    gaps: list[int] = []
    pushing: list[int] = []
    friction: list[tuple[tuple[int, ...], Array]] = []
    impulses = np.zeros((len(run.transitions), rows.phi.shape[1]))
    for e, c in enumerate(mechanism.changing.values()):
        own = tuple(range(first, first + len(c.rows)))
        if c.type == "contact":
            gaps.append(own[0])
        if c.type in ("contact", "one-way"):
            pushing.append(own[0])
        slips = own[1:] if c.type == "contact" else own if c.type == "friction" else ()
        if slips:
            pressed = reactions[:, own[0]] if c.type == "contact" else laws[:, e, BOUND]
            friction.append((slips, laws[:, e, STATIC] * pressed))
        for i, change in enumerate(run.transitions):
            impulses[i, list(own)] = change.impulse.get(c.name, 0.0)
        first += len(c.rows)
    return ChangingMotion(
        len(mechanism.row_names),
        rows.A,
        rows.phi,
        reactions,
        tuple(gaps),
        tuple(pushing),
        tuple(friction),
        run.transitions,
        impulses,
        rows.rate - np.einsum("kmn,kn->km", rows.A, run.u),
        presence(run)[:, [e for e, c in enumerate(mechanism.changing.values()) if c.type == "contact"]],
    )


def _laws_along(run: Trajectory) -> Array:
    """The numbers of the laws of what comes and goes along a motion, (k, elements, `LAWS`)."""
    changing = _changing_set(run.answers)
    program = Routine(changing.laws.address, len(changing.elements) * len(LAWS))
    return np.array([program(x) for x in program_inputs(run)]).reshape(len(run), len(changing.elements), len(LAWS))


def _changing_set(answers: Answers) -> ChangingSet:
    """What comes and goes, to ask about states."""
    return answers.make_once("changing", lambda: changing_set(answers, None, IMPACT_LAWS[0]))


__all__ = ["answer_in_modes", "changing_motion", "modes_along", "sample_modes"]
