"""The asymmetric body without loads against Euler's solution in Jacobi's elliptic functions.

With I1 < I2 < I3, energy E, angular momentum H and H² > 2 E I2, starting where ω2 = 0:
ω1 = a1 cn τ, ω2 = a2 sn τ, ω3 = a3 dn τ, τ = t √((I3 − I2)(H² − 2 E I1) / (I1 I2 I3)),
k² = (I2 − I1)(2 E I3 − H²) / ((I3 − I2)(H² − 2 E I1)).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj

from kane import Model

I1, I2, I3 = 0.6, 0.9, 1.3
START = np.array([0.7, 0.0, 1.1])  # rad/s
SOLUTION = 1e-9  # rad/s over 10 s at rtol 1e-11


def body(kind: str) -> Model:
    model = Model("free-body")
    model.body("body", mass=2.0, inertia={"xx": I1, "yy": I2, "zz": I3})
    model.joint("joint", kind, "ground", "body")
    return model


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_angular_velocity_follows_the_elliptic_functions(kind: str) -> None:
    t = np.linspace(0.0, 10.0, 41)
    moments = np.array([I1, I2, I3])
    E2, H2 = float(moments @ START**2), float((moments**2) @ START**2)
    k2 = (I2 - I1) * (E2 * I3 - H2) / ((I3 - I2) * (H2 - E2 * I1))
    sn, cn, dn, _ = ellipj(t * np.sqrt((I3 - I2) * (H2 - E2 * I1) / (I1 * I2 * I3)), k2)
    a2 = np.sqrt((E2 * I3 - H2) / (I2 * (I3 - I2)))
    solution = np.column_stack([START[0] * cn, a2 * sn, START[2] * dn])
    model = body(kind)
    u = np.zeros(len(model.speeds))
    u[:3] = START
    run = model.simulate(t, u=u, rtol=1e-11, atol=1e-13)
    assert np.abs(run.u[:, :3] - solution).max() <= SOLUTION


def test_attitude_keeps_the_angular_momentum_where_it_is() -> None:
    model = body("spherical")
    run = model.simulate(np.linspace(0.0, 10.0, 21), u=START, rtol=1e-11, atol=1e-13)
    H = model.momentum(run.q, run.u).angular
    assert np.abs(H - START * [I1, I2, I3]).max() <= SOLUTION
