"""Frames and points of a SymPy description, rebuilt one step at a time.

A frame is oriented in its neighbour and a point located from its neighbour, so that expressions stay as small as the
analyst wrote them. Angular velocities that were set take the place of derived ones. A velocity that was set does so
only where it differs from the one that follows from the positions: accelerations then come from the vector theorems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import InputError
from ...graph import Expr
from ...space import Frame, Kinematics, Point, Vector, rotations
from ...space.algebra import Triple, is_zero
from ..tree import Tree
from .leaves import unused_name
from .scalars import Scalars

Same = Callable[[Sequence[Expr], Sequence[Expr]], bool]


class Skeleton:
    """The frames and points that bodies and loads need, made when first asked for."""

    def __init__(self, tree: Tree, translate: Scalars, inertial: Any, fixed_point: Any, same: Same):
        """`same` says whether expressions have equal values in generic states of the motion."""
        self._tree = tree
        self._translate = translate
        self._inertial = inertial
        self._same = same
        self._frames: dict[Any, Frame] = {inertial: tree.N}
        self._points: dict[Any, Point] = {}
        self._turned = _parents(inertial, "_dcm_dict")
        self._spun = _parents(inertial, "_ang_vel_dict")
        self._located: dict[Any, Any] = {}
        self._fixed_point = fixed_point
        self.adrift: list[Any] = []  # points with a velocity that no position from a fixed point goes with
        self.unoriented: list[str] = []  # frames with an angular velocity and no orientation of their own
        self.oriented: list[Frame] = []
        self._kinematics: Kinematics | None = None

    # vectors ---------------------------------------------------------------------------------------------------------

    def parts(self, vector: Any) -> list[Vector]:
        """A SymPy vector as one vector for each frame that it was written in."""
        if not vector:
            return []
        return [Vector(self.frame(f), self._triple(column)) for column, f in vector.args]

    def single_vector(self, vector: Any, frame: Frame) -> Vector:
        """A SymPy vector as one vector; a zero one in `frame`."""
        total = None
        for part in self.parts(vector):
            total = part if total is None else total + part
        return frame.vector(0, 0, 0) if total is None else total

    def _triple(self, column: Any) -> Triple:
        x, y, z = self._translate.translate_all(column)
        return (x, y, z)

    # frames ----------------------------------------------------------------------------------------------------------

    def frame(self, frame: Any) -> Frame:
        """The frame of the model that stands for a SymPy frame."""
        path = []
        here = frame
        while here not in self._frames:
            if here not in self._turned and here not in self._spun:
                raise InputError(f"frame '{here.name}' is not oriented in the inertial frame '{self._inertial.name}'")
            path.append(here)
            here = self._turned[here] if here in self._turned else self._spun[here]
        for new in reversed(path):
            if new in self._turned:
                self._frames[new] = self._add_frame(new, self._turned[new])
            else:
                self._frames[new] = self._add_spinning_frame(new, self._spun[new])
        return self._frames[frame]

    def _add_spinning_frame(self, frame: Any, parent: Any) -> Frame:
        """A frame that has an angular velocity in another and no orientation, like that of a wheel whose angle has no
        influence: axes that rest in the other one, with the angular velocity all the same."""
        name, tree = unused_name(frame.name, self._tree.frames), self._tree
        new = tree.frame(name, self._frames[parent], R=rotations.identity(tree.graph))
        new.w_PF = self._components(frame._ang_vel_dict[parent], new)
        defined = {s.definition for s in tree.speed_records.values()}
        if tree.speeds_chosen and defined.issuperset(self.kinematics.w(new)):
            what = f"frame '{frame.name}' has speeds as measure numbers of its angular velocity, and no orientation"
            raise InputError(f"{what}: orient it in '{parent.name}'")
        self.unoriented.append(name)
        return new

    def _add_frame(self, frame: Any, parent: Any) -> Frame:
        matrix = parent._dcm_dict[frame]  # its rows are components in the parent: R_PF
        a, b, c = (self._triple(matrix.row(i)) for i in range(3))
        new = self._tree.frame(unused_name(frame.name, self._tree.frames), self._frames[parent], R=(a, b, c))
        self._frames[frame] = new
        self.oriented.append(new)
        w = self._relative_w(frame, parent, new)
        if w is None:
            if frame not in self._spun:
                raise InputError(f"frame '{frame.name}' has no angular velocity in '{self._inertial.name}'")
            new.w_NF = self._components(frame.ang_vel_in(self._inertial), new)
        else:
            new.w_PF = w
        return new

    def _relative_w(self, frame: Any, parent: Any, axes: Frame) -> Triple | None:
        """ω of a SymPy frame in the one it is oriented in, along `axes`; None where ω was set in another one."""
        above = frame
        while self._spun.get(above) is self._turned.get(above):
            above = self._turned[above]
            if above is self._inertial:
                return self._components(frame._ang_vel_dict[parent], axes)
        return None

    def _components(self, vector: Any, axes: Frame) -> Triple:
        total = axes.vector(0, 0, 0)
        for part in self.parts(vector):
            total = total + part.express(axes)
        return total.xyz

    # points ----------------------------------------------------------------------------------------------------------

    def point(self, point: Any) -> Point:
        """The point of the model that stands for a SymPy point."""
        if point not in self._located:
            self._locate(point)
        path = []
        here = point
        while here not in self._points:
            path.append(here)
            here = self._located[here]
            if here is None:
                break
        for new in reversed(path):
            self._points[new] = self._add_point(new, self._located[new])
            if self._inertial in new._vel_dict:
                self._move(new)
        if self._inertial not in point._vel_dict and self._move(point):  # SymPy derives it when it is asked for
            for other in self._points:
                if self._inertial in other._vel_dict:
                    self._move(other)
        return self._points[point]

    def _locate(self, point: Any) -> None:
        """Neighbours of all points that are connected to a point, from one that is fixed, if there is one."""
        together = list(_parents(point, "_pos_dict"))
        moving = [p for p in together if self._inertial in p._vel_dict]
        still = [p for p in moving if all(is_zero(part.xyz) for part in self.parts(p._vel_dict[self._inertial]))]
        fixed = [p for p in together if p is self._fixed_point]
        root = next(iter((*fixed, *still, *moving)), point)
        self._located.update(_parents(root, "_pos_dict"))

    def _add_point(self, point: Any, parent: Any) -> Point:
        name = unused_name(point.name, self._tree.points)
        if parent is None:
            new = self._tree.point(name, self._tree.O, self._tree.N.vector(0, 0, 0))
        else:
            *steps, last = self.parts(point._pos_dict[parent]) or [self._tree.N.vector(0, 0, 0)]
            at = self._points[parent]
            for k, step in enumerate(steps):
                at = at.locate_new(f"{name}.{k + 1}", step)
            new = self._tree.point(name, at, last)
        return new

    def _move(self, point: Any) -> bool:
        """Set the velocity of a point where it is not the one that follows from positions; whether it was set."""
        new = self._points[point]
        try:
            velocity = self.single_vector(point.vel(self._inertial), new.home)
        except ValueError as error:
            why = " ".join(str(error).split())
            raise InputError(f"point '{point.name}' has no velocity in '{self._inertial.name}': {why}") from None
        if self._same(self.kinematics.v(new), velocity.express(new.home).xyz):
            return False
        self._kinematics = None
        new.set_velocity(velocity)
        if self._located[point] is None:
            self.adrift.append(point)
        return True

    @property
    def kinematics(self) -> Kinematics:
        """Velocities in the graph of the description."""
        if self._kinematics is None:
            rates: Mapping[Expr, Expr | float] = {**self._tree.coordinate_rates, self._tree.time: 1.0}
            self._kinematics = Kinematics(self._tree.graph, rates)
        return self._kinematics


def _parents(root: Any, neighbours: str) -> dict[Any, Any]:
    """Frame or point → its neighbour on the shortest way to `root`; None for the root itself."""
    found = {root: None}
    queue = [root]
    for here in queue:
        for near in getattr(here, neighbours):
            if near not in found:
                found[near] = here
                queue.append(near)
    return found


__all__ = ["Skeleton"]
