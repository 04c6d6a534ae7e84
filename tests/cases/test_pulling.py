"""Where the ground would have to pull what rolls on it: told unasked, from the time at which it would lift."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kane


def pulls_of(run: kane.Trajectory) -> dict[str, float]:
    """Body → time (s) from which on it would have to be pulled."""
    found = re.findall(r"would have to pull '([^']+)' from t = ([\d.e-]+) s", str(run.outcome))
    return {body: float(t) for body, t in found}


def ball_on_ball() -> kane.Model:
    m = kane.Model("ball on ball", gravity=(0, 0, -9.81))
    inertia = 0.4 * 2.0 * 0.1**2
    m.body("ball", mass=2.0, inertia={"xx": inertia, "yy": inertia, "zz": inertia})
    m.joint("flight", "free", "ground", "ball", velocity="parent")
    m.constrain("hill", kane.RollingOnSphere("ball", radius=0.1, on_radius=0.9))
    return m


@pytest.mark.parametrize("times", [5.0, np.linspace(0.0, 5.0, 2001)])
def test_a_ball_that_rolls_down_a_ball_lifts_at_ten_seventeenths_of_the_height(times: Any) -> None:
    """m v²/(R + r) = m g cos θ and 7/10 m v² = m g (R + r) (1 − cos θ), from rest at the top."""
    m = ball_on_ball()
    x, y, z = (c.name for c in m.joints["flight"].coordinates[4:])
    run = m.simulate(times, q={z: 1.0, x: 0.0, y: 0.0}, u={m.speeds[3]: 1e-3})
    pulls = pulls_of(run)
    assert list(pulls) == ["ball"]
    assert np.interp(pulls["ball"], run.t, run[z]) == pytest.approx(10.0 / 17.0, abs=2e-3)


def test_a_motion_ends_where_it_is_told_to_end() -> None:
    m = ball_on_ball()
    z, x = m.joints["flight"].coordinates[6].name, m.speeds[3]
    run = m.simulate(5, q={z: 1.0}, u={x: 1e-3}, events={"lifts": {"expression": "hill.normal", "terminal": True}})
    assert run.outcome.reason == "event" and run[z][-1] == pytest.approx(10.0 / 17.0, abs=1e-5)
    assert not pulls_of(run)


def test_wheels_of_a_bicycle_that_falls_are_pulled_where_reactions_say() -> None:
    """The rear wheel's height is kept by a planar joint, the front wheel's by a row of its own; z is down."""
    m = kane.load("whipple-bicycle")
    run = m.simulate(5, u={"ux": 3.0})
    reactions = run.reactions()
    loads = {
        "rear-wheel": -reactions["place"].force[:, 2],
        "front-wheel": reactions.multiplier("front.normal"),
    }
    pulls = pulls_of(run)
    assert pulls.keys() == loads.keys() and list(pulls) == ["rear-wheel", "front-wheel"]
    for body, load in loads.items():
        assert load[run.t < pulls[body] - 1e-3].min() > 0.0
        assert load[run.t > pulls[body] + 1e-3][0] < 0.0
    assert not pulls_of(m.simulate(5))


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_what_rolls_straight_ahead_is_not_said_to_be_pulled_by_rounding(gravity: float) -> None:
    m = kane.Model("ball", gravity=(0, 0, -gravity))
    m.body("ball", mass=2.0, inertia={"xx": 0.008, "yy": 0.008, "zz": 0.008})
    m.joint("flight", "free", "ground", "ball", velocity="parent")
    m.constrain("table", kane.RollingSphere("ball", radius=0.1))
    z = m.joints["flight"].coordinates[6].name
    run = m.simulate(5, q={z: 0.1}, u={m.speeds[3]: 0.7, m.speeds[4]: -0.3})
    assert run.outcome.success and not pulls_of(run)


def test_loads_that_rigid_bodies_leave_open_are_not_judged() -> None:
    """Four balls under a table: what the third carries is nobody's knowledge."""
    m = kane.Model("table", gravity=(0, 0, -9.81))
    m.body("table", mass=2.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    m.joint("flight", "free", "ground", "table", velocity="parent")
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (5, 5))):
        m.constrain(f"leg{k}", kane.RollingSphere("table", radius=0.1, center=(x, y, 0)))
    z = m.joints["flight"].coordinates[6].name
    assert not pulls_of(m.simulate(0.1, q={z: 0.1}))
