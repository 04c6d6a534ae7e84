"""Forces, torques, thrusters and efforts: loads whose value the user writes down."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...graph import Expr
from ...space import Vector, position
from ...space.algebra import scaled
from ..fields import ORIGIN, Axis, BodyName, Components, FrameName, Index, JointName, Scalar
from .actions import Action, EffortAction, ForceAction, TorqueAction, point_of

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class Force:
    """A force `vector` (N), components in `frame`, at the point `at` (m) of `body`; the opposite acts on `reaction`, if
    given, at the point of that body which coincides with it. Components are any expressions in q, u, t and parameters.

    >>> m = kane.load("pendulum")
    >>> built = m.load("load", kane.Force("bob", (3, 0, 0), at=(0, -1, 0)))
    >>> m.forward_dynamics([0], [0], [0]).tolist()
    [3.0]
    """

    body: BodyName
    vector: Components
    _: KW_ONLY
    at: Components = ORIGIN
    frame: FrameName = "N"
    reaction: BodyName | None = None
    kind = "force"

    def check(self, build: Builder) -> None:
        pass

    def actions(self, build: Builder) -> tuple[Action, ...]:
        point = point_of(build.body(self.body), build.triple(self.at, "at"), f"{build.name}.point")
        force = Vector(build.frame(self.frame), build.triple(self.vector, "vector"))
        if self.reaction is None:
            return (ForceAction(point, force),)
        other = build.body(self.reaction)
        assert other.origin is not None and other.frame is not None
        arm = position(point, other.origin).express(other.frame)
        return (
            ForceAction(point, force),
            ForceAction(other.origin, -force),
            TorqueAction(other.frame, -arm.cross(force)),
        )

    def potential(self, build: Builder) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class Torque:
    """A torque `vector` (N m), components in `frame`, on `body`; the opposite acts on `reaction`, if given. Components
    are any expressions in q, u, t and parameters.

    >>> m = kane.load("pendulum")
    >>> built = m.load("load", kane.Torque("bob", (0, 0, 3)))
    >>> m.forward_dynamics([0], [0], [0]).tolist()
    [3.0]
    """

    body: BodyName
    vector: Components
    _: KW_ONLY
    frame: FrameName = "N"
    reaction: BodyName | None = None
    kind = "torque"

    def check(self, build: Builder) -> None:
        pass

    def actions(self, build: Builder) -> tuple[Action, ...]:
        frame = build.body(self.body).frame
        assert frame is not None
        torque = Vector(build.frame(self.frame), build.triple(self.vector, "vector"))
        if self.reaction is None:
            return (TorqueAction(frame, torque),)
        other = build.body(self.reaction).frame
        assert other is not None
        return (TorqueAction(frame, torque), TorqueAction(other, -torque))

    def potential(self, build: Builder) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class Thruster:
    """A thruster at the point `at` (m) of `body` that pushes it along `direction`, a unit vector in its frame.

    `thrust` (N) is any expression in t, q, u and parameters: "select(t < 2, 5, 0)" is a pulse of two seconds. Mass
    stays what it is.

    >>> m = kane.load("pendulum")
    >>> built = m.load("load", kane.Thruster("bob", "x", "select(t < 2, 5, 0)", at=(0, -1, 0)))
    >>> [float(m.forward_dynamics([0], [0], [0], t=t)[0]) for t in (1, 3)]
    [5.0, 0.0]
    """

    body: BodyName
    direction: Axis
    thrust: Scalar
    _: KW_ONLY
    at: Components = ORIGIN
    kind = "thruster"

    def check(self, build: Builder) -> None:
        pass

    def actions(self, build: Builder) -> tuple[Action, ...]:
        body = build.body(self.body)
        assert body.frame is not None
        push = scaled(build.scalar(self.thrust, "thrust"), build.axis(self.direction, "direction"))
        point = point_of(body, build.triple(self.at, "at"), f"{build.name}.point")
        return (ForceAction(point, Vector(body.frame, push)),)

    def potential(self, build: Builder) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class Effort:
    """An effort of `value` (N m or N) along one motion variable of a joint, the first or that of `index`; any
    expression in q, u, t and parameters.

    >>> m = kane.load("pendulum")
    >>> built = m.load("load", kane.Effort("pivot", "2*cos(t)"))
    >>> m.forward_dynamics([0], [0], [0]).tolist()
    [2.0]
    """

    joint: JointName
    value: Scalar
    _: KW_ONLY
    index: Index = 0
    kind = "effort"

    def check(self, build: Builder) -> None:
        build.joint_with_rate(self.joint, self.index)

    def actions(self, build: Builder) -> tuple[Action, ...]:
        return (EffortAction(build.joint(self.joint).rates[self.index], build.scalar(self.value, "value")),)

    def potential(self, build: Builder) -> Expr | None:
        return None
