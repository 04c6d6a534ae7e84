"""What comes and goes, added to a mechanism: records and conditions become named elements with their rows and laws."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from .builder import Builder
from .constraints.changing import (
    CONTACT,
    SWITCHED,
    BuiltChanging,
    Changing,
    ChangingLaw,
    ChangingRows,
    Conditions,
    make_law,
)
from .constraints.rows import BuiltConstraint, Constraint, GivenRows, name_rows
from .fields import resolve_fields
from .loads import Stop

if TYPE_CHECKING:
    from .mechanism import Mechanism


def build_changing(
    m: Mechanism, name: str, record: Constraint | Changing, conditions: Conditions, where: str
) -> tuple[BuiltChanging, ...]:
    """The elements of a record under conditions; `where` says which in errors."""
    build = Builder(m, name, where)
    stored = resolve_fields(record, build)
    made = _elements(build, stored, conditions)
    names = [f"{name}.{part.label}" if part.label else name for part in made]
    rows = [row for element, part in zip(names, made, strict=True) for row in name_rows(element, part.rows)]
    chosen = resolve_fields(conditions, Builder(m, name, where, rows))
    return tuple(
        BuiltChanging(
            element,
            stored.kind,
            part.type,
            part.rows,
            _law_under(build, part, chosen),
            part.first,
            part.second,
            part.point,
            stored,
            name,
            chosen,
        )
        for element, part in zip(names, made, strict=True)
    )


def _elements(build: Builder, record: Constraint | Changing, conditions: Conditions) -> tuple[ChangingRows, ...]:
    """What a record makes: its own elements or, of a constraint, one that is switched or a gap."""
    if hasattr(record, "make_changing"):
        for field, given in (("unilateral", conditions.unilateral), ("restitution", conditions.restitution != 0.0)):
            if given:
                what, because = f"{field} is given with a {record.kind}", "it comes and goes by a law of its own"
                raise build.refuse(what, because, f"leave out {field}, or give it to the record", field)
        return cast("Changing", record).make_changing(build)
    if not hasattr(record, "make_rows"):
        what, because = f"a {type(record).__name__} is no constraint", "a constraint makes rows"
        fix = "a rigid stop is a HardStop" if isinstance(record, Stop) else "add a load by load(…)"
        raise build.refuse(what, because, fix)
    made = cast("Constraint", record).make_rows(build)
    unilateral = build.flag(conditions.unilateral, "unilateral")
    if unilateral and (len(made.rows) != 1 or made.rows[0].residual is None):
        what = f"a {record.kind} with {len(made.rows)} rows" if len(made.rows) != 1 else f"a {record.kind}"
        because = "a unilateral constraint has one row, whose residual is a gap that is never negative"
        raise build.refuse(what, because, "use PointOnPlane or ConfigurationEquations, or a contact")
    if not unilateral and conditions.restitution != 0.0:
        because, fix = "what is switched on holds at once, without a bounce", "leave it out, or say unilateral"
        raise build.refuse("a restitution is given", because, fix, "restitution")
    law = make_law(build, restitution=conditions.restitution)
    kind = CONTACT if unilateral else SWITCHED
    return (ChangingRows("", kind, made.rows, law, made.first, made.second, made.point),)


def _law_under(build: Builder, part: ChangingRows, conditions: Conditions) -> ChangingLaw:
    """The law of an element with the conditions that were given."""
    when = part.law.when if conditions.when is None else build.scalar(conditions.when, "when")
    until = None if conditions.until is None else build.scalar(conditions.until, "until")
    duration = None
    if conditions.duration is not None:
        duration = build.constant(conditions.duration, "duration")
        if not build.number(duration) > 0.0:
            what = f"duration {build.number(duration):g} s"
            raise build.refuse(what, "a constraint holds for some time", "give a duration > 0", "duration")
    held = when is None if conditions.held is None else build.flag(conditions.held, "held")
    if not held and when is None:
        because = "nothing ever imposes it"
        raise build.refuse("it is not held at the start and has no condition", because, "give when, or held: true")
    return replace(part.law, when=when, until=until, duration=duration, held=held)


def hold_rows(m: Mechanism, chosen: Collection[str]) -> Mechanism:
    """A twin in which these of what comes and goes hold, and nothing else comes and goes: its constraints are the
    permanent ones, then the chosen ones in order."""
    twin = m.twin()
    for c in (c for c in m.changing.values() if c.name in chosen):
        record = GivenRows(c.rows, c.kind, c.first, c.second, c.point)
        twin.constraints[c.name] = BuiltConstraint(c.name, c.kind, c.rows, c.first, c.second, c.point, (), record)
    twin.changing = {}
    twin.revision += 1  # it is no longer what its file says
    return twin


def row_names_of(parts: Sequence[BuiltConstraint | BuiltChanging]) -> tuple[str, ...]:
    """Names of all rows of constraints, in order."""
    return tuple(name for part in parts for name in part.row_names())
