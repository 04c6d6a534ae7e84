"""The Stanford arm in Pinocchio: recursive Newton-Euler, articulated bodies and composite bodies in C++ [FEA08]."""

# Pinocchio is a compiled module without type information, in a folder that its package adds at run time.
# pyright: reportMissingImports=false

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from peers.stanford import CHAIN, GRAVITY, TREE_ORDER, Array, Link, paper_order

JOINTS = {
    ("revolute", (1.0, 0.0, 0.0)): pin.JointModelRX,
    ("revolute", (0.0, 1.0, 0.0)): pin.JointModelRY,
    ("prismatic", (0.0, 1.0, 0.0)): pin.JointModelPY,
}


@dataclass(frozen=True, slots=True)
class PinocchioArm:
    """Dynamics with arrays in the paper's order, shape (6,); `model` and `data` are Pinocchio's, in tree order."""

    model: pin.Model
    data: pin.Data

    def inverse_dynamics(self, q: Array, u: Array, udot: Array) -> Array:
        """Efforts along the speeds, N m and N."""
        return paper_order(pin.rnea(self.model, self.data, q[TREE_ORDER], u[TREE_ORDER], udot[TREE_ORDER]))

    def forward_dynamics(self, q: Array, u: Array, tau: Array) -> Array:
        """u̇ in rad/s² and m/s² under the efforts `tau` along the speeds."""
        return paper_order(pin.aba(self.model, self.data, q[TREE_ORDER], u[TREE_ORDER], tau[TREE_ORDER]))

    def mass_matrix(self, q: Array) -> Array:
        """(6, 6) mass matrix."""
        M = np.empty((6, 6))
        M[np.ix_(TREE_ORDER, TREE_ORDER)] = np.array(pin.crba(self.model, self.data, q[TREE_ORDER]))
        return M


def add_link(model: pin.Model, parent: int, link: Link) -> int:
    """The index of the joint that now carries `link` on joint `parent`."""
    placement = pin.SE3(np.eye(3), np.array(link.offset))
    joint = model.addJoint(parent, JOINTS[link.joint, link.axis](), placement, link.name)
    body = pin.Inertia(link.mass, np.array(link.mass_center), np.diag(link.inertia))
    model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return joint


def pinocchio_arm() -> PinocchioArm:
    """The arm, built joint by joint from the plain data."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -GRAVITY, 0.0])
    joint = 0
    for link in CHAIN:
        joint = add_link(model, joint, link)
    return PinocchioArm(model, model.createData())
