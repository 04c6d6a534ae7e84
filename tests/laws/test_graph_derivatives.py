"""Laws of the passes: derivatives against complex steps and differences, linear forms, substitution, dependence."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kane.errors import ExpressionError
from kane.graph import (
    Expr,
    Graph,
    depends_on,
    evaluate,
    forward,
    gradient_rate,
    linear_coefficients,
    reverse,
    substitute,
    time_derivative,
)
from seeds import examples
from unit.graph.trees import EVERY_OP, NAMES, POLYNOMIAL, SMOOTH, built, meaning, trees, values

STEP = 1e-30  # of a complex step: its error is of second order, far below rounding
COMPLEX_STEP = 1e-7  # relative; both sides round at 1e-16, sums of terms up to 1e6 cancel
DIFFERENCE_STEP = 1e-4  # smaller than the distance that the trees keep from kinks
DIFFERENCES = 2e-5  # eighth-order differences at that step: rounding 1e-16/1e-4 times sizes up to 1e6 dominates
LARGE = 1e4  # results beyond this are passed over: cancellation drowns the comparison


def expression(tree: tuple, graph: Graph) -> Expr:
    expr = built(tree, graph)
    assume(expr is not None)
    assert expr is not None
    return expr


def complex_step(tree: tuple, point: dict[str, float], name: str) -> float:
    try:
        slope = meaning(tree, {**point, name: complex(point[name], STEP)}).imag / STEP
    except ValueError:
        assume(False)
        raise
    except AttributeError:
        slope = 0.0  # the formula does not contain the name
    assume(abs(slope) < LARGE)
    return slope


def difference(tree: tuple, point: dict[str, float], name: str) -> float:
    """The central difference of eighth order."""
    h = DIFFERENCE_STEP
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    try:
        slope = sum(
            w
            * (
                meaning(tree, {**point, name: point[name] + k * h})
                - meaning(tree, {**point, name: point[name] - k * h})
            )
            for k, w in weights.items()
        )
    except ValueError:
        assume(False)
        raise
    assume(abs(slope / h) < LARGE)
    return slope / h


@settings(max_examples=examples(200))
@given(trees(SMOOTH), values())
def test_forward_derivatives_agree_with_complex_steps(tree: tuple, point: dict[str, float]) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    for name in NAMES:
        expected = complex_step(tree, point, name)
        (slope,) = evaluate(forward([expr], {graph.input(name): 1.0}), point)
        assert slope == pytest.approx(expected, rel=COMPLEX_STEP, abs=COMPLEX_STEP)


@settings(max_examples=examples(200))
@given(trees(SMOOTH), values())
def test_reverse_derivatives_agree_with_complex_steps(tree: tuple, point: dict[str, float]) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    expected = [complex_step(tree, point, name) for name in NAMES]
    slopes = evaluate(reverse({expr: 1.0}, [graph.input(name) for name in NAMES]), point)
    assert slopes == pytest.approx(expected, rel=COMPLEX_STEP, abs=COMPLEX_STEP)


@settings(max_examples=examples(200))
@given(trees(tuple(op for op in EVERY_OP if op != "exp"), leaves=6), values())
def test_derivatives_away_from_kinks_agree_with_differences(tree: tuple, point: dict[str, float]) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    for name in NAMES:
        expected = difference(tree, point, name)
        (slope,) = evaluate(forward([expr], {graph.input(name): 1.0}), point)
        assume(abs(slope) < LARGE)
        curvature = evaluate(forward(forward([expr], {graph.input(name): 1.0}), {graph.input(name): 1.0}), point)
        assume(abs(curvature[0]) < LARGE)
        assert slope == pytest.approx(expected, rel=DIFFERENCES, abs=DIFFERENCES)


@settings(max_examples=examples(150))
@given(st.lists(trees(EVERY_OP, leaves=15), min_size=1, max_size=3), values(), st.data())
def test_the_reverse_sweep_is_the_transpose_of_the_forward_sweep(
    formulas: list[tuple], point: dict[str, float], data: st.DataObject
) -> None:
    graph = Graph()
    exprs = [expression(f, graph) for f in formulas]
    try:
        for f in formulas:
            meaning(f, point)
    except ValueError:
        assume(False)
    weights = data.draw(st.lists(st.floats(-2, 2), min_size=len(exprs), max_size=len(exprs)))
    adjoints: dict[Expr, float] = {}
    for e, w in zip(exprs, weights, strict=True):
        adjoints[e] = adjoints.get(e, 0.0) + w
    x = [graph.input(name) for name in NAMES]
    swept = evaluate(reverse(adjoints, x), point)
    for k, name in enumerate(NAMES):
        columns = evaluate(forward(list(adjoints), {graph.input(name): 1.0}), point)
        assume(all(abs(c) < LARGE for c in columns))
        products = [w * c for w, c in zip(adjoints.values(), columns, strict=True)]
        assert swept[k] == pytest.approx(sum(products), rel=COMPLEX_STEP, abs=COMPLEX_STEP)


@settings(max_examples=examples(100))
@given(trees(SMOOTH), values(), values())
def test_the_time_derivative_is_the_derivative_along_the_motion(
    tree: tuple, point: dict[str, float], rates: dict[str, float]
) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    moved = {name: complex(point[name], STEP * rates[name]) for name in NAMES}
    try:
        expected = complex(meaning(tree, moved)).imag / STEP
    except ValueError:
        assume(False)
        return
    assume(abs(expected) < LARGE)
    velocities = {graph.input(name): graph.input(name + "'") for name in NAMES}
    (rate,) = time_derivative([expr], dict(velocities))
    values = {**point, **{name + "'": rates[name] for name in NAMES}}
    assert evaluate([rate], values)[0] == pytest.approx(expected, rel=COMPLEX_STEP, abs=COMPLEX_STEP)


@pytest.mark.parametrize("exponent", [1.5, 2.5, -1.5, 0.3, 1.3, -0.7, 65.0, 66.0])
@pytest.mark.parametrize("x", [0.0, 0.6, 3.0])
def test_the_slope_of_a_power_is_one_power_less(exponent: float, x: float) -> None:
    """Also at 0, where the slope of √x or log x is infinite and that of x^1.5 is 0; either way, with a factor on it."""
    graph = Graph()
    power = 2.0 * graph.input("x") ** exponent
    expected = 2.0 * exponent * x ** (exponent - 1.0) if x or exponent > 1.0 else math.copysign(math.inf, exponent)
    found = [*forward([power], {graph.input("x"): 1.0}), *reverse({power: 1.0}, [graph.input("x")])]
    assert evaluate(found, {"x": x}) == pytest.approx([expected] * 2, rel=1e-14)


def test_the_second_slope_of_a_power_at_zero_is_right() -> None:
    graph = Graph()
    x = graph.input("x")
    (second,) = forward(forward([x**2.5], {x: 1.0}), {x: 1.0})
    assert evaluate([second], {"x": 0.0}) == [0.0]


def test_nodes_may_be_seeds_and_are_then_held_as_variables() -> None:
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    w = x * y
    assert evaluate(forward([w * w], {w: 1.0}), {"x": 2.0, "y": 3.0}) == [12.0]
    assert evaluate(reverse({w * w: 1.0}, [w]), {"x": 2.0, "y": 3.0}) == [12.0]


def test_the_adjoints_are_held_fixed() -> None:
    graph = Graph()
    x = graph.input("x")
    assert evaluate(reverse({x * x: x}, [x]), {"x": 3.0}) == [18.0]


def test_derivatives_of_nothing_and_with_respect_to_nothing_are_empty() -> None:
    x = Graph().input("x")
    assert forward([], {x: 1.0}) == []
    assert reverse({}, [x]) == [0.0]
    assert reverse({x: 1.0}, []) == []
    assert substitute([], {x: 1.0}) == []
    assert linear_coefficients([], [x]) == ([], [])


# linear forms

COEFFICIENT = ("x",)


def linear_trees() -> st.SearchStrategy[tuple]:
    """Formulas that are linear in y and z, with coefficients in x."""
    factor = trees(("sin", "cos", "add", "mul", "neg"), leaves=4, names=COEFFICIENT)
    leaf = st.sampled_from([("input", "y"), ("input", "z")]) | factor

    def larger(inner: st.SearchStrategy[tuple]) -> st.SearchStrategy[tuple]:
        positive = factor.map(lambda t: ("add", ("mul", t, t), ("const", 1.0)))
        return st.one_of(
            st.tuples(st.sampled_from(("add", "sub")), inner, inner),
            st.tuples(st.just("mul"), factor, inner),
            st.tuples(st.just("mul"), inner, factor),
            st.tuples(st.just("div"), inner, positive),
            st.tuples(st.just("neg"), inner),
        )

    return st.recursive(leaf, larger, max_leaves=12)


def variables(graph: Graph, others: int) -> list[Expr]:
    """y, z and others: coefficients of many variables are found in another way."""
    return [graph.input(name) for name in ("y", "z", *(f"other{k}" for k in range(others)))]


@settings(max_examples=examples(150))
@given(st.lists(linear_trees(), min_size=1, max_size=3), values(), st.sampled_from((0, 200)))
def test_a_linear_form_is_its_coefficients_times_the_variables_and_the_rest(
    formulas: list[tuple], point: dict[str, float], others: int
) -> None:
    graph = Graph()
    exprs = [expression(f, graph) for f in formulas]
    wrt = variables(graph, others)
    point = {**point, **{f"other{k}": 1.0 for k in range(others)}}
    rows, rest = linear_coefficients(exprs, wrt)
    assert not depends_on([c for row in rows for c in row] + rest, wrt)
    rebuilt = [sum((c * v for c, v in zip(row, wrt, strict=True)), b) for row, b in zip(rows, rest, strict=True)]
    assert evaluate(rebuilt, point) == pytest.approx(evaluate(exprs, point), rel=1e-9, abs=1e-9)


NONLINEAR = {
    "y*z": lambda x, y, z: y * z,
    "y*y": lambda x, y, z: y * y,
    "x/y": lambda x, y, z: x / y,
    "sin(y)": lambda x, y, z: y.sin(),
    "abs(z)": lambda x, y, z: abs(z),
    "max(x, z)": lambda x, y, z: x.max(z),
    "y < x": lambda x, y, z: y.less(x),
    "select(y, x, 1)": lambda x, y, z: y.select(x, 1.0),
}


@pytest.mark.parametrize("others", [0, 200])
@pytest.mark.parametrize("case", NONLINEAR)
def test_what_is_not_linear_is_refused_and_named(case: str, others: int) -> None:
    graph = Graph()
    x, y, z = (graph.input(name) for name in "xyz")
    with pytest.raises(ExpressionError, match=r"is not linear in \w"):
        linear_coefficients([x + NONLINEAR[case](x, y, z)], variables(graph, others))


@settings(max_examples=examples(100))
@given(trees(POLYNOMIAL), values(), st.sampled_from((0, 200)))
def test_the_rate_by_slopes_is_the_time_derivative(tree: tuple, point: dict[str, float], others: int) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    rates = {x: 0.5 * (k + 1) for k, x in enumerate([graph.input("x"), *variables(graph, others)])}
    point = {**point, **{f"other{k}": 1.0 for k in range(others)}}
    (expected,) = evaluate(time_derivative([expr], rates), point)
    assert evaluate([gradient_rate(expr, rates)], point) == [pytest.approx(expected, rel=1e-9, abs=1e-9)]


# substitution and dependence


@settings(max_examples=examples(150))
@given(trees(EVERY_OP), trees(POLYNOMIAL, leaves=4), values())
def test_substitution_is_evaluation_at_the_substituted_value(
    tree: tuple, inner: tuple, point: dict[str, float]
) -> None:
    graph = Graph()
    expr, replacement = expression(tree, graph), expression(inner, graph)
    try:
        expected = meaning(tree, {**point, "x": meaning(inner, point)})
        (substituted,) = substitute([expr], {graph.input("x"): replacement})
    except (ValueError, ExpressionError):
        assume(False)
        return
    assert evaluate([substituted], point)[0] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@settings(max_examples=examples(100))
@given(trees(EVERY_OP, leaves=20))
def test_substituting_a_thing_by_itself_changes_nothing(tree: tuple) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    x = graph.input("x")
    assert substitute([expr], {x: x}) == [expr]


def test_whole_nodes_are_substituted() -> None:
    graph = Graph()
    x, y, z = (graph.input(name) for name in "xyz")
    assert substitute([(x + y).sin() + y], {x + y: z}) == [z.sin() + y]


@settings(max_examples=examples(100))
@given(trees(EVERY_OP, leaves=20), values(), st.floats(-1, 1))
def test_a_value_does_not_change_with_inputs_it_does_not_depend_on(
    tree: tuple, point: dict[str, float], other: float
) -> None:
    graph = Graph()
    expr = expression(tree, graph)
    x = graph.input("x")
    if not depends_on([expr], [x]):
        assert repr(evaluate([expr], point)) == repr(evaluate([expr], {**point, "x": other}))
        assert forward([expr], {x: 1.0}) == [0.0]
