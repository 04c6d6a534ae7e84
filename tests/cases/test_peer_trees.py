"""Random trees against Pinocchio and MuJoCo, each built from the plain numbers of the plan.

Pinocchio: quaternions are xyzw, the speeds of a free joint are velocity, then ω, both in the body. MuJoCo: quaternions
are wxyz, ω of a ball joint is in the body.
"""

# Both are compiled modules without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from kane.analysis.check import random_states
from kane.analysis.programs import Array
from kane.formulation.dense import dense_equations
from laws.trees import Plan, build, planned
from seeds import generator

AGREEMENT = 1e-10  # relative to the largest effort or acceleration, two float64 codes
KINDS = ("revolute", "prismatic", "spherical", "free")
SEEDS = range(4)


def tree(seed: int, kinds: tuple[str, ...]) -> Plan:
    """Six bodies, all mounts and axes at random, no loads but gravity."""
    rng = generator(seed)
    chosen = [kinds[int(k)] for k in rng.integers(len(kinds), size=6)]
    plan = planned(rng, chosen, [None] * 6, ["any"] * 6, [])
    bodies = [replace(b, options={"velocity": "body"}) if b.kind == "free" else b for b in plan.bodies]
    return replace(plan, bodies=tuple(bodies), free=frozenset())


def pinocchio_tree(plan: Plan) -> pin.Model:
    model = pin.Model()
    model.gravity.linear = plan.gravity
    from_joint = []
    for k, b in enumerate(plan.bodies):
        kinds = {"spherical": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}
        if b.kind in kinds:
            joint = kinds[b.kind]()
        else:
            unaligned = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
            joint = unaligned[b.kind](np.array(b.options["axis"]))
        place = pin.SE3(b.R_P, b.at)
        if b.parent >= 0:
            place = from_joint[b.parent][1] * place
        index = model.addJoint(0 if b.parent < 0 else from_joint[b.parent][0], joint, place, f"j{k}")
        to_body = pin.SE3(b.R_C.T, -b.R_C.T @ b.child_at)
        model.appendBodyToJoint(index, pin.Inertia(b.mass, b.center, b.inertia), to_body)
        from_joint.append((index, to_body))
    return model


def to_pinocchio(plan: Plan, q: Array, u: Array) -> tuple[Array, Array]:
    """q and speeds (or accelerations, or efforts) in Pinocchio's order."""
    places, speeds = [], []
    q, u = q.copy(), u.copy()
    for b in plan.bodies:
        n_q, n_u = {"spherical": (4, 3), "free": (7, 6)}.get(b.kind, (1, 1))
        mine, own, q, u = q[:n_q], u[:n_u], q[n_q:], u[n_u:]
        if b.kind in ("spherical", "free"):
            mine = np.concatenate([mine[4:], mine[1:4], mine[:1]])
            own = np.concatenate([own[3:], own[:3]])
        places.append(mine)
        speeds.append(own)
    return np.concatenate(places), np.concatenate(speeds)


@pytest.mark.parametrize("seed", SEEDS)
def test_dynamics_are_those_of_pinocchio(seed: int) -> None:
    plan = tree(seed, KINDS)
    model, peer = build(plan), pinocchio_tree(plan)
    data = peer.createData()
    states = random_states(dense_equations(model.mechanism), 5, seed)
    tau = model.inverse_dynamics(states.q, states.u, states.udot)
    udot = model.forward_dynamics(states.q, states.u, states.tau)
    for k in range(len(states)):
        q, u = to_pinocchio(plan, states.q[k], states.u[k])
        there = pin.rnea(peer, data, q, u, to_pinocchio(plan, states.q[k], states.udot[k])[1])
        here = to_pinocchio(plan, states.q[k], tau[k])[1]
        assert np.abs(here - there).max() <= AGREEMENT * np.abs(there).max()
        there = pin.aba(peer, data, q, u, to_pinocchio(plan, states.q[k], states.tau[k])[1])
        here = to_pinocchio(plan, states.q[k], udot[k])[1]
        assert np.abs(here - there).max() <= AGREEMENT * np.abs(there).max()


def numbers(values: Array) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def quaternion(R: Array) -> Array:
    wxyz = np.empty(4)
    mujoco.mju_mat2Quat(wxyz, R.ravel())
    return wxyz


def mujoco_tree(plan: Plan) -> mujoco.MjModel:
    """The tree with joint axes and places in the child, which is at rest in the joint's frame turned by R_P."""
    kinds = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}
    texts = [""] * len(plan.bodies)
    for k in reversed(range(len(plan.bodies))):
        b = plan.bodies[k]
        axis = f'axis="{numbers(np.array(b.options["axis"]))}"' if "axis" in b.options else ""
        full = [b.inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        text = (
            f'<body pos="{numbers(b.at - b.R_P @ b.child_at)}" quat="{numbers(quaternion(b.R_P))}">'
            f'<joint type="{kinds[b.kind]}" pos="{numbers(b.child_at)}" {axis}/>'
            f'<inertial pos="{numbers(b.center)}" mass="{b.mass!r}" fullinertia="{numbers(np.array(full))}"/>'
            f"{texts[k]}</body>"
        )
        if b.parent >= 0:
            texts[b.parent] = text + texts[b.parent]
        else:
            texts[k] = text
    roots = "".join(texts[k] for k, b in enumerate(plan.bodies) if b.parent < 0)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{numbers(plan.gravity)}">'
        f'<flag contact="disable" constraint="disable"/></option><worldbody>{roots}</worldbody></mujoco>'
    )


def chain(seed: int) -> Plan:
    """A chain, so that MuJoCo's order is ours, with the child's joint frame along its axes."""
    plan = tree(seed, KINDS[:3])
    bodies = [replace(b, parent=k - 1, R_C=np.eye(3)) for k, b in enumerate(plan.bodies)]
    return replace(plan, bodies=tuple(bodies))


@pytest.mark.parametrize("seed", SEEDS)
def test_dynamics_are_those_of_mujoco(seed: int) -> None:
    plan = chain(seed)
    model, peer = build(plan), mujoco_tree(plan)
    data = mujoco.MjData(peer)
    states = random_states(dense_equations(model.mechanism), 5, seed)
    tau = model.inverse_dynamics(states.q, states.u, states.udot)
    for k in range(len(states)):
        data.qpos[:], data.qvel[:], data.qacc[:] = states.q[k], states.u[k], states.udot[k]
        mujoco.mj_inverse(peer, data)
        assert np.abs(tau[k] - data.qfrc_inverse).max() <= AGREEMENT * np.abs(tau[k]).max()
