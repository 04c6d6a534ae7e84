"""Rank of constraint rows, choice of independent speeds, and the motions that rows leave free.

Dependent speeds are chosen by pivoted orthogonalization, each speed measured by the mass it moves, and so are the rows
that determine them where some are redundant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .metric import Array, drop_rounding, scale_columns, unit_lengths
from .thresholds import REDUNDANT


@dataclass(frozen=True, slots=True)
class Choice:
    """Indices of independent and dependent speeds, and of the rows that determine the dependent ones."""

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]


def choose_speeds(A: Array, mass: Array, within: float = REDUNDANT, sizes: Array | None = None) -> Choice:
    """The choice for the constraint matrix A (m, n); `mass` (n,) is the diagonal of M, `sizes` (m,) are those of the
    rows without cancellation (see `metric`)."""
    scaled = scale_columns(A, mass, sizes)
    dependent = sorted(pivot_columns(scaled, within))
    independent = tuple(i for i in range(A.shape[1]) if i not in dependent)
    return Choice(independent, tuple(dependent), tuple(sorted(pivot_columns(scaled[:, dependent].T, within))))


def pivot_columns(A: Array, within: float = REDUNDANT) -> list[int]:
    """Columns that span all others, the longest first, each longest across those before: pivoted orthogonalization."""
    rest, found, first = A.copy(), [], 0.0
    for _ in range(min(A.shape)):
        squares = (rest**2).sum(axis=0)
        k = int(np.argmax(squares))
        length = float(np.sqrt(squares[k]))
        first = first or length
        if not length > within * first:
            break
        e = rest[:, k] / length
        rest -= np.outer(e, e @ rest)
        rest[:, k] = 0.0
        found.append(k)
    return found


def row_rank(A: Array, within: float = REDUNDANT, sizes: Array | None = None) -> int:
    """How many rows of A (m, n) are independent, all speeds counting alike; −1 where some have no value."""
    if not np.all(np.isfinite(A)):
        return -1
    return len(pivot_columns(scale_columns(A, np.ones(A.shape[1]), sizes), within))


def have_rank(A: Array, rank: int, within: float, sizes: Array | None = None) -> Any:
    """Where `row_rank` of rows A (k, m, n) is at least `rank` beyond doubt, (k,) of bool: no pivot is near the share
    `within` at which it counts as zero."""
    rest = scale_columns(A, np.ones(A.shape[2]), sizes)
    every, first, count = np.arange(len(A)), np.zeros(len(A)), np.zeros(len(A), dtype=np.int64)
    clear = np.all(np.isfinite(A), axis=(1, 2))
    with np.errstate(all="ignore"):
        for k in range(min(A.shape[1:])):
            squares = (rest**2).sum(axis=1)
            column = np.argmax(squares, axis=1)
            length = np.sqrt(squares[every, column])
            first = length if k == 0 else first
            share = np.where(first > 0.0, length / first, 0.0)
            clear &= (share > 2.0 * within) | (share < 0.5 * within)
            count += share > within
            e = rest[every, :, column] / length[:, None]
            rest -= e[:, :, None] * (e[:, None, :] @ rest)
            rest[every, :, column] = 0.0
            rest[~(share > within)] = 0.0
    return clear & (count >= rank)


def null_space(A: Array, within: float = REDUNDANT, sizes: Array | None = None) -> Array:
    """N (n, n − rank): an orthonormal basis of the speeds that rows A (m, n) allow, A N = 0."""
    _, values, right = np.linalg.svd(drop_rounding(A, sizes) / unit_lengths(A, sizes)[:, None])
    return right[count_above(values, within) :].T


def count_above(values: Array, within: float = REDUNDANT) -> int:
    """How many singular values are more than a share `within` of the largest."""
    return int(np.sum(values > within * values.max(initial=0.0)))


def part_along_free_motion(A: Array, efforts: Array, sizes: Array | None = None) -> Array:
    """What of efforts (n,) no reaction Aᵀλ can give: their part along the motions that the rows A (m, n) allow."""
    rows = drop_rounding(A, sizes) / unit_lengths(A, sizes)[:, None]
    return efforts - rows.T @ np.linalg.lstsq(rows.T, efforts, rcond=REDUNDANT)[0]


@dataclass(frozen=True, slots=True)
class Elimination:
    """Rows G x = right solved for their dependent unknowns: x = N x_I + what `particular_solution` gives."""

    choice: Choice
    G: Array
    N: Array

    @staticmethod
    def of(G: Array, mass: Array, keep: Sequence[int] = (), sizes: Array | None = None) -> Elimination | None:
        """Unknowns `keep` are independent, others as the rows determine them best; None where `keep` cannot be."""
        n = G.shape[1]
        scaled = scale_columns(G, mass, sizes) if len(G) else G
        dependent = sorted(pivot_columns(scaled)) if len(G) else []
        rank = len(dependent)
        if not set(keep).isdisjoint(dependent):
            others = [i for i in range(n) if i not in set(keep)]
            dependent = sorted(others[k] for k in pivot_columns(scaled[:, others])) if others else []
        if len(dependent) < rank:
            return None
        rows = tuple(sorted(pivot_columns(scaled[:, dependent].T))) if rank else ()
        independent = tuple(i for i in range(n) if i not in set(dependent))
        solved = Elimination(Choice(independent, tuple(dependent), rows), G, np.zeros((n, 0)))
        N = solved.particular_solution(-G[:, list(independent)])
        N[list(independent), range(len(independent))] = 1.0
        return replace(solved, N=N)

    def condition(self, mass: Array) -> float:
        """Of the rows that determine the dependent unknowns, measured by mass; large too where a row is short."""
        if not self.choice.dependent:
            return 1.0
        return float(np.linalg.cond(scale_columns(self.G, mass)[np.ix_(self.choice.rows, self.choice.dependent)]))

    def particular_solution(self, right: Array) -> Array:
        """x with G x = right whose independent part is zero; right (m, k), x (n, k)."""
        x = np.zeros((self.G.shape[1], right.shape[1]))
        d, rows = list(self.choice.dependent), list(self.choice.rows)
        if d:
            x[d] = np.linalg.solve(self.G[np.ix_(rows, d)], right[rows])
        return x


__all__ = [
    "Choice",
    "Elimination",
    "choose_speeds",
    "count_above",
    "have_rank",
    "null_space",
    "part_along_free_motion",
    "pivot_columns",
    "row_rank",
]
