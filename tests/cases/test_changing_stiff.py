"""The implicit method under constraints that come and go: stiff motions that stick and slip, impacts, linkages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kane
from kane.simulate import Crossings

STIFF = 1e6  # N/m of the hard spring
BELT, KINETIC, STATIC, SPRING = 0.2, 2.0, 1.5, 25.0
BLOCK, TIP = 1.0, 0.01


def stick_slip(stiffness: float = STIFF) -> kane.Model:
    """A block on a belt, held by a soft spring, with a tip on a hard spring and a strong damper: rates of −1e5 1/s."""
    m = kane.Model("stick-slip")
    m.parameter("k", stiffness)
    m.body("block", mass=BLOCK)
    m.body("tip", mass=TIP)
    m.joint("slide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    m.joint("mount", "prismatic", "block", "tip", axis="x", coordinates=["y"], speeds=["w"])
    m.load("spring", kane.Effort("slide", f"-{SPRING}*x"))
    m.load("hard", kane.Effort("mount", "-k*y - k/1000*w"))
    m.constrain("belt", kane.Friction(f"x' - {BELT}", bound=KINETIC, static=STATIC))
    return m


def changes(run: kane.Trajectory) -> list[tuple[str, float]]:
    return [(x.cause, x.t) for x in run.transitions[1:]]


def closed_form(until: float) -> list[tuple[str, float]]:
    """Slips and sticks of block and tip as one mass, from x = 0 at the speed of the belt."""
    omega = math.sqrt(SPRING / (BLOCK + TIP))
    middle, furthest = KINETIC / SPRING, STATIC * KINETIC / SPRING
    slipping = (math.pi + 2.0 * math.atan2(BELT / omega, furthest - middle)) / omega
    sticking = 2.0 * (furthest - middle) / BELT
    found, t = [("slip", furthest / BELT)], furthest / BELT
    while t < until:
        found += [("stick", t + slipping), ("slip", t + slipping + sticking)]
        t = found[-1][1]
    return [change for change in found if change[1] < until]


def test_a_stiff_block_sticks_and_slips_as_one_mass() -> None:
    """The tip lags by M a / k, 1e-8 m, so that times are those of one mass to about 1e-7 s; an explicit method needs a
    step for every 6e-5 s, this one for every 2e-2 s."""
    run = stick_slip().simulate(np.linspace(0.0, 4.0, 41), method="radau", rtol=1e-8, u={"v": BELT})
    wanted = closed_form(4.0)
    assert [cause for cause, _ in changes(run)] == [cause for cause, _ in wanted] and len(wanted) == 5
    np.testing.assert_allclose([t for _, t in changes(run)], [t for _, t in wanted], rtol=0, atol=1e-6)
    assert run.statistics.steps < 1000
    assert run.check(1e-6).passed


def test_implicit_and_explicit_methods_agree_on_a_stiff_motion() -> None:
    """Where the explicit one is accurate, in sixty times as many steps."""
    m, t = stick_slip(), np.linspace(0.0, 2.0, 21)
    implicit = m.simulate(t, method="radau", rtol=1e-10, u={"v": BELT})
    explicit = m.simulate(t, method="dop853", rtol=1e-12, u={"v": BELT})
    assert explicit.statistics.steps > 10 * implicit.statistics.steps
    np.testing.assert_allclose(implicit.q, explicit.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(implicit.u, explicit.u, rtol=0, atol=1e-8)
    np.testing.assert_allclose([t for _, t in changes(implicit)], [t for _, t in changes(explicit)], rtol=0, atol=1e-8)


def test_the_default_method_finds_the_stiffness_and_the_changes() -> None:
    run = stick_slip().simulate(np.linspace(0.0, 4.0, 41), rtol=1e-8, u={"v": BELT})
    wanted = closed_form(4.0)
    assert [cause for cause, _ in changes(run)] == [cause for cause, _ in wanted]
    np.testing.assert_allclose([t for _, t in changes(run)], [t for _, t in wanted], rtol=0, atol=1e-6)
    assert "took over" in str(run.outcome) and run.statistics.steps < 2000


def test_a_stiffness_that_no_explicit_method_would_survive() -> None:
    """Rates of −1e9 1/s: explicit steps would be 1e-9 s."""
    run = stick_slip(1e10).simulate(4.0, method="radau", rtol=1e-8, u={"v": BELT})
    wanted = [t for _, t in closed_form(4.0)]
    np.testing.assert_allclose([t for _, t in changes(run)], wanted, rtol=0, atol=1e-7)
    assert run.statistics.steps < 2000


def test_a_ball_bounces_at_the_times_of_parabolas() -> None:
    m, e, first = kane.load("bouncing-ball"), 0.9, math.sqrt(2.0 * 1.0 / 9.81)
    run = m.simulate(3.0, method="radau")
    wanted = first * np.array([1.0, 1.0 + 2.0 * e, 1.0 + 2.0 * e + 2.0 * e**2])
    np.testing.assert_allclose([x.t for x in run.transitions[1:4]], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["four-bar-stop", "rocking-block", "disk-on-ramp"])
def test_methods_agree_on_impacts_and_friction(name: str) -> None:
    m, t = kane.load(name), np.linspace(0.0, 2.0, 21)
    implicit, explicit = m.simulate(t, method="radau", rtol=1e-10), m.simulate(t, method="dop853")
    assert [x.cause for x in implicit.transitions] == [x.cause for x in explicit.transitions]
    np.testing.assert_allclose(implicit.q, explicit.q, rtol=0, atol=1e-9)
    assert implicit.check(1e-7).passed


def test_a_slip_in_a_plane_ends_where_it_ends() -> None:
    """A puck on three feet, its mass centre in their plane, slides straight on and stops after v/(μ g)."""
    m = kane.Model("puck", gravity=(0, 0, -9.81))
    m.body("puck", mass=0.5, inertia=dict.fromkeys(("xx", "yy", "zz"), 1e-3))
    m.joint("free", "free", "ground", "puck", velocity="parent")
    for k in range(3):
        place = (0.1 * math.cos(2.1 * k), 0.1 * math.sin(2.1 * k), 0.0)
        m.contact(f"foot{k}", "puck", "ground", shape={"point": place}, friction=0.3)
    run = m.simulate(
        np.linspace(0.0, 2.0, 9), method="radau", rtol=1e-9, u=dict(zip(m.speeds[3:5], (1.2, 0.9), strict=True))
    )
    stop = 1.5 / (0.3 * 9.81)
    assert set(run.transitions[-1].mode.values()) == {"sticks"}
    assert run.transitions[-1].t == pytest.approx(stop, abs=1e-7)
    np.testing.assert_allclose(run.q[-1, 4:6], [0.8 * 0.75 * stop, 0.6 * 0.75 * stop], rtol=0, atol=1e-7)


def test_events_of_the_user_are_found_besides() -> None:
    events: dict[str, Any] = {"middle": "x - 0.08", "far": {"expression": "x - 0.11", "terminal": True, "direction": 1}}
    run = stick_slip().simulate(4.0, method="radau", rtol=1e-9, u={"v": BELT}, events=events)
    found: dict[str, Crossings] = {c.event.name: c for c in run.events}
    assert found["middle"].t[0] == pytest.approx(0.08 / BELT, abs=1e-9)
    assert run.outcome.reason == "event" and run.t[-1] == pytest.approx(0.11 / BELT, abs=1e-9)
