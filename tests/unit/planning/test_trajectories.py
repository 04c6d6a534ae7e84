"""Moves and splines in joint space: ends, derivatives, limits, and the same in the graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kane.errors import InputError
from kane.graph import Graph, evaluate
from kane.planning import LAWS, Hold, PlannedTrajectory, Spline, cubic_spline, move, quintic_spline, rates

START, END = (0.3, -1.0, 0.2), (1.0, 1.5, 0.2)
POINTS = np.array([[0.0, 1.0], [0.7, 0.2], [0.4, -0.5], [-0.3, 0.1], [0.0, 1.0]])
TIMES = (0.0, 0.4, 1.1, 1.5, 2.2)
DIFFERENCE = 1e-6  # s; central differences are then good to about 1e-9


def splines() -> list[Any]:
    made = []
    for degree, build in ((3, cubic_spline), (5, quintic_spline)):
        for ends in ("clamped", "natural", "periodic"):
            made.append(pytest.param(build(POINTS, TIMES, ends=ends), id=f"{degree}-{ends}"))
    return made


EVERY = [*(pytest.param(move(START, END, law=law, duration=1.7), id=law) for law in LAWS), *splines()]


@pytest.mark.parametrize("trajectory", EVERY)
def test_rates_are_derivatives(trajectory: PlannedTrajectory) -> None:
    # Not at the corners of a trapezoid's velocity: its acceleration jumps there.
    t = np.array([0.05, 0.21, 0.7, 1.0, 1.2, 1.66])
    before, here, after = (trajectory.at(t + d) for d in (-DIFFERENCE, 0.0, DIFFERENCE))
    assert (after.q - before.q) / (2 * DIFFERENCE) == pytest.approx(here.qdot, abs=1e-7)
    assert (after.qdot - before.qdot) / (2 * DIFFERENCE) == pytest.approx(here.qddot, abs=1e-6)


@pytest.mark.parametrize("trajectory", EVERY)
def test_the_graph_gives_the_same_motion(trajectory: PlannedTrajectory) -> None:
    graph = Graph()
    every = [e for part in rates(trajectory, graph.input("t")) for e in part]
    for t in (-0.5, 0.03, 0.33, 0.9, 1.25, 1.6, 2.1, 5.0):
        assert evaluate(every, {"t": t}) == pytest.approx(np.concatenate(trajectory.at(t)), abs=1e-9)


@pytest.mark.parametrize("trajectory", EVERY)
def test_a_trajectory_rests_outside_its_duration(trajectory: PlannedTrajectory) -> None:
    first, last = trajectory.at(0.0).q, trajectory.at(trajectory.duration).q
    outside = trajectory.at([-1.0, trajectory.duration + 1.0])
    assert outside.q == pytest.approx(np.array([first, last]))
    assert not outside.qdot.any()
    assert not outside.qddot.any()


@pytest.mark.parametrize("trajectory", EVERY)
def test_one_time_and_many_give_the_same(trajectory: PlannedTrajectory) -> None:
    t = np.linspace(0.0, trajectory.duration, 7)
    many = trajectory.at(t)
    assert many.q.shape[0] == 7
    for k, time in enumerate(t):
        assert np.array_equal(trajectory.at(time).qdot, many.qdot[k])


@pytest.mark.parametrize("law", LAWS)
def test_a_move_goes_from_rest_to_rest(law: str) -> None:
    ends = move(START, END, law=law, duration=2.0).at([0.0, 2.0])
    assert ends.q == pytest.approx(np.array([START, END]))
    assert ends.qdot == pytest.approx(np.zeros((2, 3)), abs=1e-12)


def test_the_cycloid_is_the_law_of_the_papers() -> None:
    T, t = 10.0, np.linspace(0.0, 10.0, 101)
    q = START[1] + (END[1] - START[1]) / T * (t - T / (2 * math.pi) * np.sin(2 * math.pi * t / T))
    assert move(START, END, duration=T).at(t).q[:, 1] == pytest.approx(q)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "bound", [{"velocity": 0.8}, {"acceleration": (3.0, 2.0, 1.0)}, {"velocity": 2.0, "acceleration": 4.0}]
)
def test_the_shortest_move_touches_a_limit_and_exceeds_none(law: str, bound: dict[str, Any]) -> None:
    shortest = move(START, END, law=law, **bound)
    motion = shortest.at(np.linspace(0.0, shortest.duration, 4001))
    used = [
        (np.abs(rate).max(axis=0) / np.broadcast_to(bound[name], (3,))).max()
        for name, rate in (("velocity", motion.qdot), ("acceleration", motion.qddot))
        if name in bound
    ]
    assert max(used) == pytest.approx(1.0, abs=1e-5)
    assert max(used) <= 1.0 + 1e-12
    with pytest.raises(InputError, match="too short"):
        move(START, END, law=shortest.law, duration=0.99 * shortest.duration, **bound)


@pytest.mark.parametrize("duration", [-1.0, 0.0, math.inf, math.nan])
@pytest.mark.parametrize("bound", [{}, {"velocity": 0.8}])
def test_a_duration_that_is_not_positive_is_refused_as_that(duration: float, bound: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="a duration is positive"):
        move(START, END, duration=duration, **bound)


@pytest.mark.parametrize("spline", splines())
def test_a_spline_passes_through_its_way_points(spline: Spline) -> None:
    assert spline.at(TIMES).q == pytest.approx(POINTS, abs=1e-12)


@pytest.mark.parametrize("spline", splines())
def test_a_spline_is_smooth_at_its_way_points(spline: Spline) -> None:
    inside = np.array(TIMES[1:-1])
    before, after = spline.at(inside - 1e-9), spline.at(inside + 1e-9)
    assert before.qdot == pytest.approx(after.qdot, abs=1e-6)
    assert before.qddot == pytest.approx(after.qddot, abs=1e-5)


def test_the_ends_of_splines_are_what_they_are_called() -> None:
    ends = [0.0, TIMES[-1]]
    assert cubic_spline(POINTS, TIMES).at(ends).qdot == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    assert cubic_spline(POINTS, TIMES, ends="natural").at(ends).qddot == pytest.approx(np.zeros((2, 2)), abs=1e-11)
    clamped = quintic_spline(POINTS, TIMES).at(ends)
    assert clamped.qdot == pytest.approx(np.zeros((2, 2)), abs=1e-11)
    assert clamped.qddot == pytest.approx(np.zeros((2, 2)), abs=1e-10)
    for build in (cubic_spline, quintic_spline):
        around = build(POINTS, TIMES, ends="periodic").at(ends)
        assert around.qdot[0] == pytest.approx(around.qdot[1], abs=1e-11)
        assert around.qddot[0] == pytest.approx(around.qddot[1], abs=1e-10)


@pytest.mark.parametrize("spline", splines())
@pytest.mark.parametrize("bound", [(0.5, math.inf), (math.inf, (2.0, 3.0)), (1.0, 2.0)])
def test_the_shortest_spline_touches_a_limit_and_exceeds_none(spline: Spline, bound: tuple[Any, Any]) -> None:
    shortest = spline.within(*bound)
    motion = shortest.at(np.concatenate([np.linspace(0.0, shortest.duration, 20001), shortest.times]))
    used = max((np.abs(rate).max(axis=0) / limit).max() for rate, limit in zip(motion[1:], bound, strict=True))
    assert used == pytest.approx(1.0, abs=1e-5)
    assert used <= 1.0 + 1e-12
    assert shortest.at(shortest.times).q == pytest.approx(POINTS, abs=1e-12)


def test_way_points_without_times_are_spaced_by_distance() -> None:
    spline = cubic_spline([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    assert spline.times == pytest.approx([0.0, 5 / 6, 1.0])


def test_a_hold_stays() -> None:
    held = Hold((1.0, 2.0)).at([0.0, 3.0])
    assert held.q.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert not held.qdot.any()


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: move(START, (1.0,), duration=1.0), "same ones"),
        (lambda: move(START, END), "nothing sets the duration"),
        (lambda: move(START, START, velocity=1.0), "nothing sets the duration"),
        (lambda: move(START, END, velocity=-1.0), "positive"),
        (lambda: move(START, END, law="linear", duration=1.0), "there are cycloid"),
        (lambda: cubic_spline([[0.0], [math.nan]]), "finite"),
        (lambda: cubic_spline(POINTS, [0.0, 1.0]), "one for each way-point"),
        (lambda: cubic_spline(POINTS[:-1], ends="periodic"), "ends where it starts"),
        (lambda: cubic_spline([[0.0], [0.0]]), "give times"),
    ],
)
def test_what_cannot_be_planned_is_refused(build: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        build()
