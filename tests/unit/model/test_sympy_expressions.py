"""SymPy expressions in the graph: the same numbers as SymPy's own evaluation, and what is unknown is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.errors import ExpressionError
from kane.graph import Expr, Graph, evaluate
from kane.model.sympy.expressions import Translator, functions

ROUNDING = 1e-13  # relative, of a few operations
sp: Any = sympy  # its own annotations say less than is so
x, y = sp.symbols("x y", real=True)


def value(expression: Any, at: dict[str, float]) -> float:
    """The number that the translated expression takes."""
    graph = Graph()

    def leaf(e: Any) -> Expr:
        return graph.input(str(e))

    return evaluate([Translator(graph, leaf)(expression)], at)[0]


def agrees(expression: Any, at: dict[str, float]) -> bool:
    expected = complex(expression.subs({x: at["x"], y: at["y"]}).evalf(30))
    assert expected.imag == 0
    return math.isclose(value(expression, at), expected.real, rel_tol=ROUNDING, abs_tol=ROUNDING)


@pytest.mark.parametrize("function", [f for f in functions() if issubclass(f, sp.Function)], ids=lambda f: f.__name__)
@pytest.mark.parametrize("at", [{"x": 0.3, "y": 0.8}, {"x": 0.9, "y": -0.4}])
def test_every_function_has_the_value_of_sympy(function: Callable[..., Any], at: dict[str, float]) -> None:
    two = function in (sp.atan2, sp.Min, sp.Max)
    assert agrees(function(x, y) if two else function(x), at)


@pytest.mark.parametrize(
    "expression",
    [
        sp.Rational(1, 3) * x - sp.pi * y / 7 + sp.E,
        x**3 / y**2,
        x ** sp.Rational(5, 2),
        x ** sp.Rational(-1, 2) * y,
        1 / sp.sqrt(x),
        x ** sp.Rational(1, 3),
        x ** sp.Float(1.7),
        x**y,
        sp.exp(x * y) + sp.log(x, 2),
        sp.sqrt(2) * x + sp.GoldenRatio,
        sp.Piecewise((x, y > 1), (y**2, sp.And(y < 0, x >= 0.2)), (sp.sin(x), sp.Or(sp.Ne(x, y), y <= 0)), (7, True)),
        sp.Piecewise((1, sp.Not(sp.Eq(x, 0.3))), (2, True)),
        sp.Heaviside(y - 0.5) * x,
        x**80,
        sp.S.Zero,
    ],
    ids=str,
)
@pytest.mark.parametrize("at", [{"x": 0.3, "y": 0.8}, {"x": 0.9, "y": -0.4}, {"x": 0.3, "y": 2.1}])
def test_expressions_have_the_value_of_sympy(expression: Any, at: dict[str, float]) -> None:
    assert agrees(expression, at)


def trees() -> st.SearchStrategy[Any]:
    """Random expressions in x and y that are finite for positive values."""
    leaves = st.sampled_from([x, y, sp.Integer(2), sp.Rational(3, 4), sp.pi])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
            st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
            st.tuples(inner, inner).map(lambda p: p[0] / (1 + p[1] ** 2)),
            inner.map(sp.sin),
            inner.map(sp.cos),
            inner.map(lambda e: sp.sqrt(1 + e**2)),
        ),
        max_leaves=12,
    )


@settings(max_examples=40, deadline=None)
@given(trees(), st.floats(0.1, 1.5), st.floats(0.1, 1.5))
def test_random_expressions_have_the_value_of_sympy(expression: Any, a: float, b: float) -> None:
    expected = float(expression.subs({x: a, y: b}).evalf(30))
    found = value(expression, {"x": a, "y": b})
    assert math.isclose(found, expected, rel_tol=1e-10, abs_tol=1e-10 * (1.0 + abs(expected)))


def test_long_sums_do_not_recurse() -> None:
    nested = x
    for _ in range(2000):
        nested = sp.Add(1, sp.Mul(y, nested, evaluate=False), evaluate=False)
    assert math.isfinite(value(nested, {"x": 0.3, "y": 0.5}))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sp.besselj(0, x), "'besselj' in besselj"),
        (sp.Integral(sp.sin(x) / x, (x, 0, y)), "'Integral'"),
        (sp.Piecewise((x, x > 0)), "no value elsewhere"),
        (sp.oo, "not a finite number"),
        (sp.I * x, "'ImaginaryUnit'"),
        (sp.zoo, "not a finite number|'ComplexInfinity'"),
    ],
    ids=str,
)
def test_what_the_graph_cannot_say_is_refused_by_name(expression: Any, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        value(expression, {"x": 0.3, "y": 0.5})


def test_text_is_not_an_expression() -> None:
    with pytest.raises(sp.SympifyError):
        value("x + 1", {"x": 0.3, "y": 0.5})
