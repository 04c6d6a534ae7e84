"""The plane pendulum at large amplitude against its solution in Jacobi's elliptic functions.

Released at rest at θ0: θ(t) = 2 asin(k sn(K − ω t, k)), k = sin(θ0/2), ω² = g/l, period 4 K(k)/ω.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from kane import Model

G, L = 9.81, 0.8
SOLUTION = 1e-9  # rad over a period at rtol 1e-11


def pendulum(q0: float) -> Model:
    model = Model("pendulum", gravity=[0, -G, 0])
    model.body("rod", mass=2.0, center=[0, -L, 0])
    model.joint("pivot", "revolute", "ground", "rod", axis="z", coordinates=["q"], speeds=["u"], initial=[q0])
    return model


@pytest.mark.parametrize("amplitude", [0.1, 1.5, 2.8])
def test_swing_follows_the_elliptic_functions(amplitude: float) -> None:
    k2 = np.sin(amplitude / 2) ** 2
    omega = np.sqrt(G / L)
    t = np.linspace(0.0, 4 * ellipk(k2) / omega, 33)
    swing = pendulum(amplitude).simulate(t, rtol=1e-11, atol=1e-13)
    sn = ellipj(ellipk(k2) - omega * t, k2)[0]
    assert np.abs(swing.q[:, 0] - 2 * np.arcsin(np.sqrt(k2) * sn)).max() <= SOLUTION
    assert abs(swing.u[-1, 0]) <= SOLUTION


def test_a_compound_pendulum_swings_like_a_simple_one_of_reduced_length() -> None:
    """Small swings about the lowest point have ω² = m g c / (I + m c²)."""
    model = Model("compound", gravity=[0, -G, 0])
    model.body("bar", mass=3.0, center=[0, -0.4, 0], inertia={"zz": 0.16, "xx": 0.16})
    model.joint("pivot", "revolute", "ground", "bar", axis="z")
    slope = model.forward_dynamics([1e-7], [0.0], [0.0])[0] / 1e-7
    assert np.isclose(-slope, 3.0 * G * 0.4 / (0.16 + 3.0 * 0.4**2), rtol=1e-12)
