"""A problem travels: pickled and simulated in another process it gives the same bits. Motions consist of segments."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.answers import Answers
from kane.api.simulation import Setup, set_up
from kane.backends import compile
from kane.errors import InputError
from kane.graph import Graph, Inputs, Layout, lower
from kane.large.choice import by_recursion
from kane.simulate import Embedding, Event, Mode, MotionProblem, Switch, integrate, progress, simulate
from unit.simulate.constrained_systems import program
from unit.simulate.systems import oscillator

GRAVITY = 9.81
CLOSE = 1e-8

OTHER_PROCESS = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    setup = pickle.load(file)
solution = setup.run()
with open(sys.argv[2], "wb") as file:
    pickle.dump((solution.t, solution.y, [(c.t, c.y) for c in solution.events], solution.outcome), file)
"""


def chain(links: int) -> kane.Model:
    """A chain that is computed by recursion over its bodies."""
    model = kane.Model("chain", gravity=(0, 0, -GRAVITY))
    parent = "ground"
    for k in range(links):
        model.body(f"link{k}", mass=1.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1}, center=(0, 0, -0.1))
        model.joint(f"pin{k}", "revolute", parent, f"link{k}", axis="x", at=(0, 0, -0.2 if k else 0))
        parent = f"link{k}"
    assert by_recursion(model.mechanism)
    return model


def setup_of(model: kane.Model, t: Any, **given: Any) -> Setup:
    usual: dict[str, Any] = {
        "q": None,
        "u": None,
        "tau": None,
        "control": None,
        "control_period": 0.01,
        "method": "dop853",
        "rtol": None,
        "atol": None,
        "step": None,
        "embed": "run-time",
        "drift": "project",
        "events": None,
        "options": {},
    }
    return set_up(Answers(model.mechanism), t, **(usual | given))


CASES: dict[str, tuple[kane.Model, dict[str, Any]]] = {
    "squeezer": (kane.load("andrews-squeezer"), {"t": (0.0, 0.005)}),
    "bicycle": (
        kane.load("whipple-bicycle", free=["g"]),
        {"t": (0.0, 1.0), "control": {"usteer": "-0.1*usteer"}, "events": {"load": "front.normal", "up": "roll"}},
    ),
    "implicit": (kane.load("whipple-bicycle"), {"t": (0.0, 0.5), "embed": "formulation", "method": "radau"}),
    "pendulum": (kane.load("double-pendulum"), {"t": (0.0, 2.0), "events": {"side": "q1"}}),
    "recursion": (chain(70), {"t": (0.0, 0.05), "control": {"pin0": "-0.1*t"}}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_problem_in_another_process_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    model, given = CASES[name]
    setup = setup_of(model, **given)
    here = setup.run()
    (tmp_path / "setup").write_bytes(pickle.dumps(setup))
    arguments = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "setup"), str(tmp_path / "found")]
    subprocess.run(arguments, check=True)
    t, y, events, outcome = pickle.loads((tmp_path / "found").read_bytes())
    assert np.array_equal(t, here.t) and np.array_equal(y, here.y) and outcome == here.outcome
    for (time, state), c in zip(events, here.events, strict=True):
        assert np.array_equal(time, c.t) and np.array_equal(state, c.y)


@pytest.mark.parametrize("travel", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
@pytest.mark.parametrize("name", ["squeezer", "pendulum", "recursion"])
def test_trajectories_and_models_that_were_asked_travel(name: str, travel: Any) -> None:
    model, given = CASES[name]
    run = model.simulate(given["t"])
    again = travel(run)
    assert np.array_equal(again.q, run.q) and np.array_equal(again.energy().kinetic, run.energy().kinetic)
    assert np.array_equal(again.multipliers, run.multipliers) and str(again.outcome) == str(run.outcome)
    assert np.array_equal(travel(model).simulate(given["t"]).q, run.q)


# segments ------------------------------------------------------------------------------------------------------------


def falling(v: dict[str, Any]) -> list[Any]:
    """Rates of a free particle in a plane: y = [x, z, vx, vz, work]."""
    return [*v["u"], 0.0, -GRAVITY, 0.0]


def on_sphere(v: dict[str, Any]) -> list[Any]:
    """Terms of a particle of unit mass at the distance 1 from the origin: (x² + z² − 1) / 2 = 0."""
    (x, z), (a, b) = v["q"], v["u"]
    mass, f, row = [1.0, 0.0, 0.0, 1.0], [0.0, -GRAVITY], [x, z]
    return [a, b, *mass, *f, *row, x * a + z * b, -(a * a + b * b), (x * x + z * z - 1) / 2, 0.0]


def sphere_places(v: dict[str, Any]) -> list[Any]:
    x, z = v["q"]
    return [(x * x + z * z - 1) / 2, x, z, 1.0, 0.0, 0.0, 1.0]


def sliding_off() -> MotionProblem:
    """A particle that slides on a sphere while that pushes it, and falls when the sphere would have to pull."""
    layout = Layout(2, 2, 0, 1, (0,))
    embedding = Embedding(layout, program(on_sphere, 2, 2), program(sphere_places, 2, 2))
    return MotionProblem(
        Layout(2, 2),
        (
            Mode(("sphere",), None, embedding, True, watch=watch_push()),
            Mode((), program(falling, 2, 2), watch=program(lambda v: [1.0], 2, 2)),
        ),
        (0.0, 0.0),
        events=(Event("lift", -1, terminal=True),),
        switches=(Switch("lift", 0, 1),),
    )


def watch_push() -> Any:
    """The program that watches the multiplier of the sphere."""
    graph = Graph()
    groups = {
        "t": ["t"],
        "q": ["x", "z"],
        "u": ["a", "b"],
        "work": ["work"],
        "tau": ["f", "g"],
        "multipliers": ["push"],
    }
    inputs = [Inputs(name, tuple(labels)) for name, labels in groups.items()]
    return compile(lower("watch", inputs, {"events": ((1,), [graph.input("push")])}))


@pytest.mark.parametrize("times", [(0.0, 1.2), np.linspace(0.0, 1.2, 40)], ids=["steps", "times"])
def test_a_particle_leaves_a_sphere_at_two_thirds_of_its_height(times: Any) -> None:
    """From a speed v at the top the sphere pushes with m (g cos θ − v²), v² = v0² + 2 g (1 − cos θ): it lets go at
    cos θ = (2 + v0²/g) / 3, and the particle falls along a parabola."""
    v0 = 0.5
    solution = simulate(sliding_off(), [0.0, 1.0, v0, 0.0, 0.0], times, rtol=1e-11, atol=1e-12)
    assert solution.outcome.reason == "end" and solution.outcome.t == 1.2
    slide, fall = solution.segments
    assert (slide.constraints, fall.constraints) == (("sphere",), ())
    (transition,) = solution.transitions
    assert transition.cause == "lift" and transition.constraints == () and transition.t == slide.t[-1] == fall.t[0]
    height = (2 + v0 * v0 / GRAVITY) / 3
    assert slide.y[-1, 1] == pytest.approx(height, abs=CLOSE)
    assert np.abs(np.hypot(slide.y[:, 0], slide.y[:, 1]) - 1).max() < 1e-13
    x, z, a, b = fall.y[0, :4]
    s = fall.t - fall.t[0]
    assert np.abs(fall.y[:, 0] - (x + a * s)).max() < CLOSE
    assert np.abs(fall.y[:, 1] - (z + b * s - GRAVITY * s * s / 2)).max() < CLOSE
    if len(times) > 2:
        assert np.array_equal(solution.t, times)
    else:
        assert np.all(np.diff(solution.t) > 0)
    assert len(solution.events[0]) == 1


def test_a_motion_without_switches_has_one_segment() -> None:
    problem = replace(sliding_off(), switches=())
    solution = simulate(problem, [0.0, 1.0, 0.5, 0.0, 0.0], (0.0, 1.2))
    assert solution.outcome.reason == "event" and len(solution.segments) == 1 and solution.transitions == ()
    run = kane.load("pendulum").simulate((0.0, 1.0))
    assert len(run.segments) == 1 and run.transitions == () and run.segments[0].outcome.reason == "end"
    assert np.array_equal(run.segments[0].t, run.t)


def test_problems_that_do_not_fit_together_are_refused() -> None:
    problem = sliding_off()
    with pytest.raises(InputError, match="no mode"):
        replace(problem, modes=())
    with pytest.raises(InputError, match="tau has 1 entries; 2 are needed"):
        replace(problem, tau=(0.0,))
    with pytest.raises(InputError, match="not between modes"):
        replace(problem, switches=(Switch("lift", 0, 2),))
    with pytest.raises(InputError, match="0 events need a program"):
        replace(problem, events=(), switches=())
    with pytest.raises(InputError, match="neither a motion nor an embedding"):
        Mode()


# length --------------------------------------------------------------------------------------------------------------


def test_the_number_of_steps_between_looks_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of steps that take no time would grow for ever: 25 million steps, in chunks of 50 000, ended in an
    overflow. Here looks come every ten steps, so that as many chunks are soon gone through."""
    monkeypatch.setattr(progress, "PACE", 10)
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 10.0), method="rk4", step=1e-3)
    assert solution.outcome.reason == "end" and solution.statistics.steps == 10_000
