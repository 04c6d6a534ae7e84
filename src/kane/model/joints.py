"""Joints: what q and u mean, and how the child moves in the parent. One small class per joint type.

A joint sits between a frame P fixed in the parent body and a frame C fixed in the child body, which coincide at rest.
A joint type says how many coordinates and speeds it has and returns one record, `JointMotion`. To add a joint type,
write such a class and hand an instance to `Model.joint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..graph import Expr, Graph, time_derivative
from ..graph.repeats import Template, record, repeat
from ..space import rotations
from ..space.algebra import Matrix, Triple, plus, scaled, times

ORIGIN = (0.0, 0.0, 0.0)

PLACEMENT = ("at", "rotation", "child_at", "child_rotation")
"""Words that say where a joint is in its parent and in its child."""

JOINT_OPTIONS = ("axis", "pitch", "sequence", "normal", "velocity", "moves", "follows", "ratio", "offset")
"""Words that joint types are described with, each those of its own."""


@dataclass(frozen=True, slots=True)
class JointMotion:
    """How C moves in P: R_PC; p from P to C and its rate v, in P; w of C in P, in C; rates of the coordinates; and v in
    C, where it is written more simply there."""

    R: Matrix
    p: Triple
    w: Triple
    v: Triple
    qdot: tuple[Expr, ...]
    v_C: Triple | None = None


class JointType(Protocol):
    """What a joint type must say. `coordinates` and `speeds` are the endings of their default names."""

    @property
    def kind(self) -> str: ...

    @property
    def coordinates(self) -> tuple[str, ...]: ...

    @property
    def speeds(self) -> tuple[str, ...]: ...

    @property
    def rest(self) -> tuple[float, ...]:
        """Coordinates at which C coincides with P."""
        ...

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion: ...


def speeds_are_rates(kind: JointType) -> bool:
    """Whether the motion variables of a joint of this type are the rates of its coordinates."""
    return len(kind.coordinates) == len(kind.speeds) and not (isinstance(kind, Planar) and kind.velocity == "body")


@dataclass(frozen=True, slots=True)
class Weld:
    """No relative motion."""

    kind = "weld"
    coordinates = ()
    speeds = ()
    rest = ()

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        zero = rotations.zeros(graph)
        return JointMotion(rotations.identity(graph), zero, zero, zero, ())


@dataclass(frozen=True, slots=True)
class Revolute:
    """q: angle about `axis` (rad). u = q̇."""

    axis: Triple
    kind = "revolute"
    coordinates = ("",)
    speeds = ("",)
    rest = (0.0,)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        zero = rotations.zeros(graph)
        return JointMotion(rotations.about(self.axis, q[0]), zero, scaled(u[0], self.axis), zero, (u[0],))


@dataclass(frozen=True, slots=True)
class Prismatic:
    """q: displacement along `axis` (m). u = q̇."""

    axis: Triple
    kind = "prismatic"
    coordinates = ("",)
    speeds = ("",)
    rest = (0.0,)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        zero = rotations.zeros(graph)
        return JointMotion(rotations.identity(graph), scaled(q[0], self.axis), zero, scaled(u[0], self.axis), (u[0],))


@dataclass(frozen=True, slots=True)
class Screw:
    """q: angle about `axis` (rad), with `pitch` metres of advance per radian. u = q̇."""

    axis: Triple
    pitch: Expr
    kind = "screw"
    coordinates = ("",)
    speeds = ("",)
    rest = (0.0,)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        return JointMotion(
            rotations.about(self.axis, q[0]),
            scaled(self.pitch * q[0], self.axis),
            scaled(u[0], self.axis),
            scaled(self.pitch * u[0], self.axis),
            (u[0],),
        )


@dataclass(frozen=True, slots=True)
class Cylindrical:
    """q: angle about `axis` (rad), displacement along it (m). u = q̇."""

    axis: Triple
    kind = "cylindrical"
    coordinates = ("angle", "slide")
    speeds = ("angle", "slide")
    rest = (0.0, 0.0)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        return JointMotion(
            rotations.about(self.axis, q[0]),
            scaled(q[1], self.axis),
            scaled(u[0], self.axis),
            scaled(u[1], self.axis),
            tuple(u),
        )


@dataclass(frozen=True, slots=True)
class Gimbal:
    """q: Euler angles of `sequence` (rad), one to three. u = q̇. Three angles lock where Γ is singular."""

    sequence: str
    kind = "gimbal"

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("1", "2", "3")[: len(rotations.parse_sequence(self.sequence)[1])]

    @property
    def speeds(self) -> tuple[str, ...]:
        return self.coordinates

    @property
    def rest(self) -> tuple[float, ...]:
        return (0.0,) * len(self.coordinates)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        zero = w = rotations.zeros(graph)
        steps: dict[int, Matrix] = {}
        for column, rate in zip(rotations.euler_partials(self.sequence, q, steps), u, strict=True):
            w = plus(w, scaled(rate, column))
        return JointMotion(rotations.euler(self.sequence, q, steps), zero, w, zero, tuple(u))


@dataclass(frozen=True, slots=True)
class Universal(Gimbal):
    """q: two angles (rad) about two axes, the first fixed in the parent, the second in the child. u = q̇."""

    sequence: str = "body xy"
    kind = "universal"


@dataclass(frozen=True, slots=True)
class Spherical:
    """q: unit quaternion (wxyz). u: components of ω of C in P, in C (rad/s)."""

    kind = "spherical"
    coordinates = ("w", "x", "y", "z")
    speeds = ("wx", "wy", "wz")
    rest = (1.0, 0.0, 0.0, 0.0)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        zero = rotations.zeros(graph)
        w = (u[0], u[1], u[2])
        return JointMotion(rotations.quaternion(q), zero, w, zero, rotations.quaternion_rates(q, w))


@dataclass(frozen=True, slots=True)
class Coupled:
    """Turns or slides as `moves` does, by ratio · q + offset, where q is the coordinate of another joint.

    It has no coordinate of its own: `q` and `rate` are those of the joint called `follows`.
    """

    moves: Revolute | Prismatic
    follows: str
    ratio: Expr
    offset: Expr
    q: Expr
    rate: Expr
    kind = "coupled"
    coordinates = ()
    speeds = ()
    rest = ()

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        there = self.moves.motion(graph, [self.ratio * self.q + self.offset], [self.ratio * self.rate])
        return JointMotion(there.R, there.p, there.w, there.v, ())


@dataclass(frozen=True, slots=True)
class Prescribed:
    """Moves as `moves` does, with its coordinates `q` given as functions of `time`; locked where they are constant.

    It has no coordinate of its own. What drives it does whatever work the motion takes.
    """

    moves: JointType
    q: tuple[Expr, ...]
    time: Expr
    kind = "prescribed"
    coordinates = ()
    speeds = ()
    rest = ()

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        clock: dict[Expr, Expr | float] = {self.time: 1.0}
        if speeds_are_rates(self.moves):
            there = self.moves.motion(graph, self.q, time_derivative(self.q, clock))
            return JointMotion(there.R, there.p, there.w, there.v, ())
        there = self.moves.motion(graph, self.q, [graph.const(0.0)] * len(self.moves.speeds))
        rates = time_derivative([*there.R[0], *there.R[1], *there.R[2], *there.p], clock)
        x, y, z, v = ((rates[k], rates[k + 1], rates[k + 2]) for k in (0, 3, 6, 9))
        return JointMotion(there.R, there.p, rotations.from_matrix((x, y, z), there.R), v, ())


@dataclass(frozen=True, slots=True)
class Planar:
    """Motion in the plane normal to `normal` ('x', 'y' or 'z' of P). q: two displacements (m), angle (rad). u = q̇, or
    with `velocity="body"` the velocity has components along the axes of C, which turn with the angle."""

    normal: str = "z"
    velocity: str = "parent"
    kind = "planar"
    coordinates = ("1", "2", "angle")
    speeds = ("1", "2", "angle")
    rest = (0.0, 0.0, 0.0)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        k = rotations.AXES[self.normal]
        first, second, normal = (rotations.unit(graph, (k + i) % 3) for i in (1, 2, 0))
        p = plus(scaled(q[0], first), scaled(q[1], second))
        v = plus(scaled(u[0], first), scaled(u[1], second))
        R = rotations.simple(k, q[2])
        if self.velocity == "parent":
            return JointMotion(R, p, scaled(u[2], normal), v, tuple(u))
        v_P = times(R, v)
        return JointMotion(R, p, scaled(u[2], normal), v_P, (v_P[(k + 1) % 3], v_P[(k + 2) % 3], u[2]), v)


@dataclass(frozen=True, slots=True)
class Free:
    """q: unit quaternion (wxyz), position of C in P (m). u: ω of C in P, in C (rad/s); velocity of C's origin (m/s).

    The velocity has components in the child (`velocity="body"`) or in the parent (`velocity="parent"`).
    """

    velocity: str = "body"
    kind = "free"
    coordinates = ("w", "x", "y", "z", "px", "py", "pz")
    speeds = ("wx", "wy", "wz", "vx", "vy", "vz")
    rest = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        R = rotations.quaternion(q[:4])
        w = (u[0], u[1], u[2])
        v = (u[3], u[4], u[5])
        v_P = times(R, v) if self.velocity == "body" else v
        v_C = v if self.velocity == "body" else None
        return JointMotion(R, (q[4], q[5], q[6]), w, v_P, (*rotations.quaternion_rates(q[:4], w), *v_P), v_C)


_REPEATED = frozenset({Revolute, Prismatic, Screw, Cylindrical, Gimbal, Universal, Spherical, Planar, Free})
"""Types whose motion is made of their own coordinates and speeds, and of constants that are equal for equal records."""


class Motions:
    """Motions of the joints of one graph: those of the thousandth joint of a type are written down after those of an
    earlier one, equal prescribed ones are made once. The nodes are those that the type itself would have made."""

    def __init__(self, graph: Graph):
        self._graph = graph
        self._templates: dict[JointType, Template | None] = {}  # None of types that have been met once
        self._prescribed: dict[Prescribed, JointMotion] = {}

    def make(self, kind: JointType, q: Sequence[Expr], u: Sequence[Expr], new_from: int) -> JointMotion:
        """The motion of a joint; its symbols, from node `new_from` on, are in no other expression yet."""
        graph, inputs = self._graph, (*q, *u)
        if type(kind) is Prescribed and type(kind.moves) in _REPEATED:
            if (known := self._prescribed.get(kind)) is None:
                known = self._prescribed[kind] = kind.motion(graph, q, u)
            return known
        if type(kind) not in _REPEATED or min([x.id for x in inputs]) < new_from:
            return kind.motion(graph, q, u)
        types_met, start = len(self._templates), len(graph)
        template = self._templates.setdefault(kind, None)
        again = None if template is None else repeat(graph, template, inputs)
        if again is not None:
            return _motion_of(again)
        motion = kind.motion(graph, q, u)
        if template is None and len(self._templates) == types_met:  # the second one: many are the only one of theirs
            self._templates[kind] = record(graph, start, inputs, _groups_of(motion))
        return motion


def _groups_of(motion: JointMotion) -> list[tuple[Expr, ...]]:
    return [*motion.R, motion.p, motion.w, motion.v, motion.qdot, motion.v_C or ()]


def _motion_of(groups: Sequence[tuple[Any, ...]]) -> JointMotion:
    x, y, z, p, w, v, qdot, v_C = groups
    return JointMotion((x, y, z), p, w, v, qdot, v_C or None)
