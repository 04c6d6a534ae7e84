"""The peers of constrained mechanisms agree with published matrices and closed forms, so that a difference is ours."""

# MuJoCo and Pinocchio are compiled modules without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
import math
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from peers import parallelogram
from peers.mujoco_vehicle import MujocoVehicle
from peers.parallelogram import CRANK, DAMPING, GRAVITY, MujocoParallelogram, PinocchioParallelogram
from peers.sympy_bicycle import FRONT_RADIUS, REAR_RADIUS, TILT, TRAIL, WHEEL_BASE, sympy_bicycle

REFERENCE = Path(__file__).parents[1] / "reference" / "whipple_bicycle.json"
SMALL = 1e-4  # rad and rad/s, whose squares are neglected
LINEAR = 1e-6  # of accelerations, relative: what is neglected, and coefficients of the size of 100
ROUNDING = 1e-12  # J, of energies of the size of 10
REGULARISED = 1e-8  # rad/s², relative: the proximal iteration stops before rounding does
CONVERGED = 1e-9  # m and, relative, J, along a motion at the tuned settings
SOFT = 0.2  # of accelerations: a soft constraint gives way


def test_a_nearly_upright_sympy_bicycle_has_the_published_matrices() -> None:
    published = json.loads(REFERENCE.read_text(encoding="utf-8"))
    M, C1, K0, K2 = (np.array(published[key]) for key in ("M", "C1", "K0", "K2"))
    bicycle = sympy_bicycle()
    rng = np.random.default_rng(6)
    for speed in (0.5, 4.6, 9.0):
        (roll, steer), (rolling, steering) = small = SMALL * rng.normal(size=(2, 2))
        turning = (speed * steer + TRAIL * steering) * math.cos(TILT) / WHEEL_BASE
        wheels = [-speed / REAR_RADIUS, -speed / FRONT_RADIUS]
        udot = bicycle.forward_dynamics(
            np.array([0.0, roll, 0.0, steer]), np.array([turning, rolling, 0.0, steering, *wheels])
        )
        stiffness = GRAVITY * K0 + speed**2 * K2
        expected = np.linalg.solve(M, -speed * C1 @ small[1] - stiffness @ small[0])
        np.testing.assert_allclose(udot[[1, 3]], expected, rtol=0.0, atol=LINEAR * np.abs(expected).max())


@pytest.mark.parametrize("damping", [0.0, DAMPING])
def test_pinocchio_s_parallelogram_is_a_pendulum(damping: float) -> None:
    linkage = PinocchioParallelogram.with_damping(damping)
    for angle in np.linspace(0.3, 6.0, 12):
        expected = parallelogram.crank_acceleration(angle)
        udot = linkage.forward_dynamics(angle * np.array([1.0, -1.0, 1.0]), np.array([3.0, -3.0, 3.0]))
        np.testing.assert_allclose(udot, expected * np.array([1.0, -1.0, 1.0]), atol=REGULARISED * 100)


def test_mujoco_s_parallelogram_is_nearly_a_pendulum() -> None:
    q, u = parallelogram.start()
    udot = MujocoParallelogram.with_step(1e-3).forward_dynamics(q, u)
    assert udot[0] == pytest.approx(parallelogram.crank_acceleration(q[0]), rel=SOFT)


def test_the_energy_of_an_open_parallelogram_is_that_of_both_peers() -> None:
    linkage, other = PinocchioParallelogram.with_damping(0.0), MujocoParallelogram.with_step(1e-3)
    rng = np.random.default_rng(7)
    for q, u in rng.normal(size=(10, 2, 3)):
        expected = parallelogram.energy(q[None], u[None])[0]
        T = pin.computeKineticEnergy(linkage.model, linkage.data, q, u)
        V = pin.computePotentialEnergy(linkage.model, linkage.data, q)
        assert pytest.approx(expected, abs=ROUNDING) == T + V
        other.forward_dynamics(q, u)
        mujoco.mj_energyPos(other.model, other.data)
        mujoco.mj_energyVel(other.model, other.data)
        assert np.sum(other.data.energy) == pytest.approx(expected, abs=ROUNDING)


def test_a_gap_is_the_distance_of_the_pinned_ends() -> None:
    q, _ = parallelogram.start()
    assert parallelogram.gap(q[None])[0] == pytest.approx(0.0, abs=ROUNDING)
    opened = q + np.array([0.0, 0.0, 0.4])  # the rocker's end moves along its circle
    assert parallelogram.gap(opened[None])[0] == pytest.approx(2 * CRANK * math.sin(0.2), abs=ROUNDING)


def test_a_tuned_parallelogram_stays_closed_through_its_flat_position() -> None:
    q, u = PinocchioParallelogram.with_damping(DAMPING).run(1e-3, 1000)
    total = parallelogram.energy(q, u)
    assert len(q) == 1001 and q[-1, 0] - q[0, 0] > 2 * math.pi
    assert parallelogram.gap(q).max() <= CONVERGED
    assert np.ptp(total) <= CONVERGED * np.abs(total).max()


def test_a_mujoco_vehicle_at_rest_rolls_on_at_the_speed_it_has() -> None:
    """Straight ahead, arm and steering at rest: nothing acts along the ground, whatever the step."""
    state = dict.fromkeys(("x", "y", "theta", "phi", "q1", "q2", "s0", "s1", "s2"), 0.0)
    rates = {**state, "x": 0.6, **dict.fromkeys(("s0", "s1", "s2"), 0.6 / 0.15)}
    x, y = MujocoVehicle.with_step(1e-4).run({**state, "q1": math.pi, "q2": math.pi}, rates, 1.0)
    assert (x, y) == pytest.approx((0.6, 0.0), abs=1e-5)
