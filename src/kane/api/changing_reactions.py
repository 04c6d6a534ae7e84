"""Reactions of joints and constraints along a motion under constraints that come and go, each in the mode of its time.

Accelerations and multipliers of all rows are those of the mode; the twin in which every row holds has the programs that
make wrenches of them. Rows that do not hold have λ = 0 there, and rows along which something slips have its friction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints.multipliers import Balance, multipliers_by_singular_values
from ..errors import InputError
from .constrained import row_sizes
from .mode_answers import sample_modes
from .reactions import METHODS, Reactions, StateBatch, reactions_from_multipliers
from .records import Array

if TYPE_CHECKING:
    from .answers import Answers
    from .trajectory import Trajectory

OPTIONS = ("frame", "on", "method")


def reactions_in_modes(run: Trajectory, **options: Any) -> Reactions:
    """Reactions along a motion, with what `OPTIONS` say as for `Model.reactions`."""
    for name in options:
        if name not in OPTIONS:
            raise InputError(
                f"{name}: under constraints that come and go reactions are those of the mode at each time, and take"
                f" {', '.join(OPTIONS)} alone\n    fix: leave {name} out"
            )
    answers = run.answers
    whole = answers.all_rows_held()
    states = StateBatch(run.t[:, None], run.q, run.u, run.tau, run.acceleration(), False)
    multipliers = run.multipliers

    def loose(A: Array, mass: Array) -> Array:
        return _undetermined_directions(whole, _unknowns(run, multipliers), A, mass)

    return reactions_from_multipliers(
        whole,
        states,
        loose,
        multipliers,
        frame=options.get("frame", "N"),
        on=options.get("on", "child"),
        method=options.get("method", METHODS[0]),
    )


def _unknowns(run: Trajectory, multipliers: Array) -> list[Array]:
    """For each time the reactions that its mode leaves to be found, (unknowns, rows): a row that holds has one; what
    slips has one for its normal, with which its friction goes along."""
    mechanism = run.answers.mechanism
    permanent = len(mechanism.row_names)
    found: list[Array] = []
    for i, mode in enumerate(x.mode for x in sample_modes(run)):
        directions = [*np.eye(permanent, multipliers.shape[1])]
        first = permanent
        for part in mechanism.changing.values():
            rows = slice(first, first + len(part.rows))
            first = rows.stop
            if mode[part.name] == "sticks":
                directions += [*np.eye(multipliers.shape[1])[rows]]
            elif mode[part.name] == "slips" and part.type == "contact":
                direction = np.zeros(multipliers.shape[1])
                normal = multipliers[i, rows.start]
                direction[rows] = multipliers[i, rows] / normal if normal > 0.0 else 0.0
                direction[rows.start] = 1.0
                directions.append(direction)
        found.append(np.array(directions).reshape(-1, multipliers.shape[1]))
    return found


def _undetermined_directions(whole: Answers, unknowns: list[Array], A: Array, mass: Array) -> Array:
    """Directions (k, rows, …) of λ along which nothing is determined: those of the unknowns that move nothing."""
    found: list[Array] = []
    sizes = row_sizes(whole)
    for i, of in enumerate(unknowns):
        if not len(of):
            found.append(np.zeros((A.shape[1], 0)))
            continue
        balance = Balance((of @ A[i])[None], np.zeros((1, A.shape[2])), mass[i : i + 1], sizes=np.abs(of) @ sizes)
        null = multipliers_by_singular_values(balance).null[0]
        found.append(of.T @ null[:, null.any(axis=0)])
    widest = max((x.shape[1] for x in found), default=0)
    return np.stack([np.pad(x, ((0, 0), (0, widest - x.shape[1]))) for x in found])


__all__ = ["reactions_in_modes"]
