"""Meshes of bodies for pages, drawings and films: made of few triangles, and said of which bodies that was done or
could not be.

A mesh has the colour that its shape is given, otherwise those of its file. Corners that fall into
one cell of a grid become one, at their middle; triangles whose corners do not fall into three cells go. The grid is the
finest that leaves as many triangles as are allowed: a corner moves by less than the diagonal of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, visible
from ..model import Mechanism
from ..model.meshes import Surface, Triangles, mesh_surface
from .shapes import PALETTE, Array

_FINEST = 1024  # cells along the longest side
_LEVELS = 65535  # corners of a mesh: pages number them by 16 bits


@dataclass(frozen=True, slots=True)
class DrawnMesh:
    """A mesh of a body: corners (k, 3) (m) in its frame, triangles (n, 3), and its colour."""

    body: str
    corners: Array
    triangles: Triangles
    color: str


@dataclass(frozen=True, slots=True)
class Fineness:
    """How many triangles are drawn at most: of one mesh, and of all, of which each is given the same share."""

    each: int
    in_all: int


def read_meshes(model: Mechanism, fineness: Fineness) -> tuple[list[DrawnMesh], list[str]]:
    """(the meshes that can be drawn, sentences about those that are not drawn or not as they are)."""
    asked = [(i, b.name, s) for i, b in enumerate(model.bodies.values()) for s in b.shapes if s.kind == "mesh"]
    most = min(fineness.each, fineness.in_all // max(1, len(asked)))
    drawn, told = list[DrawnMesh](), list[str]()
    for i, name, shape in asked:
        try:
            whole = mesh_surface(shape)
        except InputError as error:
            told.append(f"mesh of '{visible(name)}' is not drawn: {str(error).partition(chr(10))[0]}")
            continue
        parts = _parts(name, whole, most, shape.color or "", PALETTE[i % len(PALETTE)])
        count = sum(len(part.triangles) for part in parts)
        if count < len(whole.triangles):
            told.append(f"mesh of '{visible(name)}' is drawn with {count} of {len(whole.triangles)} triangles")
        drawn += [part for part in parts if len(part.triangles)]
    return drawn, told


def _parts(body: str, whole: Surface, most: int, given: str, usual: str) -> list[DrawnMesh]:
    """A mesh by its colours, with at most so many triangles together: in the colour that it is given, else in those of
    its file, else in the usual one of the body. Where triangles become one, what has the rarer colour lies on top."""
    _, which, counts = np.unique(whole.colors, return_inverse=True, return_counts=True)
    rarest = np.argsort(counts[which.reshape(-1)], kind="stable")
    corners, triangles, origin = _simplify(whole.places, whole.triangles[rarest], most)
    colors = np.array([given] * len(triangles)) if given else whole.colors[rarest][origin]
    found: list[DrawnMesh] = []
    for color in np.unique(colors).tolist():
        numbers, renumbered = np.unique(triangles[colors == color], return_inverse=True)
        found.append(DrawnMesh(body, corners[numbers], renumbered.reshape(-1, 3), color or usual))
    return found


def simplify_mesh(corners: Array, triangles: Triangles, most: int) -> tuple[Array, Triangles]:
    """A mesh of at most so many triangles, and as many corners as 16 bits can number."""
    return _simplify(corners, triangles, most)[:2]


def _simplify(corners: Array, triangles: Triangles, most: int) -> tuple[Array, Triangles, Any]:
    """The same, and for each triangle the place among those given of the first that became it."""
    cells = _FINEST
    found = _merge(corners, triangles, cells)
    while len(found[1]) > most or len(found[0]) > _LEVELS:
        cells = min(cells - 1, int(cells * max(0.5, (most / max(1, len(found[1]))) ** 0.5)))
        found = _merge(corners, triangles, cells)
    return found


def _merge(corners: Array, triangles: Triangles, cells: int) -> tuple[Array, Triangles, Any]:
    """The mesh with one corner for each cell of a grid of so many along its longest side, and which of the triangles
    are left."""
    low = corners.min(axis=0)
    side = float(np.ptp(corners, axis=0).max()) / cells or 1.0
    place = np.floor((corners - low) / side).astype(np.int64)
    _, which, count = np.unique(_keys(place, cells + 1), return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    merged = np.zeros((len(count), 3))
    np.add.at(merged, which, corners)
    merged /= count[:, None]
    left = which[triangles]
    whole = np.flatnonzero((left[:, 0] != left[:, 1]) & (left[:, 1] != left[:, 2]) & (left[:, 2] != left[:, 0]))
    left = left[whole]
    first = np.argmin(left, axis=1)
    turned = np.stack([left[np.arange(len(left)), (first + k) % 3] for k in range(3)], axis=1)
    kept = np.unique(_keys(turned, len(count)), return_index=True)[1]
    numbers, renumbered = np.unique(turned[kept], return_inverse=True)
    return merged[numbers], renumbered.reshape(-1, 3), whole[kept]


def _keys(triples: Any, base: int) -> Any:
    """One whole number for each triple (k, 3) of numbers below `base`, in the same order: quicker to sort."""
    return (triples[:, 0] * base + triples[:, 1]) * base + triples[:, 2]


__all__ = ["DrawnMesh", "Fineness", "read_meshes", "simplify_mesh"]
