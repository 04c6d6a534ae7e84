"""A state at which constraints are as independent as they ever are: where the choice of speeds is made.

The initial state need not be closed and may be singular. Judged there, rows that are needed would count as redundant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..constraints.metric import Array
from ..constraints.projection import InconsistentRows, RowLabels, RowTerms, project_position
from ..constraints.rank import row_rank
from ..constraints.thresholds import CLOSED, ROUNDING
from ..errors import ModelError, Problem
from ..graph import Values
from ..model.attitude import unit_quaternions
from .constraints import Constraints, displacements
from .embedding import evaluate_matrix
from .system import System

_TRIES, _AWAY = 3, 0.1  # states near the start that are looked at, and how far (rad, m)


@dataclass(frozen=True, slots=True)
class Regular:
    """Values for all inputs at the state at which constraints are judged, and at all closed ones looked at."""

    best: Values
    seen: tuple[Values, ...]


def regular_state(system: System, rows: Constraints) -> Regular:
    """Values for all inputs: the initial state where it is closed and no row is redundant there, else the best of a few
    closed ones near it, that at which the rank of the rows is largest."""
    start = system.initial_state()
    q = np.array([start[c] for c in system.mechanism.coordinates])
    numbers = Values(start)
    residual = max((abs(x) for x in numbers(rows.phi)), default=0.0)
    if residual <= CLOSED * (1.0 + float(np.abs(q).max(initial=0.0))) and rank(rows, numbers) == len(rows):
        return Regular(numbers, (numbers,))
    T = displacements(system)
    placed = list(rows.placed)
    labels = RowLabels(rows.names, sizes=rows.sizes).select(placed)

    def values(at: Array) -> dict[str, float]:
        return {**start, **dict(zip(system.mechanism.coordinates, at.tolist(), strict=True))}

    def terms(at: Array) -> RowTerms:
        here = Values(values(at))
        phi = np.array(here([rows.phi[r] for r in placed]))
        G = evaluate_matrix([rows.A[r] for r in placed], here)
        return RowTerms(G, np.zeros(len(placed)), phi, evaluate_matrix(T, here))

    unit = partial(unit_quaternions, system.mechanism)
    best, most = numbers, -1
    seen: list[Values] = []
    rng = np.random.default_rng(0)
    for k in range(_TRIES + 1):
        guess = unit(q if k == 0 else q + rng.normal(0.0, _AWAY, len(q)))
        try:
            there = project_position(terms, unit, guess, labels, ()) if placed else guess
        except InconsistentRows:
            continue
        found = Values(values(there))
        here = rank(rows, found)
        seen.append(found)
        if here > most:
            best, most = found, here
        if here == len(rows):
            break
    if not np.all(np.isfinite(evaluate_matrix(rows.A, best))):
        raise ModelError(_without_value(system, rows, best))
    return Regular(best, tuple(seen))


def _without_value(system: System, rows: Constraints, at: Values) -> Problem:
    bad = [n for n, r in zip(rows.names, evaluate_matrix(rows.A, at), strict=True) if not np.all(np.isfinite(r))]
    return Problem(
        system.mechanism.where("constraints"),
        f"{', '.join(repr(n) for n in bad)} have no finite value in the initial state, nor near it",
        "which speeds depend on which is chosen there",
        "give an initial state at which the constraints have a meaning (initial: in a file, set_initial in Python)",
    )


def find_idle_rows(rows: Constraints, at: Regular) -> np.ndarray:
    """Which rows (m,) vanish but for rounding errors in all states that were looked at, if these are more than one:
    every motion of the mechanism satisfies them."""
    if len(at.seen) < 2:
        return np.zeros(len(rows), dtype=bool)
    lengths = np.array([np.linalg.norm(evaluate_matrix(rows.A, values), axis=1) for values in at.seen])
    return np.all(lengths <= ROUNDING * rows.sizes, axis=0)


def rank(rows: Constraints, at: Values) -> int:
    """How many rows are independent in a state."""
    return row_rank(evaluate_matrix(rows.A, at), sizes=rows.sizes)


__all__ = ["Regular", "find_idle_rows", "rank", "regular_state"]
