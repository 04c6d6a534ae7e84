"""Loads: what acts on the bodies besides gravity. Each says which forces act at which points and which torques on
which bodies, as expressions of the description, and what potential energy it has.

To add a load type, write a class with `actions` and `potential` and hand an instance to `Model.load`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..graph import Expr, time_derivative
from ..space import Frame, Point, Vector, position
from ..space.algebra import Triple
from .records import Body, Joint


@dataclass(frozen=True, slots=True)
class Force:
    """A force at a point: contributes v_r · F to F_r."""

    point: Point
    vector: Vector

    def exprs(self) -> tuple[Expr, ...]:
        return self.vector.xyz


@dataclass(frozen=True, slots=True)
class Torque:
    """A torque on a frame: contributes ω_r · T to F_r."""

    frame: Frame
    vector: Vector

    def exprs(self) -> tuple[Expr, ...]:
        return self.vector.xyz


@dataclass(frozen=True, slots=True)
class Effort:
    """A scalar effort along a motion variable: contributes (∂s/∂u_r) f to F_r."""

    variable: Expr
    value: Expr

    def exprs(self) -> tuple[Expr, ...]:
        return (self.value,)


Action = Force | Torque | Effort


class Load(Protocol):
    """What a load must say."""

    @property
    def name(self) -> str: ...

    def actions(self) -> tuple[Action, ...]: ...

    def potential(self) -> Expr | None:
        """Potential energy (J) whose negative gradient the actions are, or None where there is none."""
        ...


def point_of(body: Body, at: Triple, name: str) -> Point:
    """The point of `body` at `at` in its frame."""
    assert body.origin is not None and body.frame is not None
    return body.origin.located(name, Vector(body.frame, at))


@dataclass(frozen=True, slots=True)
class PointForce:
    """A force (N) with components in a frame, at a point of a body; the opposite acts on `reaction`, if given, at the
    point of that body which coincides with it."""

    name: str
    body: Body
    at: Triple
    vector: Triple
    frame: Frame
    reaction: Body | None = None

    def actions(self) -> tuple[Action, ...]:
        point = point_of(self.body, self.at, f"{self.name}.point")
        force = Vector(self.frame, self.vector)
        if self.reaction is None:
            return (Force(point, force),)
        assert self.reaction.origin is not None and self.reaction.frame is not None
        arm = position(point, self.reaction.origin).express(self.reaction.frame)
        return (
            Force(point, force),
            Force(self.reaction.origin, -force),
            Torque(self.reaction.frame, -arm.cross(force)),
        )

    def potential(self) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class BodyTorque:
    """A torque (N m) with components in a frame on a body; the opposite acts on `reaction`, if given."""

    name: str
    body: Body
    vector: Triple
    frame: Frame
    reaction: Body | None = None

    def actions(self) -> tuple[Action, ...]:
        assert self.body.frame is not None
        torque = Vector(self.frame, self.vector)
        on_body = Torque(self.body.frame, torque)
        if self.reaction is None:
            return (on_body,)
        assert self.reaction.frame is not None
        return (on_body, Torque(self.reaction.frame, -torque))

    def potential(self) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class PointSpring:
    """Spring and damper on the line between a point of one body and a point of another.

    Pull = stiffness (length − rest) + damping · rate of length (N/m, m, N s/m). The rate is written with the rates of
    the coordinates. Where the length is zero the line has no direction and neither has the pull.
    """

    name: str
    first: Body
    first_at: Triple
    second: Body
    second_at: Triple
    stiffness: Expr
    damping: Expr
    rest: Expr
    rates: dict[Expr, Expr]

    def _line(self) -> tuple[Point, Point, Vector, Expr]:
        a = point_of(self.first, self.first_at, f"{self.name}.first")
        b = point_of(self.second, self.second_at, f"{self.name}.second")
        line = position(b, a)
        return a, b, line, line.magnitude()

    def actions(self) -> tuple[Action, ...]:
        a, b, line, length = self._line()
        pull = self.stiffness * (length - self.rest)
        if not self.damping.is_zero:
            pull = pull + self.damping * time_derivative([length], self.rates)[0]
        force = line * (pull / length)
        return (Force(a, force), Force(b, -force))

    def potential(self) -> Expr | None:
        _, _, _, length = self._line()
        stretch = length - self.rest
        return 0.5 * self.stiffness * stretch * stretch


@dataclass(frozen=True, slots=True)
class JointSpring:
    """Spring and damper along one motion variable of a joint: effort = −stiffness (q − rest) − damping u."""

    name: str
    joint: Joint
    index: int
    stiffness: Expr
    damping: Expr
    rest: Expr

    def actions(self) -> tuple[Action, ...]:
        q, rate = self.joint.coordinates[self.index].symbol, self.joint.rates[self.index]
        return (Effort(rate, -(self.stiffness * (q - self.rest)) - self.damping * rate),)

    def potential(self) -> Expr | None:
        stretch = self.joint.coordinates[self.index].symbol - self.rest
        return 0.5 * self.stiffness * stretch * stretch


@dataclass(frozen=True, slots=True)
class JointEffort:
    """An effort (N m or N) along one motion variable of a joint, any expression in q, u, t and parameters."""

    name: str
    joint: Joint
    index: int
    value: Expr

    def actions(self) -> tuple[Action, ...]:
        return (Effort(self.joint.rates[self.index], self.value),)

    def potential(self) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class JointStop:
    """One-sided springs and dampers at the ends of the range of one coordinate of a joint.

    Beyond an end by p > 0 the effort back into the range is max(0, stiffness p + damping ṗ) (N m/rad, N m s/rad, or N/m
    and N s/m): a stop pushes and never pulls. An end that is None is open.
    """

    name: str
    joint: Joint
    index: int
    lower: Expr | None
    upper: Expr | None
    stiffness: Expr
    damping: Expr

    def _depths(self) -> list[tuple[Expr, float]]:
        """(p, direction of the effort) of each end."""
        q = self.joint.coordinates[self.index].symbol
        ends = []
        if self.lower is not None:
            ends.append((self.lower - q, 1.0))
        if self.upper is not None:
            ends.append((q - self.upper, -1.0))
        return ends

    def actions(self) -> tuple[Action, ...]:
        rate = self.joint.rates[self.index]
        total = rate.graph.const(0.0)
        for p, direction in self._depths():
            push = (self.stiffness * p - direction * self.damping * rate).max(0.0)
            total = total + direction * p.less_equal(0.0).select(0.0, push)
        return (Effort(rate, total),)

    def potential(self) -> Expr | None:
        total = self.stiffness.graph.const(0.0)
        for p, _ in self._depths():
            inside = p.max(0.0)
            total = total + 0.5 * self.stiffness * inside * inside
        return total
