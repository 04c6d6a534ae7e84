"""Bodies in the field of a point mass against Kepler's two-body solution, and attitude in orbit against linear theory.

Kepler: with eccentric anomaly E, M = n t = E − e sin E, position a (cos E − e, √(1 − e²) sin E) in the plane of the
orbit, n² a³ = mu. Gravity gradient: small pitch librations of a body in a circular orbit have the frequency
n √(3 (I_roll − I_yaw) / I_pitch).
"""

from __future__ import annotations

import numpy as np
import pytest

from kane import Model
from kane.analysis.programs import Array
from kane.model import PointGravity

MU = 3.986004418e14  # m³/s², of the Earth
A, ECCENTRICITY = 7.5e6, 0.1  # m
POSITION = 1e-6  # of the radius, over ten orbits
ENERGY = 1e-11  # of the kinetic energy
LIBRATION = 1e-4  # of the frequency: quadratic in an amplitude of 0.01 rad


def kepler(t: Array) -> Array:
    """Positions (k, 3) from the pericentre on."""
    M = np.sqrt(MU / A**3) * t
    E = M.copy()
    for _ in range(20):  # Newton converges quadratically from E = M at this eccentricity
        E -= (E - ECCENTRICITY * np.sin(E) - M) / (1 - ECCENTRICITY * np.cos(E))
    across = np.sqrt(1 - ECCENTRICITY**2)
    return A * np.column_stack([np.cos(E) - ECCENTRICITY, across * np.sin(E), np.zeros_like(t)])


def start() -> tuple[float, float]:
    """(distance, speed) at the pericentre."""
    return A * (1 - ECCENTRICITY), float(np.sqrt(MU / A * (1 + ECCENTRICITY) / (1 - ECCENTRICITY)))


def craft(velocity: str, *, gradient: bool) -> Model:
    model = Model("craft")
    model.body("bus", mass=500.0, inertia={"xx": 120.0, "yy": 180.0, "zz": 150.0, "xy": 5.0})
    model.joint("flight", "free", "ground", "bus", velocity=velocity)
    model.reaction_wheel("wheel", "bus", "y", 0.2)
    model.load("earth", PointGravity(MU, gradient=gradient))
    r, v = start()
    spin = {"u_flight_wx": 0.001, "u_flight_wy": -0.002, "u_flight_wz": 0.0005, "u_wheel": 80.0}
    model.set_initial({"q_flight_px": r, "u_flight_vy": v, **spin})
    return model


@pytest.mark.parametrize("velocity", ["body", "parent"])
def test_ten_orbits_of_a_tumbling_craft_are_kepler_s(velocity: str) -> None:
    period = 2 * np.pi * np.sqrt(A**3 / MU)
    t = np.linspace(0.0, 10 * period, 201)
    model = craft(velocity, gradient=True)
    run = model.simulate(t, rtol=1e-12, atol=1e-10)
    r = kepler(t)
    away = np.linalg.norm(run.q[:, 4:7] - r, axis=1) / np.linalg.norm(r, axis=1)
    assert run.outcome.success and away.max() <= POSITION
    total = run.energy().kinetic + run.energy().potential
    assert np.abs(total - total[0]).max() <= ENERGY * run.energy().kinetic[0]


@pytest.mark.parametrize("gradient", [False, True])
def test_potential_and_loads_belong_together(gradient: bool) -> None:
    """dV = − power of the attraction, near enough that the second order matters as much as the first."""
    model = craft("body", gradient=gradient)
    near = Model("near")
    near.body("bus", mass=2.0, center=[0.1, -0.2, 0.3], inertia={"xx": 12.0, "yy": 18.0, "zz": 15.0, "xy": 0.5})
    near.joint("flight", "free", "ground", "bus")
    near.body("arm", mass=1.0, center=[0.4, 0.0, 0.0], inertia={"xx": 0.1, "yy": 0.3, "zz": 0.3})
    near.joint("hinge", "revolute", "bus", "arm", at=[0.5, 0.0, 0.0], axis="z")
    near.reaction_wheel("wheel", "arm", [0.6, 0.0, 0.8], 0.7)
    near.load("star", PointGravity(5.0, gradient=gradient))
    near.set_initial({"q_flight_px": 3.0, "q_flight_py": 2.0})
    run = near.simulate(np.linspace(0.0, 3.0, 21), u={"u_flight_wy": 0.4, "u_wheel": 3.0}, rtol=1e-12, atol=1e-12)
    total = run.energy().kinetic + run.energy().potential
    assert np.ptp(run.energy().potential) > 0.1
    assert np.abs(total - total[0]).max() <= ENERGY * np.abs(run.energy().potential).max()
    assert near.check().passed and model.check().passed


def test_pitch_librates_with_the_frequency_of_linear_theory() -> None:
    roll, pitch, yaw = 900.0, 1000.0, 300.0  # kg m²; yaw axis x to the Earth, pitch axis z normal to the orbit
    n = np.sqrt(MU / A**3)
    model = Model("libration")
    model.body("bus", mass=500.0, inertia={"xx": yaw, "yy": roll, "zz": pitch})
    model.joint("flight", "free", "ground", "bus", velocity="parent")
    model.load("earth", PointGravity(MU))
    frequency = n * np.sqrt(3 * (roll - yaw) / pitch)
    t = np.linspace(0.0, 4 * 2 * np.pi / frequency, 801)
    angle = 0.01
    q = {"q_flight_w": np.cos(angle / 2), "q_flight_z": np.sin(angle / 2), "q_flight_px": A}
    run = model.simulate(t, q=q, u={"u_flight_wz": n, "u_flight_vy": n * A}, rtol=1e-11, atol=1e-9)
    attitude = 2 * np.unwrap(np.arctan2(run.q[:, 3], run.q[:, 0]))
    place = np.unwrap(np.arctan2(run.q[:, 5], run.q[:, 4]))
    libration = np.remainder(attitude - place + np.pi, 2 * np.pi) - np.pi
    assert np.abs(libration - angle * np.cos(frequency * t)).max() <= 4 * 2 * np.pi * LIBRATION * angle


def test_a_wheel_s_angle_is_felt_nowhere_in_orbit() -> None:
    model = craft("body", gradient=True)
    rng = np.random.default_rng(0)
    q, u = model.initial_state
    turned = q.copy()
    turned[-1] = 1.7
    tau = rng.normal(size=len(u))
    np.testing.assert_array_equal(model.forward_dynamics(q, u, tau), model.forward_dynamics(turned, u, tau))
    assert model.equations().count("forward_dynamics")["trig"] == 0


def test_a_craft_far_from_the_origin_keeps_the_digits_of_its_own_momentum_and_inertia() -> None:
    model = craft("body", gradient=False)
    q, u = model.initial_state
    there = model.momentum(q, u, about="center").angular
    w = u[:3]
    H = np.array([[120.0, 5.0, 0.0], [5.0, 180.0 + 0.2, 0.0], [0.0, 0.0, 150.0]]) @ w + [0.0, 0.2 * 80.0, 0.0]
    np.testing.assert_allclose(there, H, rtol=1e-9)
    np.testing.assert_allclose(np.diag(model.inertia(q)), [120.0, 180.2, 150.0], rtol=1e-9)
