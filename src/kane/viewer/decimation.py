"""Meshes made of fewer triangles, by collapsing edges [GAR97]: the two corners of an edge become one, at the place that
is nearest to the planes of all triangles which have gone into both.

Edges that bound a surface, or lie between two of its colours, have planes across the surface besides: so outlines and
the borders of colours stay where they are. In each round the cheapest edges that have no corner in common collapse
together, but those that would turn a triangle over; where rounds come to nothing, corners are joined cell by cell of a
grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.meshes import Triangles
from .shapes import Array

EXACT = 1 << 20
"""Cells of a grid along the longest side of a mesh, in which only corners are joined that are one."""

READY, LARGE = 12, 6000
"""Times as many triangles as are wanted, and so many at least, beyond which a grid makes them fewer at first: it is
quicker, and what it does is too small to be seen later."""

BORDER = 4.0
"""Weight of a plane across the surface at its borders, for the square of the length of an edge, beside the area of a
triangle."""

CHEAP = 0.4
"""Part of the edges, the cheapest, that may collapse in a round."""

TURN = 0.3
"""Cosine of the angle by which a triangle may turn."""

SOFT = 1e-4
"""Share of the weight of planes with which a corner is drawn to the middle of its edge: planes of a flat or a bent
surface do not tell where along it."""

EVEN = 1e-7
"""Part that the fourth power of its length has in the cost of an edge: on a plane short ones go first."""

REFUSED, TRIES = 4.0, 4
"""Factor of the costs of edges at both ends of one that would have turned a triangle over, so that others have their
turn, and how often all corners have it before there is no edge left that may collapse."""

_NOTHING = 1e-12  # area beside the square of the size of a mesh: the normal of such a triangle is rounding


@dataclass(frozen=True, slots=True)
class LabelledMesh:
    """Corners (k, 3), triangles (n, 3), and of each the place (n,) among those that were given."""

    corners: Array
    triangles: Triangles
    origin: Any


def decimate(corners: Array, triangles: Triangles, labels: Any, most: int) -> LabelledMesh:
    """A mesh of at most so many triangles; edges between triangles with other `labels` (n,), whole numbers, stay."""
    mesh = join_corners(corners, triangles, EXACT)
    mesh = _join_until(mesh, max(READY * most, LARGE))
    if len(mesh.triangles) > most:
        middle = mesh.corners.mean(axis=0)
        size = float(np.abs(mesh.corners - middle).max()) or 1.0
        work = _Collapsing((mesh.corners - middle) / size, mesh.triangles, np.asarray(labels)[mesh.origin])
        while len(work.triangles) > most and work.collapse(most):
            pass
        mesh = LabelledMesh(work.corners * size + middle, work.triangles, mesh.origin[work.origin])
    return _join_until(mesh, most)


def join_corners(corners: Array, triangles: Triangles, cells: int) -> LabelledMesh:
    """The mesh with one corner for each cell of a grid of so many along its longest side, at the middle of those in it;
    triangles whose corners do not fall into three cells go."""
    low = corners.min(axis=0)
    side = float(np.ptp(corners, axis=0).max()) / cells or 1.0
    place = np.floor((corners - low) / side).astype(np.int64)
    _, which, count = np.unique(_keys(place, cells + 1), return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    merged = np.zeros((len(count), 3))
    np.add.at(merged, which, corners)
    return _tidy(merged / count[:, None], which[triangles], np.arange(len(triangles)))


def _join_until(mesh: LabelledMesh, most: int) -> LabelledMesh:
    """The same by the finest grid that leaves at most so many triangles."""
    found, cells = mesh, 2048
    while len(found.triangles) > most:
        cells = min(cells - 1, int(cells * max(0.5, (most / max(1, len(found.triangles))) ** 0.5)))
        joined = join_corners(mesh.corners, mesh.triangles, cells)
        found = LabelledMesh(joined.corners, joined.triangles, mesh.origin[joined.origin])
    return found


def _tidy(corners: Array, triangles: Triangles, origin: Any) -> LabelledMesh:
    """The mesh without triangles that have a corner twice, or are there already, and without corners that none has."""
    whole = np.flatnonzero(_has_three(triangles))
    left = triangles[whole]
    first = np.argmin(left, axis=1)
    turned = np.stack([left[np.arange(len(left)), (first + k) % 3] for k in range(3)], axis=1)
    kept = np.unique(_keys(turned, len(corners)), return_index=True)[1]
    numbers, renumbered = np.unique(turned[kept], return_inverse=True)
    return LabelledMesh(corners[numbers], renumbered.reshape(-1, 3), origin[whole[kept]])


def _has_three(triangles: Triangles) -> Any:
    """Which triangles have three corners, (n,) of bool."""
    a, b, c = triangles.T
    return (a != b) & (b != c) & (c != a)


def _keys(triples: Any, base: int) -> Any:
    """One whole number for each triple (k, 3) of numbers below `base`, in the same order: quicker to sort."""
    return (triples[:, 0] * base + triples[:, 1]) * base + triples[:, 2]


class _Collapsing:
    """A mesh of size 1 whose edges collapse: corners with the planes that have gone into each, as `_planes` (k, 10),
    and a factor (k,) for the costs of its edges; triangles with their labels and places among those given."""

    def __init__(self, corners: Array, triangles: Triangles, labels: Any):
        self.corners, self.triangles, self.labels = corners, triangles, labels
        self.origin = np.arange(len(triangles))
        self.planes = _planes_at(corners, triangles, _Edges.of(triangles, labels, len(corners)))
        self.factors = np.ones(len(corners))

    def collapse(self, most: int) -> bool:
        """Collapse some edges, no more than are needed to leave `most` triangles; False if none could be."""
        edges = _Edges.of(self.triangles, self.labels, len(self.corners))
        places, costs = self._judge(edges)
        order = np.argsort(costs, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        for able in (rank < max(8, int(CHEAP * len(order))), np.ones(len(order), dtype=bool)):
            chosen = _apart(edges.ends, rank, able, len(self.corners))
            chosen = chosen[: -(-(len(self.triangles) - most) // 2)]
            kept = self._without_turning(edges.ends, places, chosen)
            self.factors[edges.ends[np.setdiff1d(chosen, kept)]] *= REFUSED
            if kept.size:
                self._apply(edges.ends[kept], places[kept])
                return True
        return bool(self.factors.min() < REFUSED**TRIES)

    def _judge(self, edges: _Edges) -> tuple[Array, Array]:
        """Where the corners of each edge would become one, (e, 3), and what that costs: the sum of squares of its
        distances from all planes, times their areas. Edges across a strip between two borders cost more."""
        first, second = edges.ends.T
        a, b = self.corners[first], self.corners[second]
        planes, middle = self.planes[first] + self.planes[second], 0.5 * (a + b)
        length = np.sqrt(np.sum((b - a) ** 2, axis=1))
        places = _nearest(planes, middle)
        far = np.sum((places - middle) ** 2, axis=1) > length**2
        places[far] = middle[far]
        costs = np.maximum(0.0, _distances(planes, places)) + EVEN * length**4
        at_border = np.zeros(len(self.corners), dtype=bool)
        at_border[edges.ends[edges.border]] = True
        across = ~edges.border & at_border[first] & at_border[second]
        return places, (costs + np.where(across, length**4, 0.0)) * self.factors[first] * self.factors[second]

    def _without_turning(self, ends: Any, places: Array, chosen: Any) -> Any:
        """Those of the chosen edges that may collapse together without turning a triangle over."""
        moving = np.zeros(len(self.corners), dtype=bool)
        moving[ends[chosen]] = True
        near = self.triangles[moving[self.triangles].any(axis=1)]
        before = _area_vectors(self.corners, near)
        size = np.sum(before**2, axis=1)
        while chosen.size:
            corners, target = self._move_ends(ends[chosen], places[chosen])
            after = _area_vectors(corners, target[near])
            along = np.sum(before * after, axis=1)
            turns = (along <= 0.0) | (along**2 <= TURN**2 * size * np.sum(after**2, axis=1))
            turns &= _has_three(target[near]) & (size > _NOTHING**2)
            touched = np.zeros(len(corners), dtype=bool)
            touched[near[turns]] = True
            good = ~touched[ends[chosen]].any(axis=1)
            if good.all():
                break
            chosen = chosen[good]
        return chosen

    def _move_ends(self, ends: Any, places: Array) -> tuple[Array, Any]:
        """Corners after some edges have collapsed, to their first ends, and the number that each corner has then."""
        target, corners = np.arange(len(self.corners)), self.corners.copy()
        target[ends[:, 1]], corners[ends[:, 0]] = ends[:, 0], places
        return corners, target

    def _apply(self, ends: Any, places: Array) -> None:
        corners, target = self._move_ends(ends, places)
        planes, triangles = self.planes.copy(), target[self.triangles]
        planes[ends[:, 0]] += planes[ends[:, 1]]
        columns = np.concatenate([corners, planes, self.factors[:, None]], axis=1)
        left = _tidy(columns, triangles, np.arange(len(triangles)))
        self.corners, self.planes = left.corners[:, :3].copy(), left.corners[:, 3:-1].copy()
        self.factors, self.triangles = left.corners[:, -1].copy(), left.triangles
        self.labels, self.origin = self.labels[left.origin], self.origin[left.origin]


@dataclass(frozen=True, slots=True)
class _Edges:
    """Edges of a mesh: corners at their `ends` (e, 2), whether they are a `border` (e,), and the edge (3 n,) of each
    side of a triangle: first sides of all, then second ones, then third ones."""

    ends: Any
    border: Any
    of_sides: Any

    @classmethod
    def of(cls, triangles: Triangles, labels: Any, corners: int) -> _Edges:
        a, b = _sides(triangles)
        keys, which, count = np.unique(
            np.minimum(a, b) * corners + np.maximum(a, b), return_inverse=True, return_counts=True
        )
        which = which.reshape(-1)
        any_label = np.empty(len(keys), dtype=np.int64)
        any_label[which] = np.tile(labels, 3)
        border = count != 2
        border[which[any_label[which] != np.tile(labels, 3)]] = True
        return cls(np.stack([keys // corners, keys % corners], axis=1), border, which)


def _sides(triangles: Triangles) -> tuple[Any, Any]:
    """Corners at both ends of the sides of triangles, (3 n,) each."""
    return triangles.T.reshape(-1), np.roll(triangles, -1, axis=1).T.reshape(-1)


def _planes_at(corners: Array, triangles: Triangles, edges: _Edges) -> Array:
    """Sums (k, 10) of the planes at each corner: those of its triangles by their areas, and at borders those across
    the surface."""
    area = _area_vectors(corners, triangles)
    size = np.linalg.norm(area, axis=1)
    normals = area / np.maximum(size, 1e-300)[:, None]
    found = np.zeros((len(corners), 10))
    own = _planes(normals, corners[triangles[:, 0]], 0.5 * size)
    for k in range(3):
        np.add.at(found, triangles[:, k], own)
    sides = np.flatnonzero(edges.border[edges.of_sides])
    a, b = (ends[sides] for ends in _sides(triangles))
    across = np.cross(corners[b] - corners[a], normals[sides % len(triangles)])
    length = np.linalg.norm(across, axis=1)
    own = _planes(across / np.maximum(length, 1e-300)[:, None], corners[a], BORDER * length**2)
    np.add.at(found, a, own)
    np.add.at(found, b, own)
    return found


def _planes(normals: Array, points: Array, weights: Array) -> Array:
    """Squares of distances from planes, times weights, as forms (n, 10) xᵀ A x + 2 bᵀ x + c: xx, xy, xz, yy, yz, zz of
    A, then b and c."""
    x, y, z = normals.T
    d = -np.sum(normals * points, axis=1)
    return np.stack([x * x, x * y, x * z, y * y, y * z, z * z, x * d, y * d, z * d, d * d], axis=1) * weights[:, None]


def _distances(planes: Array, places: Array) -> Array:
    """Sums of squares of distances of places (e, 3) from planes (e, 10)."""
    xx, xy, xz, yy, yz, zz, bx, by, bz, c = planes.T
    x, y, z = places.T
    along_x, along_y = xx * x + 2.0 * (xy * y + xz * z + bx), yy * y + 2.0 * (yz * z + by)
    return x * along_x + y * along_y + z * (zz * z + 2.0 * bz) + c


def _nearest(planes: Array, middle: Array) -> Array:
    """Places (e, 3) nearest to planes (e, 10), and a little to the middle: A x = -b by Cramer's rule."""
    xx, xy, xz, yy, yz, zz, bx, by, bz, _ = planes.T
    pull = SOFT * (xx + yy + zz) + _NOTHING
    xx, yy, zz = xx + pull, yy + pull, zz + pull
    rx, ry, rz = pull * middle[:, 0] - bx, pull * middle[:, 1] - by, pull * middle[:, 2] - bz
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    found = np.stack([a * rx + b * ry + c * rz, b * rx + d * ry + e * rz, c * rx + e * ry + f * rz], axis=1)
    return found / (xx * a + xy * b + xz * c)[:, None]


def _apart(ends: Any, rank: Any, able: Any, corners: int) -> Any:
    """Edges that may collapse, of which each has the least rank of all such at both of its ends; in order of rank."""
    some = np.flatnonzero(able)
    least = np.full(corners, len(rank))
    for side in range(2):
        np.minimum.at(least, ends[some, side], rank[some])
    found = some[(rank[some] == least[ends[some, 0]]) & (rank[some] == least[ends[some, 1]])]
    return found[np.argsort(rank[found])]


def _area_vectors(corners: Array, triangles: Triangles) -> Array:
    """Normals (n, 3) of triangles as long as twice their areas."""
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


__all__ = ["LabelledMesh", "decimate", "join_corners"]
