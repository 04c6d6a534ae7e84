"""Contacts: shapes of one body that touch surfaces of another, with restitution and friction.

Every place where two bodies can touch is one element: a normal row, whose residual is the gap, and slip rows along the
surface, as many as the mechanism can move along. A box has an element for each of its corners.
"""

from __future__ import annotations

import random
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from ...graph import Expr, Values
from ...space import Kinematics, rotations
from ...space.algebra import dot
from ..fields import ORIGIN, Axis, BodyName, Components, Scalar, ShapeSpec
from ..loads.actions import EffortAction, ForceAction
from ..records import Body, frames_to_ground
from .changing import CONTACT, ChangingLaw, ChangingRows, make_law
from .geometry import touches
from .rows import Row, RowSet
from .shapes import ContactShape, drawn_shapes

if TYPE_CHECKING:
    from ..builder import Builder
    from ..mechanism import Mechanism

_SAMPLES = 3  # states at which a row that no motion changes is told from others
_SAMPLE_SEED = 31
_STILL = 1e-9  # m/s at speeds of about 1: rounding of what cancels


@dataclass(frozen=True, slots=True)
class BodyContact:
    """A contact between two bodies, or a body and the ground; what `Mechanism.contact` makes, which explains it.

    `shape` is that of the body `first` and `surface` that of `second`, as in `ContactShape`; without them, those that
    the bodies are drawn with. `normal` (z by default) and `at` give a plane of `second`; the ground is one unless it
    has a `surface`.
    """

    first: BodyName
    second: BodyName
    _: KW_ONLY
    shape: ShapeSpec | None = None
    surface: ShapeSpec | None = None
    normal: Axis | None = None
    at: Components | None = None
    restitution: Scalar = 0.0
    friction: Scalar = 0.0
    static: Scalar | None = None
    kind = "contact"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        law = make_law(build, restitution=self.restitution, friction=self.friction, static=self.static)
        first, second = build.two_bodies(self.first, self.second)
        shapes = _shapes(build, first, self.shape, "shape")
        surfaces = [self._plane(build, second)] if self._is_plane(build) else []
        surfaces = surfaces or _shapes(build, second, self.surface, "surface")
        pairs, depth = len(shapes) * len(surfaces), frames_to_ground(first, second)
        build.check_room(pairs, pairs * depth)
        found = [rows for a, b in product(shapes, surfaces) for rows in touches(build, (first, a), (second, b))]
        build.check_room(len(found), len(found) * depth)
        return _Elements(build, law).make(found)

    def _is_plane(self, build: Builder) -> bool:
        """Whether the second body is touched on a plane that is given by its normal."""
        placed = self.normal is not None or self.at is not None
        if self.surface is not None and placed:
            because, fix = "a plane is given by normal and at, any other surface by surface", "leave out one of them"
            raise build.refuse("a normal or a place is given besides a surface", because, fix)
        return self.surface is None and (placed or self.second == "ground")

    def _plane(self, build: Builder, second: Body) -> ContactShape:
        graph = build.graph
        at = build.fixed_triple(ORIGIN if self.at is None else self.at, "at")
        normal = build.axis("z" if self.normal is None else self.normal, "normal")
        return ContactShape("plane", (), at, normal, rotations.identity(graph), graph.const(0.0))


def up_axis(m: Mechanism) -> str:
    """The axis of N against gravity; z where gravity is along none."""
    along = [k for k, g in enumerate(m.gravity) if not g.is_zero]
    if len(along) != 1:
        return "z"
    letter = "xyz"[along[0]]
    return letter if m.number(m.gravity[along[0]], "gravity") <= 0.0 else f"-{letter}"


def _shapes(build: Builder, body: Body, given: Mapping[str, Any] | None, field: str) -> list[ContactShape]:
    """The shape that is given, or those that the body is drawn with."""
    if given is not None:
        return [build.contact_shape(given, field)]
    if found := drawn_shapes(build, body):
        return found
    what, because = f"body '{body.name}' has no shape that can touch", "a contact is between surfaces"
    fix = f"give {field}={{'sphere': radius}}, say, or draw the body with shapes: a sphere, a box or a cylinder"
    if any(s.kind == "mesh" for s in body.shapes):
        fix = f"of a mesh take its convex hull: {field}=kane.convex_hull(the shape or its file, vertices=32).shape"
    raise build.refuse(what, because, fix, field)


class _Elements:
    """Makes the elements of one contact out of the rows of all places where it can touch."""

    def __init__(self, build: Builder, law: ChangingLaw):
        self.build = build
        self.law = law
        self.motion, self.states = _generic_motion(build.mechanism)

    def make(self, found: Sequence[RowSet]) -> tuple[ChangingRows, ...]:
        """One element for each place; places that move and slip alike in every state are one."""
        kept: list[tuple[RowSet, list[Row], list[float]]] = []
        for made in found:
            normal, *slips = made.rows[-1], *made.rows[:-1]
            assert normal.residual is not None
            exprs = [normal.residual, *(self._power(row) for row in (normal, *slips))]
            gaps, rate, *others = zip(*(values(exprs) for values in self.states), strict=True)
            if _are_close(rate, [0.0] * len(rate)):
                because = "a contact opens and closes: its gap changes with the motion"
                raise self.build.refuse("its gap is the same in every state", because, "give the normal of the surface")
            slipping = [(row, p) for row, p in zip(slips, others, strict=True) if not _are_close(p, [0.0] * len(p))]
            numbers = [*gaps, *rate, *(x for _, p in slipping for x in p)]
            if not any(_are_close(numbers, known) for _, _, known in kept):
                kept.append((made, [normal, *(row for row, _ in slipping)], numbers))
        return tuple(
            ChangingRows(
                str(k + 1) if len(kept) > 1 else "", CONTACT, tuple(rows), self.law, made.first, made.second, made.point
            )
            for k, (made, rows, _) in enumerate(kept)
        )

    def _power(self, row: Row) -> Expr:
        """Power of the unit reaction, and the rate that is due to t alone."""
        total = row.rheonomic
        for action in row.actions:
            if isinstance(action, EffortAction):
                total = total + action.variable * action.value
                continue
            if isinstance(action, ForceAction):
                velocity, home = self.motion.v(action.point), action.point.home
            else:
                velocity, home = self.motion.w(action.frame), action.frame
            total = total + dot(velocity, action.vector.express(home).xyz)
        return total


def _generic_motion(m: Mechanism) -> tuple[Kinematics, list[Values]]:
    """Velocities, and numbers in some states of no particular kind; those that the last contact was judged with, where
    nothing has been added that moves."""
    known, size = m.judged_with, len(m.coordinate_rates)
    if known is None or known[0] != size or m.declared_frames or m.declared_points:
        motion = Kinematics(m.graph, ChainMap({m.time: 1.0}, m.coordinate_rates))  # type: ignore[arg-type]
        known = m.judged_with = size, motion, [Values(_GenericState(m, k)) for k in range(_SAMPLES)]
    return known[1], known[2]


class _GenericState(Mapping[str, float]):
    """A value of every symbol of a description, drawn when it is asked for; parameters and coordinates are not far from
    their own. A symbol has the same value whatever else is in the model."""

    def __init__(self, m: Mechanism, number: int):
        self._m = m
        self._number = number
        self._drawn: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        known = self._drawn.get(name)
        if known is None:
            known = self._drawn[name] = self._draw(name)
        return known

    def _draw(self, name: str) -> float:
        m, generator = self._m, random.Random(f"{_SAMPLE_SEED} {self._number} {name}")
        if name in m.parameters:
            return m.parameters[name].value * generator.uniform(0.9, 1.1) + generator.uniform(0.01, 0.02)
        if name in m.coordinate_records:
            return m.coordinate_records[name].initial + generator.uniform(0.05, 0.3)
        return generator.uniform(0.3, 1.1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._m.graph.inputs)

    def __len__(self) -> int:
        return len(self._m.graph.inputs)

    def __contains__(self, name: object) -> bool:
        return name in self._m.graph.inputs


def _are_close(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) == len(b) and all(abs(x - y) <= _STILL for x, y in zip(a, b, strict=True))
