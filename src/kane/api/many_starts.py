"""Where many motions of one model start: states moved onto the constraints together, as each would be alone.

What is regular is done for all at once, to the same bits: configurations that close step by step, speeds that the rows
determine, positions at which these have their rank. Whatever else a start meets is left to `starts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.branches import are_on_branch
from ..constraints.projection import RowTerms, close_positions, least_change, rows_with_values
from ..constraints.rank import have_rank
from ..constraints.thresholds import REDUNDANT, SINGULAR, TOUCHING
from ..model import attitudes, locks
from ..model.parameters import initial_states
from ..simulate import ChangingSet
from .answers import Answers, constraint_kernels
from .constrained import constraint_rows, general_rank, placed_rows, row_labels, row_sizes
from .records import Array
from .simulation import CONTRADICTS
from .start_choices import StartChoice, start_choices
from .starts import rolling_answers, touching_wheels, wheels_may_slide


def initial_states_of(answers: Answers, values: Array) -> Array:
    """States [q, u, work] that the description begins with, for free parameters (k, p); nan where there is none."""
    states = np.array([*initial_states(answers.mechanism, values.tolist())]).reshape(len(values), -1)
    return np.concatenate([states, np.zeros((len(values), 1))], axis=1)


def are_lawful(changing: ChangingSet, states: Array, t: float, tau: Array, values: Array) -> Any:
    """Which of the starts (k, n) are sure to be lawful under constraints that come and go, (k,) of bool: nothing is
    inside something else, and what is switched on moves as it is to."""
    layout = changing.layout
    q, u, _ = layout.state.split(states).values()
    free = (values,) if any(g.name == "parameters" for g in changing.terms.program.inputs) else ()
    terms = dict(zip(layout.terms, changing.terms(t, q, u, 0.0, tau, *free), strict=True))
    lawful, held = np.ones(len(q), dtype=bool), list(range(changing.permanent))
    for element, row in zip(changing.elements, changing.first_rows, strict=True):
        if element.type == "contact" and element.held:
            lawful &= terms["phi"][:, row] >= -TOUCHING
        if element.type == "switched" and element.held:
            held += range(row, row + element.rows)
    if len(held) > changing.permanent:
        lawful &= np.linalg.norm(terms["rate"][:, held], axis=1) <= CONTRADICTS
    return lawful


def roll_together(
    answers: Answers, q: Array, u: Array, t: float, values: Array, named: Sequence[str]
) -> tuple[Array, Any]:
    """(u (k, n), which are settled (k,) of bool): speeds at which wheels roll that may slide, as starts have them."""
    own = values if values.shape[1] else None
    found, settled = u.copy(), np.zeros(len(q), dtype=bool)
    speeds = [i for i, name in enumerate(answers.mechanism.speeds) if name in named]
    touching = touching_wheels(answers, q, u, t, own)
    for wheels in dict.fromkeys(touching):
        some = np.array([i for i, x in enumerate(touching) if x == wheels])
        if wheels:
            rolling = rolling_answers(answers, wheels)
            found[some], settled[some], _ = _consistent_speeds(rolling, q[some], u[some], t, values[some], speeds)
        else:
            settled[some] = True
    return found, settled


def starts_are_alike(answers: Answers) -> bool:
    """Whether starts on constraints can be found together: no quaternions, and no wheels that may slide."""
    mechanism = answers.mechanism
    if not mechanism.constraints or wheels_may_slide(mechanism):
        return False
    return not attitudes(mechanism, dict.fromkeys(mechanism.coordinates, 1.0))


def start_together(
    answers: Answers, q: Array, u: Array, t: float, values: Array, named: Sequence[str], usual: Sequence[str] = ()
) -> tuple[Array, Array, Any]:
    """(q (k, n_q), u (k, n), which of them are settled (k,) of bool): starts moved onto the constraints at the time t
    (s), with free parameters of their own (k, p), as `consistent_start` does with what is `named` and `usual`. Those
    that are not settled are as given."""
    q, u, settled, left = q.copy(), u.copy(), np.zeros(len(q), dtype=bool), np.arange(len(q))
    for choice in start_choices(answers, named, usual):
        closed, found, good, impossible = _hold(answers, q[left], u[left], t, values[left], choice)
        q[left[good]], u[left[good]], settled[left[good]] = closed[good], found[good], True
        left = left[impossible]
        if not left.size:
            break
    return q, u, settled


def _hold(
    answers: Answers, q: Array, u: Array, t: float, values: Array, choice: StartChoice
) -> tuple[Array, Array, Any, Any]:
    """Starts moved onto the constraints by a choice: q, u, which are there (k,) of bool, and for which no such speeds
    are (k,)."""
    mechanism = answers.mechanism
    held, loose = ([i for i, name in enumerate(mechanism.speeds) if name in names] for names in choice)
    q, settled = _close(answers, q, t, values, [i for i, c in enumerate(mechanism.coordinates) if c in choice.held])
    settled &= np.array([not locks(mechanism, row, REDUNDANT) for row in q], dtype=bool)
    impossible, found, some = np.zeros(len(q), dtype=bool), u.copy(), np.flatnonzero(settled)
    if some.size:
        found[some], settled[some], impossible[some] = _consistent_speeds(
            answers, q[some], u[some], t, values[some], held, loose
        )
    return q, found, settled, impossible


def _consistent_speeds(
    answers: Answers, q: Array, u: Array, t: float, values: Array, speeds: Sequence[int], loose: Sequence[int] = ()
) -> tuple[Array, Any, Any]:
    """(u (k, n) on the constraints at q with these speeds staying and `loose` ones following, which are there, for
    which there are none)."""
    labels, own = row_labels(answers), values if values.shape[1] else None
    impossible, found, settled = np.zeros(len(q), dtype=bool), u.copy(), np.zeros(len(q), dtype=bool)
    rows = constraint_rows(answers, q, u, t=t, parameters=own)
    fine = np.all(rows_with_values(RowTerms(rows.A, rows.rate, rows.phi, rows.A), labels), axis=1)
    fine &= have_rank(rows.A, general_rank(answers), SINGULAR, row_sizes(answers))
    some, A, rate = np.flatnonzero(fine), rows.A[fine], rows.rate[fine]
    if some.size:
        found[some], _, possible = least_change(A, rate, u[some], labels, speeds, loose)
        on_branch = are_on_branch(A, _right_sides(answers, q[some], t, values[some]), found[some], labels)
        settled[some], impossible[some] = possible & on_branch, ~possible
    return found, settled, impossible


def _right_sides(answers: Answers, q: Array, t: float, values: Array) -> Any:
    """b (k, j, m) of A u̇ = b as a function of speeds (k, j, n)."""

    def right_sides(speeds: Array) -> Array:
        k, j, n = speeds.shape
        own = np.repeat(values, j, axis=0) if values.shape[1] else None
        rows = constraint_rows(answers, np.repeat(q, j, axis=0), speeds.reshape(k * j, n), t=t, parameters=own)
        return rows.b.reshape(k, j, -1)

    return right_sides


def _close(answers: Answers, q: Array, t: float, values: Array, held: Sequence[int]) -> tuple[Array, Any]:
    """Configurations on the constraints, and which of them are."""
    places, n = constraint_kernels(answers)[1], len(answers.mechanism.speeds)
    if places is None:
        return q, np.ones(len(q), dtype=bool)
    takes = any(g.name == "parameters" for g in places.program.inputs)
    labels = row_labels(answers).select(placed_rows(answers))

    def terms(at: Array, members: Any) -> RowTerms:
        phi, G, T = places(t, at, np.zeros(n), 0.0, np.zeros(n), *((values[members],) if takes else ()))
        return RowTerms(G, np.zeros_like(phi), phi, T)

    return close_positions(terms, q, labels, held)


__all__ = ["are_lawful", "initial_states_of", "roll_together", "start_together", "starts_are_alike"]
