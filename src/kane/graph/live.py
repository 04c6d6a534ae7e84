"""The live part of a graph, and how late its nodes come: what the rewriting of programs looks at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from .graph import CONST, INPUT, Graph

_LEAVES = (CONST, INPUT)
ONCE = 1.0 / 1024.0  # weight of an operation on parameters only, which a hoisted program does once


@dataclass(frozen=True)
class Live:
    """A graph, the nodes of it that are asked for, and all `nodes` that these are computed from, in order."""

    graph: Graph
    roots: tuple[int, ...]

    @cached_property
    def nodes(self) -> list[int]:
        return self._find_reachable()

    def _find_reachable(self) -> list[int]:
        """As `passes.reachable` finds them; where most of a graph is reached, one scan backwards is faster."""
        ops, args, reached = self.graph.ops, self.graph.args, set(self.roots)
        for n in range(max(self.roots), -1, -1):
            if n in reached and ops[n] not in _LEAVES:
                reached.update(args[n])
        return sorted(reached)

    @cached_property
    def uses(self) -> Counter[int]:
        """For each node how many arguments of live nodes, and roots, it is."""
        ops, args = self.graph.ops, self.graph.args
        return Counter(chain(self.roots, *[args[n] for n in self.nodes if ops[n] not in _LEAVES]))

    def work(self, stages: Mapping[str, int]) -> tuple[int, int]:
        """(operations after the first stage, operations in all)."""
        ops = self.graph.ops
        rows = [n for n in self.nodes if ops[n] not in _LEAVES]
        if 0 not in stages.values():
            return len(rows), len(rows)
        stage = Lateness(self.graph, stages).stages()
        return sum([stage[n] > 0 for n in rows]), len(rows)


class Lateness:
    """Which nodes of a graph come late: −1 constants, then the index of the stage; kept up as the graph grows."""

    __slots__ = ("_inputs", "_of", "graph")

    def __init__(self, graph: Graph, inputs: Mapping[str, int]):
        """`inputs` gives the stage of inputs by name; one that is not named is late."""
        self.graph = graph
        self._inputs = inputs
        self._of: list[int] = []

    def stages(self) -> list[int]:
        """The stage of every node there is by now. The list grows with the next call."""
        of, ops, args = self._of, self.graph.ops, self.graph.args
        for n in range(len(of), len(ops)):
            op = ops[n]
            if op == CONST:
                of.append(-1)
            elif op == INPUT:
                of.append(self._inputs.get(args[n][0], 1))
            else:
                latest = -1
                for a in args[n]:
                    if of[a] > latest:
                        latest = of[a]
                of.append(latest)
        return of


def copy_node(graph: Graph, node: int, out: Graph, new: Mapping[int, int]) -> int:
    """The node of `graph` built in `out`, where `new` says what became of its arguments."""
    op, args = graph.ops[node], graph.args[node]
    if op == CONST:
        return out._const(args[0])
    return out.input(args[0]).id if op == INPUT else out.build(op, *[new[a] for a in args])


def moderate(value: float) -> bool:
    """Whether a number is so far from overflow and underflow that products with it are safe to regroup."""
    return 1e-120 < abs(value) < 1e120
