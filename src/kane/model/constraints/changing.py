"""Constraints that come and go: contacts, stops, dry friction, latches, and any constraint under a condition.

What a record makes are elements, `ChangingRows`, each of one of four types:

- contact: rows[0] is the normal row, its residual the gap (m or rad, ≥ 0 while open), its unit reaction pushes the
  bodies apart; rows[1:] are no, one or two slip rows along orthonormal directions of the surface;
- one-way: one row whose rate is never negative (a ratchet);
- friction: one or two slip rows of dry friction whose reaction has a bound (a brake, a clutch);
- switched: any rows, which hold between two conditions (a latch).

A mechanism keeps them as `BuiltChanging`, under the names of the elements. Questions about the mechanism itself leave
them out; `Mechanism.all_rows_held` is the twin in which every row holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ...graph import Expr
from ...space import Point
from ..fields import Flag, Scalar, Trigger
from ..records import Body
from ..symbols import Quantity
from .rows import Constraint, Row, name_rows

if TYPE_CHECKING:
    from ..builder import Builder

CONTACT, ONE_WAY, FRICTION, SWITCHED = "contact", "one-way", "friction", "switched"
"""Types of what comes and goes."""


@dataclass(frozen=True, slots=True)
class ChangingLaw:
    """The law of an element, as expressions of the description.

    `restitution` (0 … 1) is that of its normal row. `friction` and `static` (≥ friction) are coefficients of what
    limits the reaction along its slip rows, while they slip and while they stick: of the normal reaction in a contact,
    of `bound` (N or N m) in dry friction, where friction is 1. `when` and `until` are in t, q, u, parameters and names
    of rows, which stand for their reactions: the element is imposed where `when` rises through zero, and released where
    `until` does or `duration` (s) after it was imposed. Each is only looked at while the element is released, or
    imposed. `held` says whether it is in force at the start.
    """

    restitution: Expr
    friction: Expr
    static: Expr
    bound: Expr | None = None
    when: Expr | None = None
    until: Expr | None = None
    duration: Expr | None = None
    held: bool = True

    def exprs(self) -> tuple[Expr, ...]:
        """Every expression of the law."""
        maybe = (self.bound, self.when, self.until, self.duration)
        return (self.restitution, self.friction, self.static, *(e for e in maybe if e is not None))


@dataclass(frozen=True, slots=True)
class ChangingRows:
    """One element: its type, its rows and law, and the bodies and the point as in `RowSet`. The `label` tells it from
    others of the same record, and is empty where there is only one."""

    label: str
    type: str
    rows: tuple[Row, ...]
    law: ChangingLaw
    first: Body | None = None
    second: Body | None = None
    point: Point | None = None


class Changing(Protocol):
    """What a kind of element that comes and goes must say: its word in model files, and its elements.

    Its fields are annotated as those of a `Constraint`.
    """

    @property
    def kind(self) -> str: ...

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]: ...


@dataclass(frozen=True, slots=True)
class Conditions:
    """When a constraint holds; fields as in `ChangingLaw`. With `unilateral` it is a contact: its residual is a gap,
    which is never negative, and closes with `restitution`."""

    when: Trigger | None = None
    until: Trigger | None = None
    duration: Scalar | None = None
    held: Flag | None = None
    unilateral: Flag = False
    restitution: Scalar = 0.0


@dataclass(frozen=True, slots=True)
class BuiltChanging:
    """A named element of a mechanism that comes and goes; `given` is the name under which its record was given, which
    may have made several, and `conditions` are those that were given with it."""

    name: str
    kind: str
    type: str
    rows: tuple[Row, ...]
    law: ChangingLaw
    first: Body | None
    second: Body | None
    point: Point | None
    record: Constraint | Changing = field(compare=False)
    given: str = ""
    conditions: Conditions = field(default_factory=Conditions, compare=False)

    def __repr__(self) -> str:
        ends = f" of '{self.second.name}' on '{self.first.name}'" if self.first and self.second else ""
        return f"<Changing '{self.name}': {self.type}{ends}, rows {', '.join(row.label for row in self.rows)}>"

    def row_names(self) -> tuple[str, ...]:
        """`name` for a single row, `name.label` for one of several."""
        return name_rows(self.name, self.rows)


def make_law(
    build: Builder,
    *,
    restitution: Quantity = 0.0,
    friction: Quantity = 0.0,
    static: Quantity | None = None,
    bound: Quantity | None = None,
) -> ChangingLaw:
    """A law whose numbers have been judged: restitution 0 … 1, friction ≥ 0, static ≥ friction, bound ≥ 0. The first
    three depend on parameters only."""
    e, mu = build.constant(restitution, "restitution"), build.constant(friction, "friction")
    rest = mu if static is None else build.constant(static, "static")
    bounce, kinetic, sticking = build.number(e), build.number(mu), build.number(rest)
    if not 0.0 <= bounce <= 1.0:
        because = "the coefficient of restitution is between 0 (no bounce) and 1 (no loss)"
        raise build.refuse(f"restitution {bounce:g}", because, "give one in 0 … 1", "restitution")
    if not kinetic >= 0.0:
        raise build.refuse(f"friction {kinetic:g}", "friction opposes slip", "give a coefficient ≥ 0", "friction")
    if not sticking >= kinetic:
        what, because = f"static {sticking:g}, friction {kinetic:g}", "it takes at least as much to start a slip"
        raise build.refuse(what, because, "give static ≥ friction, or leave it out", "static")
    return ChangingLaw(e, mu, rest, None if bound is None else _bound(build, bound))


def _bound(build: Builder, value: Quantity) -> Expr:
    """The bound of dry friction, which may depend on the motion; judged where it depends on parameters only."""
    bound = build.scalar(value, "bound")
    if build.depends_on_parameters([bound]) and not build.number(bound, "bound") >= 0.0:
        what, because = f"bound {build.number(bound):g}", "the bound of dry friction is a magnitude"
        raise build.refuse(what, because, "give one ≥ 0", "bound")
    return bound
