"""Disks on a ramp and bouncing, spinning and sliding balls: when they slip, stick, roll, bounce and rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kane
from cases.changing_records import EXACT, changes, close, disk_in_plane, place, record, since, times

BRACKET = 1e-9  # by which the threshold of friction is bracketed


@pytest.mark.parametrize("case", range(3))
def test_a_disk_released_on_a_ramp_rolls_above_the_threshold_of_friction(case: int) -> None:
    d = record("D01")
    slope, J = math.radians(d.p.phi_deg[case]), d.p.J_over_mr2[case]
    model = disk_in_plane(1.0, 1.0, J, slope=slope, friction=0.1)
    wanted = d.values["mu_star"][case]
    low, high = 0.5 * wanted, 2.0 * wanted
    while high - low > 0.1 * BRACKET:
        middle = 0.5 * (low + high)
        run = model.simulate(1e-3, parameters={"mu": middle})
        low, high = (middle, high) if run.transitions[0].mode["ramp"] == "slips" else (low, middle)
    assert abs(low - wanted) <= BRACKET
    run = model.simulate(1.0, parameters={"mu": wanted * (1 + 1e-9)})
    a = d.values["acceleration_rolling"][case]
    assert run.u[-1] == close([0.0, a, a])
    assert J * run.u[-1, 2] == close(d.values["friction_over_weight_rolling"][case] * d.p.g)


@pytest.mark.parametrize("name", ["D03", "D05"])
def test_a_thrown_disk_slides_and_then_rolls_for_good(name: str) -> None:
    d = record(name)
    p, v = d.p, d.values
    model = disk_in_plane(p.m, p.r, p.J, slope=p.phi_rad, friction=p.mu)
    run = model.simulate(p.T, u=[0, p.v0, p.w0])
    (rolls,) = changes(run)
    x, speed, w = d.events[0]["state"]
    assert rolls.cause == "stick" and rolls.t == close(d.events[0]["t"])
    assert [place(run, rolls.t)[1], *rolls.u_after[1:]] == close([x, speed, w])
    assert [run.q[-1, 1], *run.u[-1, 1:]] == close([v["x_T"], v["v_T"], v["w_T"]])
    after = since(run, rolls.t)
    assert np.abs(run.u[after, 1] - p.r * run.u[after, 2]).max() <= EXACT


def test_a_disk_under_a_pulsating_force_rolls_and_slips_by_turns() -> None:
    d = record("D08")
    p, v = d.p, d.values
    model = disk_in_plane(p.m, p.r, p.J, friction=p.mu)
    model.load("push", kane.Force("disk", (f"{p.P0}*sin({p.Omega}*t)", 0, 0)))
    run = model.simulate(p.T)
    found = changes(run)
    assert [x.cause for x in found] == ["slip" if "slip" in e["kind"] else "stick" for e in d.events]
    assert times(found) == close(times(d.events))
    assert [[place(run, x.t)[1], *x.u_after[1:]] for x in found] == [close(e["state"]) for e in d.events]
    assert [run.q[-1, 1], *run.u[-1, 1:]] == close([v["x_T"], v["v_T"], v["w_T"]])


@pytest.mark.parametrize(("name", "bounces"), [("B01", 146), ("B02", 23)])
def test_a_ball_that_bounces_ever_less_comes_to_rest(name: str, bounces: int) -> None:
    """It strikes `bounces` times before its speed is below 1e-6 m/s."""
    d = record(name)
    p, v = d.p, d.values
    model = kane.Model("ball", gravity=(0, 0, -p.g))
    model.body("ball", mass=1.0)
    model.joint("fall", "prismatic", "ground", "ball", axis="z")
    model.contact("floor", "ball", "ground", restitution=p.e)
    run = model.simulate(v["zeno_time"] + 1.0, q=[p.h0], u=[p.v0])
    struck = changes(run, "impact")
    count = len(v["impact_times"])
    assert times(struck[:count]) == close(v["impact_times"])
    assert [-x.u_before[0] for x in struck[:count]] == close(v["speed_before"])
    assert [(x.u_before[0], x.u_after[0]) for x in struck[:count]] == [
        (-s, close(p.e * s)) for s in (-x.u_before[0] for x in struck[:count])
    ]
    assert sum(x.u_before[0] <= -1e-6 for x in struck) == bounces
    last = changes(run)[-1]
    assert last.mode["floor"] == "sticks" and last.t == close(v["zeno_time"])
    at_rest = since(run, last.t)
    assert np.all(run.q[at_rest] == 0.0) and np.all(run.u[at_rest] == 0.0)


def test_a_ball_thrown_with_back_spin_slips_then_sticks_then_rolls() -> None:
    d = record("B05")
    p, v = d.p, d.values
    model = disk_in_plane(p.m, p.r, 0.4 * p.m * p.r**2, friction=p.mu, restitution=p.e)
    run = model.simulate(p.T, q=[p.h0, 0, 0], u=[p.vy, p.vx, p.w])
    struck = changes(run, "impact")
    for x, e in zip(struck, d.events, strict=False):
        assert [x.t, place(run, x.t)[1]] == close([e["t"], e["x"]])
        assert x.u_after == close([e["vy"], e["vx"], e["w"]])
        assert x.impulse["ramp"] == close([e["normal_impulse"], e["tangential_impulse"]])
        assert x.energy_change == close(-e["energy_lost"])
    last = changes(run)[-1]
    assert last.mode["ramp"] == "sticks" and last.t == close(v["zeno_time"])
    assert [run.q[-1, 1], *run.u[-1]] == close([v["x_T"], 0.0, v["vx_T"], v["w_T"]])


def ball_in_space(m: float, r: float, **law: Any) -> kane.Model:
    """A solid ball over a level floor; the height is 0 where it touches."""
    model = kane.Model("ball", gravity=(0, 0, -9.81))
    model.body("ball", mass=m, inertia=dict.fromkeys(("xx", "yy", "zz"), 0.4 * m * r**2))
    model.joint("free", "free", "ground", "ball", velocity="parent")
    model.contact("floor", "ball", "ground", shape={"sphere": r}, at=(0, 0, -r), **law)
    return model


def turn(q: np.ndarray) -> np.ndarray:
    """The direction cosines of the unit quaternion q: from the body's axes to those of the ground."""
    return np.asarray(Rotation.from_quat(q[:4], scalar_first=True).as_matrix())


def test_a_spinning_ball_bounces_with_friction_in_two_directions() -> None:
    d = record("B08")
    p = d.p
    run = ball_in_space(p.m, p.r, friction=p.mu, restitution=p.e).simulate(
        1.85, q=[1, 0, 0, 0, 0, 0, p.h0], u=[*p.w, *p.v]
    )
    struck = changes(run, "impact")
    assert times(struck) == close(times(d.events))
    for x, e in zip(struck, d.events, strict=True):
        q = place(run, x.t)
        assert q[4:] == close([e["x"], e["y"], 0.0])
        assert x.u_after[3:] == close(e["v_after"])
        assert turn(q) @ x.u_after[:3] == close(e["w_after"])


def test_a_billiard_ball_slides_along_a_parabola_and_rolls_on_straight() -> None:
    d = record("B10")
    p, v = d.p, d.values
    run = ball_in_space(p.m, p.r, friction=p.mu).simulate(p.T, u=[*p.w, 0, *p.v, 0])
    (rolls,) = changes(run)
    q = place(run, rolls.t)
    assert rolls.cause == "stick" and rolls.t == close(v["t_roll"])
    assert q[4:6] == close(v["x_roll"])
    assert rolls.u_after[3:] == close([*v["v_roll"], 0.0])
    assert (turn(q) @ rolls.u_after[:3])[:2] == close(v["w_roll"])
    assert run.q[-1, 4:] == close([*v["x_T"], 0.0])
    energy = run.energy().kinetic
    assert energy[0] - energy[-1] == close(v["energy_lost"])
