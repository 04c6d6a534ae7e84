"""M u̇ = f solved inside the graph, without fill-in on a tree."""

from __future__ import annotations

import numpy as np
import pytest

from kane.formulation.mass import SingularMass, in_speeds, solve
from kane.graph import Graph, evaluate
from kane.graph.graph import CONST, INPUT
from seeds import generator
from unit.formulation.numbers import Array

ROUNDING = 1e-11


def tree_matrix(seed: int, parents: list[int]) -> Array:
    """A positive definite matrix that is zero between branches: Σ over bodies of a path's outer product."""
    rng = generator(seed)
    n = len(parents)
    M = np.zeros((n, n))
    for k in range(n):
        path = np.zeros(n)
        j = k
        while j >= 0:
            path[j] = rng.normal()
            j = parents[j]
        M += np.outer(path, path)
    return M + np.eye(n) * 0.5


@pytest.mark.parametrize("parents", [[-1], [-1, 0, 1, 2], [-1, 0, 0, 1, 1, 2], [-1, -1, 0, 1]])
def test_the_solution_is_that_of_a_dense_solver(parents: list[int]) -> None:
    graph, M = Graph(), tree_matrix(1, parents)
    f = generator(2).normal(size=len(M))
    rows = [[graph.const(x) for x in row] for row in M.tolist()]
    found = evaluate(solve(rows, [graph.const(x) for x in f.tolist()], range(len(M))), {})
    assert np.allclose(found, np.linalg.solve(M, f), rtol=ROUNDING, atol=ROUNDING)


def test_branches_that_do_not_feel_each_other_cost_nothing() -> None:
    """Two equal arms side by side take twice the operations of one: there is no fill-in between them."""

    def cost(parents: list[int]) -> int:
        graph, n = Graph(), len(parents)
        nonzero = tree_matrix(3, parents) != 0
        names = [[graph.input(f"m{min(i, j)}_{max(i, j)}") for j in range(n)] for i in range(n)]
        M = [[names[i][j] if nonzero[i, j] else graph.const(0.0) for j in range(n)] for i in range(n)]
        solve(M, [graph.input(f"f{i}") for i in range(n)], range(n))
        return sum(op not in (CONST, INPUT) for op in graph.ops)

    assert cost([-1, 0, 1, -1, 3, 4]) == 2 * cost([-1, 0, 1])


def test_a_speed_that_moves_no_mass_is_named() -> None:
    graph = Graph()
    one, zero = graph.const(1.0), graph.const(0.0)
    with pytest.raises(SingularMass) as caught:
        solve([[one, zero], [zero, zero]], [one, one], [0, 1])
    assert caught.value.index == 1


def test_other_speeds_change_the_mass_matrix_by_congruence() -> None:
    graph, rng = Graph(), generator(4)
    M, W = tree_matrix(5, [-1, 0, 1]), rng.normal(size=(3, 3))
    rows = in_speeds(
        graph, [[graph.const(x) for x in r] for r in M.tolist()], [[graph.const(x) for x in r] for r in W.tolist()]
    )
    found = np.array([evaluate(row, {}) for row in rows])
    assert np.allclose(found, W.T @ M @ W, rtol=ROUNDING, atol=ROUNDING)
