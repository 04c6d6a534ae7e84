"""Wheels of vehicles: what a user says of one, and the bodies, joints and constraints that it becomes.

A wheel with `at` is made with its vehicle: its body, an axle on the body that carries it, a fork where it is steered or
trails. A wheel with `body` is there already, on an axle of its own. Either way its contact with the ground becomes a
constraint of the wheel's name: one that always holds, or one that opens and slides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import suggestion
from ..graph import Expr, evaluate
from ..space import Point, Vector
from ..space.algebra import Triple, cross, minus, plus, scaled, times, transpose_times
from .builder import Builder
from .constraints import PointOnPlane, PointVelocity, Rolling, WheelContact
from .fields import ORIGIN, BodyName, Components, Field, Flag, Labels, Scalar, Word
from .joints import Revolute
from .loads.actions import point_of
from .records import Body, Shape
from .symbols import Quantity

if TYPE_CHECKING:
    from .mechanism import Mechanism

ROWS = ("longitudinal", "lateral")
_WIDTH = 0.4  # of a wheel, in radii, as it is drawn
_WHOLE = 1e-9  # components of directions this close to a whole number are one: rounding of angles in files


@dataclass(frozen=True, slots=True)
class RoadWheel:
    """A wheel of a vehicle, of `radius` (m).

    One that is made with the vehicle has its middle `at` a place (m) of the platform, or of the body `on`, its axle
    along y, a `mass` (kg) and an `inertia` (kg m²) about its axle, by default that of a disc; half of it acts across.
    `coordinate` and `speed` name its spin. With `steering`, an angle (rad) about z as an expression in coordinates, or
    a law ("ackermann", "parallel", "articulated") of the vehicle's steering angle, it stands on a fork; with `trail`
    (m) on a free fork whose axis is that far ahead of it: a caster. One that is there already names its `body`, which
    turns about a revolute joint, its axle, with its middle at `center` (m).

    `roller` is the angle (rad) of the free rollers' axes from straight ahead: 0 for an omni wheel, "45*deg" for a
    mecanum wheel. A `ball` carries and nothing else. `rows` are the directions in which the wheel does not slip, both
    by default; a wheel of a skid-steered vehicle has ["longitudinal"]. `stiffness` is that of its tyre relative to the
    others: what rigid bodies leave open is shared by it.

    >>> kane.RoadWheel(at=(0.3, 0, 0), radius=0.15, mass=2, steering="phi").radius
    0.15
    """

    _: KW_ONLY
    radius: Scalar
    at: Components | None = None
    on: BodyName | None = None
    mass: Scalar = 0.0
    inertia: Scalar | None = None
    coordinate: Word | None = None
    speed: Word | None = None
    steering: Annotated[Quantity, Field.WORD] | None = None
    trail: Scalar | None = None
    body: BodyName | None = None
    center: Components = ORIGIN
    roller: Scalar | None = None
    ball: Flag = False
    rows: Labels = ROWS
    stiffness: Scalar = 1.0


@dataclass(frozen=True, slots=True)
class BuiltWheel:
    """A wheel in its mechanism. `center` is its middle, `carrier` the body in which its `axle`, a unit vector of that
    body to the left, rests, `rolls` the body that touches the ground, `constraint` the name of what keeps it from
    slipping, `height` that of what keeps its height where the platform could lift; either may be missing."""

    name: str
    record: RoadWheel
    radius: Expr
    center: Point
    carrier: Body
    axle: Triple
    rolls: Body
    constraint: str | None
    height: str | None


@dataclass(frozen=True, slots=True)
class Tread:
    """How a vehicle's wheels meet the ground: whether they keep its height (`lifts`), whether they may open and slide,
    then with these coefficients of friction and restitution."""

    lifts: bool
    unilateral: bool
    friction: Expr
    restitution: Expr


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a wheel is: the body whose axle carries it, the body that rolls, and its middle (m) in that one. `axle` and
    `up` are unit vectors of the carrier; `axis` is the axle in the body that rolls."""

    carrier: Body
    rolls: Body
    center: Triple
    axle: Triple
    up: Triple
    axis: Triple


def judge_wheel(m: Mechanism, name: str, wheel: RoadWheel) -> RoadWheel:
    """A wheel whose description makes sense by itself, its radius as an expression."""
    build = Builder(m, name, f"wheel '{name}'")
    if (wheel.at is None) == (wheel.body is None):
        fix = "give at: [x, y, z] for a wheel that is made, or body: for one that is there"
        raise build.refuse("has a place and a body" if wheel.at is not None else "has neither place nor body", "", fix)
    radius = build.positive(wheel.radius, "radius")
    kinds = [k for k in ("roller", "trail", "steering") if getattr(wheel, k) is not None]
    if wheel.body is not None and (unused := [k for k in kinds if k != "roller"]):
        raise build.refuse(
            f"has a body and {unused[0]}", "a body that is there has its joints", f"leave out {unused[0]}"
        )
    if wheel.ball and kinds:
        raise build.refuse(f"is a ball and has {kinds[0]}", "a ball carries and nothing else", f"leave out {kinds[0]}")
    if wheel.trail is not None and wheel.steering is not None:
        raise build.refuse("trails and is steered", "a caster turns freely", "leave out one of the two")
    for row in wheel.rows:
        if row not in ROWS:
            raise build.refuse(f"unknown row '{row}'", fix=suggestion(row, ROWS))
    return replace(wheel, radius=radius)


def height_of(m: Mechanism, name: str, wheel: RoadWheel, platform: Body) -> Expr:
    """How high the platform's origin stands where this wheel touches the ground (m), level and every joint at zero."""
    build = Builder(m, name, f"wheel '{name}'")
    place = wheel.center if wheel.at is None else wheel.at
    at = build.fixed_triple(place, "center" if wheel.at is None else "at")
    named = wheel.body if wheel.at is None else wheel.on
    body = platform if named is None else m.find_body(named, build.where)
    while body is not platform:
        joint = body.joint
        if joint is None or joint.parent is m.ground:
            first = platform if named is None else m.find_body(named, build.where)
            raise build.refuse(
                f"stands on '{first.name}', which is not carried by the platform '{platform.name}'",
                "a vehicle is one tree of bodies",
                f"join it to '{platform.name}'",
            )
        in_joint = transpose_times(joint.child_mount, minus(at, joint.child_at))
        at, body = plus(joint.at, times(joint.mount, in_joint)), joint.parent
    radius: Any = wheel.radius
    return radius - at[2]


def make_body(m: Mechanism, build: Builder, wheel: RoadWheel, carrier: Body, at: Triple) -> Placed:
    """A wheel's body on an axle at a place (m) of the body that carries it."""
    name, zero, one = build.name, m.graph.const(0.0), m.graph.const(1.0)
    mass = build.positive(wheel.mass, "mass", "≥ 0")
    r: Any = wheel.radius
    spin = mass * r * r * 0.5 if wheel.inertia is None else build.constant(wheel.inertia, "inertia")
    look = Shape("cylinder", (m.number(r, name), _WIDTH * m.number(r, name)), axis="y")
    body = m.body(name, mass=mass, inertia={"xx": 0.5 * spin, "yy": spin, "zz": 0.5 * spin}, shapes=[look])
    m.joint(
        name,
        "revolute",
        carrier,
        body,
        axis="y",
        at=at,
        coordinates=None if wheel.coordinate is None else [wheel.coordinate],
        speeds=None if wheel.speed is None else [wheel.speed],
    )
    y, z = (zero, one, zero), (zero, zero, one)
    return Placed(carrier, body, (zero, zero, zero), y, z, y)


def find_body(m: Mechanism, build: Builder, wheel: RoadWheel, platform: Body) -> Placed:
    """Where a wheel is whose body the mechanism has."""
    assert wheel.body is not None
    rolls = build.body(wheel.body)
    center = build.fixed_triple(wheel.center, "center")
    zero, one = m.graph.const(0.0), m.graph.const(1.0)
    y, z = (zero, one, zero), (zero, zero, one)
    if wheel.ball:
        return Placed(rolls, rolls, center, y, z, y)
    joint = rolls.joint
    if joint is None or not isinstance(joint.type, Revolute):
        found = "no joint" if joint is None else f"a {joint.type.kind} joint"
        because, fix = "a wheel turns about its axle", "give it a revolute joint, or say that it is a ball: ball: true"
        raise build.refuse(f"body '{rolls.name}' has {found}", because, fix)
    axis = joint.type.axis
    axle = times(joint.mount, axis)
    parent = joint.parent
    assert parent.frame is not None and platform.frame is not None
    left = _numbers(m, Vector(parent.frame, axle).express(platform.frame).xyz)
    if abs(left[2]) > 0.5:
        because = "an axle lies level, and the joint's axis is the axle"
        raise build.refuse(f"its axis is ({', '.join(f'{x:.3g}' for x in left)}) in the platform", because)
    sign = 1.0 if left[1] >= 0.0 else -1.0
    up = _numbers(m, Vector(platform.frame, z).express(parent.frame).xyz)
    return Placed(
        parent,
        rolls,
        center,
        scaled(sign, axle),
        tuple(m.graph.const(x) for x in up),  # type: ignore[arg-type]
        scaled(sign, times(joint.child_mount, axis)),
    )


def _numbers(m: Mechanism, xyz: Triple) -> list[float]:
    """A direction as numbers where all coordinates are those of the start, whole ones exact."""
    values = {p.name: p.value for p in m.parameters.values()} | {"t": 0.0}
    values |= {c.name: c.initial for c in m.coordinate_records.values()}
    found = [float(x) for x in evaluate(list(xyz), values)]
    return [float(round(x)) if abs(x - round(x)) < _WHOLE else x for x in found]


def constrain_wheel(m: Mechanism, build: Builder, wheel: RoadWheel, placed: Placed, tread: Tread) -> BuiltWheel:
    """The wheel, with what the ground does to it as constraints."""
    name, rolls, center = build.name, placed.rolls, placed.center
    middle = point_of(rolls, center, f"{name}.center")
    r: Any = wheel.radius
    constraint: str | None = None if wheel.ball or not wheel.rows else name
    height: str | None = None
    if tread.unilateral:
        contact = WheelContact(
            rolls.name,
            radius=r,
            axis=placed.axis,
            center=center,
            rows=() if constraint is None else wheel.rows,
            roller=None if constraint is None else wheel.roller,
            ball=wheel.ball,
            friction=m.graph.const(0.0) if constraint is None else tread.friction,
            restitution=tread.restitution,
        )
        m.constrain(name, contact)
        height = name
    elif constraint is not None and wheel.roller is None and set(wheel.rows) == set(ROWS):
        m.constrain(name, Rolling(rolls.name, radius=r, axis=placed.axis, center=center, normal_row=tread.lifts))
        height = name if tread.lifts else None
    elif constraint is not None:
        _hold_one_direction(m, build, wheel, placed)
    if tread.lifts and height is None:
        height = name if constraint is None else f"{name} height"
        m.constrain(height, PointOnPlane("ground", rolls.name, second_at=center, height=r))
    return BuiltWheel(name, wheel, r, middle, placed.carrier, placed.axle, rolls, constraint, height)


def _hold_one_direction(m: Mechanism, build: Builder, wheel: RoadWheel, placed: Placed) -> None:
    """The one row of a wheel with rollers, along their axes, or of a wheel that slips in one direction."""
    ahead, left = cross(placed.axle, placed.up), placed.axle
    direction = ahead if wheel.rows[0] == ROWS[0] else left
    if wheel.roller is not None:
        angle = build.constant(wheel.roller, "roller")
        direction = plus(scaled(angle.cos(), ahead), scaled(angle.sin(), left))
    radius: Any = wheel.radius
    below = minus(_in_carrier(placed), scaled(radius, placed.up))
    carrier = placed.carrier.name
    record = PointVelocity(placed.rolls.name, direction, at=below, at_frame=carrier, frame=carrier)
    m.constrain(build.name, record)


def _in_carrier(placed: Placed) -> Triple:
    """The middle of a wheel from the origin of its body, in the axes of what carries it; it lies on the axle."""
    joint = placed.rolls.joint
    if joint is None or placed.rolls is placed.carrier:
        return placed.center
    return times(joint.mount, transpose_times(joint.child_mount, placed.center))


def carried_by_wheels(m: Mechanism, wheels: Mapping[str, BuiltWheel]) -> dict[str, str]:
    """Joints that move and stand on a wheel, or on what is welded to one → the name of that wheel."""
    rolling = {id(w.rolls): w.name for w in wheels.values() if not w.record.ball}
    found: dict[str, str] = {}
    for joint in m.joints.values():
        body: Body | None = joint.parent
        while body is not None and joint.type.kind != "weld":
            if id(body) in rolling:
                found[joint.name] = rolling[id(body)]
                break
            body = body.joint.parent if body.joint is not None and body.joint.type.kind == "weld" else None
    return found


__all__ = [
    "ROWS",
    "BuiltWheel",
    "Placed",
    "RoadWheel",
    "Tread",
    "carried_by_wheels",
    "constrain_wheel",
    "find_body",
    "height_of",
    "judge_wheel",
    "make_body",
]
