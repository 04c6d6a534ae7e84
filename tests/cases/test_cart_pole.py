"""The cart with a pendulum against its equations, solved for the accelerations on paper.

x'' = (F + m sin θ (l θ'² + g cos θ)) / (M + m sin² θ),
θ'' = −(F cos θ + m l θ'² sin θ cos θ + (M + m) g sin θ) / (l (M + m sin² θ)), θ from the vertical downwards.
"""

from __future__ import annotations

import numpy as np

from kane import Model

G, CART, BOB, L = 9.81, 2.0, 0.5, 0.9
ROUNDING = 1e-12


def test_accelerations_are_those_on_paper() -> None:
    model = Model("cart-pole", gravity=[0, -G, 0])
    model.particle("cart", CART)
    model.particle("bob", BOB, center=[0, -L, 0])
    model.joint("rail", "prismatic", "ground", "cart", axis="x")
    model.joint("hinge", "revolute", "cart", "bob", axis="z")
    rng = np.random.default_rng(4)
    q, u = rng.normal(size=(2, 50, 2)) * 2
    F = rng.normal(size=50) * 10
    s, c, rate = np.sin(q[:, 1]), np.cos(q[:, 1]), u[:, 1]
    whole = CART + BOB * s**2
    x = (F + BOB * s * (L * rate**2 + G * c)) / whole
    theta = -(F * c + BOB * L * rate**2 * s * c + (CART + BOB) * G * s) / (L * whole)
    udot = model.forward_dynamics(q, u, np.column_stack([F, np.zeros(50)]))
    assert np.allclose(udot, np.column_stack([x, theta]), rtol=ROUNDING, atol=100 * ROUNDING)
