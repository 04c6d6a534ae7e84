"""The dense route on its own: against formulas on paper, and in its shapes."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane import InputError, Model
from kane.formulation.dense import dense_equations

ROUNDING = 1e-12
G, L1, L2, M1, M2 = 9.81, 1.0, 0.7, 1.5, 0.9


def double_pendulum() -> Model:
    model = Model("double-pendulum", gravity=[0, -G, 0])
    model.particle("upper", M1, center=[0, -L1, 0])
    model.particle("lower", M2, center=[0, -L2, 0])
    model.joint("shoulder", "revolute", "ground", "upper", axis="z", coordinates=["q1"], speeds=["u1"])
    model.joint("elbow", "revolute", "upper", "lower", axis="z", at=[0, -L1, 0], coordinates=["q2"], speeds=["u2"])
    return model


def test_the_mass_matrix_of_a_double_pendulum_is_that_on_paper() -> None:
    c = np.cos(0.8)
    inner = M2 * (L2**2 + L1 * L2 * c)
    M = [[M1 * L1**2 + M2 * (L1**2 + L2**2 + 2 * L1 * L2 * c), inner], [inner, M2 * L2**2]]
    assert np.allclose(dense_equations(double_pendulum().mechanism).mass_matrix([0.3, 0.8]), M, rtol=ROUNDING)


def test_the_weight_of_a_double_pendulum_is_that_on_paper() -> None:
    q, still = np.array([0.3, 0.8]), np.zeros(2)
    lower = M2 * G * L2 * np.sin(q.sum())
    tau = [(M1 + M2) * G * L1 * np.sin(q[0]) + lower, lower]
    assert np.allclose(
        dense_equations(double_pendulum().mechanism).inverse_dynamics(q, still, still), tau, rtol=ROUNDING
    )


def test_forward_dynamics_undoes_inverse_dynamics() -> None:
    dense = dense_equations(kane.load("stanford-arm-kane").mechanism)
    q, u, udot = np.random.default_rng(1).uniform(0.2, 0.9, (3, 4, 6))
    tau = dense.inverse_dynamics(q, u, udot)
    assert np.allclose(dense.forward_dynamics(q, u, tau), udot, rtol=1e-9, atol=1e-9)


def test_one_state_and_a_batch_give_the_same_and_single_arrays_are_shared() -> None:
    dense = dense_equations(double_pendulum().mechanism)
    q, u = np.random.default_rng(2).normal(size=(2, 3, 2))
    batch = dense.inverse_dynamics(q, u, np.zeros(2), t=np.zeros((3, 1)))
    assert batch.shape == (3, 2)
    assert np.array_equal(batch[1], dense.inverse_dynamics(q[1], u[1], np.zeros(2)))
    assert dense.mass_matrix(q).shape == (3, 2, 2)
    with pytest.raises(InputError, match="batches of different size"):
        dense.inverse_dynamics(q, u[:2], np.zeros(2))


def test_parameters_are_read_when_asked() -> None:
    model = Model("slider")
    model.parameter("m", 2.0)
    model.particle("block", "m")
    model.joint("rail", "prismatic", "ground", "block", axis="x")
    dense = dense_equations(model.mechanism)
    before = dense.mass_matrix([0.0])[0, 0]
    model.mechanism.set_parameters({"m": 5.0})
    assert (before, dense.mass_matrix([0.0])[0, 0]) == (2.0, 5.0)


def test_parts_that_move_at_zero_speed_show_as_drift() -> None:
    model = Model("turntable")
    q = model.coordinate("q", 0.2)
    A = model.frame("A", "N", axis="z", angle="2*t")
    P = model.point("P", "O", A.vector(q, 0, 0))
    model.particle("bead", 1.0, frame=A, origin=P)
    state = dense_equations(model.mechanism).state([0.5], [0.0], 0.1)
    assert np.isclose(state.speed_at_rest, 2.0) and np.allclose(state.v, [[0.0, 1.0, 0.0]])
    assert np.allclose(state.efforts([0.0]), [-(2.0**2) * 0.5])
