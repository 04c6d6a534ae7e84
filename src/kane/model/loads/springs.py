"""Springs, dampers and stops, between points and along the coordinates of joints."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...graph import Expr
from ...space import Point, Vector, position
from ..fields import ORIGIN, BodyName, Components, Index, JointName, Scalar
from ..joints import speeds_are_rates
from .actions import Action, EffortAction, ForceAction, point_of

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class Spring:
    """A spring and damper on the line between the points `first_at` and `second_at` (m) of the bodies `first` and
    `second`.

    Pull = stiffness (length − rest) + damping · rate of length (N/m, m, N s/m). Stiffness and rest depend on
    parameters only, so that there is a potential energy. Where the length is zero the line has no direction and neither
    has the pull.

    >>> m = kane.load("pendulum")
    >>> coil = kane.Spring("ground", "bob", first_at=(3, -1, 0), second_at=(0, -1, 0), stiffness=2, rest=1)
    >>> built = m.load("coil", coil)
    >>> m.forward_dynamics([0], [0], [0]).tolist()
    [4.0]
    """

    first: BodyName
    second: BodyName
    _: KW_ONLY
    first_at: Components = ORIGIN
    second_at: Components = ORIGIN
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Scalar = 0.0
    kind = "spring"

    def check(self, build: Builder) -> None:
        build.constant(self.stiffness, "stiffness")
        build.constant(self.rest, "rest")

    def _line(self, build: Builder) -> tuple[Point, Point, Vector, Expr]:
        a = point_of(build.body(self.first), build.triple(self.first_at, "first_at"), f"{build.name}.first")
        b = point_of(build.body(self.second), build.triple(self.second_at, "second_at"), f"{build.name}.second")
        line = position(b, a)
        return a, b, line, line.magnitude()

    def actions(self, build: Builder) -> tuple[Action, ...]:
        a, b, line, length = self._line(build)
        pull = build.scalar(self.stiffness) * (length - build.scalar(self.rest))
        damping = build.scalar(self.damping)
        if not damping.is_zero:
            pull = pull + damping * build.rate_of(length)
        force = line * (pull / length)
        return (ForceAction(a, force), ForceAction(b, -force))

    def potential(self, build: Builder) -> Expr | None:
        stretch = self._line(build)[3] - build.scalar(self.rest)
        return 0.5 * build.scalar(self.stiffness) * stretch * stretch


@dataclass(frozen=True, slots=True)
class JointSpring:
    """A spring and damper along one coordinate of a joint, the first or that of `index`: effort
    −`stiffness` (q − `rest`) − `damping` q̇ (N m/rad, rad, N m s/rad; or N/m, m, N s/m). Stiffness and rest depend on
    parameters only.

    >>> m = kane.load("pendulum")
    >>> built = m.load("load", kane.JointSpring("pivot", stiffness=4, rest=0.5))
    >>> m.forward_dynamics([0], [0], [0]).tolist()
    [2.0]
    """

    joint: JointName
    _: KW_ONLY
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Scalar = 0.0
    index: Index = 0
    kind = "joint_spring"

    def check(self, build: Builder) -> None:
        joint = build.joint_with_rate(self.joint, self.index)
        build.constant(self.rest, "rest")
        if not build.constant(self.stiffness, "stiffness").is_zero and not speeds_are_rates(joint.type):
            raise build.refuse(
                f"a spring on the {joint.type.kind} joint '{joint.name}'",
                "its coordinates are not angles whose rates are the speeds",
                "use damping only, a torque, or a gimbal joint",
            )

    def actions(self, build: Builder) -> tuple[Action, ...]:
        rate = build.joint(self.joint).rates[self.index]
        spring = build.scalar(self.stiffness) * self._stretch(build)
        return (EffortAction(rate, -spring - build.scalar(self.damping) * rate),)

    def potential(self, build: Builder) -> Expr | None:
        stretch = self._stretch(build)
        return 0.5 * build.scalar(self.stiffness) * stretch * stretch

    def _stretch(self, build: Builder) -> Expr:
        return build.joint(self.joint).coordinates[self.index].symbol - build.scalar(self.rest)


@dataclass(frozen=True, slots=True)
class Stop:
    """One-sided springs and dampers at the ends `lower` and `upper` (rad, m) of the range of one coordinate of `joint`,
    the first or that of `index`; give one end or both.

    Beyond an end by p > 0 the effort back into the range is max(0, stiffness p + damping ṗ) (N m/rad, N m s/rad, or N/m
    and N s/m): a stop pushes and never pulls. An end that is None is open.

    >>> m = kane.load("pendulum")
    >>> built = m.load("end", kane.Stop("pivot", lower=0, stiffness=100))
    >>> round(m.energy([-0.2], [0]).potential - m.energy([0.2], [0]).potential, 6)
    2.0
    """

    joint: JointName
    _: KW_ONLY
    lower: Scalar | None = None
    upper: Scalar | None = None
    stiffness: Scalar
    damping: Scalar = 0.0
    index: Index = 0
    kind = "stop"

    def check(self, build: Builder) -> None:
        joint = build.joint_with_rate(self.joint, self.index)
        if not speeds_are_rates(joint.type):
            what = f"a stop on the {joint.type.kind} joint '{joint.name}'"
            raise build.refuse(what, "a stop bounds a coordinate whose rate is a motion variable", "use a gimbal joint")
        k, c = build.constant(self.stiffness), build.constant(self.damping)
        ends = [build.number(build.constant(x)) for x in (self.lower, self.upper) if x is not None]
        if not ends:
            raise build.refuse("neither lower nor upper is given", "a stop is at an end of a range")
        if ends[0] > ends[-1]:
            raise build.refuse(f"from {ends[0]:g} to {ends[-1]:g}", "the lower end does not exceed the upper one")
        if not build.number(k) > 0 or build.number(c) < 0:
            because = "a stop pushes back: stiffness > 0, damping ≥ 0"
            raise build.refuse(f"stiffness {k!r}, damping {c!r}", because)

    def _depths(self, build: Builder) -> list[tuple[Expr, float]]:
        """(p, direction of the effort) of each end."""
        q = build.joint(self.joint).coordinates[self.index].symbol
        ends: list[tuple[Expr, float]] = []
        if self.lower is not None:
            ends.append((build.scalar(self.lower) - q, 1.0))
        if self.upper is not None:
            ends.append((q - build.scalar(self.upper), -1.0))
        return ends

    def actions(self, build: Builder) -> tuple[Action, ...]:
        rate = build.joint(self.joint).rates[self.index]
        stiffness, damping, total = build.scalar(self.stiffness), build.scalar(self.damping), rate.graph.const(0.0)
        for p, direction in self._depths(build):
            push = (stiffness * p - direction * damping * rate).max(0.0)
            total = total + direction * p.less_equal(0.0).select(0.0, push)
        return (EffortAction(rate, total),)

    def potential(self, build: Builder) -> Expr | None:
        total = build.graph.const(0.0)
        for p, _ in self._depths(build):
            inside = p.max(0.0)
            total = total + 0.5 * build.scalar(self.stiffness) * inside * inside
        return total
