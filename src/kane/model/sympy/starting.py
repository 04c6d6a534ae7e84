"""A start for a description that has none: SymPy knows no initial state, and zero may be no possible one.

Newton's method on the residuals of the configuration constraints, from zero and, where constraints are not regular
there (a linkage that lies flat, say), from places around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...graph import Expr, evaluate, linear_coefficients
from ..loads import Effort
from ..mechanism import Mechanism

Array = np.ndarray[Any, np.dtype[np.float64]]
_TRIES, _STEPS, _SEED = 24, 40, 5
_REACH = 0.1  # how much further from zero each try starts (rad or m)
_CLOSED = 1e-12  # m or rad
_REGULAR = 1e-4  # smallest share of the largest singular value of a regular set of rows


class Start:
    """The constraints of a mechanism in numbers, at any place."""

    def __init__(self, model: Mechanism, given: Mapping[str, float]):
        self._given = given
        self._names = list(model.coordinates)
        variables = list(model.motion_variables.values())
        zero = model.graph.const(0.0)
        rows = [row for c in model.constraints.values() for row in c.rows]
        factors = [{a.variable: a.value for a in row.actions if isinstance(a, Effort)} for row in rows]
        self._n, self._m = len(variables), len(rows)
        rates = [model.coordinate_rates[c.symbol] for c in model.coordinate_records.values()]
        T, _ = linear_coefficients(rates, variables)
        self._exprs: list[Expr] = [f.get(v, zero) for f in factors for v in variables]
        self._exprs += [e for row in T for e in row]
        self._exprs += [zero if row.residual is None else row.residual for row in rows]
        self._placed = np.array([row.residual is not None for row in rows])
        self._values = {p.name: p.value for p in model.parameters.values()}

    def found(self) -> dict[str, float] | None:
        """Coordinates on the configuration constraints, where all constraints are regular; given ones stay."""
        rng = np.random.default_rng(_SEED)
        rank = max(self._rank(self._at(rng.uniform(0.2, 1.2, len(self._names)))[0]) for _ in range(3))
        for k in range(_TRIES):
            q = self._closed(self._first(rng.uniform(-1.0, 1.0, len(self._names)) * _REACH * k))
            if q is not None and self._rank(self._at(q)[0]) == rank:
                return dict(zip(self._names, q.tolist(), strict=True))
        return None

    def _first(self, q: Array) -> Array:
        return np.array([self._given.get(name, x) for name, x in zip(self._names, q, strict=True)])

    def _at(self, q: Array) -> tuple[Array, Array, Array]:
        """(A, T, phi): rows over motion variables, rates of q over them, residuals."""
        values = {**self._values, "t": 0.0, **dict(zip(self._names, q.tolist(), strict=True))}
        flat = np.array(evaluate(self._exprs, values))
        a, b = self._m * self._n, self._m * self._n + len(q) * self._n
        return flat[:a].reshape(self._m, self._n), flat[a:b].reshape(len(q), self._n), flat[b:]

    @staticmethod
    def _rank(A: Array) -> int:
        if not np.all(np.isfinite(A)):
            return -1
        values = np.linalg.svd(A, compute_uv=False)
        return int((values > _REGULAR * values.max(initial=0.0)).sum())

    def _closed(self, q: Array) -> Array | None:
        """Newton's method; coordinates that were given are held by holding what moves them."""
        held = [i for i, name in enumerate(self._names) if name in self._given]
        for _ in range(_STEPS):
            A, T, phi = self._at(q)
            if not (np.all(np.isfinite(A)) and np.all(np.isfinite(phi))):
                return None
            if np.abs(phi).max(initial=0.0) <= _CLOSED * (1.0 + np.abs(q).max()):
                return q
            G = A[self._placed] * ~np.any(T[held] != 0.0, axis=0)
            q = q - T @ np.linalg.lstsq(G, phi[self._placed], rcond=None)[0]
        return None


def coordinates_at_start(model: Mechanism, given: Mapping[str, float]) -> dict[str, float] | None:
    """Where the coordinates of a constrained mechanism start, `given` ones as they are; None if nothing closes."""
    return Start(model, given).found()


__all__ = ["coordinates_at_start"]
