"""Laws along a trajectory: computed torque gives the linear error dynamics it promises, PD with gravity converges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kane
from kane.errors import InputError, ModelError
from kane.planning import ComputedTorque, GravityCompensation, Hold, cubic_spline, move

ARMS = ["pendulum", "stanford-arm", "stanford-arm-kane"]
STIFFNESS, DAMPING = 25.0, 6.0  # 1/s², 1/s: underdamped
INTEGRATED = 1e-9  # what an integration at rtol 1e-10 leaves


def decayed(t: np.ndarray, start: float) -> np.ndarray:
    """Solution of ë + DAMPING ė + STIFFNESS e = 0 from rest at `start`."""
    half = DAMPING / 2
    w = math.sqrt(STIFFNESS - half**2)
    return start * np.exp(-half * t) * (np.cos(w * t) + half / w * np.sin(w * t))


@pytest.mark.parametrize("name", ARMS)
def test_computed_torque_leaves_the_linear_error_dynamics(name: str) -> None:
    arm = kane.load(name)
    q0, u0 = arm.initial_state
    plan = move(q0, q0 + 0.4, duration=2.0)
    t = np.linspace(0.0, 2.5, 26)
    offset = np.linspace(0.02, 0.08, len(q0))
    motion = arm.simulate(
        t, q=q0 + offset, u=np.zeros_like(u0), control=ComputedTorque(plan, STIFFNESS, DAMPING), rtol=1e-10, atol=1e-12
    )
    error = plan.at(t).q - motion.q
    assert error == pytest.approx(np.array([decayed(t, -x) for x in offset]).T, abs=INTEGRATED)


def test_gains_may_differ_from_coordinate_to_coordinate() -> None:
    arm = kane.load("stanford-arm")
    q0, u0 = arm.initial_state
    rate = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 3.5])  # critically damped: e = e0 (1 + k t) exp(−k t)
    law = ComputedTorque(Hold(tuple(q0)), tuple(rate**2), tuple(2 * rate))
    t = np.linspace(0.0, 2.0, 11)
    motion = arm.simulate(t, q=q0 + 0.1, u=u0, control=law, rtol=1e-10, atol=1e-12)
    expected = 0.1 * (1 + np.outer(t, rate)) * np.exp(-np.outer(t, rate))
    assert motion.q - q0 == pytest.approx(expected, abs=INTEGRATED)


def test_efforts_of_a_law_are_those_of_inverse_dynamics_on_the_trajectory() -> None:
    arm = kane.load("stanford-arm")
    q0, u0 = arm.initial_state
    plan = cubic_spline([q0, q0 + 0.2, q0 - 0.1], [0.0, 1.0, 2.0])
    t = np.linspace(0.0, 2.0, 9)
    motion = arm.simulate(t, q=q0, u=u0, control=ComputedTorque(plan, 100.0, 20.0), rtol=1e-10, atol=1e-12)
    q, qdot, qddot = plan.at(t)
    assert motion.tau == pytest.approx(arm.inverse_dynamics(q, qdot, qddot), abs=1e-6)


@pytest.mark.parametrize("name", ARMS)
def test_pd_with_gravity_compensation_converges(name: str) -> None:
    arm = kane.load(name)
    q0, u0 = arm.initial_state
    plan = move(q0, q0 + 0.3, duration=1.0)
    law = GravityCompensation(plan, 200.0, 60.0)
    motion = arm.simulate((0.0, 15.0), q=q0 + 0.1, u=np.zeros_like(u0), control=law)
    assert motion.q[-1] == pytest.approx(q0 + 0.3, abs=1e-6)
    assert motion.u[-1] == pytest.approx(np.zeros_like(u0), abs=1e-6)


def test_without_gains_gravity_compensation_leaves_an_arm_at_rest() -> None:
    arm = kane.load("stanford-arm")
    q0, u0 = arm.initial_state
    motion = arm.simulate((0.0, 5.0), q=q0 + 0.3, u=u0, control=GravityCompensation(Hold(tuple(q0)), 0.0, 0.0))
    assert motion.q[-1] == pytest.approx(q0 + 0.3, abs=1e-9)


def test_a_trajectory_of_other_size_is_refused() -> None:
    arm = kane.load("pendulum")
    with pytest.raises(InputError, match="2 coordinates; model 'pendulum' has 1"):
        arm.simulate((0.0, 1.0), control=ComputedTorque(Hold((0.0, 0.0)), 1.0, 1.0))
    with pytest.raises(InputError, match="one for each of q"):
        arm.simulate((0.0, 1.0), control=ComputedTorque(Hold((0.0,)), (1.0, 2.0), 1.0))


def test_quaternions_are_no_coordinates_to_control_one_by_one() -> None:
    body = kane.load("free-body")
    law = GravityCompensation(Hold((0.0,) * len(body.coordinates)), 1.0, 1.0)
    with pytest.raises(ModelError, match="one degree of freedom"):
        body.simulate((0.0, 1.0), control=law)


@pytest.mark.parametrize("law", [ComputedTorque, GravityCompensation])
def test_numbers_of_a_law_are_given_in_any_sequence(law: type[ComputedTorque | GravityCompensation]) -> None:
    place, gains = (0.1, 0.2), (3.0, 4.0)
    plain = law(Hold(place), gains, 2.0)
    assert law(list(place), list(gains), 2) == plain
    assert law(np.array(place), np.array(gains), np.float64(2.0)) == plain
    assert hash(law(np.array(place), [3, 4], 2)) == hash(plain)
    for odd in ("x", None, [[1.0], [2.0]], [np.nan, 0.0]):
        with pytest.raises(InputError, match="fix: give"):
            law(odd, 1.0, 1.0)  # pyright: ignore[reportArgumentType]
