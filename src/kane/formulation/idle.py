"""Parameters without a value that stand in expressions and make no difference there.

A load across every motion that a joint leaves has no power, but T (cos q sin q − sin q cos q) is zero in numbers only.
Where the slope by a parameter is a sum of products and smooth functions and cancels down to rounding errors in random
states, it is zero everywhere, and so is then the parameter. What is zero because nothing of it is active in those
states, as behind a max, is not judged so.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from ..graph import Expr, Values, depends_on, forward, reachable, substitute
from ..graph.graph import CONST, INPUT
from ..graph.passes import dependents

_SEED, _STATES = 23, 3
_CANCELLED = 1e-14  # of the sum of absolute values: rounding; where more is left, a value is asked for
_SMOOTH = frozenset({"add", "sub", "mul", "div", "pow", "neg", "sqrt", "sin", "cos", "tan", "exp", "log"})


def without_idle(exprs: Sequence[Expr], parameters: Iterable[Expr]) -> list[Expr]:
    """Expressions in which those of the parameters that make no difference are zero."""
    found = list(exprs)
    for p in parameters:
        if depends_on(found, [p]) and _is_smooth(found, p) and _cancel(forward(found, {p: 1.0})):
            found = substitute(found, {p: 0.0})
    return found


def _is_smooth(exprs: Sequence[Expr], p: Expr) -> bool:
    """Whether all that expressions make of a parameter is smooth, so that its slope says all."""
    graph = p.graph
    nodes = reachable(graph, (e.id for e in exprs))
    return all(graph.ops[n] in _SMOOTH for n in dependents(graph, nodes, [p.id]) if n != p.id)


def _cancel(exprs: Sequence[Expr]) -> bool:
    """Whether expressions vanish because their terms cancel."""
    slopes = [e for e in exprs if not e.is_zero]
    if not slopes:
        return True
    graph = slopes[0].graph
    nodes = reachable(graph, (s.id for s in slopes))
    made = [n for n in nodes if graph.ops[n] not in (CONST, INPUT)]
    if any(graph.ops[n] not in _SMOOTH for n in made):
        return False
    rng = random.Random(_SEED)
    for _ in range(_STATES):
        values = Values({name: rng.uniform(0.3, 1.1) for name in graph.inputs})
        numbers = dict(zip(nodes, values([graph.expr(n) for n in nodes]), strict=True))
        sizes = {n: abs(x) for n, x in numbers.items()}
        for n in made:
            op, args = graph.ops[n], graph.args[n]
            if op in ("add", "sub"):
                sizes[n] = sizes[args[0]] + sizes[args[1]]
            elif op == "mul":
                sizes[n] = sizes[args[0]] * sizes[args[1]]
            elif op == "div":
                sizes[n] = sizes[args[0]] / abs(numbers[args[1]]) if numbers[args[1]] else 0.0
            elif op == "neg":
                sizes[n] = sizes[args[0]]
        if not all(abs(numbers[s.id]) <= _CANCELLED * sizes[s.id] and sizes[s.id] > 0.0 for s in slopes):
            return False
    return True


__all__ = ["without_idle"]
