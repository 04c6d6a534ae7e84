"""The asymmetric body without loads against Euler's solution in Jacobi's elliptic functions.

With I1 < I2 < I3, energy E, angular momentum H and H² > 2 E I2, starting where ω2 = 0:
ω1 = a1 cn τ, ω2 = a2 sn τ, ω3 = a3 dn τ, τ = t √((I3 − I2)(H² − 2 E I1) / (I1 I2 I3)),
k² = (I2 − I1)(2 E I3 − H²) / ((I3 − I2)(H² − 2 E I1)).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, elliprf, elliprj

from kane import Model

I1, I2, I3 = 0.6, 0.9, 1.3
START = np.array([0.7, 0.0, 1.1])  # rad/s
SOLUTION = 1e-9  # rad/s over 10 s at rtol 1e-11
ATTITUDE = 1e-8  # rad, over 1000 s at rtol 1e-13: some 200 turns


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


def _third_kind(n: float, amplitude: np.ndarray, m: float) -> np.ndarray:
    """Π(n; φ | m), the incomplete elliptic integral of the third kind, by Carlson's symmetric forms; φ of any size."""
    turns = np.round(amplitude / np.pi)
    s, c = np.sin(amplitude - np.pi * turns), np.cos(amplitude - np.pi * turns)
    part = s * elliprf(c**2, 1 - m * s**2, 1) + n / 3 * s**3 * elliprj(c**2, 1 - m * s**2, 1, 1 - n * s**2)
    whole = elliprf(0, 1 - m, 1) + n / 3 * elliprj(0, 1 - m, 1, 1 - n)
    return part + 2 * turns * whole


def _euler_poinsot(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(ω in the body, R_HB by rows) of the torque-free body that starts with START; z of H is the angular momentum.

    With H = |H|, R_HB is a 3-1-3 sequence φ, θ, ψ; θ and ψ follow from I ω = H (sin θ sin ψ, sin θ cos ψ, cos θ), and
    φ̇ = H (I1 ω1² + I2 ω2²) / (I1² ω1² + I2² ω2²), which is A + B / (1 − n sn²) and integrates to Π.
    """
    moments = np.array([I1, I2, I3])
    E2, H2 = float(moments @ START**2), float((moments**2) @ START**2)
    m = (I2 - I1) * (E2 * I3 - H2) / ((I3 - I2) * (H2 - E2 * I1))
    rate = np.sqrt((I3 - I2) * (H2 - E2 * I1) / (I1 * I2 * I3))
    sn, cn, dn, amplitude = ellipj(rate * t, m)
    a1, a2 = START[0], np.sqrt((E2 * I3 - H2) / (I2 * (I3 - I2)))
    w = np.column_stack([a1 * cn, a2 * sn, START[2] * dn])
    n = 1 - (I2 * a2) ** 2 / (I1 * a1) ** 2
    A = (I1 * a1**2 - I2 * a2**2) / ((I1 * a1) ** 2 - (I2 * a2) ** 2)
    B = 1 / I1 - A
    H = np.sqrt(H2)
    phi = H * (A * t + B / rate * _third_kind(n, amplitude, m))
    h = w * moments / H
    theta, psi = np.arccos(h[:, 2]), np.arctan2(h[:, 0], h[:, 1])
    return w, _about_z(phi) @ _about_x(theta) @ _about_z(psi)


def _about_z(angle: np.ndarray) -> np.ndarray:
    c, s, o, i = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([np.stack([c, -s, o], -1), np.stack([s, c, o], -1), np.stack([o, o, i], -1)], -2)


def _about_x(angle: np.ndarray) -> np.ndarray:
    c, s, o, i = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([np.stack([i, o, o], -1), np.stack([o, c, -s], -1), np.stack([o, s, c], -1)], -2)


def test_attitude_follows_the_closed_form_for_a_thousand_seconds() -> None:
    t = np.linspace(0.0, 1000.0, 501)
    model = body("free")
    run = model.simulate(t, u={"u_joint_wx": START[0], "u_joint_wz": START[2]}, rtol=1e-13, atol=1e-14)
    w, R_HB = _euler_poinsot(t)
    R_NB = model.at("body").pose(run.q)[0]
    there = (R_NB[0] @ R_HB[0].T) @ R_HB
    error = np.linalg.norm(R_NB - there, axis=(1, 2)) / np.sqrt(2.0)  # the angle between two near attitudes
    assert error.max() <= ATTITUDE
    assert np.abs(run.u[:, :3] - w).max() <= ATTITUDE
