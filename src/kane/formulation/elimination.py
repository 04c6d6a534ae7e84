"""Linear systems solved inside the program: A x = columns, for a square A of expressions.

Pivots are chosen by their values at one state, numbers first: what is eliminated with them costs no division. What
cannot vanish there may vanish elsewhere; the pivots are returned, so that whoever runs the program can look.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints.thresholds import REDUNDANT
from ..graph import Expr, Values

Rows = list[list[Expr]]
_GOOD = 0.3  # share of the largest entry of its row that makes a good pivot


def solve_columns(A: Sequence[Sequence[Expr]], columns: Rows, at: Values) -> tuple[Rows, list[Expr]]:
    """(X, pivots): X[i][k] is unknown i for right-hand side k, where columns[i][k] is entry i of that side."""
    n = len(A)
    rows, right = [list(r) for r in A], [list(r) for r in columns]
    open_rows, open_columns = list(range(n)), list(range(n))
    steps: list[tuple[int, int, list[int]]] = []
    while open_rows:
        i, j = _pivot(rows, open_rows, open_columns, at)
        open_rows.remove(i)
        open_columns.remove(j)
        for k in open_rows:
            if not rows[k][j].is_zero:
                factor = rows[k][j] / rows[i][j]
                for c in open_columns:
                    if not rows[i][c].is_zero:
                        rows[k][c] = rows[k][c] - factor * rows[i][c]
                right[k] = [x if y.is_zero else x - factor * y for x, y in zip(right[k], right[i], strict=True)]
        steps.append((i, j, list(open_columns)))
    X: Rows = [[] for _ in range(n)]
    for i, j, later in reversed(steps):
        inverse = 1.0 / rows[i][j]
        known = [c for c in later if not rows[i][c].is_zero]
        for k, rest in enumerate(right[i]):
            for c in known:
                rest = rest - rows[i][c] * X[c][k]
            X[j].append(rest * inverse)
    return X, [rows[i][j] for i, j, _ in steps if rows[i][j].number is None]


def _pivot(rows: Rows, open_rows: Sequence[int], open_columns: Sequence[int], at: Values) -> tuple[int, int]:
    """Row and column of the next pivot: a number in the emptiest row, or else the largest entry of its row."""
    entries = [(i, j) for i in open_rows for j in open_columns if not rows[i][j].is_zero]
    numbers = [(i, j) for i, j in entries if abs(rows[i][j].number or 0.0) > REDUNDANT]
    if numbers:
        return min(numbers, key=lambda ij: _fill_in(rows, *ij, open_rows, open_columns))
    values = dict(zip(entries, at([rows[i][j] for i, j in entries]), strict=True))
    largest = {i: max((abs(values[i, j]) for j in open_columns if (i, j) in values), default=0.0) for i in open_rows}
    good = [(i, j) for i, j in entries if abs(values[i, j]) > _GOOD * largest[i]]
    return min(good, key=lambda ij: (_fill_in(rows, *ij, open_rows, open_columns), -abs(values[ij])))


def _fill_in(rows: Rows, i: int, j: int, open_rows: Sequence[int], open_columns: Sequence[int]) -> int:
    """How many entries elimination with this pivot fills at most (Markowitz)."""
    across = sum(not rows[i][c].is_zero for c in open_columns) - 1
    down = sum(not rows[k][j].is_zero for k in open_rows) - 1
    return across * down


__all__ = ["solve_columns"]
