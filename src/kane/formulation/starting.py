"""A start for a description that has none: SymPy knows no initial state, and zero may be no possible one.

Coordinates are closed from zero and, where constraints are not regular there (a linkage that lies flat, say), from
places around it; those that were given stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..constraints.metric import Array
from ..constraints.projection import InconsistentRows, RowLabels, RowTerms, project_position
from ..constraints.rank import row_rank
from ..constraints.thresholds import FIRM
from ..graph import evaluate, linear_coefficients
from ..model import Mechanism
from ..model.loads import EffortAction

_TRIES, _SEED = 24, 5
_REACH = 0.1  # how much further from zero each try starts (rad or m)


def regular_start(mechanism: Mechanism, given: Iterable[str]) -> dict[str, float] | None:
    """Where the coordinates of a mechanism start, constrained by equations alone: near the initial ones, closed and
    regular, `given` ones as they are. None if nothing closes."""
    names = list(mechanism.coordinates)
    first = np.array([c.initial for c in mechanism.coordinate_records.values()])
    held = [names.index(name) for name in given]
    rows = [row for c in mechanism.constraints.values() for row in c.rows]
    placed = [i for i, row in enumerate(rows) if row.residual is not None]
    labels = RowLabels([rows[i].label for i in placed])
    at = _numbers(mechanism)

    def terms(q: Array) -> RowTerms:
        A, T, phi = at(q)
        return RowTerms(A[placed], np.zeros(len(placed)), phi, T)

    def rank(q: Array) -> int:
        return row_rank(at(q)[0], FIRM)

    rng = np.random.default_rng(_SEED)
    most = max(rank(rng.uniform(0.2, 1.2, len(names))) for _ in range(3))
    for k in range(_TRIES):
        aside = rng.uniform(-1.0, 1.0, len(names)) * _REACH * k
        aside[held] = 0.0
        try:
            q = project_position(terms, lambda x: x, first + aside, labels, held)
        except InconsistentRows:
            continue
        if rank(q) == most:
            return dict(zip(names, q.tolist(), strict=True))
    return None


def _numbers(mechanism: Mechanism) -> Callable[[Array], tuple[Array, Array, Array]]:
    """A function of q that gives (A, T, phi) in numbers: rows over the motion variables, rates of q over them, and the
    residuals of those rows that have one."""
    variables, zero = list(mechanism.motion_variables.values()), mechanism.graph.const(0.0)
    rows = [row for c in mechanism.constraints.values() for row in c.rows]
    factors = [{a.variable: a.value for a in row.actions if isinstance(a, EffortAction)} for row in rows]
    rates = [mechanism.coordinate_rates[c.symbol] for c in mechanism.coordinate_records.values()]
    exprs = [f.get(v, zero) for f in factors for v in variables]
    exprs += [e for row in linear_coefficients(rates, variables)[0] for e in row]
    exprs += [row.residual for row in rows if row.residual is not None]
    fixed = {"t": 0.0, **{p.name: p.value for p in mechanism.parameters.values()}}
    n, cut = len(variables), len(rows) * len(variables)

    def at(q: Array) -> tuple[Array, Array, Array]:
        flat = np.array(evaluate(exprs, {**fixed, **dict(zip(mechanism.coordinates, q.tolist(), strict=True))}))
        end = cut + len(q) * n
        return flat[:cut].reshape(-1, n), flat[cut:end].reshape(-1, n), flat[end:]

    return at


__all__ = ["regular_start"]
