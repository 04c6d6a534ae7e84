"""The same expressions of other inputs: recorded once, then written down again without asking the construction rules.

The thousandth joint of a kind has the expressions of the second one, in other inputs. What is written down is what the
rules would have made, node for node: they look at operations, constants and the order of nodes, which are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .graph import Expr, Graph
from .rules import CONST, INPUT

Group = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """Nodes made of some inputs. Arguments and results are numbers in a list: of expressions that all repetitions have
    in `common`, then of the inputs, then of the nodes in their order. `order` is that of the inputs among the nodes.
    Results are groups of expressions: their numbers, or, of one that all repetitions have, the group itself."""

    common: tuple[Expr, ...]
    order: tuple[int, ...]
    nodes: tuple[tuple[str, tuple[int, ...]], ...]
    results: tuple[tuple[tuple[int, ...], Group | None], ...]


def _order(inputs: Sequence[Expr]) -> tuple[int, ...]:
    return tuple(sorted(range(len(inputs)), key=lambda k: inputs[k].id))


def record(graph: Graph, start: int, inputs: Sequence[Expr], results: Sequence[Group]) -> Template | None:
    """The template of the nodes from `start` on, which were made of `inputs`; None where any of them is something that
    the next will have in common with them."""
    made, own = range(start, len(graph)), {x.id for x in inputs}
    used = {a for node in made if graph.ops[node] not in (CONST, INPUT) for a in graph.args[node]}
    common = sorted({a for a in (*used, *(e.id for group in results for e in group)) if a < start and a not in own})
    place = {node: k for k, node in enumerate((*common, *(x.id for x in inputs), *made))}
    moved, nodes = set(own), []
    for node in made:
        op, args = graph.ops[node], graph.args[node]
        if op in (CONST, INPUT) or moved.isdisjoint(args):
            return None
        moved.add(node)
        nodes.append((op, tuple(place[a] for a in args)))
    shared = tuple(graph.expr(node) for node in common)
    groups = tuple(
        (tuple(place[e.id] for e in group), group if moved.isdisjoint(e.id for e in group) else None)
        for group in results
    )
    return Template(shared, _order(inputs), tuple(nodes), groups)


def repeat(graph: Graph, template: Template, inputs: Sequence[Expr]) -> list[Group] | None:
    """The results of a template for other inputs, which nothing depends on yet; None where their order is another."""
    ids = [inputs[k].id for k in template.order]
    if ids != sorted(ids):
        return None
    found = [*template.common, *inputs]
    take, new = found.append, graph.new_node
    for op, places in template.nodes:
        if len(places) == 1:
            take(Expr(graph, new(op, (found[places[0]].id,))))
        elif len(places) == 2:
            take(Expr(graph, new(op, (found[places[0]].id, found[places[1]].id))))
        else:
            take(Expr(graph, new(op, tuple([found[k].id for k in places]))))
    return [tuple([found[k] for k in places]) if same is None else same for places, same in template.results]
