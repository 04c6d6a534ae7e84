"""Passes over a graph: each is one loop over node ids and never changes what is there (it may append nodes).

Derivatives are expressions of the same graph. `forward` carries tangents upwards, `reverse` carries adjoints
downwards; `time_derivative` is `forward` with the rates of the inputs as seeds; `linear_coefficients` reads the
matrix of a linear form and refuses a form that is not linear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from ..errors import ExpressionError
from .graph import CONST, INPUT, ZERO, Expr, Graph
from .ops import TABLE


def reachable(graph: Graph, roots: Iterable[int], known: Collection[int] = ()) -> list[int]:
    """The nodes that `roots` are computed from, roots included, in topological order; those known are left out, and so
    is what only they are computed from."""
    seen = {r for r in roots if r not in known}
    if not seen:
        return []
    ops, args = graph.ops, graph.args
    stack = list(seen)
    take, push, leaves = stack.pop, stack.append, _LEAVES
    while stack:
        node = take()
        if ops[node] not in leaves:
            for a in args[node]:
                if a not in seen and (not known or a not in known):
                    seen.add(a)
                    push(a)
    return sorted(seen)


_LEAVES = frozenset({CONST, INPUT})
"""Operations whose arguments are no nodes."""


def dependents(graph: Graph, nodes: Sequence[int], sources: Iterable[int]) -> set[int]:
    """Those of `nodes` (topologically ordered) whose value depends on any of `sources`."""
    ops, args, leaves = graph.ops, graph.args, _LEAVES
    found = set(sources)
    apart, add = found.isdisjoint, found.add
    for node in nodes:
        if ops[node] not in leaves and not apart(args[node]):
            add(node)
    return found.intersection(nodes)


def depends_on(exprs: Sequence[Expr], inputs: Iterable[Expr]) -> bool:
    """Whether any of `exprs` depends on any of `inputs`."""
    if not exprs:
        return False
    graph = exprs[0].graph
    nodes = reachable(graph, (e.id for e in exprs))
    return bool({e.id for e in exprs} & dependents(graph, nodes, [i.id for i in inputs]))


def _partials(graph: Graph, node: int) -> tuple[Expr | float | None, ...]:
    args = tuple([Expr(graph, a) for a in graph.args[node]])
    return TABLE[graph.ops[node]].partials(args, Expr(graph, node))


def forward(exprs: Sequence[Expr], seeds: Mapping[Expr, Expr | float]) -> list[Expr]:
    """The derivative of each of `exprs` along `seeds`: Σ ∂expr/∂x · seed(x)."""
    if not exprs:
        return []
    graph = exprs[0].graph
    nodes = reachable(graph, (e.id for e in exprs))
    if len(seeds) > len(nodes):  # all coordinates of a large model, say, of which a few occur
        found = ((node, seeds.get(graph.expr(node))) for node in nodes)
        tangents = {node: graph.lift(s) for node, s in found if s is not None}
    else:
        tangents = {x.id: graph.lift(s) for x, s in seeds.items()}
    live = dependents(graph, nodes, tangents)
    zero = graph.const(0.0)
    for node in nodes:
        if node not in live or node in tangents:
            continue
        total = zero
        for arg, slope in zip(graph.args[node], _partials(graph, node), strict=True):
            if slope is not None and arg in tangents:
                total = total + slope * tangents[arg]
        tangents[node] = total
    return [tangents.get(e.id, zero) for e in exprs]


def reverse(adjoints: Mapping[Expr, Expr | float], wrt: Sequence[Expr]) -> list[Expr]:
    """Σ_k adjoint_k · ∂expr_k/∂x for each x of `wrt`, the adjoints held fixed: one sweep, whatever len(wrt) is."""
    if not wrt:
        return []
    graph = wrt[0].graph
    nodes = reachable(graph, (e.id for e in adjoints))
    return _sweep(nodes, dependents(graph, nodes, [x.id for x in wrt]), adjoints, wrt)


def _sweep(
    nodes: Sequence[int], live: Collection[int], adjoints: Mapping[Expr, Expr | float], wrt: Sequence[Expr]
) -> list[Expr]:
    """`reverse` over nodes that hold all that the expressions are computed from, of which those in `live` depend on
    any of `wrt`."""
    graph = wrt[0].graph
    sums: dict[int, Expr] = {}
    for e, a in adjoints.items():
        if e.id in live:
            sums[e.id] = graph.lift(a)
    leaves = {x.id for x in wrt}
    for node in reversed(nodes):
        adjoint = sums.get(node)
        if adjoint is None or adjoint.id == ZERO or node in leaves or graph.ops[node] in _LEAVES:
            continue
        for arg, slope in zip(graph.args[node], _partials(graph, node), strict=True):
            if slope is not None and arg in live:
                term = slope * adjoint
                sums[arg] = sums[arg] + term if arg in sums else term
    zero = graph.const(0.0)
    return [sums.get(x.id, zero) for x in wrt]


def time_derivative(exprs: Sequence[Expr], rates: Mapping[Expr, Expr | float]) -> list[Expr]:
    """d/dt of each of `exprs`, given the rates of the inputs (for t itself the rate is 1)."""
    return forward(exprs, rates)


def gradient_rate(expr: Expr, rates: Mapping[Expr, Expr | float]) -> Expr:
    """d/dt of an expression: of few inputs as `time_derivative` has it; of many the rate of each times its slope, so
    that the slopes, which are then read off, take one sweep for all."""
    if len(rates) <= _MANY:
        return time_derivative([expr], rates)[0]
    total = expr.graph.const(0.0)
    for slope, rate in zip(reverse({expr: 1.0}, list(rates)), rates.values(), strict=True):
        total = total + slope * rate
    return total


def linear_coefficients(exprs: Sequence[Expr], wrt: Sequence[Expr]) -> tuple[list[list[Expr]], list[Expr]]:
    """(A, b) such that exprs = A · wrt + b, with A and b free of `wrt`; refuses what is not linear."""
    if not exprs:
        return [], []
    if len(wrt) > _MANY * len(exprs):
        return _swept_coefficients(exprs, wrt)
    graph = exprs[0].graph
    zero = graph.const(0.0)
    nodes = reachable(graph, (e.id for e in exprs))
    live = dependents(graph, nodes, [x.id for x in wrt])
    one = graph.const(1.0)
    forms: dict[int, tuple[dict[int, Expr], Expr]] = {x.id: ({x.id: one}, zero) for x in wrt}
    nodes = [n for n in nodes if n in live and n not in forms]
    uses = Counter(chain((e.id for e in exprs), *(graph.args[n] for n in nodes)))
    for node in nodes:
        forms[node] = _linear_form(graph, node, live, forms, uses, wrt)
    rows, rest = [], []
    for e in exprs:
        coefficients, constant = forms.get(e.id, ({}, e))
        rows.append([coefficients.get(x.id, zero) for x in wrt])
        rest.append(constant)
    return rows, rest


_MANY = 128  # variables to an expression: carrying that many coefficients upwards takes longer than one sweep down


def _swept_coefficients(exprs: Sequence[Expr], wrt: Sequence[Expr]) -> tuple[list[list[Expr]], list[Expr]]:
    """The same of few expressions in many variables: a row is the derivative of its expression."""
    graph = exprs[0].graph
    nodes = reachable(graph, (e.id for e in exprs))
    live = dependents(graph, nodes, [x.id for x in wrt])
    leaves = {x.id for x in wrt}
    for node in nodes:
        if node in live and node not in leaves:
            a, *b = (arg in live for arg in graph.args[node])
            op = graph.ops[node]
            if not (op in ("add", "sub", "neg") or (op == "mul" and a != b[0]) or (op == "div" and a and not b[0])):
                raise _not_linear(graph, node, live, wrt)
    rows = [_sweep(nodes, live, {e: 1.0}, wrt) for e in exprs]
    rest = _replace(graph, nodes, live, dict.fromkeys(leaves, ZERO))
    return rows, [graph.expr(rest.get(e.id, e.id)) for e in exprs]


def _not_linear(graph: Graph, node: int, live: set[int], wrt: Sequence[Expr]) -> ExpressionError:
    names = ", ".join(repr(x) for x in wrt if x.id in live)
    return ExpressionError(f"{graph.expr(node)!r} is not linear in {names}")


def _linear_form(
    graph: Graph,
    node: int,
    live: set[int],
    forms: Mapping[int, tuple[dict[int, Expr], Expr]],
    uses: Mapping[int, int],
    wrt: Sequence[Expr],
) -> tuple[dict[int, Expr], Expr]:
    op, args = graph.ops[node], graph.args[node]
    if op in ("add", "sub", "neg"):
        signs = (-1.0,) if op == "neg" else (1.0, 1.0 if op == "add" else -1.0)
        coefficients: dict[int, Expr] = {}
        rest = graph.const(0.0)
        if op != "neg":  # one of two operands as it is: long sums are added term by term, in place if nobody else asks
            if op == "add" and args[1] in forms and len(forms.get(args[0], ({},))[0]) <= 1:
                args = args[::-1]
            terms, rest = forms.get(args[0], ({}, graph.expr(args[0])))
            coefficients = terms if uses[args[0]] == 1 else dict(terms)
            args, signs = args[1:], signs[1:]
        for arg, sign in zip(args, signs, strict=True):
            terms, constant = forms.get(arg, ({}, graph.expr(arg)))
            for x, c in terms.items():
                term = c if sign > 0.0 else -c
                coefficients[x] = coefficients[x] + term if x in coefficients else term
            rest = rest + constant if sign > 0.0 else rest - constant
        return coefficients, rest
    a, b = (args[0], args[1]) if len(args) == 2 else (args[0], args[0])
    if op == "mul" and (a in live) != (b in live):
        scale, linear = (graph.expr(a), b) if b in live else (graph.expr(b), a)
        terms, constant = forms[linear]
        return {x: scale * c for x, c in terms.items()}, scale * constant
    if op == "div" and a in live and b not in live:
        terms, constant = forms[a]
        scale = 1.0 / graph.expr(b)
        return {x: scale * c for x, c in terms.items()}, scale * constant
    raise _not_linear(graph, node, live, wrt)


def substitute(exprs: Sequence[Expr], mapping: Mapping[Expr, Expr | float]) -> list[Expr]:
    """Each of `exprs` with every node of `mapping` replaced."""
    if not exprs or not mapping:
        return list(exprs)
    graph = exprs[0].graph
    nodes = reachable(graph, (e.id for e in exprs))
    replaced: dict[int, int] = {x.id: graph.lift(y).id for x, y in mapping.items()}
    new = _replace(graph, nodes, dependents(graph, nodes, replaced), replaced)
    return [graph.expr(new.get(e.id, e.id)) for e in exprs]


def _replace(graph: Graph, nodes: Iterable[int], live: Collection[int], given: Mapping[int, int]) -> dict[int, int]:
    """What stands for each of `nodes` in `live`, those that depend on nodes for which others are given."""
    new = dict(given)
    for node in nodes:
        if node in live and node not in new:
            args: tuple[int, ...] = graph.args[node]
            new[node] = graph.build(graph.ops[node], *[new.get(a, a) for a in args])
            if node in graph.provenance:
                graph.note([graph.expr(new[node])], graph.provenance[node])
    return new


def evaluate(exprs: Sequence[Expr], values: Mapping[str, float]) -> list[float]:
    """The numbers `exprs` take when the inputs have the given `values`: plain Python, the oracle of all backends."""
    return Values(values)(exprs)


class Values:
    """The numbers that expressions of one graph take for given values of the inputs; each node is computed once."""

    def __init__(self, values: Mapping[str, float]):
        self._values = values
        self._numbers: dict[int, float] = {}

    def __call__(self, exprs: Sequence[Expr]) -> list[float]:
        if not exprs:
            return []
        graph, numbers = exprs[0].graph, self._numbers
        ops, arguments = graph.ops, graph.args
        for node in reachable(graph, [e.id for e in exprs], numbers):
            op, args = ops[node], arguments[node]
            if op == CONST:
                numbers[node] = args[0]
            elif op == INPUT:
                try:
                    numbers[node] = self._values[args[0]]
                except KeyError:
                    raise ExpressionError(f"no value given for the input '{args[0]}'") from None
            else:
                numbers[node] = TABLE[op].value(*[numbers[a] for a in args])
        return [numbers[e.id] for e in exprs]
