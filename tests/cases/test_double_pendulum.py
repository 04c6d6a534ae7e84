"""The double pendulum of two point masses against its textbook equations in absolute angles θ1, θ2.

(m1 + m2) l1 θ1'' + m2 l2 θ2'' cos Δ + m2 l2 θ2'² sin Δ + (m1 + m2) g sin θ1 = 0,
l2 θ2'' + l1 θ1'' cos Δ − l1 θ1'² sin Δ + g sin θ2 = 0, with Δ = θ1 − θ2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from kane import Model

G, L1, L2, M1, M2 = 9.81, 1.0, 0.7, 1.5, 0.9
ROUNDING = 1e-12
MOTION = 1e-7  # over 3 s of a chaotic motion, both sides at rtol 1e-12


def double_pendulum() -> Model:
    model = Model("double-pendulum", gravity=[0, -G, 0])
    model.particle("upper", M1, center=[0, -L1, 0])
    model.particle("lower", M2, center=[0, -L2, 0])
    model.joint("shoulder", "revolute", "ground", "upper", axis="z", coordinates=["q1"], speeds=["u1"])
    model.joint("elbow", "revolute", "upper", "lower", axis="z", at=[0, -L1, 0], coordinates=["q2"], speeds=["u2"])
    return model


def textbook(theta: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """θ1'', θ2''."""
    c, s = np.cos(theta[0] - theta[1]), np.sin(theta[0] - theta[1])
    A = np.array([[(M1 + M2) * L1, M2 * L2 * c], [L1 * c, L2]])
    b = np.array(
        [
            -M2 * L2 * rate[1] ** 2 * s - (M1 + M2) * G * np.sin(theta[0]),
            L1 * rate[0] ** 2 * s - G * np.sin(theta[1]),
        ]
    )
    return np.asarray(np.linalg.solve(A, b), dtype=float)


def test_accelerations_are_those_of_the_textbook() -> None:
    model, rng = double_pendulum(), np.random.default_rng(2)
    for theta, rate in rng.normal(size=(20, 2, 2)) * 2:
        first, second = textbook(theta, rate)
        udot = model.forward_dynamics([theta[0], theta[1] - theta[0]], [rate[0], rate[1] - rate[0]], [0.0, 0.0])
        assert np.allclose(udot, [first, second - first], rtol=ROUNDING, atol=ROUNDING * 100)


def test_motion_from_rest_at_right_angles_is_that_of_another_integrator() -> None:
    """From rest at 90° and 90° the accelerations first vanish in part: a first step that is too long goes unnoticed."""
    start = np.array([np.pi / 2, np.pi / 2, 0.0, 0.0])
    times = np.linspace(0.0, 3.0, 31)

    def rates(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([y[2:], textbook(y[:2], y[2:])])

    there = solve_ivp(rates, (0.0, 3.0), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13)
    here = double_pendulum().simulate(times, q=[np.pi / 2, 0.0], rtol=1e-12, atol=1e-13)
    absolute = np.column_stack([here.q[:, 0], here.q.sum(axis=1)])
    assert np.abs(absolute - there.y[:2].T).max() <= MOTION
