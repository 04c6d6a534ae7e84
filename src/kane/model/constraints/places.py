"""Two bodies that guide each other: places on them, and the actions of a unit reaction between them.

A force acts on a body at a place of it; where the place moves in the body it is a force at a fixed point with the
torque of its arm. What acts on the ground is left out: it moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...graph import Expr, depends_on, forward
from ...space import Frame, Point, Vector, position
from ...space.algebra import Triple
from ..loads.actions import Action, ForceAction, TorqueAction, point_of
from ..records import Body
from .rows import Row

Acting = tuple[Body, Action]
"""What acts on a body."""


@dataclass(frozen=True, slots=True)
class BodyPlace:
    """A place on a body: `at` (m) in the body's frame, in parameters and t. `point` is there, whether it moves in the
    body or not."""

    body: Body
    at: Triple
    time: Expr
    point: Point

    @classmethod
    def on(cls, body: Body, at: Triple, time: Expr, name: str) -> BodyPlace:
        return cls(body, at, time, point_of(body, at, name))

    @property
    def frame(self) -> Frame:
        assert self.body.frame is not None
        return self.body.frame

    def rate(self) -> Vector:
        """How fast the place moves in its body (m/s)."""
        x, y, z = forward(self.at, {self.time: 1.0})
        return Vector(self.frame, (x, y, z))

    def push(self, force: Vector) -> list[Acting]:
        """What a force at this place is for the body."""
        if not depends_on(self.at, [self.time]):
            return [(self.body, ForceAction(self.point, force))]
        return at_arm(self.body, Vector(self.frame, self.at), force, f"{self.point.name}.origin")


def at_arm(body: Body, arm: Vector, force: Vector, name: str) -> list[Acting]:
    """A force on the body at `arm` from its origin, as a force at the origin and a torque."""
    assert body.frame is not None
    zero = body.frame.graph.const(0.0)
    return [
        (body, ForceAction(point_of(body, (zero, zero, zero), name), force)),
        (body, TorqueAction(body.frame, arm.cross(force))),
    ]


def at_coincident(body: Body, place: Point, force: Vector, name: str) -> list[Acting]:
    """A force on that point of the body which coincides with `place` at the moment."""
    assert body.origin is not None
    return at_arm(body, position(place, body.origin), force, name)


def row(
    label: str,
    acting: Iterable[Acting],
    rheonomic: Expr,
    residual: Expr | None = None,
    unit: str = "N",
    ground: Body | None = None,
) -> Row:
    """The row of these actions, without those on the ground."""
    kept = [(body, action) for body, action in acting if body is not ground]
    return Row(label, tuple(a for _, a in kept), rheonomic, residual, unit, tuple(b for b, _ in kept))


def perpendiculars(axis: Triple, downward: bool = False) -> list[tuple[str, Triple]]:
    """Two unit vectors that make a right-handed triad with the unit vector `axis`, and what they are called: by their
    letters (y, z for x; z, x for y; x, y for z) where the axis is a coordinate axis, else 1 and 2.

    Of the latter there is no pair at axis = −z, or at z where it points `downward`; elsewhere they are smooth.
    """
    graph = axis[0].graph
    numbers = [e.number for e in axis]
    zero, one = graph.const(0.0), graph.const(1.0)
    for k in range(3):
        if numbers[k] in (1.0, -1.0) and all(numbers[j] == 0.0 for j in range(3) if j != k):
            i, j = (k + 1) % 3, (k + 2) % 3
            first = tuple(one if m == i else zero for m in range(3))
            second = tuple(graph.lift(numbers[k] or 0.0) if m == j else zero for m in range(3))
            return [("xyz"[i], first), ("xyz"[j], second)]  # type: ignore[list-item]
    x, y, z = axis
    s = -1.0 if downward else 1.0
    a = -1.0 / (s + z)
    b = x * y * a
    c, d = (one + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)
    return [("1", c), ("2", d)]
