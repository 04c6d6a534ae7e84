"""What a motion is watched for: events, and the names of efforts, forces and reactions that expressions may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..boundary import describe_value
from ..constraints.metric import drop_rounding
from ..constraints.rank import row_rank
from ..errors import InputError, KaneError, ModelError, Problem
from ..formulation import ground_symbols, joint_symbols, multiplier_symbols, reaction_symbols
from ..formulation.joint_symbols import MEASURED
from ..graph import Expr, depends_on
from ..model import Mechanism
from ..model.measures import MotionNames
from ..simulate import Event
from .answers import Answers
from .constrained import constraint_rows, row_sizes
from .reactions import reactions
from .records import Array
from .vehicles import refuse_planar_watch


def read_events(mechanism: Mechanism, events: Any) -> list[tuple[Event, Expr]]:
    """What a motion is watched for, each event with the expression whose zero it is."""
    found: list[tuple[Event, Expr]] = []
    if events is not None and not isinstance(events, Mapping):
        raise InputError(f"events = {describe_value(events)}\n    fix: give a mapping name → expression")
    for name, value in cast("Mapping[str, Any]", events or {}).items():
        spec = dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {"expression": value}
        expression = spec.pop("expression", None)
        unknown = set(spec) - {"direction", "terminal"}
        if expression is None or unknown:
            raise ModelError(
                Problem(
                    mechanism.where(f"event '{name}'"),
                    f"cannot be made of {sorted(spec)}" if unknown else "has no expression",
                    fix="give an expression, or {expression, direction, terminal}",
                )
            )
        found.append((Event(name, **spec), watch_expression(mechanism, expression, f"event '{name}'")))
    refuse_planar_watch(mechanism, [expr for _, expr in found])
    return found


def effort_names(speeds: Sequence[str]) -> tuple[str, ...]:
    """Names of efforts along the speeds, of tau and of the control law together: tau_u1 acts along u1."""
    return tuple(f"tau_{name}" for name in speeds)


def effort_symbols(mechanism: Mechanism) -> dict[str, Expr]:
    """Names and symbols of efforts along the speeds; a name that the description has for something else is left out."""
    names = effort_names(mechanism.speeds)
    return {name: mechanism.graph.input(name) for name in names if name not in mechanism.known_names}


def force_symbols(mechanism: Mechanism) -> dict[str, Expr]:
    """Names and symbols of forces that follow from the motion: multipliers of rows, reactions that auxiliary speeds
    bring into evidence, forces and moments in joints and of constraints, and what the ground does."""
    rows = (*mechanism.row_names, *(name for c in mechanism.changing.values() for name in c.row_names()))
    multipliers = dict(zip(rows, multiplier_symbols(mechanism.graph, len(rows)), strict=True))
    return joint_symbols(mechanism) | reaction_symbols(mechanism) | multipliers | ground_symbols(mechanism)


def watch_expression(mechanism: Mechanism, expression: Any, where: str, more: Mapping[str, Expr] | None = None) -> Expr:
    """What an event watches: an expression of the description in which rows of constraints name their multipliers and
    tau_u1 the effort along u1, with measure numbers (r.BODY.x) and `more` names that it may use."""
    symbols = force_symbols(mechanism) | effort_symbols(mechanism) | dict(more or {})
    if isinstance(expression, str) and not any(f"{what}." in expression for what in MEASURED):  # nor tell of so many
        symbols = {name: symbol for name, symbol in symbols.items() if name.partition(".")[0] not in MEASURED}
    names = MotionNames(mechanism, symbols)
    if isinstance(expression, str) and expression.strip() in names.plain:
        return names.plain[expression.strip()]  # also one that is no name of the grammar
    return mechanism.scalar(expression, where, names)


def find_undetermined(
    answers: Answers, events: Sequence[tuple[Event, Expr]], t: float, state: tuple[Array, Array], tau: Array
) -> tuple[str, ...]:
    """What is to be told of events that watch what rigid bodies leave open where a motion starts; rows that restrict
    nothing, whose λ is zero at all times, are refused."""
    m = answers.mechanism
    exprs = [e for _, e in events]
    if m.changing or not m.constraints or not depends_on(exprs, force_symbols(m).values()):
        return ()
    rows = constraint_rows(answers, *state, t=t)
    if row_rank(rows.A, sizes=row_sizes(answers)) == len(rows.A):
        return ()
    idle = ~np.any(drop_rounding(rows.A, row_sizes(answers)), axis=1)
    multipliers = dict(zip(m.row_names, multiplier_symbols(m.graph, len(m.row_names)), strict=True))
    for event, expr in events:
        for (name, symbol), nothing in zip(multipliers.items(), idle.tolist(), strict=True):
            if nothing and depends_on([expr], [symbol]):
                others = ", ".join(row for row, idles in zip(m.row_names, idle, strict=True) if not idles)
                raise ModelError(
                    Problem(
                        m.where(f"event '{event.name}'"),
                        f"watches λ of '{name}', which restricts nothing where the motion starts, so that it is zero",
                        "every motion there satisfies this row anyway, and rigid bodies do not say what it carries",
                        f"watch another row ({others}), or leave this one out of the model",
                    )
                )
    try:
        loose = reactions(answers, *state, tau, t=t, anywhere=True).undetermined
    except KaneError:  # reactions of no joints: λ are those of least norm all the same
        return ()
    open_symbols = {name: symbol for name, symbol in multipliers.items() if name in loose}
    open_symbols |= {name: x for name, x in joint_symbols(m).items() if _is_open(name, loose)}
    told: list[str] = []
    for event, expr in events:
        names = [name for name, symbol in open_symbols.items() if depends_on([expr], [symbol])]
        if names:
            told.append(
                f"event '{event.name}' watches {', '.join(names)}, which rigid bodies leave undetermined: rows are"
                " redundant, and share the load here as if all were equally stiff"
            )
    return tuple(told)


def _is_open(name: str, loose: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether force.knee.x is among the components that are open, or, of the size force.knee, any of the force."""
    what, _, rest = name.partition(".")
    of, _, axis = rest.rpartition(".") if rest[-2:] in (".x", ".y", ".z") else (rest, "", "")
    parts = loose.get(of.removesuffix(".joint").removesuffix(".constraint"), ())
    return any(part.startswith(f"{what} {axis}") for part in parts)


__all__ = [
    "effort_names",
    "effort_symbols",
    "find_undetermined",
    "force_symbols",
    "read_events",
    "watch_expression",
]
