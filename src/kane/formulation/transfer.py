"""Expressions of a description brought into another graph, symbols replaced on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph import Expr, Graph, reachable
from ..graph.graph import CONST, INPUT
from ..space.algebra import Matrix, Triple


class Transfer:
    """Brings expressions of a description into another graph, symbols replaced on the way."""

    def __init__(self, source: Graph, target: Graph, symbols: Mapping[Expr, Expr | float]):
        self.source, self.target = source, target
        self._known: dict[int, int] = {x.id: target.lift(y).id for x, y in symbols.items()}

    def __call__(self, exprs: Sequence[Expr]) -> list[Expr]:
        source, target, known = self.source, self.target, self._known
        for node in reachable(source, [e.id for e in exprs], known):
            op, args = source.ops[node], source.args[node]
            if op == CONST:
                known[node] = target._const(args[0])
            elif op == INPUT:
                known[node] = target.input(args[0]).id
            else:
                known[node] = target.build(op, *(known[a] for a in args))
        return [target.expr(known[e.id]) for e in exprs]

    def one(self, expr: Expr) -> Expr:
        return self([expr])[0]

    def triple(self, xyz: Triple) -> Triple:
        x, y, z = self(xyz)
        return (x, y, z)

    def matrix(self, m: Matrix) -> Matrix:
        return (self.triple(m[0]), self.triple(m[1]), self.triple(m[2]))
