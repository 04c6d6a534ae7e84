"""Newton's and Euler's equations of planar linkages in absolute coordinates, by numpy from the description alone.

Every body has three coordinates, every pin and guide two unknown forces; pins are differentiated twice. Nothing is
shared with the formulation but what the user said: masses, places, joints, closures.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kane import Loop, Model
from kane.analysis.programs import Array


class Plane:
    """A linkage in one state: the rows J a = right of all pins and guides, over (x, y, θ) of the bodies."""

    def __init__(self, model: Model, q: Array, u: Array, tau: Array):
        self.model, self.n = model, 3 * len(model.bodies)
        self.slots = {name: 3 * k for k, name in enumerate(model.bodies)}
        self.angle, self.rate = {"ground": 0.0}, {"ground": 0.0}
        self.rows: list[Array] = []
        self.right: list[float] = []
        self.mass, self.applied = np.zeros(self.n), np.zeros(self.n)
        for name, body in model.bodies.items():
            k, m = self.slots[name], model.mechanism.number(body.mass, "")
            self.mass[k : k + 3] = [m, m, model.mechanism.number(body.inertia[2][2], "")]
            self.applied[k : k + 2] = m * self.numbers(model.gravity)
        for joint in model.joints.values():
            i = model.coordinates.index(joint.coordinates[0].name)
            self.joined(joint, q[i], u[i], tau[i])
        for closure in model.constraints.values():
            assert closure.first is not None and closure.second is not None
            assert isinstance(closure.record, Loop)
            first, second = self.numbers(closure.record.first_at), self.numbers(closure.record.second_at)
            self.pinned(closure.first.name, first, closure.second.name, second)

    def numbers(self, triple: Any) -> Array:
        mechanism = self.model.mechanism
        return np.array([mechanism.number(mechanism.scalar(e, ""), "") for e in triple[:2]])

    def joined(self, joint: Any, x: float, v: float, effort: float) -> None:
        parent, child, axis = (
            joint.parent.name,
            joint.child.name,
            [self.model.mechanism.number(e, "") for e in joint.type.axis],
        )
        k = self.slots[child]
        if joint.type.kind == "prismatic":  # along x of the ground: a row across it, and one that keeps the body level
            assert parent == "ground" and axis[0] == 1.0
            self.angle[child], self.rate[child] = 0.0, 0.0
            self.applied[k] += effort
            self.rows.extend(np.eye(self.n)[k + 1 : k + 3])
            self.right.extend([0.0, 0.0])
            return
        sense = axis[2]
        self.angle[child], self.rate[child] = self.angle[parent] + sense * x, self.rate[parent] + sense * v
        self.applied[k + 2] += sense * effort
        if parent != "ground":
            self.applied[self.slots[parent] + 2] -= sense * effort
        self.pinned(parent, self.numbers(joint.at), child, np.zeros(2))

    def place(self, body: str, p: Array) -> tuple[Array, Array]:
        """Jacobian (2, n) of the point p of a body, and its centripetal acceleration about the mass centre (2)."""
        J = np.zeros((2, self.n))
        if body == "ground":
            return J, np.zeros(2)
        c, s = math.cos(self.angle[body]), math.sin(self.angle[body])
        arm = np.array([[c, -s], [s, c]]) @ (p - self.numbers(self.model.bodies[body].center))
        k = self.slots[body]
        J[:, k : k + 2] = np.eye(2)
        J[:, k + 2] = [-arm[1], arm[0]]
        return J, -(self.rate[body] ** 2) * arm

    def pinned(self, first: str, p: Array, second: str, r: Array) -> None:
        (J1, a1), (J2, a2) = self.place(first, p), self.place(second, r)
        self.rows.extend(J2 - J1)
        self.right.extend(a1 - a2)

    def accelerations(self) -> Array:
        """Those of all bodies (n): of the mass centre along x and y, and angular."""
        J = np.array(self.rows)
        whole = np.block([[np.diag(self.mass), -J.T], [J, np.zeros((len(J), len(J)))]])
        return np.linalg.solve(whole, np.concatenate([self.applied, self.right]))[: self.n]


def planar_accelerations(model: Model, q: Array, u: Array, tau: Array) -> Array:
    """udot of a planar linkage of revolute joints along ±z and guides along x, its closures being pins."""
    plane = Plane(model, q, u, tau)
    found, udot = plane.accelerations(), np.zeros(len(u))
    for joint in model.joints.values():
        i, k = model.coordinates.index(joint.coordinates[0].name), plane.slots[joint.child.name]
        if joint.type.kind == "prismatic":
            udot[i] = found[k]
            continue
        before = 0.0 if joint.parent.name == "ground" else found[plane.slots[joint.parent.name] + 2]
        udot[i] = (found[k + 2] - before) * model.mechanism.number(joint.type.axis[2], "")  # type: ignore[attr-defined]
    return udot
