"""Joints that move as told, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.model import read_mechanism, write_mechanism

ROUNDING = 1e-12  # a few hundred operations in float64


def driven_pendulum() -> kane.Model:
    """A point mass on a massless rod of 0.5 m whose pivot goes up and down as A cos(om t)."""
    m = kane.Model("driven-pendulum", gravity=(0, 0, -9.81))
    m.parameter("A", 0.1)
    m.parameter("om", 7.0)
    m.body("pivot")
    m.joint("drive", "prismatic", "ground", "pivot", axis="z", prescribed=["A*cos(om*t)"])
    m.body("bob", mass=2, center=(0, 0, -0.5))
    m.joint("hinge", "revolute", "pivot", "bob", axis="y")
    return m


@pytest.mark.parametrize("t", [0.0, 0.3, 1.1])
def test_a_pendulum_on_a_driven_pivot_feels_another_gravity(t: float) -> None:
    m = driven_pendulum()
    gravity = 9.81 - 0.1 * 49.0 * np.cos(7.0 * t)
    expected = -gravity / 0.5 * np.sin(0.4)
    assert m.forward_dynamics([0.4], [1.0], [0.0], t=t)[0] == pytest.approx(expected, rel=ROUNDING)


def test_joints_of_every_motion_can_be_told() -> None:
    m = kane.Model("told", gravity=(0, 0, -9.81))
    parent = "ground"
    told = {
        "revolute": ["0.3*sin(t)"],
        "cylindrical": ["t", "0.2*t**2"],
        "gimbal": ["0.3*sin(t)", "0.4 + 0.2*t", "t**2/10"],
        "planar": ["t", "sin(t)", "0.1*t"],
        "spherical": ["cos(t/2)", 0, "sin(t/2)", 0],
        "free": ["cos(t/2)", 0, 0, "sin(t/2)", "t", 0, "t**2"],
    }
    for kind, functions in told.items():
        m.body(f"{kind}-driven", mass=1, center=(0.1, 0.2, 0.3), inertia={"xx": 0.1, "yy": 0.1, "zz": 0.15})
        m.joint(kind, kind, parent, f"{kind}-driven", at=(0.1, 0, 0.2), prescribed=functions)
        m.body(f"{kind}-leaf", mass=1, center=(0.3, 0, 0), inertia={"xx": 0.1, "yy": 0.2, "zz": 0.15})
        m.joint(f"{kind}-hinge", "revolute", f"{kind}-driven", f"{kind}-leaf", axis="y")
        parent = f"{kind}-leaf"
    report = m.check(samples=2)
    assert report.passed, str(report)


def test_a_locked_joint_is_a_weld() -> None:
    models = []
    for locked in (True, False):
        m = kane.Model("lock", gravity=(0, 0, -9.81))
        m.body("arm", mass=1, center=(0.5, 0, 0), inertia={"yy": 0.1, "zz": 0.1})
        m.joint("shoulder", "revolute", "ground", "arm", axis="y", coordinates=["q"], speeds=["u"])
        m.body("hand", mass=2, center=(0.2, 0.1, 0), inertia={"xx": 0.2, "yy": 0.2, "zz": 0.1})
        turned = {"axis": "z", "angle": 0.7}
        if locked:
            m.joint("wrist", "revolute", "arm", "hand", axis="z", at=(1, 0, 0), prescribed=[0.7])
        else:
            m.joint("wrist", "weld", "arm", "hand", at=(1, 0, 0), rotation=turned)
        models.append(m)
    state = [0.3], [1.1], [0.7]
    assert models[0].inverse_dynamics(*state)[0] == pytest.approx(models[1].inverse_dynamics(*state)[0], rel=ROUNDING)


def test_a_told_motion_survives_the_file() -> None:
    text = write_mechanism(driven_pendulum().mechanism)
    assert "prescribed: [A*cos(om*t)]" in text
    assert write_mechanism(read_mechanism(text, "driven.yaml")) == text


def test_a_told_motion_depends_on_time_and_parameters_only() -> None:
    m = driven_pendulum()
    m.body("tip")
    with pytest.raises(kane.ModelError, match="joint 'x' / prescribed: it depends on 'q_hinge'"):
        m.joint("x", "revolute", "bob", "tip", prescribed=["q_hinge"])
    with pytest.raises(kane.ModelError, match="a gimbal joint has 3 coordinates"):
        m.joint("x", "gimbal", "bob", "tip", prescribed=["t"])


@pytest.mark.parametrize("t", [0.0, 0.3, 1.1])
def test_a_damper_to_a_driven_point_feels_how_fast_that_point_moves(t: float) -> None:
    """A mass at (x, 0), a damper to the point (0, s(t)): with L² = x² + s², m ẍ = −c L̇ x / L, L̇ = (x ẋ + s ṡ) / L."""
    m = kane.Model("dashpot")
    m.body("cart", mass=2.0)
    m.joint("slide", "prismatic", "ground", "cart", axis="x", coordinates=["x"])
    m.body("pin")
    m.joint("drive", "prismatic", "ground", "pin", axis="y", prescribed=["0.5 + 0.2*sin(3*t)"])
    m.load("dashpot", kane.Spring("pin", "cart", damping=5.0))
    x, v = 0.7, -0.4
    s, rate = 0.5 + 0.2 * np.sin(3 * t), 0.6 * np.cos(3 * t)
    length = np.hypot(x, s)
    expected = -5.0 * (x * v + s * rate) / length * x / length / 2.0
    assert m.forward_dynamics([x], [v], [0.0], t=t)[0] == pytest.approx(expected, rel=ROUNDING)
    assert m.check(samples=2).passed


def test_a_spindle_that_turns_a_hoop_does_the_work_that_the_balance_misses() -> None:
    """A bead on a hoop: T + V − w H is constant, H = m R² w sin²θ about the spindle; the spindle does w ΔH."""
    m = kane.Model("hoop", gravity=(0, 0, -9.81))
    R, mass, w = 0.5, 0.2, 6.0
    m.body("hoop", mass=0.0)
    m.particle("bead", mass, center=(0, 0, -R))
    m.joint("spindle", "revolute", "ground", "hoop", axis="z", prescribed=[f"{w}*t"])
    m.joint("wire", "revolute", "hoop", "bead", axis="-y", coordinates=["theta"], speeds=["u"])
    run = m.simulate(5.0, q=[0.1], rtol=1e-11)
    found = run.balance()
    assert found.driven and found.error > 1.0
    done = mass * R**2 * w**2 * np.sin(run["theta"]) ** 2
    np.testing.assert_allclose(np.ptp(found.total - done), 0.0, atol=1e-8)
    assert not kane.load("double-pendulum").simulate(1.0).balance().driven
    assert not kane.load("whipple-bicycle").simulate(0.5).balance().driven
