"""Numbers in and out of the graph, for tests of algebra over it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane.formulation.inertia import Inertia
from kane.graph import Expr, Graph, evaluate
from kane.space.algebra import Matrix, Triple

Array = NDArray[np.float64]


def vector(graph: Graph, values: ArrayLike) -> Triple:
    x, y, z = (graph.const(float(v)) for v in np.asarray(values))
    return (x, y, z)


def matrix(graph: Graph, values: ArrayLike) -> Matrix:
    x, y, z = (vector(graph, row) for row in np.asarray(values))
    return (x, y, z)


def value(exprs: Iterable[Expr] | Matrix) -> Array:
    """Constants as an array: a vector, or a matrix of rows."""
    rows = list(exprs)
    if isinstance(rows[0], Expr):
        return np.array(evaluate(rows, {}))  # type: ignore[arg-type]
    return np.array([evaluate(list(row), {}) for row in rows])  # type: ignore[arg-type]


def ten(body: Inertia) -> tuple[float, Array, Array]:
    """(m, h, I) as numbers."""
    return float(value([body.m])[0]), value(body.h), value(body.I)
