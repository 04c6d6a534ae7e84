"""Which speeds of a start stay and which follow, where it is moved onto the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ..constraints.branches import speeds_near_singularity
from ..constraints.projection import InconsistentRows, RowTerms, least_change
from ..constraints.rank import row_rank
from ..constraints.thresholds import SINGULAR
from ..errors import ModelError, Problem
from ..model import Mechanism
from . import given
from .answers import Answers
from .constrained import (
    OffBranchError,
    close_configuration,
    consistent_speeds,
    constraint_rows,
    general_rank,
    is_singular,
    project,
    row_labels,
    row_sizes,
    rows_at,
)
from .records import Array

MOST_TRIED = 32
"""Initial speeds that give way one after the other, where they are not possible together; then all of them do."""


class StartChoice(NamedTuple):
    """Names of what stays in a start, and of speeds that follow it whatever the model starts with."""

    held: tuple[str, ...]
    loose: tuple[str, ...] = ()


def consistent_start(
    answers: Answers, q: Array, u: Array, t: float, named: Sequence[str], usual: Sequence[str] = ()
) -> tuple[Array, Array]:
    """The start moved onto the constraints, what was `named` staying, and the `usual` speeds of the model if they can.

    Coordinates are guesses: where they cannot all stay, they are moved too. Speeds that were named stay or are refused.
    """
    speeds = [name for name in named if name in answers.mechanism.speeds]
    choices = start_choices(answers, named, usual)
    for choice in choices[:-1]:
        try:
            return _start_with(answers, q, u, t, choice)
        except OffBranchError:
            raise
        except ModelError:
            pass  # they cannot all stay
    try:
        return _start_with(answers, q, u, t, choices[-1])
    except ModelError as error:
        if not speeds or isinstance(error, OffBranchError):
            raise
        raise _explain_named_speeds(answers, q, u, t, speeds, error) from None


def _start_with(answers: Answers, q: Array, u: Array, t: float, choice: StartChoice) -> tuple[Array, Array]:
    """The start moved onto the constraints by one choice."""
    mechanism = answers.mechanism
    q = close_configuration(answers, q, t, [i for i, c in enumerate(mechanism.coordinates) if c in choice.held])
    held, loose = ([i for i, s in enumerate(mechanism.speeds) if s in names] for names in choice)
    return q, consistent_speeds(answers, q, u, t, held, loose)


def start_choices(answers: Answers, named: Sequence[str], usual: Sequence[str]) -> list[StartChoice]:
    """What is tried in a start, in turn: with what is `named` stay those of the `usual` speeds, which the model starts
    with, that can still be chosen where it starts; where they cannot all stay, the last of them give way. The others
    follow: a wheel that the model lets roll at another speed."""
    speeds = [name for name in named if name in answers.mechanism.speeds]
    chosen = chosen_speeds(answers, speeds, [name for name in usual if name not in speeds])
    fewer = [chosen[: len(chosen) - k] for k in range(min(len(chosen), MOST_TRIED))] + [()]
    held = dict.fromkeys((*stay, *some) for stay in (named, speeds) for some in fewer)
    return [StartChoice(names, tuple([s for s in usual if s not in names])) for names in held]


def chosen_speeds(answers: Answers, named: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """Of the `usual` speeds those that can be chosen beside the `named` ones and each other: where the model starts no
    constraint determines them while those stay zero that are zero there. Those given later come before earlier ones,
    and in one mapping the first before others.

    Elsewhere, where a wheel is turned, the others may be able to follow, but only by motions that nobody meant: a disc
    that turned about would keep its velocity beside its spin if it whirled about its diameter fast enough.
    """
    mechanism = answers.mechanism
    order = sorted(usual, key=lambda name: -mechanism.speed_records[name].given)
    rows = _rows_of_the_model(answers) if usual else None
    if rows is None:
        return tuple(order)
    moving = [i for i, name in enumerate(mechanism.speeds) if name not in named]
    found = _undetermined_speeds(answers, rows.A, moving, order)
    held, loose = ([i for i, s in enumerate(mechanism.speeds) if (s in found) == chosen] for chosen in (True, False))
    loose = [i for i in loose if mechanism.speeds[i] in usual]
    u, _, possible = least_change(rows.A[None], rows.rate[None], rows.u[None], row_labels(answers), held, loose)
    if not possible[0]:
        return found
    still = np.abs(u[0]) <= SINGULAR * float(np.abs(u[0]).max(initial=0.0))
    return _undetermined_speeds(answers, rows.A, [i for i in moving if not still[i]], order)


def _undetermined_speeds(answers: Answers, A: Array, moving: list[int], order: Sequence[str]) -> tuple[str, ...]:
    """Those of the speeds in `order`, one after the other, that the rows A leave open while none but the speeds at the
    places `moving` change, and of these those found before do not."""
    mechanism, sizes, found = answers.mechanism, row_sizes(answers), list[str]()
    free, rank = moving, row_rank(A[:, moving], SINGULAR, sizes)
    for name in order:
        others = [i for i in free if i != mechanism.speeds.index(name)]
        if row_rank(A[:, others], SINGULAR, sizes) == rank:
            found.append(name)
            free = others
    return tuple(found)


class ModelRows(NamedTuple):
    """The speeds u (n,) that a model states for its start, and at its position A (m, n) and the rate (m,) of rows."""

    u: Array
    A: Array
    rate: Array


def _rows_of_the_model(answers: Answers) -> ModelRows | None:
    """The rows of the constraints where the model starts; None where that is nowhere."""
    mechanism = answers.mechanism
    q, u = given.start(mechanism, "q", None), given.start(mechanism, "u", None)
    try:
        rows = constraint_rows(answers, close_configuration(answers, q, 0.0, ()), u)
    except ModelError:
        return None
    return ModelRows(u, rows.A, rows.rate) if np.all(np.isfinite(rows.A)) and np.all(np.isfinite(rows.rate)) else None


def _explain_named_speeds(
    answers: Answers, q: Array, u: Array, t: float, speeds: Sequence[str], error: ModelError
) -> ModelError:
    """The refusal of speeds that were named and cannot all stay; the error itself where other speeds would not help."""
    mechanism = answers.mechanism
    try:
        _, near = project(answers, q, u, t=t)
    except ModelError:
        return error
    problem = error.problems[0]
    nearest = ", ".join(f"{name} {near[mechanism.speeds.index(name)]:.6g}" for name in speeds)
    return ModelError(
        Problem(
            mechanism.where("start"),
            f"the speeds {', '.join(speeds)} that were given are not possible together: {problem.what}",
            problem.because,
            f"name fewer of them, or give speeds that the constraints allow; the nearest are {nearest}",
        )
    )


def refuse_held_start(answers: Answers, q: Array, u: Array, t: float) -> None:
    """Refuse speeds at a singular position that the constraints do not allow close to it."""
    if not np.any(u) or not is_singular(answers, q, u, t):
        return

    def rows_ahead(h: float) -> RowTerms:
        there = close_configuration(answers, q + h * answers.ask("kinematics", t, None, q=q, u=u), t + h, ())
        rows = rows_at(answers, there, u, t + h)
        return RowTerms(rows.A, rows.rate, rows.phi, rows.A)

    try:
        turned = speeds_near_singularity(rows_ahead, u, row_labels(answers), general_rank(answers))
    except (InconsistentRows, ModelError):  # nothing is known close to the position: the motion itself will show
        return
    if turned is not None:
        allowed = ", ".join(
            f"{s} {x:.3g} → {y:.3g}" for s, x, y in zip(answers.mechanism.speeds, u, turned, strict=True)
        )
        raise OffBranchError(
            Problem(
                answers.mechanism.where("constraints"),
                f"constraints lose rank at this position, and close to it they do not allow these speeds: {allowed}",
                "constraints hold at all times, so that their rates vanish too",
                "give speeds that the constraints allow close to this position too, or start at a position close to it",
            )
        )


def usual_speeds(mechanism: Mechanism, u: Any) -> list[str]:
    """Speeds that the model starts with and that are meant where u says nothing else: all but zeros."""
    if u is not None and not isinstance(u, Mapping):
        return []
    return [s.name for s in mechanism.speed_records.values() if s.initial and s.name not in held_names(u)]


def held_names(*values: Any) -> list[str]:
    """The names that a start fixes: those of mappings."""
    return [str(name) for value in values if isinstance(value, Mapping) for name in cast("Mapping[Any, Any]", value)]


__all__ = ["StartChoice", "consistent_start", "held_names", "refuse_held_start", "start_choices", "usual_speeds"]
