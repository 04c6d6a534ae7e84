"""What lines of a program are, by notes on the expressions that it was made of.

Comes in: expressions with notes, and the same ones with fewer operations. Goes out: notes of the nodes that are left.
Rewriting leaves few nodes as they were, but much of what is computed: a node has the note of another one that has its
value, up to the sign, at a state without anything special about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .graph import CONST, INPUT, Expr
from .live import Live
from .passes import Values

_DIGITS = 10  # in which values agree that were computed in different orders
_GOLDEN = 0.6180339887498949


def comments_of(noted: Sequence[Expr], shortened: Sequence[Expr]) -> dict[int, str]:
    """Node → note, for nodes of `shortened` expressions that have the values of nodes with notes below `noted` ones."""
    graph, other = noted[0].graph, shortened[0].graph
    notes = graph.provenance
    known = sorted(
        (n for n in Live(graph, tuple(e.id for e in noted)).nodes if n in notes),
        key=lambda n: (len(notes[n]), notes[n]),  # of two that are equal the shorter one, whichever was made first
    )
    if not known:
        return {}
    state = {label: 0.5 + (k + 1) * _GOLDEN % 1.0 for k, label in enumerate(graph.inputs)}
    try:
        values = Values(state)([graph.expr(n) for n in known])
        nodes = [n for n in Live(other, tuple(e.id for e in shortened)).nodes if other.ops[n] not in (CONST, INPUT)]
        found = Values(state)([other.expr(n) for n in nodes])
    except (ArithmeticError, ValueError):  # no number there: a comment is no reason to fail
        return {}
    by_value: dict[str, str] = {}
    for node, value in zip(known, values, strict=True):
        by_value.setdefault(_size(value), notes[node])
    return {n: by_value[size] for n, x in zip(nodes, found, strict=True) if (size := _size(x)) in by_value and x}


def _size(value: float) -> str:
    return f"{abs(value):.{_DIGITS}g}" if math.isfinite(value) else ""


__all__ = ["comments_of"]
