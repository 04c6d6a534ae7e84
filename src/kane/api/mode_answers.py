"""Motions under constraints that come and go: accelerations, reactions and laws, each in the mode of its time."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.changing import ChangingMotion
from ..simulate import IMPACT_LAWS, ChangingSet, Transition
from ..simulate.changing import LAWS
from ..simulate.routine import Routine
from .answers import Answers, changing_set
from .constrained import constraint_rows
from .records import Array
from .stepped import presence

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


def answer_in_modes(
    answers: Answers,
    transitions: tuple[Transition, ...],
    t: Array,
    q: Array,
    u: Array,
    tau: Array,
    in_steps: bool = False,
) -> tuple[Array, Array]:
    """(udot (k, n), λ of all rows (k, m)) at states of a motion, each in the mode of its time. Slips of a motion in
    time steps do not begin: a step has gone past that."""
    changing = _changing_set(answers)
    run, layout = changing.run(), changing.layout
    udot, multipliers = np.empty((len(t), layout.speeds)), np.empty((len(t), layout.rows))
    mode = -1
    for i, (now, due) in enumerate(zip(t.tolist(), modes_along(transitions, t), strict=True)):
        x = np.concatenate([[now], q[i], u[i], [0.0], tau[i], answers.values])
        if due != mode:
            mode = due
            run.enter(transitions[mode].mode, transitions[mode].slip, x, begins=not in_steps)
        multipliers[i] = run.reactions(x)  # first: it says which slips have only just begun
        udot[i] = run.rates(x)[layout.coordinates : layout.coordinates + layout.speeds]
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
    parameters = np.tile(run.answers.values, (len(run), 1))
    x = np.column_stack([run.t, run.q, run.u, np.zeros(len(run)), run.tau, parameters])
    return np.array([program(row) for row in x]).reshape(len(run), len(changing.elements), len(LAWS))


def _changing_set(answers: Answers) -> ChangingSet:
    """What comes and goes, to ask about states."""
    return answers.make_once("changing", lambda: changing_set(answers, None, IMPACT_LAWS[0]))


__all__ = ["answer_in_modes", "changing_motion", "modes_along"]
