"""Vehicles: a platform on wheels that roll on the ground, written out as bodies, joints and constraints.

What a vehicle knows beyond its parts is which of them are its wheels, so that forces of the ground, friction and
tip-over can be asked for. Its wheels keep contact (`bilateral`), as the literature has it, or lift and slide
(`unilateral`).

Axes are those of the field: x forward, y to the left, z up; a positive spin about y rolls forward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import ModelError, Problem, suggestion
from ..graph import Expr
from ..space.algebra import Triple, minus
from .builder import Builder
from .constraints import ConfigurationEquations
from .records import Body, Joint
from .road_wheels import (
    BuiltWheel,
    Placed,
    RoadWheel,
    Tread,
    carried_by_wheels,
    constrain_wheel,
    find_body,
    height_of,
    judge_wheel,
    make_body,
)
from .steering import ARTICULATED, LAWS, RANGE, SteeringLaw, column_name, refuse_locked, speed_of, steering_angle, stem
from .symbols import Quantity

if TYPE_CHECKING:
    from .mechanism import Mechanism

ROOTS = ("planar", "free")
BILATERAL, UNILATERAL = "bilateral", "unilateral"
CONTACTS = (BILATERAL, UNILATERAL)
_LEVEL = 1e-9  # share of its radius by which a wheel may be off the ground


@dataclass(frozen=True, slots=True)
class VehicleOptions:
    """What is said of a vehicle besides its platform and its wheels; see `Mechanism.vehicle`."""

    root: str | None = None
    velocity: str = "body"
    coordinates: Sequence[str] | None = None
    speeds: Sequence[str] | None = None
    steering: str | None = None
    steering_limit: Quantity | None = None
    steering_inertia: Quantity = 0.0
    pivot: Sequence[Quantity] | None = None
    friction: Quantity = 0.0
    contact: str = BILATERAL
    restitution: Quantity = 0.0


@dataclass(frozen=True, slots=True)
class BuiltVehicle:
    """A vehicle in its mechanism: the platform, the joint that carries it, its wheels, the coefficients of friction and
    restitution, and whether its wheels may lift and slide."""

    name: str
    platform: Body
    root: Joint
    wheels: tuple[BuiltWheel, ...]
    friction: Expr
    restitution: Expr
    unilateral: bool = False

    @property
    def lifts(self) -> bool:
        """Whether the wheels, not the joint, keep the height of the platform."""
        return self.root.type.kind == "free"


def add_vehicle(
    m: Mechanism, name: str, platform: Body | str, wheels: Mapping[str, RoadWheel], options: VehicleOptions
) -> BuiltVehicle:
    """See `Mechanism.vehicle`."""
    build = Builder(m, name, f"vehicle '{name}'")
    m.new_name(name, "vehicle", m.vehicles)
    body = m.find_body(platform, build.where)
    if not wheels:
        raise build.refuse("has no wheels", "a vehicle stands on wheels", "add wheels: …")
    tread = _judge_options(build, options, wheels)
    made = {key: judge_wheel(m, key, wheel) for key, wheel in wheels.items()}
    for key, wheel in made.items():
        _refuse_on_wheel(m, Builder(m, key, f"wheel '{key}'"), wheel)
    carried = _root_joint(build, body, made, options, tread)
    tread = replace(tread, lifts=carried.type.kind == "free")
    if tread.unilateral and not tread.lifts:
        what, because = f"contact '{UNILATERAL}', on the planar joint '{carried.name}'", "a planar joint never lifts"
        raise build.refuse(what, because, "leave out the joint, or make it free")
    limit = RANGE if options.steering_limit is None else m.number(m.scalar(options.steering_limit, build.where), "")
    fork = _Forks(build, body, made, options, limit)
    built = tuple(_add_wheel(m, key, wheel, fork, tread) for key, wheel in made.items())
    if options.steering_limit is not None and options.steering is not None:
        m.limit(options.steering, lower=-limit, upper=limit)
    if not tread.unilateral:
        refuse_locked(m, built, fork.law, build.where)
    vehicle = BuiltVehicle(name, body, carried, built, tread.friction, tread.restitution, tread.unilateral)
    m.vehicles[name] = vehicle
    m.revision += 1
    return vehicle


def _judge_options(build: Builder, options: VehicleOptions, wheels: Mapping[str, RoadWheel]) -> Tread:
    """How the wheels meet the ground, whatever else is wrong with the options refused."""
    if options.root is not None and options.root not in ROOTS:
        raise build.refuse(f"root '{options.root}'", fix=suggestion(options.root, ROOTS))
    if options.contact not in CONTACTS:
        raise build.refuse(f"contact '{options.contact}'", fix=suggestion(options.contact, CONTACTS))
    if options.steering_limit is not None:
        limit = build.number(build.constant(options.steering_limit, "steering_limit"), "steering_limit")
        if not 0.0 < limit < math.pi:
            what, because = (
                f"steering_limit {limit:g} rad",
                "a steering angle goes to both sides, not all the way round",
            )
            raise build.refuse(what, because, "give one in 0 … pi, such as 35*deg")
    mu, e = build.constant(options.friction, "friction"), build.constant(options.restitution, "restitution")
    check_coefficients(build, mu, e)
    unilateral = options.contact == UNILATERAL
    if unilateral and options.root == "planar":
        what, because = f"root 'planar' with contact '{UNILATERAL}'", "a planar joint keeps the platform on the ground"
        raise build.refuse(what, because, "leave out the root, or write root: free")
    if unilateral and build.number(mu) == 0.0 and any(not w.ball and w.rows for w in wheels.values()):
        what, because = f"contact '{UNILATERAL}' without friction", "wheels that may slide roll by friction alone"
        raise build.refuse(what, because, "give friction: 0.8, say, or a large one where nothing is to slide")
    return Tread(unilateral, unilateral, mu, e)


def check_coefficients(build: Builder, friction: Expr, restitution: Expr) -> None:
    """Refuse coefficients of a vehicle that no ground has."""
    mu, e = build.number(friction), build.number(restitution)
    if not mu >= 0.0:
        raise build.refuse(f"friction {mu:g}", "a coefficient of friction is not negative", "give one ≥ 0")
    if not 0.0 <= e <= 1.0:
        because = "the coefficient of restitution is between 0 (no bounce) and 1 (no loss)"
        raise build.refuse(f"restitution {e:g}", because, "give one in 0 … 1")


# the platform's own joint --------------------------------------------------------------------------------------------


def _root_joint(
    build: Builder, body: Body, wheels: Mapping[str, RoadWheel], options: VehicleOptions, tread: Tread
) -> Joint:
    """The joint between ground and platform, made where there is none, so high that the wheels touch."""
    m, kind = build.mechanism, options.root or ROOTS[tread.lifts]
    heights = {key: _height(build, key, wheel, body, options) for key, wheel in wheels.items()}
    if body.joint is not None:
        if body.joint.parent is not m.ground or body.joint.type.kind not in ROOTS:
            what = f"its platform hangs on '{body.joint.parent.name}' by a {body.joint.type.kind} joint"
            because = "a vehicle moves on the ground by a planar joint, or by a free one"
            raise build.refuse(what, because, "leave out the joint: the vehicle makes its own")
        _refuse_uneven(m, heights, body.joint, build.where)
        return body.joint
    first = next(iter(heights.values()))
    joint = "root" if "root" not in m.joints else f"{build.name}_root"
    zero = m.graph.const(0.0)
    at = (zero, zero, first if kind == "planar" else zero)
    made = m.joint(
        joint,
        kind,
        "ground",
        body,
        at=at,
        velocity=options.velocity,
        coordinates=options.coordinates,
        speeds=options.speeds,
    )
    if kind == "free":
        m.set_initial({made.coordinates[-1].name: m.number(first, build.where)})
    _refuse_uneven(m, heights, made, build.where)
    return made


def _height(build: Builder, key: str, wheel: RoadWheel, body: Body, options: VehicleOptions) -> Expr:
    """How high the platform stands on a wheel (m); the front frame of an articulated vehicle is joined at its pivot."""
    if wheel.steering == ARTICULATED and wheel.on is not None:
        raised = 0.0 if options.pivot is None else build.fixed_triple(options.pivot, "pivot")[2]
        return height_of(build.mechanism, key, replace(wheel, on=None), body) - raised
    return height_of(build.mechanism, key, wheel, body)


def _refuse_uneven(m: Mechanism, heights: Mapping[str, Expr], root: Joint, where: str) -> None:
    """Refuse wheels that do not all touch the ground while the platform stands level."""
    numbers = {key: m.number(h, f"wheel '{key}'") for key, h in heights.items()}
    planar = root.type.kind == "planar"
    stands = m.number(root.at[2] - root.child_at[2], where) if planar else next(iter(numbers.values()))
    for key, height in numbers.items():
        off = stands - height
        if abs(off) > _LEVEL * max(abs(height), abs(stands), 1e-3):
            what = f"is {abs(off):.6g} m {'above' if off > 0 else 'below'} the ground"
            because = f"the platform stands level, its origin {stands:.6g} m above the ground"
            fix = f"raise or lower its place by {abs(off):.6g} m, or change its radius"
            raise ModelError(Problem(m.where(f"wheel '{key}'"), what, because, fix))


# forks ---------------------------------------------------------------------------------------------------------------


class _Forks:
    """What wheels stand on: the platform, forks of their own, or the front frame of an articulated vehicle."""

    def __init__(
        self, build: Builder, body: Body, wheels: Mapping[str, RoadWheel], options: VehicleOptions, limit: float
    ):
        self.m, self.platform = build.mechanism, body
        self.law = SteeringLaw(self.m, body, wheels, None, limit)
        self.front, self.pivot = self._front_frame(build, wheels, options)
        self.law.angle = steering_angle(build, body, wheels, options.steering, options.steering_inertia)
        column = self.m.bodies.get(column_name(build.name))
        if options.contact == UNILATERAL and column is not None and build.number(column.inertia[2][2]) == 0.0:
            what = f"contact '{UNILATERAL}', and its steering column has no inertia"
            because = "accelerations of what may slide follow from masses alone"
            raise build.refuse(what, because, "add steering_inertia: 0.05, say (kg m², of column and linkage)")

    def _front_frame(
        self, build: Builder, wheels: Mapping[str, RoadWheel], options: VehicleOptions
    ) -> tuple[Body | None, Triple]:
        """The frame that turns about the pivot of an articulated vehicle, and that pivot (m, in the platform)."""
        m, zero = self.m, self.m.graph.const(0.0)
        steered = [w for w in wheels.values() if w.steering == ARTICULATED]
        if not steered:
            if options.pivot is not None:
                fix = f"steer wheels by it: steering: {ARTICULATED}, or leave it out"
                raise build.refuse("has a pivot, and no wheel that turns about it", "", fix)
            return None, (zero, zero, zero)
        if options.steering is None:
            because = "the angle at the pivot is the steering angle"
            raise build.refuse(f"wheels are '{ARTICULATED}', without a steering angle", because, "add steering: phi")
        names = dict.fromkeys(None if w.on is None else m.find_body(w.on, build.where).name for w in steered)
        if len(names) > 1:
            found = ", ".join("a frame of their own" if n is None else f"'{n}'" for n in names)
            raise build.refuse(f"articulated wheels stand on {found}", "they stand on one frame", "name one body on:")
        (name,) = names
        if name is not None and options.pivot is None:
            because = f"wheels on '{name}' have their places in it, and the pivot is its origin"
            raise build.refuse("has no pivot", because, "add pivot: [x, y, z], in the platform (m)")
        middle = (0.5 * (self.law.rear + self.law.front), zero, zero)
        pivot = middle if options.pivot is None else build.fixed_triple(options.pivot, "pivot")
        frame = m.body(f"{build.name}_front", shapes=[stem(m, steered[0])]) if name is None else m.bodies[name]
        phi = options.steering
        m.joint(
            frame.name, "revolute", self.platform, frame, axis="z", at=pivot, coordinates=[phi], speeds=speed_of(m, phi)
        )
        return frame, pivot

    def carry(self, build: Builder, wheel: RoadWheel) -> tuple[Body, Triple]:
        """The body that carries a wheel's axle, a fork of its own where it needs one, and the axle's place (m)."""
        m, zero = self.m, self.m.graph.const(0.0)
        assert wheel.at is not None
        at = build.fixed_triple(wheel.at, "at")
        if wheel.steering == ARTICULATED:
            assert self.front is not None
            return self.front, at if wheel.on is not None else minus(at, self.pivot)
        carrier = self.platform if wheel.on is None else m.find_body(wheel.on, build.where)
        if wheel.steering is None and wheel.trail is None:
            return carrier, at
        fork = m.body(f"{build.name}_fork", shapes=[stem(m, wheel)])
        if wheel.trail is not None:
            m.joint(fork.name, "revolute", carrier, fork, axis="z", at=at)
            return fork, (-build.constant(wheel.trail, "trail"), zero, zero)
        self._steer(build, wheel, carrier, fork, at)
        return fork, (zero, zero, zero)

    def _steer(self, build: Builder, wheel: RoadWheel, carrier: Body, fork: Body, at: Triple) -> None:
        """The joint of a steered fork: with the steering angle as its own, or tied to it by a law."""
        m, law = self.m, self.law
        own = isinstance(wheel.steering, str) and wheel.steering.isidentifier() and wheel.steering not in LAWS
        if own and wheel.steering not in m.known_names:
            phi = str(wheel.steering)
            made = m.joint(
                fork.name, "revolute", carrier, fork, axis="z", at=at, coordinates=[phi], speeds=speed_of(m, phi)
            )
            law.angle = made.coordinates[0].symbol if law.angle is None else law.angle
            return
        angle = law.angle_of(build, wheel)
        joint = m.joint(fork.name, "revolute", carrier, fork, axis="z", at=at)
        m.constrain(fork.name, ConfigurationEquations(joint.coordinates[0].symbol - angle))


def _add_wheel(m: Mechanism, name: str, wheel: RoadWheel, forks: _Forks, tread: Tread) -> BuiltWheel:
    build = Builder(m, name, f"wheel '{name}'")
    if wheel.body is not None:
        placed = find_body(m, build, wheel, forks.platform)
    else:
        carrier, at = forks.carry(build, wheel)
        if wheel.ball:
            zero, one = m.graph.const(0.0), m.graph.const(1.0)
            y, z = (zero, one, zero), (zero, zero, one)
            placed = Placed(carrier, carrier, at, y, z, y)
        else:
            placed = make_body(m, build, wheel, carrier, at)
    return constrain_wheel(m, build, wheel, placed, tread)


def _refuse_on_wheel(m: Mechanism, build: Builder, wheel: RoadWheel) -> None:
    """Refuse a wheel that is mounted on one."""
    if wheel.on is None:
        return
    carrier = m.find_body(wheel.on, build.where)
    if any(carrier is w.rolls and not w.record.ball for v in m.vehicles.values() for w in v.wheels):
        raise build.refuse(f"is mounted on wheel '{carrier.name}'", "a wheel stands on the platform or on an arm of it")


def mounted_on_wheels(m: Mechanism) -> list[Problem]:
    """What is wrong with joints that stand on wheels: an arm would turn with it."""
    wheels = {wheel.name: wheel for vehicle in m.vehicles.values() for wheel in vehicle.wheels}
    return [
        Problem(
            m.where(f"joint '{joint}'"),
            f"is mounted on wheel '{wheel}', of radius {m.number(wheels[wheel].radius, wheel):g} m",
            "a wheel turns, and what stands on it turns over with it once every "
            f"{2 * math.pi * m.number(wheels[wheel].radius, wheel):.4g} m",
            "mount it on the platform, or on the fork that carries the wheel",
        )
        for joint, wheel in carried_by_wheels(m, wheels).items()
    ]


def carrying_platform(m: Mechanism, body: str, platforms: Sequence[str]) -> int:
    """The number of the platform that a body is, or is carried by; −1 for none."""
    parents = {joint.child.name: joint.parent.name for joint in m.joints.values()}
    name: str | None = body
    while name is not None and name not in platforms:
        name = parents.get(name)
    return -1 if name is None else platforms.index(name)


__all__ = [
    "BILATERAL",
    "CONTACTS",
    "LAWS",
    "ROOTS",
    "UNILATERAL",
    "BuiltVehicle",
    "BuiltWheel",
    "RoadWheel",
    "VehicleOptions",
    "add_vehicle",
    "carrying_platform",
    "mounted_on_wheels",
]
