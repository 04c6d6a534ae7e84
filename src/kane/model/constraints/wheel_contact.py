"""The contact of a vehicle's wheel with the ground that may open and slide: a gap, and slip along the wheel's rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING

from ...space import Vector
from ..fields import ORIGIN, Axis, BodyName, Components, Flag, Labels, Scalar
from ..loads.actions import point_of
from .changing import CONTACT, ChangingRows, make_law
from .contact import Contact, ball_on_plane, hub, wheel_on_plane
from .rolling import touch_rows

if TYPE_CHECKING:
    from ...space import Frame, Point
    from ..builder import Builder
    from ..records import Body


@dataclass(frozen=True, slots=True)
class WheelContact:
    """A wheel that may lift off the plane z = 0 of N and slide on it; what `Mechanism.vehicle` makes of one.

    `radius` (m), `axis` and `center` (m) are as for `Rolling`; a `ball` is round in every direction. `rows` are the
    directions in which the ground holds it with `friction`, longitudinal and lateral, or none; `roller` is the angle
    (rad) from straight ahead of the one direction in which a wheel with rollers is held. `restitution` is that of a
    landing.
    """

    body: BodyName
    _: KW_ONLY
    radius: Scalar
    axis: Axis = "y"
    center: Components = ORIGIN
    rows: Labels = ("longitudinal", "lateral")
    roller: Scalar | None = None
    ball: Flag = False
    friction: Scalar = 0.0
    restitution: Scalar = 0.0
    kind = "wheel-contact"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        law = make_law(build, restitution=self.restitution, friction=self.friction)
        ground, body = build.two_bodies("ground", self.body)
        assert ground.origin is not None and ground.frame is not None
        plane, n = ground.origin, ground.frame.z
        contact, turning = self._touch(build, body, plane, n)
        made = touch_rows(build, ground, body, contact, turning)
        rows = (made.rows[-1], *made.rows[:-1])
        return (ChangingRows("", CONTACT, rows, law, made.first, made.second, made.point),)

    def _touch(self, build: Builder, body: Body, plane: Point, n: Vector) -> tuple[Contact, Frame | None]:
        """Where it touches, the normal last among the directions, and the frame that turns with it."""
        R, c = build.positive(self.radius, "radius"), build.fixed_triple(self.center, "center")
        if self.ball:
            return ball_on_plane(point_of(body, c, f"{build.name}.center"), R, plane, n, ()), None
        wheel = hub(body, c, build.axis(self.axis, "axis"), f"{build.name}.center")
        because = "a wheel touches with its rim: its axis is not along the normal"
        zero = build.graph.const(0.0)
        contact = build.build_geometry(
            because, lambda: wheel_on_plane(wheel.center, wheel.axis, R, zero, plane, n, True)
        )
        return replace(contact, directions=self._directions(build, contact)), wheel.turning

    def _directions(self, build: Builder, contact: Contact) -> tuple[tuple[str, Vector], ...]:
        ahead, left, normal = contact.directions
        if self.roller is not None:
            angle = build.constant(self.roller, "roller")
            return (("roller", ahead[1] * angle.cos() + left[1] * angle.sin()), normal)
        return (*(d for d in (ahead, left) if d[0] in self.rows), normal)
