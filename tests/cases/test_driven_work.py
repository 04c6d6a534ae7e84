"""Work of permanent constraints that are driven in time, beside others that come and go: closed forms of the drive.

T + V − work stays constant, so that work of everything but gravity is the energy that the drive has put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane

G = 9.81
TABLE, BALL = 2.0, 1.0  # kg
WORK = 1e-9  # J, of motions that find every change
STEPS = (4e-3, 2e-3, 1e-3)  # s
ENGINES: dict[str, dict[str, Any]] = {"run-time": {}, "formulation": {"embed": "formulation"}}


def lift(law: str, restitution: float = 0.0) -> kane.Model:
    """A table whose height z is driven, z = law(t), and a ball over it, at height y: both slide along z."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("table", mass=TABLE)
    m.joint("guide", "prismatic", "ground", "table", axis="z", coordinates=["z"], speeds=["v"])
    m.body("ball", mass=BALL)
    m.joint("fall", "prismatic", "ground", "ball", axis="z", coordinates=["y"], speeds=["w"])
    m.constrain("drive", kane.ConfigurationEquations(f"z = {law}"))
    m.contact("top", "ball", "table", shape={"point": (0, 0, 0)}, normal="z", restitution=restitution)
    return m


def shaken_work(t: Any) -> Any:
    """What the drive does to both bodies along z = 0.02 (1 − cos 15 t), which the ball never leaves."""
    z, rate = 0.02 * (1 - np.cos(15 * t)), 0.3 * np.sin(15 * t)
    return (TABLE + BALL) * (0.5 * rate**2 + G * z)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_shaken_table_does_the_work_of_its_drive(engine: str) -> None:
    run = lift("0.02*(1 - cos(15*t))").simulate(1.0, **ENGINES[engine])
    assert run.work == pytest.approx(shaken_work(run.t), abs=WORK)
    balance = run.check().row("energy").value
    assert balance is not None and balance < 1e-9


def test_in_steps_the_work_of_a_shaken_table_falls_into_its_closed_form() -> None:
    m, errors = lift("0.02*(1 - cos(15*t))"), []
    for step in STEPS:
        run = m.simulate(1.0, contacts="stepping", step=step)
        errors.append(float(np.abs(run.work - shaken_work(run.t)).max()))
        report = run.check()
        assert report.passed, report
    assert errors[-1] < 0.6 * errors[0] and errors[-1] < 0.01


def struck_work(m: kane.Model, t: Any, height: float, rising: float, e: float) -> tuple[Any, float]:
    """Work along the times, one impact in them, and its time: the table rises evenly, the ball falls on it."""
    hit = (np.sqrt(rising**2 + 2 * G * height) - rising) / G
    down = G * hit
    after = rising + e * (rising + down)
    return TABLE * G * rising * t + 0.5 * BALL * (after**2 - down**2) * (t >= hit), hit


@pytest.mark.parametrize("engine", ENGINES)
def test_a_driven_table_works_in_an_impact(engine: str) -> None:
    height, rising, e = 0.3, 1.2, 0.5
    m = lift(f"{rising}*t", e)
    end = 0.25  # s, after the first impact, before the second
    run = m.simulate(end, q=[0, height], u=[rising, 0], **ENGINES[engine])
    expected, hit = struck_work(m, run.t, height, rising, e)
    (impact,) = run.transitions[1:]
    assert impact.cause == "impact" and impact.t == pytest.approx(hit, abs=1e-12)
    apart = run.t != impact.t
    assert run.work[apart] == pytest.approx(expected[apart], abs=WORK)
    assert impact.energy_change == pytest.approx(expected[-1] - TABLE * G * rising * end, abs=WORK)
    assert impact.energy_change > 0.0  # the drive has put it in
    report = run.check()
    assert report.passed, report


def test_in_steps_a_driven_table_works_in_an_impact() -> None:
    height, rising, e, errors = 0.3, 1.2, 0.5, []
    m = lift(f"{rising}*t", e)
    for step in STEPS:
        run = m.simulate(0.25, q=[0, height], u=[rising, 0], contacts="stepping", step=step)
        expected, _ = struck_work(m, run.t, height, rising, e)
        errors.append(abs(float(run.work[-1] - expected[-1])))
        report = run.check()
        assert report.passed, report
    assert errors[-1] < 0.6 * errors[0] and errors[-1] < 0.05
