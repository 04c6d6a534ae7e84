"""A car whose front wheels are braked until they lock and slide, while the rear ones roll: closed form.

With the deceleration a, normal force N of the front axle and spin rate ω of its wheels: (M + 2 J/r²) a = μ N,
J ω̇ = μ N r/2 − T, and about the contacts of the rear axle, (N − M g/2) L = (m h + 4 m_w r + 2 J/r) a − 2 J ω̇.
"""

from __future__ import annotations

import numpy as np
import pytest

import kane

TIME = 1e-9  # s, of changes
SPEED = 15.0
MIRRORED = 1e-9  # share of the largest force by which forces of two sides differ: rounding


def decelerations(m: kane.Model) -> tuple[np.ndarray, np.ndarray]:
    """(a, N, ω̇) while the brakes slip, and when the wheels are locked."""
    p = {name: parameter.value for name, parameter in m.parameters.items()}
    total, spin = p["m"] + 4 * p["mw"], 0.5 * p["mw"] * p["r"] ** 2
    lever = p["m"] * p["h"] + 4 * p["mw"] * p["r"] + 2 * spin / p["r"]
    rows = np.array(
        [
            [total + 2 * spin / p["r"] ** 2, -p["mu"], 0],
            [-lever, p["wheelbase"], 2 * spin],
            [0, -p["mu"] * p["r"] / 2, spin],
        ]
    )
    right = np.array([0, total * 9.81 * p["wheelbase"] / 2, -p["brake"]])
    locked = np.array([*rows[:2], [0, 0, 1]])
    return np.linalg.solve(rows, right), np.linalg.solve(locked, [*right[:2], 0])


def test_the_front_wheels_lock_and_slide_until_the_car_stands() -> None:
    m = kane.load("braking-car")
    run = m.simulate(np.linspace(0, 4, 401))
    assert run.outcome.success and run.check().passed
    slowing, locked = decelerations(m)
    lock = -SPEED / m.parameters["r"].value / slowing[2]
    stands = lock + (SPEED - slowing[0] * lock) / locked[0]
    changes = run.transitions
    assert {changes[0].mode[name] for name in ("front_left", "front_right", "brake_left", "brake_right")} == {"slips"}
    assert changes[1].t == pytest.approx(lock, abs=TIME) and changes[1].mode["brake_left"] == "sticks"
    assert changes[-1].t == pytest.approx(stands, abs=TIME) and set(changes[-1].mode.values()) == {"sticks"}
    v, during = run.u[:, m.speeds.index("u_root_vx")], (run.t > lock) & (run.t < stands)
    assert v[during] == pytest.approx(locked[0] * (stands - run.t[during]), abs=1e-8)
    front = run.ground().normal[during, :2]
    assert front.sum(axis=1) == pytest.approx(locked[1], rel=1e-9)
    assert np.abs(run.u[run.t > stands]).max() < 1e-12


def test_with_little_braking_the_wheels_roll_and_none_slides() -> None:
    """(M + 4 J/r²) a = 2 T / r."""
    m = kane.load("braking-car")
    m.set_parameters(brake=500.0)
    run = m.simulate([0.0, 0.5, 1.0])
    p = {name: parameter.value for name, parameter in m.parameters.items()}
    a = 2 * 500.0 / p["r"] / (p["m"] + 4 * p["mw"] + 2 * p["mw"])
    assert run.u[:, m.speeds.index("u_root_vx")] == pytest.approx(SPEED - a * run.t, rel=1e-9)
    assert not run.ground().crossings


@pytest.mark.parametrize("brake", [500.0, 1200.0, 2500.0], ids=["rolls", "slides", "locks"])
def test_a_symmetric_car_that_brakes_straight_has_no_lateral_forces(brake: float) -> None:
    """Its left half is the mirror image of its right half, so that the forces are, at every time from the first on: the
    two rear wheels, which grip, must not press against each other while the front ones begin to slide."""
    m = kane.load("braking-car")
    m.set_parameters(brake=brake)
    run = m.simulate(4)
    ground, largest = run.ground(), run.ground().normal.max()
    assert run.t[0] == 0.0 and np.abs(ground.lateral).max() < MIRRORED * largest
    for forces in (ground.longitudinal, ground.normal):
        assert forces[:, 0::2] == pytest.approx(forces[:, 1::2], abs=MIRRORED * largest)
