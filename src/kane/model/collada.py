"""Meshes of COLLADA files, as many URDF files name them: all triangles of the scene, in metres, z up, in the diffuse
colours of their materials.

A file is untrusted. It is read twice: first by the parser of URDF files, which refuses document types and entities and
limits size, depth and number of elements, then by the package pycollada, an extra. Nothing that it names is opened.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from .urdf.xml import parse_xml

UPWARD = {
    "X_UP": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "Y_UP": ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
    "Z_UP": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}
"""Rotations, by rows, from the axes of a file to those with z up, by what the file says is up. By the standard Y_UP is
meant where nothing is said; X_UP has −y to the right and z towards the viewer there."""

Array = np.ndarray[Any, np.dtype[np.float64]]
Triangles = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Surface:
    """Places (k, 3), triangles (n, 3) by the numbers of their places, and for each triangle its colour, `#rrggbb`, or
    nothing where the file says none."""

    places: Array
    triangles: Triangles
    colors: Any


def read_collada(data: bytes, source: str) -> Surface:
    """All that a file's scene shows (m)."""
    try:
        root = parse_xml(data, source, len(data))  # how long it may be is said where it is opened
    except ModelError as error:
        raise InputError(str(error)) from None
    if root.tag.rpartition("}")[2] != "COLLADA":
        raise InputError(f"{source}: the first element is '{root.tag}', not COLLADA")
    try:
        import collada
        from collada import common
    except ImportError:
        raise InputError("reading .dae takes the package pycollada\n    fix: pip install 'kane[meshes]'") from None
    # materials and pictures may name what is not there: pictures are not drawn
    ignored = [common.DaeUnsupportedError, common.DaeBrokenRefError, common.DaeIncompleteError]
    document: Any = collada.Collada(io.BytesIO(data), ignore=ignored)
    places, triangles, colors, count = list[Array](), list[Triangles](), list[str](), 0
    for geometry in () if document.scene is None else document.scene.objects("geometry"):
        mirrored = float(np.linalg.det(np.asarray(geometry.matrix, dtype=np.float64)[:3, :3])) < 0.0
        for part in geometry.primitives():
            faces: Any = part.triangleset() if hasattr(part, "triangleset") else part
            if not hasattr(faces, "vertex_index") or np.ndim(faces.vertex_index) != 2 or not len(faces.vertex_index):
                continue  # lines
            if faces.vertex_index.shape[1] != 3:
                continue
            places.append(np.asarray(faces.vertex, dtype=np.float64))
            numbers = np.asarray(faces.vertex_index, dtype=np.int64) + count
            triangles.append(numbers[:, ::-1] if mirrored else numbers)
            colors += [_diffuse(part)] * len(triangles[-1])
            count += len(places[-1])
    if not places:
        raise InputError(f"{source}: its scene has no triangles")
    unit = document.assetInfo.unitmeter
    turn = np.array(UPWARD.get(str(document.assetInfo.upaxis), UPWARD["Y_UP"]))
    placed = (1.0 if unit is None else float(unit)) * np.concatenate(places) @ turn.T
    return Surface(placed, np.concatenate(triangles), np.array(colors))


def _diffuse(part: Any) -> str:
    """The diffuse colour of what a part is made of; nothing where it has none, or a picture."""
    found: Any = getattr(getattr(getattr(part, "material", None), "effect", None), "diffuse", None)
    if not isinstance(found, tuple | list) or not all(isinstance(x, float | int) for x in found) or len(found) < 3:
        return ""
    shares = [min(max(float(x), 0.0), 1.0) if np.isfinite(x) else 0.0 for x in found[:3]]
    return "#" + "".join(f"{round(255 * x):02x}" for x in shares)


__all__ = ["Surface", "read_collada"]
