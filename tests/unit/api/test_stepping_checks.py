"""The check of motions by time stepping: right ones pass, and each law that is broken on purpose is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kane

G = 9.81
STEP = 2e-3  # s


def ball(restitution: float = 0.0, friction: float = 0.3, floor: float = 0.0) -> kane.Model:
    """A ball of 1 kg and 0.1 m over a floor, in a plane: z, x, angle; z is 0 where it touches a floor at height 0."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("ball", mass=1, inertia=dict.fromkeys(("xx", "yy", "zz"), 0.4 * 0.01))
    m.joint("j", "planar", "ground", "ball", normal="y")
    shape: dict[str, Any] = {"shape": {"sphere": 0.1}, "normal": "z", "at": (0, 0, floor - 0.1)}
    m.contact("floor", "ball", "ground", **shape, restitution=restitution, friction=friction)
    return m


def box(velocity: str) -> kane.Model:
    """A box that falls on its corners."""
    x, y, z = 0.3, 0.2, 0.1
    m = kane.Model(gravity=(0, 0, -G))
    squares = {"xx": y * y + z * z, "yy": x * x + z * z, "zz": x * x + y * y}
    m.body("box", mass=2.0, inertia={k: v / 6 for k, v in squares.items()})
    m.joint("j", "free", "ground", "box", velocity=velocity)
    m.contact("floor", "box", "ground", shape={"box": (x, y, z)}, normal="z", at=(0, 0, -z / 2), friction=0.4)
    return m


def rod_on_a_stop() -> tuple[kane.Model, Any]:
    """A rod held by permanent rows, which falls on a stop, and where it starts."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("rod", mass=2, inertia={"xx": 1 / 6, "yy": 1 / 6})
    m.joint("j", "planar", "ground", "rod", normal="y")
    m.constrain("pin", kane.Loop("revolute", "ground", "rod", axis="y", second_at=(0, 0, 0.5), rows=("x", "z")))
    m.contact("stop", "rod", "ground", shape={"point": (0, 0, -0.5)}, normal="x", at=(-0.2, 0, 0))
    return m, m.project(dict(zip(m.coordinates, [-0.4, 0.3, -0.6], strict=True)))[0]


def wheels(name: str) -> kane.Model:
    """Two bodies on axles with something between them that is no contact."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("a", mass=2, center=(0, 0, -0.5), inertia={"xx": 0.2, "yy": 0.2, "zz": 0.1})
    m.joint("j", "revolute", "ground", "a", axis="y", coordinates=["q"], speeds=["u"])
    m.body("b", mass=1, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    m.joint("k", "revolute", "ground", "b", axis="y", coordinates=["r"], speeds=["w"])
    if name == "brake":
        m.load("motor", kane.Effort("k", "0.3 - 0.1*w"))
        m.constrain("c", kane.Friction("u", bound=1.0))
    elif name == "ratchet":
        m.constrain("c", kane.Ratchet("w - u"))
    elif name == "latch":
        m.constrain("c", kane.Latch("r - 1"), duration=0.3)
    else:
        m.constrain("c", kane.Friction("u - w", bound=0.5), when="t - 0.4", until="t - 0.9")
    return m


def thrown(restitution: float = 0.5, friction: float = 0.3) -> kane.Trajectory:
    """A ball that is thrown with back spin, bounces, slips and rolls."""
    start = {"q": [0.2, 0, 0], "u": [0.0, 2.0, -30.0]}
    return ball(restitution, friction).simulate(1.0, **start, contacts="stepping", step=STEP)


@pytest.fixture(scope="module")
def run() -> kane.Trajectory:
    return thrown()


def test_the_check_of_a_right_motion_passes(run: kane.Trajectory) -> None:
    report = run.check()
    assert report.passed, report
    for name in ("gaps", "impulses", "pushes", "friction", "steps", "losses", "energy"):
        assert report.row(name).value is not None


@pytest.mark.parametrize("velocity", ["parent", "body"])
@pytest.mark.parametrize("step", [4e-3, pytest.param(1e-3, marks=pytest.mark.long)])
def test_bodies_that_tumble_over_a_floor_pass(velocity: str, step: float) -> None:
    start = {"q": [1, 0, 0, 0, 0, 0, 0.4], "u": [3, -5, 2, 2, 1, 0]}
    report = box(velocity).simulate(1.0, **start, contacts="stepping", step=step).check()
    assert report.passed, report


@pytest.mark.parametrize("step", [4e-3, pytest.param(1e-3, marks=pytest.mark.long)])
def test_permanent_constraints_beside_a_stop_pass(step: float) -> None:
    m, q = rod_on_a_stop()
    report = m.simulate(0.8, q=q, contacts="stepping", step=step).check()
    assert report.passed, report


@pytest.mark.parametrize("name", ["brake", "ratchet", "latch", "clutch"])
def test_what_is_no_contact_passes(name: str) -> None:
    run = wheels(name).simulate(1.3, q=[1.0, 0.0], u=[0.0, 2.0], contacts="stepping", step=STEP)
    report = run.check()
    assert report.passed, report


def failed(run: kane.Trajectory) -> set[str]:
    """Names of the rows that fail."""
    return {row.name for row in run.check().rows if not row.passed}


def test_impulses_that_are_a_little_larger_are_found(run: kane.Trajectory) -> None:
    impulses = run.step_impulses
    assert impulses is not None
    assert "impulses" in failed(replace(run, step_impulses=replace(impulses, value=1.01 * impulses.value)))


def test_a_speed_that_no_impulse_explains_is_found(run: kane.Trajectory) -> None:
    u = run.u.copy()
    u[len(u) // 2 :, 1] += 0.02
    assert {"impulses", "energy"} <= failed(replace(run, u=u))


def test_work_that_is_left_out_is_found(run: kane.Trajectory) -> None:
    assert failed(replace(run, work=0.99 * run.work)) == {"energy"}


def test_a_ball_in_the_floor_is_found(run: kane.Trajectory) -> None:
    q = run.q.copy()
    q[-1, 0] = -1e-7
    assert "gaps" in failed(replace(run, q=q))


def test_impulses_that_pull_are_found(run: kane.Trajectory) -> None:
    impulses = run.step_impulses
    assert impulses is not None
    value = impulses.value.copy()
    last = np.flatnonzero(impulses.row == 0)[-1]
    value[last] = -value[last]
    assert {"pushes", "impulses"} <= failed(replace(run, step_impulses=replace(impulses, value=value)))


def test_friction_beyond_its_bound_is_found(run: kane.Trajectory) -> None:
    smooth = ball(0.5, 0.2).simulate(0.1, contacts="stepping", step=STEP)
    assert "friction" in failed(replace(run, answers=smooth.answers))


def test_friction_that_holds_less_than_it_could_is_found(run: kane.Trajectory) -> None:
    rough = ball(0.5, 0.4).simulate(0.1, contacts="stepping", step=STEP)
    assert failed(replace(run, answers=rough.answers)) == {"steps"}


def test_a_bounce_higher_than_its_restitution_is_found() -> None:
    dull = ball(0.2, 0.3).simulate(0.1, contacts="stepping", step=STEP)
    assert failed(replace(thrown(0.5), answers=dull.answers)) == {"steps"}


def test_contacts_that_push_before_bodies_meet_are_found(run: kane.Trajectory) -> None:
    low = ball(0.5, 0.3, floor=-0.01).simulate(0.1, q=[0.1, 0, 0], contacts="stepping", step=STEP)
    assert "steps" in failed(replace(run, answers=low.answers))


def test_impulses_that_give_energy_are_found() -> None:
    """A ball that leaves the floor faster than it came, with impulses that explain it."""
    run = thrown(friction=0.0)
    impulses = run.step_impulses
    assert impulses is not None
    i = next(k for k in range(len(impulses)) if impulses.of_step(k)[0] > 0.0)
    u, faster = run.u.copy(), 1.5
    before, after = u[i, 0], u[i + 1, 0]
    value = impulses.value.copy()
    own = slice(int(impulses.end[i - 1]), int(impulses.end[i]))
    normal = own.start + int(np.flatnonzero(impulses.row[own] == 0)[0])
    value[normal] += faster * abs(before) - after
    u[i + 1, 0] = faster * abs(before)
    short = slice(i, i + 2)
    parts = {name: getattr(run, name)[short] for name in ("t", "q", "tau", "work")}
    only = replace(impulses, end=impulses.end[i : i + 1] - own.start, row=impulses.row[own], value=value[own])
    assert "losses" in failed(replace(run, u=u[short], **parts, step_impulses=only))


def test_what_is_known_between_steps_only_is_not_judged() -> None:
    run = ball(0.5).simulate(np.linspace(0, 0.5, 7), q=[0.2, 0, 0], contacts="stepping", step=STEP)
    report = run.check()
    assert report.passed
    assert report.row("impulses").value is None and "(t0, t1)" in report.row("energy").note
