"""Particles and balls that leave a sphere, roll over an edge, or climb a step."""

from __future__ import annotations

import math
from typing import Any

import pytest

import kane
from cases.changing_records import changes, close, place, reaction, record, since

ROUGH = 1e13
"""A coefficient of friction at which nothing slips until the normal reaction is 1e-13 of the tangential one."""


def in_plane(m: float = 1.0, r: float = 0.0, g: float = 9.81) -> kane.Model:
    """A particle, or a solid ball of radius r, in the plane of x and y: coordinates x, y and the angle of the ball."""
    model = kane.Model("ball", gravity=(0, -g, 0))
    J = 0.4 * m * r * r
    model.body("ball", mass=m, inertia={"xx": J, "yy": J, "zz": J} if r else None)
    if r:
        model.joint("plane", "planar", "ground", "ball", normal="z")
    else:
        model.body("slide")
        model.joint("x", "prismatic", "ground", "slide", axis="x")
        model.joint("y", "prismatic", "slide", "ball", axis="y")
    return model


def test_a_particle_slides_off_a_smooth_sphere() -> None:
    d = record("L01")
    p, v = d.p, d.values
    model = in_plane()
    model.contact("sphere", "ball", "ground", surface={"sphere": p.R})
    model.contact("floor", "ball", "ground", at=(0, -p.R, 0))
    s, c = math.sin(p.theta0), math.cos(p.theta0)
    run = model.simulate(v["t_ground"] + 1e-3, q=[p.R * s, p.R * c], u=[p.v0 * c, -p.v0 * s])
    leaves, lands = changes(run)
    x, y = place(run, leaves.t)
    assert leaves.cause == "release" and leaves.t == close(v["t_leave"])
    assert [x, y, math.atan2(x, y)] == close([v["x_leave"], v["y_leave"], v["theta_leave"]])
    assert math.hypot(*leaves.u_after) == close(v["speed_leave"])
    assert lands.t == close(v["t_ground"]) and place(run, lands.t)[0] == close(v["x_ground"])
    assert lands.u_before == close([v["vx_ground"], v["vy_ground"]])


def rolling_off(mu: float, t: float) -> kane.Trajectory:
    """The ball of L03, rolling from its start with the friction mu, over t (s)."""
    p = record("L03").p
    model = in_plane(r=p.r)
    ball = {"sphere": p.r}
    model.contact("sphere", "ball", "ground", shape=ball, surface={"sphere": p.R}, friction=mu)
    model.contact("floor", "ball", "ground", shape=ball, at=(0, -p.R, 0), friction=mu)
    s, c = math.sin(p.theta0), math.cos(p.theta0)
    way = p.R + p.r
    return model.simulate(t, q=[way * s, way * c, 0], u=[p.v0 * c, -p.v0 * s, -p.v0 / p.r])


def test_a_ball_that_rolls_off_a_sphere_slips_before_it_leaves() -> None:
    d = record("L03")
    v = d.values["finite_mu"]
    run = rolling_off(d.p.mu, v["t_ground"] + 1e-3)
    slips, leaves, lands = changes(run)[:3]
    assert [slips.cause, leaves.cause, lands.cause] == ["slip", "release", "impact"]
    x, y, _ = place(run, slips.t)
    assert [slips.t, math.atan2(x, y)] == close([v["t_slip"], v["theta_slip"]])
    x, y, _ = place(run, leaves.t)
    assert [leaves.t, math.atan2(x, y)] == close([v["t_leave"], v["theta_leave"]])
    speed, spin = math.hypot(*leaves.u_after[:2]), -d.p.r * leaves.u_after[2]
    assert [speed, spin] == close([v["centre_speed_leave"], v["spin_surface_speed_leave"]])
    assert speed - spin == close(v["slip_leave"])
    assert [lands.t, place(run, lands.t)[0]] == close([v["t_ground"], v["x_ground"]])
    assert lands.u_before[1] == close(v["vy_ground"])


def test_a_ball_that_cannot_slip_leaves_a_sphere_where_its_energy_says() -> None:
    v = record("L03").values["no_slip"]
    run = rolling_off(ROUGH, v["t_leave"] + 1e-3)
    leaves = changes(run, "release")[0]
    x, y, _ = place(run, leaves.t)
    assert [leaves.t, math.atan2(x, y)] == close([v["t_leave"], v["theta_leave"]])
    assert math.hypot(*leaves.u_after[:2]) == close(v["speed"])


def test_a_particle_leaves_a_rough_sphere() -> None:
    d = record("L05")
    p, v = d.p, d.values
    model = in_plane()
    model.contact("sphere", "ball", "ground", surface={"sphere": p.R}, friction=p.mu)
    s, c = math.sin(p.theta0), math.cos(p.theta0)
    run = model.simulate(v["t_event"] + 1e-3, q=[p.R * s, p.R * c], u=[p.v0 * c, -p.v0 * s])
    (leaves,) = changes(run)
    x, y = place(run, leaves.t)
    assert leaves.cause == "release"
    assert [leaves.t, math.atan2(x, y)] == close([v["t_event"], v["theta_event"]])
    assert math.hypot(*leaves.u_after) == close(v["speed_event"])


@pytest.mark.parametrize("before", [0.0, 0.1])
def test_a_ball_rolls_over_the_sharp_edge_of_a_table(before: float) -> None:
    """From above the edge, or from the time `before` (s) that it is there."""
    d = record("L08")
    p, v = d.p, d.values
    model = in_plane(r=p.r)
    table: dict[str, Any] = {"box": (2, 1, 1), "at": (-1, -0.5, 0)}
    model.contact("table", "ball", "ground", shape={"sphere": p.r}, surface=table, friction=ROUGH)
    run = model.simulate(before + v["t_leave"] + 1e-3, q=[-before * p.v0, p.r, 0], u=[p.v0, 0, -p.v0 / p.r])
    leaves = changes(run, "release")[0]
    x, y, _ = place(run, leaves.t)
    assert [leaves.t - before, math.atan2(x, y)] == close([v["t_leave"], v["theta_leave"]])
    assert math.hypot(*leaves.u_after[:2]) == close(v["speed_leave"])
    assert -leaves.u_after[2] == close(v["angular_velocity_leave"])


def test_a_rolling_ball_climbs_a_step() -> None:
    d = record("L10")
    p, v = d.p, d.values
    model = in_plane(r=p.r)
    step: dict[str, Any] = {"box": (2, p.h, 1), "at": (1, p.h / 2, 0)}
    ball = {"sphere": p.r}
    model.contact("floor", "ball", "ground", shape=ball, friction=ROUGH)
    model.contact("step", "ball", "ground", shape=ball, surface=step, friction=ROUGH)
    reach = math.sqrt(p.r**2 - (p.r - p.h) ** 2)
    watch = {"top": "q_plane_1"}
    start = [-reach - 0.1 * p.v0, p.r, 0.0]
    run = model.simulate(0.5, q=start, u=[p.v0, 0, -p.v0 / p.r], events=watch)
    strikes = changes(run)[0]
    assert strikes.cause == "impact" and strikes.t == close(0.1)
    assert strikes.mode == {"floor": "open", "step": "sticks"}
    assert -strikes.u_after[2] == close(v["angular_velocity_after"])
    assert math.hypot(*strikes.u_after[:2]) == close(v["speed_after"])
    assert -strikes.energy_change == close(v["energy_lost_over_m"])
    assert set(strikes.impulse) == {"step"}
    normal, along = strikes.impulse["step"]
    assert [normal, abs(along)] == close([v["normal_impulse_over_m"], v["tangential_impulse_over_m"]])
    pressed = reaction(run, "step.normal")[since(run, strikes.t)][0]
    assert pressed == close(v["N_over_mg_after_impact"] * p.g)
    top = run.events[0]
    assert top.t[0] - strikes.t == close(v["time_to_top"])
    assert run.u[-1] == close([v["speed_on_top"], 0.0, -v["speed_on_top"] / p.r])


@pytest.mark.parametrize("share", [1 - 1e-6, 1 + 1e-6])
def test_a_rolling_ball_climbs_a_step_above_its_threshold_only(share: float) -> None:
    d = record("L10")
    p, v = d.p, d.values
    model = in_plane(r=p.r)
    step: dict[str, Any] = {"box": (2, p.h, 1), "at": (1, p.h / 2, 0)}
    ball = {"sphere": p.r}
    model.contact("floor", "ball", "ground", shape=ball, friction=ROUGH)
    model.contact("step", "ball", "ground", shape=ball, surface=step, friction=ROUGH)
    reach = math.sqrt(p.r**2 - (p.r - p.h) ** 2)
    speed = share * v["threshold_speed"]
    run = model.simulate(2.0, q=[-reach, p.r, 0.0], u=[speed, 0, -speed / p.r])
    assert (run.q[-1, 0] > 0.0) == (share > 1.0)
