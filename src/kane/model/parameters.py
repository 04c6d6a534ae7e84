"""New values of parameters: everything that was judged with the old ones when it was declared is judged again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, depends_on, evaluate
from ..space.algebra import Triple
from .builder import Builder
from .changing import build_changing
from .constraints.changing import BuiltChanging
from .constraints.equations import equation_exprs
from .constraints.shapes import ContactShape, describe_shape
from .fields import Field, fields_of, resolve_fields
from .joints import Coupled, Cylindrical, JointType, Prescribed, Prismatic, Revolute, Screw
from .reaction_wheels import check_pendulum, check_spin_inertia
from .records import Body
from .speeds import check_definitions
from .symbols import Quantity
from .vehicles import check_coefficients

if TYPE_CHECKING:
    from .mechanism import Mechanism

Check = tuple[Iterable[Expr], Callable[[], object]]
"""What a check depends on, and the check."""


def change_parameters(m: Mechanism, values: Mapping[str, Quantity]) -> tuple[str, ...]:
    """Set parameters; returns those of them that are not free. Raises ModelError for all that is wrong with the
    description at the new values, with nothing changed."""
    changed = {}
    for name, value in values.items():
        where = f"parameter '{name}'"
        record = m.find("parameter", name, m.parameters, "parameters")
        number = m.number(m.scalar(value, where), where)
        if not math.isfinite(number):
            raise ModelError(Problem(m.where(where), f"{number:g} is not a finite number"))
        changed[name] = replace(record, value=number)
    before, remarks = dict(m.parameters), list(m.remarks)
    m.parameters.update(changed)
    symbols = [record.symbol for name, record in changed.items() if record.value != before[name].value]
    problems = list(_problems(m, symbols)) if symbols else []
    if problems:
        m.parameters.update({name: before[name] for name in changed})
        m.remarks[:] = remarks
        raise ModelError(problems)
    _follow(m, m.coordinate_records)
    _follow(m, m.speed_records)
    return tuple(name for name, record in changed.items() if not record.free)


def start_with(m: Mechanism, values: Sequence[float]) -> Mechanism:
    """The description that starts with these values of its free parameters, in their order; itself where no initial
    value follows them."""
    if not starts_follow(m):
        return m
    free = {name: p for name, p in m.parameters.items() if p.free}
    twin = m.twin()
    twin.parameters.update((n, replace(p, value=float(x))) for (n, p), x in zip(free.items(), values, strict=True))
    _follow(twin, twin.coordinate_records)
    _follow(twin, twin.speed_records)
    return twin


def starts_follow(m: Mechanism) -> bool:
    """Whether an initial value follows free parameters."""
    free = [p.symbol for p in m.parameters.values() if p.free]
    starts = [r.start for r in (*m.coordinate_records.values(), *m.speed_records.values()) if r.start is not None]
    return bool(starts and free and depends_on(starts, free))


def initial_states(m: Mechanism, sets: Iterable[Sequence[float]]) -> Iterator[list[float]]:
    """Initial coordinates and speeds for each of many sets of values of the free parameters, as `start_with` has them;
    nan where an expression has no value."""
    records = [*m.coordinate_records.values(), *m.speed_records.values()]
    usual = [r.initial for r in records]
    followed = [(i, r.start) for i, r in enumerate(records) if r.start is not None] if starts_follow(m) else []
    values = {name: p.value for name, p in m.parameters.items()}
    free = [name for name, p in m.parameters.items() if p.free]
    for given in sets:
        state = usual.copy()
        if followed:
            values.update(zip(free, given, strict=True))
            try:
                found = evaluate([start for _, start in followed], values)
            except (ExpressionError, ArithmeticError, ValueError):
                found = [math.nan] * len(followed)
            for (i, _), x in zip(followed, found, strict=True):
                state[i] = x
        yield state


def _follow(m: Mechanism, records: dict[str, Any]) -> None:
    """Give the initial values that are expressions in parameters their present values."""
    for name, record in records.items():
        if record.start is not None:
            records[name] = replace(record, initial=m.number(record.start, f"initial '{name}'"))


def check_rotor(m: Mechanism, inertia: Expr, where: str) -> None:
    """Refuse a rotor of negative inertia (kg m²)."""
    m.constant([inertia], f"{where} / inertia")
    number = m.number(inertia, f"{where} / inertia")
    if number < 0:
        what = f"inertia {number:g} kg m²"
        raise ModelError(Problem(m.where(where), what, "no inertia is negative", "give one ≥ 0"))


def _problems(m: Mechanism, symbols: list[Expr]) -> Iterator[Problem]:
    """What is wrong with the parts of a description that depend on these parameters, at their present values, each with
    those of them that it depends on."""
    for exprs, check in _checks(m):
        written = [e for e in exprs if e.number is None]
        if written and depends_on(written, symbols):
            try:
                check()
            except ModelError as error:
                names = tuple(repr(s) for s in symbols if depends_on(written, [s]))
                yield from (replace(problem, parameters=names) for problem in error.problems)


def _checks(m: Mechanism) -> Iterator[Check]:
    yield m.gravity, partial(m.constant, m.gravity, "gravity")
    for body in m.bodies.values():
        if body.name not in m.reaction_wheels:
            yield (body.mass, *(e for row in body.inertia for e in row)), partial(_check_body, m, body)
            yield body.center, partial(m.constant, body.center, f"body '{body.name}' / center")
    for joint in m.joints.values():
        where = f"joint '{joint.name}'"
        turned = (e for mount in (joint.mount, joint.child_mount) for row in mount for e in row)
        placed = (*joint.at, *joint.child_at, *turned)
        yield placed, partial(m.constant, placed, where)
        if (axis := _axis_of(joint.type)) is not None:
            yield axis, partial(m.axis, axis, f"{where} / axis")
    for wheel in m.reaction_wheels.values():
        where = f"wheel '{wheel.name}'"
        yield wheel.axis, partial(m.axis, wheel.axis, f"{where} / axis")
        yield (wheel.inertia,), partial(check_spin_inertia, m, wheel.inertia, f"{where} / inertia")
    for name, length in m.pendulums.items():
        yield (length,), partial(check_pendulum, m, length, f"slosh '{name}'")
    for rotor in m.rotors.values():
        yield (rotor.inertia,), partial(check_rotor, m, rotor.inertia, f"rotor '{rotor.name}'")
    for vehicle in m.vehicles.values():
        law, build = (vehicle.friction, vehicle.restitution), Builder(m, vehicle.name, f"vehicle '{vehicle.name}'")
        yield law, partial(check_coefficients, build, *law)
    for record in (*m.coordinate_records.values(), *m.speed_records.values()):
        if record.start is not None:
            yield (record.start,), partial(m.constant, (record.start,), f"initial '{record.name}'")
    yield from _record_checks(m)
    if m.speeds_chosen:
        speeds = list(m.speed_records.values())
        yield [s.definition for s in speeds], partial(check_definitions, m, speeds)


def _check_body(m: Mechanism, body: Body) -> None:
    """Judge mass and inertia; what was remarked upon before is forgotten."""
    where = m.where(f"body '{body.name}' / inertia")
    m.remarks[:] = [remark for remark in m.remarks if remark.where != where]
    m.check_mass(body)


def _axis_of(kind: JointType) -> Triple | None:
    """The axis of a joint type that has one."""
    if isinstance(kind, Coupled | Prescribed):
        return _axis_of(kind.moves)
    return kind.axis if isinstance(kind, Revolute | Prismatic | Screw | Cylindrical) else None


def _record_checks(m: Mechanism) -> Iterator[Check]:
    """Loads and constraints are made again; what is made is thrown away."""
    for load in m.loads.values():
        yield _exprs(load.record, load.build), partial(_check_load, load.record, load.build)
    for constraint in m.constraints.values():
        build = Builder(m, constraint.name, f"constraint '{constraint.name}'")
        yield _exprs(constraint.record, build), partial(_check_constraint, constraint.record, build)
    for part in {c.given: c for c in m.changing.values()}.values():
        build = Builder(m, part.given, "")
        exprs = (*_exprs(part.record, build), *_exprs(part.conditions, build))
        yield exprs, partial(_check_changing, m, part)


def _check_load(record: Any, build: Builder) -> None:
    resolve_fields(record, build).check(build)


def _check_constraint(record: Any, build: Builder) -> None:
    resolve_fields(record, build).make_rows(build)


def _check_changing(m: Mechanism, part: BuiltChanging) -> None:
    where = f"{'contact' if part.kind == 'contact' else 'constraint'} '{part.given}'"
    build_changing(m, part.given, part.record, part.conditions, where)


def _exprs(record: Any, build: Builder) -> Iterator[Expr]:
    """Every expression in the fields of a stored record."""
    for info in fields_of(type(record)):
        value = getattr(record, info.name)
        if info.holds in (Field.EQUATIONS, Field.MEASURE):
            yield from equation_exprs(build, value)
        elif info.holds is not None:
            yield from _exprs_in(value)


def _exprs_in(value: Any) -> Iterator[Expr]:
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, ContactShape):
        yield from _exprs_in(list(describe_shape(value).values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _exprs_in(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _exprs_in(item)
