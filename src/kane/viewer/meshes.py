"""Meshes of bodies for pages, drawings and films: made of few triangles (`decimation`), and said of which bodies that
was done or could not be. A mesh has the colour that its shape is given, otherwise those of its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, visible, warn
from ..model import Mechanism
from ..model.meshes import Surface, Triangles, mesh_surface
from .decimation import decimate
from .shapes import PALETTE, Array


@dataclass(frozen=True, slots=True)
class DrawnMesh:
    """A mesh of a body: corners (k, 3) (m) in its frame, triangles (n, 3), and its colour."""

    body: str
    corners: Array
    triangles: Triangles
    color: str


@dataclass(frozen=True, slots=True)
class Fineness:
    """How many triangles are drawn at most: of one mesh, and of all."""

    each: int
    in_all: int

    def share(self, counts: Sequence[int]) -> int:
        """The largest number of triangles that each of meshes with so many may have: what small ones do not take is
        for the others."""
        left, meshes = self.in_all, len(counts)
        for count in sorted(counts):
            if count * meshes >= left:
                break
            left, meshes = left - count, meshes - 1
        return min(self.each, left // max(1, meshes)) if meshes else self.each


def read_meshes(model: Mechanism, fineness: Fineness) -> tuple[list[DrawnMesh], list[str], str]:
    """(the meshes that can be drawn, sentences about those that are not drawn or not as they are, one about files that
    are there and cannot be read, which is also a warning)."""
    asked = [(i, b.name, s) for i, b in enumerate(model.bodies.values()) for s in b.shapes if s.kind == "mesh"]
    found, drawn, told = list[tuple[int, str, str, Surface]](), list[DrawnMesh](), list[str]()
    unreadable = list[str]()
    for i, name, shape in asked:
        try:
            found.append((i, name, shape.color or "", mesh_surface(shape)))
        except InputError as error:
            told.append(f"mesh of '{visible(name)}' is not drawn: {str(error).partition(chr(10))[0]}")
            unreadable += told[-1:] * bool(shape.path)
    doubt = "".join(unreadable[:1]) + (f"; {len(unreadable) - 1} more like it" if len(unreadable) > 1 else "")
    if doubt:
        warn(doubt)
    most = fineness.share([len(whole.triangles) for _, _, _, whole in found])
    for i, name, color, whole in found:
        parts = _parts(name, whole, most, color, PALETTE[i % len(PALETTE)])
        count = sum(len(part.triangles) for part in parts)
        if count < len(whole.triangles):
            told.append(f"mesh of '{visible(name)}' is drawn with {count} of {len(whole.triangles)} triangles")
        drawn += [part for part in parts if len(part.triangles)]
    return drawn, told, doubt


def _parts(body: str, whole: Surface, most: int, given: str, usual: str) -> list[DrawnMesh]:
    """A mesh by its colours, with at most so many triangles together: in the colour that it is given, else in those of
    its file, else in the usual one of the body."""
    colors = np.full(len(whole.triangles), given) if given else np.asarray(whole.colors)
    known, labels = np.unique(colors, return_inverse=True)
    labels = labels.reshape(-1)
    left = decimate(whole.places, whole.triangles, labels, most)
    found: list[DrawnMesh] = []
    for k, color in enumerate(known.tolist()):
        numbers, renumbered = np.unique(left.triangles[labels[left.origin] == k], return_inverse=True)
        found.append(DrawnMesh(body, left.corners[numbers], renumbered.reshape(-1, 3), color or usual))
    return found


__all__ = ["DrawnMesh", "Fineness", "read_meshes"]
