"""Constraints that the analyst writes as equations.

An equation linear in rates is a motion constraint; one in coordinates and t is a configuration constraint, whose rate
is one. Speeds in it are replaced by their definitions, so that rows stay valid whatever speeds are chosen later.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ...errors import ExpressionError
from ...graph import Expr, gradient_rate, linear_coefficients, reachable, substitute
from ...graph.rules import INPUT
from ..expression import parse_expression
from ..fields import Equations
from ..loads.actions import EffortAction
from ..measures import MeasureNumbers
from ..normal import normal_text
from ..symbols import ParameterSymbols, Quantity
from .rows import Row, RowSet

if TYPE_CHECKING:
    from ..builder import Builder

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w.'])")  # a name that is no measure number and no rate
_EQUALS = re.compile(r"(?<![<>=])=(?!=)")  # of an equation; comparisons are another thing
_COMPARISONS = ("less", "less_equal", "equal")


@dataclass(frozen=True, slots=True)
class MotionEquations:
    """One or several equations linear in the rates: "q1' = 2*q2'", or an expression that is zero.

    They may use rates (q1'), speeds, w.BODY.x (ω · body axis), v.POINT.x (velocity of a point or of a body's origin),
    coordinates, t and parameters. The reaction of a row is a set of efforts along the motion variables.

    >>> m = kane.load("double-pendulum")
    >>> built = m.constrain("tie", kane.MotionEquations("q2' = 2*q1'"))
    >>> m.project(u={"u1": 1}, hold="u1")[1].round(6).tolist()
    [1.0, 2.0]
    """

    equations: Equations
    kind = "motion"

    def make_rows(self, build: Builder) -> RowSet:
        exprs = equation_exprs(build, self.equations)
        return RowSet(tuple(motion_row(build, str(k + 1), expr) for k, expr in enumerate(exprs)))


@dataclass(frozen=True, slots=True)
class ConfigurationEquations:
    """One or several equations in coordinates, t and parameters: "q1 + q2 = pi/2", or an expression that is zero.

    They may use r.POINT.x, the position of a point or of a body's origin from O along an axis of N. Their rates are the
    rows; the reaction of a row is a set of efforts along the motion variables.

    >>> m = kane.load("double-pendulum")
    >>> built = m.constrain("tie", kane.ConfigurationEquations("q1 + q2 = pi/2"))
    >>> bool(abs(m.project()[0].sum() - np.pi / 2) < 1e-9)
    True
    """

    equations: Equations
    kind = "configuration"

    def make_rows(self, build: Builder) -> RowSet:
        exprs = equation_exprs(build, self.equations)
        return RowSet(tuple(configuration_row(build, str(k + 1), expr) for k, expr in enumerate(exprs)))


def motion_row(build: Builder, label: str, expr: Expr) -> Row:
    """The row of an expression linear in the rates: its power is the expression."""
    try:
        variables = _variables(build, [expr])
        ((factors,), (rest,)) = linear_coefficients([expr], variables)
    except ExpressionError as error:
        because = "a motion constraint is linear in the rates: A(q, t) u + c(q, t) = 0"
        raise build.refuse(str(error), because, "write it linear in rates") from None
    if all(f.is_zero for f in factors):
        _check_restricting(build, expr)
        because = "a motion constraint restricts rates, a configuration constraint the coordinates"
        fix = "use ConfigurationEquations (type: configuration)"
        raise build.refuse(f"there is no rate in {expr!r} = 0", because, fix)
    build.check_finite_at_start(-rest, f"its imposed rate {-rest!r}")
    return Row(label, _efforts(variables, factors), rest, None, "")


def configuration_row(build: Builder, label: str, expr: Expr) -> Row:
    """The row of an expression in coordinates, t and parameters: its power is the rate of the expression."""
    rates = build.mechanism.coordinate_rates
    inputs = _inputs(build, [expr])
    build.check_rate_free(inputs, fix="use MotionEquations (type: motion) for an equation in rates")
    moving: dict[Expr, Expr | float] = {x: rates[x] for x in inputs if x in rates}
    changing = gradient_rate(expr, {**moving, build.time: 1.0})
    variables = _variables(build, [changing])
    ((factors,), (rest,)) = linear_coefficients([changing], variables)
    if all(f.is_zero for f in factors):
        _check_restricting(build, expr)
        because = "a configuration constraint restricts coordinates"
        raise build.refuse(f"there is no coordinate in {expr!r} = 0", because)
    build.check_finite_at_start(-rest, f"its imposed rate {-rest!r}")
    return Row(label, _efforts(variables, factors), rest, expr, "")


def _inputs(build: Builder, exprs: Sequence[Expr]) -> list[Expr]:
    """The inputs that expressions are written with, in the order in which they were declared."""
    graph = build.graph
    return [graph.expr(n) for n in reachable(graph, (e.id for e in exprs)) if graph.ops[n] == INPUT]


def _variables(build: Builder, exprs: Sequence[Expr]) -> list[Expr]:
    """The motion variables in expressions, in their order in the mechanism."""
    place = build.mechanism.variable_places
    return sorted([x for x in _inputs(build, exprs) if repr(x) in place], key=lambda x: place[repr(x)])


def _efforts(variables: Sequence[Expr], factors: Sequence[Expr]) -> tuple[EffortAction, ...]:
    return tuple(EffortAction(s, f) for s, f in zip(variables, factors, strict=True) if not f.is_zero)


def _check_restricting(build: Builder, expr: Expr) -> None:
    """Refuse an equation in which nothing moves, whatever it is called."""
    if expr.number is not None:
        fix = "check the names in it: nothing there moves; or leave it out"
        raise build.refuse(f"it says {expr!r} = 0 in every state", "a constraint restricts the motion", fix)


# from texts to expressions -------------------------------------------------------------------------------------------


def equation_exprs(build: Builder, given: Quantity | Sequence[Quantity]) -> list[Expr]:
    """Expressions in motion variables that are zero, one for each equation."""
    equations = one_or_more(given)
    if not equations:
        raise build.refuse("no equation is given", fix="give an expression that is zero")
    mechanism = build.mechanism
    names = MeasureNumbers(mechanism, mechanism.known_names)
    exprs: list[Expr] = []
    for equation in equations:
        exprs.append(_left_minus_right(build, equation, names))
        build.check_room(len(exprs), names.steps)
    speeds = mechanism.speed_records
    used = [speeds[name] for name in (repr(x) for x in _inputs(build, exprs)) if name in speeds]
    return substitute(exprs, {s.symbol: s.definition for s in used})


def describe_equations(
    build: Builder, given: Quantity | Sequence[Quantity], exprs: Sequence[Expr]
) -> tuple[Expr | str, ...]:
    """The expressions; or, where measure numbers make one too long to write out, the text that names them."""
    return tuple(_describe_equation(build, e, g) for e, g in zip(exprs, one_or_more(given), strict=True))


def _describe_equation(build: Builder, expr: Expr, given: Quantity) -> Expr | str:
    try:
        normal_text(expr)
    except ExpressionError:
        if isinstance(given, str) and not set(_WORD.findall(given)) & set(build.mechanism.speed_records):
            return given
    return expr


def curve_exprs(build: Builder, given: Quantity | Sequence[Quantity]) -> tuple[Expr, ...]:
    """Expressions in x, y, z, t and parameters that are zero, of each equation of a surface or a curve."""
    graph = build.graph
    parameters = build.mechanism.parameters
    letters = {"t": build.time, **{letter: graph.input(letter) for letter in "xyz"}}
    names = ChainMap(letters, ParameterSymbols(parameters))  # type: ignore[arg-type]
    equations = one_or_more(given)
    if len(equations) not in (1, 2):
        raise build.refuse(f"{len(equations)} equations are given", "a surface has one equation, a curve two")
    forms = tuple(_left_minus_right(build, equation, names) for equation in equations)
    for name in build.mechanism.inputs_of(forms):
        if name not in letters and name not in parameters:
            what, because = f"it depends on '{name}'", "a curve is fixed in its body"
            raise build.refuse(what, because, "write it in x, y, z, t and parameters")
    return forms


def _left_minus_right(build: Builder, equation: Quantity, names: Mapping[str, Expr]) -> Expr:
    """An equation as an expression that is zero: left side minus right side."""
    if not isinstance(equation, str):
        return build.scalar(equation)
    signs = [match.start() for match in _EQUALS.finditer(equation)]
    if len(signs) > 1:
        what, fix = f"'{equation}' has {len(signs)} equal signs", "write one equation each"
        raise build.refuse(what, "an equation has two sides", fix)
    bounds = [-1, *signs, len(equation)]
    spans = [(start + 1, stop) for start, stop in pairwise(bounds)]
    try:
        left, *right = [parse_expression(equation, build.graph, names, span=span) for span in spans]
    except ExpressionError as error:
        raise build.refuse(str(error)) from None
    if any(build.graph.ops[side.id] in _COMPARISONS for side in (left, *right)):
        because, fix = "a constraint is an equation", "write a single =; what stops at an end is a load (Stop, stop:)"
        raise build.refuse(f"'{equation}' is a comparison", because, fix)
    return left - right[0] if right else left


def one_or_more(given: Quantity | Sequence[Quantity]) -> list[Quantity]:
    """Equations as a list, also a single one."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return list(given)
    return [given]
