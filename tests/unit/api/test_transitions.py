"""Transitions of a motion: told, drawn, written, and judged by the laws of contact."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.cli import main as command
from kane.errors import InputError
from kane.simulate import Transition, Transitions
from kane.viewer import plots

CHANGES = Transitions(
    (
        Transition(0.0, "start", (), {"a": "open", "b": "sticks"}),
        Transition(1.0, "impact", ("a",), {"a": "slips", "b": "sticks"}, {"a": np.array([2.0])}, -0.5, possible=2),
        Transition(1.5, "stick", ("a",), {"a": "sticks", "b": "sticks"}),
        Transition(3.0, "release", ("b",), {"a": "sticks", "b": "open"}),
    )
)


@pytest.fixture(scope="module")
def ball() -> kane.Trajectory:
    return kane.load("bouncing-ball").simulate(2.0)


def test_transitions_print_as_lines() -> None:
    assert repr(CHANGES).splitlines() == [
        "t = 0 s: start: a open, b sticks",
        "t = 1 s: impact of a, energy -0.5 J, one of 2 possible motions: a slips, b sticks",
        "t = 1.5 s: stick of a: a sticks, b sticks",
        "t = 3 s: release of b: a sticks, b open",
    ]
    assert CHANGES.summary() == "3 transitions (1 impact, 1 stick, 1 release), the last at t = 3 s"
    many = Transitions([replace(CHANGES[0], t=float(k)) for k in range(100)])
    lines = repr(many).splitlines()
    assert len(lines) == 21 and lines[10] == "… 80 more" and lines[-1].startswith("t = 99 s")


def test_events_print_as_lines(tmp_path: Path) -> None:
    """Zeros of functions of time alone, whatever moves."""
    events = {"whole": "sin(pi*t)", "none": "2 + sin(t)", "over": {"expression": "t - 12.25", "terminal": True}}
    run = kane.load("pendulum").simulate(20.0, events=events)
    assert repr(run.events).splitlines() == [
        "whole: 12 times, at t = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …, 12 s",
        "none: never",
        "over: at t = 12.25 s, where the motion ended",
    ]
    assert repr(kane.Trajectory.load(run.save(tmp_path / "run.npz")).events) == str(run.events)
    assert repr(kane.load("pendulum").simulate(0.1).events) == "no events"


def test_what_stops_slipping_and_cannot_stick_is_said_to_slip_on() -> None:
    turns = Transition(1.5, "stick", ("a",), {"a": "slips", "b": "open"})
    assert repr(Transitions([turns])) == "t = 1.5 s: a stopped and slips on another way: a slips, b open"


def test_the_outcome_tells_transitions(ball: kane.Trajectory) -> None:
    assert "\n3 transitions (3 impact), the last at t = 1.99573 s" in str(ball.outcome)


def test_the_diagram_has_a_bar_where_a_constraint_holds() -> None:
    (ax,) = plots.modes(CHANGES, 4.0).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    bars = [[list(p.get_extents().intervalx) for p in c.get_paths()] for c in ax.collections]
    sticks_a, slips_a, sticks_b, slips_b = bars
    assert (sticks_a, slips_a, sticks_b, slips_b) == ([[1.5, 4.0]], [[1.0, 1.5]], [[0.0, 3.0]], [])
    assert [np.asarray(line.get_xdata()).tolist() for line in ax.lines] == [[1.0], []]


def test_a_motion_without_modes_has_no_diagram() -> None:
    with pytest.raises(InputError, match="nothing that comes and goes"):
        kane.load("pendulum").simulate(0.1).plot_modes()


# files and the terminal --------------------------------------------------------------------------------------------


def test_the_command_line_writes_transitions_beside_the_motion(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "ball.csv"
    assert command(["simulate", "bouncing-ball", "--t", "2", "--output", str(path)]) == 0
    assert "impact of floor" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "ball.transitions.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["cause"] for row in rows] == ["start", "impact", "impact", "impact"]
    first = rows[1]
    assert float(first["t"]) == pytest.approx((2 / 9.81) ** 0.5, abs=1e-12)
    assert first["floor"] == "open" and first["constraints"] == "floor"
    speed = (2 * 9.81) ** 0.5
    assert float(first["v before"]) == pytest.approx(-speed) and float(first["v after"]) == pytest.approx(0.9 * speed)
    assert float(first["impulse floor"]) == pytest.approx(0.2 * 1.9 * speed)


def test_transitions_are_in_the_json_of_a_simulation(capsys: Any) -> None:
    assert command(["simulate", "bouncing-ball", "--t", "0.5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["transitions"]
    assert [x["cause"] for x in found] == ["start", "impact"] and found[1]["mode"] == {"floor": "open"}


def test_the_command_line_takes_steps_over_contacts(capsys: Any) -> None:
    line = ["simulate", "bouncing-ball", "--t", "0.5", "--contacts", "stepping", "--step", "0.001", "--json"]
    assert command(line) == 0
    found = json.loads(capsys.readouterr().out)
    assert [x["cause"] for x in found["transitions"]] == ["start", "impact"]
    assert found["steps"] == 500
    assert found["transitions"][1]["t"] == pytest.approx((2 / 9.81) ** 0.5, abs=0.001)


# laws ----------------------------------------------------------------------------------------------------------------


MODELS = ["bouncing-ball", "disk-on-ramp", "rocking-block", "painleve-rod", "box-on-incline"]
MODELS += ["shopping-cart", "stick-slip", "newtons-cradle", "four-bar-stop", "spinning-ball", "pushed-box"]
MODELS += ["dominoes", "compass-walker", "woodpecker", "piano-key", "tippe-top"]
MODELS += ["rattleback-on-table", "back-spin-disk"]


@pytest.mark.parametrize("name", MODELS)
def test_motions_of_the_models_pass_the_laws_of_contact(name: str) -> None:
    law = "sequential" if name == "newtons-cradle" else "poisson"
    report = kane.load(name).simulate(2.0, impact=law).check()
    assert report.passed, report
    assert {"gaps", "pushes", "friction", "impacts", "losses"} <= {row.name for row in report.rows}


def raised(run: kane.Trajectory, **changes: Any) -> kane.Trajectory:
    """The motion with something changed in its first impact."""
    first, impact, *rest = run.transitions
    return replace(run, transitions=Transitions((first, replace(impact, **changes), *rest)))


FAULTS: list[tuple[str, Callable[[kane.Trajectory], kane.Trajectory]]] = [
    ("gaps", lambda run: replace(run, q=run.q - 0.01)),
    ("impacts", lambda run: raised(run, impulse={"floor": np.array([1.0])})),
    ("losses", lambda run: raised(run, energy_change=0.1)),
    ("energy", lambda run: replace(run, work=np.zeros_like(run.work))),
]


@pytest.mark.parametrize(("name", "spoil"), FAULTS, ids=[name for name, _ in FAULTS])
def test_a_motion_that_breaks_a_law_of_contact_fails(ball: kane.Trajectory, name: str, spoil: Any) -> None:
    assert ball.check().row(name).passed
    assert not spoil(ball).check().row(name).passed


def test_a_contact_that_pulls_and_friction_beyond_its_bound_fail() -> None:
    run = kane.load("disk-on-ramp").simulate(1.0)
    for name, factors in (("pushes", (-1.0, 1.0)), ("friction", (1.0, 1.1))):
        spoilt = replace(run)
        object.__setattr__(spoilt, "multipliers", run.multipliers * factors)
        assert run.check().row(name).passed and not spoilt.check().row(name).passed
