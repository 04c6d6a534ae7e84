"""Guides: knife edges, velocities, distances, and points that stay on planes, lines, surfaces and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...graph import Expr, forward, substitute
from ...space import Frame, Point, Vector, position
from ...space.algebra import Triple, is_zero
from ..fields import ORIGIN, Axis, BodyName, Components, CurveEquations, Direction, FrameName, Labels, Scalar
from ..records import Body
from ..symbols import Quantity
from .equations import curve_exprs
from .loops import gap_row, select_rows
from .places import Acting, BodyPlace, at_arm, at_coincident
from .rows import Row, RowSet

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class PointVelocity:
    """v · e = value (m/s): the velocity of the point `at` of `body` along `direction`, components in `frame`.

    It is the velocity in N, or that relative to the coinciding point of the body `relative_to`. `direction` is a unit
    vector; its components, and `value`, may be expressions in q, t and parameters. `at` (m) is from the body's origin,
    components in `at_frame` (default: the body's own); where that place moves in the body, as a contact does, the
    velocity is that of the material point which is there at the moment. The reaction is a force along the direction on
    the body, at that point.
    """

    body: BodyName
    direction: Direction
    _: KW_ONLY
    at: Components = ORIGIN
    at_frame: FrameName | None = None
    frame: FrameName = "N"
    relative_to: BodyName = "ground"
    value: Scalar = 0.0
    kind = "velocity"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = build.two_bodies(self.relative_to, self.body)
        e = Vector(build.frame(self.frame), build.direction(self.direction, "direction"))
        rate = build.rate_free(self.value, "value")
        point, acting = _material(build, second, _arm(build, second, self.at, self.at_frame), e)
        return RowSet((_guide(build, "velocity", first, point, acting, e, -rate),), first, second, point)


@dataclass(frozen=True, slots=True)
class KnifeEdge:
    """A blade or a skate: the point `at` (m) of `body` has no velocity along `direction`, a unit vector of the body's
    frame, relative to the body `on`. The reaction is a force along it, at that point."""

    body: BodyName
    _: KW_ONLY
    at: Components = ORIGIN
    direction: Axis = "y"
    on: BodyName = "ground"
    kind = "knife-edge"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = build.two_bodies(self.on, self.body)
        e = build.axis(self.direction, "direction")
        place = BodyPlace.on(second, build.fixed_triple(self.at, "at"), build.time, f"{build.name}.edge")
        edge = Vector(place.frame, e)
        guide = _guide(build, "lateral", first, place.point, place.push(edge), edge, build.graph.const(0.0))
        return RowSet((guide,), first, second, place.point)


@dataclass(frozen=True, slots=True)
class Distance:
    """A massless rod: the points `first_at` and `second_at` (m) of two bodies stay `length` (m) apart.

    `length` > 0 and the places may depend on t. The reaction is a force along the rod, positive where it pushes. The
    residual is (d² − length²) / (2 length) for points d apart: d − length where that is small, and smooth.
    """

    first: BodyName
    second: BodyName
    _: KW_ONLY
    length: Scalar
    first_at: Components = ORIGIN
    second_at: Components = ORIGIN
    kind = "distance"

    def make_rows(self, build: Builder) -> RowSet:
        a, b = build.two_bodies(self.first, self.second)
        p1, p2 = build.place(a, self.first_at, "first_at"), build.place(b, self.second_at, "second_at")
        size = build.scalar(self.length, "length")
        (number,) = build.check_function_of_time([size], "length")
        if number <= 0:
            fix = "close the loop by a spherical joint instead" if number == 0 else "give a length > 0"
            raise build.refuse(f"length {number:g} m", "a rod between two points has a length > 0", fix)
        line = position(p2.point, p1.point)
        if is_zero(line.xyz):
            raise build.refuse("its two points coincide in every state", "a rod has two ends", "check the places")
        e, square = line * (1.0 / size), line.dot(line)
        (growing,) = forward([size], {build.time: 1.0})
        rheonomic = e.dot(p2.rate()) - e.dot(p1.rate()) - 0.5 * growing * (square / (size * size) + 1.0)
        stretch = 0.5 * (square / size - size)
        rod = build.row("length", [*p2.push(e), *p1.push(-e)], rheonomic=rheonomic, residual=stretch)
        return RowSet((rod,), a, b, p2.point)


@dataclass(frozen=True, slots=True)
class PointOnPlane:
    """The point `second_at` (m) of the second body stays at `height` (m) above a plane of the first body.

    The plane goes through `first_at`, across `normal`, a unit vector of the first body's frame. Places and height may
    depend on t. The reaction is a force along the normal.
    """

    first: BodyName
    second: BodyName
    _: KW_ONLY
    first_at: Components = ORIGIN
    second_at: Components = ORIGIN
    normal: Axis = "z"
    height: Scalar = 0.0
    kind = "point-on-plane"

    def make_rows(self, build: Builder) -> RowSet:
        a, b = build.two_bodies(self.first, self.second)
        n = build.axis(self.normal, "normal")
        p1, p2 = build.place(a, self.first_at, "first_at"), build.place(b, self.second_at, "second_at")
        guide = gap_row(build, "normal", p1, p2, Vector(p1.frame, n), build.function_of_time(self.height, "height"))
        return RowSet((guide,), a, b, p2.point)


@dataclass(frozen=True, slots=True)
class PointOnLine:
    """The point `second_at` (m) of the second body stays on a line of the first, through `first_at` along `axis`.

    Two rows, along the directions across the axis: the other coordinate axes by their letters, 1 and 2 for any other
    direction. `rows` keeps only some of them. The reaction is a force across the line.
    """

    first: BodyName
    second: BodyName
    _: KW_ONLY
    first_at: Components = ORIGIN
    second_at: Components = ORIGIN
    axis: Axis = "x"
    rows: Labels | None = None
    kind = "point-on-line"

    def make_rows(self, build: Builder) -> RowSet:
        a, b = build.two_bodies(self.first, self.second)
        e = build.axis(self.axis, "axis")
        p1, p2 = build.place(a, self.first_at, "first_at"), build.place(b, self.second_at, "second_at")
        none = build.graph.const(0.0)
        made = [gap_row(build, label, p1, p2, Vector(p1.frame, d), none) for label, d in build.perpendiculars(e)]
        return RowSet(tuple(select_rows(build, made, self.rows)), a, b, p2.point)


@dataclass(frozen=True, slots=True)
class PointOnCurve:
    """The point `second_at` (m) of the second body stays on a surface or curve of the first.

    One or two equations in x, y, z (m), the point's coordinates in the first body's frame: "y = 0.1*x**2", or an
    expression that is zero; t and parameters may occur. One row each, labelled 1 and 2. The unit reaction is the
    gradient of the expression, a force on the second body.
    """

    first: BodyName
    second: BodyName
    equations: CurveEquations
    _: KW_ONLY
    second_at: Components = ORIGIN
    kind = "point-on-curve"

    def make_rows(self, build: Builder) -> RowSet:
        a, b = build.two_bodies(self.first, self.second)
        p2 = build.place(b, self.second_at, "second_at")
        assert a.origin is not None and a.frame is not None
        here = position(p2.point, a.origin).express(a.frame).xyz
        forms = curve_exprs(build, self.equations)
        rows = tuple(_curve_row(build, str(k + 1), form, a, p2, here) for k, form in enumerate(forms))
        return RowSet(rows, a, b, p2.point)


def _curve_row(build: Builder, label: str, form: Expr, first: Body, place: BodyPlace, here: Triple) -> Row:
    """f(x, y, z, t) = 0 at `here`, the coordinates of a place in the first body's frame."""
    assert first.frame is not None
    xyz = tuple(build.graph.input(letter) for letter in "xyz")
    slopes = [forward([form], {x: 1.0})[0] for x in xyz]
    if all(s.is_zero for s in slopes):
        raise build.refuse(f"there is no x, y or z in {form!r} = 0", "the equation of a curve is in x, y, z")
    parts = [form, *slopes, *forward([form], {build.time: 1.0})]
    value, gx, gy, gz, rate = substitute(parts, dict(zip(xyz, here, strict=True)))
    gradient = Vector(first.frame, (gx, gy, gz))
    acting = place.push(gradient)
    if first is not build.ground:
        acting += at_coincident(first, place.point, -gradient, f"{build.name}.of {first.name}")
    return build.row(label, acting, rheonomic=gradient.dot(place.rate()) + rate, residual=value, unit="")


def _guide(
    build: Builder, label: str, first: Body, point: Point, acting: list[Acting], e: Vector, rheonomic: Expr
) -> Row:
    """A force e at a point, what it does to the second body; minus it on the coinciding point of the first."""
    if first is not build.ground:
        acting = [*acting, *at_coincident(first, point, -e, f"{point.name}.of {first.name}")]
    return build.row(label, acting, rheonomic=rheonomic)


def _arm(build: Builder, body: Body, at: Sequence[Quantity], frame: Frame | Body | str | None) -> Vector:
    """From the origin of a body to a place that may move in it: components in q, t and parameters."""
    home = body.frame if frame is None else build.frame(frame, "at_frame")
    xyz = build.triple(at, "at")
    build.check_rate_free(xyz, "at")
    if not build.depends_on_motion(xyz):
        build.fixed_triple(xyz, "at")
    assert home is not None
    return Vector(home, xyz)


def _material(build: Builder, body: Body, arm: Vector, force: Vector) -> tuple[Point, list[Acting]]:
    """The point of a body at `arm` from its origin, and what a force on it there is for the body."""
    if arm.frame is body.frame and not build.depends_on_motion(arm.xyz):
        place = BodyPlace.on(body, arm.xyz, build.time, f"{build.name}.point")
        return place.point, place.push(force)
    assert body.origin is not None
    return body.origin.locate_new(f"{build.name}.point", arm), at_arm(body, arm, force, f"{build.name}.origin")
