"""Angeles, Ma & Rojas (1989): both examples, the table of counts, and all that may act on an arm besides its drives.

Example 2 is held against Pinocchio, which reads the arm from the URDF that is written of it: its forward kinematics say
that the line is straight, its recursion says what the motion costs. Friction, loads, drives and moving bases are held
against closed forms and against Pinocchio with a free base.
"""

# Pinocchio is a compiled module without type information, in a folder that its package adds at run time.
# pyright: reportMissingImports=false

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import kane
from kane.analysis import arm_table
from kane.model import Effort, Force, JointSpring, Torque, to_urdf
from kane.planning import InverseKinematics, Line, Turn, move, travel
from peers.pinocchio_arm import pinocchio_arm

Array = np.ndarray[Any, np.dtype[np.float64]]

ROUNDING = 1e-12  # relative to the largest effort; the same mechanics, differently rounded
ON_THE_LINE = 1e-8  # m and rad; ten times what the search may leave
NAME = "thomas-tesar-arm"
TIP = "link6"
GRAVITY = 9.81


def agree(ours: Any, theirs: Any, tolerance: float = ROUNDING) -> None:
    theirs = np.asarray(theirs, dtype=float)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * max(1.0, float(np.abs(theirs).max())))


# example 1 -----------------------------------------------------------------------------------------------------------

STANFORD = (  # alpha (deg), b (m), mass (kg), mass centre (m), central moments (kg m²), in the frames of the table
    (0, -0.1, 9.0, (0, 0, -0.1), (0.01, 0.01, 0.02)),
    (90, -0.1, 6.0, (0, 0, 0), (0.05, 0.01, 0.06)),
    (90, 0.0, 4.0, (0, 0, 0), (0.4, 0.4, 0.01)),
    (180, -0.6, 1.0, (0, 0, 0.1), (0.001, 0.0005, 0.001)),
    (90, 0.0, 0.6, (0, 0.06, 0), (0.0005, 0.0002, 0.0005)),
    (-90, 0.0, 0.5, (0, 0, 0.2), (0.003, 0.001, 0.002)),
)
CHAIN = [0, 1, 5, 2, 3, 4]  # place along the chain → coordinate of [KL83]


def stanford(model: kane.Model, parent: str = "ground") -> kane.Model:
    """The Stanford arm by its table on a body of `model`; the joint of link 3 slides."""
    rows: dict[str, dict[str, Any]] = {}
    for i, (alpha, b, m, rho, moments) in enumerate(STANFORD, 1):
        inertia = dict(zip(("xx", "yy", "zz"), moments, strict=True))
        rows[f"joint{i}"] = {"a": 0, "alpha": f"{alpha}*deg", "b": b, "theta": 0}
        rows[f"joint{i}"] |= {"body": f"link{i}", "mass": m, "center": rho, "inertia": inertia}
    rows["joint3"]["type"] = "prismatic"
    model.dh("hd", rows, parent=parent)
    return model


def empty(*gravity: float) -> kane.Model:
    return kane.Model("table", gravity=gravity or (0.0, 0.0, -GRAVITY))


def test_the_stanford_arm_by_its_table_has_the_efforts_of_kane_and_levinson_for_ten_seconds() -> None:
    third = np.pi / 3
    motion = move([0, np.pi / 2, 0, 0, 0, 0], [third, third, 0.1, third, third, third], duration=10.0)
    q, u, udot = motion.at(np.linspace(0.0, 10.0, 41))
    efforts = stanford(empty()).inverse_dynamics(q, u, udot)
    back = np.argsort(CHAIN)
    built_in = kane.load("stanford-arm").inverse_dynamics(q[:, back], u[:, back], udot[:, back])
    agree(efforts, built_in[:, CHAIN])
    peer = pinocchio_arm()
    independent = [peer.inverse_dynamics(a[back], b[back], c[back])[CHAIN] for a, b, c in zip(q, u, udot, strict=True)]
    agree(efforts, independent)


def test_the_joint_law_of_the_paper_is_the_cycloid() -> None:
    """θ_i = θ_i(0) + A_i (t − sin(Bt)/B) with B = 2π/10 and A_i = π/30 [AMR89, Sec. 7.1]."""
    t = np.linspace(0.0, 10.0, 23)
    B = 2 * np.pi / 10
    state = move([0.0], [np.pi / 3], duration=10.0).at(t)
    agree(state.q[:, 0], np.pi / 30 * (t - np.sin(B * t) / B))
    agree(state.qddot[:, 0], np.pi / 30 * B * np.sin(B * t))


# example 2 -----------------------------------------------------------------------------------------------------------


class LineMotion(NamedTuple):
    """The arm along its line: times (k,), what the end effector does, and coordinates, rates and efforts (k, 6)."""

    model: kane.Model
    t: Array
    frame: Any
    q: Array
    u: Array
    udot: Array
    tau: Array


@cache
def line_motion() -> LineMotion:
    model = kane.load(NAME)
    start, _ = model.initial_state
    R, _ = model.at(TIP).pose(start)
    line = Line((1.33, 0.0, 1.80), (1.33, 0.5, 1.80), Turn(tuple(map(tuple, R.tolist()))))
    t = np.linspace(0.0, 1.0, 101)
    frame = travel(line, law="3-4-5", duration=1.0).at(t)
    search = InverseKinematics(model, TIP)
    path = search.follow(frame.poses, start)
    assert path.continuous and not path.singular
    u, udot = search.rates(path.q, frame.twist, frame.twist_rate)
    return LineMotion(model, t, frame, path.q, u, udot, model.inverse_dynamics(path.q, u, udot))


@cache
def peer_model(flying: bool = False) -> Any:
    """The arm in Pinocchio, from the URDF that is written of it."""
    root = (pin.JointModelFreeFlyer(),) if flying else ()
    return pin.buildModelFromXML(to_urdf(kane.load(NAME).mechanism), *root)


def configuration(q: Array) -> Array:
    """Pinocchio's coordinates of joints without limits: cosine and sine."""
    return np.column_stack([np.cos(q), np.sin(q)]).ravel()


def test_pinocchio_sees_the_end_effector_on_the_line_at_constant_orientation() -> None:
    motion, peer = line_motion(), peer_model()
    data = peer.createData()
    s = 10 * motion.t**3 - 15 * motion.t**4 + 6 * motion.t**5
    orientations = []
    for k, q in enumerate(motion.q):
        pin.forwardKinematics(peer, data, configuration(q), motion.u[k], motion.udot[k])
        tip = data.oMi[peer.njoints - 1]
        assert np.abs(tip.translation - [1.33, 0.5 * s[k], 1.80]).max() < ON_THE_LINE
        orientations.append(tip.rotation.copy())
        joint = peer.njoints - 1
        v = pin.getVelocity(peer, data, joint, pin.LOCAL_WORLD_ALIGNED)
        a = pin.getClassicalAcceleration(peer, data, joint, pin.LOCAL_WORLD_ALIGNED)
        agree(np.concatenate([v.angular, v.linear]), motion.frame.twist[k], ON_THE_LINE)
        agree(np.concatenate([a.angular, a.linear]), motion.frame.twist_rate[k], ON_THE_LINE)
    assert np.ptp(orientations, axis=0).max() < ON_THE_LINE


def test_the_motion_starts_and_ends_at_rest_without_acceleration() -> None:
    motion = line_motion()
    for k in (0, -1):
        assert np.abs(motion.u[k]).max() < ON_THE_LINE and np.abs(motion.udot[k]).max() < ON_THE_LINE


def test_pinocchio_gives_the_efforts_along_the_line() -> None:
    motion, peer = line_motion(), peer_model()
    data = peer.createData()
    states = zip(motion.q, motion.u, motion.udot, strict=True)
    agree(motion.tau, [pin.rnea(peer, data, configuration(q), u, udot) for q, u, udot in states])


def test_the_same_arm_through_urdf_has_the_same_efforts(tmp_path: Path) -> None:
    motion = line_motion()
    path = tmp_path / "arm.urdf"
    path.write_text(to_urdf(motion.model.mechanism), encoding="utf-8")
    agree(kane.load(path).inverse_dynamics(motion.q, motion.u, motion.udot), motion.tau)


def test_the_efforts_drive_the_arm_along_the_line() -> None:
    """Closing the circle: accelerations under these efforts are those that were asked for."""
    motion = line_motion()
    agree(motion.model.forward_dynamics(motion.q, motion.u, motion.tau), motion.udot, 1e-10)


# the table -----------------------------------------------------------------------------------------------------------


def test_the_papers_formulas_give_its_counts_for_six_axes() -> None:
    for row in arm_table().rows:
        if row.mul is not None and row.add is not None:
            assert (row.mul.at(6), row.add.at(6)) == (row.mul_six, row.add_six)


def test_a_general_arm_takes_at_most_87_multiplications_and_76_additions_per_axis() -> None:
    ours = arm_table().rows[-1]
    assert ours.source == "kane" and ours.mul is not None and ours.add is not None
    for n in range(3, 20):
        assert ours.mul.at(n) <= 87 * n and ours.add.at(n) <= 76 * n


# what else acts ------------------------------------------------------------------------------------------------------


def random_state(n: int = 6) -> tuple[Array, Array, Array]:
    q, u, udot = np.random.default_rng(3).uniform(-1, 1, (3, n))
    return q, u, udot


def test_a_base_that_accelerates_is_felt_as_gravity() -> None:
    """Eq. 51: gravity g and a base with acceleration a are gravity g − a."""
    x, y, z = acceleration = (0.4, -1.1, 2.3)
    moving = empty()
    t = moving.mechanism.names()["t"]
    moving.point("P", "O", moving.mechanism.N.vector(*(0.5 * a * t * t for a in acceleration)))
    moving.body("base", frame="N", origin="P")
    state = random_state()
    expected = stanford(empty(-x, -y, -GRAVITY - z)).inverse_dynamics(*state)
    agree(stanford(moving, "base").inverse_dynamics(*state, t=0.7), expected)


TABLE_3 = [(0, 0.0, -1.5), (90, 0.0, 0.0), (0, 1.02, 0.0), (0, 1.02, 0.0), (90, 0.2, 0.0), (90, 0.0, -0.41)]


def industrial(model: kane.Model, parent: str) -> None:
    """The arm of example 2 on a body of `model`, with the inertias of the built-in one."""
    arm, rows = kane.load(NAME), {}
    for i, (alpha, a, b) in enumerate(TABLE_3, 1):
        body = arm.bodies[f"link{i}"]
        moments = {key: arm.mechanism.number(body.inertia[k][k], key) for k, key in enumerate(("xx", "yy", "zz"))}
        center = [arm.mechanism.number(c, "center") for c in body.center]
        model.body(
            body.name, mass=arm.mechanism.number(body.mass, "mass"), center=center, inertia=moments, checked=False
        )
        rows[f"joint{i}"] = {"alpha": f"{alpha}*deg", "a": a, "b": b, "theta": 0, "body": body.name}
    model.dh("hd", rows, parent=parent)


def test_a_base_that_turns_and_accelerates_gives_the_efforts_of_a_free_base_in_that_motion() -> None:
    """Pinocchio with a free base in the pose, twist and acceleration that the base has at t; its last six efforts."""
    t, axis = 0.9, np.array([0.0, 0.6, 0.8])
    model = empty()
    time = model.mechanism.names()["t"]
    B = model.frame("B", "N", axis=axis.tolist(), angle="0.3*sin(2*t)")
    model.point("P", "O", model.mechanism.N.vector(0.2 * (3.0 * time).sin(), 0.1, 0.5 * time))
    model.body("base", frame=B, origin="P")
    industrial(model, "base")
    q, u, udot = random_state()
    angle, rate, bend = 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
    R = pin.AngleAxis(angle, axis).toRotationMatrix()
    v, a = np.array([0.6 * np.cos(3 * t), 0.0, 0.5]), np.array([-1.8 * np.sin(3 * t), 0.0, 0.0])
    w = rate * axis  # in the base as in N: the axis is common to both
    pose = np.concatenate([[0.2 * np.sin(3 * t), 0.1, 0.5 * t], pin.Quaternion(R).coeffs()])
    twist = np.concatenate([R.T @ v, w])
    twist_rate = np.concatenate([R.T @ a - np.cross(w, R.T @ v), bend * axis])
    peer = peer_model(flying=True)
    efforts = pin.rnea(
        peer,
        peer.createData(),
        np.concatenate([pose, configuration(q)]),
        np.concatenate([twist, u]),
        np.concatenate([twist_rate, udot]),
    )
    agree(model.inverse_dynamics(q, u, udot, t=t), efforts[6:])


def test_dissipative_forces_add_their_opposite() -> None:
    """τ = −φ_d + …, Eq. 29."""
    q, u, udot = random_state()
    model = kane.load(NAME)
    plain = model.inverse_dynamics(q, u, udot)
    model.load("viscous", JointSpring("joint1", damping=25.0))
    model.load("dry", Effort("joint3", "-12*sign(u3)*(1 + 0.1*q3*q3)"))
    dissipated = np.zeros(6)
    dissipated[0], dissipated[2] = -25.0 * u[0], -12.0 * np.sign(u[2]) * (1 + 0.1 * q[2] ** 2)
    agree(model.inverse_dynamics(q, u, udot), plain - dissipated)
    assert dissipated @ u < 0.0


def test_a_load_on_the_end_effector_is_carried_by_the_jacobian_of_pinocchio() -> None:
    q, u, udot = random_state()
    model, at = kane.load(NAME), np.array([0.05, -0.02, 0.3])
    plain = model.inverse_dynamics(q, u, udot)
    force, torque = np.array([30.0, -20.0, -250.0]), np.array([4.0, 5.0, -6.0])
    model.load("push", Force(TIP, force.tolist(), at=at.tolist()))
    model.load("twist", Torque(TIP, torque.tolist()))
    peer = peer_model()
    data = peer.createData()
    pin.computeJointJacobians(peer, data, configuration(q))
    J = pin.getJointJacobian(peer, data, peer.njoints - 1, pin.LOCAL_WORLD_ALIGNED)
    arm = data.oMi[peer.njoints - 1].rotation @ at
    carried = J[:3].T @ force + J[3:].T @ (torque + np.cross(arm, force))
    agree(model.inverse_dynamics(q, u, udot), plain - carried)


def test_drives_add_the_square_of_the_ratio_times_their_inertia() -> None:
    """Pinocchio calls it armature; the mass matrix has it on its diagonal."""
    q, u, udot = random_state()
    model = kane.load(NAME)
    M = model.mass_matrix(q)
    inertias, ratios = np.array([2e-3, 3e-3, 1e-3, 5e-4, 4e-4, 2e-4]), np.array([120.0, -100.0, 90.0, 80.0, 70.0, 50.0])
    for i, (inertia, ratio) in enumerate(zip(inertias, ratios, strict=True), 1):
        model.mechanism.rotor(f"motor{i}", f"joint{i}", inertia, ratio=ratio)
    peer = pin.Model(peer_model())
    peer.armature = inertias * ratios**2
    data = peer.createData()
    agree(model.inverse_dynamics(q, u, udot), pin.rnea(peer, data, configuration(q), u, udot))
    agree(model.mass_matrix(q), M + np.diag(inertias * ratios**2))
    agree(model.forward_dynamics(q, u, udot), pin.aba(peer, data, configuration(q), u, udot), 1e-10)


# identification ------------------------------------------------------------------------------------------------------

PINOCCHIO_ORDER = [0, 1, 2, 3, 4, 7, 5, 8, 9, 6]  # m h Ixx Ixy Iyy Ixz Iyz Izz ← m h Ixx Iyy Izz Ixy Ixz Iyz


def test_the_regressor_is_that_of_pinocchio() -> None:
    q, u, udot = random_state()
    Y = kane.load(NAME).regressor(q, u, udot).reshape(6, 6, 10)[:, :, PINOCCHIO_ORDER].reshape(6, 60)
    peer = peer_model()
    agree(Y, pin.computeJointTorqueRegressor(peer, peer.createData(), configuration(q), u, udot))


def test_there_are_as_many_base_parameters_as_pinocchios_regressor_has_rank_and_they_give_the_efforts() -> None:
    model, peer = kane.load(NAME), peer_model()
    data, rng = peer.createData(), np.random.default_rng(5)
    stack = []
    for _ in range(40):
        q, u, udot = rng.uniform(-3, 3, (3, 6))
        stack.append(np.array(pin.computeJointTorqueRegressor(peer, data, configuration(q), u, udot)))
    base = model.base_parameters()
    assert len(base) == np.linalg.matrix_rank(np.concatenate(stack), tol=1e-8)
    q, u, udot = random_state()
    Y = model.regressor(q, u, udot)
    agree(Y[:, base.independent] @ base.values, model.inverse_dynamics(q, u, udot), 1e-9)


@pytest.mark.parametrize("body", ["link2", "link5"])
def test_mass_on_the_axis_of_a_joint_moves_to_the_parent_without_being_felt(body: str) -> None:
    """The regressor does not see a change of inertial parameters in the null space of the base parameters."""
    model = kane.load(NAME)
    base = model.base_parameters()
    change = np.zeros(60)
    start = 10 * list(model.bodies).index(body)
    change[start : start + 10] = np.random.default_rng(8).normal(size=10)
    unfelt = change - np.linalg.pinv(base.combination) @ (base.combination @ change)
    Y = model.regressor(*random_state())
    assert np.abs(unfelt).max() > 0.1
    agree(Y @ unfelt, np.zeros(6), 1e-8)
