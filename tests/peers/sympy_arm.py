"""The Stanford arm in SymPy: KanesMethod with u = q̇, numbers folded, lambdified with common subexpressions shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sm
from sympy.physics import mechanics as me

from peers.stanford import CHAIN, GRAVITY, Array


@dataclass(frozen=True, slots=True)
class SympyArm:
    """Dynamics with arrays in the paper's order, shape (6,), from M(q) and the right-hand side f(q, u), no effort."""

    mass_and_forcing: Callable[[Array, Array], tuple[Array, Array]]

    def inverse_dynamics(self, q: Array, u: Array, udot: Array) -> Array:
        """Efforts along the speeds, N m and N: M u̇ - f."""
        M, f = self.mass_and_forcing(q, u)
        return M @ udot - f.ravel()

    def forward_dynamics(self, q: Array, u: Array, tau: Array) -> Array:
        """u̇ in rad/s² and m/s² under the efforts `tau` along the speeds."""
        M, f = self.mass_and_forcing(q, u)
        return np.asarray(np.linalg.solve(M, f.ravel() + tau), dtype=np.float64)

    def mass_matrix(self, q: Array) -> Array:
        """(6, 6) mass matrix."""
        return self.mass_and_forcing(q, np.zeros(6))[0]


def sympy_arm() -> SympyArm:
    """The arm formulated by Kane's method and turned into NumPy code; takes seconds to tens of seconds."""
    q = me.dynamicsymbols("q1:7")
    u = me.dynamicsymbols("u1:7")
    N = me.ReferenceFrame("N")
    ground = me.Point("O")
    ground.set_vel(N, 0)
    frame, origin, bodies, loads = N, ground, [], []
    for link in CHAIN:
        place, speed = q[link.coordinate], u[link.coordinate]
        outer = me.ReferenceFrame(link.name)
        inner_axis = vector(frame, link.axis)
        hinge = origin.locatenew(f"{link.name}h", vector(frame, link.offset))
        hinge.v2pt_theory(origin, N, frame)
        if link.joint == "revolute":
            outer.orient_axis(frame, inner_axis, place)
            outer.set_ang_vel(frame, speed * inner_axis)
            pivot = hinge
        else:
            outer.orient_axis(frame, inner_axis, 0)
            outer.set_ang_vel(frame, 0 * inner_axis)
            pivot = hinge.locatenew(f"{link.name}o", place * inner_axis)
            pivot.set_vel(frame, speed * inner_axis)
            hinge.set_vel(frame, 0)
            pivot.v1pt_theory(hinge, N, frame)
        center = pivot.locatenew(f"{link.name}s", vector(outer, link.mass_center))
        center.v2pt_theory(pivot, N, outer)
        inertia = me.inertia(outer, *link.inertia)
        bodies.append(me.RigidBody(link.name, center, outer, link.mass, (inertia, center)))
        loads.append((center, -link.mass * GRAVITY * N.y))
        frame, origin = outer, pivot
    method = me.KanesMethod(N, q, u, kd_eqs=[a - b.diff() for a, b in zip(u, q, strict=True)])
    method.kanes_equations(bodies, loads)
    numeric = sm.lambdify((q, u), (method.mass_matrix, method.forcing), cse=True)
    return SympyArm(numeric)


def vector(frame: me.ReferenceFrame, components: tuple[float, float, float]) -> me.Vector:
    """The vector with these components along the axes of `frame`; whole numbers stay exact so that axes stay unit."""
    return me.Vector(0) + sum(
        (sm.nsimplify(c) * e for c, e in zip(components, (frame.x, frame.y, frame.z), strict=True) if c),
        start=me.Vector(0),
    )
