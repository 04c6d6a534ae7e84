"""The heavy symmetric top in steady precession, and the same top with quaternions.

At constant nutation θ, precession Ω and spin ω3 obey I1 Ω² cos θ − I3 ω3 Ω + m g l = 0, I1 about the fixed point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kane import Model

G, MASS, L, TRANSVERSE, AXIAL = 9.81, 0.7, 0.25, 0.004, 0.002
NUTATION, PRECESSION = 0.6, 3.0
STEADY = 1e-9  # rad over 2 s at rtol 1e-11
AGREE = 1e-8  # of two descriptions of one motion


def top(kind: str, **options: Any) -> Model:
    model = Model("top", gravity=[0, 0, -G])
    inertia = {"xx": TRANSVERSE, "yy": TRANSVERSE, "zz": AXIAL}
    model.body("top", mass=MASS, center=[0, 0, L], inertia=inertia)
    model.joint("tip", kind, "ground", "top", **options)
    return model


def spin() -> float:
    """ω3 of the steady precession."""
    about_tip = TRANSVERSE + MASS * L**2
    return (about_tip * PRECESSION**2 * np.cos(NUTATION) + MASS * G * L) / (AXIAL * PRECESSION)


def test_steady_precession_stays_steady() -> None:
    t = np.linspace(0.0, 2.0, 21)
    own = spin() - PRECESSION * np.cos(NUTATION)
    run = top("gimbal", sequence="body 313").simulate(
        t, q=[0.0, NUTATION, 0.0], u=[PRECESSION, 0.0, own], rtol=1e-11, atol=1e-13
    )
    assert np.abs(run.q[:, 1] - NUTATION).max() <= STEADY
    assert np.abs(run.q[:, 0] - PRECESSION * t).max() <= STEADY
    assert np.abs(run.q[:, 2] - own * t).max() <= 10 * STEADY


def test_quaternions_and_angles_describe_the_same_motion() -> None:
    t = np.linspace(0.0, 1.0, 11)
    angles, quaternion = top("gimbal", sequence="body 313"), top("spherical")
    rates = np.array([PRECESSION, 0.4, 20.0])
    one = angles.simulate(t, q=[0.0, NUTATION, 0.0], u=rates, rtol=1e-11, atol=1e-13)
    w = [0.4, PRECESSION * np.sin(NUTATION), 20.0 + PRECESSION * np.cos(NUTATION)]
    half = NUTATION / 2
    other = quaternion.simulate(t, q=[np.cos(half), np.sin(half), 0.0, 0.0], u=w, rtol=1e-11, atol=1e-13)
    assert np.abs(angles.poses(one.q) - quaternion.poses(other.q)).max() <= AGREE
