"""Every tableau satisfies the order conditions that its method claims.

A rooted tree of order r gives one condition, sum_i b_i Phi_i(tree) = 1 / gamma(tree) [HNW93, II.2]; all trees up to the
claimed order are formed here from scratch.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from kane.simulate.tableaux import DOP853, RK4, RK23, RK45, TABLEAUX, Tableau

ROUNDING = 2e-12
"""Sums of up to sixteen products of entries as large as 500, in float64."""

METHODS = list(TABLEAUX.values())
NUMBER_OF_TREES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 9, 6: 20, 7: 48, 8: 115}

Tree = tuple  # of the trees that hang on its root


@functools.cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with `order` nodes, each a sorted tuple of subtrees."""
    if order == 1:
        return ((),)
    found = set()
    for parts in partitions(order - 1):
        for children in itertools.product(*(trees(p) for p in parts)):
            found.add(tuple(sorted(children)))
    return tuple(sorted(found))


def partitions(total: int, largest: int | None = None):
    largest = total if largest is None else largest
    if total == 0:
        yield ()
    for first in range(min(total, largest), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def size(tree: Tree) -> int:
    return 1 + sum(size(c) for c in tree)


def gamma(tree: Tree) -> int:
    return size(tree) * math.prod(gamma(c) for c in tree)


def weights(tree: Tree, a: np.ndarray) -> np.ndarray:
    """Phi_i of each stage i."""
    phi = np.ones(len(a))
    for child in tree:
        phi = phi * (a @ weights(child, a))
    return phi


def defect(b: np.ndarray, a: np.ndarray, order: int, s: float = 1.0) -> float:
    """The largest violation of the conditions of `order` at the fraction s of the step."""
    return max(abs(float(b @ weights(tree, a)) - s**order / gamma(tree)) for tree in trees(order))


def between_weights(tableau: Tableau, s: float) -> np.ndarray:
    """b_i(s) of the dense output, from its definition by nested factors."""
    a = np.array(tableau.a)
    unit = np.eye(len(a))
    rise = a[tableau.stages]
    bend = unit[0] - rise
    rows = [rise, bend, rise - unit[tableau.stages] - bend, *np.array(tableau.dense).reshape(-1, len(a))]
    total = np.zeros(len(a))
    factor = s
    for i, row in enumerate(rows):
        total += factor * row
        factor *= (1 - s) if i % 2 == 0 else s
    return total


def test_there_are_as_many_rooted_trees_as_cayley_counted():
    assert {r: len(trees(r)) for r in NUMBER_OF_TREES} == NUMBER_OF_TREES


@pytest.mark.parametrize("tableau", METHODS, ids=lambda t: t.name)
def test_nodes_are_the_row_sums(tableau):
    assert np.abs(np.sum(tableau.a, axis=1) - tableau.c).max() < ROUNDING


@pytest.mark.parametrize("tableau", METHODS, ids=lambda t: t.name)
def test_the_result_has_the_claimed_order_and_no_more(tableau):
    a = np.array(tableau.a)
    for order in range(1, tableau.order + 1):
        assert defect(a[tableau.stages], a, order) < ROUNDING
    if tableau.order < 8:
        assert defect(a[tableau.stages], a, tableau.order + 1) > 1e-6


@pytest.mark.parametrize("tableau", METHODS, ids=lambda t: t.name)
@pytest.mark.parametrize("s", [0.1, 0.37, 0.5, 0.9])
def test_dense_output_has_the_claimed_order_everywhere_in_the_step(tableau, s):
    a = np.array(tableau.a)
    for order in range(1, tableau.dense_order + 1):
        assert defect(between_weights(tableau, s), a, order, s) < ROUNDING


@pytest.mark.parametrize(("tableau", "orders"), [(RK23, [2]), (RK45, [4]), (DOP853, [5, 3])], ids=["23", "45", "853"])
def test_an_error_estimate_vanishes_up_to_its_order(tableau, orders):
    a = np.array(tableau.a)
    for row, order in zip(tableau.error, orders, strict=True):
        low = a[tableau.stages] - np.array(row)
        for r in range(1, order + 1):
            assert defect(low, a, r) < ROUNDING
        assert defect(low, a, order + 1) > 1e-6


def test_only_the_classical_method_has_no_error_estimate():
    assert [t.name for t in METHODS if not t.adaptive] == [RK4.name]


def test_a_tableau_that_looks_ahead_is_refused():
    with pytest.raises(ValueError, match="only stages before its own"):
        Tableau("wrong", 1, 1, ((0.0, 1.0), (1.0, 0.0)), (0.0, 1.0))
