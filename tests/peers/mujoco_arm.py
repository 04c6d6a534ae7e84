"""The Stanford arm in MuJoCo: explicit inertias, no contacts, no limits, classic Runge-Kutta at a fixed step."""

# MuJoCo is a compiled module without type information.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from peers.stanford import CHAIN, GRAVITY, TREE_ORDER, Array, Link, paper_order

KINDS = {"revolute": "hinge", "prismatic": "slide"}


@dataclass(frozen=True, slots=True)
class MujocoArm:
    """Dynamics with arrays in the paper's order, shape (6,); `model` and `data` are MuJoCo's, in tree order."""

    model: mujoco.MjModel
    data: mujoco.MjData

    def place(self, q: Array, u: Array) -> None:
        """Set coordinates and speeds."""
        self.data.qpos[:] = q[TREE_ORDER]
        self.data.qvel[:] = u[TREE_ORDER]

    def inverse_dynamics(self, q: Array, u: Array, udot: Array) -> Array:
        """Efforts along the speeds, N m and N."""
        self.place(q, u)
        self.data.qacc[:] = udot[TREE_ORDER]
        mujoco.mj_inverse(self.model, self.data)
        return paper_order(self.data.qfrc_inverse)

    def forward_dynamics(self, q: Array, u: Array, tau: Array) -> Array:
        """u̇ in rad/s² and m/s² under the efforts `tau` along the speeds."""
        self.place(q, u)
        self.data.qfrc_applied[:] = tau[TREE_ORDER]
        mujoco.mj_forward(self.model, self.data)
        return paper_order(self.data.qacc)

    def run(self, q: Array, u: Array, steps: int) -> tuple[Array, Array]:
        """Coordinates and speeds after `steps` fixed steps without efforts, the loop over steps inside MuJoCo."""
        mujoco.mj_resetData(self.model, self.data)
        self.place(q, u)
        mujoco.mj_step(self.model, self.data, steps)
        return paper_order(self.data.qpos), paper_order(self.data.qvel)


def numbers(values: tuple[float, ...]) -> str:
    """Numbers as MJCF writes them, all digits."""
    return " ".join(repr(value) for value in values)


def body_xml(link: Link, inner: str) -> str:
    """The MJCF element of one body with its joint and inertia around what it carries."""
    return (
        f'<body name="{link.name}" pos="{numbers(link.offset)}">'
        f'<joint type="{KINDS[link.joint]}" axis="{numbers(link.axis)}"/>'
        f'<inertial pos="{numbers(link.mass_center)}" mass="{link.mass!r}" diaginertia="{numbers(link.inertia)}"/>'
        f"{inner}</body>"
    )


def mujoco_arm(step: float = 1e-3) -> MujocoArm:
    """The arm with a fixed Runge-Kutta step in s; what a simulator does beyond mechanics is switched off."""
    tree = ""
    for link in reversed(CHAIN):
        tree = body_xml(link, tree)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/>'
        f'<option integrator="RK4" timestep="{step!r}" gravity="0 {-GRAVITY!r} 0">'
        f'<flag contact="disable" constraint="disable" sensor="disable"/></option>'
        f"<worldbody>{tree}</worldbody></mujoco>"
    )
    return MujocoArm(model, mujoco.MjData(model))
