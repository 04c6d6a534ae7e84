"""Changes in time that can be read from a program: none is stepped over, none costs small steps."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.graph import Graph, Inputs, Program, lower
from kane.model.expression import parse_expression
from kane.simulate.discontinuities import time_changes
from unit.large.mechanisms import tree

PULSE = "select(t < 0.5, 0, select(t <= 0.501, 100, 0))"  # 0.1 N s
AGREEMENT = 1e-9
"""Relative; a constant force is integrated exactly, times of edges are known to rounding."""


def program(texts: list[str]) -> Program:
    """A program over t, q and the parameters a, b."""
    graph = Graph()
    names = {n: graph.input(n) for n in ("t", "q", "a", "b")}
    outputs = [parse_expression(text, graph, names) for text in texts]
    groups = [Inputs("t", ("t",)), Inputs("q", ("q",)), Inputs("parameters", ("a", "b"))]
    return lower("changes", groups, {"out": ((len(outputs),), outputs)})


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("select(t < 0.5, 1, 2)", [0.5]),
        ("select(t <= a or b < t, 1, 2)", [1.5, 4.0]),
        ("select(2*(t - a)/b > 0.25 - t, q, 2)", [(0.25 + 0.75) / 1.5]),
        ("min(t/a, 1) + max(0, b - t)", [1.5, 4.0]),
        ("abs(t - a) + sign(3 - 2*t)*q", [1.5]),
        ("select(t < sqrt(b), 1, 0)", [2.0]),
        ("select(sin(t) < 0.5, 1, 0) + select(t < q, 1, 0)", []),
        ("select(a < b, t, 1) + sin(t)", []),
        ("select(t < 20, 1, 0)", []),
    ],
)
def test_changes_are_where_what_is_compared_is_equal(text: str, times: list[float]) -> None:
    found = time_changes([(program([text]), (1.5, 4.0))], 0.0, 10.0)
    assert [0.5 * (c.before + c.after) for c in found] == pytest.approx(times, rel=1e-12)
    assert all(c.before < c.after < c.before + 1e-13 for c in found)
    backward = time_changes([(program([text]), (1.5, 4.0))], 10.0, 0.0)
    assert [(c.after, c.before) for c in reversed(backward)] == list(found)


def test_the_sides_of_a_change_are_clear_of_its_rounding() -> None:
    found = time_changes([(program(["select(t + 1e6 < 1e6 + 1, 1, 0)"]), (0.0, 0.0))], 0.0, 10.0)
    assert found[0].before + 1e6 < 1e6 + 1
    assert not found[0].after + 1e6 < 1e6 + 1


def slider(effort: str, *, free: bool = False) -> kane.Model:
    """A mass of 1 kg on a rail, pushed along it."""
    model = kane.Model("slider")
    model.parameter("late", 0.501, free=free)
    model.body("mass", mass=1.0)
    model.joint("rail", "prismatic", "ground", "mass", axis="x")
    model.load("push", kane.Effort("rail", effort))
    return model


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau", "rk4"])
def test_a_pulse_shorter_than_any_step_gives_its_impulse(method: str) -> None:
    step = 0.3 if method == "rk4" else None
    run = slider(PULSE).simulate((0.0, 2.0), method=method, step=step)
    assert run.u[-1, 0] == pytest.approx(0.1, rel=AGREEMENT)
    assert run.q[-1, 0] == pytest.approx(0.1 * (2.0 - 0.5005), rel=AGREEMENT)
    assert run.check().passed


@pytest.mark.parametrize(("start", "end"), [(2.0, 0.0), (0.5, 2.0), (0.0, 0.501)])
def test_a_pulse_at_an_end_or_met_backward_gives_its_impulse(start: float, end: float) -> None:
    run = slider(PULSE).simulate((start, end))
    assert run.u[-1, 0] == pytest.approx(0.1 if end > start else -0.1, rel=AGREEMENT)
    assert run.t[-1] == end


def test_edges_follow_free_parameters() -> None:
    model = slider("select(t < 0.5, 0, select(t <= late, 100, 0))", free=True)
    assert model.simulate((0.0, 2.0)).u[-1, 0] == pytest.approx(0.1, rel=AGREEMENT)
    model.set_parameters(late=0.503)
    assert model.simulate((0.0, 2.0)).u[-1, 0] == pytest.approx(0.3, rel=AGREEMENT)


@pytest.mark.parametrize("period", [0.1, 0.03])
def test_edges_and_samples_of_a_control_go_together(period: float) -> None:
    model = slider(PULSE)
    run = model.simulate((0.0, 2.0), control=lambda t, q, u: [1.0], control_period=period)
    assert run.u[-1, 0] == pytest.approx(2.1, rel=AGREEMENT)


def test_requested_times_at_an_edge_are_those_requested() -> None:
    times = np.linspace(0.0, 2.0, 401)
    run = slider(PULSE).simulate(times)
    assert np.array_equal(run.t, times)
    assert run.u[:, 0] == pytest.approx(0.1 * np.clip((times - 0.5) / 1e-3, 0.0, 1.0), abs=1e-12)


@pytest.mark.parametrize("model", [kane.load("four-bar"), tree(60)], ids=["four-bar", "chain"])
def test_a_pulse_changes_speeds_by_the_acceleration_that_its_effort_gives(model: kane.Model) -> None:
    """u̇ is linear in the efforts, constrained or not, so that a short pulse adds Δu̇ times its length to the speeds."""
    law = {model.speeds[0]: "select(t < 0.005, 0, select(t <= 0.00501, 1000, 0))"}
    times = np.array([0.0, 0.005, 0.00501, 0.01])
    pushed, free = (model.simulate(times, control=c) for c in (law, None))
    effort = np.zeros(len(model.speeds))
    effort[0] = 1000.0
    q, u = free.q[1], free.u[1]
    expected = 1e-5 * (model.forward_dynamics(q, u, effort) - model.forward_dynamics(q, u, 0.0 * effort))
    gained = pushed.u[2] - free.u[2]
    assert np.abs(gained - expected).max() <= 1e-3 * np.abs(expected).max()
    assert pushed.check().passed


def test_a_watched_pulse_is_found() -> None:
    run = slider("0").simulate((0.0, 2.0), events={"window": "select(t < 0.5, -1, select(t <= 0.501, 1, -1))"})
    assert run.events[0].t == pytest.approx([0.5, 0.501], rel=1e-12)
