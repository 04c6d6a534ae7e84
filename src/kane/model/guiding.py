"""Constraints of a description: the table of them, and those that the analyst writes as equations.

An equation linear in rates is a motion constraint; one in coordinates and t is a configuration constraint, whose rate
is one. Speeds in it are replaced by their definitions, so that rows stay valid whatever speeds are chosen later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, depends_on, evaluate, forward, linear_coefficients, reachable, substitute, time_derivative
from ..graph.graph import INPUT
from ..space import Frame, Point, Vector
from ..space.algebra import Triple
from .constraints import Constraint, Row
from .expression import parse_expression
from .loads import Effort
from .measures import MeasureNumbers
from .normal import normal_text
from .pairs import Acting, Place, across, at_arm, at_coincident, row
from .records import Body, Joint
from .spacecraft import Spacecraft
from .symbols import Quantity

ORIGIN = (0.0, 0.0, 0.0)
Equations = Quantity | Sequence[Quantity]
Geometry = TypeVar("Geometry")
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w.'])")  # a name that is no measure number and no rate
_EQUALS = re.compile(r"(?<![<>=])=(?!=)")  # of an equation; comparisons are another thing
_COMPARISONS = ("less", "less_equal", "equal")


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
        if taken := set(constraint.row_names()).intersection(self.row_names):
            where, what = self.where(f"constraint '{constraint.name}'"), f"there is a row '{min(taken)}' already"
            raise ModelError(
                Problem(where, what, "names of rows, constraint.label, are unique", "rename one of the two")
            )
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
                self._restricting(expr, where)
                law = "a motion constraint restricts rates, a configuration constraint the coordinates"
                mend = "use configuration_constraint (type: configuration)"
                raise ModelError(Problem(self.where(where), f"there is no rate in {expr!r} = 0", law, mend))
            self._finite_at_start(-rest, f"its imposed rate {-rest!r}", where)
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
            self._unmoving([expr], where, "use motion_constraint (type: motion) for an equation in rates")
            ((factors,), (rest,)) = linear_coefficients(time_derivative([expr], rates), variables)
            if all(f.is_zero for f in factors):
                self._restricting(expr, where)
                law = "a configuration constraint restricts coordinates"
                raise ModelError(Problem(self.where(where), f"there is no coordinate in {expr!r} = 0", law))
            self._finite_at_start(-rest, f"its imposed rate {-rest!r}", where)
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
        at_frame: Frame | Body | str | None = None,
        frame: Frame | Body | str = "N",
        relative_to: Body | str = "ground",
        value: Quantity = 0.0,
    ) -> Constraint:
        """v · e = value (m/s): the velocity of the point `at` of `body` along `direction`, components in `frame`.

        It is the velocity in N, or that relative to the coinciding point of the body `relative_to`. `direction` is a
        unit vector; its components, and `value`, may be expressions in q, t and parameters. `at` (m) is from the body's
        origin, components in `at_frame` (default: the body's own); where that place moves in the body, as a contact
        does, the velocity is that of the material point which is there at the moment. The reaction is a force along
        the direction on the body, at that point.
        """
        where = self._new_constraint(name)
        first, second = self._two_bodies(relative_to, body, where)
        axes = self.frame_named(frame, where)
        e = self._direction(direction, f"{where} / direction")
        rate = self._rate_free(value, f"{where} / value")
        given = {"type": "velocity", "body": second.name, "direction": e, "frame": axes}
        given.update(relative_to=first.name, value=rate)
        point, acting = self._material(name, second, self._arm(second, at, at_frame, where), Vector(axes, e))
        given.update(
            at=point.offset.xyz, **({} if point.offset.frame is second.frame else {"at_frame": point.offset.frame})
        )
        guide = self._guide("velocity", first, point, acting, Vector(axes, e), -rate)
        return self.constraint(Constraint(name, "velocity", (guide,), first, second, point, given))

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
        edge = Vector(place.frame, e)
        guide = self._guide("lateral", first, place.point, place.push(edge), edge, self.graph.const(0.0))
        given = {"type": "knife-edge", "body": second.name, "at": place.at, "direction": e, "on": first.name}
        return self.constraint(Constraint(name, "knife-edge", (guide,), first, second, place.point, given))

    def _guide(self, label: str, first: Body, point: Point, acting: list[Acting], e: Vector, drift: Expr) -> Row:
        """A force e at a point, what it does to the second body; minus it on the coinciding point of the first."""
        if first is not self.ground:
            acting = [*acting, *at_coincident(first, point, -e, f"{point.name}.of {first.name}")]
        return row(label, acting, drift, ground=self.ground)

    def _arm(self, body: Body, at: Sequence[Quantity], frame: Frame | Body | str | None, where: str) -> Vector:
        """From the origin of a body to a place that may move in it: components in q, t and parameters."""
        home = body.frame if frame is None else self.frame_named(frame, f"{where} / at_frame")
        xyz = self.triple(at, f"{where} / at")
        self._unmoving(xyz, f"{where} / at", "write the rates in a motion_constraint")
        if not self._in_motion(xyz):
            self.constant(xyz, f"{where} / at")
        assert home is not None
        return Vector(home, xyz)

    def _material(self, name: str, body: Body, arm: Vector, force: Vector) -> tuple[Point, list[Acting]]:
        """The point of a body at `arm` from its origin, and what a force on it there is for the body."""
        if arm.frame is body.frame and not self._in_motion(arm.xyz):
            place = Place.on(body, arm.xyz, self.time, f"{name}.point")
            return place.point, place.push(force)
        assert body.origin is not None
        return body.origin.located(f"{name}.point", arm), at_arm(body, arm, force, f"{name}.origin")

    def _in_motion(self, exprs: Sequence[Expr]) -> bool:
        """Whether expressions depend on coordinates or t."""
        return depends_on(exprs, [self.time, *(c.symbol for c in self.coordinate_records.values())])

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
        signs = [match.start() for match in _EQUALS.finditer(equation)]
        if len(signs) > 1:
            what, mend = f"'{equation}' has {len(signs)} equal signs", "write one equation each"
            raise ModelError(Problem(self.where(where), what, "an equation has two sides", mend))
        bounds = [-1, *signs, len(equation)]
        spans = [(start + 1, stop) for start, stop in pairwise(bounds)]
        try:
            left, *right = [parse_expression(equation, self.graph, names, span=span) for span in spans]
        except ExpressionError as error:
            raise ModelError(Problem(self.where(where), str(error))) from None
        if any(self.graph.ops[side.id] in _COMPARISONS for side in (left, *right)):
            law, mend = "a constraint is an equation", "write a single =; what stops at an end is a load (stop)"
            raise ModelError(Problem(self.where(where), f"'{equation}' is a comparison", law, mend))
        return left - right[0] if right else left

    def _restricting(self, expr: Expr, where: str) -> None:
        """Refuse an equation in which nothing moves, whatever it is called."""
        if expr.number is not None:
            what = f"it says {expr!r} = 0 in every state"
            mend = "check the names in it: nothing there moves; or leave it out"
            raise ModelError(Problem(self.where(where), what, "a constraint takes motion", mend))

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
        """Values at t = 0; refuses what depends on more than t and parameters, or is not finite there, or its rate."""
        known = {"t", *self.parameters}
        for node in reachable(self.graph, (e.id for e in exprs)):
            if self.graph.ops[node] == INPUT and (name := self.graph.args[node][0]) not in known:
                what = f"it depends on '{name}'"
                raise ModelError(Problem(self.where(where), what, "this quantity may depend on t and parameters only"))
        values = evaluate(list(exprs), {"t": 0.0, **self._values_of(exprs)})
        for expr, rate in zip(exprs, forward(exprs, {self.time: 1.0}), strict=True):
            self._finite_at_start(expr, repr(expr), where)
            self._finite_at_start(rate, f"the rate of {expr!r}", where)
        return values

    def _finite_at_start(self, expr: Expr, what: str, where: str) -> None:
        """Refuse an expression in t and parameters that has no finite value at t = 0; others are not judged."""
        values = {"t": 0.0, **self._values_of([expr])}
        if not values.keys() >= set(self._inputs_of([expr])):
            return
        (value,) = evaluate([expr], values)
        if not math.isfinite(value):
            law, mend = "what is imposed has a value and a rate", "shift its time: t + 1e-3, say, or begin with t**2"
            raise ModelError(Problem(self.where(where), f"{what} is {value:g} at t = 0", law, mend))

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
            if self._in_motion(xyz):
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

    def _truth(self, value: bool, what: str, where: str) -> bool:
        if value not in (True, False):
            law, mend = f"{what} is true or false", "give True or False (true or false in a file)"
            raise ModelError(Problem(self.where(where), f"{what} is {value!r}", law, mend))
        return bool(value)

    def _one_motion(self, joint: Joint | str, where: str) -> Joint:
        """A joint with one coordinate whose rate is its motion variable."""
        record = self.joint_named(joint, where)
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
