"""Joints that close loops: a further joint between two bodies that are connected already.

Positions are compared along axes of N, or along axes fixed in the first body, where the rate of a residual
e · (P2 − P1) is the velocity of P2 along e relative to the coinciding point of the first body. Orientations are
compared by the dot product of an axis of the first body with one of the second, whose rate is (ω2 − ω1) · (b2 × a1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...errors import ExpressionError, suggestion
from ...graph import Expr, forward
from ...space import Vector, position, rotations
from ...space.algebra import Matrix, Triple, scaled, transpose, transpose_times
from ..fields import ORIGIN, Axis, BodyName, Components, Labels, Rotation, Word
from ..loads.actions import TorqueAction
from .places import BodyPlace, at_coincident
from .rows import Row, RowSet

if TYPE_CHECKING:
    from ..builder import Builder

LOOPS = ("weld", "revolute", "prismatic", "cylindrical", "universal", "spherical")
SLIDING = ("prismatic", "cylindrical")
CALLED = {
    **dict.fromkeys(("fixed", "rigid", "lock"), "weld"),
    **dict.fromkeys(("hinge", "pin"), "revolute"),
    **dict.fromkeys(("slider", "slide", "translational"), "prismatic"),
    **dict.fromkeys(("ball", "socket", "point"), "spherical"),
    **dict.fromkeys(("cardan", "hooke", "cross"), "universal"),
}
"""What other programs call these joints, so that an error can name ours."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A joint that closes a loop, of `type` weld, revolute, prismatic, cylindrical, universal or spherical.

    It sits at `first_at`, `first_rotation` in the first body and at `second_at`, `second_rotation` in the second (m;
    the places may depend on t). `axis` is that of the joint, in its frame; `sequence` gives the two axes of a universal
    joint. Rows x, y, z (m) are the components of the second place from the first, `along` the axes of N or, with
    "first" and always where the joint slides, the joint's axes in the first body. Rows rx, ry, rz are dot products of
    axes, small angles about the joint's x, y, z where the loop is nearly closed. `rows` keeps only some of them:
    ("x", "y") for a pin of a planar linkage, whose other rows are met by the rest of it.

    >>> m = kane.load("double-pendulum")
    >>> pin = kane.Loop("revolute", "ground", "lower", first_at=(1, 0, 0), second_at=(0, -1, 0), rows=("x", "y"))
    >>> built = m.constrain("pin", pin)
    >>> m.row_names, m.freedom().degrees
    (('pin.x', 'pin.y'), 0)
    """

    type: Word
    first: BodyName
    second: BodyName
    _: KW_ONLY
    first_at: Components = ORIGIN
    second_at: Components = ORIGIN
    first_rotation: Rotation | None = None
    second_rotation: Rotation | None = None
    axis: Axis = "z"
    sequence: Word = "body xy"
    along: Word = "N"
    rows: Labels | None = None

    @property
    def kind(self) -> str:
        return self.type

    def make_rows(self, build: Builder) -> RowSet:
        if self.type not in LOOPS:
            what = f"unknown type '{self.type}' of a joint that closes a loop"
            raise build.refuse(what, fix=suggestion(CALLED.get(self.type, self.type), LOOPS))
        a, b = build.two_bodies(self.first, self.second)
        closure = _Closure(
            build.place(a, self.first_at, "first_at"),
            build.place(b, self.second_at, "second_at"),
            transpose(build.rotation(self.first_rotation, "first_rotation")),
            transpose(build.rotation(self.second_rotation, "second_rotation")),
        )
        e = build.axis(self.axis, "axis")
        if self.along not in ("N", "first"):
            raise build.refuse(f"along '{self.along}'", fix="say along: N or first")
        made = [*self._gaps(build, closure, e), *self._turns(build, closure, e)]
        return RowSet(tuple(select_rows(build, made, self.rows)), a, b, closure.second.point)

    def _gaps(self, build: Builder, closure: _Closure, axis: Triple) -> list[Row]:
        """Rows of position: all three directions, or those across the axis where the joint slides along it."""
        first, second, none = closure.first, closure.second, build.graph.const(0.0)
        if self.type in SLIDING:
            directions = build.perpendiculars(axis)
        else:
            directions = [(letter, rotations.unit(build.graph, k)) for k, letter in enumerate("xyz")]
            if self.along == "N":
                N = build.mechanism.N
                return [_gap_in_N(build, label, first, second, Vector(N, d)) for label, d in directions]
        return [gap_row(build, label, first, second, closure.along_first(d), none) for label, d in directions]

    def _turns(self, build: Builder, closure: _Closure, axis: Triple) -> list[Row]:
        """Rows of orientation, each a1 · b2 = 0."""
        x, y, z = (rotations.unit(build.graph, k) for k in range(3))
        if self.type in ("weld", "prismatic"):
            pairs = [("rx", z, y), ("ry", x, z), ("rz", y, x)]
        elif self.type in ("revolute", "cylindrical"):
            (c_label, c), (d_label, d) = build.perpendiculars(axis)
            pairs = [(f"r{c_label}", scaled(-1.0, d), axis), (f"r{d_label}", c, axis)]
        elif self.type == "universal":
            pairs = [_cross_piece(build, self.sequence)]
        else:
            pairs = []
        return [_turn(build, label, closure, a, b) for label, a, b in pairs]


@dataclass(frozen=True, slots=True)
class _Closure:
    """Where a joint that closes a loop sits in both bodies: its places, and its axes x, y, z in the bodies' frames."""

    first: BodyPlace
    second: BodyPlace
    first_axes: Matrix  # three unit vectors, in the first body's frame
    second_axes: Matrix

    def along_first(self, e: Triple) -> Vector:
        """e, components along the joint's axes in the first body, as a vector."""
        return Vector(self.first.frame, transpose_times(self.first_axes, e))

    def along_second(self, e: Triple) -> Vector:
        return Vector(self.second.frame, transpose_times(self.second_axes, e))


def _gap_in_N(build: Builder, label: str, first: BodyPlace, second: BodyPlace, e: Vector) -> Row:
    """e · (P2 − P1) = 0, with e fixed in N: a force at either place, the same one where the loop is closed."""
    rheonomic = e.dot(second.rate()) - e.dot(first.rate())
    O = build.mechanism.O
    gap = e.dot(position(second.point, O)) - e.dot(position(first.point, O))
    return build.row(label, [*second.push(e), *first.push(-e)], rheonomic=rheonomic, residual=gap)


def gap_row(build: Builder, label: str, first: BodyPlace, second: BodyPlace, e: Vector, height: Expr) -> Row:
    """e · (P2 − P1) = height, with e fixed in the first body."""
    acting = second.push(e)
    if first.body is not build.ground:
        acting += at_coincident(first.body, second.point, -e, f"{second.point.name}.of {first.body.name}")
    (rising,) = forward([height], {build.time: 1.0})
    rheonomic = e.dot(second.rate()) - e.dot(first.rate()) - rising
    return build.row(label, acting, rheonomic=rheonomic, residual=e.dot(position(second.point, first.point)) - height)


def _turn(build: Builder, label: str, closure: _Closure, a: Triple, b: Triple) -> Row:
    a1, b2 = closure.along_first(a), closure.along_second(b)
    torque = b2.cross(a1)
    first, second = closure.first, closure.second
    acting = [(second.body, TorqueAction(second.frame, torque)), (first.body, TorqueAction(first.frame, -torque))]
    return build.row(label, acting, residual=a1.dot(b2), unit="N m")


def _cross_piece(build: Builder, sequence: str) -> tuple[str, Triple, Triple]:
    """(label, axis in the first body, axis in the second body) of a universal joint: they stay perpendicular."""
    try:
        body_fixed, axes = rotations.parse_sequence(sequence)
    except ExpressionError as error:
        raise build.refuse(str(error), field="sequence") from None
    if len(axes) != 2 or axes[0] == axes[1]:
        what, because = f"sequence '{sequence}'", "a universal joint has two axes that are perpendicular"
        raise build.refuse(what, because, "write 'body xy', say", "sequence")
    i, j = axes if body_fixed else axes[::-1]
    sign = -1.0 if (j - i) % 3 == 1 else 1.0
    unit = rotations.unit
    return f"r{'xyz'[3 - i - j]}", scaled(sign, unit(build.graph, i)), unit(build.graph, j)


def select_rows(build: Builder, made: Sequence[Row], labels: Sequence[str] | None) -> list[Row]:
    """The rows with these labels, in the order in which they were made; all of them without any."""
    if labels is None:
        return list(made)
    table = {row.label: row for row in made}
    wanted = [labels] if isinstance(labels, str) else list(labels)
    if unknown := next((label for label in wanted if label not in table), None):
        raise build.refuse(f"unknown row '{unknown}'", fix=f"known: {', '.join(table)}", field="rows")
    if not wanted or len(set(wanted)) != len(wanted):
        raise build.refuse(f"rows {wanted}", "each row is named once", f"out of {', '.join(table)}", "rows")
    return [row for row in made if row.label in wanted]
