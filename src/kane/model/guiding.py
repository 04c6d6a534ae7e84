"""Constraints of a description: the table of them, and those that the analyst writes as equations.

An equation linear in rates is a motion constraint; one in coordinates and t is a configuration constraint, whose rate
is one. Speeds in it are replaced by their definitions, so that rows stay valid whatever speeds are chosen later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, depends_on, evaluate, linear_coefficients, reachable, substitute, time_derivative
from ..graph.graph import INPUT
from ..space import Frame, Vector
from ..space.algebra import Triple
from .constraints import Constraint, Row
from .loads import Effort
from .measures import MeasureNumbers
from .normal import normal_text
from .pairs import Place, across, at_coincident, row
from .records import Body, Joint
from .spacecraft import Spacecraft
from .symbols import Quantity

ORIGIN = (0.0, 0.0, 0.0)
Equations = Quantity | Sequence[Quantity]
Geometry = TypeVar("Geometry")
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w.'])")  # a name that is no measure number and no rate
_EQUALS = re.compile(r"(?<![<>=])=(?!=)")  # of an equation; comparisons are another thing


class Guided(Spacecraft):
    """A tree of bodies under constraints."""

    def __init__(self, name: str, about: str):
        super().__init__(name, about)
        self.constraints: dict[str, Constraint] = {}

    def constraint(self, constraint: Constraint) -> Constraint:
        """Add a constraint of any kind: rows told by their reactions, see `Row`."""
        self._new_constraint(constraint.name)
        if not constraint.rows:
            raise ModelError(
                Problem(self.where(f"constraint '{constraint.name}'"), "it has no rows", "a constraint takes motion")
            )
        labels = [row.label for row in constraint.rows]
        if twice := next((label for label in labels if labels.count(label) > 1), None):
            where = self.where(f"constraint '{constraint.name}'")
            raise ModelError(Problem(where, f"two rows are labelled '{twice}'", "labels are unique", "rename one"))
        self.constraints[constraint.name] = constraint
        return constraint

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of all scalar constraints, in the order of the rows of A."""
        return tuple(name for c in self.constraints.values() for name in c.row_names())

    # equations -------------------------------------------------------------------------------------------------------

    def motion_constraint(self, name: str, equations: Equations) -> Constraint:
        """One or several equations linear in the rates: "q1' = 2*q2'", or an expression that is zero.

        They may use rates (q1'), speeds, w.BODY.x (ω · body axis), v.POINT.x (velocity of a point or of a body's
        origin), coordinates, t and parameters. The reaction of a row is a set of efforts along the motion variables.
        """
        where = self._new_constraint(name)
        variables, rows, told = list(self.motion_variables.values()), [], []
        for label, expr, text in self._equations(equations, where):
            try:
                ((factors,), (rest,)) = linear_coefficients([expr], variables)
            except ExpressionError as error:
                law = "a motion constraint is linear in the rates: A(q, t) u + c(q, t) = 0"
                raise ModelError(Problem(self.where(where), str(error), law, "write it linear in rates")) from None
            if all(f.is_zero for f in factors):
                law = "a motion constraint restricts rates, a configuration constraint the coordinates"
                what = f"there is no rate in {expr!r} = 0"
                raise ModelError(Problem(self.where(where), what, law, "use configuration_constraint"))
            rows.append(Row(label, self._efforts(factors), rest, None, ""))
            told.append(text)
        given = {"type": "motion", "equations": told}
        return self.constraint(Constraint(name, "motion", tuple(rows), given=given))

    def configuration_constraint(self, name: str, equations: Equations) -> Constraint:
        """One or several equations in coordinates, t and parameters: "q1 + q2 = pi/2", or an expression that is zero.

        They may use r.POINT.x, the position of a point or of a body's origin from O along an axis of N. Their rates are
        the rows; the reaction of a row is a set of efforts along the motion variables.
        """
        where = self._new_constraint(name)
        variables, rows, told = list(self.motion_variables.values()), [], []
        rates: dict[Expr, Expr | float] = {**self.coordinate_rates, self.time: 1.0}
        for label, expr, text in self._equations(equations, where):
            self._unmoving([expr], where, "use motion_constraint for an equation in rates")
            ((factors,), (rest,)) = linear_coefficients(time_derivative([expr], rates), variables)
            if all(f.is_zero for f in factors):
                law = "a configuration constraint restricts coordinates"
                raise ModelError(Problem(self.where(where), f"there is no coordinate in {expr!r} = 0", law))
            rows.append(Row(label, self._efforts(factors), rest, expr, ""))
            told.append(text)
        given = {"type": "configuration", "equations": told}
        return self.constraint(Constraint(name, "configuration", tuple(rows), given=given))

    def velocity_constraint(
        self,
        name: str,
        body: Body | str,
        direction: str | Sequence[Quantity],
        *,
        at: Sequence[Quantity] = ORIGIN,
        frame: Frame | Body | str = "N",
        relative_to: Body | str = "ground",
        value: Quantity = 0.0,
    ) -> Constraint:
        """v · e = value (m/s): the velocity of the point `at` of `body` along `direction`, components in `frame`.

        It is the velocity in N, or that relative to the coinciding point of the body `relative_to`. `direction` is a
        unit vector; its components, and `value`, may be expressions in q, t and parameters. The reaction is a force
        along it on the body, at that point.
        """
        where = self._new_constraint(name)
        first, second = self._two_bodies(relative_to, body, where)
        axes = self.frame_named(frame, where)
        e = self._direction(direction, f"{where} / direction")
        rate = self._rate_free(value, f"{where} / value")
        place = Place.on(second, self.fixed_triple(at, f"{where} / at"), self.time, f"{name}.point")
        given = {"type": "velocity", "body": second.name, "direction": e, "frame": axes, "at": place.at}
        given.update(relative_to=first.name, value=rate)
        guide = self._guide("velocity", first, place, Vector(axes, e), -rate)
        return self.constraint(Constraint(name, "velocity", (guide,), first, second, place.point, given))

    def knife_edge(
        self,
        name: str,
        body: Body | str,
        *,
        at: Sequence[Quantity] = ORIGIN,
        direction: str | Sequence[Quantity] = "y",
        on: Body | str = "ground",
    ) -> Constraint:
        """A blade or a skate: the point `at` of `body` has no velocity along `direction`, a unit vector of the body's
        frame, relative to the body `on`. The reaction is a force along it, at that point."""
        where = self._new_constraint(name)
        first, second = self._two_bodies(on, body, where)
        e = self.axis(direction, f"{where} / direction")
        place = Place.on(second, self.fixed_triple(at, f"{where} / at"), self.time, f"{name}.edge")
        guide = self._guide("lateral", first, place, Vector(place.frame, e), self.graph.const(0.0))
        given = {"type": "knife-edge", "body": second.name, "at": place.at, "direction": e, "on": first.name}
        return self.constraint(Constraint(name, "knife-edge", (guide,), first, second, place.point, given))

    def _guide(self, label: str, first: Body, place: Place, e: Vector, drift: Expr) -> Row:
        """A force e on the second body at a place, minus it on the coinciding point of the first."""
        acting = place.push(e)
        if first is not self.ground:
            acting += at_coincident(first, place.point, -e, f"{place.point.name}.of {first.name}")
        return row(label, acting, drift, ground=self.ground)

    # what constraints are made of ------------------------------------------------------------------------------------

    def _new_constraint(self, name: str) -> str:
        """Where faults of a new constraint are; refuses a name that is taken."""
        self._new_name(name, "constraint", self.constraints)
        return f"constraint '{name}'"

    def _equations(self, equations: Equations, where: str) -> list[tuple[str, Expr, Expr | str]]:
        """(label, expression that is zero in motion variables, how to tell it) of each equation."""
        given = one_or_more(equations)
        if not given:
            raise ModelError(Problem(self.where(where), "no equation is given", mend="give an expression that is zero"))
        names = MeasureNumbers(self, self._names)
        definitions = {s.symbol: s.definition for s in self.speed_records.values()}
        sides = [self._sides(equation, where, names) for equation in given]
        exprs = substitute(sides, definitions)
        return [(str(k + 1), e, self._tell(e, g)) for k, (e, g) in enumerate(zip(exprs, given, strict=True))]

    def _tell(self, expr: Expr, given: Quantity) -> Expr | str:
        """The expression itself; or, where measure numbers make it too long to write out, the text that names them."""
        try:
            normal_text(expr)
        except ExpressionError:
            if isinstance(given, str) and not set(_WORD.findall(given)) & set(self.speed_records):
                return given
        return expr

    def _sides(self, equation: Quantity, where: str, names: Mapping[str, Expr]) -> Expr:
        """An equation as an expression that is zero: left side minus right side."""
        if not isinstance(equation, str):
            return self.scalar(equation, where)
        sides = _EQUALS.split(equation)
        if len(sides) > 2:
            what, mend = f"'{equation}' has {len(sides) - 1} equal signs", "write one equation each"
            raise ModelError(Problem(self.where(where), what, "an equation has two sides", mend))
        left, *right = [self.scalar(side, where, names) for side in sides]
        return left - right[0] if right else left

    def _efforts(self, factors: Sequence[Expr]) -> tuple[Effort, ...]:
        variables = self.motion_variables.values()
        return tuple(Effort(s, f) for s, f in zip(variables, factors, strict=True) if not f.is_zero)

    def _unmoving(self, exprs: Sequence[Expr], where: str, mend: str) -> None:
        """Refuse expressions that depend on rates or speeds."""
        moving = {s.id for s in (*self.motion_variables.values(), *(u.symbol for u in self.speed_records.values()))}
        for node in reachable(self.graph, (e.id for e in exprs)):
            if node in moving:
                law = "this quantity may depend on coordinates, t and parameters"
                what = f"it depends on the rate {self.graph.expr(node)!r}"
                raise ModelError(Problem(self.where(where), what, law, mend))

    def _rate_free(self, value: Quantity, where: str) -> Expr:
        expr = self.scalar(value, where)
        self._unmoving([expr], where, "write the rates in a motion_constraint")
        return expr

    def _timely(self, exprs: Sequence[Expr], where: str) -> list[float]:
        """Values at t = 0; refuses what depends on more than t and parameters, or is not finite there."""
        known = {"t", *self.parameters}
        for node in reachable(self.graph, (e.id for e in exprs)):
            if self.graph.ops[node] == INPUT and (name := self.graph.args[node][0]) not in known:
                what = f"it depends on '{name}'"
                raise ModelError(Problem(self.where(where), what, "this quantity may depend on t and parameters only"))
        values = evaluate(list(exprs), {"t": 0.0, **self._values_of(exprs)})
        for expr, value in zip(exprs, values, strict=True):
            if not math.isfinite(value):
                raise ModelError(Problem(self.where(where), f"{expr!r} is {value:g} at t = 0", "values are finite"))
        return values

    def _place(self, body: Body, at: Sequence[Quantity], where: str, name: str) -> Place:
        """A place on a body, in t and parameters."""
        xyz = self.triple(at, where)
        self._timely(xyz, where)
        return Place.on(body, xyz, self.time, name)

    def _direction(self, direction: str | Sequence[Quantity], where: str) -> Triple:
        """A unit vector; judged where its components depend on parameters only."""
        if not isinstance(direction, str):
            xyz = self.triple(direction, where)
            self._unmoving(xyz, where, "write the rates in a motion_constraint")
            if depends_on(xyz, [self.time, *(c.symbol for c in self.coordinate_records.values())]):
                return xyz
        return self.axis(direction, where)

    def _across(self, axis: Triple, where: str) -> list[tuple[str, Triple]]:
        return across(axis, self.number(axis[2], where) < 0)

    def _two_bodies(self, first: Body | str, second: Body | str, where: str) -> tuple[Body, Body]:
        """Both bodies of a constraint, attached and not the same."""
        a, b = self._attached(first, where), self._attached(second, where)
        if a is b:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"body '{a.name}' is named twice",
                    "a constraint restricts the motion of one body relative to another",
                    "name two bodies, or the ground",
                )
            )
        return a, b

    def _determined(self, where: str, law: str, built: Callable[[], Geometry]) -> Geometry:
        """What `built` returns; refuses a geometry that is the same in every state and has no direction."""
        try:
            return built()
        except ExpressionError as error:
            what = f"it has no direction in any state: {error}"
            raise ModelError(Problem(self.where(where), what, law, "check places and axes")) from None

    def _positive(self, value: Quantity, what: str, where: str, least: str = "> 0") -> Expr:
        """A length that depends on parameters only, more than zero (or, with `least` "≥ 0", not less)."""
        expr = self.scalar(value, f"{where} / {what}")
        self.constant([expr], f"{where} / {what}")
        number = self.number(expr, f"{where} / {what}")
        if number < 0 or (number == 0 and least == "> 0"):
            law = f"a {what} is {least}"
            raise ModelError(Problem(self.where(where), f"{what} {number:g} m", law, f"give a {what} {least}"))
        return expr

    def _one_motion(self, joint: Joint | str, where: str) -> Joint:
        """A joint with one coordinate whose rate is its motion variable."""
        record = joint if isinstance(joint, Joint) else self.find("joint", joint, self.joints, where)
        if len(record.coordinates) != 1 or len(record.rates) != 1:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"joint '{record.name}' is of type {record.type.kind}, with {len(record.rates)} degrees of freedom",
                    "gears, belts and racks tie joints of one degree of freedom together",
                    "name a revolute, prismatic or screw joint",
                )
            )
        return record


def one_or_more(equations: Equations) -> list[Quantity]:
    """Equations as a list, also a single one."""
    if isinstance(equations, Sequence) and not isinstance(equations, str):
        return list(equations)
    return [equations]
