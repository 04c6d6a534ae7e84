"""Ends of a motion: rigid stops, backlash, ratchets and latches on expressions of coordinates or rates, and ropes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING

from ...graph import Expr
from ..fields import ORIGIN, BodyName, Components, Measure, Scalar
from ..loads.actions import EffortAction
from ..symbols import Quantity
from .changing import CONTACT, ONE_WAY, SWITCHED, ChangingRows, make_law
from .equations import configuration_row, equation_exprs, motion_row
from .guides import Distance
from .rows import Row

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class HardStop:
    """Rigid ends of a range: `of`, an expression in coordinates, t and parameters ("q2 - q1", also r.POINT.x), stays
    between `lower` and `upper`; give one end or both.

    The ends may depend on t. An end is struck with `restitution` (0 … 1), and pushes as long as it is pressed on. With
    both ends given there are two elements, named .lower and .upper. The load `Stop` is one that gives way.

    >>> m = kane.load("pendulum")
    >>> (end,) = m.constrain("end", kane.HardStop("q", upper="60*deg", restitution=0.5))
    >>> end.type, end.row_names()
    ('contact', ('end',))
    """

    of: Measure
    _: KW_ONLY
    lower: Scalar | None = None
    upper: Scalar | None = None
    restitution: Scalar = 0.0
    kind = "stop"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        if self.lower is None and self.upper is None:
            raise build.refuse("neither lower nor upper is given", "a stop is at an end of a range", "give an end")
        lower = None if self.lower is None else build.function_of_time(self.lower, "lower")
        upper = None if self.upper is None else build.function_of_time(self.upper, "upper")
        return _ends(build, self.of, lower, upper, self.restitution)


@dataclass(frozen=True, slots=True)
class Backlash:
    """Free play: `of`, an expression as for `HardStop` ("x2 - x1"), stays between −play/2 and play/2, where the
    partners strike each other with `restitution` (0 … 1). Two elements, named .lower and .upper.

    >>> m = kane.load("double-pendulum")
    >>> ends = m.constrain("teeth", kane.Backlash("q2 - q1", play=0.1))
    >>> [end.name for end in ends]
    ['teeth.lower', 'teeth.upper']
    """

    of: Measure
    _: KW_ONLY
    play: Scalar
    restitution: Scalar = 0.0
    kind = "backlash"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        half = 0.5 * build.positive(self.play, "play")
        return _ends(build, self.of, -half, half, self.restitution)


@dataclass(frozen=True, slots=True)
class Ratchet:
    """A ratchet without teeth, or a one-way clutch: `of`, an expression linear in the rates ("u1 - u2", "q1'"), is
    never negative; the reaction along it holds and never drives back.

    >>> m = kane.load("pendulum")
    >>> (pawl,) = m.constrain("pawl", kane.Ratchet("u"))
    >>> pawl.type
    'one-way'
    """

    of: Measure
    kind = "ratchet"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        return (ChangingRows("", ONE_WAY, (motion_row(build, "rate", one_expr(build, self.of)),), make_law(build)),)


@dataclass(frozen=True, slots=True)
class Latch:
    """A catch: `of`, an expression in coordinates, t and parameters, is caught where it rises through zero, and kept
    there without a bounce.

    `until` or `duration`, given to `constrain`, say when it lets go; it catches again when the expression has been
    negative in between. With `when` another condition closes it, wherever the expression then is zero.

    >>> m = kane.load("pendulum")
    >>> (hook,) = m.constrain("hook", kane.Latch("q - 90*deg"), duration=0.5)
    >>> hook.type, hook.law.held
    ('switched', False)
    """

    of: Measure
    kind = "latch"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        expr = one_expr(build, self.of)
        law = replace(make_law(build), when=expr, held=False)
        return (ChangingRows("", SWITCHED, (configuration_row(build, "catch", expr),), law),)


@dataclass(frozen=True, slots=True)
class Rope:
    """A rope without mass that does not stretch: the points `first_at` and `second_at` (m) of the bodies `first` and
    `second` are at most `length` (m) apart, and it pulls where it is taut, which it becomes with `restitution` (0 … 1).

    Length and places are as for `Distance`, whose residual is the gap with the other sign.

    >>> m = kane.load("double-pendulum")
    >>> (line,) = m.constrain("line", kane.Rope("ground", "lower", length=1.5, second_at=(0, -1, 0)))
    >>> line.type
    'contact'
    """

    first: BodyName
    second: BodyName
    _: KW_ONLY
    length: Scalar
    first_at: Components = ORIGIN
    second_at: Components = ORIGIN
    restitution: Scalar = 0.0
    kind = "rope"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        rod = Distance(
            self.first, self.second, length=self.length, first_at=self.first_at, second_at=self.second_at
        ).make_rows(build)
        law = make_law(build, restitution=self.restitution)
        row = _reverse(rod.rows[0], "pull")
        return (ChangingRows("", CONTACT, (row,), law, rod.first, rod.second, rod.point),)


def _reverse(row: Row, label: str) -> Row:
    """The row of the opposite reaction."""
    assert row.residual is not None
    actions = tuple(
        replace(a, value=-a.value) if isinstance(a, EffortAction) else replace(a, vector=-a.vector) for a in row.actions
    )
    return replace(row, label=label, actions=actions, rheonomic=-row.rheonomic, residual=-row.residual)


def one_expr(build: Builder, given: Quantity) -> Expr:
    """The expression of a field, in motion variables in place of speeds."""
    (expr,) = equation_exprs(build, given)
    return expr


def _ends(
    build: Builder, of: Quantity, lower: Expr | None, upper: Expr | None, restitution: Quantity
) -> tuple[ChangingRows, ...]:
    """The elements of a range: gaps of − lower and upper − of."""
    expr, law = one_expr(build, of), make_law(build, restitution=restitution)
    if lower is not None and upper is not None:
        low, high = (build.value_at_start(end) for end in (lower, upper))
        if not low < high:
            what, because = f"from {low:g} to {high:g}", "there is room between the two ends"
            raise build.refuse(what, because, "swap the two, or use ConfigurationEquations (type: configuration)")
    gaps: dict[str, Expr] = {}
    if lower is not None:
        gaps["lower"] = expr - lower
    if upper is not None:
        gaps["upper"] = upper - expr
    rows = {label: configuration_row(build, label, gap) for label, gap in gaps.items()}
    return tuple(ChangingRows(label if len(rows) > 1 else "", CONTACT, (row,), law) for label, row in rows.items())
