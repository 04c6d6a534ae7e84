"""What space does to a craft: the attraction of a point mass with its gradient, and the torque of a magnetic field.

A wheel without a body of its own (`ReactionWheel`) takes part through the inertia of the body that carries it, so that
its angle appears nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...graph import Expr, reachable
from ...graph.rules import INPUT
from ...space import Frame, Point, Vector, position
from ...space.algebra import Matrix, Triple, cross, dot, minus, plus, scaled, sum_of, times
from ..fields import BodyName, Components, Flag, FrameName, PointName, Scalar
from ..records import Body
from .actions import Action, ForceAction, TorqueAction, point_of

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class PointGravity:
    """Attraction of every body by a mass of gravitational parameter `mu` = G M (m³/s²) at the point `center`.

    With r from that point to the mass centre of a body of mass m and central inertia I, ρ = |r|, e = r / ρ:

        V = −mu m / ρ − mu / (2 ρ³) (tr I − 3 e · I e)
        F = −∂V/∂r = −mu m / ρ² e − 3 mu / (2 ρ⁴) (tr I e + 2 I e − 5 (e · I e) e),   T = 3 mu / ρ³ e × I e

    exact to second order in size / distance. Without `gradient` the terms with I are left out, in V and in F and T, so
    that energy is conserved either way. The attracting point is fixed in N or moves as a function of t: there is no
    reaction. Bodies and wheels are those of the mechanism when equations are formulated. A body whose mass centre is at
    the attracting point in every configuration, the attracting body itself for instance, is not attracted.

    >>> m = kane.Model("moon")
    >>> moon = m.body("moon", mass=7.3e22)
    >>> base = m.joint("base", "free", "ground", "moon", initial=[1, 0, 0, 0, 3.84e8, 0, 0])
    >>> built = m.load("earth", kane.PointGravity(3.986e14))
    >>> round(float(np.linalg.norm(m.external_loads(*m.initial_state).force)) / m.mass, 6)
    0.002703
    """

    mu: Scalar
    _: KW_ONLY
    center: PointName = "O"
    gradient: Flag = True
    kind = "point_gravity"

    def check(self, build: Builder) -> None:
        build.constant(self.mu, "mu")
        _check_unmoved(build, build.point(self.center, "center"))

    def _attracted_bodies(self, build: Builder) -> list[tuple[Point, Frame, Expr, Triple, Matrix]]:
        """(mass centre, frame, mass, r in the frame, central inertia with its wheels) of each body that has any."""
        wheels, center = build.mechanism.reaction_wheels, build.point(self.center, "center")
        spun = {wheel.body.name for wheel in wheels.values()}
        found: list[tuple[Point, Frame, Expr, Triple, Matrix]] = []
        for body in build.mechanism.bodies.values():
            if body.name in spun or body.frame is None:
                continue
            inertia = body.inertia
            for wheel in wheels.values():
                if wheel.carrier is body:
                    e = wheel.axis
                    x, y, z = (scaled(wheel.inertia * component, e) for component in e)
                    inertia = sum_of(inertia, (x, y, z))
            if body.mass.is_zero and not (self.gradient and any(not e.is_zero for row in inertia for e in row)):
                continue
            point = point_of(body, body.center, f"{body.name}.center")
            r = position(point, center).express(body.frame).xyz
            if all(x.is_zero for x in r):
                continue
            found.append((point, body.frame, body.mass, r, inertia))
        return found

    def actions(self, build: Builder) -> tuple[Action, ...]:
        mu = build.scalar(self.mu)
        actions: list[Action] = []
        for point, frame, mass, r, inertia in self._attracted_bodies(build):
            square = dot(r, r)
            cube = square * square.sqrt()
            pull = scaled(mu * mass / cube, r)
            if self.gradient:
                turned = times(inertia, r)
                trace = inertia[0][0] + inertia[1][1] + inertia[2][2]
                along = trace - 5.0 * dot(r, turned) / square
                second = plus(scaled(along, r), scaled(2.0, turned))
                pull = plus(pull, scaled(1.5 * mu / (cube * square), second))
                torque = scaled(3.0 * mu / (cube * square), cross(r, turned))
                if any(not e.is_zero for e in torque):
                    actions.append(TorqueAction(frame, Vector(frame, torque)))
            actions.append(ForceAction(point, Vector(frame, scaled(-1.0, pull))))
        return tuple(actions)

    def potential(self, build: Builder) -> Expr | None:
        mu, total = build.scalar(self.mu), build.graph.const(0.0)
        for _, _, mass, r, inertia in self._attracted_bodies(build):
            square = dot(r, r)
            distance = square.sqrt()
            total = total - mu * mass / distance
            if self.gradient:
                trace = inertia[0][0] + inertia[1][1] + inertia[2][2]
                spread = trace - 3.0 * dot(r, times(inertia, r)) / square
                total = total - 0.5 * mu / (square * distance) * spread
        return total


@dataclass(frozen=True, slots=True)
class MagneticTorque:
    """The torque m × B on a body of dipole `moment` m (A m², components in its frame, any expressions).

    `field` B (T) has components in `frame`, any expressions in t and positions; or `dipole` k (T m³, components in N)
    at `center` makes it: B = (3 (k · e) e − k) / ρ³ at ρ e from it, at the body's mass centre. k is μ₀ / 4π times the
    dipole moment; about 7.8e15 T m³, southward, for the Earth. The force that a field that is not uniform exerts on a
    dipole is left out: it is far below drag.

    >>> m = kane.load("free-body")
    >>> built = m.load("load", kane.MagneticTorque("body", (0, 0, 2), field=(3e-5, 0, 0)))
    >>> m.external_loads(*m.initial_state).moment.tolist()
    [0.0, 6e-05, 0.0]
    """

    body: BodyName
    moment: Components
    _: KW_ONLY
    field: Components | None = None
    dipole: Components | None = None
    center: PointName = "O"
    frame: FrameName = "N"
    kind = "magnetic_torque"

    def check(self, build: Builder) -> None:
        if (self.field is None) == (self.dipole is None):
            what = "both field and dipole are given" if self.field is not None else "neither field nor dipole is given"
            raise build.refuse(what, fix="give the field, or the dipole that makes it")
        if self.dipole is not None:
            _check_unmoved(build, build.point(self.center, "center"))

    def actions(self, build: Builder) -> tuple[Action, ...]:
        body = build.body(self.body)
        assert body.frame is not None
        if self.dipole is not None:
            field = self._dipole_field(build, body, build.triple(self.dipole, "dipole"))
        else:
            field = Vector(build.frame(self.frame, "frame"), build.triple(self.field or (), "field"))
        torque = cross(build.triple(self.moment, "moment"), field.express(body.frame).xyz)
        return (TorqueAction(body.frame, Vector(body.frame, torque)),)

    def _dipole_field(self, build: Builder, body: Body, k: Triple) -> Vector:
        """B (T) of the dipole at the body's mass centre, in N."""
        point = point_of(body, body.center, f"{build.name}.point")
        N = build.mechanism.N
        r = position(point, build.point(self.center, "center")).express(N).xyz
        square = dot(r, r)
        along = scaled(3.0 * dot(k, r) / square, r)
        return Vector(N, scaled(1.0 / (square * square.sqrt()), minus(along, k)))

    def potential(self, build: Builder) -> Expr | None:
        return None


def _check_unmoved(build: Builder, point: Point) -> None:
    """Refuse a point whose place depends on more than t and parameters."""
    place: Sequence[Expr] = position(point, build.mechanism.O).express(build.mechanism.N).xyz
    known = {build.time.id, *(p.symbol.id for p in build.mechanism.parameters.values())}
    for node in reachable(build.graph, (e.id for e in place)):
        if build.graph.ops[node] == INPUT and node not in known:
            raise build.refuse(
                f"the place of '{point.name}' depends on '{build.graph.args[node][0]}'",
                "no reaction acts on the attracting point, so its position is a function of t alone",
                "name a point fixed in N, or write forces with their reactions",
                "center",
            )
