"""The examples of a paper: a disk on a ramp, a spherical wrist, a shopping cart whose caster sticks [GIL03]."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kane
from kane.model import Force, MotionEquations, Torque

RNG = np.random.default_rng(3)


def disk(slope: float = 0.3, m: float = 2.0, r: float = 0.25, J: float = 0.07) -> kane.Model:
    """Example 1: q1 along the ramp, q2 the angle; u1 = q1', u2 = r q2'."""
    model = kane.Model("disk on a ramp", gravity=(-9.81 * math.sin(slope), -9.81 * math.cos(slope), 0))
    model.body("slider")
    model.body("disk", mass=m, inertia={"xx": J / 2, "yy": J / 2, "zz": J})
    model.joint("along", "prismatic", "ground", "slider", axis="x", at=(0, r, 0), coordinates=["q1"])
    model.joint("spin", "revolute", "slider", "disk", axis="z", coordinates=["q2"])
    model.set_speeds({"u1": "q1'", "u2": f"{r}*q2'"})
    return model


def test_the_rolling_disk() -> None:
    """Eq. 42: −m g sin φ − (m + J/r²) u̇1 = 0, and the friction that holds it: F = −(J/r²) u̇2 along the ramp."""
    m, r, J, slope = 2.0, 0.25, 0.07, 0.3
    model = disk(slope, m, r, J)
    model.constrain("rolling", MotionEquations("u1 + u2 = 0"))
    udot = model.forward_dynamics([0.4, 1.0], [0.5, -0.5], [0.0, 0.0])
    expected = -m * 9.81 * math.sin(slope) / (m + J / r**2)
    assert udot == pytest.approx([expected, -expected], rel=1e-13)
    assert model.freedom().degrees == 1


def test_the_sliding_disk() -> None:
    """Eq. 40 with friction as a load: u̇1 = −g sin φ − F/m, u̇2 = −F r²/J."""
    m, r, J, slope, friction = 2.0, 0.25, 0.07, 0.3, 1.7
    model = disk(slope, m, r, J)
    model.load("friction", Force("disk", (-friction, 0, 0), at=(0, 0, 0)))
    model.load("lever", Torque("disk", (0, 0, -friction * r)))
    udot = model.forward_dynamics([0.4, 1.0], [0.5, 0.2], [0.0, 0.0])
    assert udot == pytest.approx([-9.81 * math.sin(slope) - friction / m, -friction * r**2 / J], rel=1e-12)


def wrist(chosen: bool) -> kane.Model:
    """Example 2, M, L, I1, I2, I3 and the loads on C kept as parameters; A and B have no mass."""
    model = kane.Model("wrist", gravity=("-G", 0, 0))
    for name, value in {"G": 9.81, "M": 1.3, "L": 0.2, "I1": 0.02, "I2": 0.03, "I3": 0.01}.items():
        model.parameter(name, value, free=True)
    for name in ("T1", "T2", "T3", "F1", "F2", "F3"):
        model.parameter(name, float(RNG.normal()), free=True)
    model.body("A")
    model.body("B")
    model.body("C", mass="M", center=(0, 0, "L"), inertia={"xx": "I1", "yy": "I2", "zz": "I3"}, checked=False)
    model.joint("1", "revolute", "ground", "A", axis="z", coordinates=["q1"])
    model.joint("2", "revolute", "A", "B", axis="y", coordinates=["q2"])
    model.joint("3", "revolute", "B", "C", axis="z", coordinates=["q3"])
    if chosen:
        model.set_speeds({"u1": "w.C.x", "u2": "w.C.y", "u3": "w.C.z"})
    model.load("contact", Force("C", ("F1", "F2", "F3"), at=(0, 0, "L"), frame="C"))
    model.load("couple", Torque("C", ("T1", "T2", "T3"), frame="C"))
    return model


def test_the_wrist() -> None:
    """Eqs. 49 and 50, as printed."""
    model = wrist(chosen=True)
    p = {name: record.value for name, record in model.parameters.items()}
    (q1, q2, q3), (u1, u2, u3) = RNG.uniform(0.4, 1.2, 3), RNG.normal(size=3)
    s1, c1, c2, s3, c3 = math.sin(q1), math.cos(q1), math.cos(q2), math.sin(q3), math.cos(q3)
    ML, ML2 = p["M"] * p["L"], p["M"] * p["L"] ** 2
    found = model.forward_dynamics([q1, q2, q3], [u1, u2, u3], np.zeros(3))
    assert found == pytest.approx(
        [
            (p["T1"] - p["L"] * p["F2"] - p["G"] * ML * (s1 * c3 + s3 * c1 * c2) - (p["I3"] - p["I2"] - ML2) * u2 * u3)
            / (p["I1"] + ML2),
            (p["T2"] + p["L"] * p["F1"] + p["G"] * ML * (s1 * s3 - c1 * c2 * c3) + (p["I3"] - p["I1"] - ML2) * u1 * u3)
            / (p["I2"] + ML2),
            (p["T3"] + (p["I1"] - p["I2"]) * u1 * u2) / p["I3"],
        ],
        rel=1e-12,
    )
    turn = (s3 * u2 - c3 * u1) / math.sin(q2)
    assert model.qdot([q1, q2, q3], [u1, u2, u3]) == pytest.approx([turn, s3 * u1 + c3 * u2, u3 - c2 * turn], rel=1e-12)


def test_the_wrist_takes_fewer_operations_than_published() -> None:
    """Table 3: 29 multiplications and divisions and 16 additions with chosen speeds, 790 and 285 without."""
    for chosen, published in ((True, (29, 16, 10)), (False, (790, 285, 372))):
        count = wrist(chosen).equations().count("forward_dynamics")
        assert count["mul"] + count["div"] < published[0]
        assert count["add"] < published[1]
        assert count["trig"] < published[2]


def cart_state() -> tuple[kane.Model, np.ndarray, np.ndarray]:
    model = kane.load("shopping-cart")
    q = np.array([0.3, -0.2, 0.7, 2.1])
    return model, *model.project(q, [1.3, 0.0, 0.4, 0.0], hold=["u1", "u2", *model.coordinates])


def test_the_cart_with_a_free_caster() -> None:
    """Eq. 63: F1* and F2* of the cart, F along it at the axle and a moment τ."""
    model, q, u = cart_state()
    mB, IB, mC, L1, L2, L3 = (model.parameters[n].value for n in ("mB", "IB", "mC", "L1", "L2", "L3"))
    u1, u2, u3 = u[0], u[2], u[2] + u[3]
    s4, c4 = math.sin(q[3]), math.cos(q[3])
    assert u3 == pytest.approx((-s4 * u1 + L2 * c4 * u2) / L3, rel=1e-12)  # Eq. 60
    F, torque = 4.0, -1.5
    udot = model.forward_dynamics(q, u, [F, 0.0, torque, 0.0])
    d1, d2 = udot[0], udot[2]
    first = (L1 * mB + L2 * mC * c4**2) * u2**2 - L3 * mC * c4 * u3**2 - mC * s4 * c4 * u1 * u2
    first -= (mB + mC * c4**2) * d1 + L2 * mC * s4 * c4 * d2
    second = mC * L2**2 * s4 * c4 * u2**2 - L2 * L3 * mC * s4 * u3**2 - (L1 * mB + L2 * mC * s4**2) * u1 * u2
    second -= L2 * mC * s4 * c4 * d1 + (IB + mB * L1**2 + mC * L2**2 * s4**2) * d2
    assert F + first == pytest.approx(0.0, abs=1e-11)
    assert torque + second == pytest.approx(0.0, abs=1e-11)


def test_the_cart_whose_caster_sticks() -> None:
    """One degree of freedom, T = ½ m_eff u1² with m_eff constant: u̇1 = F1 / m_eff and no velocity terms at all.

    m_eff is the coefficient of u̇1 in Eq. 67; its velocity terms, as printed, do not cancel and are misprints.
    """
    model, q, _ = cart_state()
    model.constrain("stuck", MotionEquations("turn' = 0"))
    mB, IB, mC, L1, L2, L3 = (model.parameters[n].value for n in ("mB", "IB", "mC", "L1", "L2", "L3"))
    s4, c4 = math.sin(q[3]), math.cos(q[3])
    Z2 = L3 - L2 * c4
    Z5 = IB + L2 * mC * (L2 - L3 * c4) + mB * L1**2
    effective = mB + Z5 * s4**2 / Z2**2 + mC * (1 - L3 * s4**2 / Z2)
    F, torque = 4.0, -1.5
    for speed in (0.0, 1.3, -7.0):
        _, u = model.project(q, {"u1": speed}, hold=["u1", *model.coordinates])
        assert u[2] == pytest.approx(-s4 / Z2 * speed, abs=1e-12)  # Eq. 65
        assert sum(model.energy(q, u)) == pytest.approx(0.5 * effective * speed**2, rel=1e-12)
        udot = model.forward_dynamics(q, u, [F, 0.0, torque, 0.0])
        assert udot[0] == pytest.approx((F - s4 * torque / Z2) / effective, rel=1e-11)
    assert model.freedom().degrees == 1


def test_the_stuck_cart_runs_in_a_circle() -> None:
    """About the point where the axes of the back wheels and of the caster's wheel meet."""
    model, q, _ = cart_state()
    model.constrain("stuck", MotionEquations("turn' = 0"))
    motion = model.simulate((0, 8), q=dict(zip(model.coordinates, q, strict=True)), u={"u1": 1.0})
    turning = motion.u[0, 2]
    center = motion.q[0, :2] + np.array([-math.sin(q[2]), math.cos(q[2])]) / turning
    assert np.linalg.norm(motion.q[:, :2] - center, axis=1) == pytest.approx(abs(1 / turning), rel=1e-9)
    assert motion.u[:, 0] == pytest.approx(1.0, rel=1e-9)
