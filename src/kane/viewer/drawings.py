"""Drawings that need no 3-D library: the mechanism in a pose, seen from the side, and its tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.colors import to_rgb

from ..model import Joint, Mechanism
from .appearance import LINE, Appearance
from .figures import Picture
from .meshes import Fineness
from .shapes import PALETTE, Array, center_view, faces, points_in_N, tube, up_direction
from .style import GRID, INK, STYLE

_LIGHT = np.array([0.35, 0.85, 0.4])  # from the right, above and in front, in the axes of the picture
_EDGE = 0.7  # cosine of the angle between two triangles beyond which there is an edge between them
_FINE = 900.0  # dots along the longer side of a drawing

TRIANGLES = Fineness(each=200_000, in_all=600_000)
"""Of the meshes of a drawing: less than a second, and to make them fewer takes longer."""


def mechanism(model: Any, q: Array | None = None) -> Picture:
    """The bodies as they stand at coordinates q (default: the initial state), in parallel projection."""
    state = model.initial_state[0] if q is None else np.asarray(q, dtype=float)
    return poses_figure(model.mechanism, model.poses(state))


def poses_figure(described: Mechanism, poses: Array) -> Picture:
    """The bodies in poses (bodies, 12), in parallel projection."""
    seen = center_view(described, poses)
    scene = Scene.of(described, seen)
    low, high = scene.box(seen)
    with rc_context(STYLE):
        wide, tall = high - low
        figure = Picture(figsize=(4.6, 4.6 * float(np.clip(tall / max(wide, 1e-12), 0.4, 1.1))), layout="constrained")
        ax = figure.subplots()
        room = 0.01 * max(wide, tall)
        place(ax, scene, seen, (low - room, high + room), _FINE / max(wide, tall))
        axes_of_ground(ax, scene.view, [np.array([low, high])])
        ax.use_sticky_edges = False
        ax.set_aspect("equal")
        ax.autoscale_view()
        ax.margins(0.06)
        ax.set_axis_off()
    figure.unreadable = scene.unreadable
    return figure


def place(ax: Any, scene: Scene, poses: Array, box: tuple[Array, Array], fineness: float) -> Any:
    """Draw the bodies in poses (bodies, 12) within a box of the picture, with so many dots in a metre."""
    low, high = box
    wide, tall = np.maximum(1, np.ceil((high - low) * fineness)).astype(int)
    end = low + np.array([wide, tall]) / fineness
    picture = scene.picture(poses, np.array([low[0], end[1]]), fineness, (int(tall), int(wide)))
    return ax.imshow(
        picture, extent=(low[0], end[0], low[1], end[1]), interpolation="antialiased", aspect="equal", zorder=1
    )


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn of a mechanism: `view` (3, 3), right, up and towards the viewer in N; and all faces: the index of
    the body (f,), rising, corners (f, 4, 3) in its frame, of which the last two of a triangle are one, the normals
    (f, 4, 3) by which they are lit, and colours (f, 3); and a sentence about meshes that cannot be read."""

    view: Array
    body: Any
    corners: Array
    normals: Array
    colors: Array
    unreadable: str = ""

    @classmethod
    def of(cls, described: Mechanism, poses: Array, fineness: Fineness = TRIANGLES) -> Scene:
        """The scene of a mechanism, seen from the side and a little from above, first in poses (bodies, 12)."""
        index = {name: i for i, name in enumerate(described.bodies)}
        looks = Appearance.of(described, fineness)
        ends = [points_in_N(poses, i, c) for i, c in enumerate(looks.corners(described))]
        thick = LINE * float(np.ptp(np.concatenate([*ends, np.zeros((1, 3))]), axis=0).max())
        found = [
            (
                index[m.body],
                _quadrangles(m.corners[m.triangles]),
                _quadrangles(corner_normals(m.corners, m.triangles)),
                m.color,
            )
            for m in looks.meshes
        ]
        for piece in looks.pieces:
            surface = tube(piece.shape, thick) if piece.shape.kind == "line" else faces(piece.shape)
            parts = np.concatenate([_quadrangles(face) for face in surface])
            flat = np.repeat(_normals(parts)[:, None], 4, axis=1)
            found.append((index[piece.body], parts, flat, piece.color))
        found.sort(key=lambda part: part[0])
        counts = [len(corners) for _, corners, _, _ in found]
        return cls(
            _view(np.array(up_direction(described))),
            np.repeat([body for body, _, _, _ in found], counts).astype(int),
            np.concatenate([np.zeros((0, 4, 3)), *(corners for _, corners, _, _ in found)]),
            np.concatenate([np.zeros((0, 4, 3)), *(normals for _, _, normals, _ in found)]),
            np.repeat(np.array([_color(color) for _, _, _, color in found]).reshape(-1, 3), counts, axis=0),
            looks.unreadable,
        )

    def project_corners(self, poses: Array) -> Array:
        """Corners (f, 4, 3) of all faces in poses (bodies, 12): right, up and towards the viewer."""
        R, p = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
        seen = np.empty_like(self.corners)
        first = np.searchsorted(self.body, np.arange(len(poses) + 1))
        for k, (start, end) in enumerate(pairwise(first)):
            seen[start:end] = ((self.corners[start:end].reshape(-1, 3) @ R[k].T + p[k]) @ self.view.T).reshape(-1, 4, 3)
        return seen

    def box(self, poses: Array) -> tuple[Array, Array]:
        """Lowest and highest (2,), right and up, of the picture of bodies in poses (bodies, 12)."""
        if not len(self.body):
            return np.array([-0.5, -0.5]), np.array([0.5, 0.5])
        x, y, _ = np.ascontiguousarray(self.project_corners(poses).reshape(-1, 3).T)
        return np.array([x.min(), y.min()]), np.array([x.max(), y.max()])

    def picture(self, poses: Array, corner: Array, fineness: float, size: tuple[int, int]) -> Any:
        """The bodies in poses (bodies, 12) as (high, wide, 4) bytes, from the upper left `corner` (2,) on, with so many
        dots in a metre; clear where there is nothing."""
        from .raster import paint  # slow to import

        dots = self.project_corners(poses)
        dots[..., :2] = (dots[..., :2] - corner) * [fineness, -fineness]
        light = (_LIGHT / np.linalg.norm(_LIGHT)) @ self.view @ poses[:, :9].reshape(-1, 3, 3)  # in each body's frame
        lights = 0.62 + 0.38 * np.maximum(0.0, np.einsum("fki,fi->fk", self.normals, light[self.body]))
        return paint(dots, self.colors, lights, size)


def _area_vectors(faces: Array) -> Array:
    """Normals (f, 3) of faces (f, k, 3) as long as twice their areas, outward."""
    return np.cross(faces, np.roll(faces, -1, axis=1)).sum(axis=1)


def _normals(faces: Array) -> Array:
    """Unit normals (f, 3) of faces (f, k, 3)."""
    normals = _area_vectors(faces)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.where(lengths > 0.0, lengths, 1.0)


def corner_normals(corners: Array, triangles: Any) -> Array:
    """Unit normals (n, 3, 3) at the corners of triangles for their light: means of those of the triangles around, by
    their angles there, as far as there is no edge between them."""
    flat = _normals(corners[triangles])
    order = np.argsort(triangles.reshape(-1), kind="stable")  # all that are at one corner, beside each other
    at, own = triangles.reshape(-1)[order], flat[order // 3]
    weighted = own * _angles(corners[triangles]).reshape(-1)[order, None]
    total = weighted.copy()
    for apart in range(1, len(at)):
        first = np.flatnonzero(at[apart:] == at[:-apart])
        if not first.size:
            break
        first = first[np.einsum("ki,ki->k", own[first], own[first + apart]) > _EDGE]
        total[first] += weighted[first + apart]
        total[first + apart] += weighted[first]
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    found = np.empty_like(total)
    found[order] = np.where(lengths > 0.0, total / np.where(lengths > 0.0, lengths, 1.0), own)
    return found.reshape(-1, 3, 3)


def _angles(faces: Array) -> Array:
    """Angles (n, 3) of triangles (n, 3, 3) at their corners, rad."""
    there, back = np.roll(faces, -1, axis=1) - faces, np.roll(faces, 1, axis=1) - faces
    return np.arctan2(np.linalg.norm(np.cross(there, back), axis=2), np.sum(there * back, axis=2))


def _quadrangles(faces: Array) -> Array:
    """Faces (f, k, 3), or one (k, 3), as quadrangles (·, 4, 3): triangles with their last corner twice, and polygons as
    fans of triangles about their middle."""
    faces = faces if faces.ndim == 3 else faces[None]
    sides = faces.shape[1]
    if sides <= 4:
        return np.concatenate([faces, np.repeat(faces[:, -1:], 4 - sides, axis=1)], axis=1)
    middle = np.repeat(faces.mean(axis=1, keepdims=True), sides, axis=1)
    return np.stack([middle, faces, np.roll(faces, -1, axis=1), np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 4, 3)


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


_NAME = 12  # letters of a name that fit into a box of a tree
_COLUMNS = 9  # boxes side by side that a page shows with letters that can be read


def has_readable_tree(model: Mechanism) -> bool:
    """Whether the picture of the tree shows names whole and large enough."""
    names = [*model.bodies, *(j.coordinates[0].name for j in model.joints.values() if j.coordinates)]
    return max(map(len, names), default=0) <= _NAME and max(_places(model)[0].values()) < _COLUMNS


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
            shown = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
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
    tall = boxes[joint.child.name].get_bbox_patch().get_window_extent().height * 72.0 / ax.figure.dpi
    beside = {"xy": (end[0] - 0.5, end[1]), "textcoords": "offset points", "ha": "center"}
    clear = 0.5 * tall + 1.5  # points above and below the arrow at which boxes end
    ax.annotate(joint.type.kind, xytext=(0.0, clear), va="bottom", fontsize=6.5, **beside)
    ax.annotate(_coordinate_names(joint), xytext=(0.0, -clear), va="top", fontsize=7, **beside)


_LETTERS = 22  # of the names of coordinates that fit into the width of a column


def _coordinate_names(joint: Joint) -> str:
    """The first coordinates of a joint, as many as fit beside those of its neighbours."""
    names = [c.name for c in joint.coordinates]
    for count in range(min(3, len(names)), 0, -1):
        shown = ", ".join(names[:count]) + (", …" if len(names) > count else "")
        if len(shown) <= _LETTERS or count == 1:
            return shown if len(names[0]) <= _NAME + 3 else f"{names[0][:_NAME]}…"
    return ""
