"""Contacts under conditions (when, until, duration, held) in time steps: against the engine that finds every change, as
the step shrinks, and what is refused by both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import ModelError

G = 9.81
STEPS = (7e-3, 3.5e-3, 1.75e-3, 8.75e-4)  # s, none of which divides the times of the conditions
FIRST_ORDER = 20.0
"""m/s, of errors of places beside the step: speeds are up to 10 m/s, and a change may be two steps late."""


def ball(load: str | None = None, **conditions: Any) -> kane.Model:
    """A ball of 1 kg that slides along z and x over a floor, which is there under conditions."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("ball", mass=1)
    m.joint("fall", "prismatic", "ground", "ball", axis="z", coordinates=["z"], speeds=["v"])
    if load is not None:
        m.load("push", kane.Effort("fall", load))
    m.contact("floor", "ball", "ground", shape={"point": (0, 0, 0)}, normal="z", **conditions)
    return m


CASES: dict[str, tuple[kane.Model, dict[str, Any], float, list[str]]] = {
    "a door that opens": (ball(until="t - 0.5"), {"q": [0.0]}, 0.9, ["freed"]),
    "a door that opens under a falling ball": (ball(until="t - 0.2"), {"q": [0.5]}, 0.6, ["freed"]),
    "a floor that comes in time": (ball(when="t - 0.2"), {"q": [0.5]}, 0.6, ["imposed", "impact"]),
    "a floor that bounces": (
        ball(when="t - 0.2", restitution=0.6),
        {"q": [0.5]},
        0.6,
        ["imposed", "impact"],
    ),
    "a floor that stays for a while": (ball(duration=0.4), {"q": [0.3]}, 0.8, ["impact", "freed"]),
    "a floor that comes and goes": (
        ball(when="t - 0.1", duration=0.4),
        {"q": [0.4]},
        0.9,
        ["imposed", "impact", "freed"],
    ),
    "a floor that was there and comes again": (
        ball(held=True, when="t - 0.5", until="(t - 0.1)*(0.3 - t)"),
        {"q": [0.0], "u": [3.0]},
        0.8,
        ["freed", "imposed", "impact"],
    ),
    "a floor that breaks under its load": (
        ball("-30*t", until="floor - 20"),
        {"q": [0.0]},
        0.7,
        ["freed"],
    ),
    "a floor that comes where the ball rises": (
        ball(when="v", restitution=0.5, until="t - 9"),
        {"q": [0.3], "u": [-1.0]},
        0.4,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_contacts_under_conditions_move_as_with_events_while_the_step_shrinks(name: str) -> None:
    m, start, end, causes = CASES[name]
    ends = m.simulate(end, **start)
    assert [x.cause for x in ends.transitions[1:]] == causes
    errors: list[float] = []
    for step in STEPS:
        run = m.simulate(end, **start, contacts="stepping", step=step)
        assert run.outcome.success, run.outcome
        errors.append(abs(float(run.q[-1, 0] - ends.q[-1, 0])))
        assert errors[-1] <= FIRST_ORDER * step + 1e-12
        found = [x for x in run.transitions[1:] if x.cause in ("imposed", "freed")]
        wanted = [x for x in ends.transitions[1:] if x.cause in ("imposed", "freed")]
        assert [x.cause for x in found] == [x.cause for x in wanted]
        assert [x.t for x in found] == pytest.approx([x.t for x in wanted], abs=2 * step)
        report = run.check()
        assert report.passed, report
    assert errors[-1] <= 0.5 * errors[0] + 1e-12


def test_a_floor_that_is_gone_is_passed_freely() -> None:
    run = ball(until="t - 0.2").simulate(0.8, q=[0.5], contacts="stepping", step=0.01)
    assert run.q[:, 0] == pytest.approx(0.5 - G * run.t**2 / 2, abs=1e-12)


@pytest.mark.parametrize("engine", [{}, {"contacts": "stepping", "step": 1e-3}])
def test_a_contact_that_comes_into_force_inside_a_body_ends_the_motion(engine: dict[str, Any]) -> None:
    run = ball(when="t - 0.4").simulate(1.0, q=[0.1], **engine)
    assert run.outcome.reason == "mode" and "'floor'" in str(run.outcome) and "inside" in str(run.outcome)
    assert run.t[-1] == pytest.approx(0.4, abs=2e-3)


@pytest.mark.parametrize("engine", [{}, {"contacts": "stepping", "step": 1e-3}])
def test_what_may_not_stay_in_force_ends_at_once(engine: dict[str, Any]) -> None:
    m = ball(when="t - 0.1", until="t - 0.05")
    run = m.simulate(0.6, q=[0.2], **engine)
    assert [x.cause for x in run.transitions[1:]] == ["imposed", "freed"]
    assert run.transitions[1].t == run.transitions[2].t
    assert run.q[-1, 0] == pytest.approx(0.2 - G / 2 * 0.36, abs=1e-9)


@pytest.mark.parametrize("engine", [{}, {"contacts": "stepping", "step": 1e-3}])
def test_a_condition_that_ends_what_is_held_counts_from_the_start_of_the_motion(engine: dict[str, Any]) -> None:
    """Durations run from the start, wherever on the clock that is."""
    run = ball(duration=0.3).simulate((5.0, 5.8), q=[0.0], **engine)
    (freed,) = run.transitions[1:]
    assert freed.cause == "freed" and freed.t == pytest.approx(5.3, abs=1.1e-3)
    assert run.q[-1, 0] == pytest.approx(-G / 2 * 0.25, abs=0.02)


def test_gaps_of_contacts_that_are_not_in_force_are_not_judged() -> None:
    run = ball(until="t - 0.2").simulate(0.8, q=[0.5])
    assert run.q[-1, 0] < -1.0
    assert run.check().passed, run.check()


def test_conditions_of_one_contact_leave_others_alone() -> None:
    """Two balls over one floor, one of them let through: the other lies."""
    m = kane.Model(gravity=(0, 0, -G))
    given: tuple[dict[str, Any], ...] = ({}, {"until": "t - 0.3"})
    for k, conditions in enumerate(given):
        m.body(f"b{k}", mass=1)
        m.joint(f"j{k}", "prismatic", "ground", f"b{k}", axis="z", coordinates=[f"z{k}"], speeds=[f"v{k}"])
        m.contact(f"floor{k}", f"b{k}", "ground", shape={"point": (0, 0, 0)}, normal="z", **conditions)
    run = m.simulate(0.8, q=[0.0, 0.0], contacts="stepping", step=1e-3)
    assert np.abs(run.q[:, 0]).max() < 1e-12
    assert run.q[-1, 1] == pytest.approx(-G / 2 * 0.25, abs=0.01)


@pytest.mark.parametrize("engine", [{}, {"contacts": "stepping", "step": 1e-3}])
@pytest.mark.parametrize("until", ["sqrt(0.3 - t) - 2", "log(0.3 - t) - 9"])
def test_a_condition_that_is_not_a_number_ends_the_motion_and_is_named(engine: dict[str, Any], until: str) -> None:
    run = ball(until=until).simulate(0.8, q=[0.1], **engine)
    assert not run.outcome.success and run.t[-1] < 0.31
    assert "floor" in str(run.outcome) and "not a number" in str(run.outcome)


def two_rates(first: dict[str, Any], second: dict[str, Any]) -> kane.Model:
    """A slider that is to have two velocities, each under its conditions."""
    m = kane.Model()
    m.body("b", mass=1)
    m.joint("j", "prismatic", "ground", "b", axis="x", coordinates=["x"], speeds=["v"])
    m.constrain("one", kane.MotionEquations("x' = 2"), **first)
    m.constrain("two", kane.MotionEquations("x' = 1"), **second)
    return m


@pytest.mark.parametrize("engine", [{}, {"contacts": "stepping", "step": 1e-3}])
def test_constraints_that_contradict_each_other_are_named(engine: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"'one', 'two'.*differ by 1"):
        two_rates({"held": True, "when": "t - 9"}, {"held": True, "when": "t - 9"}).simulate(1.0, **engine)
    run = two_rates({"when": "t - 0.5"}, {"when": "t - 0.6"}).simulate(1.0, **engine)
    assert run.outcome.reason == "mode" and "'one', 'two' in force" in str(run.outcome)


def test_how_deep_a_start_is_inside_a_body_is_told_with_its_unit() -> None:
    with pytest.raises(ModelError, match=r"'floor': the gap is -0\.02 m at the start"):
        ball().simulate(1.0, q=[-0.02])


@pytest.mark.parametrize("engine", [{}, {"contacts": "stepping", "step": 1e-3}])
def test_two_conditions_that_rise_at_one_instant_both_count(engine: dict[str, Any]) -> None:
    m = kane.Model()
    for k in range(2):
        m.body(f"b{k}", mass=1)
        m.joint(f"j{k}", "prismatic", "ground", f"b{k}", axis="x", coordinates=[f"x{k}"], speeds=[f"v{k}"])
        m.constrain(f"lock{k}", kane.MotionEquations(f"x{k}' = 0"), when="t - 0.5", until="t - 0.75")
    run = m.simulate(1.0, u=[1.0, 2.0], **engine)
    assert [(x.cause, *x.constraints) for x in run.transitions[1:]] == [
        ("imposed", "lock0"),
        ("imposed", "lock1"),
        ("freed", "lock0"),
        ("freed", "lock1"),
    ]
    assert run.u[-1] == pytest.approx([0.0, 0.0], abs=1e-12)
