"""Rolling contacts: wheels, balls and ellipsoids on planes and balls of the ground or other bodies.

The material point of the rolling body at the contact has no velocity relative to that of the body it rolls on: two rows
along the surface and one along its normal, which also keeps the height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...space import Frame, Point, Vector, position
from ...space.algebra import is_zero, transpose
from ..fields import ORIGIN, Axis, BodyName, Components, Flag, Rotation, Scalar
from ..loads.actions import ForceAction, TorqueAction, point_of
from ..records import Body
from ..symbols import Quantity
from .contact import Contact, ball_on_ball, ball_on_plane, ellipsoid_on_plane, hub, wheel_on_plane
from .places import Acting, at_arm
from .rows import Row, RowSet

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class Rolling:
    """A disc or wheel that rolls without slip on a plane of the ground or of the body `on`.

    `radius` (m) is that of the wheel about `axis`, a unit vector of its body, at `center` (m) in it; `crown` (m) is the
    radius of its rim in cross-section: 0 for a knife edge, at most `radius`, which is a ball. The plane goes through
    `at` across `normal`, both in the frame of `on`. Rows: longitudinal, along axis × normal; lateral, along normal ×
    longitudinal; normal, whose residual is the height of the wheel over the plane. Without `normal_row` something else
    has to keep that height. A wheel that lies flat touches nowhere in particular: no value.

    >>> m = kane.Model()
    >>> joint = m.joint("free", "free", "ground", m.body("disc", mass=1, inertia={"xx": 0.4, "yy": 0.4, "zz": 0.4}))
    >>> built = m.constrain("road", kane.Rolling("disc", radius=0.3))
    >>> m.row_names
    ('road.longitudinal', 'road.lateral', 'road.normal')
    """

    body: BodyName
    _: KW_ONLY
    radius: Scalar
    axis: Axis = "y"
    center: Components = ORIGIN
    crown: Scalar = 0.0
    on: BodyName = "ground"
    at: Components = ORIGIN
    normal: Axis = "z"
    normal_row: Flag = True
    kind = "rolling"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = _rolling_bodies(build, self.on, self.body)
        R, rim = build.positive(self.radius, "radius"), build.positive(self.crown, "crown", "≥ 0")
        if build.number(rim) > build.number(R):
            what, because = f"crown {rim!r} m, radius {R!r} m", "the crown of a wheel does not exceed its radius"
            raise build.refuse(what, because, "give the outer radius of the wheel as its radius")
        e, c = build.axis(self.axis, "axis"), build.fixed_triple(self.center, "center")
        plane, n = _plane(build, first, self.at, self.normal)
        wheel = hub(second, c, e, f"{build.name}.center")
        because = "a wheel touches with its rim: its axis is not along the normal"
        contact = build.build_geometry(
            because, lambda: wheel_on_plane(wheel.center, wheel.axis, R, rim, plane, n, self.normal_row)
        )
        return contact_rows(build, first, second, contact, self.normal_row, wheel.turning)


@dataclass(frozen=True, slots=True)
class RollingSphere:
    """A ball of `radius` (m) at `center` (m) of `body` that rolls without slip on a plane of the body `on`.

    The plane is as for `Rolling`. Rows: two directions of the plane, fixed in `on` (x and y for normal z; 1 and 2 for a
    normal that is no coordinate axis), and normal, whose residual is the height over the plane; without `normal_row`
    something else has to keep it.

    >>> m = kane.Model()
    >>> joint = m.joint("free", "free", "ground", m.body("ball", mass=1, inertia={"xx": 0.4, "yy": 0.4, "zz": 0.4}))
    >>> built = m.constrain("floor", kane.RollingSphere("ball", radius=1))
    >>> m.row_names, m.freedom().degrees
    (('floor.x', 'floor.y', 'floor.normal'), 3)
    """

    body: BodyName
    _: KW_ONLY
    radius: Scalar
    center: Components = ORIGIN
    on: BodyName = "ground"
    at: Components = ORIGIN
    normal: Axis = "z"
    normal_row: Flag = True
    kind = "rolling-sphere"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = _rolling_bodies(build, self.on, self.body)
        R, c = build.positive(self.radius, "radius"), build.fixed_triple(self.center, "center")
        plane, n = _plane(build, first, self.at, self.normal)
        middle = point_of(second, c, f"{build.name}.center")
        contact = ball_on_plane(middle, R, plane, n, _plane_directions(build, n))
        return contact_rows(build, first, second, contact, self.normal_row)


@dataclass(frozen=True, slots=True)
class RollingOnSphere:
    """A ball of `radius` (m) at `center` (m) of `body` that rolls without slip on a ball of
    `on_radius` (m) at `at` of the body `on`.

    With `inside` it rolls in a hollow of that radius. `normal` (default z, or −z inside) is the direction of `on` in
    which the ball is usually found from the middle of the other: the rows along the surface are the two directions
    across it, carried over by the smallest turn, and have no value only on the opposite side. The residual of the row
    normal is the gap; without `normal_row` something else has to keep it.

    >>> m = kane.Model()
    >>> ball = m.body("ball", mass=1, inertia={"xx": 0.4, "yy": 0.4, "zz": 0.4})
    >>> joint = m.joint("free", "free", "ground", "ball", initial=[1, 0, 0, 0, 0, 0, 2.1])
    >>> built = m.constrain("dome", kane.RollingOnSphere("ball", radius=0.1, on_radius=2))
    >>> m.freedom().degrees
    3
    """

    body: BodyName
    _: KW_ONLY
    radius: Scalar
    on_radius: Scalar
    center: Components = ORIGIN
    on: BodyName = "ground"
    at: Components = ORIGIN
    inside: Flag = False
    normal: Axis | None = None
    normal_row: Flag = True
    kind = "rolling-on-sphere"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = _rolling_bodies(build, self.on, self.body)
        R, hollow = build.positive(self.radius, "radius"), build.positive(self.on_radius, "on_radius")
        if self.inside and build.number(R) >= build.number(hollow):
            what, because = f"radius {R!r} m in a hollow of {hollow!r} m", "a ball that rolls inside is the smaller one"
            raise build.refuse(what, because, "give a radius < on_radius")
        c = build.fixed_triple(self.center, "center")
        usual = ("-z" if self.inside else "z") if self.normal is None else self.normal
        other, k = _plane(build, first, self.at, usual)
        triad = [*_plane_directions(build, k), ("normal", k)]
        middle = point_of(second, c, f"{build.name}.center")
        because = "the contact of two balls is on the line between their middles"
        contact = build.build_geometry(because, lambda: ball_on_ball(middle, R, other, hollow, triad, self.inside))
        return contact_rows(build, first, second, contact, self.normal_row)


@dataclass(frozen=True, slots=True)
class RollingEllipsoid:
    """An ellipsoid, a rattleback's say, that rolls without slip on a plane of the ground or of the body `on`.

    `semi_axes` (m) are along the axes of `body` (or those turned by `rotation` in it) at `center`. The plane, through
    `at` across `normal`, and the rows are as for `RollingSphere`; without `normal_row` something else has to keep the
    height.

    >>> m = kane.Model()
    >>> joint = m.joint("free", "free", "ground", m.body("ball", mass=1, inertia={"xx": 0.4, "yy": 0.4, "zz": 0.4}))
    >>> built = m.constrain("floor", kane.RollingEllipsoid("ball", semi_axes=(0.2, 0.1, 0.1)))
    >>> m.freedom().degrees
    3
    """

    body: BodyName
    _: KW_ONLY
    semi_axes: Components
    center: Components = ORIGIN
    rotation: Rotation | None = None
    on: BodyName = "ground"
    at: Components = ORIGIN
    normal: Axis = "z"
    normal_row: Flag = True
    kind = "rolling-ellipsoid"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = _rolling_bodies(build, self.on, self.body)
        sizes = build.triple(self.semi_axes, "semi_axes")
        a, b, d = (build.positive(s, "semi_axes", called="semi-axis") for s in sizes)
        c, R = build.fixed_triple(self.center, "center"), build.rotation(self.rotation, "rotation")
        plane, n = _plane(build, first, self.at, self.normal)
        assert second.frame is not None
        x, y, z = (Vector(second.frame, column) for column in transpose(R))
        middle = point_of(second, c, f"{build.name}.center")
        contact = ellipsoid_on_plane(middle, (x, y, z), (a, b, d), plane, n, _plane_directions(build, n))
        return contact_rows(build, first, second, contact, self.normal_row)


def _rolling_bodies(build: Builder, on: Body | str, body: Body | str) -> tuple[Body, Body]:
    """The body that is rolled on, and the one that rolls."""
    if build.body(body) is build.ground:
        raise build.refuse("the ground cannot roll", fix="name the body that rolls, and the ground as what it rolls on")
    return build.two_bodies(on, body)


def _plane(
    build: Builder, first: Body, at: Sequence[Quantity], normal: str | Sequence[Quantity]
) -> tuple[Point, Vector]:
    """A point of the body that is rolled on, and the normal there."""
    p, n = build.fixed_triple(at, "at"), build.axis(normal, "normal")
    assert first.frame is not None
    return point_of(first, p, f"{build.name}.plane"), Vector(first.frame, n)


def _plane_directions(build: Builder, n: Vector) -> list[tuple[str, Vector]]:
    return [(label, Vector(n.frame, d)) for label, d in build.perpendiculars(n.xyz)]


def contact_rows(
    build: Builder, first: Body, second: Body, contact: Contact, normal_row: bool, turning: Frame | None = None
) -> RowSet:
    """The rows of a contact that holds always, and rows that cost less and leave the same motion."""
    made = touch_rows(build, first, second, contact, turning, spans=normal_row)
    return made if normal_row else RowSet(made.rows[:-1], first, second, made.point)


def touch_rows(
    build: Builder,
    first: Body,
    second: Body,
    contact: Contact,
    turning: Frame | None = None,
    *,
    spans: bool = False,
) -> RowSet:
    """The rows of a contact: a force e at the contact on the second body, as a force at its centre and a torque on a
    frame with its angular velocity; minus it on the other body. With `spans`, also rows along the axes of the centre's
    home, which do not change their direction: a third of the operations less for a wheel."""
    place = contact.center.locate_new(f"{build.name}.contact", contact.arm)
    spins = second.frame if turning is None else turning
    assert spins is not None and first.origin is not None
    arm = None if first is build.ground else position(place, first.origin)

    def make_row(label: str, e: Vector) -> Row:
        acting: list[Acting] = [(second, ForceAction(contact.center, e))]
        if not is_zero(contact.arm.xyz):
            acting.append((second, TorqueAction(spins, contact.arm.cross(e))))
        if arm is not None:
            acting += at_arm(first, arm, -e, f"{place.name}.of {first.name}")
        if label != "normal":
            return build.row(label, acting)
        return build.row(label, acting, rheonomic=contact.rising, residual=contact.height)

    rows = tuple(make_row(label, e) for label, e in contact.directions)
    home = contact.center.home
    span = tuple(make_row(str(k + 1), e) for k, e in enumerate((home.x, home.y, home.z))) if spans else ()
    return RowSet(rows, first, second, place, span)
