"""Linear equations with coefficients in the graph, solved for some of their unknowns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...graph import Expr

Rows = list[list[Expr]]


def solve_rows(
    rows: Rows, sides: Rows, size: Callable[[Expr], float] | None = None
) -> list[tuple[int, list[Expr]]] | None:
    """[(j, x_j)]: the solution of rows · x + sides = 0 for one unknown x_j per row.

    `sides` are the coefficients of what stays, a row each; so are the x_j, followed by those of the unknowns that are
    not solved for. Gauss–Jordan elimination with pivots that are numbers; with `size`, which says how large an
    expression is in a generic state, with any that are not zero there. None where such pivots do not suffice.
    """
    a, b = [list(r) for r in rows], [list(r) for r in sides]
    pivots: dict[int, int] = {}
    for _ in a:
        found = _pivot(a, [i for i in range(len(a)) if i not in pivots], set(pivots.values()), size)
        if found is None:
            return None
        i, j = found
        pivots[i] = j
        scale = a[i][j]
        a[i] = [e / scale for e in a[i]]
        b[i] = [e / scale for e in b[i]]
        for k in range(len(a)):
            factor = a[k][j]
            if k != i and not factor.is_zero:
                a[k] = [x - factor * y for x, y in zip(a[k], a[i], strict=True)]
                b[k] = [x - factor * y for x, y in zip(b[k], b[i], strict=True)]
    free = [j for j in range(len(rows[0]) if rows else 0) if j not in pivots.values()]
    return [(j, [-e for e in (*b[i], *(a[i][f] for f in free))]) for i, j in pivots.items()]


def _pivot(
    a: Rows, open_rows: Sequence[int], taken: set[int], size: Callable[[Expr], float] | None
) -> tuple[int, int] | None:
    """(row, column) of the number in the emptiest row; without any, of the largest expression."""
    places = [(i, j) for i in open_rows for j in range(len(a[i])) if j not in taken and not a[i][j].is_zero]
    numbers = [(i, j) for i, j in places if a[i][j].number is not None]
    if numbers:
        return min(numbers, key=lambda ij: sum(not e.is_zero for e in a[ij[0]]))
    if size is None or not places:
        return None
    best = max(places, key=lambda ij: size(a[ij[0]][ij[1]]))
    return best if size(a[best[0]][best[1]]) > 0 else None


__all__ = ["solve_rows"]
