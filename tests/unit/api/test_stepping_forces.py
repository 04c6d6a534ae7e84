"""Accelerations and reactions along motions by time stepping, beside closed forms and what the speeds themselves do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.api.stepped import program_inputs
from kane.realtime.marks import ForceMarks, Pull

G = 9.81
STEPS: dict[str, Any] = {"contacts": "stepping", "step": 0.01}
BOUND, INERTIA = 2.0, 0.5  # N m, kg m²
SLOPE, MU = 0.6, 0.3  # rad


def braked(torque: str = "") -> kane.Model:
    """A wheel with a brake, its inertia 0.5 kg m² about the axle, and what turns it."""
    m = kane.Model()
    m.body("wheel", mass=1, inertia=dict.fromkeys(("xx", "yy", "zz"), INERTIA))
    m.joint("axle", "revolute", "ground", "wheel", axis="z", coordinates=["q"], speeds=["u"])
    m.constrain("brake", kane.Brake("axle", bound=BOUND))
    if torque:
        m.load("motor", kane.Effort("axle", torque))
    return m


def block(moves: str, static: float = MU, slope: float = SLOPE) -> kane.Model:
    """A block on a slope (rad) that falls along +x, free to move in a "plane" or in "space"."""
    m = kane.Model(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    m.body("block", mass=2, inertia=dict.fromkeys(("xx", "yy", "zz"), 0.1))
    axes, parent = ("x", "z") if moves == "plane" else ("x", "y", "z"), "ground"
    for axis in axes:
        child = "block" if axis == "z" else f"slide_{axis}"
        if axis != "z":
            m.body(child)
        m.joint(axis, "prismatic", parent, child, axis=axis, coordinates=[axis], speeds=[f"v{axis}"])
        parent = child
    m.contact("floor", "block", "ground", shape={"point": (0, 0, 0)}, friction=MU, static=static)
    return m


@pytest.mark.parametrize("times", [0.5, np.linspace(0.0, 0.5, 8)], ids=["steps", "times"])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_brake_that_slips_slows_a_wheel_by_its_bound(way: float, times: Any) -> None:
    run = braked().simulate(times, u=[10.0 * way], **STEPS)
    assert run.acceleration()[:, 0] == pytest.approx(-way * BOUND / INERTIA)
    assert run.multipliers[:, 0] == pytest.approx(-way * BOUND)


@pytest.mark.parametrize("law", [{"when": "0.5 + t"}, {"until": "0.0099 - t"}])
def test_a_brake_that_a_condition_puts_on_or_takes_off_acts_at_the_start(law: dict[str, Any]) -> None:
    m = kane.Model()
    m.body("wheel", mass=1, inertia=dict.fromkeys(("xx", "yy", "zz"), INERTIA))
    m.joint("axle", "revolute", "ground", "wheel", axis="z", coordinates=["q"], speeds=["u"])
    m.constrain("brake", kane.Brake("axle", bound=BOUND), **law)
    run = m.simulate(0.1, u=[10.0], **STEPS)
    acts = np.diff(run.u[:, 0]) / STEPS["step"]
    assert run.acceleration()[:-1, 0] == pytest.approx(acts)


def test_states_between_steps_have_the_brake_too() -> None:
    run = braked().simulate(0.5, u=[10.0], **STEPS).resample(np.linspace(0.0, 0.5, 51)[::3])
    assert run.acceleration()[:, 0] == pytest.approx(-BOUND / INERTIA)


def test_a_brake_opposes_the_speed_that_turned_round_within_a_step() -> None:
    run = braked("40*cos(20*t)").simulate(1.0, u=[1.0], **STEPS)
    turns = np.flatnonzero(run.u[1:, 0] * run.u[:-1, 0] < 0.0)
    assert len(turns) > 3 and len(run.transitions) < len(turns)  # without a transition
    assert run.multipliers[:, 0] == pytest.approx(-BOUND * np.sign(run.u[:, 0]))
    assert run.acceleration()[:, 0] == pytest.approx((40 * np.cos(20 * run.t) + run.multipliers[:, 0]) / INERTIA)


def test_a_brake_that_has_stopped_a_wheel_holds_it() -> None:
    run = braked("1.5").simulate(2.0, u=[-1.0], **STEPS)
    stands = run.t > INERTIA / (1.5 + BOUND) + STEPS["step"]
    assert run.multipliers[stands, 0] == pytest.approx(-1.5)
    assert run.acceleration()[stands, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("moves", ["plane", "space"])
@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_a_block_slides_down_a_slope(moves: str, speed: float) -> None:
    run = block(moves).simulate(0.5, u={"vx": speed}, **STEPS)
    a, normal = G * (np.sin(SLOPE) - MU * np.cos(SLOPE)), 2 * G * np.cos(SLOPE)
    assert run["vx'"] == pytest.approx(a)  # from the first sample on
    assert run.multipliers[:, 0] == pytest.approx(normal)
    assert run.multipliers[:, 1] == pytest.approx(-MU * normal)


@pytest.mark.parametrize("moves", ["plane", "space"])
def test_a_block_that_static_friction_cannot_hold_has_kinetic_friction_from_the_first_step(moves: str) -> None:
    static = 0.9 * np.tan(SLOPE)
    run = block(moves, static).simulate(0.1, **STEPS)
    a = G * (np.sin(SLOPE) - MU * np.cos(SLOPE))
    assert run["vx"] == pytest.approx(a * run.t)
    assert run["vx'"] == pytest.approx(a)
    assert [x.cause for x in run.transitions] == ["start"]
    assert run.transitions[0].mode["floor"] == "slips"
    assert run.transitions[0].slip["floor"] == pytest.approx([1.0, 0.0])


def test_a_block_that_static_friction_holds_stays() -> None:
    run = block("space", 1.1 * np.tan(SLOPE)).simulate(0.1, **STEPS)
    assert np.abs(run["vx"]).max() < 1e-12
    assert run.transitions[0].mode["floor"] == "sticks"


@pytest.mark.parametrize(("height", "speed", "step"), [(0.0, 0.03, 1), (0.02, 0.5, 8)])
def test_what_slides_or_lands_sliding_has_kinetic_friction(height: float, speed: float, step: int) -> None:
    """On the level: where the floor has taken all momentum m g t that gravity gave, friction has taken μk m g t, also
    of a speed that static friction would have stopped."""
    run = block("space", 0.95, 0.0).simulate(0.08, q={"z": height}, u={"vx": speed}, **STEPS)
    assert run["vz"][step] == pytest.approx(0.0, abs=1e-12)
    assert run["vx"][step] == pytest.approx(speed - MU * G * run.t[step])


def test_a_motion_of_no_length_has_the_accelerations_at_the_start() -> None:
    for model, u in ((braked(), [10.0]), (block("space", 0.9 * np.tan(SLOPE)), None), (block("plane", 2.0), None)):
        steps, events = model.simulate(0.0, u=u, **STEPS), model.simulate(0.0, u=u)
        assert steps.acceleration() == pytest.approx(events.acceleration(), abs=1e-12)
        assert steps.transitions[0].mode == events.transitions[0].mode
        assert {k: v.tolist() for k, v in steps.transitions[0].slip.items()} == {
            k: pytest.approx(v) for k, v in events.transitions[0].slip.items()
        }


def test_a_block_that_slides_up_a_slope_turns_round() -> None:
    run = block("space").simulate(0.6, u={"vx": -2.0}, **STEPS)
    down, across = G * np.sin(SLOPE), G * MU * np.cos(SLOPE)
    moving = np.abs(run["vx"]) > 1e-6
    assert run["vx'"][moving] == pytest.approx((down - across * np.sign(run["vx"]))[moving])
    assert np.sign(run["vx"]).min() < 0.0 < np.sign(run["vx"]).max()


def test_the_first_state_of_a_block_that_falls_is_free() -> None:
    run = block("space").simulate(0.5, q={"z": 0.005}, **STEPS)  # it lands in the first steps
    assert run.multipliers[0] == pytest.approx(0.0)
    assert run["vx'"][0] == pytest.approx(G * np.sin(SLOPE))
    assert run["vx'"][-1] == pytest.approx(G * (np.sin(SLOPE) - MU * np.cos(SLOPE)))


def test_a_block_on_a_belt_is_pulled_along_while_it_is_slower() -> None:
    """From rest on a belt of 0.2 m/s: a = μk g − k x / m until it sticks, as its speeds say too."""
    run = kane.load("stick-slip").simulate(0.09, u=[0.0, 0.0], contacts="stepping", step=1e-3)
    assert run.multipliers[:, 1] == pytest.approx(0.25 * G)
    assert run["vx'"] == pytest.approx(0.25 * G - 100 * run["x"])
    assert run["vx'"][1:] == pytest.approx(np.diff(run["vx"]) / 1e-3, abs=100 * 0.2 * 1e-3)


@pytest.fixture(scope="module")
def braking() -> kane.Trajectory:
    return kane.load("braking-car").simulate(0.1, contacts="stepping", step=0.002)


MASS = 1300.0 + 4 * 18.0  # kg, of the car and its wheels


def test_the_ground_slows_a_braking_car_as_its_speeds_say(braking: kane.Trajectory) -> None:
    """While the front wheels turn under their brakes and after they are locked: Σ F = m Δv / Δt."""
    pull = braking.ground().longitudinal.sum(axis=1)
    found = MASS * np.diff(braking["u_root_vx"]) / np.diff(braking.t)
    locking = int(np.flatnonzero(np.abs(braking["u_front_left"]) < 1e-6)[0])
    same = np.arange(len(found)) != locking - 1  # the brakes lock within that step
    assert pull[1:][same] == pytest.approx(found[same], rel=1e-6)
    assert pull[0] == pytest.approx(found[0], rel=1e-6)


def test_a_braking_car_tips_by_the_same_measure_in_steps_and_between_events(braking: kane.Trajectory) -> None:
    other = kane.load("braking-car").simulate(0.1)
    for part in (slice(0, 1), slice(-1, None)):  # brakes slip, brakes hold
        assert braking.tipover().alpha[part] == pytest.approx(other.tipover().alpha[part], rel=1e-6)


def test_a_page_of_the_loop_that_keeps_time_draws_the_ground_under_brakes_that_slip(braking: kane.Trajectory) -> None:
    model, i = kane.load("braking-car"), 5
    marks = ForceMarks(model)
    x = program_inputs(braking)[i]
    poses = np.asarray(model.poses(braking.q[i])).reshape(-1, 12)
    mode = next(c.mode for c in reversed(braking.transitions) if c.t <= braking.t[i])
    found = marks(x, dict(mode), Pull(-1, np.zeros(3), np.zeros(3)), poses)
    assert found is not None
    slowed = MASS * (braking["u_root_vx"][i + 1] - braking["u_root_vx"][i]) / 0.002
    assert np.reshape(found["forces"], (-1, 3)).sum(axis=0)[0] == pytest.approx(slowed, rel=1e-6)
