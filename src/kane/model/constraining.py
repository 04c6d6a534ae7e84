"""Rolling contacts of a description: wheels, balls and ellipsoids on planes and balls of the ground or other bodies.

The material point of the rolling body at the contact has no velocity relative to that of the body it rolls on: two rows
along the surface and one along its normal, which also keeps the height.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ModelError, Problem
from ..space import Frame, Point, Vector
from ..space.algebra import Triple, transposed
from .closing import Closed
from .constraints import Constraint, Row
from .guiding import ORIGIN
from .loads import Force, Torque, point_of
from .pairs import Acting, at_coincident, row
from .records import Body
from .rolling import Contact, ball_on_ball, ball_on_plane, ellipsoid_on_plane, hub, wheel_on_plane
from .symbols import Quantity


class Constrained(Closed):
    """A tree of bodies under constraints of every kind."""

    def rolling(
        self,
        name: str,
        body: Body | str,
        *,
        radius: Quantity,
        axis: str | Sequence[Quantity] = "y",
        center: Sequence[Quantity] = ORIGIN,
        crown: Quantity = 0.0,
        on: Body | str = "ground",
        at: Sequence[Quantity] = ORIGIN,
        normal: str | Sequence[Quantity] = "z",
        normal_row: bool = True,
    ) -> Constraint:
        """A disc or wheel that rolls without slip on a plane of the ground or of the body `on`.

        `radius` (m) is that of the wheel about `axis`, a unit vector of its body, at `center` (m) in it; `crown` (m) is
        the radius of its rim in cross-section: 0 for a knife edge, at most `radius`, which is a ball. The plane goes
        through `at` across `normal`, both in the frame of `on`. Rows: longitudinal, along axis × normal; lateral, along
        normal × longitudinal; normal, whose residual is the height of the wheel over the plane. Without `normal_row`
        something else has to keep that height. A wheel that lies flat touches nowhere in particular: no value.
        """
        where = self._new_constraint(name)
        first, second = self._two_bodies(on, self._rolls(body, where), where)
        normal_row = self._truth(normal_row, "normal_row", where)
        R, rim = self._positive(radius, "radius", where), self._positive(crown, "crown", where, "≥ 0")
        if self.number(rim, where) > self.number(R, where):
            what, law = f"crown {rim!r} m, radius {R!r} m", "the crown of a wheel does not exceed its radius"
            raise ModelError(Problem(self.where(where), what, law, "give the outer radius of the wheel as its radius"))
        e = self.axis(axis, f"{where} / axis")
        c = self.fixed_triple(center, f"{where} / center")
        plane, n, p = self._plane(name, first, at, normal, where)
        wheel = hub(second, c, e, f"{name}.center")
        law = "a wheel touches with its rim: its axis is not along the normal"
        contact = self._determined(
            where, law, lambda: wheel_on_plane(wheel.center, wheel.axis, R, rim, plane, n, normal_row)
        )
        given = {"type": "rolling", "body": second.name, "radius": R, "axis": e, "center": c, "crown": rim}
        given.update(on=first.name, at=p, normal=n.xyz)
        return self._rolled(name, first, second, contact, given, normal_row, wheel.turning)

    def rolling_sphere(
        self,
        name: str,
        body: Body | str,
        *,
        radius: Quantity,
        center: Sequence[Quantity] = ORIGIN,
        on: Body | str = "ground",
        at: Sequence[Quantity] = ORIGIN,
        normal: str | Sequence[Quantity] = "z",
        normal_row: bool = True,
    ) -> Constraint:
        """A ball of `radius` (m) at `center` (m) of `body` that rolls without slip on a plane of the body `on`.

        The plane is as for `rolling`. Rows: two directions of the plane, fixed in `on` (x and y for normal z; 1 and 2
        for a normal that is no coordinate axis), and normal, whose residual is the height over the plane.
        """
        where = self._new_constraint(name)
        first, second = self._two_bodies(on, self._rolls(body, where), where)
        normal_row = self._truth(normal_row, "normal_row", where)
        R, c = self._positive(radius, "radius", where), self.fixed_triple(center, f"{where} / center")
        plane, n, p = self._plane(name, first, at, normal, where)
        middle = point_of(second, c, f"{name}.center")
        contact = ball_on_plane(middle, R, plane, n, self._in_plane(n, where))
        given = {"type": "rolling-sphere", "body": second.name, "radius": R, "center": c}
        given.update(on=first.name, at=p, normal=n.xyz)
        return self._rolled(name, first, second, contact, given, normal_row)

    def rolling_on_sphere(
        self,
        name: str,
        body: Body | str,
        *,
        radius: Quantity,
        on_radius: Quantity,
        center: Sequence[Quantity] = ORIGIN,
        on: Body | str = "ground",
        at: Sequence[Quantity] = ORIGIN,
        inside: bool = False,
        normal: str | Sequence[Quantity] | None = None,
        normal_row: bool = True,
    ) -> Constraint:
        """A ball of `radius` (m) that rolls without slip on a ball of `on_radius` (m) at `at` of the body `on`.

        With `inside` it rolls in a hollow of that radius. `normal` (default z, or −z inside) is the direction of `on`
        in which the ball is usually found from the middle of the other: the rows along the surface are the two
        directions across it, carried over by the smallest turn, and have no value only on the opposite side. The
        residual of the row normal is the gap.
        """
        where = self._new_constraint(name)
        first, second = self._two_bodies(on, self._rolls(body, where), where)
        normal_row = self._truth(normal_row, "normal_row", where)
        R, hollow = self._positive(radius, "radius", where), self._positive(on_radius, "on_radius", where)
        inside = self._truth(inside, "inside", where)
        if inside and self.number(R, where) >= self.number(hollow, where):
            what, law = f"radius {R!r} m in a hollow of {hollow!r} m", "a ball that rolls inside is the smaller one"
            raise ModelError(Problem(self.where(where), what, law, "give a radius < on_radius"))
        c = self.fixed_triple(center, f"{where} / center")
        usual = ("-z" if inside else "z") if normal is None else normal
        other, k, p = self._plane(name, first, at, usual, where)
        triad = [*self._in_plane(k, where), ("normal", k)]
        middle = point_of(second, c, f"{name}.center")
        law = "the contact of two balls is on the line between their middles"
        contact = self._determined(where, law, lambda: ball_on_ball(middle, R, other, hollow, triad, inside))
        given: dict[str, Any] = {"type": "rolling-on-sphere", "body": second.name, "radius": R, "on_radius": hollow}
        given.update(center=c, on=first.name, at=p, normal=k.xyz)
        if inside:
            given["inside"] = True
        return self._rolled(name, first, second, contact, given, normal_row)

    def rolling_ellipsoid(
        self,
        name: str,
        body: Body | str,
        *,
        semi_axes: Sequence[Quantity],
        center: Sequence[Quantity] = ORIGIN,
        rotation: dict[str, Any] | None = None,
        on: Body | str = "ground",
        at: Sequence[Quantity] = ORIGIN,
        normal: str | Sequence[Quantity] = "z",
        normal_row: bool = True,
    ) -> Constraint:
        """An ellipsoid, a rattleback's say, that rolls without slip on a plane of the ground or of the body `on`.

        `semi_axes` (m) are along the axes of `body` (or those turned by `rotation` in it) at `center`. The plane and
        the rows are as for `rolling_sphere`.
        """
        where = self._new_constraint(name)
        first, second = self._two_bodies(on, self._rolls(body, where), where)
        normal_row = self._truth(normal_row, "normal_row", where)
        sizes = self.triple(semi_axes, f"{where} / semi_axes")
        a, b, d = (self._positive(s, "semi-axis", f"{where} / semi_axes") for s in sizes)
        c = self.fixed_triple(center, f"{where} / center")
        R = self.fixed_rotation(rotation, f"{where} / rotation")
        plane, n, p = self._plane(name, first, at, normal, where)
        assert second.frame is not None
        x, y, z = (Vector(second.frame, column) for column in transposed(R))
        middle = point_of(second, c, f"{name}.center")
        contact = ellipsoid_on_plane(middle, (x, y, z), (a, b, d), plane, n, self._in_plane(n, where))
        given = {"type": "rolling-ellipsoid", "body": second.name, "semi_axes": [a, b, d], "center": c}
        given.update(rotation=R, on=first.name, at=p, normal=n.xyz)
        return self._rolled(name, first, second, contact, given, normal_row)

    def _rolls(self, body: Body | str, where: str) -> Body:
        record = self._attached(body, where)
        if record is self.ground:
            mend = "name the body that rolls, and the ground as what it rolls on"
            raise ModelError(Problem(self.where(where), "the ground cannot roll", mend=mend))
        return record

    def _plane(
        self, name: str, first: Body, at: Sequence[Quantity], normal: str | Sequence[Quantity], where: str
    ) -> tuple[Point, Vector, Triple]:
        """A point of the body that is rolled on, the normal there, and where the point is in the body's frame."""
        p = self.fixed_triple(at, f"{where} / at")
        n = self.axis(normal, f"{where} / normal")
        self.constant(n, f"{where} / normal")
        assert first.frame is not None
        return point_of(first, p, f"{name}.plane"), Vector(first.frame, n), p

    def _in_plane(self, n: Vector, where: str) -> list[tuple[str, Vector]]:
        return [(label, Vector(n.frame, d)) for label, d in self._across(n.xyz, where)]

    def _rolled(
        self,
        name: str,
        first: Body,
        second: Body,
        contact: Contact,
        given: dict[str, Any],
        normal_row: bool,
        turning: Frame | None = None,
    ) -> Constraint:
        """The constraint of a contact: a force e at the contact on the rolling body, as a force at its centre and a
        torque on a frame with its angular velocity; minus it on the other body."""
        place = contact.center.located(f"{name}.contact", contact.arm)
        spins = second.frame if turning is None else turning
        assert spins is not None

        def made(label: str, e: Vector) -> Row:
            acting: list[Acting] = [(second, Force(contact.center, e)), (second, Torque(spins, contact.arm.cross(e)))]
            if first is not self.ground:
                acting += at_coincident(first, place, -e, f"{place.name}.of {first.name}")
            height = contact.height if label == "normal" else None
            return row(label, acting, self.graph.const(0.0), height, ground=self.ground)

        kept = contact.directions if normal_row else contact.directions[:-1]
        rows = tuple(made(label, e) for label, e in kept)
        home = contact.center.home  # along its axes no direction changes: a third of the operations less for a wheel
        span = tuple(made(str(k + 1), e) for k, e in enumerate((home.x, home.y, home.z))) if normal_row else ()
        told = given if normal_row else {**given, "normal_row": False}
        return self.constraint(Constraint(name, given["type"], rows, first, second, place, told, span))
