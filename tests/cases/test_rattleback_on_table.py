"""A rattleback that lies on a table by contact and dry friction, against the one that rolls by constraint."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import kane

ROLLING = 1e-8  # of states after 6 s, both integrated
ONSET = 1e-7  # s, of the slip: read from samples of the other motion


@pytest.fixture(scope="module", name="rolling")
def make_rolling() -> Iterator[kane.Trajectory]:
    yield kane.load("rattleback").simulate(6.0)


def friction_used(run: kane.Trajectory) -> np.ndarray:
    """Friction over the normal force, whatever the order of the rows."""
    force = np.sort(np.abs(run.multipliers), axis=1)
    return np.hypot(force[:, 0], force[:, 1]) / force[:, 2]


def test_with_enough_friction_it_rolls_and_turns_round(rolling: kane.Trajectory) -> None:
    model = kane.load("rattleback-on-table")
    run = model.simulate(6.0, q=rolling.q[0], u=rolling.u[0])
    assert run.outcome.success and len(run.transitions) == 1 and run.check().passed
    assert run.q[-1] == pytest.approx(rolling.q[-1], abs=ROLLING)
    assert run.u[-1] == pytest.approx(rolling.u[-1], abs=ROLLING * 100)
    assert run.u[0, 2] < 0.0 < run.u[-1, 2]
    normal, *along = run.multipliers.T
    used = np.hypot(*along) / normal
    assert used.max() == pytest.approx(friction_used(rolling).max(), rel=1e-3) and normal.min() > 0.0


@pytest.mark.parametrize("mu", [0.3, 0.5])
def test_it_slips_where_rolling_needs_more_friction(rolling: kane.Trajectory, mu: float) -> None:
    used = friction_used(rolling)
    k = int(np.flatnonzero(used > mu)[0])
    times = np.linspace(rolling.t[k - 1], rolling.t[k], 20001)
    dense = kane.load("rattleback").simulate(np.concatenate([[0.0], times]))
    onset = dense.t[np.flatnonzero(friction_used(dense) > mu)[0]]
    model = kane.load("rattleback-on-table")
    model.set_parameters(mu=mu)
    start = {"q": rolling.q[0], "u": rolling.u[0]}
    run = model.simulate(onset + 1e-9, **start)
    slip = next(x for x in run.transitions if x.cause == "slip")
    assert slip.t == pytest.approx(onset, abs=ONSET)


def test_without_friction_it_does_not_turn_round() -> None:
    """No horizontal force, no torque about the vertical: momentum along x and y and angular momentum about z stay."""
    model = kane.load("rattleback-on-table")
    model.set_parameters(mu=0.0)
    run = model.simulate(5.0)
    assert run.outcome.success and run.check().passed
    q0, q1, q2, q3 = run.q[:, :4].T
    up = np.array([2 * (q1 * q3 - q0 * q2), 2 * (q2 * q3 + q0 * q1), 1 - 2 * (q1**2 + q2**2)])  # z of N in the stone
    p = {name: parameter.value for name, parameter in model.parameters.items()}
    inertia = np.array([[p["A"], p["D"], 0], [p["D"], p["B"], 0], [0, 0, p["C"]]])
    about = np.sum(up * (inertia @ run.u[:, :3].T), axis=0)
    assert about == pytest.approx(about[0], rel=1e-10)
    assert run.u[:, 2].max() < 0.0
