"""The live part of a graph, and how late its nodes come: what the rewriting of programs looks at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .graph import CONST, INPUT, Graph
from .passes import reachable

ONCE = 1.0 / 1024.0  # weight of an operation on parameters only, which a hoisted program does once


@dataclass(frozen=True, slots=True)
class Live:
    """A graph and the nodes of it that are asked for."""

    graph: Graph
    roots: tuple[int, ...]

    def nodes(self) -> list[int]:
        return reachable(self.graph, self.roots)

    def uses(self, nodes: Iterable[int]) -> Counter[int]:
        """How many arguments and roots each node is."""
        uses: Counter[int] = Counter(self.roots)
        for n in nodes:
            if self.graph.ops[n] not in (CONST, INPUT):
                uses.update(self.graph.args[n])
        return uses


class Lateness:
    """Which nodes of a graph come late: −1 constants, then the index of the stage; kept up as the graph grows."""

    def __init__(self, stages: Mapping[str, int]):
        self.stages = stages
        self.of: list[int] = []
        self.graph: Graph | None = None

    def stage(self, graph: Graph, node: int) -> int:
        if graph is not self.graph:
            self.graph, self.of = graph, []
        elif node < len(self.of):
            return self.of[node]
        for n in range(len(self.of), len(graph)):
            op, args = graph.ops[n], graph.args[n]
            if op == CONST:
                self.of.append(-1)
            elif op == INPUT:
                self.of.append(self.stages.get(args[0], 1))
            else:
                self.of.append(max(self.of[a] for a in args))
        return self.of[node]

    def weight(self, graph: Graph, node: int) -> float:
        return ONCE if self.stage(graph, node) <= 0 else 1.0

    def work(self, live: Live) -> tuple[int, int]:
        """(operations after the first stage, operations in all)."""
        graph = live.graph
        rows = [n for n in live.nodes() if graph.ops[n] not in (CONST, INPUT)]
        return sum(self.stage(graph, n) > 0 for n in rows), len(rows)


def copied(graph: Graph, node: int, out: Graph, new: Mapping[int, int]) -> int:
    """The node of `graph` built in `out`, where `new` says what became of its arguments."""
    op, args = graph.ops[node], graph.args[node]
    if op == CONST:
        return out._const(args[0])
    return out.input(args[0]).id if op == INPUT else out.build(op, *(new[a] for a in args))


def moderate(value: float) -> bool:
    """Whether a number is so far from overflow and underflow that products with it are safe to regroup."""
    return 1e-120 < abs(value) < 1e120
