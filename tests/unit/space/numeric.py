"""Numbers of expressions, and rates by central differences: the yardsticks of the tests of space and joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kane.graph import Expr, evaluate
from kane.space.algebra import Matrix, Triple

Array = NDArray[np.float64]

STEP = 1e-5
DIFFERENCE = 1e-8  # central differences with that step lose about half the digits of quantities of size 1


def vector(xyz: Triple | Sequence[Expr], values: Mapping[str, float]) -> Array:
    """Components as numbers."""
    return np.array(evaluate(list(xyz), values))


def matrix(rows: Matrix, values: Mapping[str, float]) -> Array:
    """(3, 3) numbers of a matrix of expressions."""
    return np.array(evaluate([e for row in rows for e in row], values)).reshape(3, 3)


def rate(function: Callable[[float], Array], t: float = 0.0) -> Array:
    """d/dt of an array by central differences."""
    return (function(t + STEP) - function(t - STEP)) / (2 * STEP)


def axial(R: Array, R_rate: Array) -> Array:
    """ω of C in P, in C, from R_PC and its rate: Rᵀ Ṙ is the cross-product matrix of ω."""
    W = R.T @ R_rate
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
