"""Where shapes touch surfaces: gap, normal and directions of slip of every pair, in closed form.

A surface that can be touched by a ball is a field f(x, y, z): the distance from it, positive where the ball may be.
Then the gap is f − r at the middle of the ball, the normal is the gradient of f, and the place of contact lies −r n
from the middle. A point is a ball of radius 0, and so are the corners of a box; a capsule on a plane is two balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...graph import Expr
from ...space import Vector, rotations
from ...space.algebra import Triple, cross
from ..loads.actions import point_of
from ..records import Body
from .contact import ball_on_plane
from .rolling import contact_rows
from .rows import RowSet
from .shapes import ContactShape, corners, ends

if TYPE_CHECKING:
    from ..builder import Builder

Side = tuple[Body, ContactShape]
"""A body and a shape of it."""
Ball = tuple[Triple, Expr]
"""The middle of a ball in its body's frame, and its radius (m)."""


def touches(build: Builder, first: Side, second: Side) -> Iterator[RowSet]:
    """The rows of every place where a shape of one body can touch a surface of another; the normal row is the last."""
    if second[1].word != "plane" and first[1].word == "plane":
        first, second = second, first
    make = _PAIRS.get((first[1].word, second[1].word))
    if make is None:
        what = f"a {first[1].word} against a {second[1].word}"
        because = "there is no closed form of where they touch"
        fix = f"a plane is touched by a {', '.join(sorted(a for a, b in _PAIRS if b == 'plane'))}"
        raise build.refuse(what, because, fix)
    yield from make(build, first, second)


def _balls(build: Builder, shape: ContactShape) -> list[Ball]:
    """The balls by which a shape touches a plane."""
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
        yield contact_rows(build, on, body, contact, True)


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


_Maker = Callable[["Builder", Side, Side], Iterator[RowSet]]
_PAIRS: Mapping[tuple[str, str], _Maker] = {
    **{(word, "plane"): _balls_on_plane for word in ("point", "sphere", "capsule", "box", "vertices")},
}
"""Words of two shapes → what finds where they touch."""

__all__ = ["slip_directions", "touches"]
