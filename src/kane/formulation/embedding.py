"""Constraints embedded at formulation: dependent speeds eliminated, u̇ = N u̇_I + N0 [GIL03, Eqs. 44-45].

Dependent speeds are chosen by the constraints at the model's initial state, or near it where that is singular or not
closed (`regular`), by `constraints.choose_speeds`. The forces of dependent speeds are recombined with those of
independent ones: (NᵀM N) u̇_I = Nᵀ(f − M N0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..constraints.rank import Choice
from ..graph import Expr, Graph, Values
from .constraints import Constraints
from .elimination import solve_columns

Rows = list[list[Expr]]


def evaluate_matrix(rows: Sequence[Sequence[Expr]], at: Values) -> np.ndarray:
    """A matrix of expressions in numbers."""
    return np.array(at([e for row in rows for e in row]), dtype=float).reshape(len(rows), -1)


@dataclass(frozen=True, slots=True)
class Embedded:
    """u̇_D = D u̇_I + E, D[d][i] over the indices of the choice, and the pivots, as shares of what they were where the
    choice was made: none may vanish."""

    choice: Choice
    D: Rows
    E: list[Expr]
    shrunk: list[Expr]

    @staticmethod
    def of(rows: Constraints, choice: Choice, at: Values) -> Embedded:
        A_D = [[rows.A[r][d] for d in choice.dependent] for r in choice.rows]
        right = [[*(-rows.A[r][i] for i in choice.independent), rows.b[r]] for r in choice.rows]
        X, pivots = solve_columns(A_D, right, at)
        shrunk = [p * (1.0 / value) for p, value in zip(pivots, at(pivots), strict=True)]
        graph = rows.rate[0].graph
        return Embedded(choice, [x[:-1] for x in X], [x[-1] for x in X], shrunk or [graph.const(1.0)])

    def recombine(self, f: Sequence[Expr]) -> list[Expr]:
        """Nᵀ f: what acts along the independent speeds, the dependent ones having their share."""
        out = []
        for k, i in enumerate(self.choice.independent):
            total = f[i]
            for a, d in enumerate(self.choice.dependent):
                total = total + self.D[a][k] * f[d]
            out.append(total)
        return out

    def mass_matrix(self, M: Rows) -> tuple[Rows, Rows]:
        """(NᵀM N, NᵀM): over the independent speeds, and mixed."""
        mixed = [list(row) for row in zip(*(self.recombine(column) for column in zip(*M, strict=True)), strict=True)]
        p = len(self.choice.independent)
        reduced: Rows = [[mixed[0][0]] * p for _ in range(p)]
        for k in range(p):
            for j in range(k + 1):
                total = mixed[k][self.choice.independent[j]]
                for a, d in enumerate(self.choice.dependent):
                    total = total + mixed[k][d] * self.D[a][j]
                reduced[k][j] = reduced[j][k] = total
        return reduced, mixed

    def forces(self, f: Sequence[Expr], mixed: Rows) -> list[Expr]:
        """Nᵀ(f − M N0)."""
        out = self.recombine(f)
        for a, d in enumerate(self.choice.dependent):
            out = [x if self.E[a].is_zero else x - row[d] * self.E[a] for x, row in zip(out, mixed, strict=True)]
        return out

    def all_speeds(self, independent: Sequence[Expr], graph: Graph) -> list[Expr]:
        """u̇ of all speeds, in their order."""
        n = len(self.choice.independent) + len(self.choice.dependent)
        out = [graph.const(0.0)] * n
        for k, i in enumerate(self.choice.independent):
            out[i] = independent[k]
        for a, d in enumerate(self.choice.dependent):
            total = self.E[a]
            for k, x in enumerate(independent):
                total = total + self.D[a][k] * x
            out[d] = total
        return out


__all__ = ["Embedded", "evaluate_matrix"]
