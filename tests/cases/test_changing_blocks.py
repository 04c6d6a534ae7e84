"""Blocks that rock, and boxes on a slope, on their corners: contacts that are redundant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kane
from cases.changing_records import EXACT, changes, close, place, reaction, record, since, times

ROCKING = 1e-9  # s, rad/s: tolerance of the rocking block
ENOUGH = 1.0  # coefficient of friction at which the rocking block does not slide
THROWN = 1e-9  # tolerance of the box thrown across a slope
TURNS = 1e-10  # rad, m: corners of a box are struck with differences of 1e-16, again and again until it rests
BRACKET = 1e-8  # share by which a threshold of friction is bracketed


def rocking_block(b: float, h: float, mu: float = ENOUGH) -> kane.Model:
    """A uniform block of 1 kg on two corners; z, x of the middle of its base, the angle positive to +x."""
    model = kane.Model("block", gravity=(0, 0, -9.81))
    J = (b * b + h * h) / 3
    model.body("block", mass=1.0, center=(0, 0, h), inertia={"xx": J, "yy": J, "zz": J})
    names: dict[str, Any] = {"coordinates": ["z", "x", "angle"], "speeds": ["vz", "vx", "w"]}
    model.joint("plane", "planar", "ground", "block", normal="y", **names)
    for name, side in (("right", b), ("left", -b)):
        model.contact(name, "block", "ground", shape={"point": (side, 0, 0)}, friction=mu)
    return model


def on_right_corner(b: float, angle: float) -> list[float]:
    """Coordinates of the block, turned about its right corner."""
    return [b * math.sin(angle), b - b * math.cos(angle), angle]


def test_a_rocking_block_loses_what_the_two_corners_take() -> None:
    """The ratio of speeds is no input: it comes out of the contact problem of both corners."""
    d = record("R01")
    p, v = d.p, d.values
    model = rocking_block(p.b, p.h)
    turns = {"turn": "w"}
    run = model.simulate(v["zeno_time"] + 0.5, q=on_right_corner(p.b, p.theta0), events=turns)
    struck = changes(run, "impact")
    for k, (x, e) in enumerate(zip(struck, d.events, strict=False)):
        new, old = ("left", "right") if k % 2 == 0 else ("right", "left")
        assert x.t == close(e["t"], ROCKING)
        assert [x.u_before[2], x.u_after[2]] == close([e["speed_before"], e["speed_after"]], ROCKING)
        assert x.energy_change == close(-e["energy_lost_over_m"], ROCKING)
        assert x.mode == {new: "sticks", old: "open"} and set(x.impulse) == {new}
        assert abs(x.impulse[new][1] / x.impulse[new][0]) == close(v["mu_needed_impact"], ROCKING)
    last = changes(run)[-1]
    assert last.t == close(v["zeno_time"], ROCKING) and last.mode == {"right": "sticks", "left": "sticks"}
    assert np.abs(run.u[since(run, last.t)]).max() <= EXACT


def test_a_squat_block_stops_dead() -> None:
    d = record("R04")
    p, v = d.p, d.values
    run = rocking_block(p.b, p.h).simulate(1.0, q=on_right_corner(p.b, p.theta0))
    (struck,) = changes(run)
    assert struck.cause == "impact" and struck.t == close(v["t_impact"])
    assert np.abs(run.u[since(run, struck.t)]).max() <= EXACT
    assert set(struck.impulse) == {"left", "right"}


def test_a_block_rocks_under_one_pulse_of_the_floor() -> None:
    """The floor is a body whose motion is given; it moves as ∬ ap g sin(wp t)."""
    d = record("R05")
    p, v = d.p, d.values
    end, k = 2 * math.pi / p.wp, p.ap * p.g / p.wp
    model = kane.Model("block", gravity=(0, 0, -p.g))
    model.body("floor")
    way = f"{k}*select(t < {end}, t - sin({p.wp}*t)/{p.wp}, {end})"
    model.joint("shake", "prismatic", "ground", "floor", axis="x", prescribed=[way])
    J = (p.b**2 + p.h**2) / 3
    model.body("block", mass=1.0, center=(0, 0, p.h), inertia={"xx": J, "yy": J, "zz": J})
    names: dict[str, Any] = {"coordinates": ["z", "x", "angle"], "speeds": ["vz", "vx", "w"]}
    model.joint("plane", "planar", "ground", "block", normal="y", **names)
    for name, side in (("right", p.b), ("left", -p.b)):
        model.contact(name, "block", "floor", shape={"point": (side, 0, 0)}, normal="z", friction=ENOUGH)
    run = model.simulate(v["t_end"] + 1e-3)
    found = changes(run)
    assert times(found) == close(times(d.events))
    assert found[0].cause == "release" and all(x.cause == "impact" for x in found[1:])
    for x, e in zip(found[1:], d.events[1:], strict=True):
        assert [x.u_before[2], x.u_after[2]] == close([e["speed_before"], e["speed_after"]])
        assert place(run, x.t)[2] == close(0.0)


def box_on_plane(
    bx: float, by: float, h: float, m: float, *, slope: float = 0.0, by_angles: bool = False, **law: Any
) -> kane.Model:
    """A uniform box of half-lengths bx, by, h on the plane of x (down the slope) and y; its height is 0 at rest.

    Its coordinates are a quaternion and x, y, z, or, `by_angles`, x, y, z and three angles, which are known better near
    0 than a quaternion is near 1.
    """
    model = kane.Model("box", gravity=(9.81 * math.sin(slope), 0, -9.81 * math.cos(slope)))
    Jx, Jy, Jz = m / 3 * (by**2 + h**2), m / 3 * (bx**2 + h**2), m / 3 * (bx**2 + by**2)
    model.body("box", mass=m, inertia={"xx": Jx, "yy": Jy, "zz": Jz})
    if by_angles:
        for axis, parent in zip("xyz", ("ground", "along x", "along y"), strict=True):
            model.body(f"along {axis}")
            model.joint(axis, "prismatic", parent, f"along {axis}", axis=axis)
        model.joint("turn", "gimbal", "along z", "box")
    else:
        model.joint("free", "free", "ground", "box", velocity="parent")
    model.contact("floor", "box", "ground", shape={"box": (2 * bx, 2 * by, 2 * h)}, normal="z", at=(0, 0, -h), **law)
    return model


def test_a_box_on_a_slope_sticks_exactly_below_the_cone_and_slides_straight_above_it() -> None:
    d = record("X01")
    p, v = d.p, d.values
    for case in v["cases"]:
        sticks = case["sticks"]
        model = box_on_plane(p.bx, p.by, p.h, p.m, slope=math.radians(p.phi_deg), friction=case["mu"])
        run = model.simulate(100.0 if sticks else 2.0)
        assert not changes(run)
        below = [f"floor.{k}" for k in (1, 3, 5, 7)]
        assert sum(reaction(run, f"{name}.normal")[-1] for name in below) == close(v["normal_force_total"])
        assert all(run.transitions[0].mode[name] == ("sticks" if sticks else "slips") for name in below)
        if sticks:
            assert np.abs(run.u).max() <= EXACT and np.abs(run.q[-1] - run.q[0]).max() <= 1e-12
        else:
            x = case["distance_after_2s"]
            assert run.q[-1] == close([1, 0, 0, 0, x, 0, 0])
            assert run.u[-1] == close([0, 0, 0, case["speed_after_2s"], 0, 0])


def test_a_box_slides_down_a_slope_stops_and_sticks() -> None:
    d = record("X03")
    p, v = d.p, d.values
    model = box_on_plane(p.bx, p.by, p.h, p.m, slope=math.radians(p.phi_deg), friction=p.mu)
    run = model.simulate(3.0, u=[0, 0, 0, p.v0, 0, 0])
    last = changes(run)[-1]
    assert last.t == close(v["t_stop"]) and run.q[-1, 4] == close(v["distance"])
    assert np.abs(run.u[since(run, last.t)]).max() <= EXACT


def test_the_path_of_a_box_thrown_across_a_slope_curves_and_ends_in_sticking() -> None:
    d = record("X05")
    p, v = d.p, d.values
    model = box_on_plane(p.bx, p.by, p.h, p.m, slope=math.radians(p.phi_deg), friction=p.mu)
    run = model.simulate(1.0, u=[0, 0, 0, 0, p.v0, 0])
    last = changes(run)[-1]
    assert last.t == close(v["t_stop"], THROWN)
    wanted = [1, 0, 0, 0, v["downhill_displacement"], v["lateral_displacement"], 0]
    assert run.q[-1] == close(wanted, THROWN)
    assert np.abs(run.u[since(run, last.t)]).max() <= EXACT


@pytest.mark.parametrize("by_angles", [True, False])
def test_a_box_that_falls_flat_does_not_turn(by_angles: bool) -> None:
    d = record("X08")
    p, v = d.p, d.values
    model = box_on_plane(p.bx, p.by, p.h, p.m, friction=p.mu, restitution=p.e, by_angles=by_angles)
    run = model.simulate(1.5, q=[0, 0, p.h0, 0, 0, 0] if by_angles else [1, 0, 0, 0, 0, 0, p.h0])
    struck = changes(run, "impact")
    count = len(v["impact_times"])
    assert times(struck[:count]) == close(v["impact_times"])
    assert changes(run)[-1].t == close(v["zeno_time"])
    assert np.abs(np.delete(run.q - run.q[0], 2 if by_angles else 6, axis=1)).max() <= TURNS
    assert np.abs(run.u[-1]).max() <= EXACT


def test_a_cube_thrown_flat_over_the_floor_stays_on_it() -> None:
    d = record("X09")
    p, v = d.p, d.values
    model = box_on_plane(p.bx, p.by, p.h, p.m, friction=p.mu)
    run = model.simulate(2.0, u=[0, 0, 0, p.v0, 0, 0])
    last = changes(run)[-1]
    assert last.t == close(v["t_stop"]) and run.q[-1, 4] == close(v["distance"])
    assert np.abs(run.q[:, 6]).max() <= EXACT
    rear, front = (reaction(run, f"floor.{k}.normal")[0] for k in (1, 5))
    assert front / rear == close(v["N_front_over_N_rear"])
    assert np.abs(run.u[since(run, last.t)]).max() <= EXACT


def test_a_block_in_a_groove_feels_the_friction_of_both_walls() -> None:
    d = record("X11")
    p, v = d.p, d.values
    slope, beta = math.radians(p.phi_deg), math.radians(p.beta_deg)
    model = kane.Model("groove", gravity=(p.g * math.sin(slope), 0, -p.g * math.cos(slope)))
    model.parameter("mu", p.mu, free=True)
    parent = "ground"
    for axis in "xyz":
        body = "block" if axis == "z" else f"along {axis}"
        model.body(body, mass=1.0 if axis == "z" else 0.0)
        model.joint(axis, "prismatic", parent, body, axis=axis)
        parent = body
    for name, side in (("left", 1.0), ("right", -1.0)):
        normal = (0, side * math.cos(beta), math.sin(beta))
        model.contact(name, "block", "ground", normal=normal, friction="mu")
    run = model.simulate(1.0)
    assert run.u[-1] == close([v["acceleration"], 0, 0])
    for name in ("left", "right"):
        assert reaction(run, f"{name}.normal")[-1] == close(v["N_each_over_mg"] * p.g)
    for share, state in ((1 - BRACKET, "slips"), (1 + BRACKET, "sticks")):
        run = model.simulate(0.1, parameters={"mu": share * v["mu_threshold"]})
        assert run.transitions[0].mode == {"left": state, "right": state}


@pytest.mark.parametrize("share", [1.0, 1.01, 0.99])
def test_a_box_that_is_pushed_tips_or_slides_by_the_height_of_the_push(share: float) -> None:
    """Pushed with t newtons, at the height of the record and just above and below the critical one."""
    d = record("X13")
    p, v = d.p, d.values
    height = p.z if share == 1.0 else share * v["critical_height"]
    tips = height > v["critical_height"]
    model = kane.Model("box", gravity=(0, 0, -p.g))
    J = p.m / 3 * (p.b**2 + p.h**2)
    model.body("box", mass=p.m, center=(0, 0, p.h), inertia={"xx": J, "yy": J, "zz": J})
    model.joint("plane", "planar", "ground", "box", normal="y")
    for name, side in (("front", p.b), ("rear", -p.b)):
        model.contact(name, "box", "ground", shape={"point": (side, 0, 0)}, friction=p.mu)
    model.load("push", kane.Force("box", ("t", 0, 0), at=(0, 0, height), frame="ground"))
    limit = p.m * p.g * p.b / height if tips else v["F_slide"]
    run = model.simulate(limit + 1e-3)
    first = changes(run)[0]
    assert first.t == close(limit) and first.cause == ("release" if tips else "slip")
    assert first.mode == ({"front": "sticks", "rear": "open"} if tips else {"front": "slips", "rear": "slips"})
    if share == 1.0:
        assert first.t == close(v["F_tip"])


@pytest.mark.parametrize("terminal", [False, True])
def test_a_box_that_begins_to_slide_is_found_where_it_has_come_to(terminal: bool) -> None:
    """s = a t²/2 with a = g (sin φ − μ cos φ): once, at one time, however often the mode is looked at before."""
    model = kane.load("box-on-incline", free=["mu"])
    g, phi = model.parameters["g"].value, model.parameters["phi"].value
    levels = {f"x{k}": {"expression": f"abs(x) - 1e-{k}", "terminal": terminal and k == 3} for k in (2, 3, 4, 5)}
    for mu in (0.02, 0.1, 0.2, 0.35):
        run = model.simulate(0.3, parameters={"mu": mu}, events=levels)
        a = g * (math.sin(phi) - mu * math.cos(phi))
        for k, found in zip((2, 3, 4, 5), run.events, strict=True):
            wanted = math.sqrt(2 * 10.0**-k / a)
            expected = [wanted] if wanted < 0.3 and (not terminal or k >= 3) else []
            np.testing.assert_allclose(found.t, expected, rtol=1e-9, err_msg=f"mu = {mu}, {found.event.name}")
