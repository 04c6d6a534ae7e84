"""The Whipple bicycle in SymPy, the classical way: KanesMethod with a configuration constraint and dependent speeds.

Frames and points lead from the rear contact to the front one, x forward, y to the right, z down. The axes of rear frame
and fork are along the steer axis. The rear wheel's rolling is in the velocities from the start; the front wheel's is
three velocity constraints and, once integrated, one of configuration. M and f are lambdified with common subexpressions
shared. Of the variants tried this one took the least time: parameters stay symbols (numbers from the beginning took a
quarter longer, rationals several times as long), dependent speeds are eliminated by Cramer's rule (LU took a quarter
longer), angles of wheels are left out. The derivation in SymPy's own test-suite takes as long. The parameters are those
of the benchmark bicycle [MPRS07, Tab. 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sm
from sympy.physics import mechanics as me

from peers.stanford import Array

GRAVITY = 9.81  # m/s²
WHEEL_BASE, TRAIL, TILT = 1.02, 0.08, math.pi / 10  # m, m, rad of the steer axis against the vertical
REAR_RADIUS, FRONT_RADIUS = 0.3, 0.35  # m
MASSES = {
    "R": 2.0,
    "B": 85.0,
    "H": 4.0,
    "F": 3.0,
}  # kg: rear wheel, rear frame with rider, handlebar and fork, front wheel
WHEELS = {"R": (0.0603, 0.12), "F": (0.1405, 0.28)}  # kg m², across the axle and about it
FRAMES = {"B": (9.2, 11.0, 2.8, 2.4), "H": (0.05892, 0.06, 0.00708, -0.00756)}  # kg m²: xx, yy, zz, xz, upright axes
CENTERS = {
    "B": (0.3, -0.9),
    "H": (0.9, -0.7),
    "F": (WHEEL_BASE, -FRONT_RADIUS),
}  # m: x, z from the rear contact, upright


@dataclass(frozen=True, slots=True)
class SympyBicycle:
    """Accelerations of yaw, roll, pitch, steer, rear and front wheel, in this order, from M(q, u) and f(q, u); `order`
    says where they are among SymPy's, in which dependent speeds come last."""

    mass_and_forcing: Callable[..., tuple[Array, Array]]
    parameters: tuple[float, ...]
    order: list[int]

    def forward_dynamics(self, q: Array, u: Array) -> Array:
        """u̇ (6,) in rad/s² without efforts, at a state (4,), (6,) that satisfies the constraints."""
        M, f = self.mass_and_forcing(q, u, self.parameters)
        return np.asarray(np.linalg.solve(M, f.ravel())[self.order], dtype=np.float64)


def numbers() -> dict[str, float]:
    """All parameters by name, places (m) and inertias (kg m²) along axes that are tilted with the steer axis.

    xB, zB lead from the centre of the rear wheel, as does xS to the steer axis; xH, zH and xF, zF lead from there.
    """
    s, c = math.sin(TILT), math.cos(TILT)

    def tilted(x: float, z: float) -> tuple[float, float]:
        z += REAR_RADIUS
        return c * x - s * z, s * x + c * z

    hinge = tilted(WHEEL_BASE + TRAIL, 0.0)[0]
    found = {"g": GRAVITY, "rR": REAR_RADIUS, "rF": FRONT_RADIUS, "xS": hinge}
    for name, place in CENTERS.items():
        x, z = tilted(*place)
        found |= {f"x{name}": x if name == "B" else x - hinge, f"z{name}": z}
    found |= {f"m{name}": mass for name, mass in MASSES.items()}
    for name, (across, about) in WHEELS.items():
        found |= {f"I{name}xx": across, f"I{name}yy": about}
    for name, (xx, yy, zz, xz) in FRAMES.items():
        found |= {
            f"I{name}xx": c * c * xx + s * s * zz - 2 * s * c * xz,
            f"I{name}yy": yy,
            f"I{name}zz": s * s * xx + c * c * zz + 2 * s * c * xz,
            f"I{name}xz": s * c * (xx - zz) + (c * c - s * s) * xz,
        }
    return found


def sympy_bicycle() -> SympyBicycle:
    """The bicycle formulated by Kane's method and turned into NumPy code; takes seconds."""
    values = numbers()
    p: dict[str, Any] = {name: sm.Symbol(name) for name in values}
    q = me.dynamicsymbols("yaw roll pitch steer")
    u = me.dynamicsymbols("uyaw uroll upitch usteer urear ufront")
    N, heading, lean, frame, fork, rear, front = (
        me.ReferenceFrame(name) for name in ("N", "Y", "L", "B", "H", "R", "F")
    )
    for outer, inner, axis, angle, speed in (
        (heading, N, N.z, q[0], u[0]),
        (lean, heading, heading.x, q[1], u[1]),
        (frame, lean, lean.y, q[2] + TILT, u[2]),
        (fork, frame, frame.z, q[3], u[3]),
    ):
        outer.orient_axis(inner, axis, angle)
        outer.set_ang_vel(inner, speed * axis)
    rear.set_ang_vel(frame, u[4] * frame.y)  # how far a wheel has turned matters to nothing
    front.set_ang_vel(fork, u[5] * fork.y)

    touching = me.Point("PR")
    center_R = touching.locatenew("R*", -p["rR"] * lean.z)
    center_R.set_vel(N, rear.ang_vel_in(N).cross(-p["rR"] * lean.z))
    center_B = center_R.locatenew("B*", p["xB"] * frame.x + p["zB"] * frame.z)
    center_B.v2pt_theory(center_R, N, frame)
    steer = center_R.locatenew("S", p["xS"] * frame.x)
    steer.v2pt_theory(center_R, N, frame)
    center_H = steer.locatenew("H*", p["xH"] * fork.x + p["zH"] * fork.z)
    center_H.v2pt_theory(steer, N, fork)
    center_F = steer.locatenew("F*", p["xF"] * fork.x + p["zF"] * fork.z)
    center_F.v2pt_theory(steer, N, fork)
    down = (heading.z - heading.z.dot(fork.y) * fork.y).normalize()  # in the plane of the front wheel
    ground = center_F.locatenew("PF", p["rF"] * down)
    ground.v2pt_theory(center_F, N, front)

    # a wheel is alike in all directions across its axle, so that its inertia is constant in the body that carries it
    bodies = []
    for name, center, body, axes in (
        ("R", center_R, rear, frame),
        ("B", center_B, frame, frame),
        ("H", center_H, fork, fork),
        ("F", center_F, front, fork),
    ):
        xx, yy = p[f"I{name}xx"], p[f"I{name}yy"]
        inertia = me.inertia(axes, xx, yy, p.get(f"I{name}zz", xx), izx=p.get(f"I{name}xz", 0))
        bodies.append(me.RigidBody(name, center, body, p[f"m{name}"], (inertia, center)))
    # the elimination divides by what stands first: the order is one in which yaw, pitch and front wheel are determined
    rolling = [ground.vel(N).dot(axis) for axis in (heading.y, heading.z, heading.x)]
    method = me.KanesMethod(
        N,
        q_ind=[q[0], q[1], q[3]],
        u_ind=[u[1], u[3], u[4]],
        kd_eqs=[a.diff() - b for a, b in zip(q, u, strict=False)],
        q_dependent=[q[2]],
        configuration_constraints=[ground.pos_from(touching).dot(heading.z)],
        u_dependent=[u[0], u[2], u[5]],
        velocity_constraints=rolling,
        constraint_solver="CRAMER",
    )
    method.kanes_equations(bodies, [(body.masscenter, body.mass * p["g"] * heading.z) for body in bodies])
    numeric = sm.lambdify((q, u, list(p.values())), (method.mass_matrix, method.forcing), cse=True)
    theirs = method.u.flat()
    return SympyBicycle(numeric, tuple(values.values()), [theirs.index(speed) for speed in u])
