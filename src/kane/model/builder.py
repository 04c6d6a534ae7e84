"""What the records of constraints and loads are made with: parts, quantities, places and rows of one mechanism.

A `Builder` belongs to one constraint or load; every fault that it finds is reported with that name. What it takes may
be as a user gives it, or as it was stored: both give the same.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, Graph, evaluate, forward, reachable, time_derivative
from ..graph.graph import INPUT
from ..space import Frame, Point
from ..space.algebra import Matrix, Triple
from .constraints.equations import curve_exprs, describe_equations, equation_exprs, one_or_more
from .constraints.places import Acting, BodyPlace, perpendiculars, row
from .constraints.rows import Row
from .constraints.shapes import ContactShape, make_shape
from .records import Body, Joint, frames_to_ground
from .symbols import Quantity

if TYPE_CHECKING:
    from .mechanism import Mechanism

Geometry = TypeVar("Geometry")


class RowSymbols(Mapping[str, Expr]):
    """Names of rows, those of a mechanism and some more → the symbols that stand for their reactions."""

    def __init__(self, mechanism: Mechanism, further: Sequence[str]):
        self._mechanism = mechanism
        self._further = further

    def __getitem__(self, name: str) -> Expr:
        if name not in self:
            raise KeyError(name)
        return self._mechanism.graph.input(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._further or self._mechanism.has_row(name))

    def __iter__(self) -> Iterator[str]:
        return iter((*self._mechanism.all_row_names, *self._further))

    def __len__(self) -> int:
        return len(self._mechanism.all_row_names) + len(self._further)


class Builder:
    """Makes the parts of one constraint or load; `where` says which, in errors."""

    __slots__ = ("mechanism", "name", "rows", "where")

    def __init__(self, mechanism: Mechanism, name: str, where: str, rows: Sequence[str] = ()):
        """`rows` are names of rows that are being made, and not yet in the mechanism."""
        self.mechanism = mechanism
        self.rows = rows
        self.name = name
        self.where = where

    @property
    def graph(self) -> Graph:
        return self.mechanism.graph

    @property
    def time(self) -> Expr:
        return self.mechanism.time

    @property
    def ground(self) -> Body:
        return self.mechanism.ground

    def refuse(self, what: str, because: str = "", fix: str = "", field: str = "") -> ModelError:
        """The error to raise: what was found (in a field), because of what it is refused, how to fix it."""
        return ModelError(Problem(self.mechanism.where(self._at(field)), what, because, fix))

    def _at(self, field: str) -> str:
        return f"{self.where} / {field}" if field else self.where

    # parts of the mechanism ------------------------------------------------------------------------------------------

    def body(self, body: Body | str) -> Body:
        """A body that has been attached to the tree, or the ground."""
        record = self.mechanism.find_body(body, self.where)
        self.mechanism.find_frame(record, self.where)
        return record

    def two_bodies(self, first: Body | str, second: Body | str) -> tuple[Body, Body]:
        """Both bodies of a constraint, attached and not the same."""
        a, b = self.body(first), self.body(second)
        self.check_room(1, frames_to_ground(a, b))
        if a is b:
            because = "a constraint restricts the motion of one body relative to another"
            raise self.refuse(f"body '{a.name}' is named twice", because, "name two bodies, or the ground")
        return a, b

    def joint(self, joint: Joint | str) -> Joint:
        return self.mechanism.find_joint(joint, self.where)

    def joint_with_rate(self, joint: Joint | str, index: int) -> Joint:
        """A joint that has a speed of this index."""
        record = self.joint(joint)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(record.rates):
            raise self.refuse(f"index {index}", f"joint '{record.name}' has {len(record.rates)} speeds")
        return record

    def frame(self, frame: Frame | Body | str, field: str = "") -> Frame:
        return self.mechanism.find_frame(frame, self._at(field))

    def point(self, point: Point | Body | str, field: str = "") -> Point:
        return self.mechanism.find_point(point, self._at(field))

    # quantities ------------------------------------------------------------------------------------------------------

    def scalar(self, value: Quantity, field: str = "") -> Expr:
        """A number or an expression of any kind."""
        return self.mechanism.scalar(value, self._at(field))

    def constant(self, value: Quantity, field: str = "") -> Expr:
        """A quantity that depends on parameters only."""
        expr = self.scalar(value, field)
        self.mechanism.constant([expr], self._at(field))
        return expr

    def positive(self, value: Quantity, field: str, least: str = "> 0", called: str = "") -> Expr:
        """A length that depends on parameters only, more than zero (or, with `least` "≥ 0", not less)."""
        expr, name = self.constant(value, field), called or field
        number = self.number(expr, field)
        if number < 0 or (number == 0 and least == "> 0"):
            raise self.refuse(f"{name} {number:g} m", f"a {name} is {least}", f"give a {name} {least}", field)
        return expr

    def function_of_time(self, value: Quantity, field: str) -> Expr:
        """A quantity that depends on t and parameters only, with a value and a rate at t = 0."""
        expr = self.scalar(value, field)
        self.check_function_of_time([expr], field)
        return expr

    def rate_free(self, value: Quantity, field: str) -> Expr:
        """A quantity that depends on coordinates, t and parameters, and on no rate."""
        expr = self.scalar(value, field)
        self.check_rate_free([expr], field)
        return expr

    def number(self, expr: Expr, field: str = "") -> float:
        """The value of a quantity at the parameters' values."""
        return self.mechanism.number(expr, self._at(field))

    def triple(self, values: Sequence[Quantity], field: str = "") -> Triple:
        """Three components of any kind."""
        return self.mechanism.triple(values, self._at(field))

    def fixed_triple(self, values: Sequence[Quantity], field: str = "") -> Triple:
        """Three components that depend on parameters only."""
        return self.mechanism.fixed_triple(values, self._at(field))

    def axis(self, axis: str | Sequence[Quantity], field: str) -> Triple:
        """A unit vector that depends on parameters only."""
        return self.mechanism.axis(axis, self._at(field))

    def direction(self, direction: str | Sequence[Quantity], field: str) -> Triple:
        """A unit vector; judged where its components depend on parameters only."""
        if not isinstance(direction, str):
            xyz = self.triple(direction, field)
            self.check_rate_free(xyz, field)
            if self.depends_on_motion(xyz):
                return xyz
        return self.mechanism.axis(direction, self._at(field))

    def rotation(self, spec: Mapping[str, Any] | None, field: str) -> Matrix:
        """The matrix of an orientation that depends on parameters only."""
        return self.mechanism.fixed_rotation(spec, self._at(field))

    def flag(self, value: bool, field: str) -> bool:
        if value not in (True, False):
            because, fix = f"{field} is true or false", "give True or False (true or false in a file)"
            raise self.refuse(f"{field} is {value!r}", because, fix)
        return bool(value)

    def equations(self, given: Quantity | Sequence[Quantity]) -> tuple[Expr | str, ...]:
        """Equations as expressions that are zero, without speeds; as texts where they are too long to write out."""
        self.check_room(len(one_or_more(given)))
        return describe_equations(self, given, equation_exprs(self, given))

    def curve(self, given: Quantity | Sequence[Quantity]) -> tuple[Expr, ...]:
        """Equations of a surface or a curve as expressions in x, y, z, t and parameters that are zero."""
        return curve_exprs(self, given)

    def trigger(self, value: Quantity, field: str) -> Expr:
        """A quantity in which names of rows stand for their reactions: symbols of the same names."""
        known = self.mechanism.known_names
        rows = RowSymbols(self.mechanism, self.rows)
        if isinstance(value, str) and value.strip() not in known and value.strip() in rows:
            return rows[value.strip()]  # also one that is no name of the grammar
        return self.mechanism.scalar(value, self._at(field), ChainMap(known, rows))  # type: ignore[arg-type]

    def contact_shape(self, value: Mapping[str, Any] | ContactShape, field: str) -> ContactShape:
        """A shape that touches or is touched, its sizes and places in parameters."""
        return make_shape(self, value, field)

    def value_at_start(self, expr: Expr) -> float:
        """The value at t = 0 of a quantity that depends on t and parameters only."""
        return evaluate([expr], {"t": 0.0, **self.mechanism.values_of([expr])})[0]

    def rate_of(self, expr: Expr) -> Expr:
        """The rate of a quantity in coordinates, t and parameters: Σ ∂/∂q q̇ + ∂/∂t, in motion variables."""
        return time_derivative([expr], {**self.mechanism.coordinate_rates, self.time: 1.0})[0]

    # what quantities may depend on -----------------------------------------------------------------------------------

    def depends_on_parameters(self, exprs: Sequence[Expr]) -> bool:
        """Whether expressions depend on nothing but parameters."""
        return all(name in self.mechanism.parameters for name in self.mechanism.inputs_of(exprs))

    def depends_on_motion(self, exprs: Sequence[Expr]) -> bool:
        """Whether expressions depend on coordinates or t."""
        known = self.mechanism.coordinate_records
        return any(name == "t" or name in known for name in self.mechanism.inputs_of(exprs))

    def check_rate_free(self, exprs: Sequence[Expr], field: str = "", fix: str = "") -> None:
        """Refuse expressions that depend on rates or speeds."""
        m = self.mechanism
        for node in reachable(self.graph, (e.id for e in exprs)):
            name = self.graph.args[node][0] if self.graph.ops[node] == INPUT else None
            if name in m.motion_variables or name in m.speed_records:
                because = "this quantity may depend on coordinates, t and parameters"
                what = f"it depends on the rate {self.graph.expr(node)!r}"
                raise self.refuse(what, because, fix or "write the rates in MotionEquations (type: motion)", field)

    def check_function_of_time(self, exprs: Sequence[Expr], field: str = "") -> list[float]:
        """Values at t = 0; refuses what depends on more than t and parameters, or is not finite there, or its rate."""
        known = self.mechanism.parameters
        for node in reachable(self.graph, (e.id for e in exprs)):
            if self.graph.ops[node] == INPUT and (name := self.graph.args[node][0]) != "t" and name not in known:
                because = "this quantity may depend on t and parameters only"
                raise self.refuse(f"it depends on '{name}'", because, field=field)
        rates = forward(exprs, {self.time: 1.0}) if any(e.number is None for e in exprs) else []
        values = evaluate([*exprs, *rates], {"t": 0.0, **self.mechanism.values_of(exprs)})
        for k, value in enumerate(values):
            if not math.isfinite(value):
                expr = exprs[k % len(exprs)]
                raise self._not_finite(repr(expr) if k < len(exprs) else f"the rate of {expr!r}", value, field)
        return values[: len(exprs)]

    def check_finite_at_start(self, expr: Expr, what: str, field: str = "") -> None:
        """Refuse an expression in t and parameters that has no finite value at t = 0; others are not judged."""
        values = {"t": 0.0, **self.mechanism.values_of([expr])}
        if not values.keys() >= set(self.mechanism.inputs_of([expr])):
            return
        (value,) = evaluate([expr], values)
        if not math.isfinite(value):
            raise self._not_finite(what, value, field)

    def _not_finite(self, what: str, value: float, field: str) -> ModelError:
        because, fix = "what is imposed has a value and a rate", "shift its time: t + 1e-3, say, or begin with t**2"
        return self.refuse(f"{what} is {value:g} at t = 0", because, fix, field)

    def check_room(self, rows: int, steps: int = 0) -> None:
        """Refuse more rows than can be written out, unless they are made again; `steps` are the frames between them and
        the ground."""
        if not self.mechanism.has_constraint(self.name):
            self.mechanism.check_room(self.where, rows, steps)

    # places and rows -------------------------------------------------------------------------------------------------

    def place(self, body: Body, at: Sequence[Quantity], field: str = "") -> BodyPlace:
        """A place on a body (m, in its frame), in t and parameters; `field` is where it is given."""
        xyz = self.triple(at, field)
        self.check_function_of_time(xyz, field)
        return BodyPlace.on(body, xyz, self.time, f"{self.name}.{field.removesuffix('_at') or 'place'}")

    def row(
        self,
        label: str,
        acting: Iterable[Acting],
        *,
        rheonomic: Expr | None = None,
        residual: Expr | None = None,
        unit: str = "N",
    ) -> Row:
        """The row of a unit reaction: what it does to which body; what acts on the ground is left out."""
        rate = self.graph.const(0.0) if rheonomic is None else rheonomic
        return row(label, acting, rate, residual, unit, self.ground)

    def perpendiculars(self, axis: Triple) -> list[tuple[str, Triple]]:
        """Two unit vectors across a unit vector, with what they are called."""
        return perpendiculars(axis, self.number(axis[2]) < 0)

    def build_geometry(self, because: str, built: Callable[[], Geometry]) -> Geometry:
        """What `built` returns; refuses a geometry that is the same in every state and has no direction."""
        try:
            return built()
        except ExpressionError as error:
            what = f"it has no direction in any state: {error}"
            raise self.refuse(what, because, "check places and axes") from None
