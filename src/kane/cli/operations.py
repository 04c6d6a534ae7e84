"""`kane ops`: what the programs of a model cost, and what the efforts of an arm cost by whose method."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..api import Model
from ..graph import STAGES
from ..graph.ops import COUNTED
from . import FINE, UsageError
from .console import heading, print_json, table
from .given import model_of
from .parser import PROGRAMS

_STAGE_WORDS = {"parameters": "once", "q": "coordinates", "u": "speeds", "rest": "the rest"}


def ops(arguments: Namespace) -> int:
    """Print how many operations each program takes, or the tables over arms."""
    if arguments.table or arguments.arms or arguments.vehicles:
        return _tables(arguments)
    if arguments.model is None:
        raise UsageError("say which model: kane ops MODEL; or ask for a table with --table, --arms or --vehicles")
    return _model_counts(arguments)


def _tables(arguments: Namespace) -> int:
    from ..analysis import arm_table, known_arms, mobile_table

    if arguments.model is not None or arguments.free or arguments.set or arguments.base:
        raise UsageError("--table, --arms and --vehicles have models of their own: leave out the model and its options")
    general = arm_table() if arguments.table else None
    known = known_arms() if arguments.arms else None
    vehicles = mobile_table() if arguments.vehicles else None
    if arguments.json:
        found = {"table": general, "arms": known, "vehicles": vehicles}
        print_json({name: each.to_dict() for name, each in found.items() if each is not None})
        return FINE
    if general is not None:
        heading("efforts of an arm with n revolute axes, every parameter free: Table 1 of [AMR89] and our line")
        columns = ("by", "method", "mul", "add", "mul, n = 6", "add, n = 6")
        table(
            columns,
            [(r.source, r.method, *_blank_for_none(r.mul, r.add), r.mul_six, r.add_six) for r in general.rows],
            words=2,
        )
    if known is not None:
        heading("efforts of well-known arms, numbers folded")
        rows = [(arm, r.source, *_blank_for_none(r.mul, r.add, r.arithmetic, r.trig)) for arm, r in known.rows]
        table(("arm", "by", "mul", "add", "in all", "sin, cos"), rows, words=2)
    if vehicles is not None:
        heading(
            "vehicles on w wheels with an arm of m links, every parameter free: bounds of [TK01] and ours (mul + add)"
        )
        columns, *rows = vehicles.cells()
        table(columns, rows, words=0)
    return FINE


def _blank_for_none(*values: Any) -> tuple[Any, ...]:
    """Values with nothing in place of None."""
    return tuple("" if x is None else x for x in values)


def _model_counts(arguments: Namespace) -> int:
    """Counts of the programs of one model, by stage."""
    model = model_of(arguments)
    equations = model.equations(free="all") if arguments.free else model.equations()
    counts: dict[str, dict[str, Any]] = {}
    for name in PROGRAMS:
        program = equations.program(name)
        counts[name] = {**equations.count(name), "stages": {stage: program.count(stage) for stage in STAGES}}
    if arguments.json:
        print_json(counts)
        return FINE
    heading(f"operations of one evaluation, {'every parameter an input' if arguments.free else 'numbers folded'}")
    shown = [k for k in COUNTED if k in ("mul", "add", "div", "trig") or any(c[k] for c in counts.values())]
    table(("program", *shown), [(name, *(c[k] for k in shown)) for name, c in counts.items()])
    heading("by stage: what depends on parameters alone is done once, the rest as its inputs change")
    stages = [s for s in STAGES if any(sum(c["stages"][s].values()) for c in counts.values())]
    rows = []
    for name, c in counts.items():
        rows.append((name, *(_mul_add(c["stages"][s]) for s in stages)))
    table(("program  (mul+div / add)", *(_STAGE_WORDS[s] for s in stages)), rows)
    _compare(model)
    return FINE


def _compare(model: Model) -> None:
    """The counts beside those of the literature, where there are any."""
    from ..analysis import operation_table

    rows = operation_table(model.mechanism).rows
    if all("kane" in row.source for row in rows):
        return
    heading("beside published counts")
    shown = [(r.computation, r.source, *_blank_for_none(r.mul, r.add, r.div, r.trig, r.arithmetic)) for r in rows]
    table(("computation", "by", "mul", "add", "div", "trig", "in all"), shown, words=2)


def _mul_add(count: dict[str, int]) -> str:
    return f"{count['mul'] + count['div']} / {count['add']}"
