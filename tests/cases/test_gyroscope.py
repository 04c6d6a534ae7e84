"""A gyroscope at the analyst's level, as Kane does it: ω of the rotor is set directly to the speeds.

The same gyroscope built of bodies and joints, with u_i = ω · b_i defined as speeds, has the same equations; so has one
whose frames are declared and whose velocities are derived.
"""

from __future__ import annotations

import numpy as np
import pytest

from kane import Model
from kane.analysis import check

ROUNDING = 1e-11
INERTIA = {"xx": 0.3, "yy": 0.5, "zz": 0.6, "xy": 0.02}
CENTER = [0.1, -0.2, 0.4]
SPEEDS = {"u1": "w.B.x", "u2": "w.B.y", "u3": "w.B.z"}
ANGLES = [0.3, 0.9, -0.4]
NAMES = ["q1", "q2", "q3"]


def by_joints() -> Model:
    model = Model("gyroscope", gravity=[0, 0, -9.81])
    model.body("B", mass=1.7, center=CENTER, inertia=INERTIA)
    model.joint("tip", "gimbal", "ground", "B", sequence="body 312", coordinates=NAMES, initial=ANGLES)
    model.set_speeds(SPEEDS)
    return model


def by_frames(set_velocities: bool) -> Model:
    model = Model("gyroscope", gravity=[0, 0, -9.81])
    for name, angle in zip(NAMES, ANGLES, strict=True):
        model.coordinate(name, angle)
    B = model.frame("B", "N", euler="body 312", angles=NAMES)
    model.set_speeds(SPEEDS)
    u1, u2, u3 = (model.mechanism.names()[u] for u in SPEEDS)
    P = model.point("P", "O", B.vector(*CENTER))
    if set_velocities:
        w = B.vector(u1, u2, u3)
        B.set_angular_velocity(w)
        P.set_velocity(w.cross(B.vector(*CENTER)))
    model.body("rotor", mass=1.7, inertia=INERTIA, frame=B, origin=P)
    return model


@pytest.mark.parametrize("set_velocities", [False, True], ids=["derived", "set"])
def test_frames_and_joints_give_the_same_equations(set_velocities: bool) -> None:
    joints, frames = by_joints(), by_frames(set_velocities)
    rng = np.random.default_rng(6)
    q = np.array(ANGLES) + rng.uniform(-0.4, 0.4, (20, 3))
    u, x = rng.normal(size=(2, 20, 3))
    for ask in ("inverse_dynamics", "forward_dynamics"):
        here, there = getattr(frames, ask)(q, u, x), getattr(joints, ask)(q, u, x)
        assert np.allclose(here, there, rtol=ROUNDING, atol=ROUNDING * 10)
    assert np.allclose(frames.qdot(q, u), joints.qdot(q, u), rtol=ROUNDING, atol=ROUNDING)
    assert np.allclose(frames.mass_matrix(q), joints.mass_matrix(q), atol=ROUNDING)


@pytest.mark.parametrize("set_velocities", [False, True], ids=["derived", "set"])
def test_every_law_holds_at_the_analysts_level(set_velocities: bool) -> None:
    report = check(by_frames(set_velocities).mechanism, backend="numpy")
    assert report.passed, str(report)


def test_eulers_equations_come_out() -> None:
    """About the fixed point: I u̇ + u × I u = moment of the weight, components in the body."""
    model = by_joints()
    c, m = np.array(CENTER), 1.7
    I = np.diag([0.3, 0.5, 0.6]) + np.array([[0, 0.02, 0], [0.02, 0, 0], [0, 0, 0]])
    I = I + m * (c @ c * np.eye(3) - np.outer(c, c))
    q, u, udot = np.array(ANGLES), np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.7])
    R = model.poses(q)[0, :9].reshape(3, 3)
    tau = I @ udot + np.cross(u, I @ u) - np.cross(c, m * R.T @ [0, 0, -9.81])
    assert np.allclose(model.inverse_dynamics(q, u, udot), tau, rtol=ROUNDING, atol=ROUNDING)


def test_a_joint_carries_on_from_an_analysts_body() -> None:
    """Both levels in one model: a rotor on an axle that is declared by frames, and all of it by joints."""
    mixed, joints = Model("mixed", gravity=[0, -9.81, 0]), Model("joints", gravity=[0, -9.81, 0])
    mixed.coordinate("q1", 0.2, speed="u1")
    A = mixed.frame("A", "N", axis="z", angle="q1")
    arm = {"mass": 2.0, "center": [0.3, 0.0, 0.0], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.2}}
    mixed.body("arm", **arm, frame=A, origin="O")
    joints.body("arm", **arm)
    joints.joint("hinge", "revolute", "ground", "arm", axis="z", coordinates=["q1"], speeds=["u1"])
    for model in (mixed, joints):
        model.body("rotor", mass=1.0, center=[0.0, 0.1, 0.2], inertia=INERTIA)
        model.joint("axle", "revolute", "arm", "rotor", axis="x", at=[0.6, 0.0, 0.1], coordinates=["q2"], speeds=["u2"])
    rng = np.random.default_rng(7)
    q, u, x = rng.normal(size=(3, 20, 2))
    for ask in ("inverse_dynamics", "forward_dynamics"):
        assert np.allclose(getattr(mixed, ask)(q, u, x), getattr(joints, ask)(q, u, x), rtol=ROUNDING, atol=ROUNDING)
