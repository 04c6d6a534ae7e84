"""Drawings that need no 3-D library: the mechanism in a pose, seen from the side, and its tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from ..model import Joint, Mechanism
from .figures import Picture
from .shapes import PALETTE, Array, center_view, faces, pieces, points_in_N, up_direction
from .style import GRID, INK, STYLE

_LIGHT = np.array([0.35, 0.85, 0.4])  # from the right, above and in front, in the axes of the picture
_EDGE = 0.7  # how dark a line is beside a face
_LINE, _SEAM = 2.6, 0.9  # points; a seam as wide as the gap that antialiasing leaves between faces


def mechanism(model: Any, q: Array | None = None) -> Picture:
    """The bodies as they stand at coordinates q (default: the initial state), in parallel projection."""
    state = model.initial_state[0] if q is None else np.asarray(q, dtype=float)
    return poses_figure(model.mechanism, model.poses(state))


def poses_figure(described: Mechanism, poses: Array) -> Picture:
    """The bodies in poses (bodies, 12), in parallel projection."""
    scene = Scene.of(described)
    drawn = scene.polygons(center_view(described, poses))
    polygons = [polygon for polygon, _ in drawn]
    with rc_context(STYLE):
        wide, high = np.ptp(np.concatenate(polygons), axis=0) if polygons else (1.0, 1.0)
        figure = Picture(figsize=(4.6, 4.6 * float(np.clip(high / max(wide, 1e-12), 0.4, 1.1))), layout="constrained")
        ax = figure.subplots()
        ax.add_collection(collection(drawn))
        axes_of_ground(ax, scene.view, polygons)
        ax.set_aspect("equal")
        ax.autoscale_view()
        ax.margins(0.06)
        ax.set_axis_off()
    return figure


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn of a mechanism: `view` (3, 3), right, up and towards the viewer in N; and all faces, those of one
    body with equally many corners together: the body's index, corners (f, k, 3) in its frame, colours (f, 3)."""

    view: Array
    faces: tuple[tuple[int, Array, Array], ...]

    @classmethod
    def of(cls, described: Mechanism) -> Scene:
        """The scene of a mechanism, seen from the side and a little from above."""
        index = {name: i for i, name in enumerate(described.bodies)}
        groups: dict[tuple[int, int], list[tuple[Array, Any]]] = {}
        for piece in pieces(described):
            for face in faces(piece.shape):
                groups.setdefault((index[piece.body], len(face)), []).append((face, _color(piece.color)))
        found = [
            (body, np.array([face for face, _ in group]), np.array([color for _, color in group]))
            for (body, _), group in groups.items()
        ]
        return cls(_view(np.array(up_direction(described))), tuple(found))

    def polygons(self, poses: Array) -> list[tuple[Array, Array]]:
        """(polygon (k, 2), colour (3,)) of all faces that are seen in poses (bodies, 12), the farthest first."""
        found: list[tuple[float, Array, Array]] = []
        for body, corners, colors in self.faces:
            seen = points_in_N(poses, body, corners.reshape(-1, 3)) @ self.view.T
            seen = seen.reshape(corners.shape)
            shade, visible = _shades(seen)
            depth = seen[:, :, 2].mean(axis=1)
            found += [(float(depth[i]), seen[i, :, :2], colors[i] * shade[i]) for i in np.flatnonzero(visible)]
        found.sort(key=lambda item: item[0])
        return [(polygon, color) for _, polygon, color in found]


def collection(drawn: list[tuple[Array, Array]]) -> PolyCollection:
    """Polygons with their colours; lines are wider and darker than the seams of faces."""
    lines = [len(polygon) == 2 for polygon, _ in drawn]
    return PolyCollection(
        [polygon for polygon, _ in drawn],
        facecolors=[tuple(color) for _, color in drawn],
        edgecolors=[tuple(_EDGE * color if line else color) for (_, color), line in zip(drawn, lines, strict=True)],
        linewidths=[_LINE if line else _SEAM for line in lines],
    )


def _color(name: str) -> tuple[float, float, float]:
    try:
        return to_rgb(name)
    except ValueError:
        return to_rgb(PALETTE[7])


def _view(up: Array) -> Array:
    """Rows: right, up and towards the viewer of the picture, in N."""
    other = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.8 else np.array([0.0, -1.0, 0.0])
    toward = other - up * (other @ up)
    toward /= np.linalg.norm(toward)
    right = np.cross(up, toward)
    toward = 0.78 * toward + 0.5 * right + 0.38 * up
    toward /= np.linalg.norm(toward)
    right = np.cross(up, toward)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(toward, right), toward])


def _shades(seen: Array) -> tuple[Array, Any]:
    """Brightness of faces (f, k, 3), and whether the outside of each is turned to the viewer; lines are always seen."""
    if seen.shape[1] == 2:
        return np.full(len(seen), 0.85), np.full(len(seen), True)
    normals = np.cross(seen, np.roll(seen, -1, axis=1)).sum(axis=1)
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    light = _LIGHT / np.linalg.norm(_LIGHT)
    return 0.62 + 0.38 * np.maximum(0.0, normals @ light), (normals[:, 2] > 0.0) & (lengths > 0.0)


def axes_of_ground(ax: Any, view: Array, polygons: list[Array]) -> None:
    """Draw the axes of N beside polygons, at the lower left."""
    points = np.concatenate([*polygons, np.zeros((1, 2))])
    length = 0.16 * float(np.max(np.ptp(points, axis=0)))
    corner = points.min(axis=0) - np.array([0.2, 0.2]) * length
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    for i, name in enumerate("xyz"):
        ax.annotate("", corner + length * view[:2, i], corner, arrowprops=arrow)
        label = corner + 1.25 * length * view[:2, i]
        ax.text(*label, name, ha="center", va="center", fontsize=8)
        ax.update_datalim([label - 0.15 * length, label + 0.15 * length])


def tree(model: Mechanism) -> Picture:
    """Bodies as boxes, joints as arrows between them with their type and coordinates, ground at the left."""
    column, row, order = _places(model)
    names = ["ground", *order]
    wide, high = max(column.values()) + 1, max(row.values()) + 1
    with rc_context(STYLE):
        figure = Picture(figsize=(min(16.0, 1.45 * wide + 0.2), 0.72 * high + 0.35), layout="constrained")
        ax = figure.subplots()
        boxes: dict[str, Any] = {}
        for i, name in enumerate(names):
            color = GRID if name == "ground" else PALETTE[(i - 1) % len(PALETTE)]
            box = {"boxstyle": "round,pad=0.35", "facecolor": color + "33", "edgecolor": color, "linewidth": 1.2}
            shown = name if len(name) <= 12 else name[:11] + "…"
            boxes[name] = ax.text(column[name], -row[name], shown, ha="center", va="center", fontsize=9, bbox=box)
        ax.set_xlim(-0.45, wide - 0.55)
        ax.set_ylim(0.5 - high, 0.5)
        ax.set_axis_off()
        figure.draw_without_rendering()  # only then boxes know how large they are
        for joint in (model.bodies[n].joint for n in order):
            if joint is not None:
                _arrow(ax, joint, boxes, column, row)
    return figure


def _places(model: Mechanism) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """Column (depth) and row of each body, and the bodies in that order."""
    below: dict[str, list[str]] = {}
    for body in model.bodies.values():
        parent = body.joint.parent.name if body.joint is not None else "ground"
        below.setdefault(parent, []).append(body.name)
    column, row, order = {"ground": 0}, {"ground": 0}, []
    stack, lines = ["ground"], 0
    while stack:
        name = stack.pop()
        children = below.get(name, [])
        if name != "ground":
            order.append(name)
            row[name] = lines
        for child in reversed(children):
            column[child] = column[name] + 1
            stack.append(child)
        if not children:
            lines += 1
    return column, row, order


def _arrow(ax: Any, joint: Joint, boxes: dict[str, Any], column: dict[str, int], row: dict[str, int]) -> None:
    """From the box of the parent to that of the child: straight, or down and then to the right."""
    start = (column[joint.parent.name], -row[joint.parent.name])
    end = (column[joint.child.name], -row[joint.child.name])
    bend = "angle,angleA=-90,angleB=180,rad=4" if start[1] != end[1] else "arc3"
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 0.9, "connectionstyle": bend, "shrinkA": 0, "shrinkB": 0}
    ends = {"patchA": boxes[joint.parent.name].get_bbox_patch(), "patchB": boxes[joint.child.name].get_bbox_patch()}
    ax.annotate("", end, start, arrowprops={**arrow, **ends})
    names = ", ".join(c.name for c in joint.coordinates[:3]) + (", …" if len(joint.coordinates) > 3 else "")
    ax.text(end[0] - 0.5, end[1] + 0.16, joint.type.kind, ha="center", va="bottom", fontsize=6.5)
    ax.text(end[0] - 0.5, end[1] - 0.14, names, ha="center", va="top", fontsize=7)
