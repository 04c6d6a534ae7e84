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

READY, LARGE = 16, 20_000
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
    """A mesh of size 1 whose edges collapse: corners with the planes that have gone into each, as sums of n nᵀ over
    homogeneous coordinates (k, 4, 4), triangles with their labels and places among those given."""

    def __init__(self, corners: Array, triangles: Triangles, labels: Any):
        self.corners, self.triangles, self.labels = corners, triangles, labels
        self.origin = np.arange(len(triangles))
        self.planes = _planes_at(corners, triangles, _Edges.of(triangles, labels, len(corners)))

    def collapse(self, most: int) -> bool:
        """Collapse some edges, no more than are needed to leave `most` triangles; False if none could be."""
        edges = _Edges.of(self.triangles, self.labels, len(self.corners))
        places, costs = self._judge(edges)
        order = np.argsort(costs, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        able = rank < max(8, int(CHEAP * len(order)))
        for _ in range(8):
            chosen = _apart(edges.ends, rank, able, len(self.corners))
            chosen = chosen[: -(-(len(self.triangles) - most) // 2)]
            kept = self._without_turning(edges.ends, places, chosen)
            if kept.size:
                self._apply(edges.ends[kept], places[kept])
                return True
            able[chosen] = False
            if not able.any():
                able = rank >= int(CHEAP * len(order))
        return False

    def _judge(self, edges: _Edges) -> tuple[Array, Array]:
        """Where the corners of each edge would become one, (e, 3), and what that costs: the sum of squares of its
        distances from all planes, times their areas. Edges across a strip between two borders cost more."""
        first, second = edges.ends.T
        a, b = self.corners[first], self.corners[second]
        planes, middle = self.planes[first] + self.planes[second], 0.5 * (a + b)
        length = np.linalg.norm(b - a, axis=1)
        pull = SOFT * np.trace(planes[:, :3, :3], axis1=1, axis2=2) + _NOTHING
        matrix = planes[:, :3, :3] + pull[:, None, None] * np.eye(3)
        places = np.linalg.solve(matrix, (pull[:, None] * middle - planes[:, :3, 3])[..., None])[..., 0]
        far = np.linalg.norm(places - middle, axis=1) > length
        places[far] = middle[far]
        whole = np.concatenate([places, np.ones((len(places), 1))], axis=1)
        costs = np.maximum(0.0, np.einsum("ei,eij,ej->e", whole, planes, whole)) + EVEN * length**4
        at_border = np.zeros(len(self.corners), dtype=bool)
        at_border[edges.ends[edges.border]] = True
        across = ~edges.border & at_border[first] & at_border[second]
        return places, costs + np.where(across, length**4, 0.0)

    def _without_turning(self, ends: Any, places: Array, chosen: Any) -> Any:
        """Those of the chosen edges that may collapse together without turning a triangle over."""
        before = _area_vectors(self.corners, self.triangles)
        while chosen.size:
            corners, triangles = self._moved(ends[chosen], places[chosen])
            after = _area_vectors(corners, triangles)
            sizes = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
            turns = np.sum(before * after, axis=1) <= TURN * sizes[0] * sizes[1]
            turns &= _has_three(triangles) & (sizes[0] > _NOTHING)
            touched = np.zeros(len(corners), dtype=bool)
            touched[self.triangles[turns]] = True
            good = ~touched[ends[chosen]].any(axis=1)
            if good.all():
                break
            chosen = chosen[good]
        return chosen

    def _moved(self, ends: Any, places: Array) -> tuple[Array, Triangles]:
        """Corners and triangles after some edges have collapsed, to their first ends."""
        target, corners = np.arange(len(self.corners)), self.corners.copy()
        target[ends[:, 1]], corners[ends[:, 0]] = ends[:, 0], places
        return corners, target[self.triangles]

    def _apply(self, ends: Any, places: Array) -> None:
        corners, triangles = self._moved(ends, places)
        planes = self.planes.copy()
        planes[ends[:, 0]] += planes[ends[:, 1]]
        used = np.unique(triangles[_has_three(triangles)])
        left = _tidy(corners, triangles, np.arange(len(triangles)))
        self.corners, self.triangles = left.corners, left.triangles
        self.labels, self.origin = self.labels[left.origin], self.origin[left.origin]
        self.planes = planes[used]


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
    """Sums (k, 4, 4) of the planes at each corner: those of its triangles by their areas, and at borders those across
    the surface."""
    area = _area_vectors(corners, triangles)
    size = np.linalg.norm(area, axis=1)
    normals = area / np.maximum(size, 1e-300)[:, None]
    found = np.zeros((len(corners), 4, 4))
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
    """Squares of distances from planes as forms (n, 4, 4) of homogeneous coordinates, times weights."""
    rows = np.concatenate([normals, -np.sum(normals * points, axis=1, keepdims=True)], axis=1)
    return weights[:, None, None] * rows[:, :, None] * rows[:, None, :]


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
