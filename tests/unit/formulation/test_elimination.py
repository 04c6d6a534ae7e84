"""Linear systems solved inside the program, and the choice of independent speeds, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from kane.constraints.rank import choose_speeds
from kane.formulation.elimination import solve_columns
from kane.graph import Graph, Values, evaluate
from seeds import generator


def _system(n: int, sides: int, filled: float, seed: int):
    """Expressions a_ij x + b_ij with some entries zero and some plain numbers, and the same in numbers."""
    rng = generator(seed)
    graph = Graph()
    x = graph.input("x")
    slope, rest = rng.normal(size=(2, n, n + sides))
    slope[rng.random((n, n + sides)) > filled] = 0.0
    rest[(rng.random((n, n + sides)) > filled) & (slope == 0.0)] = 0.0
    rest[:, :n] += 3.0 * np.eye(n)[rng.permutation(n)]
    whole = [[float(a) * x + float(b) for a, b in zip(r, s, strict=True)] for r, s in zip(slope, rest, strict=True)]
    return [row[:n] for row in whole], [row[n:] for row in whole], slope * 0.7 + rest


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("filled", [0.2, 0.6, 1.0])
def test_solutions_solve(n: int, filled: float) -> None:
    A, columns, numbers = _system(n, 2, filled, seed=17 * n)
    X, pivots = solve_columns(A, columns, Values({"x": 0.7}))
    found = np.array(evaluate([e for row in X for e in row], {"x": 0.7})).reshape(n, 2)
    assert found == pytest.approx(np.linalg.solve(numbers[:, :n], numbers[:, n:]), rel=1e-9, abs=1e-11)
    assert all(abs(p) > 0.0 for p in evaluate(pivots, {"x": 0.7}))


@pytest.mark.parametrize("seed", range(5))
def test_choice_spans_all_rows(seed: int) -> None:
    """Dependent speeds can be solved for, and rows that are combinations of others are left out."""
    rng = generator(seed)
    A = rng.normal(size=(3, 7))
    doubled = np.vstack([A, 2.0 * A[:1] - A[2:], np.zeros((1, 7))])[rng.permutation(5)]
    choice = choose_speeds(doubled, rng.uniform(0.1, 10.0, 7))
    assert len(choice.dependent) == len(choice.rows) == 3
    assert sorted(choice.dependent + choice.independent) == list(range(7))
    assert np.linalg.cond(doubled[np.ix_(choice.rows, choice.dependent)]) < 1e3


def test_choice_without_rows() -> None:
    choice = choose_speeds(np.zeros((0, 3)), np.ones(3))
    assert choice.independent == (0, 1, 2)
    assert choice.dependent == choice.rows == ()
