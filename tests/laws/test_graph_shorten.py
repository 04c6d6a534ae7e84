"""Laws of `shorten`: equal values, never more operations, and what each of its rules is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kane.graph import Expr, Graph, Inputs, evaluate, hoist, lower, reachable
from kane.graph.simplify import shorten
from seeds import examples
from unit.graph.trees import EVERY_OP, NAMES, POLYNOMIAL, built, meaning, trees, values

REGROUPED = 1e-9  # sums of up to 40 terms of size up to 1e6 in another order, relative to the largest part


def rows(exprs: Sequence[Expr]) -> list[str]:
    """The operations that `exprs` take, sign changes included."""
    graph = exprs[0].graph
    return sorted(
        graph.ops[n] for n in reachable(graph, [e.id for e in exprs]) if graph.ops[n] not in ("const", "input")
    )


def largest_part(tree: tuple, point: dict[str, float]) -> float:
    """The largest number that occurs on the way, which scales the rounding."""
    sizes = [abs(meaning(tree, point))]
    sizes += [largest_part(t, point) for t in tree[1:] if isinstance(t, tuple)]
    return max(sizes)


@settings(max_examples=examples(150))
@given(st.lists(trees(EVERY_OP, leaves=15), min_size=1, max_size=3), values())
def test_shortening_preserves_values(formulas: list[tuple], point: dict[str, float]) -> None:
    graph = Graph()
    exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
    try:
        scale = max(largest_part(f, point) for f in formulas)
    except ValueError:
        assume(False)
        return
    assume(len(exprs) == len(formulas))
    assert evaluate(shorten(exprs), point) == pytest.approx(evaluate(exprs, point), abs=REGROUPED * (1 + scale))


@settings(max_examples=examples(150))
@given(st.lists(trees((*POLYNOMIAL, "div"), leaves=40), min_size=1, max_size=4), values())
def test_shortening_preserves_rational_functions(formulas: list[tuple], point: dict[str, float]) -> None:
    graph = Graph()
    exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
    try:
        scale = max(largest_part(f, point) for f in formulas)
    except ValueError:
        assume(False)
        return
    assume(len(exprs) == len(formulas) and scale < 1e3)
    assert evaluate(shorten(exprs), point) == pytest.approx(evaluate(exprs, point), abs=REGROUPED * (1 + scale))


@settings(max_examples=examples(250))
@given(
    st.lists(trees(EVERY_OP, leaves=20) | trees((*POLYNOMIAL, "div"), leaves=60), min_size=1, max_size=4),
    st.sampled_from([None, {"x": 0}, {"x": 0, "y": 1}, {"x": 0, "y": 0}]),
)
def test_shortening_never_takes_more_operations(formulas: list[tuple], stages: dict[str, int] | None) -> None:
    graph = Graph()
    exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
    assume(exprs)
    assert len(rows(shorten(exprs, stages))) <= len(rows(exprs))


@settings(max_examples=examples(100))
@given(st.lists(trees(POLYNOMIAL, leaves=60), min_size=1, max_size=4))
def test_shortening_never_takes_more_operations_after_hoisting(formulas: list[tuple]) -> None:
    graph = Graph()
    exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
    assume(exprs)
    inputs = [Inputs("p", ("x",), "parameters"), Inputs("q", ("y", "z"), "q")]
    outputs = {"f": ((len(exprs),), exprs)}
    plain, short = lower("f", inputs, outputs, simplify=False), lower("f", inputs, outputs)
    assert len(hoist(short, "parameters")[1].rows) <= len(hoist(plain, "parameters")[1].rows)


@settings(max_examples=examples(100))
@given(st.lists(trees(EVERY_OP, leaves=20), min_size=1, max_size=3))
def test_shortening_leaves_the_graph_it_was_given_alone(formulas: list[tuple]) -> None:
    graph = Graph()
    exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
    assume(exprs)
    before = (list(graph.ops), list(graph.args))
    shorten(exprs)
    assert (graph.ops, graph.args) == before


@settings(max_examples=examples(100))
@given(st.lists(trees(POLYNOMIAL, leaves=30), min_size=1, max_size=3))
def test_shortening_is_repeatable(formulas: list[tuple]) -> None:
    def once() -> str:
        graph = Graph()
        exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
        return str(lower("f", [Inputs("x", NAMES)], {"f": ((len(exprs),), exprs)}))

    assume(all(built(f, Graph()) is not None for f in formulas))
    assert once() == once()


Letters = tuple[Expr, ...]
RULES: dict[str, tuple[Callable[..., Expr | list[Expr]], list[str]]] = {
    "a common factor": (lambda a, b, c, d, e: a * b + a * c, ["add", "mul"]),
    "a common factor of a difference": (lambda a, b, c, d, e: a * b - c * a, ["mul", "sub"]),
    "a common factor across a flattened sum": (lambda a, b, c, d, e: a * b + d + a * c, ["add", "add", "mul"]),
    "a common factor of many terms": (
        lambda a, b, c, d, e: a * b + a * c - a * d + a * e,
        ["add", "add", "mul", "sub"],
    ),
    "the factor that saves most": (
        lambda a, b, c, d, e: a * b + b * c + b * d + a * e,
        ["add", "add", "add", "mul", "mul"],
    ),
    "a factor inside longer products": (lambda a, b, c, d, e: (a * b) * c + (d * e) * a, ["add", "mul", "mul", "mul"]),
    "a common constant": (lambda a, b, c, d, e: a * 3.0 + b * 3.0, ["add", "mul"]),
    "a common constant up to its sign": (lambda a, b, c, d, e: a * 3.0 + b * -3.0 + c, ["add", "mul", "sub"]),
    "nested factors": (lambda a, b, c, d, e: a * b * c + a * b * d + a * e, ["add", "add", "mul", "mul"]),
    "a square among the factors": (lambda a, b, c, d, e: a * a * b + a * c, ["add", "mul", "mul"]),
    "a factor that is a sum": (lambda a, b, c, d, e: a * c + b * c + a * d + b * d, ["add", "add", "mul"]),
    "a product with a sum, expanded": (
        lambda a, b, c, d, e: a * c + b * d - 3.0 * (a * d + b * e),
        ["add", "mul", "mul", "mul", "mul", "sub", "sub"],
    ),
    "terms that cancel after expansion": (
        lambda a, b, c, d, e: a * (b + c) + d - c * a,
        ["add", "mul"],
    ),
    "equal denominators": (lambda a, b, c, d, e: a / d + c - b / d, ["add", "div", "sub"]),
    "constants of a product": (lambda a, b, c, d, e: 2.0 * (a * (3.0 * b)), ["mul", "mul"]),
    "constants of a sum": (lambda a, b, c, d, e: ((a + 1.0) + b) + 2.0, ["add", "add"]),
    "a constant into constants": (lambda a, b, c, d, e: 5.0 * (2.0 * a - 3.0 * b), ["mul", "mul", "sub"]),
    "a constant into a product of constants": (
        lambda a, b, c, d, e: 5.0 * (a * (2.0 * b + 3.0 * c)),
        ["add", "mul", "mul", "mul"],
    ),
    "a sign into a difference": (lambda a, b, c, d, e: -(a - b), ["sub"]),
    "a sign into a constant": (lambda a, b, c, d, e: a * -3.0, ["mul"]),
    "a sign through a product": (lambda a, b, c, d, e: -(a * (b - c)), ["mul", "sub"]),
    "a sign through a sum": (lambda a, b, c, d, e: -(a + 2.0 * b), ["mul", "sub"]),
    "a sign into an added constant": (lambda a, b, c, d, e: -(a + 2.0), ["sub"]),
    "a sign through an odd function": (lambda a, b, c, d, e: -((a - b).sin()), ["sin", "sub"]),
    "a sign inside an argument": (lambda a, b, c, d, e: (-2.0 * a).exp(), ["exp", "mul"]),
    "a sign into both branches": (lambda a, b, c, d, e: -(a.select(b - c, 1.0)), ["select", "sub"]),
    "like terms apart from each other": (lambda a, b, c, d, e: 2.0 * a + b + 3.0 * a, ["add", "mul"]),
    "partial sums in another order": (
        lambda a, b, c, d, e: [(a + c) + b, (b + d) + a],
        ["add", "add", "add"],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_operations_are_saved_by(rule: str) -> None:
    formula, expected = RULES[rule]
    graph = Graph()
    letters = [graph.input(name) for name in "abcde"]
    result = formula(*letters)
    exprs = result if isinstance(result, list) else [result]
    short = shorten(exprs)
    point = dict(zip("abcde", (0.3, -1.7, 2.9, 0.6, -0.8), strict=True))
    assert evaluate(short, point) == pytest.approx(evaluate(exprs, point), rel=1e-14)
    assert rows(short) == expected


KEPT: dict[str, Callable[..., list[Expr]]] = {
    "products used elsewhere are not taken apart": lambda a, b, c: [a * b + a * c, a * b, (a * c).sin()],
    "sums used elsewhere are not taken apart": lambda a, b, c: [(a + b) * c, (a + b).sin(), a - c],
    "differences used elsewhere keep their sign": lambda a, b, c: [(a - b), -(a - b) * c],
    "constants are not spread over sums without constants": lambda a, b, c: [3.0 * (a + b)],
}


@pytest.mark.parametrize("law", KEPT)
def test_sharing_is_kept(law: str) -> None:
    graph = Graph()
    exprs = KEPT[law](*(graph.input(name) for name in "abc"))
    assert len(rows(shorten(exprs))) == len(rows(exprs))


def test_parameters_are_multiplied_together_before_anything_late() -> None:
    graph = Graph()
    m, l, x, y = (graph.input(name) for name in ("m", "l", "x", "y"))
    exprs = [m * (x * (l * 2.0)), (x + m) + (y + l)]
    inputs = [Inputs("parameters", ("m", "l"), "parameters"), Inputs("q", ("x", "y"), "q")]
    _, body = hoist(lower("f", inputs, {"f": ((2,), exprs)}), "parameters")
    assert sorted(r.op for r in body.rows) == ["add", "add", "mul"]


def test_a_parameter_is_not_taken_out_where_its_products_are_hoisted() -> None:
    graph = Graph()
    m, k, l, x, y = (graph.input(name) for name in ("m", "k", "l", "x", "y"))
    inputs = [Inputs("parameters", ("m", "k", "l"), "parameters"), Inputs("q", ("x", "y"), "q")]
    _, body = hoist(lower("f", inputs, {"f": ((1,), [(m * k) * x + (m * l) * y])}), "parameters")
    assert sorted(r.op for r in body.rows) == ["add", "mul", "mul"]


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_constants_near_overflow_are_left_where_they_are(size: float) -> None:
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    exprs = [size * (x * (size * y)), size * (size * x + size * y)]
    point = {"x": 1 / size, "y": 1 / size}
    assert evaluate(shorten(exprs), point) == pytest.approx(evaluate(exprs, point), rel=1e-14)


@pytest.mark.parametrize("op", ["add", "mul", "sub"])
def test_a_chain_of_a_hundred_thousand_operations_is_shortened_without_recursion(op: str) -> None:
    graph = Graph()
    leaves = [graph.input(f"x{i}").id for i in range(100)]
    node = leaves[0]
    for i in range(100_000):
        node = graph.build(op, graph.build("sin", node) if i % 1000 == 0 else node, leaves[i % 100])
    assert len(rows(shorten([graph.expr(node)]))) <= 100_200


def test_notes_survive_where_their_node_does() -> None:
    graph = Graph()
    a, b, c = (graph.input(name) for name in "abc")
    total = a * b + a * c
    graph.note([total], "work")
    program = lower("f", [Inputs("x", ("a", "b", "c"))], {"f": ((1,), [total])})
    assert list(program.comments.values()) == ["work"]
