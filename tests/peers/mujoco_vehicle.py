"""The mobile manipulator of Tanner & Kyriakopoulos in MuJoCo: a free platform on wheels that touch by soft contact.

Wheels are spheres, which touch below their middle as upright wheels do. Friction is ample and its cone elliptic;
contacts are as stiff as the step allows, the time constant of `solref` being twice the step.
"""

# MuJoCo is a compiled module without type information.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

RADIUS, WHEEL = 0.15, 2.0  # m, kg
NO_MASS = 1e-9  # kg, kg m²: of a fork, which MuJoCo wants to have some
SPIN = 0.5 * WHEEL * RADIUS**2


def wheel_xml(name: str, place: str) -> str:
    """A wheel on its axle."""
    return (
        f'<body pos="{place}"><joint name="{name}" type="hinge" axis="0 1 0"/>'
        f'<inertial pos="0 0 0" mass="{WHEEL}" diaginertia="{SPIN / 2} {SPIN} {SPIN / 2}"/>'
        f'<geom type="sphere" size="{RADIUS}" contype="1" conaffinity="0"/></body>'
    )


def vehicle_xml(step: float) -> str:
    """The whole vehicle, at a fixed step (s)."""
    return f"""<mujoco><compiler angle="radian"/>
<option integrator="Euler" timestep="{step!r}" gravity="0 0 -9.81" cone="elliptic" tolerance="1e-12" iterations="100"/>
<worldbody><geom type="plane" size="0 0 1" contype="0" conaffinity="1" condim="3" priority="1" friction="2 0 0"
 solref="{2 * step!r} 1" solimp="0.999 0.9999 0.0001"/>
<body pos="0 0 {RADIUS}"><freejoint/><inertial pos="0 0 0" mass="40" diaginertia="1.667 1.667 3.02"/>
<body pos="0.3 0 0"><joint name="phi" type="hinge" axis="0 0 1"/>
<inertial pos="0 0 0" mass="{NO_MASS}" diaginertia="{NO_MASS} {NO_MASS} {NO_MASS}"/>{wheel_xml("s0", "0 0 0")}</body>
{wheel_xml("s1", "-0.3 0.3 0")}{wheel_xml("s2", "-0.3 -0.3 0")}
<body><inertial pos="0 0 0" mass="5" diaginertia="0.08 0.08 0.156"/><body><joint name="q1" type="hinge" axis="0 0 1"/>
<inertial pos="0.25 0 0.1505" mass="10" diaginertia="1.759 2.035 2.073"/>
<body pos="1.05 0 0.1505"><joint name="q2" type="hinge" axis="0 0 1"/>
<inertial pos="0.4 0 0" mass="5" diaginertia="{NO_MASS} 0.267 0.267"/></body></body></body>
</body></worldbody></mujoco>"""


@dataclass(frozen=True, slots=True)
class MujocoVehicle:
    """The vehicle with its step; states are mappings of the paper's names, x, y, theta, phi, q1, q2, s0, s1, s2."""

    model: Any
    data: Any

    @classmethod
    def with_step(cls, step: float) -> MujocoVehicle:
        model = mujoco.MjModel.from_xml_string(vehicle_xml(step))
        return cls(model, mujoco.MjData(model))

    def run(self, q: Mapping[str, float], rates: Mapping[str, float], duration: float) -> tuple[float, float]:
        """x and y (m) of the platform after a time (s), from coordinates and their rates."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        half = q["theta"] / 2
        data.qpos[:7] = [q["x"], q["y"], RADIUS, np.cos(half), 0.0, 0.0, np.sin(half)]
        data.qvel[:6] = [rates["x"], rates["y"], 0.0, 0.0, 0.0, rates["theta"]]
        for name in ("phi", "q1", "q2", "s0", "s1", "s2"):
            data.qpos[model.joint(name).qposadr[0]] = q[name]
            data.qvel[model.joint(name).dofadr[0]] = rates[name]
        mujoco.mj_step(model, data, round(duration / model.opt.timestep))
        return float(data.qpos[0]), float(data.qpos[1])
