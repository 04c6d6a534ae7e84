"""Given motions: the cycloid is at rest at both ends, and speeds and accelerations belong to the coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.errors import InputError, ModelError
from kane.report import cycloid, motion_along, motion_through

TARGET = {"q1": np.pi / 3, "q2": np.pi / 3, "q3": np.pi / 3, "q4": np.pi / 3, "q5": np.pi / 3, "q6": 0.1}
ROUNDING = 1e-12
DIFFERENCE = 1e-5
"""Central differences over 5 ms of accelerations of order 1."""


def test_the_cycloid_starts_and_ends_at_rest() -> None:
    arm = kane.load("stanford-arm")
    motion = cycloid(arm, TARGET, duration=4.0)
    assert np.abs(motion.u[[0, -1]]).max() < ROUNDING and np.abs(motion.udot[[0, -1]]).max() < ROUNDING
    assert np.allclose(motion.q[0], arm.initial_state[0]) and np.allclose(motion.q[-1], list(TARGET.values()))


def test_coordinates_that_are_not_named_stay() -> None:
    motion = cycloid(kane.load("stanford-arm"), {"q6": 0.2})
    assert np.array_equal(motion.q[:, :5], np.tile(motion.q[0, :5], (len(motion.t), 1)))


def test_accelerations_are_the_rates_of_the_speeds_whatever_the_speeds() -> None:
    motion = cycloid(kane.load("stanford-arm-kane"), TARGET, samples=2001)
    differences = (motion.u[2:] - motion.u[:-2]) / (motion.t[2:] - motion.t[:-2])[:, None]
    assert np.abs(differences - motion.udot[1:-1]).max() < DIFFERENCE


def test_power_does_not_depend_on_the_choice_of_speeds() -> None:
    power = []
    for name in ("stanford-arm", "stanford-arm-kane"):
        arm = kane.load(name)
        motion = cycloid(arm, TARGET)
        power.append(np.sum(arm.inverse_dynamics(motion.q, motion.u, motion.udot) * motion.u, axis=1))
    assert np.abs(power[0] - power[1]).max() < 1e-10


def test_a_simulated_motion_has_its_own_speeds_and_accelerations() -> None:
    """q, q̇, q̈ of a simulation in any speeds give back u and u̇, quaternions included."""
    body = kane.load("free-body")
    trajectory = body.simulate(np.linspace(0, 1, 21), rtol=1e-11, atol=1e-13)
    qdot = body.qdot(trajectory.q, trajectory.u)
    h, udot = 1e-4, trajectory.acceleration()
    ahead = body.qdot(trajectory.q + h * qdot, trajectory.u + h * udot)
    behind = body.qdot(trajectory.q - h * qdot, trajectory.u - h * udot)
    motion = motion_along(body, trajectory.t, trajectory.q, qdot, (ahead - behind) / (2 * h))
    assert np.abs(motion.u - trajectory.u).max() < 1e-10
    assert np.abs(motion.udot - udot).max() < 1e-6


def test_splines_follow_a_smooth_motion() -> None:
    arm = kane.load("stanford-arm")
    exact = cycloid(arm, TARGET, samples=301)
    found = motion_through(arm, exact.t, exact.q)
    assert np.abs(found.udot - exact.udot).max() < 1e-5


def test_a_target_that_is_no_coordinate_is_refused() -> None:
    with pytest.raises(ModelError, match="unknown coordinate 'q7'"):
        cycloid(kane.load("stanford-arm"), {"q7": 1.0})


@pytest.mark.parametrize(("duration", "samples"), [(0.0, 10), (-1.0, 10), (float("nan"), 10), (1.0, 1)])
def test_a_motion_without_time_is_refused(duration: float, samples: int) -> None:
    with pytest.raises(InputError, match="positive time"):
        cycloid(kane.load("pendulum"), {}, duration=duration, samples=samples)
