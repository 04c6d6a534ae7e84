"""Where shapes touch surfaces: gap, normal and directions of slip of every pair, in closed form.

A ball touches a surface where its distance from it is its radius: the gap is f − r at its middle, the normal the
gradient of f (`distances.py`), and the place of contact lies −r n from the middle. A point is a ball of radius 0, and
so are the corners of a box; a capsule on a plane, or in a hollow, is two balls. Rims of discs, ellipsoids on planes,
and pairs of capsules have formulas of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from ...graph import Expr
from ...space import Vector, position, rotations
from ...space.algebra import Triple, cross, dot, minus, plus, scaled, transpose
from ..loads.actions import point_of
from ..records import Body
from .contact import Contact, ball_on_plane, ellipsoid_on_plane, hub, wheel_on_plane
from .distances import clamp, distance_from
from .rolling import touch_rows
from .rows import RowSet
from .shapes import ContactShape, corners, ends

if TYPE_CHECKING:
    from ..builder import Builder

Side = tuple[Body, ContactShape]
"""A body and a shape of it."""
Ball = tuple[Triple, Expr]
"""The middle of a ball in its body's frame, and its radius (m)."""
_PARALLEL = 1e-12  # sin² of the angle between two capsules below which any of their nearest places will do


def touches(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """The rows of every place where a shape of one body can touch a surface of another; the normal row is the last."""
    for one, other in ((first, second), (second, first)):
        pair = one[1].word, other[1].word
        make = _balls_in_hollow if other[1].inside and pair[0] in _CONVEX else _PAIRS.get(pair)
        if make is not None and not one[1].inside:
            yield from make(build, one, other)
            return
    words = [f"{'hollow ' if shape.inside else ''}{shape.word}" for _, shape in (first, second)]
    partners = sorted({b for a, b in _PAIRS if a == words[0]} | {a for a, b in _PAIRS if b == words[0]})
    because = f"a {words[0]} can touch {', '.join(f'a {b}' for b in partners) or 'nothing'}"
    raise build.refuse(f"a {words[0]} against a {words[1]}", because, "give other shapes (shape, surface)")


def _balls(build: Builder, shape: ContactShape) -> list[Ball]:
    """The balls by which a shape touches."""
    zero = build.graph.const(0.0)
    if shape.word == "point":
        return [(shape.at, zero)]
    if shape.word == "sphere":
        return [(shape.at, shape.size[0])]
    if shape.word == "capsule":
        return [(end, shape.size[0]) for end in ends(shape)]
    return [(corner, zero) for corner in corners(shape)]


def _balls_on_plane(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    (body, shape), (on, surface) = first, second
    assert on.frame is not None
    n = Vector(on.frame, surface.axis)
    for middle, radius in _balls(build, shape):
        plane = point_of(on, surface.at, f"{build.name}.plane")
        center = point_of(body, middle, f"{build.name}.center")
        contact = ball_on_plane(center, radius, plane, n, slip_directions(build, n))
        yield touch_rows(build, on, body, contact)


def _balls_on_sphere(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """Two balls, or one in a hollow: the line between their middles, in whichever frame it costs least."""
    (body, shape), (on, surface) = first, second
    sign = -1.0 if surface.inside else 1.0
    for middle, radius in _balls(build, shape):
        center = point_of(body, middle, f"{build.name}.center")
        line = position(center, point_of(on, surface.at, f"{build.name}.middle"))
        because = "the contact of two balls is on the line between their middles"
        length = build.build_geometry(because, line.magnitude)
        n = line * (sign / length)
        contact = Contact(
            center,
            n * (-radius),
            (*slip_directions(build, n), ("normal", n)),
            sign * (length - surface.size[0]) - radius,
        )
        yield touch_rows(build, on, body, contact)


def _balls_on_surface(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    (body, shape), (on, surface) = first, second
    assert on.frame is not None and on.origin is not None
    for middle, radius in _balls(build, shape):
        center = point_of(body, middle, f"{build.name}.center")
        place = position(center, on.origin).express(on.frame).xyz
        away = build.build_geometry("a contact has a normal", lambda p=place: distance_from(build, surface, p))
        n = Vector(on.frame, away.n)
        directions = slip_directions(build, Vector(on.frame, away.unit))
        contact = Contact(center, n * (-radius), (*directions, ("normal", n)), away.f - radius, away.rising)
        yield touch_rows(build, on, body, contact)


def _balls_in_hollow(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """What is convex touches a hollow with its outermost balls."""
    hollow = second[1].size[0]
    for _, radius in _balls(build, first[1]):
        if build.number(radius) >= build.number(hollow):
            what, because = f"radius {radius!r} m in a hollow of {hollow!r} m", "what is inside is the smaller one"
            raise build.refuse(what, because, "give a smaller radius, or leave out inside")
    make = _balls_on_sphere if second[1].word == "sphere" else _balls_on_surface
    yield from make(build, first, second)


def _corners_of_both(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """Two boxes: the corners of each against the faces of the other."""
    yield from _balls_on_surface(build, first, second)
    yield from _balls_on_surface(build, second, first)


def _rims_on_plane(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """The rim of a disc, or both of a cylinder."""
    (body, shape), (on, surface) = first, second
    assert on.frame is not None
    n = Vector(on.frame, surface.axis)
    because = "a disc touches with its rim: its axis is not along the normal"
    for middle in (shape.at,) if shape.word == "disc" else ends(shape):
        plane = point_of(on, surface.at, f"{build.name}.plane")
        wheel = hub(body, middle, shape.axis, f"{build.name}.center")
        contact = build.build_geometry(
            because,
            lambda w=wheel, p=plane: wheel_on_plane(w.center, w.axis, shape.size[0], shape.crown, p, n, True),
        )
        yield touch_rows(build, on, body, contact, wheel.turning)


def _ellipsoid_on_plane(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    (body, shape), (on, surface) = first, second
    assert body.frame is not None and on.frame is not None
    n = Vector(on.frame, surface.axis)
    x, y, z = (Vector(body.frame, column) for column in transpose(shape.rotation))
    plane = point_of(on, surface.at, f"{build.name}.plane")
    middle = point_of(body, shape.at, f"{build.name}.center")
    a, b, c = shape.size
    contact = ellipsoid_on_plane(middle, (x, y, z), (a, b, c), plane, n, slip_directions(build, n))
    yield touch_rows(build, on, body, contact)


def _capsules(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """Two capsules: the nearest places c + s d, C + t D of the segments between the middles of their ends.

    With unit vectors d, D and r = c − C, the lines are nearest at s = (b (D·r) − d·r) / (1 − b²), b = d·D; clamped to
    the segment, then t = b s + D·r, clamped, then s = b t − d·r, clamped.
    """
    (body, shape), (on, other) = first, second
    assert on.frame is not None and on.origin is not None and body.frame is not None
    middle = point_of(body, shape.at, f"{build.name}.center")
    r = minus(position(middle, on.origin).express(on.frame).xyz, other.at)
    d, D = Vector(body.frame, shape.axis).express(on.frame).xyz, other.axis
    b, along, along_other = dot(d, D), dot(d, r), dot(D, r)
    half, half_other = 0.5 * shape.size[1], 0.5 * other.size[1]
    s = clamp((b * along_other - along) / (1.0 - b * b).max(_PARALLEL), half)
    t = clamp(b * s + along_other, half_other)
    s = clamp(b * t - along, half)
    line = minus(plus(r, scaled(s, d)), scaled(t, D))
    length = dot(line, line).sqrt()
    n = Vector(on.frame, scaled(1.0 / length, line))
    arm = Vector(on.frame, scaled(s, d)) - n * shape.size[0]
    contact = Contact(middle, arm, (*slip_directions(build, n), ("normal", n)), length - shape.size[0] - other.size[0])
    yield touch_rows(build, on, body, contact)


def slip_directions(build: Builder, n: Vector) -> list[tuple[str, Vector]]:
    """Two unit vectors across a unit vector, one of them along a coordinate axis where that is possible: the slip rows
    of a mechanism that moves in a plane then are one, and one that vanishes."""
    graph, xyz = build.graph, n.xyz
    numbers = [e.number for e in xyz]
    flat = next((k for k, e in enumerate(xyz) if e.is_zero), None)
    if flat is not None and not any(x in (1.0, -1.0) for x in numbers):
        across = rotations.unit(graph, flat)
        return [("1", Vector(n.frame, cross(across, xyz))), ("xyz"[flat], Vector(n.frame, across))]
    if build.depends_on_parameters(xyz):
        return [(label, Vector(n.frame, d)) for label, d in build.perpendiculars(xyz)]
    return _moving_directions(n)


def _moving_directions(n: Vector) -> list[tuple[str, Vector]]:
    """Two unit vectors across one that may point anywhere: they jump where n crosses the plane z = 0, and have a value
    everywhere. Friction is the same along any two."""
    x, y, z = n.xyz
    s = z.less(0.0).select(-1.0, 1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    c, d = (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)
    return [("1", Vector(n.frame, c)), ("2", Vector(n.frame, d))]


_POINTS = ("point", "vertices")
_CONVEX = (*_POINTS, "sphere", "capsule", "box")
_EDGED = ("capsule", "cylinder", "box")
_Maker = Callable[["Builder", Side, Side], Iterator[RowSet]]
_PAIRS: Mapping[tuple[str, str], _Maker] = {
    **{(word, "plane"): _balls_on_plane for word in _CONVEX},
    **{(word, "plane"): _rims_on_plane for word in ("disc", "cylinder")},
    ("ellipsoid", "plane"): _ellipsoid_on_plane,
    **{(word, "sphere"): _balls_on_sphere for word in (*_POINTS, "sphere")},
    **dict.fromkeys(product((*_POINTS, "sphere"), _EDGED), _balls_on_surface),
    **{(word, "surface"): _balls_on_surface for word in (*_POINTS, "box")},
    ("capsule", "capsule"): _capsules,
    ("box", "box"): _corners_of_both,
}
"""Words of two shapes → what finds where they touch; of a pair with a hollow, the hollow is the second."""

__all__ = ["slip_directions", "touches"]
