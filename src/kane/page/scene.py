"""What a page shows of a mechanism: the pieces of its bodies, where the camera stands, whether there is a floor.

All lengths in metres, all vectors in N unless a body's frame is named; numbers are rounded to what can be seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Mechanism
from ..viewer.appearance import LINE, Appearance
from ..viewer.meshes import DrawnMesh, Fineness
from ..viewer.shapes import PALETTE, Array, points_in_N, size, up_direction
from .document import pack

TRIANGLES = Fineness(each=6000, in_all=60_000)
"""Of the meshes of a page: some 700 kB."""

FOLLOWED, FOLLOWED_ALONE = 2.5, 15.0
"""A mechanism, and a body alone, that travels this many times its own size is followed by the camera."""

WIDEST, WIDEST_ALONE = 2.4, 18.0
"""The box that is shown at first is at most so many times as wide as the mechanism, or the one body, at its start; it
grows later."""

LEAVING = 1.5
"""And of a mechanism that goes beyond that, at most so many times."""

POSES = 60
"""Poses of a motion that the camera is chosen for, at most."""

_FLAT = 1e-9
_LEVELS = 65535  # corners of meshes are written as 16-bit numbers


def describe_scene(model: Mechanism, poses: Array, jacobians: Array) -> dict[str, Any]:
    """The scene of a mechanism for a motion with `poses` (k, bodies, 12), which it should be framed for, and some
    `jacobians` (k, bodies, 6, n) of its bodies, from which a plane motion is recognised."""
    drawn = Appearance.of(model, TRIANGLES)
    corners = drawn.corners(model)
    shown = poses[:: max(1, len(poses) // POSES)]
    middles = np.array([c.mean(axis=0) for c in corners])
    centers = np.array([_middle(row, middles) for row in shown])
    bounds = np.array([_bounds(row, corners) for row in shown])
    extent = float(np.max(bounds[0, 1] - bounds[0, 0]))
    alone = len(model.bodies) == 1
    followed = bool(np.max(np.ptp(centers, axis=0)) > (FOLLOWED_ALONE if alone else FOLLOWED) * extent)
    if followed:
        bounds = bounds - centers[:, None, :]
    low, high = _first_box(bounds, (WIDEST_ALONE if alone else WIDEST) * extent, LEAVING * extent)
    thick = LINE * float(np.max(high - low))
    low, high = low - thick, high + thick
    up = np.array(up_direction(model))
    normal = plane_normal(jacobians, up)
    parents = {j.parent.name for j in model.joints.values()}
    return {
        "up": _short(up),
        "normal": None if normal is None else _short(normal),
        "low": _short(low),
        "high": _short(high),
        "followed": followed,
        "floor": float(min(_heights(shown, corners, up))) if _has_floor(model) else None,
        "size": float(size(model)),
        "line": LINE * float(np.max(high - low)),
        "weight": _weight(model),
        "bodies": _bodies(model, middles, parents, drawn),
        "left_out": list(drawn.told),
    }


def plane_normal(jacobians: Array, up: Array) -> Array | None:
    """The normal, towards the viewer, of the plane in which all bodies move; None for a motion in space.

    Angular velocities of a plane motion are all parallel, and no body moves along them.
    """
    turning = np.moveaxis(jacobians[:, :, :3], 2, -1).reshape(-1, 3)
    moving = np.moveaxis(jacobians[:, :, 3:], 2, -1).reshape(-1, 3)
    fastest = float(np.abs(moving).max(initial=0.0))
    if np.abs(turning).max(initial=0.0) > 0.0:
        values, axes = _principal_axes(turning)
        normal = axes[0]
        if values[1] > _FLAT * values[0] or np.abs(moving @ normal).max() > _FLAT * max(fastest, 1e-300):
            return None
    elif fastest == 0.0:
        return None
    else:
        values, axes = _principal_axes(moving)
        if values[2] > _FLAT * values[0]:
            return None
        normal = axes[2]
        if values[1] <= _FLAT * values[0] and abs(axes[0] @ up) > 1 - 1e-6:  # up and down: from the front
            normal = np.array([0.0, -1.0, 0.0]) if abs(up[1]) < 0.5 else np.array([0.0, 0.0, 1.0])
    if abs(normal @ up) > 0.999:
        return up
    right = np.cross(up, normal)
    return normal if right[int(np.argmax(np.abs(right)))] > 0 else -normal


def _principal_axes(vectors: Array) -> tuple[Array, Array]:
    """Lengths (3,), falling, and directions (3, 3), by rows, in which vectors (k, 3) extend."""
    _, values, axes = np.linalg.svd(np.concatenate([vectors, np.zeros((3, 3))]), full_matrices=False)
    return values, axes


def _first_box(bounds: Array, widest: float, leaving: float) -> tuple[Array, Array]:
    """The box that is shown at first: what the motion takes up if that is within `widest`; else it leaves any box, and
    the first is no wider than `leaving`."""
    whole = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    if np.max(whole[1] - whole[0]) <= widest:
        return whole
    low, high = bounds[0]
    for lower, higher in bounds:
        wider = np.minimum(low, lower), np.maximum(high, higher)
        if np.max(wider[1] - wider[0]) > max(leaving, float(np.max(high - low))):
            break
        low, high = wider
    return low, high


def _bodies(model: Mechanism, middles: Array, parents: set[str], drawn: Appearance) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "color": PALETTE[i % len(PALETTE)],
            "middle": _short(middles[i]),
            "center": _short([model.number(c, name) for c in body.center]),
            "traced": name not in parents,
            "pieces": [],
        }
        for i, (name, body) in enumerate(model.bodies.items())
    ]
    index = {name: i for i, name in enumerate(model.bodies)}
    for mesh in drawn.meshes:
        found[index[mesh.body]]["pieces"].append(_mesh(mesh))
    for piece in drawn.pieces:
        shape = piece.shape
        found[index[piece.body]]["pieces"].append(
            {
                "kind": shape.kind,
                "size": _short(shape.size),
                "at": _short(shape.at),
                "axis": shape.axis,
                "wxyz": _short(shape.wxyz),
                "color": piece.color,
            }
        )
    return found


def _mesh(mesh: DrawnMesh) -> dict[str, Any]:
    """A mesh as a piece of the scene: corners are multiples of `size` from `at`."""
    low, high = mesh.corners.min(axis=0), mesh.corners.max(axis=0)
    step = np.where(high > low, high - low, 1.0) / _LEVELS
    places = np.rint((mesh.corners - low) / step).astype("<u2")
    return {
        "kind": "mesh",
        "size": step.tolist(),
        "at": low.tolist(),
        "axis": "z",
        "wxyz": [1.0, 0.0, 0.0, 0.0],
        "color": mesh.color,
        "corners": pack(places.tobytes()),
        "triangles": pack(mesh.triangles.astype("<u2").tobytes()),
    }


def _weight(model: Mechanism) -> float:
    """Of all bodies (N); what forces are drawn beside. 0 where there is none."""
    mass = sum(model.number(b.mass, b.name) for b in model.bodies.values())
    return float(mass * np.linalg.norm([model.number(g, "gravity") for g in model.gravity]))


def _has_floor(model: Mechanism) -> bool:
    """Whether something is below: gravity, and a mechanism that is not flying freely."""
    if not any(model.number(g, "gravity") for g in model.gravity):
        return False
    free = any(j.type.kind == "free" and j.parent.name == "ground" for j in model.joints.values())
    return not free or bool(model.constraints) or bool(model.changing)


def _bounds(row: Array, corners: list[Array]) -> Array:
    points = np.concatenate([points_in_N(row, i, c) for i, c in enumerate(corners)])
    return np.array([points.min(axis=0), points.max(axis=0)])


def _middle(row: Array, middles: Array) -> Array:
    return np.mean([points_in_N(row, i, m[None])[0] for i, m in enumerate(middles)], axis=0)


def _heights(shown: Array, corners: list[Array], up: Array) -> list[float]:
    return [float(min((points_in_N(row, i, c) @ up).min() for i, c in enumerate(corners))) for row in shown]


def _short(values: Any) -> list[float]:
    """Numbers to seven digits: what is drawn needs no more."""
    return [float(f"{float(v):.7g}") for v in values]
