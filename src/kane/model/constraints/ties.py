"""Gears, belts and racks: two joints of one degree of freedom tied by a ratio."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...graph import Expr, forward
from ..fields import Flag, JointName, Scalar
from ..loads.actions import EffortAction
from ..records import Joint
from ..symbols import Quantity
from .rows import Row, RowSet

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class Gear:
    """A gear pair: q of the second joint = ratio · q of the first + offset (rad or m).

    `ratio` depends on parameters and is negative for external gears about parallel axes; `offset` may depend on t. Both
    joints sit on the same body, the one that carries the axles. The unit reaction is a unit effort along the second
    joint and −ratio along the first.
    """

    first: JointName
    second: JointName
    ratio: Scalar
    _: KW_ONLY
    offset: Scalar = 0.0
    kind = "gear"

    def make_rows(self, build: Builder) -> RowSet:
        return _tie(build, self.first, self.second, build.scalar(self.ratio, "ratio"), self.offset)


@dataclass(frozen=True, slots=True)
class Belt:
    """A belt or chain over two pulleys of these radii (m): the second turns first_radius / second_radius times as far
    as the first, backwards where the belt is `crossed`; `offset` (rad) may depend on t."""

    first: JointName
    second: JointName
    _: KW_ONLY
    first_radius: Scalar
    second_radius: Scalar
    crossed: Flag = False
    offset: Scalar = 0.0
    kind = "belt"

    def make_rows(self, build: Builder) -> RowSet:
        a = build.positive(self.first_radius, "first_radius")
        b = build.positive(self.second_radius, "second_radius")
        for joint, field in ((self.first, "first"), (self.second, "second")):
            _check_motion(build, joint, "revolute", "pulley", field)
        return _tie(build, self.first, self.second, -(a / b) if self.crossed else a / b, self.offset)


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack and its pinion of this radius (m): displacement of the prismatic joint `rack` = radius · angle of the
    revolute joint `pinion` + offset, or −radius · angle where they run `opposite`; `offset` (m) may depend on t."""

    pinion: JointName
    rack: JointName
    _: KW_ONLY
    radius: Scalar
    opposite: Flag = False
    offset: Scalar = 0.0
    kind = "rack"

    def make_rows(self, build: Builder) -> RowSet:
        r = build.positive(self.radius, "radius")
        for joint, kind, field in ((self.pinion, "revolute", "pinion"), (self.rack, "prismatic", "rack")):
            _check_motion(build, joint, kind, field, field)
        return _tie(build, self.pinion, self.rack, -r if self.opposite else r, self.offset)


def _one_motion(build: Builder, joint: Joint | str, field: str = "") -> Joint:
    """A joint with one coordinate whose rate is its motion variable."""
    record = build.joint(joint)
    if len(record.coordinates) != 1 or len(record.rates) != 1:
        what = f"joint '{record.name}' is of type {record.type.kind}, with {len(record.rates)} degrees of freedom"
        because = "gears, belts and racks tie joints of one degree of freedom together"
        raise build.refuse(what, because, "name a revolute, prismatic or screw joint", field)
    return record


def _check_motion(build: Builder, joint: Joint | str, kind: str, part: str, field: str) -> None:
    """Refuse a joint of one degree of freedom that is not of this kind."""
    record = _one_motion(build, joint, field)
    if record.moves_as != kind:
        what, because = f"joint '{record.name}' is of type {record.type.kind}", f"a {part} moves in a {kind} joint"
        raise build.refuse(what, because, "tie them by a rack or a gear" if part == "pulley" else "", field)


def _tie(build: Builder, first: Joint | str, second: Joint | str, ratio: Expr, offset: Quantity) -> RowSet:
    """q2 − ratio q1 − offset = 0."""
    a, b = _one_motion(build, first), _one_motion(build, second)
    if a is b:
        raise build.refuse(f"joint '{a.name}' is named twice", "two joints are tied together", "name another joint")
    if build.number(build.constant(ratio, "ratio"), "ratio") == 0.0:
        because, fix = "a gear transmits motion", "give a ratio that is not 0, or lock the joint (prescribed)"
        raise build.refuse("the ratio is 0", because, fix, "ratio")
    shift = build.function_of_time(offset, "offset")
    q1, q2 = a.coordinates[0].symbol, b.coordinates[0].symbol
    actions = (EffortAction(b.rates[0], build.graph.const(1.0)), EffortAction(a.rates[0], -ratio))
    (rate,) = forward([shift], {build.time: 1.0})
    unit = "N" if b.moves_as == "prismatic" else "N m"
    return RowSet((Row("ratio", actions, -rate, q2 - ratio * q1 - shift, unit),))
