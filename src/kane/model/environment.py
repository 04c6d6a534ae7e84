"""What space does to a craft: the attraction of a point mass with its gradient, and the torque of a magnetic field.

A wheel without a body of its own (`Wheel`) takes part through the inertia of the body that carries it, so that its
angle appears nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..graph import Expr
from ..space import Frame, Point, Vector, position
from ..space.algebra import Matrix, Triple, cross, dot, minus, plus, scaled, sum_of, times
from .loads import Action, Force, Torque, point_of
from .records import Body, Wheel


@dataclass(frozen=True, slots=True)
class PointGravity:
    """Attraction of every body by a mass of gravitational parameter mu = G M (m³/s²) at a point.

    With r from that point to the mass centre of a body of mass m and central inertia I, ρ = |r|, e = r / ρ:

        V = −mu m / ρ − mu / (2 ρ³) (tr I − 3 e · I e)
        F = −∂V/∂r = −mu m / ρ² e − 3 mu / (2 ρ⁴) (tr I e + 2 I e − 5 (e · I e) e),   T = 3 mu / ρ³ e × I e

    exact to second order in size / distance. Without `gradient` the terms with I are left out, in V and in F and T, so
    that energy is conserved either way. `bodies` and `wheels` are those of the mechanism, as they are when asked.
    """

    name: str
    mu: Expr
    center: Point
    gradient: bool
    bodies: Mapping[str, Body]
    wheels: Mapping[str, Wheel]

    def _attracted(self) -> list[tuple[Point, Frame, Expr, Triple, Matrix]]:
        """(mass centre, frame, mass, r in the frame, central inertia with its wheels) of each body that has any."""
        spun = {wheel.body.name for wheel in self.wheels.values()}
        found = []
        for body in self.bodies.values():
            if body.name in spun or body.frame is None:
                continue
            inertia = body.inertia
            for wheel in self.wheels.values():
                if wheel.carrier is body:
                    e = wheel.axis
                    x, y, z = (scaled(wheel.inertia * component, e) for component in e)
                    inertia = sum_of(inertia, (x, y, z))
            if body.mass.is_zero and not (self.gradient and any(not e.is_zero for row in inertia for e in row)):
                continue
            point = point_of(body, body.center, f"{body.name}.center")
            r = position(point, self.center).express(body.frame).xyz
            found.append((point, body.frame, body.mass, r, inertia))
        return found

    def actions(self) -> tuple[Action, ...]:
        actions: list[Action] = []
        for point, frame, mass, r, inertia in self._attracted():
            square = dot(r, r)
            cube = square * square.sqrt()
            pull = scaled(self.mu * mass / cube, r)
            if self.gradient:
                turned = times(inertia, r)
                trace = inertia[0][0] + inertia[1][1] + inertia[2][2]
                along = trace - 5.0 * dot(r, turned) / square
                second = plus(scaled(along, r), scaled(2.0, turned))
                pull = plus(pull, scaled(1.5 * self.mu / (cube * square), second))
                torque = scaled(3.0 * self.mu / (cube * square), cross(r, turned))
                if any(not e.is_zero for e in torque):
                    actions.append(Torque(frame, Vector(frame, torque)))
            actions.append(Force(point, Vector(frame, scaled(-1.0, pull))))
        return tuple(actions)

    def potential(self) -> Expr | None:
        total = self.mu.graph.const(0.0)
        for _, _, mass, r, inertia in self._attracted():
            square = dot(r, r)
            distance = square.sqrt()
            total = total - self.mu * mass / distance
            if self.gradient:
                trace = inertia[0][0] + inertia[1][1] + inertia[2][2]
                spread = trace - 3.0 * dot(r, times(inertia, r)) / square
                total = total - 0.5 * self.mu / (square * distance) * spread
        return total


@dataclass(frozen=True, slots=True)
class DipoleField:
    """The field of a magnetic dipole at a point: B = (3 (k · e) e − k) / ρ³ at ρ e from it.

    `k` (T m³, components in N) is μ₀ / 4π times the dipole moment; about 7.8e15 T m³, southward, for the Earth.
    """

    k: Triple
    center: Point

    def at(self, point: Point, N: Frame) -> Vector:
        """B (T) at a point, in N."""
        r = position(point, self.center).express(N).xyz
        square = dot(r, r)
        along = scaled(3.0 * dot(self.k, r) / square, r)
        return Vector(N, scaled(1.0 / (square * square.sqrt()), minus(along, self.k)))


@dataclass(frozen=True, slots=True)
class MagneticTorque:
    """The torque m × B on a body with dipole moment m (A m², in its frame) in a field B (T).

    The field has components in `frame`, any expressions in t and positions, or is that of a dipole at the body's mass
    centre. The force that a field that is not uniform exerts on a dipole is left out: it is far below drag.
    """

    name: str
    body: Body
    moment: Triple
    field: Triple | DipoleField
    frame: Frame

    def actions(self) -> tuple[Action, ...]:
        assert self.body.frame is not None
        if isinstance(self.field, DipoleField):
            B = self.field.at(point_of(self.body, self.body.center, f"{self.name}.point"), self.frame.root)
        else:
            B = Vector(self.frame, self.field)
        return (Torque(self.body.frame, Vector(self.body.frame, cross(self.moment, B.express(self.body.frame).xyz))),)

    def potential(self) -> Expr | None:
        return None
