"""Sums of products: what cancels with a sum that it is divided by."""

from __future__ import annotations

from kane.explain.algebra import Sum, Symbol, add, function_sum, symbol_sum

A, B, C = (symbol_sum(Symbol(name)) for name in "abc")
BELOW = A * A + B * B


def test_multiples_of_a_sum_divided_by_it_are_without_it() -> None:
    """c (a² + b²)/(a² + b²) = c, also beside other terms, and of a square root one root is left."""
    assert BELOW.inverse() * BELOW * C == C
    assert add([A * A * C * BELOW.inverse(), A, B * B * C * BELOW.inverse()]) == A + C
    root = function_sum("sqrt", (BELOW,))
    assert root.inverse() * BELOW * C == root * C
    assert root.inverse() * root.inverse() * BELOW == C * C.inverse()


def test_what_is_no_multiple_of_a_sum_stays_divided_by_it() -> None:
    unlike: Sum = (A * A + B * B + B * B) * BELOW.inverse()
    assert len(unlike.terms) == 2 and unlike != Sum(())
