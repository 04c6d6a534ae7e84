"""What the bodies of a mechanism look like: its own shapes, or where it has none a wheel that
rolls, lines and a small sphere.

A `Piece` is fixed in a body: a box, cylinder, sphere or line with its place in the body's frame (m). `faces` gives its
surface as polygons, for drawings without a 3-D library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..model import Body, Mechanism, Rolling, RollingOnSphere, RollingSphere, Shape

Array = np.ndarray[Any, np.dtype[np.float64]]

PALETTE = ("#3b7dd8", "#e08214", "#1b9e77", "#b565b8", "#4fb3d9", "#c9a227", "#d1495b", "#7a8594")
"""Colours for bodies and curves; distinct for readers with red-green colour blindness, on light and on dark."""

_CYLINDER_SIDES = 28
_SPHERE_RINGS = 10
_TUBE_SIDES, _BALL = 12, 5  # sides of a thick line, rings of its ends
_FAR = 100.0  # from the origin, in sizes of the mechanism, beyond which it is followed
_RIM = 0.08  # width of a wheel that has no shape of its own, as a part of its radius
_SPOKE = "#e2e8f0"
_SLIM = 0.012  # thickness of default drawings, as a part of the size of the mechanism
_ALIKE = 1e-9  # of the largest principal moment: differences that are rounding alone


@dataclass(frozen=True, slots=True)
class Piece:
    """A shape of a body with its colour (#rrggbb or a name)."""

    body: str
    shape: Shape
    color: str


def pieces(model: Mechanism) -> tuple[Piece, ...]:
    """The pieces of all bodies, in order."""
    made: list[Piece] = []
    slim = _SLIM * size(model)
    for i, body in enumerate(model.bodies.values()):
        color = PALETTE[i % len(PALETTE)]
        drawn = [s for s in body.shapes if s.kind != "mesh"]  # what only a mesh shows is drawn as if it had no shape
        for shape in drawn or _default_shapes(model, body, slim):
            made.append(Piece(body.name, shape, shape.color or color))
    return tuple(made)


def size(model: Mechanism) -> float:
    """A length (m) of the order of the mechanism: the longest way from the ground over offsets to the end of a body, or
    1."""
    reach = {"ground": 0.0}
    for name in model.bodies:
        way = list[Body]()
        body: Body | None = model.bodies[name]
        while body is not None and body.name not in reach:  # up to what is known
            way.append(body)
            body = body.joint.parent if body.joint is not None else None
        for body in reversed(way):
            joint = body.joint
            offsets = () if joint is None else (joint.at, joint.child_at)
            before = 0.0 if joint is None else reach[joint.parent.name]
            reach[body.name] = before + sum(_length(_numbers(model, offset)) for offset in offsets)
    return max((reach[b.name] + _extent(model, b) for b in model.bodies.values()), default=0.0) or 1.0


def _extent(model: Mechanism, body: Body) -> float:
    """The longest of the sizes (m) of a body's shapes and the way to its mass centre."""
    return max([_length(_numbers(model, body.center)), *(max(s.size) for s in body.shapes if s.kind != "mesh")])


def _default_shapes(model: Mechanism, body: Body, slim: float) -> list[Shape]:
    """Lines from the inboard joint to the mass centre and to the outboard joints, a sphere at the mass centre."""
    start = _numbers(model, body.joint.child_at) if body.joint is not None else (0.0, 0.0, 0.0)
    center = _numbers(model, body.center)
    ends = [_numbers(model, j.at) for j in model.joints.values() if j.parent is body]
    made = [Shape("line", end, start) for end in (center, *ends) if _distance(start, end) > slim]
    if wheel := _wheel(model, body):
        return made + wheel
    if not made and (box := _box_of_inertia(model, body)):
        return [box]
    if model.number(body.mass, f"body '{body.name}'") > 0 or not made:
        made.append(Shape("sphere", (1.8 * slim,), center))
    return made


def _box_of_inertia(model: Mechanism, body: Body) -> Shape | None:
    """The uniform box with the mass and the inertia of a body: it shows how one turns of which nothing else is known.
    None where there is no inertia, or one that is the same about every axis: that is a ball's.

    I₁ = m (b² + c²) / 12 and so on along the principal axes, so that a² = 6 (I₂ + I₃ − I₁) / m.
    """
    mass = model.number(body.mass, "mass")
    I = np.array([[model.number(entry, "inertia") for entry in row] for row in body.inertia])
    if mass <= 0.0 or not np.trace(I) > 0.0:
        return None
    moments, axes = np.linalg.eigh(I)
    if np.ptp(moments) <= _ALIKE * moments.max():
        return None
    axes[:, 0] *= np.linalg.det(axes)  # right-handed
    sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0))
    sides = np.maximum(sides, _SLIM * sides.max())
    x, y, z = sides.tolist()
    return Shape("box", (x, y, z), _numbers(model, body.center), wxyz=_quaternion(axes))


def _quaternion(R: Array) -> tuple[float, float, float, float]:
    """The unit quaternion (w, x, y, z) of a rotation matrix: the eigenvector of [[tr R, aᵀ], [a, R + Rᵀ − tr R]]."""
    a = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    K = np.block([[np.array([[np.trace(R)]]), a[None]], [a[:, None], R + R.T - np.trace(R) * np.eye(3)]])
    w, x, y, z = np.linalg.eigh(K)[1][:, 3].tolist()
    return (w, x, y, z)


def _wheel(model: Mechanism, body: Body) -> list[Shape]:
    """A disc or a ball where the body rolls as one, with a diameter on it that shows how it turns."""
    for constraint in model.constraints.values():
        record = constraint.record
        if not isinstance(record, Rolling | RollingSphere | RollingOnSphere) or record.body != body.name:
            continue
        R = model.number(model.scalar(record.radius, "radius"), "radius")
        x, y, z = (model.number(model.scalar(c, "center"), "center") for c in record.center)
        if not isinstance(record, Rolling):
            return [Shape("sphere", (R,), (x, y, z))]
        along = direction(model, record.axis)
        wide, middle = _RIM * R, np.array((x, y, z))
        across: Any = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        across /= np.linalg.norm(across)
        wheel = Shape("cylinder", (R, wide), (x, y, z), wxyz=_from_z(along))
        ends = [[middle + side * wide * along + sign * 0.95 * R * across for sign in (-1, 1)] for side in (-0.55, 0.55)]
        return [wheel, *(Shape("line", _plain(last), _plain(first), color=_SPOKE) for first, last in ends)]
    return []


def direction(model: Mechanism, axis: Any) -> Array:
    """An axis of a record, a word such as -y or components, as a unit vector."""
    if isinstance(axis, str):
        return np.eye(3)["xyz".index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0)
    return np.array([model.number(model.scalar(c, "axis"), "axis") for c in axis])


def _from_z(along: Array) -> tuple[float, float, float, float]:
    """The unit quaternion that turns the z axis onto a direction, or onto the opposite one."""
    x, y, z = along if along[2] >= 0.0 else -along
    w = float(np.hypot(np.hypot(x, y), 1.0 + z))
    return ((1.0 + float(z)) / w, -float(y) / w, float(x) / w, 0.0)


def _plain(v: Array) -> tuple[float, float, float]:
    x, y, z = v.tolist()
    return (x, y, z)


def _numbers(model: Mechanism, triple: Sequence[Any]) -> tuple[float, float, float]:
    x, y, z = (model.number(c, "shape") for c in triple)
    return (x, y, z)


def _length(v: Sequence[float]) -> float:
    return float(np.linalg.norm(v))


def _distance(a: Sequence[float], b: Sequence[float]) -> float:
    return float(np.linalg.norm(np.subtract(a, b)))


def up_direction(model: Mechanism) -> tuple[float, float, float]:
    """The unit vector against gravity in N; z where there is none."""
    g = np.array(_numbers(model, model.gravity))
    if not np.any(g):
        return (0.0, 0.0, 1.0)
    x, y, z = -g / np.linalg.norm(g)
    return (float(x), float(y), float(z))


def points_in_N(poses: Array, index: int, points: Array) -> Array:
    """Points (k, 3) of body `index` in N; poses are (bodies, 12), R_NB by rows and the origin."""
    R, p = poses[index, :9].reshape(3, 3), poses[index, 9:]
    return points @ R.T + p


def is_followed(model: Mechanism, poses: Array) -> bool:
    """Whether the mechanism gets so far from the origin, in an orbit say, that only a view that follows it shows it."""
    return float(np.abs(poses[..., 9:].mean(axis=-2)).max()) > _FAR * size(model)


def center_view(model: Mechanism, poses: Array) -> Array:
    """Poses (…, bodies, 12) seen from the middle of the bodies where the mechanism is followed, else as they are."""
    if not is_followed(model, poses):
        return poses
    seen = poses.copy()
    seen[..., 9:] -= poses[..., 9:].mean(axis=-2, keepdims=True)
    return seen


def faces(shape: Shape) -> list[Array]:
    """The surface as polygons (m, 3) in the body's frame, corners counter-clockwise seen from outside; a line has two
    points."""
    at = np.array(shape.at)
    if shape.kind == "line":
        return [np.array([shape.at, shape.size[:3]])]
    if shape.kind == "box":
        return [at + turn_points(shape, face) for face in _box(np.array(shape.size))]
    if shape.kind == "sphere":
        return [at + shape.size[0] * face for face in _sphere()]
    turn = {"x": [2, 0, 1], "y": [1, 2, 0], "z": [0, 1, 2]}[shape.axis]
    return [at + turn_points(shape, face[:, turn]) for face in _cylinder(shape.size[0], shape.size[1])]


def tube(line: Shape, radius: float) -> list[Array]:
    """The surface of a round bar along a line, rounded at its ends."""
    start, along = np.array(line.at), np.subtract(line.size[:3], line.at)
    ends = [start + end * along + radius * face for end in (0, 1) for face in _sphere(_BALL)]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return ends
    turned = Shape("line", (), wxyz=_from_z(along / length))
    sides = _cylinder(radius, length, _TUBE_SIDES)[:-2]
    return [start + along / 2 + turn_points(turned, face) for face in sides] + ends


def turn_points(shape: Shape, points: Array) -> Array:
    """Points (k, 3) turned by the shape's own quaternion."""
    w, v = shape.wxyz[0], np.array(shape.wxyz[1:])
    return points if not np.any(v) else points + 2 * np.cross(v, np.cross(v, points) + w * points)


def _box(lengths: Array) -> list[Array]:
    made = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for sign in (1.0, -1.0):
            corners = np.zeros((4, 3))
            corners[:, k] = sign
            corners[:, i] = [-1, 1, 1, -1]
            corners[:, j] = [-1, -1, 1, 1]
            made.append((corners if sign > 0 else corners[::-1]) * lengths / 2)
    return made


def _cylinder(radius: float, length: float, around: int = _CYLINDER_SIDES) -> list[Array]:
    """Around z: the sides, the top, the bottom."""
    angle = 2 * np.pi * np.arange(around) / around
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    top = np.column_stack([ring, np.full(len(ring), length / 2)])
    low = np.column_stack([ring, np.full(len(ring), -length / 2)])
    turned = np.roll(np.arange(len(ring)), -1)
    sides = [np.array([low[i], low[j], top[j], top[i]]) for i, j in enumerate(turned)]
    return [*sides, top, low[::-1]]


def _sphere(rings: int = _SPHERE_RINGS) -> list[Array]:
    """Of radius 1."""
    theta = np.linspace(0, np.pi, rings + 1)
    phi = np.linspace(0, 2 * np.pi, 2 * rings + 1)

    def point(a: float, b: float) -> list[float]:
        return [np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)]

    return [
        np.array([point(a, p), point(b, p), point(b, r), point(a, r)])
        for a, b in pairwise(theta)
        for p, r in pairwise(phi)
    ]
