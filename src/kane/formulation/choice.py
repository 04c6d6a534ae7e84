"""Which speeds are called independent under constraints: one rule, for what is told about a model and explained.

Those by which the others are determined best where constraints are judged, by `constraints.choose_speeds`; but if these
fail in other positions, and others serve in all of them, then such. A choice serves where the determinant of the
columns of the dependent speeds keeps its sign and size. Judged by numbers, in positions all around.

Programs with the constraints embedded (`embedding`) eliminate with the pivots that are best where constraints are
judged, and simulations choose anew all the time: what they take as independent is seen in no result.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

from ..constraints.metric import Array, scale_columns
from ..constraints.rank import Choice, choose_speeds
from ..constraints.thresholds import LASTING
from ..graph import Values
from ..model.attitude import unit_quaternions
from .embedding import evaluate_matrix
from .equations import Equations

_POSITIONS = 60  # a determinant that changes its sign does so among them, but for once in 1e17 times
_TRIED = 60  # choices that are compared


def choose_independent(e: Equations) -> Choice:
    """The independent speeds of a model with constraints."""
    rows, at = e.spanning_rows, e.regular_state.best
    A = evaluate_matrix(rows.A, at)
    mass = evaluate_matrix([[e.mass_matrix[i][i] for i in range(A.shape[1])]], at)[0]
    usual = choose_speeds(A, mass, sizes=rows.sizes)
    count = len(usual.dependent)
    if not count or not usual.independent or comb(A.shape[1], count) > _TRIED:
        return usual
    scaled = scale_columns(A, mass, rows.sizes)[list(usual.rows)]
    sizes = {x: abs(float(np.linalg.det(scaled[:, x]))) for x in combinations(range(A.shape[1]), count)}
    firm = [x for x in sizes if sizes[x] >= LASTING * max(sizes.values()) and x != usual.dependent]
    positions = list(_elsewhere(e))
    for dependent in (usual.dependent, *sorted(firm, key=lambda x: -sizes[x])):
        choice = Choice(tuple(i for i in range(A.shape[1]) if i not in dependent), dependent, usual.rows)
        if _serves(choice, A, positions):
            return choice
    return usual


def serves_everywhere(e: Equations, choice: Choice) -> bool:
    """Whether the other speeds follow from the independent ones of a choice in every position."""
    return _serves(choice, evaluate_matrix(e.spanning_rows.A, e.regular_state.best), list(_elsewhere(e)))


def _serves(choice: Choice, A: Array, positions: list[Array]) -> bool:
    block = np.ix_(choice.rows, choice.dependent)
    here = float(np.linalg.det(A[block]))
    return bool(positions) and all(float(np.linalg.det(there[block])) / here >= LASTING for there in positions)


def _elsewhere(e: Equations) -> Iterator[Array]:
    """A in positions all around, closed or not, those left out in which it has no value."""
    m, rows, start = e.mechanism, e.spanning_rows, e.system.initial_state()
    rng = np.random.default_rng(0)
    q = np.array([start[name] for name in m.coordinates])
    for away in rng.uniform(-np.pi, np.pi, (_POSITIONS, len(q))):
        place = dict(zip(m.coordinates, unit_quaternions(m, q + away).tolist(), strict=True))
        with np.errstate(all="ignore"):
            A = evaluate_matrix(rows.A, Values({**start, **place}))
        if np.all(np.isfinite(A)):
            yield A


__all__ = ["choose_independent", "serves_everywhere"]
