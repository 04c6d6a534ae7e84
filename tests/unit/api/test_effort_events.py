"""Efforts (tau_v) in what events and ensembles watch: times and extremes of the law written out, and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import ModelError
from kane.model import Mechanism

MASS, DAMPING, SPEED = 2.0, 3.0, 4.0  # kg, N s/m, m/s: v = 4 exp(-1.5 t) m/s
ROUNDING = 1e-7  # s; of a motion to rtol 1e-8 and finer
LAW = "30*q + 7*u + x + 2.5*v"  # holds the pole of the cart up


def sled() -> kane.Model:
    """A mass that slides on a line."""
    m = Mechanism("sled")
    m.body("mass", mass=MASS)
    m.joint("rail", "prismatic", "ground", "mass", axis="x", coordinates=["x"], speeds=["v"])
    return kane.Model.of(m)


def brake(t: float, q: Any, u: Any) -> Any:
    return [-DAMPING * u[0]]


def test_an_effort_crosses_where_the_closed_form_does() -> None:
    run = sled().simulate(3.0, u={"v": SPEED}, control={"v": f"-{DAMPING}*v"}, events={"weak": "tau_v + 1"})
    assert run.events[0].t == pytest.approx([np.log(DAMPING * SPEED) * MASS / DAMPING], abs=ROUNDING)


def test_a_constant_effort_counts_beside_that_of_the_law() -> None:
    # v' = (tau - c v) / m with tau = -1 N: c v = (c v0 + 1) exp(-c t / m) - 1, and tau - c v = -2 N where c v = 1 N
    asked: dict[str, Any] = {"u": {"v": SPEED}, "tau": {"v": -1.0}, "control": {"v": f"-{DAMPING}*v"}}
    run = sled().simulate(3.0, **asked, events={"weak": "tau_v + 2"})
    assert run.events[0].t == pytest.approx([np.log((DAMPING * SPEED + 1) / 2) * MASS / DAMPING], abs=ROUNDING)


def test_the_effort_of_a_function_crosses_at_the_sample_where_it_jumps() -> None:
    # held over T: v_{k+1} = v_k (1 - c T / m), so that tau_k = -c v0 (1 - c T / m)^k
    period = 0.05
    shrink = 1.0 - DAMPING * period / MASS
    first = int(np.ceil(np.log(1.0 / (DAMPING * SPEED)) / np.log(shrink)))
    ends: dict[str, Any] = {"expression": "tau_v + 1", "direction": 1, "terminal": True}
    run = sled().simulate(3.0, u={"v": SPEED}, control=brake, control_period=period, events={"weak": ends})
    assert run.outcome.reason == "event"
    assert run.events[0].t == pytest.approx([first * period], abs=ROUNDING)
    assert run["tau_v"][-1] == pytest.approx(-DAMPING * SPEED * shrink**first)


def test_the_extremes_of_an_effort_are_those_of_the_closed_form() -> None:
    found = sled().ensemble(
        1.0, n=20, seed=1, u={"v": "uniform(1, 4)"}, control={"v": f"-{DAMPING}*v"}, watch={"force": "tau_v"}
    )
    start = -DAMPING * found.numbers["v"]
    assert found.low["force"] == pytest.approx(start)
    assert found.end["force"] == pytest.approx(start * np.exp(-DAMPING / MASS), rel=1e-6)
    assert found.high["force"] == pytest.approx(found.end["force"])


@pytest.mark.parametrize(
    ("model", "speed", "law", "level", "asked"),
    [
        ("cart-pole", "v", LAW, 1.0, {"q": {"q": 0.2}}),
        ("cart-pole", "v", LAW, 1.0, {"q": {"q": 0.2}, "method": "radau"}),
        ("four-bar", 0, "sin(3*t) - 0.2*u", 0.3, {}),
        ("four-bar", 0, "sin(3*t) - 0.2*u", 0.3, {"embed": "formulation"}),
        ("bouncing-ball", "v", "0.3*t - 0.2*v", 0.4, {}),
        ("bouncing-ball", "v", "0.3*t - 0.2*v", 0.4, {"embed": "formulation"}),
        ("bouncing-ball", "v", "0.3*t - 0.2*v", 0.4, {"contacts": "stepping", "step": 1e-3}),
    ],
)
def test_an_effort_crosses_where_the_law_written_out_does(
    model: str, speed: str | int, law: str, level: float, asked: dict[str, Any]
) -> None:
    m = kane.load(model)
    if isinstance(speed, int):
        speed = m.speeds[speed]
        law = law.replace("u", speed)
    events = {"named": f"tau_{speed} - {level}", "written": f"{law} - {level}"}
    named, written = m.simulate(2.0, control={speed: law}, events=events, **asked).events
    assert len(named.t) and named.t == pytest.approx(written.t, abs=1e-12)


def test_members_of_an_ensemble_see_the_efforts_of_the_law() -> None:
    asked: dict[str, Any] = {
        "n": 16,
        "seed": 3,
        "q": {"q": "uniform(0.1, 0.3)"},
        "parameters": {"m": "uniform(0.1, 0.2)"},
    }
    watch, events = {"named": "abs(tau_v)", "written": f"abs({LAW})"}, {"named": "tau_v - 1", "written": f"{LAW} - 1"}
    found = kane.load("cart-pole").ensemble(3.0, **asked, control={"v": LAW}, watch=watch, events=events)
    assert found.high["named"] == pytest.approx(found.high["written"], rel=1e-12)
    assert np.all(found.crossings["named"] > 0)
    assert found.first["named"] == pytest.approx(found.first["written"], abs=1e-12)


def test_what_comes_and_goes_lets_efforts_be_watched() -> None:
    law = "0.3*t - 0.2*v"
    found = kane.load("bouncing-ball").ensemble(
        1.0, n=4, q={"z": "uniform(0.5, 1)"}, control={"v": law}, watch={"named": "tau_v", "written": law}
    )
    assert found.high["named"] == pytest.approx(found.high["written"], rel=1e-12)
    assert np.ptp(found.high["named"]) > 0.0


def test_an_effort_of_no_speed_is_told_which_there_are() -> None:
    with pytest.raises(ModelError, match="did you mean 'tau_v'"):
        sled().simulate(1.0, events={"weak": "tau_w + 1"})


def test_a_name_of_the_description_goes_before_an_effort() -> None:
    m = Mechanism("sled")
    m.parameter("tau_v", 1.0)
    m.body("mass", mass=MASS)
    m.joint("rail", "prismatic", "ground", "mass", axis="x", coordinates=["x"], speeds=["v"])
    run = kane.Model.of(m).simulate(3.0, u={"v": SPEED}, control={"v": "-3*v"}, events={"slow": "v - tau_v"})
    assert run.events[0].t == pytest.approx([np.log(SPEED) * MASS / DAMPING], abs=ROUNDING)
