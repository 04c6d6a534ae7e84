"""Laws of construction: rules preserve values, equal expressions are one node, a node rebuilds as itself."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import assume, given, settings

from kane.errors import ExpressionError
from kane.graph import Graph, evaluate
from kane.graph.graph import CONST, INPUT
from seeds import examples
from unit.graph.trees import ARITY, EVERY_OP, NAMES, POLYNOMIAL, built, meaning, trees, values

ROUNDING = 1e-9  # a dozen operations on numbers up to 1e6 in another order


def number(tree: tuple, point: dict[str, float]) -> float:
    """The value of the tree in plain Python; examples without one are passed over."""
    try:
        return meaning(tree, point)
    except ValueError:
        assume(False)
        raise


@settings(max_examples=examples(300))
@given(trees(EVERY_OP), values())
def test_construction_preserves_the_value(tree: tuple, point: dict[str, float]) -> None:
    expected = number(tree, point)
    expr = built(tree, Graph())
    assert expr is not None
    assert evaluate([expr], point)[0] == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


@settings(max_examples=examples(200))
@given(trees(EVERY_OP, leaves=20))
def test_equal_expressions_are_one_node(tree: tuple) -> None:
    graph = Graph()
    first = built(tree, graph)
    assume(first is not None)
    size = len(graph)
    assert built(tree, graph) == first
    assert len(graph) == size


def mirrored(tree: tuple) -> tuple:
    """The tree with the operands of every sum and product exchanged."""
    if tree[0] in (CONST, INPUT):
        return tree
    op, *rest = tree
    rest = [mirrored(t) for t in rest]
    return (op, *(reversed(rest) if op in ("add", "mul", "equal") else rest))


@settings(max_examples=examples(200))
@given(trees(EVERY_OP, leaves=20))
def test_commuted_operands_are_one_node(tree: tuple) -> None:
    graph = Graph()
    first = built(tree, graph)
    assume(first is not None)
    assert built(mirrored(tree), graph) == first


@settings(max_examples=examples(200))
@given(trees(EVERY_OP, leaves=25))
def test_every_node_rebuilt_from_its_arguments_is_itself(tree: tuple) -> None:
    graph = Graph()
    built(tree, graph)
    for node in range(len(graph)):
        if graph.ops[node] not in (CONST, INPUT):
            assert graph.build(graph.ops[node], *graph.args[node]) == node


@settings(max_examples=examples(200))
@given(trees(EVERY_OP, leaves=25))
def test_arguments_come_before_their_node(tree: tuple) -> None:
    graph = Graph()
    built(tree, graph)
    for node in range(len(graph)):
        if graph.ops[node] not in (CONST, INPUT):
            assert all(a < node for a in graph.args[node])


@settings(max_examples=examples(200))
@given(trees(POLYNOMIAL, leaves=25))
def test_sign_changes_never_remain_inside_sums_products_and_quotients(tree: tuple) -> None:
    graph = Graph()
    built(tree, graph)
    for node in range(len(graph)):
        if graph.ops[node] in ("add", "sub", "mul", "div", "neg"):
            assert all(graph.ops[a] != "neg" for a in graph.args[node])


IDENTITIES = {
    "x + 0 = x": lambda g, x, y: (x + 0, x),
    "0 + x = x": lambda g, x, y: (0 + x, x),
    "x - 0 = x": lambda g, x, y: (x - 0, x),
    "0 - x = -x": lambda g, x, y: (0 - x, -x),
    "x - x = 0": lambda g, x, y: (x - x, g.const(0)),
    "1 x = x": lambda g, x, y: (1 * x, x),
    "0 x = 0": lambda g, x, y: (0 * x, g.const(0)),
    "-1 x = -x": lambda g, x, y: (-1 * x, -x),
    "x / 1 = x": lambda g, x, y: (x / 1, x),
    "x / x = 1": lambda g, x, y: (x / x, g.const(1)),
    "-x / x = -1": lambda g, x, y: (-x / x, g.const(-1)),
    "0 / x = 0": lambda g, x, y: (0 / x, g.const(0)),
    "x / 4 = x 0.25": lambda g, x, y: (x / 4, x * 0.25),
    "--x = x": lambda g, x, y: (-(0 - x), x),
    "-x -y = x y": lambda g, x, y: (-x * -y, x * y),
    "-x y = -(x y)": lambda g, x, y: (-x * y, -(x * y)),
    "-x / y = -(x / y)": lambda g, x, y: (-x / y, -(x / y)),
    "x + -y = x - y": lambda g, x, y: (x + -y, x - y),
    "-x + y = y - x": lambda g, x, y: (-x + y, y - x),
    "x - -y = x + y": lambda g, x, y: (x - -y, x + y),
    "-x - y = -(x + y)": lambda g, x, y: (-x - y, -(x + y)),
    "x + -3 = x - 3": lambda g, x, y: (x + -3, x - 3),
    "x - -3 = x + 3": lambda g, x, y: (x - -3, x + 3),
    "-(x - y) = y - x": lambda g, x, y: (-(x - y), y - x),
    "2 (3 x) = 6 x": lambda g, x, y: (2 * (3 * x), 6 * x),
    "2 x + 3 x = 5 x": lambda g, x, y: (2 * x + 3 * x, 5 * x),
    "2 x - x = x": lambda g, x, y: (2 * x - x, x),
    "sin -x = -sin x": lambda g, x, y: ((-x).sin(), -(x.sin())),
    "tan -x = -tan x": lambda g, x, y: ((-x).tan(), -(x.tan())),
    "asin -x = -asin x": lambda g, x, y: ((-x).asin(), -(x.asin())),
    "cos -x = cos x": lambda g, x, y: ((-x).cos(), x.cos()),
    "sign -x = -sign x": lambda g, x, y: ((-x).sign(), -(x.sign())),
    "|-x| = |x|": lambda g, x, y: (abs(-x), abs(x)),
    "||x|| = |x|": lambda g, x, y: (abs(abs(x)), abs(x)),
    "|sqrt x| = sqrt x": lambda g, x, y: (abs(x.sqrt()), x.sqrt()),
    "min(x, x) = x": lambda g, x, y: (x.min(x), x),
    "max(x, x) = x": lambda g, x, y: (x.max(x), x),
    "select(1, x, y) = x": lambda g, x, y: (g.const(1).select(x, y), x),
    "select(0, x, y) = y": lambda g, x, y: (g.const(0).select(x, y), y),
    "select(x, y, y) = y": lambda g, x, y: (x.select(y, y), y),
    "x == x is 1": lambda g, x, y: (x.equal(x), g.const(1)),
    "x^0 = 1": lambda g, x, y: (x**0, g.const(1)),
    "x^1 = x": lambda g, x, y: (x**1, x),
    "x^2 = x x": lambda g, x, y: (x**2, x * x),
    "x^-1 = 1/x": lambda g, x, y: (x**-1, 1 / x),
    "x^0.5 = sqrt x": lambda g, x, y: (x**0.5, x.sqrt()),
    "-0 is 0": lambda g, x, y: (g.const(-0.0), g.const(0.0)),
}


@pytest.mark.parametrize("identity", IDENTITIES)
def test_both_sides_are_one_node(identity: str) -> None:
    graph = Graph()
    left, right = IDENTITIES[identity](graph, graph.input("x"), graph.input("y"))
    assert left == right


def test_inputs_of_one_name_are_one_node() -> None:
    graph = Graph()
    assert graph.input("x") == graph.input("x") != graph.input("y")


@pytest.mark.parametrize("exponent", range(-8, 9))
def test_powers_are_repeated_products(exponent: int) -> None:
    x = Graph().input("x")
    assert evaluate([x**exponent], {"x": 1.3})[0] == pytest.approx(1.3**exponent, rel=1e-14)


@pytest.mark.parametrize("exponent", [0.5, 1.5, -0.5, -2.5, 0.3, 1 / 3, -1.7, 63.5, 64.5, 70.1])
def test_powers_that_are_not_whole_are_those_of_positive_numbers(exponent: float) -> None:
    x = Graph().input("x")
    assert evaluate([x**exponent], {"x": 1.3})[0] == pytest.approx(1.3**exponent, rel=1e-13)
    assert math.isnan(evaluate([x**exponent], {"x": -1.3})[0])


def test_a_positive_power_of_zero_is_zero() -> None:
    x = Graph().input("x")
    assert evaluate([x**1.5, x**0.3], {"x": 0.0}) == [0.0, 0.0]


@pytest.mark.parametrize("exponent", [65, -65, 1001])
def test_large_whole_powers_are_those_of_numbers_of_either_sign(exponent: int) -> None:
    x = Graph().input("x")
    assert evaluate([x**exponent], {"x": -1.01})[0] == pytest.approx((-1.01) ** exponent, rel=1e-13)


@pytest.mark.parametrize("exponent", [math.inf, -math.inf, math.nan])
def test_other_powers_are_refused(exponent: float) -> None:
    with pytest.raises(ExpressionError, match="an exponent is a finite number"):
        pow(Graph().input("x"), exponent)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_constants_are_finite(value: float) -> None:
    with pytest.raises(ExpressionError, match="not a finite number"):
        Graph().const(value)


POLES = {
    "1/0": lambda g: g.const(1) / 0,
    "0/0": lambda g: g.const(0) / g.const(0),
    "x/0": lambda g: g.input("x") / 0,
    "log 0": lambda g: g.const(0).log(),
    "log -1": lambda g: g.const(-1).log(),
    "sqrt -1": lambda g: g.const(-1).sqrt(),
    "asin 2": lambda g: g.const(2).asin(),
    "exp 1000": lambda g: g.const(1000).exp(),
    "1e300 1e300": lambda g: g.const(1e300) * 1e300,
}


@pytest.mark.parametrize("pole", POLES)
def test_a_pole_among_constants_is_refused(pole: str) -> None:
    with pytest.raises(ExpressionError):
        POLES[pole](Graph())


def test_expressions_of_two_graphs_do_not_mix() -> None:
    x, y = Graph().input("x"), Graph().input("y")
    for operation in (lambda: x + y, lambda: x * y, lambda: x.atan2(y), lambda: x.select(y, y)):
        with pytest.raises(ExpressionError, match="another graph"):
            operation()


def test_an_expression_has_no_truth_value() -> None:
    with pytest.raises(ExpressionError, match="select"):
        bool(Graph().input("x"))


def test_a_missing_value_is_named() -> None:
    graph = Graph()
    with pytest.raises(ExpressionError, match="'y'"):
        evaluate([graph.input("x") + graph.input("y")], {"x": 1.0})


SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324)


@pytest.mark.parametrize("op", EVERY_OP)
def test_evaluation_follows_ieee_and_never_raises(op: str) -> None:
    graph = Graph()
    names = NAMES[: ARITY[op]]
    expr = graph.expr(graph.build(op, *(graph.input(n).id for n in names)))
    for numbers in itertools.product(SPECIAL, repeat=len(names)):
        assert isinstance(evaluate([expr], dict(zip(names, numbers, strict=True)))[0], float)
