"""What the rewriting of programs counts with: live nodes, what a common factor saves, constants folded exactly."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from kane.graph import Graph, reachable
from kane.graph.factor import Planner, Term
from kane.graph.live import ONCE, Lateness, Live
from seeds import examples
from unit.graph.trees import EVERY_OP, built, trees

INPUTS = {"p": 0, "x": 1, "y": 1, "z": 2}  # a parameter, which weighs next to nothing, and three that are late
DECIMALS = ("0", "1", "-1", "0.1", "0.2", "0.3", "-0.7", "12.5", "1e-9")


def weight(name: str) -> float:
    return ONCE if INPUTS[name] == 0 else 1.0


def multiplications(names: list[str]) -> float:
    """The weight of a product, the lightest factors multiplied first: each factor but one is a multiplication."""
    return sum(sorted(weight(n) for n in names)[1:])


@settings(max_examples=examples(100))
@given(
    st.sampled_from(list(INPUTS)),
    st.lists(st.lists(st.sampled_from(list(INPUTS)), min_size=1, max_size=3), min_size=2, max_size=5),
)
def test_a_factor_taken_out_saves_what_its_products_cost_less_one_with_the_sum(
    factor: str, others: list[list[str]]
) -> None:
    graph = Graph()
    node = {name: graph.input(name).id for name in INPUTS}
    planner = Planner(graph, Lateness(graph, INPUTS))
    products = [[factor, *names] for names in others]
    terms = [Term(False, tuple(sorted(node[n] for n in names))) for names in products]
    saved = sum(multiplications(p) - multiplications(o) for p, o in zip(products, others, strict=True))
    latest = max(weight(n) for p in products for n in p)
    assert planner.gain(node[factor], planner.weights(terms)) == saved - latest


@settings(max_examples=examples(100))
@given(st.lists(trees(EVERY_OP), min_size=1, max_size=4))
def test_live_nodes_are_those_that_roots_are_computed_from(formulas: list[tuple]) -> None:
    graph = Graph()
    roots = tuple(e.id for e in (built(f, graph) for f in formulas) if e is not None)
    if roots:
        assert Live(graph, roots).nodes == reachable(graph, roots)


@settings(max_examples=examples(200))
@given(st.sampled_from(DECIMALS), st.sampled_from(DECIMALS), st.sampled_from(DECIMALS))
def test_decimals_fold_as_rational_numbers(a: str, b: str, c: str) -> None:
    graph = Graph()
    x, y, z = (graph.const(float(t)) for t in (a, b, c))
    p, q, r = (Fraction(t) for t in (a, b, c))
    assert (x * y + z).number == float(p * q + r)
    assert (x - y * z).number == float(p - q * r)
    assert ((x + y) - z).number == float((p + q) - r)
    assert (-x * (y - z)).number == float(-p * (q - r))
