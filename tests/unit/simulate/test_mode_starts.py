"""Where a mode begins: every function that tells its end is at zero or above, or the choice of the mode acts on it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

G, MU = 9.81, 0.4
ON_TIME = 1e-12  # s, of a slip that begins where friction is overcome
SAME = 1e-12  # of states, beside closed forms
WITHIN = 1e-9  # share by which friction may seem to exceed its bound
FIRST_ORDER = 0.05  # share by which time stepping at 1 ms is off


def pushed_box(x: str, y: str = "0", at: tuple[float, float, float] = (0, 0, 0)) -> kane.Model:
    """The built-in box of 3 kg on its four corners, on level ground, with a force on it (N)."""
    box = kane.load("box-on-incline")
    box.set_parameters(phi=0.0)
    box.load("push", kane.Force("box", (x, y, 0), at=at, frame="ground"))
    return box


@pytest.mark.parametrize("height", [0.0, 0.05])
@pytest.mark.parametrize("across", [0.0, 0.7])
def test_a_box_on_four_corners_begins_to_slip_when_the_push_reaches_its_friction(across: float, height: float) -> None:
    """The slip grows like (t − t1)²: at its beginning it has neither speed nor acceleration."""
    rate = math.hypot(3.0, across)
    run = pushed_box("3*t*m", f"{across}*t*m", (0, 0, height)).simulate(5.0)
    start = MU * G / rate
    (slip,) = run.transitions[1:]
    assert run.outcome.success and slip.cause == "slip" and set(slip.mode.values()) == {"slips"}
    assert slip.t == pytest.approx(start, abs=ON_TIME)
    assert np.hypot(*run.q[-1, 4:6]) == pytest.approx(rate * (5.0 - start) ** 3 / 6, rel=SAME)
    assert np.arctan2(run.q[-1, 5], run.q[-1, 4]) == pytest.approx(math.atan2(across, 3.0), abs=SAME)


def test_a_slip_that_begins_turns_with_the_force() -> None:
    """Against a particle in the plane under the same force and friction, which is started a moment later."""
    force = ("10*t*cos(t)", "10*t*sin(t)")
    run = pushed_box(f"m*({force[0]})", f"m*({force[1]})").simulate(2.0, rtol=1e-10, atol=1e-12)
    assert run.outcome.success and run.transitions[1].t == pytest.approx(MU * G / 10, abs=ON_TIME)
    k = int(np.flatnonzero(run.t > run.transitions[1].t + 0.01)[0])
    m = kane.Model("particle")
    m.particle("particle", 1.0)
    m.body("along x")
    m.joint("x", "prismatic", "ground", "along x", axis="x", coordinates=["x"], speeds=["vx"])
    m.joint("y", "prismatic", "along x", "particle", axis="y", coordinates=["y"], speeds=["vy"])
    friction = [f"-{MU * G}*{v}/sqrt(vx**2 + vy**2)" for v in ("vx", "vy")]
    total = tuple(f"{f} {r}" for f, r in zip(force, friction, strict=True))
    m.load("all", kane.Force("particle", (*total, 0), frame="ground"))
    span = (float(run.t[k]), 2.0)
    alone = m.simulate(span, q=run.q[k, 4:6], u=run.u[k, 3:5], rtol=1e-10, atol=1e-12)
    assert run.u[-1, 3:5] == pytest.approx(alone.u[-1], abs=1e-8)
    assert np.abs(run.u[-1, :3]).max() <= 1e-9


def test_corners_share_their_friction_until_the_box_slips() -> None:
    """Pushed aside of its middle, a corner that has reached its friction leaves the rest to others: none slips alone,
    and all forces stay within their cones until no such forces keep the box."""
    box = pushed_box("3*t*m", at=(0, 0.05, 0))
    run = box.simulate(1.6)
    assert run.outcome.success
    slip = run.transitions[1]
    assert slip.t > 1.2 and all(state == "slips" for state in slip.mode.values())
    resting = np.flatnonzero(run.t < slip.t)
    force = run.multipliers[resting].reshape(len(resting), 4, 3)
    assert np.abs(run.u[resting]).max() <= 1e-13
    assert (np.hypot(force[..., 1], force[..., 2]) <= (1 + WITHIN) * MU * force[..., 0]).all()
    steps = box.simulate(1.6, contacts="stepping", step=1e-3)
    assert run.u[-1, 2:4] == pytest.approx(steps.u[-1, 2:4], rel=FIRST_ORDER)


def test_a_leg_that_would_pull_is_open() -> None:
    """A box that stands with its mass over one corner: of the forces of least norm that of the opposite one pulls."""
    m = kane.Model("box", gravity=(0, 0, -G))
    m.body("box", mass=1.0, center=(0.09, 0.09, 0.0), inertia={"xx": 0.01, "yy": 0.01, "zz": 0.01})
    m.joint("free", "free", "ground", "box", velocity="parent", initial=[1, 0, 0, 0, 0, 0, 0.05])
    corners = [(x, y, -0.05) for x in (0.1, -0.1) for y in (0.1, -0.1)]
    m.contact("floor", "box", "ground", shape={"vertices": corners}, friction=0.5)
    run = m.simulate(1.0)
    assert run.outcome.success and np.abs(run.u).max() <= 1e-12
    normal = run.multipliers.reshape(len(run.t), 4, 3)[..., 0]
    assert normal.min() >= -1e-9 and normal.sum(axis=1) == pytest.approx(G)
    assert run.transitions[0].mode["floor.4"] == "open"


def weight_on_hook(limit: str, **conditions: Any) -> kane.Model:
    """A particle of 1 kg on a vertical line, which is caught by a hook and let go again by a condition."""
    m = kane.Model("weight", gravity=(0, 0, -G))
    m.particle("weight", 1.0)
    m.joint("line", "prismatic", "ground", "weight", axis="z", coordinates=["z"], speeds=["v"])
    m.constrain("hook", kane.MotionEquations("v"), until=limit, **conditions)
    return m


def test_a_hook_that_cannot_carry_what_it_catches_lets_go_at_once() -> None:
    """The force is above its limit from the first instant, so that it never rises through it."""
    run = weight_on_hook("abs(hook) - 5", when="t - 0.5").simulate(1.0)
    imposed, freed = run.transitions[1:]
    assert (imposed.cause, freed.cause) == ("imposed", "freed") and imposed.t == freed.t == pytest.approx(0.5)
    assert run.u[-1, 0] == pytest.approx(-G * 0.5)


def test_a_hook_that_is_overloaded_at_the_start_does_not_hold() -> None:
    run = weight_on_hook("abs(hook) - 5").simulate(1.0)
    assert [x.cause for x in run.transitions] == ["start", "freed"] and run.transitions[1].t == 0.0
    assert run.u[-1, 0] == pytest.approx(-G)


def test_a_condition_that_rises_in_an_impact_is_met() -> None:
    """The speed jumps through the condition: it is below before the bounce and above after it."""
    m = kane.Model("ball", gravity=(0, 0, -G))
    m.particle("ball", 1.0)
    m.joint("line", "prismatic", "ground", "ball", axis="z", coordinates=["z"], speeds=["v"])
    m.contact("floor", "ball", "ground", shape={"point": (0, 0, 0)}, restitution=0.5)
    m.constrain("brake", kane.MotionEquations("v"), when="v - 1")
    run = m.simulate(1.0, q=[1.0])
    struck = math.sqrt(2.0 / G)
    assert [x.cause for x in run.transitions] == ["start", "impact", "imposed"]
    assert [x.t for x in run.transitions[1:]] == pytest.approx([struck, struck])
    assert run.u[-1, 0] == 0.0


# -- contacts under conditions -------------------------------------------------------------------------------------


def ball_over_gate(**conditions: Any) -> kane.Model:
    """A ball that falls from 1 m on a gate which may be open."""
    m = kane.Model("ball", gravity=(0, 0, -G))
    m.particle("ball", 1.0)
    m.joint("line", "prismatic", "ground", "ball", axis="z", coordinates=["z"], speeds=["v"])
    m.contact("gate", "ball", "ground", shape={"point": (0, 0, 0)}, normal="z", **conditions)
    return m


def test_a_contact_holds_until_its_condition_ends_it() -> None:
    """The ball lies on the gate from its fall on, and falls on when it opens at 2 s."""
    run = ball_over_gate(until="t - 2").simulate(3.0, q=[1.0])
    assert [x.cause for x in run.transitions] == ["start", "impact", "freed"]
    assert run.transitions[-1].t == pytest.approx(2.0) and run.transitions[-1].mode == {"gate": "open"}
    assert run.q[-1, 0] == pytest.approx(-G / 2) and run.u[-1, 0] == pytest.approx(-G)


def test_bodies_pass_through_each_other_before_a_contact_is_in_force() -> None:
    run = ball_over_gate(when="t - 10").simulate(1.0, q=[1.0])
    assert len(run.transitions) == 1 and run.q[-1, 0] == pytest.approx(1 - G / 2)
    assert ball_over_gate(when="t - 10").simulate(1.0, q=[-1.0]).outcome.success


def test_a_contact_that_comes_into_force_is_met_like_any_other() -> None:
    run = ball_over_gate(when="t - 0.1", restitution=0.5).simulate(0.5, q=[1.0])
    assert [x.cause for x in run.transitions] == ["start", "imposed", "impact"]
    speed = math.sqrt(2 * G)
    assert run.transitions[-1].u_after[0] == pytest.approx(0.5 * speed)


def test_a_contact_that_comes_into_force_inside_a_body_is_named() -> None:
    run = ball_over_gate(when="t - 0.6").simulate(1.0, q=[1.0])
    assert run.outcome.reason == "mode" and "inside each other: 'gate'" in str(run.outcome)


def test_a_stop_under_a_condition_comes_and_goes() -> None:
    m = ball_over_gate(until="t - 10")
    m.constrain("stop", kane.HardStop("z", lower=0.5), until="t - 1")
    run = m.simulate(1.2, q=[1.0])
    assert [(x.cause, x.constraints) for x in run.transitions[1:3]] == [
        ("impact", ("stop",)),
        ("freed", ("stop",)),
    ]


def test_a_contact_in_a_file_has_conditions(tmp_path: Path) -> None:
    text = """
kane: 1
name: gate
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}
joints: {line: {type: prismatic, parent: ground, child: ball, axis: z}}
contacts: {gate: {between: [ball, ground], shape: {point: [0, 0, 0]}, when: t - 1, until: abs(gate) - 30}}
"""
    (tmp_path / "gate.yaml").write_text(text, encoding="utf-8")
    m = kane.load(tmp_path / "gate.yaml")
    law = m.changing["gate"].law
    assert str(law.when) == "t - 1" and not law.held
    m.save(tmp_path / "again.yaml")
    again = kane.load(tmp_path / "again.yaml").changing["gate"].law
    assert str(again.until) == str(law.until) and str(again.when) == str(law.when)


# -- rows that almost depend on each other -------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1e-5, 1e-7, 1e-8, 1.5e-9])
def test_rows_that_almost_depend_on_others_leave_the_motion_free(share: float) -> None:
    """Three rows, of which two are one but for a share of the third, leave a point one direction to move in."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        first, third, force = rng.normal(size=(3, 3))
        m = kane.Model("point")
        parent = "ground"
        for axis in "xyz":
            m.body(f"along {axis}", mass=float(axis == "z"))
            m.joint(
                axis, "prismatic", parent, f"along {axis}", axis=axis, coordinates=[f"q{axis}"], speeds=[f"u{axis}"]
            )
            parent = f"along {axis}"
        m.load("pull", kane.Force("along z", tuple(force.tolist()), frame="ground"))
        for k, row in enumerate((first, first + share * third, third)):
            m.constrain(
                f"row{k}",
                kane.MotionEquations(f"{row[0].item()!r}*ux + ({row[1].item()!r})*uy + ({row[2].item()!r})*uz"),
            )
        m.constrain("end", kane.HardStop("qx", upper=1e6))
        free = np.cross(first, third)
        free /= np.linalg.norm(free)
        assert m.simulate(1.0).u[-1] == pytest.approx(free * (free @ force), abs=1e-12)
