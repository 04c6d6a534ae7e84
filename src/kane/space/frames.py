"""Frames, points, vectors and dyadics: where things are, before anything moves.

A frame is oriented in its parent by R_PF (components in F become components in P) and has an angular velocity w_PF
relative to it, in F. A point lies at an offset from its parent point; the offset is written in a carrier frame and may
have a rate there. Velocities that the analyst sets directly (in the root frame) take the place of derived ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ExpressionError
from ..graph import Expr, Graph
from . import rotations
from .algebra import Matrix, Triple, cross, dot, minus, plus, rotate_tensor, scaled, times, transpose_times


class Frame:
    """A reference frame: name, parent, orientation R_PF, relative angular velocity w_PF in F (rad/s)."""

    __slots__ = ("R_PF", "depth", "directions", "graph", "name", "parent", "w_NF", "w_PF")

    def __init__(
        self, name: str, graph: Graph, parent: Frame | None = None, R: Matrix | None = None, w: Triple | None = None
    ):
        self.name = name
        self.graph = graph
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.R_PF: Matrix = rotations.identity(graph) if R is None else R
        self.w_PF: Triple | None = w if R is not None else rotations.zeros(graph)
        self.w_NF: Triple | None = None
        self.directions: dict[tuple[int, int, int, int], Triple] | None = None  # of frames far in, here

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "directions"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.directions = None
        for name, value in state.items():
            setattr(self, name, value)

    def orient_new(self, name: str, R: Matrix, w: Triple | None = None) -> Frame:
        """A new frame turned by R in this one; `w` is its angular velocity here, in the new frame.

        Where `w` is not given it is derived from the rate of R.
        """
        return Frame(name, self.graph, self, R, w)

    def rotate_new(self, name: str, axis: str | Sequence[Expr | float], angle: Expr | float) -> Frame:
        """A new frame turned by `angle` about an axis of this one (x, y, z or a unit vector)."""
        g = self.graph
        return self.orient_new(name, rotations.about(rotations.axis(g, axis), g.lift(angle)))

    def euler(self, name: str, sequence: str, angles: Sequence[Expr | float]) -> Frame:
        """A new frame turned by successive angles about the axes of `sequence`, 'body 321' or 'space 123', say."""
        return self.orient_new(name, rotations.euler(sequence, [self.graph.lift(a) for a in angles]))

    def quaternion(self, name: str, wxyz: Sequence[Expr | float]) -> Frame:
        """A new frame turned by the unit quaternion w, x, y, z."""
        return self.orient_new(name, rotations.quaternion([self.graph.lift(e) for e in wxyz]))

    def set_angular_velocity(self, w: Vector) -> None:
        """Set ω of this frame in the root frame directly, as Kane does when speeds are measure numbers of ω."""
        self.w_NF = w.express(self).xyz

    def vector(self, x: Expr | float, y: Expr | float, z: Expr | float) -> Vector:
        return Vector(self, rotations.triple(self.graph, (x, y, z)))

    @property
    def x(self) -> Vector:
        return self.vector(1, 0, 0)

    @property
    def y(self) -> Vector:
        return self.vector(0, 1, 0)

    @property
    def z(self) -> Vector:
        return self.vector(0, 0, 1)

    @property
    def root(self) -> Frame:
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def __repr__(self) -> str:
        return f"<Frame {self.name}>"


def not_connected_error(frame: Frame, other: Frame) -> ExpressionError:
    """The error that names both frames."""
    return ExpressionError(f"frames '{frame.name}' and '{other.name}' are not connected: orient one in the other first")


def turn(xyz: Triple, frame: Frame, to: Frame) -> Triple:
    """Components in `frame` turned into components in `to`, step by step along the tree of frames."""
    down: list[Frame] = []
    a, b = frame, to
    while a is not b:
        if a.depth >= b.depth and a.parent is not None:
            xyz = times(a.R_PF, xyz)
            a = a.parent
        elif b.parent is not None:
            down.append(b)
            b = b.parent
        else:
            raise not_connected_error(frame, to)
    if len(down) > _DEEP and Vector(frame, xyz).is_fixed:
        return _turn_down(xyz, down)
    for f in reversed(down):
        xyz = transpose_times(f.R_PF, xyz)
    return xyz


_DEEP = 20  # frames between two: directions are then remembered on the way


def _turn_down(xyz: Triple, down: Sequence[Frame]) -> Triple:
    """Fixed components in the parent of the last frame, turned into components in the first one.

    They are those in the frame before, turned once, and are remembered: the same direction in all frames of a long
    chain takes as many steps as there are.
    """
    key = (down[-1].depth, xyz[0].id, xyz[1].id, xyz[2].id)
    result, steps = xyz, len(down)
    for k, frame in enumerate(down):
        if frame.directions is not None and (known := frame.directions.get(key)) is not None:
            result, steps = known, k
            break
    for frame in reversed(down[:steps]):
        result = transpose_times(frame.R_PF, result)
        if frame.directions is None:  # which most frames never need
            frame.directions = {}
        frame.directions[key] = result
    return result


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector as components in a frame. Operations between frames re-express in whichever costs fewer operations."""

    frame: Frame
    xyz: Triple

    def express(self, frame: Frame) -> Vector:
        """The same vector with components in `frame`."""
        return self if frame is self.frame else Vector(frame, turn(self.xyz, self.frame, frame))

    def __add__(self, other: Vector) -> Vector:
        a, b = _in_common_frame(self, other)
        return Vector(a.frame, plus(a.xyz, b.xyz))

    def __sub__(self, other: Vector) -> Vector:
        a, b = _in_common_frame(self, other)
        return Vector(a.frame, minus(a.xyz, b.xyz))

    def __neg__(self) -> Vector:
        return -1.0 * self

    def __mul__(self, k: Expr | float) -> Vector:
        return Vector(self.frame, scaled(k, self.xyz))

    __rmul__ = __mul__

    def dot(self, other: Vector) -> Expr:
        a, b = _in_common_frame(self, other)
        return dot(a.xyz, b.xyz)

    def cross(self, other: Vector) -> Vector:
        a, b = _in_common_frame(self, other)
        return Vector(a.frame, cross(a.xyz, b.xyz))

    @property
    def is_fixed(self) -> bool:
        """Whether its components are numbers."""
        return all(x.number is not None for x in self.xyz)

    def magnitude(self) -> Expr:
        return dot(self.xyz, self.xyz).sqrt()

    def __repr__(self) -> str:
        terms = [f"{c!r} {self.frame.name}.{e}" for c, e in zip(self.xyz, "xyz", strict=True) if not c.is_zero]
        return " + ".join(terms) or "0"


def _in_common_frame(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Both vectors in one frame: the one of the two in which fewer new nodes are needed. Of frames far from each other
    it is that of the vector which has no fixed components: directions are remembered on their way."""
    if a.frame is b.frame:
        return a, b
    if abs(a.frame.depth - b.frame.depth) > _DEEP and a.is_fixed != b.is_fixed:
        return (a.express(b.frame), b) if a.is_fixed else (a, b.express(a.frame))
    graph, start = a.frame.graph, len(a.frame.graph)
    there = a.express(b.frame)
    cost_there, start = len(graph) - start, len(graph)
    here = b.express(a.frame)
    cost_here = len(graph) - start
    return (there, b) if cost_there < cost_here else (a, here)


@dataclass(frozen=True, slots=True)
class Dyadic:
    """A symmetric dyadic, an inertia say, as a matrix of components in a frame."""

    frame: Frame
    matrix: Matrix

    def express(self, frame: Frame) -> Dyadic:
        """The same dyadic with components in `frame`: R D Rᵀ."""
        if frame is self.frame:
            return self
        columns = [turn(rotations.unit(frame.graph, k), frame, self.frame) for k in range(3)]
        return Dyadic(frame, rotate_tensor((columns[0], columns[1], columns[2]), self.matrix))

    def dot(self, v: Vector) -> Vector:
        return Vector(self.frame, times(self.matrix, v.express(self.frame).xyz))

    def __add__(self, other: Dyadic) -> Dyadic:
        b = other.express(self.frame)
        rows = tuple(plus(r, s) for r, s in zip(self.matrix, b.matrix, strict=True))
        return Dyadic(self.frame, rows)  # type: ignore[arg-type]


class Point:
    """A point: parent point, offset from it in a carrier frame, rate of that offset there, and a home frame.

    The home frame is where the point's velocity is expressed. The root point rests in the root frame. The rate, as seen
    in the carrier, may have its components in another frame (its own), in which it is simpler.
    """

    __slots__ = ("home", "name", "offset", "offset_rate", "parent", "seen_from", "v_NP")

    def __init__(
        self,
        name: str,
        home: Frame,
        parent: Point | None = None,
        offset: Vector | None = None,
        rate: Vector | None = None,
    ):
        self.name = name
        self.home = home
        self.parent = parent
        self.offset = home.vector(0, 0, 0) if offset is None else offset
        self.offset_rate = rate
        self.v_NP: Vector | None = None
        self.seen_from: dict[Point, Vector] | None = None  # where it is, of points far out on a chain

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "seen_from"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.seen_from = None
        for name, value in state.items():
            setattr(self, name, value)

    def locate_new(
        self, name: str, offset: Vector, rate: Triple | Vector | None = None, home: Frame | None = None
    ) -> Point:
        """A new point at `offset` from this one; `rate` is the rate of the offset as seen in the offset's own frame,
        with components there or, as a vector, in any.

        Where `rate` is not given it is derived.
        """
        seen = Vector(offset.frame, rate) if isinstance(rate, tuple) else rate
        return Point(name, offset.frame if home is None else home, self, offset, seen)

    def set_velocity(self, v: Vector) -> None:
        """Set the velocity of this point in the root frame directly."""
        self.v_NP = v

    def __repr__(self) -> str:
        return f"<Point {self.name}>"


def position(point: Point, origin: Point) -> Vector:
    """The vector from `origin` to `point`."""
    back, here = _chain(origin), _chain(point)
    up = {id(p): k for k, p in enumerate(back)}
    meet = next((k for k, p in enumerate(here) if id(p) in up), None)
    if meet is None:
        raise ExpressionError(
            f"points '{point.name}' and '{origin.name}' are not connected: locate one from the other first"
        )
    outward, inward = here[:meet], back[: up[id(here[meet])]]
    if len(outward) + len(inward) > _FAR:
        if not inward:
            return _offset_along(outward, here[meet])
        return _offset_along(outward, here[meet]) - _offset_along(inward, here[meet])
    result = origin.home.vector(0, 0, 0)
    for p in inward:
        result = result - p.offset
    for p in reversed(outward):
        result = result + p.offset
    return result


_FAR = 64  # points between a point and an origin: some twenty joints


def _offset_along(path: Sequence[Point], start: Point) -> Vector:
    """The vector from `start` to the first point of a path that ends beside it, in the frame of the last offset.

    It is that of the point before, turned once, and one more offset, and is remembered: all points of a long chain
    together take as many steps as there are.
    """
    result, steps = start.home.vector(0, 0, 0), len(path)
    for k, point in enumerate(path):
        if k and point.seen_from is not None and (known := point.seen_from.get(start)) is not None:
            result, steps = known, k
            break
    for k in range(steps - 1, -1, -1):
        point = path[k]
        result = result.express(point.offset.frame) + point.offset
        if k:
            if point.seen_from is None:  # which most points never need
                point.seen_from = {}
            point.seen_from[start] = result
    return result


def _chain(point: Point) -> list[Point]:
    chain = [point]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain
