"""A parallelogram linkage in Pinocchio and MuJoCo, its loop closed in each one's own way, and its closed form.

Three uniform bars in a vertical plane, x to the right and y up: crank and rocker on the ground, the coupler on the
crank, the end of the coupler pinned to that of the rocker. Twice a turn all bars lie on one line. Angles in rad: the
crank's and the rocker's from x, the coupler's from the crank. While it stays a parallelogram it is one pendulum.
"""

# Both are compiled modules without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from peers.stanford import Array

GRAVITY = 9.81  # m/s²
CRANK, COUPLER, DENSITY = 0.2, 0.4, 2.0  # m, m, kg/m
START, RATE = np.pi / 3, 12.0  # rad and rad/s of the crank
DAMPING = 100.0  # 1/s, of Pinocchio's stabilisation at a step of 1 ms; found by hand: 1000 has ten times the gap
PROXIMAL = 1e-8  # of Pinocchio's proximal iteration; found by hand: 1e-6 has a thousand times the gap


def start() -> tuple[Array, Array]:
    """q (3,) and u (3,) at the beginning."""
    return np.array([START, -START, START]), np.array([RATE, -RATE, RATE])


def crank_acceleration(angle: float) -> float:
    """rad/s² of the crank: two bars that turn and one that is carried along are one pendulum."""
    inertia = DENSITY * (2 * CRANK**3 / 3 + COUPLER * CRANK**2)
    return -GRAVITY * DENSITY * CRANK * (CRANK + COUPLER) * np.cos(angle) / inertia


def energy(q: Array, u: Array) -> Array:
    """Kinetic and potential energy (J) of states (k, 3), (k, 3), open or closed."""
    over, turning = q[:, 0] + q[:, 1], u[:, 0] + u[:, 1]
    vx = -CRANK * u[:, 0] * np.sin(q[:, 0]) - COUPLER / 2 * turning * np.sin(over)
    vy = CRANK * u[:, 0] * np.cos(q[:, 0]) + COUPLER / 2 * turning * np.cos(over)
    bars = CRANK**3 / 3 * (u[:, 0] ** 2 + u[:, 2] ** 2)
    kinetic = DENSITY / 2 * (bars + COUPLER * (vx**2 + vy**2) + COUPLER**3 / 12 * turning**2)
    height = CRANK**2 / 2 * (np.sin(q[:, 0]) + np.sin(q[:, 2]))
    height = height + COUPLER * (CRANK * np.sin(q[:, 0]) + COUPLER / 2 * np.sin(over))
    return kinetic + DENSITY * GRAVITY * height


def gap(q: Array) -> Array:
    """How far apart (m) the pinned ends are in states (k, 3)."""
    over = q[:, 0] + q[:, 1]
    x = CRANK * np.cos(q[:, 0]) + COUPLER * np.cos(over) - COUPLER - CRANK * np.cos(q[:, 2])
    y = CRANK * np.sin(q[:, 0]) + COUPLER * np.sin(over) - CRANK * np.sin(q[:, 2])
    return np.hypot(x, y)


# Pinocchio -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PinocchioParallelogram:
    """The linkage with a contact of points between coupler and rocker, three rows of which the third is redundant.

    `damping` (1/s) is that of the critically damped stabilisation of gap and velocity; without it nothing holds them.
    """

    model: Any
    data: Any
    contacts: Any
    contact_data: Any
    settings: Any

    @staticmethod
    def with_damping(damping: float) -> PinocchioParallelogram:
        model = pin.Model()
        model.gravity.linear = np.array([0.0, -GRAVITY, 0.0])
        joints = []
        for name, parent, x, length in (
            ("crank", None, 0.0, CRANK),
            ("coupler", 0, CRANK, COUPLER),
            ("rocker", None, COUPLER, CRANK),
        ):
            place = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
            joint = model.addJoint(0 if parent is None else joints[parent], pin.JointModelRZ(), place, name)
            mass = DENSITY * length
            across = mass * length**2 / 12
            body = pin.Inertia(mass, np.array([length / 2, 0.0, 0.0]), np.diag([0.0, across, across]))
            model.appendBodyToJoint(joint, body, pin.SE3.Identity())
            joints.append(joint)
        ends = [pin.SE3(np.eye(3), np.array([length, 0.0, 0.0])) for length in (COUPLER, CRANK)]
        pinned = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, joints[1], ends[0], joints[2], ends[1], pin.LOCAL
        )
        pinned.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(damping**2, 2 * damping))
        contacts, contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        contacts.append(pinned)
        contact_data.append(pinned.createData())
        data = model.createData()
        pin.initConstraintDynamics(model, data, contacts, contact_data)
        return PinocchioParallelogram(model, data, contacts, contact_data, pin.ProximalSettings(1e-14, PROXIMAL, 20))

    def forward_dynamics(self, q: Array, u: Array) -> Array:
        """u̇ (3,) in rad/s²."""
        none = np.zeros(3)
        return pin.constraintDynamics(
            self.model, self.data, q, u, none, self.contacts, self.contact_data, self.settings
        )

    def run(self, step: float, steps: int) -> tuple[Array, Array]:
        """(q, u), (steps + 1, 3) each, by classic Runge-Kutta; it stops where a state is no longer a number."""
        return runge_kutta(self.forward_dynamics, step, steps)


def runge_kutta(accelerations: Callable[[Array, Array], Array], step: float, steps: int) -> tuple[Array, Array]:
    """(q, u) along a motion from the start, rows as long as they are finite."""
    states = [np.concatenate(start())]

    def rate(y: Array) -> Array:
        return np.concatenate([y[3:], accelerations(y[:3], y[3:])])

    for _ in range(steps):
        y = states[-1]
        a = rate(y)
        b = rate(y + step / 2 * a)
        c = rate(y + step / 2 * b)
        d = rate(y + step * c)
        y = y + step / 6 * (a + 2 * b + 2 * c + d)
        if not np.all(np.isfinite(y)):
            break
        states.append(y)
    motion = np.array(states)
    return motion[:, :3], motion[:, 3:]


# MuJoCo --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MujocoParallelogram:
    """The linkage with MuJoCo's equality constraint `connect`, soft as it comes, classic Runge-Kutta."""

    model: Any
    data: Any

    @staticmethod
    def with_step(step: float) -> MujocoParallelogram:
        bars = [
            bar_xml(name, x, length) for name, x, length in (("coupler", CRANK, COUPLER), ("rocker", COUPLER, CRANK))
        ]
        crank = bar_xml("crank", 0.0, CRANK, bars[0])
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian"/>'
            f'<option integrator="RK4" timestep="{step!r}" gravity="0 {-GRAVITY!r} 0">'
            f'<flag contact="disable"/></option><worldbody>{crank}{bars[1]}</worldbody>'
            f'<equality><connect body1="coupler" body2="rocker" anchor="{COUPLER!r} 0 0"/></equality></mujoco>'
        )
        return MujocoParallelogram(model, mujoco.MjData(model))

    def forward_dynamics(self, q: Array, u: Array) -> Array:
        """u̇ (3,) in rad/s²."""
        self.data.qpos[:], self.data.qvel[:] = q, u
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)

    def run(self, steps: int) -> tuple[Array, Array]:
        """(q, u), (steps + 1, 3) each."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = start()
        states = [np.concatenate([self.data.qpos, self.data.qvel])]
        for _ in range(steps):
            mujoco.mj_step(self.model, self.data)
            states.append(np.concatenate([self.data.qpos, self.data.qvel]))
        motion = np.array(states)
        return motion[:, :3], motion[:, 3:]


def bar_xml(name: str, x: float, length: float, carried: str = "") -> str:
    """The MJCF element of a bar that turns about z at x (m) of what carries it."""
    mass = DENSITY * length
    across, thin = mass * length**2 / 12, 1e-9  # an inertia of zero about its length is refused; it never turns there
    return (
        f'<body name="{name}" pos="{x!r} 0 0"><joint type="hinge" axis="0 0 1"/>'
        f'<inertial pos="{length / 2!r} 0 0" mass="{mass!r}" diaginertia="{thin!r} {across!r} {across!r}"/>'
        f"{carried}</body>"
    )
