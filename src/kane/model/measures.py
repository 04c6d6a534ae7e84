"""Measure numbers: components of angular velocities, velocities and positions as names in expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from ..errors import ExpressionError, suggestion
from ..graph import Expr
from ..space import Kinematics, Point
from .records import Body
from .tree import Tree

AXES = "xyz"
_MEASURED = {"w": "BODY", "v": "POINT", "r": "POINT"}


class MeasureNumbers(Mapping[str, Expr]):
    """Names that the definition of a speed or a constraint may use: all usual ones and, of frames and bodies,
    w.BODY.x (ω · body axis, rad/s), v.POINT.x (velocity in N along the axes of the point's home, m/s) and r.POINT.x
    (position from O along the axes of N, m). A body's name stands for its frame and its origin, BODY.center for its
    mass centre, whose velocity is along the axes of the body."""

    def __init__(self, tree: Tree, names: Mapping[str, Expr]):
        self._names = self.plain = names  # those that are no measure numbers
        self._tree = tree
        self.steps = 0  # frames between the ground and what was measured

    @cached_property
    def _kinematics(self) -> Kinematics:
        rates: dict[Expr, Expr | float] = dict(self._tree.coordinate_rates)
        return Kinematics(self._tree.graph, {**rates, self._tree.time: 1.0})

    def __getitem__(self, name: str) -> Expr:
        if name in self._names:
            return self._names[name]
        kind, _, rest = name.partition(".")
        place, _, axis = rest.rpartition(".")
        if kind not in _MEASURED or not rest:
            raise KeyError(name)
        if axis not in tuple(AXES) or not place:
            raise ExpressionError(f"'{name}' has no axis; write {kind}.{_MEASURED[kind]}.x, .y or .z")
        k = AXES.index(axis)
        if kind == "w":
            if place not in self._tree.frames:
                raise ExpressionError(f"unknown body '{place}'; {suggestion(place, self._tree.frames)}")
            self.steps += self._tree.frames[place].depth
            return self._kinematics.w(self._tree.frames[place])[k]
        point = self._find_point(kind, place)
        self.steps += point.home.depth
        return (self._kinematics.v if kind == "v" else self._tree.position)(point)[k]

    def _find_point(self, kind: str, place: str) -> Point:
        """A point by its name, the origin of a body by that of the body, its mass centre by BODY.center."""
        tree = self._tree
        if place in tree.points:
            return tree.points[place]
        name, _, part = place.rpartition(".")
        body = tree.bodies.get(name)
        if part == "center" and body is not None and body.origin is not None and body.frame is not None:
            return body.origin.locate_new(place, body.frame.vector(*body.center))
        known = [*tree.points, f"{name}.center"] if body is not None else tree.points
        raise ExpressionError(
            f"unknown point '{place}'; {suggestion(place, known)}\n"
            f"    {kind}.BODY.x is of the origin of a body, {kind}.BODY.center.x of its mass centre"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        """Whether it is a name or is written as a measure number is, even with a fault in it."""
        kind, dot, _ = str(name).partition(".")
        return name in self._names or (kind in _MEASURED and bool(dot))


class MotionNames(MeasureNumbers):
    """Names that expressions over a motion may use: those of the description, measure numbers and `more`. There u1' is
    the acceleration along the speed u1, whatever a joint calls its motion variables; it is refused unless it is one of
    `more`."""

    def __init__(self, tree: Tree, more: Mapping[str, Expr] = MappingProxyType({})):
        accelerations = {f"{name}'" for name in tree.speed_records}
        own = {name: symbol for name, symbol in tree.names().items() if name not in accelerations}
        super().__init__(tree, {**more, **own})
        self._accelerations = accelerations - set(more)

    def __getitem__(self, name: str) -> Expr:
        if name in self._accelerations:
            raise ExpressionError(
                f"{name} is the acceleration along {name[:-1]}, which follows from the efforts and is not known here\n"
                f"    fix: ask run.evaluate(...) or run.plot(...) of a motion for it, or take the speed {name[:-1]}"
            )
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._accelerations


def measure_numbers(tree: Tree, bodies: Iterable[Body]) -> dict[Expr, tuple[str, str, str]]:
    """Components of ω and of the velocities of origins of bodies along their axes, in motion variables → (w or v,
    body, axis); of those that are equal the first, and none that is the rate of a coordinate, which says more."""
    rates: dict[Expr, Expr | float] = dict(tree.coordinate_rates)
    kinematics = Kinematics(tree.graph, {**rates, tree.time: 1.0})
    found: dict[Expr, tuple[str, str, str]] = {}
    for body in bodies:
        if body.frame is not None and body.origin is not None:
            for k, axis in enumerate(AXES):
                found.setdefault(kinematics.w(body.frame)[k], ("w", body.name, axis))
                found.setdefault(kinematics.v(body.origin)[k], ("v", body.name, axis))
    for rate in tree.coordinate_rates.values():
        found.pop(rate, None)
    return found
