"""The peers agree with the reference results and with each other, so that a disagreement of ours is ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from peers import stanford
from peers.mujoco_arm import mujoco_arm
from peers.pinocchio_arm import PinocchioArm, pinocchio_arm
from peers.stanford import Array
from peers.sympy_arm import sympy_arm

ROUNDING = 1e-12  # efforts up to 100 N m, a few hundred operations each
ACCELERATION_ROUNDING = 1e-9  # the same, through a mass matrix whose condition number is about 1e4
STATE_ERROR = 1e-8  # of a solution at rtol 1e-11; the reference is printed with 12 digits
MOMENTUM_DRIFT = 1e-9  # kg m²/s, the figure the paper itself reports [KL83, Eq. 138]

WITHOUT_FIRST = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])


class Arm(Protocol):
    """What every peer offers."""

    def inverse_dynamics(self, q: Array, u: Array, udot: Array) -> Array:
        """Efforts along the speeds."""
        ...

    def forward_dynamics(self, q: Array, u: Array, tau: Array) -> Array:
        """u̇ under efforts along the speeds."""
        ...


@pytest.fixture(scope="module", params=[pinocchio_arm, mujoco_arm, sympy_arm], ids=["pinocchio", "mujoco", "sympy"])
def arm(request: pytest.FixtureRequest) -> Arm:
    """Each peer in turn."""
    return request.param()


def test_efforts_of_the_reference_motion(arm: Arm) -> None:
    reference = stanford.reference_efforts()
    for q, u, udot, effort in zip(reference.q, reference.u, reference.udot, reference.effort, strict=True):
        np.testing.assert_allclose(arm.inverse_dynamics(q, u, udot), effort, rtol=ROUNDING, atol=ROUNDING)


def test_forward_dynamics_inverts_inverse_dynamics(arm: Arm) -> None:
    samples = stanford.random_samples(20)
    for q, u, udot in zip(samples.q, samples.u, samples.udot, strict=True):
        tau = arm.inverse_dynamics(q, u, udot)
        np.testing.assert_allclose(arm.forward_dynamics(q, u, tau), udot, atol=ACCELERATION_ROUNDING)


def test_efforts_agree_with_pinocchio_in_random_states(arm: Arm) -> None:
    other, samples = pinocchio_arm(), stanford.random_samples(20)
    for q, u, udot in zip(samples.q, samples.u, samples.udot, strict=True):
        expected = other.inverse_dynamics(q, u, udot)
        np.testing.assert_allclose(arm.inverse_dynamics(q, u, udot), expected, rtol=ROUNDING, atol=ROUNDING)


def test_the_formula_of_the_reference_motion_matches_its_samples() -> None:
    reference = stanford.reference_efforts()
    times = np.array([row["t"] for row in stanford.reference()["inverse_dynamics_fig1"]])
    for computed, stored in zip(
        stanford.reference_motion(times), (reference.q, reference.u, reference.udot), strict=True
    ):
        np.testing.assert_allclose(computed, stored, atol=ROUNDING)


def solve(arm: PinocchioArm, control: Callable[[Array, Array], Array], times: Array) -> Array:
    """(len(times), 12) coordinates and speeds of the arm from rest under `control`."""

    def rate(_: float, state: Array) -> Array:
        q, u = state[:6], state[6:]
        return np.concatenate([u, arm.forward_dynamics(q, u, control(q, u))])

    start = np.concatenate([stanford.START, np.zeros(6)])
    return solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-13).y.T


def free_of_first_torque(q: Array, u: Array) -> Array:
    """The feedback law without τ1."""
    return WITHOUT_FIRST * stanford.feedback_effort(q, u)


@pytest.mark.parametrize(
    ("run", "control"), [("with_tau1", stanford.feedback_effort), ("tau1_zero", free_of_first_torque)]
)
def test_states_under_feedback(run: str, control: Callable[[Array, Array], Array]) -> None:
    rows = stanford.reference()["feedback_fig3"][run]
    states = solve(pinocchio_arm(), control, np.array([row["t"] for row in rows]))
    np.testing.assert_allclose(states, [row["q"] + row["qdot"] for row in rows], atol=STATE_ERROR)


def test_vertical_angular_momentum_stays_zero_without_the_first_torque() -> None:
    states = solve(pinocchio_arm(), free_of_first_torque, np.linspace(0, stanford.DURATION, 21))
    momentum = [stanford.vertical_angular_momentum(state[:6], state[6:]) for state in states]
    np.testing.assert_allclose(momentum, 0, atol=MOMENTUM_DRIFT)
