"""Vehicles: a platform on wheels that roll on the ground, written out as bodies, joints and constraints.

A wheel with `at` is made with its vehicle: its body, an axle on the body that carries it, a fork where it is steered or
trails. A wheel with `body` is there already. Either way its contact becomes a constraint of the wheel's name. What a
vehicle knows beyond its parts is which of them are its wheels, so that forces of the ground, friction and tip-over can
be asked for.

Axes are those of the field: x forward, y to the left, z up; a positive spin about y rolls forward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ..errors import ModelError, Problem
from ..graph import Expr, evaluate
from ..space import Point
from ..space.algebra import Triple, minus
from .builder import Builder
from .constraints import ConfigurationEquations, PointOnPlane, PointVelocity, Rolling
from .fields import ORIGIN, BodyName, Components, Field, Flag, Labels, Scalar, Word
from .loads.actions import point_of
from .records import Body, Joint, Shape
from .symbols import Quantity, suggestion

if TYPE_CHECKING:
    from .mechanism import Mechanism

ROOTS = ("planar", "free")
ROWS = ("longitudinal", "lateral")
LAWS = ("ackermann", "parallel")
_LEVEL = 1e-9  # share of its radius by which a wheel may be off the ground
_TURN = (0.31, -0.17)  # rad of steering at which wheels must leave a motion
_WIDTH = 0.4  # of a wheel, in radii, as it is drawn
_STEM = 0.08  # radius of a fork, in radii of its wheel, as it is drawn
_MISS = 1e-9  # m by which the axles of wheels may miss one common point


@dataclass(frozen=True, slots=True)
class RoadWheel:
    """A wheel of a vehicle, of `radius` (m).

    One that is made with the vehicle has its middle `at` a place (m) of the platform, or of the body `on`, its axle
    along y, a `mass` (kg) and an `inertia` (kg m²) about its axle, by default that of a disc; half of it acts across.
    `coordinate` and `speed` name its spin. With `steering`, an angle (rad) about z as an expression in coordinates, or
    a law ("ackermann", "parallel") of the vehicle's steering angle, it stands on a fork; with `trail` (m) on a free
    fork whose axis is that far ahead of it: a caster. One that is there already names its `body`, with its
    axle along y and its middle at `center` (m).

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
    """A wheel in its mechanism. `center` is its middle, `carrier` the body whose x axis is its heading, `rolls` the
    body that touches the ground, `constraint` the name of what keeps it from slipping, `height` that of what keeps its
    height where the platform could lift; either may be missing."""

    name: str
    record: RoadWheel
    radius: Expr
    center: Point
    carrier: Body
    rolls: Body
    constraint: str | None
    height: str | None


@dataclass(frozen=True, slots=True)
class BuiltVehicle:
    """A vehicle in its mechanism: the platform, the joint that carries it, its wheels, the coefficient of friction."""

    name: str
    platform: Body
    root: Joint
    wheels: tuple[BuiltWheel, ...]
    friction: Expr

    @property
    def lifts(self) -> bool:
        """Whether the wheels, not the joint, keep the height of the platform."""
        return self.root.type.kind == "free"


def add_vehicle(
    m: Mechanism,
    name: str,
    platform: Body | str,
    wheels: Mapping[str, RoadWheel],
    *,
    root: str = ROOTS[0],
    velocity: str = "body",
    coordinates: Sequence[str] | None = None,
    speeds: Sequence[str] | None = None,
    steering: str | None = None,
    friction: Quantity = 0.0,
) -> BuiltVehicle:
    """See `Mechanism.vehicle`."""
    where = f"vehicle '{name}'"
    m.new_name(name, "vehicle", m.vehicles)
    body = m.find_body(platform, where)
    if not wheels:
        raise ModelError(Problem(m.where(where), "has no wheels", "a vehicle stands on wheels", "add wheels: …"))
    if root not in ROOTS:
        raise ModelError(Problem(m.where(where), f"root '{root}'", fix=suggestion(root, ROOTS)))
    mu = Builder(m, name, where).constant(friction, "friction")
    if not m.number(mu, where) >= 0.0:
        what = f"friction {m.number(mu, where):g}"
        raise ModelError(Problem(m.where(where), what, "a coefficient of friction is not negative", "give one ≥ 0"))
    made = {key: _judge(m, key, wheel) for key, wheel in wheels.items()}
    carried = _root_joint(m, name, body, made, _Root(root, velocity, coordinates, speeds), where)
    angle = _steering_angle(m, name, body, made, steering, where)
    law = _Law(m, body, made, angle)
    built = tuple(_add_wheel(m, key, wheel, body, law, carried.type.kind == "free") for key, wheel in made.items())
    _refuse_locked(m, built, body, where)
    vehicle = BuiltVehicle(name, body, carried, built, mu)
    m.vehicles[name] = vehicle
    m.revision += 1
    return vehicle


def _judge(m: Mechanism, name: str, wheel: RoadWheel) -> RoadWheel:
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


# the platform's own joint --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Root:
    """The joint of a platform as it was asked for."""

    type: str
    velocity: str
    coordinates: Sequence[str] | None
    speeds: Sequence[str] | None


def _root_joint(
    m: Mechanism,
    name: str,
    body: Body,
    wheels: Mapping[str, RoadWheel],
    root: _Root,
    where: str,
) -> Joint:
    """The joint between ground and platform, made where there is none, so high that the wheels touch."""
    heights = {key: _height(m, key, wheel, body) for key, wheel in wheels.items() if wheel.at is not None}
    if body.joint is not None:
        if body.joint.parent is not m.ground or body.joint.type.kind not in ROOTS:
            what = f"its platform hangs on '{body.joint.parent.name}' by a {body.joint.type.kind} joint"
            because = "a vehicle moves on the ground by a planar joint, or by a free one"
            raise ModelError(Problem(m.where(where), what, because, "leave out the joint: the vehicle makes its own"))
        _refuse_uneven(m, heights, body.joint, where)
        return body.joint
    if not heights:
        what, fix = f"platform '{body.name}' is attached to nothing", "add a planar or a free joint to the ground"
        raise ModelError(Problem(m.where(where), what, "its wheels do not say how high it stands", fix))
    first = next(iter(heights.values()))
    joint = "root" if "root" not in m.joints else f"{name}_root"
    zero = m.graph.const(0.0)
    at = (zero, zero, first if root.type == "planar" else zero)
    made = m.joint(
        joint,
        root.type,
        "ground",
        body,
        at=at,
        velocity=root.velocity,
        coordinates=root.coordinates,
        speeds=root.speeds,
    )
    if root.type == "free":
        m.set_initial({made.coordinates[-1].name: m.number(first, where)})
    _refuse_uneven(m, heights, made, where)
    return made


def _height(m: Mechanism, name: str, wheel: RoadWheel, platform: Body) -> Expr:
    """How high the platform's origin stands where this wheel touches the ground (m), level."""
    build = Builder(m, name, f"wheel '{name}'")
    assert wheel.at is not None
    at = build.fixed_triple(wheel.at, "at")
    if wheel.on is not None and m.find_body(wheel.on, build.where) is not platform:
        carrier = m.find_body(wheel.on, build.where)
        if carrier.origin is None or platform.origin is None:
            chain: Body | None = carrier
            z = at[2]
            while chain is not None and chain is not platform:
                if chain.joint is None:
                    raise build.refuse(f"stands on '{carrier.name}', which is not carried by the platform")
                z = z + chain.joint.at[2] - chain.joint.child_at[2]
                chain = chain.joint.parent
            return wheel.radius - z  # type: ignore[operator]
    return wheel.radius - at[2]  # type: ignore[operator]


def _refuse_uneven(m: Mechanism, heights: Mapping[str, Expr], root: Joint, where: str) -> None:
    """Refuse wheels that do not all touch the ground while the platform stands level."""
    if not heights:
        return
    numbers = {key: m.number(h, f"wheel '{key}'") for key, h in heights.items()}
    stands = m.number(root.at[2], where) if root.type.kind == "planar" else next(iter(numbers.values()))
    for key, height in numbers.items():
        off = stands - height
        if abs(off) > _LEVEL * max(abs(height), abs(stands), 1e-3):
            what = f"is {abs(off):.6g} m {'above' if off > 0 else 'below'} the ground"
            because = f"the platform stands level, its origin {stands:.6g} m above the ground"
            fix = f"raise or lower its place by {abs(off):.6g} m, or change its radius"
            raise ModelError(Problem(m.where(f"wheel '{key}'"), what, because, fix))


# steering ------------------------------------------------------------------------------------------------------------


def _steering_angle(
    m: Mechanism, name: str, body: Body, wheels: Mapping[str, RoadWheel], steering: str | None, where: str
) -> Expr | None:
    """The steering angle of the vehicle. Where no wheel's fork turns by just that angle, a column without mass does."""
    if steering is None:
        return None
    if steering in m.coordinate_records:
        return m.coordinate_records[steering].symbol
    if any(wheel.steering == steering for wheel in wheels.values()):
        return None  # that fork's joint has the coordinate; others come after it
    column = m.body(f"{name}_steering", shapes=[_stem(m, next(iter(wheels.values())))])
    speeds = _speed_of(m, steering)
    joint = m.joint(column.name, "revolute", body, column, axis="z", coordinates=[steering], speeds=speeds)
    return joint.coordinates[0].symbol


def _speed_of(m: Mechanism, angle: str) -> list[str] | None:
    """The name of a steering rate, uphi for phi; None, for one of the package's own, where it is taken."""
    return None if f"u{angle}" in m.known_names else [f"u{angle}"]


class _Law:
    """Steering angles of wheels: the laws of the field, or expressions."""

    def __init__(self, m: Mechanism, platform: Body, wheels: Mapping[str, RoadWheel], angle: Expr | None):
        self.m, self.platform, self.angle = m, platform, angle
        straight = [
            w for w in wheels.values() if w.at is not None and w.steering is None and w.trail is None and not w.ball
        ]
        steered = [w for w in wheels.values() if w.at is not None and w.steering is not None]
        self.rear, self.front = (self._mean(group) for group in (straight, steered))

    def _mean(self, wheels: Sequence[RoadWheel]) -> Expr:
        total = self.m.graph.const(0.0)
        for wheel in wheels:
            assert wheel.at is not None
            total = total + self.m.scalar(wheel.at[0], "wheel / at")
        return total * (1.0 / max(len(wheels), 1))

    def angle_of(self, build: Builder, wheel: RoadWheel) -> Expr:
        """φ_j(φ): "parallel" is φ; "ackermann" points every axle at one centre on the line of the unsteered axle."""
        if wheel.steering not in LAWS:
            assert wheel.steering is not None
            return build.scalar(wheel.steering, "steering")
        if self.angle is None:
            raise build.refuse(
                f"'{wheel.steering}' needs the vehicle's steering angle", fix="add steering: phi to the vehicle"
            )
        if wheel.steering == "parallel":
            return self.angle
        assert wheel.at is not None
        x, y, _ = build.fixed_triple(wheel.at, "at")
        s, c = self.angle.sin(), self.angle.cos()
        return ((x - self.rear) * s).atan2((self.front - self.rear) * c - y * s)


# wheels --------------------------------------------------------------------------------------------------------------


def _add_wheel(m: Mechanism, name: str, wheel: RoadWheel, platform: Body, law: _Law, lifts: bool) -> BuiltWheel:
    build = Builder(m, name, f"wheel '{name}'")
    made = _there(m, build, wheel) if wheel.body is not None else _make(m, build, wheel, platform, law)
    carrier, rolls, center = made
    middle = point_of(rolls, center, f"{name}.center")
    height: str | None = None
    constraint: str | None = name
    r: Any = wheel.radius
    if wheel.ball or not wheel.rows:
        constraint = None
    elif wheel.roller is None and set(wheel.rows) == set(ROWS):
        m.constrain(name, Rolling(rolls.name, radius=r, center=center, normal_row=lifts))
        height = name if lifts else None
    else:
        _slide(m, build, wheel, carrier, rolls, center)
    if lifts and height is None:
        height = name if constraint is None else f"{name} height"
        m.constrain(height, PointOnPlane("ground", rolls.name, second_at=center, height=r))
    return BuiltWheel(name, wheel, r, middle, carrier, rolls, constraint, height)


def _there(m: Mechanism, build: Builder, wheel: RoadWheel) -> tuple[Body, Body, Triple]:
    """Carrier, body and middle of a wheel whose body the mechanism has."""
    assert wheel.body is not None
    rolls = build.body(wheel.body)
    if rolls.joint is None:
        raise build.refuse(f"body '{rolls.name}' has no axle", "a wheel turns about a joint", "add a revolute joint")
    carrier = rolls.joint.parent if not wheel.ball else rolls
    return carrier, rolls, build.fixed_triple(wheel.center, "center")


def _make(m: Mechanism, build: Builder, wheel: RoadWheel, platform: Body, law: _Law) -> tuple[Body, Body, Triple]:
    """Carrier, body and middle of a wheel, with the fork and the axle that it needs."""
    name = build.name
    carrier = platform if wheel.on is None else m.find_body(wheel.on, build.where)
    if any(carrier is w.rolls for v in m.vehicles.values() for w in v.wheels):
        raise build.refuse(f"is mounted on wheel '{carrier.name}'", "a wheel stands on the platform or on an arm of it")
    assert wheel.at is not None
    at = build.fixed_triple(wheel.at, "at")
    if wheel.ball:
        return carrier, carrier, at
    if wheel.steering is not None or wheel.trail is not None:
        carrier, at = _fork(m, build, wheel, carrier, at, law)
    mass = build.constant(wheel.mass, "mass")
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
    return carrier, body, build.fixed_triple(ORIGIN, "center")


def _fork(m: Mechanism, build: Builder, wheel: RoadWheel, carrier: Body, at: Triple, law: _Law) -> tuple[Body, Triple]:
    """The fork of a wheel, a body without mass that turns about z, and where in it the wheel's middle is."""
    zero = m.graph.const(0.0)
    fork = m.body(f"{build.name}_fork", shapes=[_stem(m, wheel)])
    if wheel.trail is not None:
        m.joint(fork.name, "revolute", carrier, fork, axis="z", at=at)
        return fork, (-build.constant(wheel.trail, "trail"), zero, zero)
    own = isinstance(wheel.steering, str) and wheel.steering.isidentifier() and wheel.steering not in LAWS
    if own and wheel.steering not in m.known_names:
        phi = str(wheel.steering)
        made = m.joint(
            fork.name, "revolute", carrier, fork, axis="z", at=at, coordinates=[phi], speeds=_speed_of(m, phi)
        )
        if law.angle is None:
            law.angle = made.coordinates[0].symbol
        return fork, (zero, zero, zero)
    angle = law.angle_of(build, wheel)
    joint = m.joint(fork.name, "revolute", carrier, fork, axis="z", at=at)
    m.constrain(fork.name, ConfigurationEquations(joint.coordinates[0].symbol - angle))
    return fork, (zero, zero, zero)


def _stem(m: Mechanism, wheel: RoadWheel) -> Shape:
    """What a fork looks like: an upright rod, as long as its wheel's radius."""
    radius: Any = wheel.radius
    length = m.number(radius, "radius")
    return Shape("cylinder", (_STEM * length, length))


def _slide(m: Mechanism, build: Builder, wheel: RoadWheel, carrier: Body, rolls: Body, center: Triple) -> None:
    """The one row of a wheel with rollers, along their axes, or of a wheel that slips in one direction."""
    zero, one = m.graph.const(0.0), m.graph.const(1.0)
    if wheel.roller is not None:
        angle = build.constant(wheel.roller, "roller")
        direction = (angle.cos(), angle.sin(), zero)
    else:
        direction = (one, zero, zero) if wheel.rows[0] == ROWS[0] else (zero, one, zero)
    r: Any = wheel.radius
    below = minus(center, (zero, zero, r))
    m.constrain(build.name, PointVelocity(rolls.name, direction, at=below, at_frame=carrier.name, frame=carrier.name))


def _refuse_locked(m: Mechanism, wheels: Sequence[BuiltWheel], platform: Body, where: str) -> None:
    """Refuse fixed and steered wheels whose axles do not meet in one point, so that nothing can turn."""
    rows: dict[str, tuple[Expr, Expr, Expr]] = {}
    for wheel in wheels:
        record = wheel.record
        if record.at is None or record.on is not None or record.trail is not None or record.roller is not None:
            continue
        if record.ball or "lateral" not in record.rows:
            continue
        x, y, _ = m.fixed_triple(record.at, f"wheel '{wheel.name}' / at")
        joint = wheel.carrier.joint
        turned = wheel.carrier is not platform and joint is not None
        angle = _angle_in(m, wheel) if turned else m.graph.const(0.0)
        s, c = angle.sin(), angle.cos()
        rows[wheel.name] = (-s, c, x * c + y * s)
    used = m.inputs_of([e for row in rows.values() for e in row])
    values = {"t": 0.0, **{name: m.parameters[name].value for name in used if name in m.parameters}}
    for turn in _TURN:
        at = {**values, **{name: turn for name in used if name in m.coordinate_records}}
        found: list[list[float]] = []
        for name, row in rows.items():
            found.append([float(x) for x in evaluate(list(row), at)])
            if np.linalg.svd(np.array(found), compute_uv=False)[2:].sum() > _MISS:
                what = f"{name}.lateral leaves no motion"
                because = "the axles of wheels that do not slip meet in one point, or are parallel"
                fix = "let it slip (rows: [longitudinal]), trail, or steer it by a law such as ackermann"
                raise ModelError(Problem(m.where(where), what, because, fix))


def _angle_in(m: Mechanism, wheel: BuiltWheel) -> Expr:
    """The angle of a steered wheel's fork, from its steering law where it follows one."""
    tied = m.constraints.get(wheel.carrier.name)
    joint = wheel.carrier.joint
    assert joint is not None
    own = joint.coordinates[0].symbol
    if tied is None or not isinstance(tied.record, ConfigurationEquations):
        return own
    equation: Any = tied.record.equations
    first = equation[0] if isinstance(equation, (list, tuple)) else equation
    return own - first if isinstance(first, Expr) else own


__all__ = ["LAWS", "ROOTS", "ROWS", "BuiltVehicle", "BuiltWheel", "RoadWheel", "add_vehicle"]
