"""Shorter programs of equal value: common factors taken out, sign changes absorbed.

Works on the live part of a graph and appends the shorter expressions to it. A rule is applied only where the nodes
it replaces have no other use, so the number of operations never grows.

  a b ± a c          → a (b ± c)
  x ± (−y), −(a − b) → signs end in additions, in constants, or nowhere
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .graph import CONST, INPUT, Expr, Graph
from .passes import reachable

_ROUNDS = 6  # each round exposes factors to the next; counts settle after two or three


def shorten(exprs: Sequence[Expr]) -> list[Expr]:
    """`exprs` rewritten with fewer operations, same values up to rounding."""
    if not exprs:
        return []
    graph = exprs[0].graph
    roots = [e.id for e in exprs]
    size = _size(graph, roots)
    for _ in range(_ROUNDS):
        shorter = _rewrite(graph, roots)
        smaller = _size(graph, shorter)
        if smaller >= size:
            break
        roots, size = shorter, smaller
    return [graph.expr(r) for r in roots]


def _size(graph: Graph, roots: Sequence[int]) -> int:
    return sum(graph.ops[n] not in (CONST, INPUT) for n in reachable(graph, roots))


def _rewrite(graph: Graph, roots: Sequence[int]) -> list[int]:
    """One round: the live nodes rebuilt in order, with single-use products and signs regrouped on the way."""
    nodes = reachable(graph, roots)
    uses: Counter[int] = Counter(roots)
    for n in nodes:
        if graph.ops[n] not in (CONST, INPUT):
            uses.update(graph.args[n])
    new: dict[int, int] = {}
    for n in nodes:
        op, args = graph.ops[n], graph.args[n]
        if op in (CONST, INPUT):
            new[n] = n
        elif op in ("add", "sub"):
            new[n] = _sum(graph, op, args, new, uses)
        elif op == "neg" and uses[args[0]] == 1:
            new[n] = _negated(graph, new[args[0]])
        else:
            new[n] = graph.build(op, *(new[a] for a in args))
        if n in graph.provenance:
            graph.note([graph.expr(new[n])], graph.provenance[n])
    return [new[r] for r in roots]


def _negated(graph: Graph, node: int) -> int:
    """−node without a sign change where the node, used only here, is a difference."""
    if graph.ops[node] == "sub":
        a, b = graph.args[node]
        return graph._node("sub", (b, a))
    return graph.build("neg", node)


def _sum(graph: Graph, op: str, args: tuple[int, int], new: dict[int, int], uses: Counter[int]) -> int:
    a, b = new[args[0]], new[args[1]]
    if uses[args[0]] == 1 and uses[args[1]] == 1:
        common = _common_factor(graph, a, b)
        if common is not None:
            factor, left, right = common
            return graph.build("mul", factor, graph.build(op, left, right))
    # (x − y) + z with both orders free: nothing to gain; signs were pulled outwards at construction
    return graph.build(op, a, b)


def _common_factor(graph: Graph, a: int, b: int) -> tuple[int, int, int] | None:
    """(f, x, y) with a = f x and b = f y, if both are products that share a factor."""
    if graph.ops[a] != "mul" or graph.ops[b] != "mul":
        return None
    a0, a1 = graph.args[a]
    b0, b1 = graph.args[b]
    for f, x, y in ((a0, a1, b1), (a1, a0, b0)):
        if f in (b0, b1):
            other = b1 if f == b0 else b0
            x = a1 if f == a0 else a0
            y = other
            return f, x, y
    return None
