"""Distances of a point from surfaces, in closed form: what a ball is from touching them, but for its radius.

For every surface f(x, y, z) is the distance, positive on the free side, and n its gradient, a unit vector: both as
expressions in the coordinates of a place in the frame of the surface's body. Where a surface has edges, f and n are
those of the nearest face, edge or corner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...graph import Expr, forward, substitute
from ...space.algebra import Triple, dot, minus, plus, scaled, times, transpose_times
from .shapes import ContactShape

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class SurfaceDistance:
    """Distance `f` (m) of a place from a surface, its gradient `n`, the `unit` normal there where the gradient is none,
    and the rate of f that is due to t alone."""

    f: Expr
    n: Triple
    unit: Triple
    rising: Expr | None = None


def distance_from(build: Builder, surface: ContactShape, place: Triple) -> SurfaceDistance:
    """The distance of a place (m, in the frame of the surface's body) from a surface."""
    if surface.word == "surface":
        return _from_form(build, surface, place)
    f, n = _DISTANCES[surface.word](surface, minus(place, surface.at))
    return SurfaceDistance(f, n, n)


def _from_capsule(surface: ContactShape, p: Triple) -> tuple[Expr, Triple]:
    """From the nearest point of the segment between the middles of its ends."""
    radius, length = surface.size
    arm = minus(p, scaled(clamp(dot(surface.axis, p), 0.5 * length), surface.axis))
    size = dot(arm, arm).sqrt()
    return size - radius, scaled(1.0 / size, arm)


def _from_cylinder(surface: ContactShape, p: Triple) -> tuple[Expr, Triple]:
    """Side, ends and rims of a cylinder; of a tube, touched from within, the side only."""
    radius, length = surface.size
    along = dot(surface.axis, p)
    arm = minus(p, scaled(along, surface.axis))
    square = dot(arm, arm)
    r = _nonzero(square).sqrt()  # on the axis the ends are nearest: any direction will do
    out = scaled(1.0 / r, arm)
    side = square.sqrt() - radius
    if surface.inside:
        return -side, scaled(-1.0, out)
    end, up = along.abs() - 0.5 * length, _sign(along)
    rim = _both(side, end)
    size = _nonzero(rim.select(side * side + end * end, 0.0)).sqrt()
    f = rim.select(size, side.max(end))
    across = rim.select(side / size, end.less(side))
    axial = rim.select(end / size, side.less_equal(end))
    return f, plus(scaled(across, out), scaled(axial * up, surface.axis))


def _from_box(surface: ContactShape, p: Triple) -> tuple[Expr, Triple]:
    """Faces, edges and corners of a box. An axis of the box along which nothing moves has no faces."""
    local = transpose_times(surface.rotation, p)
    graph = local[0].graph
    zero = graph.const(0.0)
    depth = {k: x.abs() - 0.5 * surface.size[k] for k, x in enumerate(local) if x.number is None}
    if not depth:
        depth = {k: x.abs() - 0.5 * surface.size[k] for k, x in enumerate(local)}
    outside = [zero.less(d) for d in depth.values()]
    total, square, nearest = zero, zero, None
    for d, out in zip(depth.values(), outside, strict=True):
        total = total + out
        square = square + d.max(0.0) * d.max(0.0)
        nearest = d if nearest is None else nearest.max(d)
    assert nearest is not None
    edge = graph.const(1.5).less(total)
    size = _nonzero(edge.select(square, 0.0)).sqrt()
    n, taken = [zero, zero, zero], zero
    for k, d in depth.items():
        face = nearest.less_equal(d) * (1.0 - taken)  # the first of equal ones
        taken = taken + face
        n[k] = _sign(local[k]) * edge.select(d.max(0.0) / size, face)
    return edge.select(size, nearest), times(surface.rotation, (n[0], n[1], n[2]))


def _from_form(build: Builder, surface: ContactShape, place: Triple) -> SurfaceDistance:
    """f / |∇f| of a surface that is given by an expression: a distance near it, with the gradient 1 on it."""
    assert surface.form is not None
    form = surface.form
    xyz = tuple(build.graph.input(letter) for letter in "xyz")
    slopes = _gradient(form, xyz)
    if all(s.is_zero for s in slopes):
        raise build.refuse(f"there is no x, y or z in {form!r}", "a surface is an expression in x, y, z")
    steep = dot(slopes, slopes).sqrt()
    f = form / steep
    parts = [f, *_gradient(f, xyz), *scaled(1.0 / steep, slopes), *forward([f], {build.time: 1.0})]
    value, nx, ny, nz, ux, uy, uz, rising = substitute(parts, dict(zip(xyz, place, strict=True)))
    return SurfaceDistance(value, (nx, ny, nz), (ux, uy, uz), rising)


def _gradient(form: Expr, xyz: tuple[Expr, ...]) -> Triple:
    x, y, z = (forward([form], {letter: 1.0})[0] for letter in xyz)
    return (x, y, z)


def clamp(x: Expr, size: Expr) -> Expr:
    """x, or the end of −size … size that is nearer."""
    return x.max(-size).min(size)


def _sign(x: Expr) -> Expr:
    """1, or −1 where x is negative: never 0."""
    return x.less(0.0).select(-1.0, 1.0)


def _both(x: Expr, y: Expr) -> Expr:
    """Whether both are positive."""
    zero = x.graph.const(0.0)
    return zero.less(x) * zero.less(y)


def _nonzero(square: Expr) -> Expr:
    """A square, or 1 where it is 0, so that its root divides."""
    return square.graph.const(0.0).less(square).select(square, 1.0)


_DISTANCES: Mapping[str, Callable[[ContactShape, Triple], tuple[Expr, Triple]]] = {
    "capsule": _from_capsule,
    "cylinder": _from_cylinder,
    "box": _from_box,
}
"""Word of a surface → its distance from a place relative to its middle."""
