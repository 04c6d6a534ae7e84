"""Expressions of a description as programs of their own: efforts of loads and controls, watched functions, potentials.

They are written in q, u, t and parameters; the speeds are the motion variables of the joints. Parameters that are kept
free stay inputs, the others fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..formulation.transfer import Transfer
from ..graph import Expr, Graph, Inputs, Program, lower
from ..model import Mechanism


class Terms:
    """Brings expressions of a mechanism into programs over t, q, u, work, tau and free parameters."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.graph = graph = Graph()
        self.free = tuple(p.name for p in mechanism.parameters.values() if p.free)
        symbols: dict[Expr, Expr | float] = {mechanism.time: graph.input("t")}
        for p in mechanism.parameters.values():
            symbols[p.symbol] = graph.input(p.name) if p.free else p.value
        for c in mechanism.coordinate_records.values():
            symbols[c.symbol] = graph.input(c.name)
        for s in mechanism.speed_records.values():
            symbols[s.definition] = symbols[s.symbol] = graph.input(s.name)
        bring = Transfer(mechanism.graph, graph, symbols)
        records = list(mechanism.coordinate_records.values())
        for c, rate in zip(records, bring([mechanism.coordinate_rates[c.symbol] for c in records]), strict=True):
            symbols.setdefault(c.rate, rate)
        self._take = Transfer(mechanism.graph, graph, symbols)

    def program(self, name: str, groups: Sequence[str], output: str, exprs: Sequence[Expr]) -> Program:
        """The program of `exprs` from named groups, free parameters last where there are any."""
        m = self.mechanism
        known = {
            "t": Inputs("t", ("t",), "q"),
            "q": Inputs("q", m.coordinates, "q"),
            "u": Inputs("u", m.speeds, "u"),
            "work": Inputs("work", ("work",)),
            "tau": Inputs("tau", tuple(f"tau_{s}" for s in m.speeds)),
            "parameters": Inputs("parameters", self.free, "parameters"),
        }
        chosen = [known[g] for g in (*groups, *(["parameters"] if self.free else []))]
        return lower(name, chosen, {output: ((len(exprs),), self._take(exprs))})


def sum_efforts(efforts: Iterable[tuple[Expr, Expr]]) -> dict[Expr, Expr]:
    """Motion variable → sum of the efforts along it."""
    total: dict[Expr, Expr] = {}
    for variable, effort in efforts:
        total[variable] = total[variable] + effort if variable in total else effort
    return total


def speed_indices(efforts: Mapping[Expr, Expr], mechanism: Mechanism) -> list[int]:
    """For each effort the index of the speed it acts along."""
    index = {s.definition: i for i, s in enumerate(mechanism.speed_records.values())}
    return [index[variable] for variable in efforts]


__all__ = ["Terms", "speed_indices", "sum_efforts"]
