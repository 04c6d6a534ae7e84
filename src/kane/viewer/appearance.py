"""What the bodies of a mechanism look like, for pages, drawings and films alike: their meshes and shapes; a body that
has none, or whose mesh cannot be read, is drawn by the lines, spheres and wheels of `shapes.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import Mechanism
from .meshes import DrawnMesh, Fineness, read_meshes
from .shapes import Array, Piece, faces, pieces

LINE = 0.011
"""Radius of the lines of a mechanism, beside the longest side of the box that it is first seen in."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """The meshes and pieces that are drawn, and sentences about meshes that are not drawn or not as they are; one about
    files that cannot be read, empty if there are none."""

    meshes: tuple[DrawnMesh, ...]
    pieces: tuple[Piece, ...]
    told: tuple[str, ...]
    unreadable: str

    @classmethod
    def of(cls, model: Mechanism, fineness: Fineness) -> Appearance:
        """Of a mechanism, its meshes by a number of triangles.

        Nothing stands for what a mesh shows; where there are meshes, nothing stands for bodies without mass and shape,
        which are frames on others.
        """
        meshes, told, unreadable = read_meshes(model, fineness)
        meshed = {mesh.body for mesh in meshes}
        own = {name for name, body in model.bodies.items() if any(s.kind != "mesh" for s in body.shapes)}
        frames = {name for name, body in model.bodies.items() if not body.shapes and not model.number(body.mass, name)}
        hidden = meshed | frames if meshed else meshed
        shown = (p for p in pieces(model) if p.body in own or p.body not in hidden)
        return cls(tuple(meshes), tuple(shown), tuple(told), unreadable)

    def corners(self, model: Mechanism) -> list[Array]:
        """Corners (k, 3) of what is drawn of each body, in its frame; the origin where nothing is."""
        found: dict[str, list[Array]] = {name: [] for name in model.bodies}
        for mesh in self.meshes:
            found[mesh.body].append(mesh.corners)
        for piece in self.pieces:
            found[piece.body] += faces(piece.shape)
        return [np.unique(np.round(np.concatenate(f), 12), axis=0) if f else np.zeros((1, 3)) for f in found.values()]


__all__ = ["LINE", "Appearance"]
