"""What holds bodies that no joint holds, as far as their motion tells: forces and torques that contribute to no F_r.

A description by frames and points, such as a script of SymPy, says how bodies move and not what makes them do so. What
can be told follows from partial velocities: a force contributes nothing where its point has none, or only across it; a
pair that is opposite and equal, where both points move alike; a torque likewise, by ω_r. Motions are compared in a few
generic states, and named by axes of the frames involved. What is given as a function of time moves points and bodies
too, along other axes than their partial velocities: then these are named, and no motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulation.system import System
from ..graph import Expr, Values, linear_coefficients
from ..model import Body, Mechanism
from ..space import Frame, Kinematics, Point
from ..space.algebra import Triple
from .dropping import is_particle
from .records import Dropped

Array = np.ndarray[Any, np.dtype[np.float64]]

_SEED, _STATES = 11, 3  # generic states in which motions are compared
_NOTHING = 1e-9  # of vectors whose size is about one: what some tens of products leave in double precision
_WAYS = ("no way", "one way", "two ways", "three ways", "four ways", "five ways")


@dataclass(frozen=True, slots=True)
class Attachment:
    """How a body is held: a point of it, the body that carries it (None is N), and the velocities and angular
    velocities that it can have there relative to that: (states, speeds + 1, 3) in N, for each speed the partial
    velocity, then what is given, at speeds of zero; `turning` is None for a particle. `line` is the direction to the
    carrier where that is a particle, which can only pull and push."""

    body: Body
    point: Point
    by: Body | None
    moving: Array
    turning: Array | None
    line: Array | None = None


@dataclass(frozen=True, slots=True)
class _Ways:
    """Which ways a set of vectors points: `axes` of a frame that they lie along, and their dimension at one state."""

    frame: str
    axes: str
    rank: int

    @property
    def along(self) -> str:
        return f"{self.frame}.{self.axes}"

    @property
    def left(self) -> str:
        """The axis that all of them are perpendicular to, where they lie along the two others."""
        (axis,) = set("xyz") - set(self.axes)
        return f"{self.frame}.{axis}"


class Holding:
    """Motions of bodies and points of a mechanism in generic states, to be compared."""

    def __init__(self, system: System, kinematics: Kinematics):
        self._m, self._system, self._kin = system.mechanism, system, kinematics
        self._bodies = [b for b in self._m.bodies.values() if b.frame is not None and b.origin is not None]
        self._states = _generic_states(self._m)
        self._turning, self._moving = dict[Frame, Array](), dict[Point, Array]()

    def tell(self) -> Iterator[Dropped]:
        """What contributes nothing of the forces that hold bodies without joints, body by body."""
        pairs = set[frozenset[str]]()
        for body in self._bodies:
            if body.joint is not None:
                continue
            with np.errstate(all="ignore"):
                hold = self._find_hold(body)
                line = self._describe(hold) or self._describe(self._relative(body, hold.point, None))
            pair = frozenset({body.name, hold.by.name if hold.by else ""})
            if line is not None and pair not in pairs:
                yield line
            pairs.add(pair)

    def are_perpendicular(self, first: Triple, second: Triple) -> bool:
        """Whether two vectors along the same axes, none of which is zero, are perpendicular in every state."""
        with np.errstate(all="ignore"):
            a, b = self._numbers(first), self._numbers(second)
            sizes = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            return bool(np.all(sizes > _NOTHING) and np.all(np.abs(np.sum(a * b, axis=1)) <= _NOTHING * sizes))

    def clear_zeros(self, vectors: Sequence[Triple]) -> list[Triple]:
        """Partial velocities of one point or body, with components of zero for those that are zero in every state,
        beside the longest of the vectors."""
        components = [e for xyz in vectors for e in xyz]
        with np.errstate(all="ignore"):
            numbers = self._numbers(components)
            longest = np.max(np.abs(numbers), axis=1, initial=0.0)
            zero = np.all(np.abs(numbers) <= _NOTHING * longest[:, None], axis=0)
        left = [e.graph.const(0.0) if none else e for e, none in zip(components, zero, strict=True)]
        return [(left[k], left[k + 1], left[k + 2]) for k in range(0, len(left), 3)]

    # who holds it ----------------------------------------------------------------------------------------------------

    def _find_hold(self, body: Body) -> Attachment:
        """The outermost point of the body that is fixed in N or in another body too, or that no speed moves; else the
        innermost, which moves against what the next point inwards belongs to, N or a body."""
        path = self._path(body)
        own = [p for p in path if self._belongs(p, body)]
        others = [b for b in self._bodies if b is not body and len(self._path(b)) <= len(path)]  # none that it carries
        for point in [*own, *(p for p in path if p not in own)]:
            at = point if point in own else own[-1]
            if _is_nothing(self._moves(point)):
                return self._relative(body, at, None)
            if (other := next((b for b in others if self._belongs(point, b)), None)) is not None:
                return self._relative(body, at, other)
            if _is_nothing(_partial(self._moves(point))):  # all of its motion is given
                return self._relative(body, at, None)
        return self._relative(body, own[-1], None)

    def _path(self, body: Body) -> list[Point]:
        """The named points from the origin of a body inwards."""
        named, point = set(map(id, self._m.points.values())), body.origin
        path = list[Point]()
        while point is not None:
            if id(point) in named or point is body.origin:
                path.append(point)
            point = point.parent
        return path

    def _belongs(self, point: Point, body: Body) -> bool:
        """Whether a point is fixed in a body; of a particle there is one."""
        assert body.frame is not None and body.origin is not None
        if point is body.origin:
            return True
        out = self._position(point) - self._position(body.origin)
        if is_particle(body):
            return _is_nothing(out) and _is_nothing(self._moves(point) - self._moves(body.origin))
        within = np.einsum("sji,sj->si", self._orientation(body.frame), out)
        carried = self._moves(body.origin) + np.cross(self._turns(body.frame), out[:, None, :])
        return _is_nothing(within - within[0]) and _is_nothing(self._moves(point) - carried)

    def _relative(self, body: Body, point: Point, by: Body | None) -> Attachment:
        assert body.frame is not None
        moving, turning, line = self._moves(point), None if is_particle(body) else self._turns(body.frame), None
        if by is not None:
            assert by.frame is not None and by.origin is not None
            out = self._position(point) - self._position(by.origin)
            moving = moving - self._moves(by.origin)
            if is_particle(by):
                turning, line = None, out
            else:
                moving = moving - np.cross(self._turns(by.frame), out[:, None, :])
                turning = None if turning is None else turning - self._turns(by.frame)
        return Attachment(body, point, by, moving, turning, line)

    # what it transmits -----------------------------------------------------------------------------------------------

    def _describe(self, hold: Attachment) -> Dropped | None:
        """What the hold transmits without contributing, and why; None where nothing is known to be held."""
        if not all(np.all(np.isfinite(x)) for x in (hold.moving, hold.turning, hold.line) if x is not None):
            return None
        parts = [part for part in (self._force(hold), self._torque(hold) or self._screw(hold)) if part is not None]
        if not parts:
            return None
        what, why = ", and ".join(what for what, _ in parts), ", and ".join(why for _, why in parts)
        if hold.by is not None:
            why = f"acts on {hold.by.name} and on {hold.body.name}, opposite and equal; {why}"
        return Dropped(f"what holds {hold.body.name}, {what}", why)

    def _force(self, hold: Attachment) -> tuple[str, str] | None:
        at, name, seen = self._name(hold.point), hold.body.name, "" if hold.by is None else f" in {hold.by.name}"
        partial = _partial(hold.moving)
        if _is_nothing(partial):
            fixed = f"{at} {'is fixed in N' if hold.by is None else 'is a point of both'}"
            return f"force at {at}", fixed if _is_nothing(hold.moving) else f"no speed moves {at}{seen}"
        if hold.line is not None:
            along = np.einsum("sri,si->sr", hold.moving, hold.line)
            constant = "their distance is constant" if _is_nothing(along) else "no speed changes their distance"
            return ("force along the line between them", constant) if _is_nothing(along[:, :-1]) else None
        ways = self._ways(hold, partial)
        if ways.rank == 3:
            return None
        moves = ways == self._ways(hold, hold.moving)  # else by what is given in other ways too
        if len(ways.axes) == 1:
            only = f"{at} moves along {ways.along} only{seen}"
            points = f"the partial velocities of {at}{seen} point along {ways.along}"
            return f"force at {at} across {ways.along}", only if moves else points
        if len(ways.axes) == 2:
            never = f"{at} does not move along {ways.left}{seen}"
            points = f"the partial velocities of {at}{seen} are perpendicular to {ways.left}"
            return f"force at {at} along {ways.left}", never if moves else points
        free = f"{name} moves there in {_WAYS[ways.rank]} only{seen}"
        points = f"the partial velocities of {name}{seen} there point in {_WAYS[ways.rank]} only"
        return f"force at {at} across every way to move", free if moves else points

    def _torque(self, hold: Attachment) -> tuple[str, str] | None:
        if hold.turning is None:
            return None
        name, seen = hold.body.name, "" if hold.by is None else f" in {hold.by.name}"
        partial, partials = _partial(hold.turning), f"the partial angular velocities of {name}{seen}"
        if _is_nothing(partial):
            return "torque", f"{name} does not turn{seen}" if _is_nothing(
                hold.turning
            ) else f"no speed turns {name}{seen}"
        ways = self._ways(hold, partial)
        if ways.rank == 3:
            return None
        turns = ways == self._ways(hold, hold.turning)  # else by what is given in other ways too
        if len(ways.axes) == 1:
            only, points = f"{name} turns about {ways.along} only{seen}", f"{partials} point along {ways.along}"
            return f"torque across {ways.along}", only if turns else points
        if len(ways.axes) == 2:
            never, points = (
                f"{name} does not turn about {ways.left}{seen}",
                f"{partials} are perpendicular to {ways.left}",
            )
            return f"torque along {ways.left}", never if turns else points
        free, points = f"{name} turns in {_WAYS[ways.rank]} only{seen}", f"{partials} point in {_WAYS[ways.rank]} only"
        return "torque across every way to turn", free if turns else points

    def _screw(self, hold: Attachment) -> tuple[str, str] | None:
        """Of a body that moves and turns in three ways each, but not in six together."""
        if hold.turning is None or self._ways(hold, _partial(hold.moving)).rank < 3:
            return None
        together = _partial(np.concatenate([hold.moving, hold.turning], axis=2))
        ways = int(np.linalg.matrix_rank(together, tol=_NOTHING).max())
        if ways == 6:
            return None
        seen = f" in {hold.by.name}" if hold.by else ""
        told = f"the speeds give {hold.body.name} {ways} of the six ways to move and turn{seen}"
        return f"force at {self._name(hold.point)} with a torque, in {_WAYS[6 - ways]}", told

    def _ways(self, hold: Attachment, vectors: Array) -> _Ways:
        """The fewest axes of a frame that vectors lie along, of N, the carrier, the body and what locates it."""
        assert hold.body.frame is not None
        carrier = [hold.by.frame] if hold.by is not None and hold.by.frame is not None else []
        found = list[_Ways]()
        for frame in dict.fromkeys([self._m.N, *carrier, hold.body.frame, hold.point.offset.frame]):
            along = np.einsum("sji,srj->sri", self._orientation(frame), vectors)
            axes = "".join(axis for i, axis in enumerate("xyz") if not _is_nothing(along[:, :, i]))
            found.append(_Ways(frame.name, axes, int(np.linalg.matrix_rank(vectors, tol=_NOTHING).max())))
        return min(found, key=lambda ways: len(ways.axes))

    def _name(self, point: Point) -> str:
        """What a point is called; the root by its name even where another one stands for it."""
        return self._m.O.name if _is_nothing(self._position(point)) else point.name

    # motions, along the axes of N ------------------------------------------------------------------------------------

    def _numbers(self, exprs: Sequence[Expr]) -> Array:
        """Values in all states: (states, expressions)."""
        return np.array([state(exprs) for state in self._states])

    def _orientation(self, frame: Frame) -> Array:
        """R_NF: (states, 3, 3)."""
        return self._numbers([e for row in self._kin.orientation(frame) for e in row]).reshape(-1, 3, 3)

    def _position(self, point: Point) -> Array:
        return self._numbers(list(self._kin.position(point)))

    def _turns(self, frame: Frame) -> Array:
        """ω_r, then ω at speeds of zero: (states, speeds + 1, 3)."""
        if frame not in self._turning:
            self._turning[frame] = self._split(self._kin.turn(self._kin.w(frame), frame, self._m.N))
        return self._turning[frame]

    def _moves(self, point: Point) -> Array:
        """v_r, then v at speeds of zero: (states, speeds + 1, 3)."""
        if point not in self._moving:
            self._moving[point] = self._split(self._kin.turn(self._kin.v(point), point.home, self._m.N))
        return self._moving[point]

    def _split(self, xyz: Triple) -> Array:
        A, rest = linear_coefficients(list(xyz), self._system.u)
        rows = [e for row, left in zip(A, rest, strict=True) for e in (*row, left)]
        return self._numbers(rows).reshape(len(self._states), 3, -1).transpose(0, 2, 1)


def _generic_states(m: Mechanism) -> list[Values]:
    """States in which coordinates and time differ and parameters do not."""
    rng = np.random.default_rng(_SEED)
    fixed = {name: float(rng.uniform(0.5, 1.5)) for name in (*m.parameters, *m.speeds)}
    return [
        Values(fixed | {name: float(rng.uniform(0.3, 1.3)) for name in ("t", *m.coordinates)}) for _ in range(_STATES)
    ]


def _partial(vectors: Array) -> Array:
    """The partial velocities among them, without what is given."""
    return vectors[:, :-1]


def _is_nothing(values: Array) -> bool:
    return bool(np.all(np.abs(values) <= _NOTHING))


__all__ = ["Attachment", "Holding"]
