"""Constraints: what a mechanism cannot do. Each is a set of rows, one scalar equation of motion each.

A row is defined by its reaction: the forces, torques and efforts that a unit of it exerts. A reaction that only guides
does no work but that of an imposed rate, so the power of these actions plus the `rheonomic` part is zero: A u + c = 0,
row by row, and λ times the actions is what the constraint does to the bodies. A row that comes from a configuration
also has the `residual` whose rate it is.

A kind of constraint is a small frozen dataclass that follows the protocol `Constraint`. To add one, write such a class
and hand an instance to `Mechanism.constrain`; docs/constraints.md shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ...graph import Expr
from ...space import Point
from ..loads.actions import Action
from ..records import NEAR, Body

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class Row:
    """One scalar constraint: power of `actions` + `rheonomic` = 0.

    `actions` are those of a unit reaction on the second body and the opposite on the first; their vectors are
    expressions in q, t and parameters. `rheonomic` (m/s, rad/s) is in t, q and parameters; zero for most. `residual`
    (m, rad or none) is what vanishes in the configuration, its rate being the power above; None for a motion
    constraint. `on` names the body that each action acts on, in their order; what would act on the ground is left out.
    It is empty where the actions are efforts.
    """

    label: str
    actions: tuple[Action, ...]
    rheonomic: Expr
    residual: Expr | None = None
    unit: str = "N"  # of the reaction: N, N m, or empty where that depends on how the equation was written
    on: tuple[Body, ...] = ()

    def __repr__(self) -> str:
        level = "motion" if self.residual is None else "configuration"
        on = ", ".join(dict.fromkeys(body.name for body in self.on))
        return f"<Row '{self.label}': {level}{f' of {on}' if on else ''}>"

    @property
    def steps(self) -> int:
        """Frames that a row of efforts was written through, beyond the first ten, each six times: it is turned through
        in the equation, by the sweep for its gradient and by that for its rate, for the sake of one speed."""
        return 0 if self.on else 6 * max(0, len(self.actions) - NEAR)

    def exprs(self) -> tuple[Expr, ...]:
        """Every expression that the row is written with."""
        told = () if self.residual is None else (self.residual,)
        return (*(e for action in self.actions for e in action.exprs()), self.rheonomic, *told)


@dataclass(frozen=True, slots=True)
class RowSet:
    """The rows of a constraint between the bodies `first` and `second` (the ground, for what is fixed in N; None, where
    it ties motion variables together), and the point where the reaction acts on the second body.

    `span` is the same constraint by as many rows that cost less to compute, empty where there are none: the labelled
    rows are an orthogonal combination of them in every state, so that both leave the same motion.
    """

    rows: tuple[Row, ...]
    first: Body | None = None
    second: Body | None = None
    point: Point | None = None
    span: tuple[Row, ...] = ()


class Constraint(Protocol):
    """What a kind of constraint must say: its word in model files, and its rows with the bodies that they guide.

    Its fields are annotated with the types of `kane.model.fields`. When `make_rows` is called, texts are expressions
    already and parts of the mechanism are names; `build` makes bodies, places and rows of them, and errors that name
    the constraint.
    """

    @property
    def kind(self) -> str: ...

    def make_rows(self, build: Builder) -> RowSet: ...


@dataclass(frozen=True, slots=True)
class GivenRows:
    """Rows that the user has made, under a kind of the user's choice; a model file cannot hold them."""

    rows: tuple[Row, ...]
    kind: str = "given"
    first: Body | None = None
    second: Body | None = None
    point: Point | None = None
    span: tuple[Row, ...] = ()

    def make_rows(self, build: Builder) -> RowSet:
        return RowSet(self.rows, self.first, self.second, self.point, self.span)


@dataclass(frozen=True, slots=True)
class BuiltConstraint:
    """A named constraint of a mechanism: its rows, bodies and point as in `RowSet`, and the record that they were made
    from, with texts as expressions."""

    name: str
    kind: str
    rows: tuple[Row, ...]
    first: Body | None
    second: Body | None
    point: Point | None
    span: tuple[Row, ...]
    record: Constraint = field(compare=False)

    def __repr__(self) -> str:
        ends = f" of '{self.second.name}' on '{self.first.name}'" if self.first and self.second else ""
        return f"<Constraint '{self.name}': {self.kind}{ends}, rows {', '.join(row.label for row in self.rows)}>"

    def row_names(self) -> tuple[str, ...]:
        """`name` for a single row, `name.label` for one of several."""
        return name_rows(self.name, self.rows)


def name_rows(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """The names of the rows of a constraint: `name` for a single one, `name.label` for one of several."""
    return (name,) if len(rows) == 1 else tuple(f"{name}.{row.label}" for row in rows)
