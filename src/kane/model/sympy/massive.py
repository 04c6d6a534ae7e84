"""Bodies and loads of a SymPy description, on its frames and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError, ModelError, Problem
from ...graph import Expr, Graph, depends_on, substitute
from ...space import Dyadic, Frame, Point, Vector
from ...space.algebra import Matrix, dot
from ..loads import ForceAction, GivenActions, TorqueAction
from ..mechanism import Mechanism
from .leaves import part_name, unused_name
from .reading import Description, clock
from .scalars import EQUAL, Scalars
from .skeleton import Skeleton

_PLACES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


@dataclass(frozen=True, slots=True)
class Massive:
    """A body before it is declared, all of it in the graph: central inertia along the axes of `frame`."""

    name: str
    mass: Expr
    inertia: Matrix
    frame: Frame
    origin: Point

    def declare(self, model: Mechanism) -> None:
        name = unused_name(self.name, {*model.bodies, "ground", "N", "O"})
        inertia = {key: self.inertia[i][j] for key, (i, j) in _PLACES.items()}
        model.body(name, mass=self.mass, inertia=inertia, checked=False, frame=self.frame, origin=self.origin)


@dataclass(frozen=True, slots=True)
class SetAcceleration:
    """The acceleration (m/s²) of a mass centre, or the angular acceleration (rad/s²) of a body, that was set."""

    of: Point | Frame
    given: Vector


class Matter:
    """Reads what has mass, and what acts on it."""

    def __init__(self, model: Mechanism, given: Description, scalars: Scalars, skeleton: Skeleton):
        self._model, self._given, self._scalars, self._skeleton = model, given, scalars, skeleton

    # bodies ----------------------------------------------------------------------------------------------------------

    def bodies(self) -> list[Massive]:
        from sympy.physics.mechanics import RigidBody

        found = []
        zero = self._model.graph.const(0.0)
        none = (zero, zero, zero)
        for body in self._given.bodies:
            if not isinstance(body, RigidBody):  # SymPy's Body is both a rigid body and a particle, and has inertia
                origin = self._skeleton.point(body.masscenter)
                found.append(Massive(body.name, self._scalars(body.mass), (none, none, none), origin.home, origin))
            elif not self._is_fixed(body):
                inertia, frame = self._inertia(body)
                origin = self._skeleton.point(body.masscenter)
                found.append(Massive(body.name, self._scalars(body.mass), inertia, frame, origin))
        return found

    def _is_fixed(self, body: Any) -> bool:
        """Whether a body is fixed in the inertial frame, like the one that a System starts from."""
        return body.frame is self._given.frame and body.masscenter.vel(self._given.frame) == 0

    def _inertia(self, body: Any) -> tuple[Matrix, Frame]:
        """Central inertia along the axes of the body's frame, which is given too.

        It may be written along other axes, those that do not spin with a wheel say: it is then taken in the position in
        which all coordinates are zero, provided that it is the same in others.
        """
        own = self._skeleton.frame(body.frame)
        written = {f for _, *pair in body.central_inertia.args for vector in pair for _, f in vector.args}
        axes = written.pop() if len(written) == 1 else body.frame
        there = Dyadic(self._skeleton.frame(axes), self._matrix(body.central_inertia.to_matrix(axes)))
        here = there.express(own).matrix
        moving = [self._model.time, *(c.symbol for c in self._model.coordinate_records.values())]
        entries = [e for row in here for e in row]
        if not depends_on(entries, moving):
            return here, own
        first, *others = self._scalars.at(entries)
        if not all(np.all(np.abs(x - first) <= EQUAL * np.abs(first).max()) for x in others):
            raise ModelError(
                Problem(
                    self._model.where(f"body '{body.name}' / inertia"),
                    f"its components in the frame '{body.frame.name}' change with the motion",
                    "the inertia of a rigid body is constant in its frame",
                    "write it along axes that are fixed in the body, or along which it looks the same at every angle",
                )
            )
        a, b, c = (substitute(row, dict.fromkeys(moving, 0.0)) for row in here)
        return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2])), own

    def _matrix(self, matrix: Any) -> Matrix:
        a, b, c = (self._scalars.translate_all(matrix.row(i)) for i in range(3))
        return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))

    def set_accelerations(self) -> list[SetAcceleration]:
        """Accelerations of bodies that were set, in the order of the bodies; SymPy derives all others."""
        from sympy.physics.mechanics import RigidBody

        found, N, skeleton = [], self._given.frame, self._skeleton
        for body in self._given.bodies:
            if N in body.masscenter._acc_dict:
                point = skeleton.point(body.masscenter)
                found.append(SetAcceleration(point, skeleton.single_vector(body.masscenter.acc(N), point.home)))
            if isinstance(body, RigidBody) and N in body.frame._ang_acc_dict:
                frame = skeleton.frame(body.frame)
                found.append(SetAcceleration(frame, skeleton.single_vector(body.frame.ang_acc_in(N), frame)))
        return found

    # loads -----------------------------------------------------------------------------------------------------------

    def loads(self) -> tuple[dict[str, GivenActions], Sequence[Expr] | None]:
        """All loads, weights left out where they are those of one uniform gravity; and that gravity (m/s², in N)."""
        weights, g = ([], None) if self._skeleton.adrift else self._weights()
        pairs = [(k, *load) for k, load in enumerate(self._given.loads) if k not in weights]
        return dict(self._load(*pair) for pair in pairs), None if g is None else self._scalars.translate_all(g)

    def _load(self, k: int, where: Any, vector: Any) -> tuple[str, GivenActions]:
        from sympy.physics import mechanics

        parts = self._skeleton.parts(vector)
        if isinstance(where, mechanics.Point):
            at = self._skeleton.point(where)
            return f"force {k + 1} at {part_name(where.name)}", GivenActions(
                tuple(ForceAction(at, part) for part in parts)
            )
        if not isinstance(where, mechanics.ReferenceFrame):
            raise InputError(f"load {k + 1} acts on {where!r}: forces act at points, torques on frames")
        frame = self._skeleton.frame(where)
        return f"torque {k + 1} on {part_name(where.name)}", GivenActions(
            tuple(TorqueAction(frame, part) for part in parts)
        )

    def _weights(self) -> tuple[list[int], Any]:
        """(indices of loads, g) where every body has a load m g at its mass centre, with one g along fixed axes."""
        weights, found = [], None
        for body in self._given.bodies:
            at_center = [(k, v) for k, (where, v) in enumerate(self._given.loads) if where is body.masscenter]
            if hasattr(body, "frame") and self._is_fixed(body):
                weights += [k for k, _ in at_center]
                continue
            fields = {k: self._field(vector, body.mass) for k, vector in at_center if k not in weights}
            found = found or next((g for g in fields.values() if g is not None), None)
            same = [k for k, g in fields.items() if g is not None and g == found]
            if not same:
                return [], None
            weights.append(same[0])
        return (weights, found) if found is not None else ([], None)

    def _field(self, vector: Any, mass: Any) -> tuple[Any, ...] | None:
        """Force per mass, components in N; None where it depends on more than symbols. It may be written along any axes
        that stay parallel to those of N where it points, as the z axes of links of a planar arm do."""
        from sympy.core.function import AppliedUndef

        if not vector or mass == 0:
            return None
        if len(vector.args) != 1 or vector.args[0][1] is not self._given.frame:
            try:
                vector = vector.express(self._given.frame)
            except ValueError:  # no orientation leads to N
                return None
            if len(vector.args) != 1:
                return None
        field = tuple((c / mass).cancel() for c in vector.args[0][0])
        if any(c.atoms(AppliedUndef) or clock() in c.free_symbols for c in field):
            return None
        return field


@dataclass(frozen=True, slots=True)
class FoundMatter:
    """What has mass and what acts on it, before it is declared."""

    bodies: Sequence[Massive]
    loads: Mapping[str, GivenActions]
    gravity: Sequence[Expr] | None = None
    skeleton: Skeleton | None = None
    missing: frozenset[Any] = frozenset()  # symbols without a value that bodies and gravity are written with

    def power(self, graph: Graph) -> Expr:
        """Power of the loads (W), in the motion variables."""
        assert self.skeleton is not None
        kin, power = self.skeleton.kinematics, graph.const(0.0)
        for action in (a for load in self.loads.values() for a in load.given):
            if isinstance(action, ForceAction):
                power = power + dot(kin.v(action.point), action.vector.express(action.point.home).xyz)
            elif isinstance(action, TorqueAction):
                power = power + dot(kin.w(action.frame), action.vector.express(action.frame).xyz)
        return power

    def declare(self, m: Mechanism) -> None:
        for body in self.bodies:
            body.declare(m)
        for name, load in self.loads.items():
            m.load(name, load)
        if self.gravity is not None:
            m.set_gravity(self.gravity)


def find_matter(m: Mechanism, given: Description, scalars: Scalars) -> FoundMatter:
    """Bodies and loads of a description, with the frames and points that they need."""
    if given.frame is None:
        if given.loads:
            raise InputError("loads act, but no inertial frame is given: LagrangesMethod(..., frame=N)")
        return FoundMatter((), {})
    skeleton = Skeleton(m, scalars, given.frame, given.fixed_point, scalars.are_equal)
    matter = Matter(m, given, scalars, skeleton)
    bodies = matter.bodies()
    missing = dict(scalars.missing)
    loads, gravity = matter.loads()
    if gravity is not None:
        missing |= {s: n for s, n in scalars.missing.items() if depends_on(gravity, [m.parameters[n].symbol])}
    for point in skeleton.adrift:
        what = "it has a velocity, and no position from a fixed point: its place is not known"
        m.remarks.append(Problem(m.where(f"point '{point.name}'"), what))
    return FoundMatter(bodies, loads, gravity, skeleton, frozenset(missing))


__all__ = ["FoundMatter", "Massive", "Matter", "SetAcceleration", "find_matter"]
