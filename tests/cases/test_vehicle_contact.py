"""Vehicles whose wheels lift, land and slide: against the motion that keeps contact, statics and free fall."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

G = 9.81
FOLDED = {"q2": np.pi}  # motion 2b of the paper: link 2 folded back, link 1 at 5 rad/s
SPIN = {"u_shoulder": 5.0}


@cache
def manipulator(contact: str, *, ball: bool = False, friction: float = 1e6) -> kane.Model:
    """The example of Tanner & Kyriakopoulos on a free platform; with `ball`, its right wheel is a ball caster."""
    m = kane.Model("tanner", gravity=(0, 0, -G))
    m.body("platform", mass=40, inertia={"xx": 1.667, "yy": 1.667, "zz": 3.02})
    wheel = {"radius": 0.15, "mass": 2}
    wheels: dict[str, Any] = {
        "front": {"at": (0.3, 0, 0), "steering": "phi", **wheel},
        "left": {"at": (-0.3, 0.3, 0), **wheel},
        "right": {"at": (-0.3, -0.3, 0), **wheel},
    }
    if ball:
        wheels["right"] = {"at": (-0.3, -0.3, 0), "radius": 0.15, "ball": True}
    m.vehicle("platform", wheels, root="free", friction=friction, contact=contact)
    m.body("base", mass=5, inertia={"xx": 0.08, "yy": 0.08, "zz": 0.156})
    m.joint("mount", "weld", "platform", "base")
    m.body("link1", mass=10, center=(0.25, 0, 0.1505), inertia={"xx": 1.759, "yy": 2.035, "zz": 2.073})
    m.joint("shoulder", "revolute", "base", "link1", axis="z", coordinates=["q1"])
    m.body("link2", mass=5, center=(0.4, 0, 0), inertia={"yy": 0.267, "zz": 0.267})
    m.joint("elbow", "revolute", "link1", "link2", axis="z", at=(1.05, 0, 0.1505), coordinates=["q2"])
    return m


def announced(ball: bool) -> float:
    """When the measure of the motion that keeps contact crosses zero (s)."""
    run = manipulator("bilateral", ball=ball).simulate(0.3, q=FOLDED, u=SPIN, rtol=1e-12)
    return float(run.tipover().crossings[0])


@pytest.mark.parametrize("ball", [False, True])
def test_both_kinds_of_contact_move_alike_until_a_wheel_lifts(ball: bool) -> None:
    times = np.linspace(0, 0.99 * announced(ball), 9)
    kept, free = (
        manipulator(kind, ball=ball).simulate(times, q=FOLDED, u=SPIN, rtol=1e-12)
        for kind in ("bilateral", "unilateral")
    )
    assert len(free.transitions) == 1
    assert np.abs(free.q - kept.q).max() < 1e-9
    assert np.abs(free.u - kept.u).max() < 1e-9
    a, b = free.ground(), kept.ground()
    assert np.abs(a.normal - b.normal).max() < 1e-7
    assert np.abs(a.longitudinal - b.longitudinal).max() < 1e-7
    if not ball:
        axle = "left.lateral + right.lateral"
        assert np.abs(a.sums[axle] - b.sums[axle]).max() < 1e-7
    assert np.abs(free.tipover().per_edge - kept.tipover().per_edge).max() < 1e-7


def test_a_wheel_lifts_when_the_measure_announces_that_the_vehicle_tips() -> None:
    """A ball caster has no friction that could change with its normal force: it lifts at the very time."""
    run = manipulator("unilateral", ball=True).simulate(0.3, q=FOLDED, u=SPIN)
    (lift,) = run.ground().crossings
    assert (lift.what, lift.to) == ("contact of right", "open")
    assert abs(lift.t - announced(ball=True)) < 1e-9
    assert f"wheel right is off the ground from t = {lift.t:.6g} s" in str(run.outcome)
    after = run.t > lift.t
    assert np.abs(run.ground().normal[after, 2]).max() == 0.0
    assert np.abs(run.tipover().per_edge[after, 0]).max() < 1e-9  # balanced on front and left
    middle = run.model.at("platform", (-0.3, -0.3, 0.0)).pose(run.q)[1][:, 2] - 0.15
    assert np.all(np.diff(middle[after]) > 0.0) and middle[-1] > 5e-3


def test_the_papers_wheel_loses_its_grip_as_its_normal_force_vanishes_and_lifts() -> None:
    """With much friction it slides where nothing presses it any more, which is where the measure crosses zero; without
    its friction it is pressed for another fifth of a millisecond."""
    run = manipulator("unilateral").simulate(0.3, q=FOLDED, u=SPIN)
    slides, lifts = run.ground().crossings
    assert (slides.what, slides.to, lifts.to) == ("contact of right", "sliding", "open")
    assert abs(slides.t - announced(ball=False)) < 1e-8
    assert 0.0 < lifts.t - slides.t < 1e-3
    assert "wheel right slides" in str(run.outcome) and "off the ground" in str(run.outcome)


def test_a_wheel_slides_where_its_axle_cannot_take_its_side_force_any_more() -> None:
    """How the wheels of an axle share their side force is open: the right one slides when what it needs along the
    ground for its spin alone is more than its friction, in the motion that keeps contact."""
    kept = manipulator("bilateral", friction=0.8).simulate(
        np.concatenate([[0.0], np.linspace(0.160, 0.166, 6001)]), q=FOLDED, u=SPIN, rtol=1e-12
    )
    ground = kept.ground()
    left = 0.8 * ground.normal[:, 2] - np.abs(ground.longitudinal[:, 2])
    k = int(np.flatnonzero(left < 0.0)[0])
    used_up = kept.t[k] - left[k] * (kept.t[k] - kept.t[k - 1]) / (left[k] - left[k - 1])
    run = manipulator("unilateral", friction=0.8).simulate(0.168, q=FOLDED, u=SPIN)
    (slides,) = run.ground().crossings
    assert (slides.what, slides.to) == ("contact of right", "sliding")
    assert slides.t == pytest.approx(used_up, abs=1e-8)


@pytest.mark.parametrize("friction", [0.8, 1e6])
def test_the_papers_vehicle_tips_lands_and_goes_on(friction: float) -> None:
    """Motion 2b for a second: it tips, lands, and rocks until all wheels rest on the ground; then the arm lifts one."""
    run = manipulator("unilateral", friction=friction).simulate(1.0, q=FOLDED, u=SPIN)
    assert run.outcome.success and run.check().passed
    landings = [x for x in run.transitions if x.cause == "impact"]
    assert landings and all(x.energy_change < 0.0 for x in landings)
    assert any("open" not in x.mode.values() for x in run.transitions if x.t > landings[0].t)


def test_events_watch_wheels_that_may_lift() -> None:
    run = manipulator("unilateral", ball=True).simulate(
        0.3, q=FOLDED, u=SPIN, events={"light": {"expression": "normal.right - 20", "terminal": True}}
    )
    assert run.outcome.reason == "event"
    assert run.ground().normal[-1, 2] == pytest.approx(20.0, abs=1e-7)


@cache
def tricycle(contact: str, friction: float = 0.3) -> kane.Model:
    m = kane.Model("tricycle", gravity=(0, 0, -G))
    m.body("frame", mass=60, center=(0.1, 0, 0.1), inertia={"xx": 3, "yy": 4, "zz": 5})
    wheel = {"radius": 0.2, "mass": 2}
    wheels: dict[str, Any] = {
        "front": {"at": (0.6, 0, 0), "steering": "phi", **wheel},
        "left": {"at": (-0.4, 0.4, 0), **wheel},
        "right": {"at": (-0.4, -0.4, 0), "rows": ["longitudinal"], **wheel},
    }
    m.vehicle("frame", wheels, root="free", friction=friction, contact=contact)
    m.constrain("lock", kane.ConfigurationEquations("phi = 0.3"))
    return m


def test_a_wheel_slides_from_when_its_margin_is_used_up() -> None:
    start: dict[str, Any] = {"q": {"phi": 0.3}, "u": {"u_root_vx": 1.5}, "control": {"left": 4.0, "right": 4.0}}
    kept = tricycle("bilateral").simulate(1.0, rtol=1e-12, **start)
    (told,) = kept.ground().crossings
    assert told.what == "friction of left"
    run = tricycle("unilateral").simulate(told.t + 1e-4, **start)
    (slides,) = run.ground().crossings
    assert (slides.what, slides.to) == ("contact of left", "sliding")
    assert abs(slides.t - told.t) < 1e-9
    ground = run.ground()
    before = run.t < slides.t
    assert np.all(ground.margin[before, 0] > 0.0)
    along = np.hypot(ground.longitudinal, ground.lateral)[~before, 1]
    assert along == pytest.approx(0.3 * ground.normal[~before, 1], rel=1e-9)  # on the cone while it slides


def test_a_tricycle_slides_with_one_wheel_then_two_and_grips() -> None:
    start: dict[str, Any] = {"q": {"phi": 0.3}, "u": {"u_root_vx": 1.5}, "control": {"left": 4.0, "right": 4.0}}
    run = tricycle("unilateral").simulate(2.0, **start)
    assert run.outcome.success and run.check().passed
    assert [(c.what, c.to) for c in run.ground().crossings] == [
        ("contact of left", "sliding"),
        ("contact of front", "sliding"),
        ("contact of front", "gripping"),
    ]
    ground, slips = run.ground(), run.t > run.transitions[1].t
    along = np.hypot(ground.longitudinal, ground.lateral)[slips, 1]
    assert along == pytest.approx(0.3 * ground.normal[slips, 1], rel=1e-9)


SLIPPERY = 0.3


@cache
def wheelspin() -> kane.Model:
    m = kane.Model("diff drive", gravity=(0, 0, -G))
    m.body("base", mass=25, center=(-0.1, 0, 0.1), inertia={"xx": 0.7, "yy": 0.9, "zz": 1.3})
    caster = {"at": (-0.3, 0, -0.07), "radius": 0.05, "ball": True}
    drive = {"type": "diff_drive", "wheel_radius": 0.12, "track_width": 0.5, "wheel_mass": 1.5}
    m.vehicle("base", {"caster": caster}, drive=drive, friction=SLIPPERY, contact="unilateral")
    return m


def test_friction_of_spinning_wheels_is_coupled_to_the_weight_on_them() -> None:
    """A torque T on each wheel: M a = μ N, 2 J ω̇ = 2 T − μ N r, and about the contact of the axle
    (M g − N) c = m g x + (m h + m_w r) a + 2 J ω̇, the caster at c, the base's mass m at x behind and h above."""
    T, r, m, wheels, c, x, h = 9.0, 0.12, 25.0, 3.0, 0.3, 0.1, 0.22
    M, spin = m + wheels, 2 * 0.5 * 1.5 * r**2
    # unknowns a, N, ω̇
    A = np.array([[M, -SLIPPERY, 0], [0, SLIPPERY * r, spin], [m * h + wheels * r, c, spin]])
    a, pressed, turning = np.linalg.solve(A, [0, 2 * T, M * G * c - m * G * x])
    run = wheelspin().simulate([0.0, 0.5, 1.0], control={"left": T, "right": T})
    ground = run.ground()
    assert np.abs(ground.normal[:, :2].sum(axis=1) - pressed).max() < 1e-9
    assert ground.wheels == ("left", "right", "caster")
    assert np.abs(np.hypot(ground.longitudinal, ground.lateral)[:, :2].sum(axis=1) - SLIPPERY * pressed).max() < 1e-9
    speeds = run.model.speeds
    assert run.u[-1, speeds.index("u_root_vx")] == pytest.approx(a, rel=1e-9)
    assert run.u[-1, speeds.index("u_left")] == pytest.approx(turning, rel=1e-9)


def test_wheels_that_spin_grip_again_when_they_have_slowed_down() -> None:
    """The torque ends at 0.4 s: friction slows the wheels and drives the robot until they roll, and they go on so."""
    torque = "4.5*(1 - sign(t - 0.4))"
    run = wheelspin().simulate(np.linspace(0, 3, 31), control={"left": torque, "right": torque})
    assert run.outcome.success
    grips = [c for c in run.ground().crossings if c.to == "gripping"]
    assert {c.what for c in grips} == {"contact of left", "contact of right"}
    assert 0.4 < grips[0].t < 2.0 and grips[1].t == pytest.approx(grips[0].t, abs=1e-9)
    speeds, after = run.model.speeds, run.t > grips[-1].t
    v, spin = run.u[:, speeds.index("u_root_vx")], run.u[:, speeds.index("u_left")]
    assert np.abs(v - 0.12 * spin)[after].max() < 1e-9 and np.ptp(v[after]) < 1e-9 and v[-1] > 0.5
    assert run.check().passed


def test_a_start_without_spins_rolls_and_one_with_them_slides() -> None:
    m = tricycle("unilateral", 0.8)
    rolling = m.simulate([0.0, 1e-3], q={"phi": 0.3}, u={"u_root_vx": 1.0})
    kept = tricycle("bilateral", 0.8).simulate([0.0, 1e-3], q={"phi": 0.3}, u={"u_root_vx": 1.0})
    assert np.abs(rolling.u[0] - kept.u[0]).max() < 1e-12
    assert set(rolling.transitions[0].mode.values()) == {"sticks"}
    locked = m.simulate([0.0, 1e-6], q={"phi": 0.3}, u={**dict.fromkeys(m.speeds, 0.0), "u_root_vx": 1.0})
    assert set(locked.transitions[0].mode.values()) == {"slips"}
    assert locked.u[0, m.speeds.index("u_left")] == 0.0


@cache
def box(slope: float, restitution: float = 0.0, friction: float = 0.8) -> kane.Model:
    """Four braked wheels under a heavy body, on a slope that rises ahead."""
    m = kane.Model("box", gravity=(-G * np.sin(slope), 0, -G * np.cos(slope)))
    m.body("chassis", mass=120, center=(0, 0, 0.4), inertia={"xx": 6, "yy": 9, "zz": 11})
    wheel = {"radius": 0.25, "mass": 4}
    places = {"fl": (0.8, 0.5), "fr": (0.8, -0.5), "rl": (-0.8, 0.5), "rr": (-0.8, -0.5)}
    wheels = {name: {"at": (x, y, 0), **wheel} for name, (x, y) in places.items()}
    m.vehicle("chassis", wheels, contact="unilateral", friction=friction, restitution=restitution)
    m.constrain("brakes", kane.MotionEquations([f"u_{name} = 0" for name in places]))
    return m


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_parked_vehicle_does_not_creep(slope: float) -> None:
    run = box(slope).simulate([0.0, 30.0, 60.0])
    assert np.abs(run.u).max() < 1e-12
    assert np.abs(run.q - run.q[0]).max() < 1e-12
    ground = run.ground()
    assert ground.normal.sum(axis=1) == pytest.approx(136 * G * np.cos(slope), rel=1e-12)
    assert ground.longitudinal.sum(axis=1) == pytest.approx(136 * G * np.sin(slope), rel=1e-12, abs=1e-9)
    assert not ground.crossings
    front, rear = ground.normal[0, :2].sum(), ground.normal[0, 2:].sum()
    moment = G * np.sin(slope) * (120 * 0.65 + 16 * 0.25)  # of what gravity pulls back, about the ground below
    assert (rear - front) * 0.8 == pytest.approx(moment, rel=1e-9, abs=1e-9)


def test_a_vehicle_that_is_dropped_lands_on_its_wheels() -> None:
    """From 50 mm: after √(2 h / g), without restitution the whole energy m g h is lost, and it rests."""
    m = box(0.0)
    height = m.joints["root"].coordinates[-1].name
    run = m.simulate(0.3, q={height: 0.25 + 0.05})
    landing = run.transitions[1]
    assert landing.cause == "impact" and landing.t == pytest.approx(np.sqrt(2 * 0.05 / G), abs=1e-9)
    assert landing.energy_change == pytest.approx(-136 * G * 0.05, rel=1e-9)
    assert np.abs(run.u[-1]).max() < 1e-9
    assert {c.to for c in run.ground().crossings} == {"gripping"}
    flying = run.t < landing.t
    assert np.all(run.ground().normal[flying] == 0.0) and np.all(np.isfinite(run.tipover().beta))


def mecanum(contact: str) -> kane.Model:
    m = kane.Model("mecanum", gravity=(0, 0, -G))
    m.body("base", mass=30, inertia={"xx": 0.8, "yy": 1.2, "zz": 1.6})
    wheel = {"radius": 0.1, "mass": 1.0}
    places = {"fl": (0.3, 0.25, -45), "fr": (0.3, -0.25, 45), "rl": (-0.3, 0.25, 45), "rr": (-0.3, -0.25, -45)}
    wheels = {n: {"at": (x, y, 0), "roller": f"{angle}*deg", **wheel} for n, (x, y, angle) in places.items()}
    m.vehicle("base", wheels, root="free", friction=0.9, contact=contact)
    return m


def test_rollers_hold_along_their_axes_alone_also_where_they_may_slide() -> None:
    efforts = {"fl": -0.5, "fr": 0.6, "rl": 0.55, "rr": -0.5}
    times = np.linspace(0, 1, 5)
    kept, free = (mecanum(kind).simulate(times, control=efforts, rtol=1e-12) for kind in ("bilateral", "unilateral"))
    assert len(free.transitions) == 1 and np.abs(free.q[-1]).max() > 0.05
    assert np.abs(free.q - kept.q).max() < 1e-9
    a = free.ground()
    assert np.abs(np.abs(a.longitudinal) - np.abs(a.lateral)).max() < 1e-9  # at 45° to the heading
    assert a.normal.sum(axis=1) == pytest.approx(34 * G, rel=1e-9)


def test_what_may_lift_is_written_to_files_and_read_back(tmp_path: Path) -> None:
    m = mecanum("unilateral")
    m.save(tmp_path / "again.yaml")
    again = kane.load(tmp_path / "again.yaml")
    assert again.mechanism.all_row_names == m.mechanism.all_row_names
    assert list(again.mechanism.changing) == ["fl", "fr", "rl", "rr"]
    start: dict[str, Any] = {"u": {"u_root_vx": 0.5}, "control": {"fl": 0.3}}
    a, b = (x.simulate([0.0, 0.2], **start) for x in (m, again))
    assert np.abs(a.q - b.q).max() < 1e-12
    assert np.abs(a.ground().normal - b.ground().normal).max() < 1e-9


def test_a_planar_platform_with_other_contacts_has_the_right_ground() -> None:
    """A brake that sticks is a constraint that comes and goes: the platform's weight stays on its wheels."""
    m = kane.Model("cart", gravity=(-0.5, 0, -G))
    m.body("base", mass=20, center=(0.1, 0, 0.1), inertia={"xx": 1, "yy": 1, "zz": 2})
    wheel = {"radius": 0.1, "mass": 1}
    sides = {"left": {**wheel, "at": (0, 0.3, 0)}, "right": {**wheel, "at": (0, -0.3, 0)}}
    m.vehicle("base", {**sides, "nose": {"at": (0.4, 0, 0), "radius": 0.1, "ball": True}}, friction=0.5)
    for side in sides:
        m.constrain(f"park {side}", kane.Brake(side, bound=5.0))
    run = m.simulate([0.0, 1.0])
    assert np.abs(run.u).max() < 1e-12
    ground = run.ground()
    assert ground.normal.sum(axis=1) == pytest.approx(22 * G, rel=1e-12)
    assert ground.longitudinal.sum(axis=1) == pytest.approx(22 * 0.5, rel=1e-9)
    lever = np.array([0.0, 0.0, 0.4])  # m: the platform's centre is at 0.1 ahead and 0.2 high, the wheels' below it
    moment = 20 * G * 0.1 - 0.5 * (20 * 0.2 + 2 * 0.1)
    assert ground.normal @ lever == pytest.approx(moment, rel=1e-9)
    with pytest.raises(kane.InputError, match="events watch the ground under vehicle 'vehicle'"):
        m.simulate(1.0, events={"light": "normal.left - 10"})


EVEN = 1e-4  # of the weight: how much more one side of a symmetric car may be told to carry


def test_steps_share_forces_that_are_not_determined_evenly() -> None:
    """Rigid wheels leave open who carries what, and locked ones then brake unevenly: a symmetric car must not turn.
    What is determined is right: friction takes the whole momentum, and the way is as exact events have it, to O(h)."""
    car = kane.load("braking-car")
    exact = car.simulate(4)["q_root_px"][-1]
    beyond: list[float] = []
    for step in (0.01, 0.005):
        run = car.simulate(4, contacts="stepping", step=step)
        assert np.abs(run["q_root_py"]).max() < 1e-5 and np.abs(run["q_root_z"]).max() < 1e-5
        impulses = run.step_impulses
        assert impulses is not None
        force = np.array([impulses.of_step(i) for i in range(len(impulses))])[:, :12].reshape(-1, 4, 3) / step
        weight = float(force[-1, :, 0].sum())
        assert np.abs(force[:, ::2, 0] - force[:, 1::2, 0]).max() < EVEN * weight
        assert np.abs(force[:, :, 2]).max() < EVEN * weight
        assert step * force[:, :, 1].sum() == pytest.approx(-weight / 9.81 * 15.0, rel=1e-9)
        beyond.append(float(run["q_root_px"][-1] - exact))
    assert beyond[0] / beyond[1] == pytest.approx(2.0, rel=0.01)
