"""Events: every crossing inside a step is found, in order, with its direction, on the motion itself."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.errors import InputError
from kane.simulate import Event, Events, integrate
from unit.simulate.systems import falling, flat, oscillator

METHODS = ("dop853", "rk45", "radau")

LOCATED = 1e-9
"""Crossings are located on the dense output, whose error follows the tolerance of these runs."""


@functools.cache
def still(parameters: int = 0):
    """y' = 0: one step may be as long as it likes."""
    return flat(lambda t, y, p: [0.0 * t], 1, parameters)


def run(kernel, start, span, events, *items, **options):
    return integrate(kernel, start, span, rtol=1e-11, atol=1e-12, events=Events(events, items), **options)


@pytest.mark.parametrize("method", METHODS)
def test_all_three_crossings_inside_one_step_are_found(method):
    # A cubic in t with roots 0.2, 0.5, 0.7 watched over a motion that takes one step there.
    cubic = flat(lambda t, y, p: [(t - 0.2) * (t - 0.5) * (t - 0.7) + 0.0 * y[0]], 1)
    solution = run(still(), [1.0], (0.0, 1.0), cubic, Event("cubic"), method=method, first_step=1.0)
    assert solution.statistics.steps == 1
    assert solution.events[0].t == pytest.approx([0.2, 0.5, 0.7], abs=1e-14)


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-5])
def test_two_crossings_close_together_between_samples_are_found(gap):
    pair = flat(lambda t, y, p: [(t - 0.3) * (t - 0.3 - gap)], 1)
    solution = run(still(), [1.0], (0.0, 1.0), pair, Event("pair"), first_step=1.0)
    assert solution.statistics.steps == 1
    assert solution.events[0].t == pytest.approx([0.3, 0.3 + gap], abs=1e-11)


def test_many_crossings_of_a_fast_event_in_one_step_are_found():
    # Twelve half waves in one step, more than there are samples: pairs between samples are seen by their slopes.
    fast = flat(lambda t, y, p: [(12.0 * math.pi * t + 0.4).sin()], 1)
    solution = run(still(), [1.0], (0.0, 1.0), fast, Event("fast"), first_step=1.0)
    assert solution.statistics.steps == 1
    assert solution.events[0].t == pytest.approx([(k - 0.4 / math.pi) / 12 for k in range(1, 13)], abs=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_zeros_of_the_cosine_are_where_they_belong(method):
    position = flat(lambda t, y, p: [y[0]], 2)
    solution = run(oscillator(), [1.0, 0.0], (0.0, 20.0), position, Event("x"), method=method)
    expected = math.pi * (np.arange(6) + 0.5)
    assert np.abs(solution.events[0].t - expected).max() < (LOCATED if method != "radau" else 1e-7)
    assert np.abs(solution.events[0].y[:, 0]).max() < 1e-14


@pytest.mark.parametrize(("direction", "first"), [(-1, 0.5), (1, 1.5)])
def test_a_direction_keeps_only_its_crossings(direction, first):
    position = flat(lambda t, y, p: [y[0]], 2)
    solution = run(oscillator(), [1.0, 0.0], (0.0, 20.0), position, Event("x", direction))
    expected = math.pi * (np.arange(3) * 2 + first)
    assert np.abs(solution.events[0].t - expected).max() < LOCATED


def test_directions_are_those_met_along_the_integration():
    position = flat(lambda t, y, p: [y[0]], 2)
    solution = run(oscillator(), [1.0, 0.0], (0.0, -4.0), position, Event("falls", -1))
    assert solution.events[0].t == pytest.approx([-math.pi / 2], abs=LOCATED)


@pytest.mark.parametrize("method", [*METHODS, "rk4"])
def test_a_terminal_event_stops_the_fall_on_the_ground(method):
    ground = flat(lambda t, y, p: [y[0]], 2)
    options: dict[str, Any] = {"method": method, "step": 0.3} if method == "rk4" else {"method": method}
    solution = run(falling(), [20.0, 0.0], (0.0, 10.0), ground, Event("ground", -1, terminal=True), **options)
    assert solution.outcome.reason == "event"
    assert solution.outcome.success
    assert solution.t[-1] == pytest.approx(2.0, abs=1e-12)
    assert solution.y[-1] == pytest.approx([0.0, -20.0], abs=1e-10)
    assert "stopped at t = 2 s: event 'ground'" in str(solution.outcome)


def test_what_happens_after_a_terminal_event_is_not_reported():
    both = flat(lambda t, y, p: [t - 0.2, t - 0.4, t - 0.6], 1)
    solution = run(
        still(), [1.0], (0.0, 1.0), both, Event("early"), Event("stop", terminal=True), Event("late"), first_step=1.0
    )
    assert [len(e) for e in solution.events] == [1, 1, 0]
    assert solution.t[-1] == pytest.approx(0.4, abs=1e-15)


def test_requested_times_end_with_the_state_at_the_terminal_event():
    ground = flat(lambda t, y, p: [y[0]], 2)
    times = np.linspace(0.0, 10.0, 21)
    solution = run(falling(), [20.0, 0.0], times, ground, Event("ground", -1, terminal=True))
    assert np.array_equal(solution.t[:4], times[:4])
    assert len(solution.t) <= 6  # the fifth requested time is that of the event, to within rounding
    assert solution.t[-1] == pytest.approx(2.0, abs=1e-12)
    assert np.abs(solution.y[:, 0] - (20 - 5 * solution.t**2)).max() < 1e-10


@pytest.mark.parametrize("start", [0.0, 1e-300])
def test_an_event_that_is_zero_at_the_start_has_not_crossed(start):
    ground = flat(lambda t, y, p: [y[0]], 2)
    solution = run(falling(), [0.0, 5.0], (0.0, 0.9), ground, Event("ground", terminal=True))
    assert solution.outcome.reason == "end"
    thrown = run(falling(), [start, 5.0], (0.0, 2.0), ground, Event("ground", terminal=True))
    assert thrown.t[-1] == pytest.approx(1.0, abs=1e-12)


def test_a_ball_continued_from_its_bounces_does_not_meet_the_same_bounce_again():
    ground = flat(lambda t, y, p: [y[0]], 2)
    t, y, bounces = 0.0, np.array([5.0, 0.0]), []
    for _ in range(6):
        solution = run(falling(), y, (t, 100.0), ground, Event("ground", terminal=True))
        t, y = solution.t[-1], solution.y[-1] * [1.0, -0.5]
        bounces.append(t)
    assert bounces == pytest.approx([1 + 2 * sum(0.5**j for j in range(1, k + 1)) for k in range(6)], abs=1e-9)


def test_touching_zero_and_turning_back_is_no_crossing():
    touch = flat(lambda t, y, p: [(t - 0.5) * (t - 0.5)], 1)
    solution = run(still(), [1.0], (0.0, 1.0), touch, Event("touch"), first_step=1.0)
    assert len(solution.events[0]) == 0


def test_a_crossing_exactly_on_the_end_of_a_step_is_reported_once():
    line = flat(lambda t, y, p: [t - 0.5], 1)
    solution = run(still(), [1.0], (0.0, 1.0), line, Event("line"), method="rk4", step=0.25)
    assert solution.events[0].t.tolist() == [0.5]


def test_crossings_without_number_grow_the_store():
    position = flat(lambda t, y, p: [y[0], y[1]], 2)
    solution = run(oscillator(), [1.0, 0.1], (0.0, 2000.0), position, Event("x"), Event("v"))
    phase = math.atan2(0.1, 1.0)
    expected = phase + math.pi * (np.arange(len(solution.events[0])) + 0.5)
    assert len(solution.events[0]) == math.floor((2000.0 - phase) / math.pi + 0.5)
    assert np.abs(solution.events[0].t - expected).max() < 1e-6


def test_a_direction_that_is_none_is_refused():
    with pytest.raises(InputError, match="direction 2 is not one of -1"):
        Event("x", 2)


@functools.cache
def quintic():
    """The product of t - p_k over five parameters."""
    return flat(lambda t, y, p: [(t - p[0]) * (t - p[1]) * (t - p[2]) * (t - p[3]) * (t - p[4])], 1, 5)


CLOSE_ROOTS = (
    (0.02, 0.88, 0.9, 0.92, 2.0),  # the cubic of the last quarter has no extremum, and is flat where it is zero
    (-0.6224, 0.9229, 0.9247, 0.9254, 2.2244),  # halfway in the last quarter the fourth derivative is zero
    (0.5978, 0.6038, 0.6112, 2.0, 3.0),
    (0.3, 0.30001, 0.30002, 2.0, 3.0),
    (0.908347, 0.908401, 0.908411, 0.908426, 0.908469),
)


@pytest.mark.parametrize("roots", CLOSE_ROOTS)
def test_crossings_that_crowd_together_are_all_found(roots):
    solution = run(still(5), [1.0], (0.0, 1.0), quintic(), Event("root"), parameters=roots, first_step=1.0)
    assert solution.statistics.steps == 1
    assert solution.events[0].t == pytest.approx([t for t in roots if 0.0 < t < 1.0], abs=1e-10)


@pytest.mark.parametrize(
    ("count", "spacing"),
    [(count, spacing) for count in (3, 4, 5) for spacing in (3e-6, 1e-6, 1e-7, 1e-8, 1e-10)]
    + [(2, spacing) for spacing in (3e-6, 1e-7, 1e-8)],  # of pairs within 1e-9 of a step nothing is promised
)
def test_crossings_closer_together_than_can_be_told_apart_are_found_or_named(count, spacing):
    """A cluster anywhere in a step; what of it is missing is said, with the event and the time."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        place = rng.uniform(0.05, 0.95)
        roots = sorted(place + spacing * rng.uniform(0.5, 1.5) * k for k in range(count))
        given = [*roots, *(2.0 + k for k in range(5 - count))]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            solution = run(still(5), [1.0], (0.0, 1.0), quintic(), Event("root"), parameters=given, first_step=1.0)
        (found,) = solution.events
        if len(found) == count:
            continue
        assert not found.complete and len(told) == 1
        assert "event 'root' stays within rounding of zero near t = " in str(solution.outcome)
        at = float(str(solution.outcome).partition("zero near t = ")[2].split()[0])
        assert abs(at - place) <= WIDTH + spacing * 1.5 * count


def test_crossings_apart_and_a_touch_are_not_doubtful():
    """Steep crossings, crossings with little slope, and a place where zero is touched."""
    for roots in ((0.2, 0.4, 0.6, 2.0, 3.0), (0.5, 0.50002, 0.50005, 2.0, 3.0), (0.5, 0.5, 2.0, 3.0, 4.0)):
        solution = run(still(5), [1.0], (0.0, 1.0), quintic(), Event("root"), parameters=roots, first_step=1.0)
        assert solution.events[0].complete


WIDTH = 4.0 / (4 * 2**16)
"""Four of the shortest intervals of the search, as parts of a step of 1 s: those beside a cluster are in doubt too."""


def test_a_smooth_event_costs_two_samples_and_a_slope_for_each_quarter_of_a_step():
    """9 values and 5 slopes, and what it takes to place the 64 crossings."""
    position = flat(lambda t, y, p: [y[0]], 2)
    solution = run(oscillator(), [1.0, 0.0], (0.0, 200.0), position, Event("x"))
    done = solution.statistics
    assert len(solution.events[0]) == 64
    assert done.event_evaluations <= 14 * done.steps + 10 * 64


@given(st.lists(st.integers(1, 49), min_size=1, max_size=5, unique=True), st.sampled_from(["dop853", "radau"]))
@settings(max_examples=40)
def test_a_polynomial_event_crosses_at_every_root_inside_one_step(places, method):
    roots = sorted(k / 50 for k in places)
    outside = [2.0 + k for k in range(5 - len(roots))]
    solution = run(
        still(5),
        [1.0],
        (0.0, 1.0),
        quintic(),
        Event("root"),
        parameters=[*roots, *outside],
        method=method,
        first_step=1.0,
    )
    assert solution.statistics.steps == 1
    assert solution.events[0].t == pytest.approx(roots, abs=1e-12)


def half_wave_times(k: float, end: float) -> Any:
    """Where sin(k cos t) changes sign before `end`: cos t = j π / k, in closed form."""
    angles = np.arccos(np.arange(-math.floor(k / math.pi), math.floor(k / math.pi) + 1) * math.pi / k)
    turns = 2.0 * math.pi * np.arange(math.ceil(end / (2.0 * math.pi)) + 1)
    times = np.sort(np.concatenate([(turns[:, None] + angles).ravel(), (turns[:, None] - angles).ravel()]))
    return times[(times > 0.0) & (times < end)]


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("k", [50.0, 500.0, 5000.0])
def test_every_crossing_of_a_fast_function_of_a_smooth_motion_is_found(k, method):
    wave = flat(lambda t, y, p: [(k * y[0]).sin()], 2)
    solution = run(oscillator(), [1.0, 0.0], (0.0, 20.0), wave, Event("wave"), method=method)
    found, expected = solution.events[0], half_wave_times(k, 20.0)
    assert found.complete
    assert len(found) == len(expected)
    assert np.abs(found.t - expected).max() < 1e-5  # where cos turns, the place of a crossing is ill determined


def test_a_function_that_is_too_fast_is_said_to_be():
    wave = flat(lambda t, y, p: [(1e7 * y[0]).sin()], 2)
    with pytest.warns(RuntimeWarning, match="event 'wave' changes too fast to be followed in"):
        solution = run(oscillator(), [1.0, 0.0], (0.0, 5.0), wave, Event("wave"))
    assert not solution.events[0].complete
    assert "crossings may be missing" in str(solution.outcome)


def test_an_event_that_stays_zero_is_not_too_fast():
    zeros = flat(lambda t, y, p: [0.0 * t, (0.3 - t).max(0.0)], 1)
    solution = run(still(), [1.0], (0.0, 1.0), zeros, Event("zero"), Event("saturated"), first_step=0.1)
    assert [(len(e), e.complete) for e in solution.events] == [(0, True), (0, True)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("end", [1.0, 0.1 + 0.2, -0.7])
def test_a_crossing_where_one_run_ends_and_the_next_begins_is_found_by_the_first(end, method):
    line = flat(lambda t, y, p: [(t - end) * (1.0 + 0.0 * y[0])], 1)
    first = run(still(), [1.0], (-1.0, end), line, Event("line"), method=method)
    second = run(still(), first.y[-1], (end, 2.0), line, Event("line"), method=method)
    assert first.events[0].t.tolist() == [end]
    assert len(second.events[0]) == 0


def test_a_crossing_within_rounding_of_where_runs_meet_is_found_once():
    place = 0.1 + 0.2
    line = flat(lambda t, y, p: [3.0 * (place - t)], 1)
    for shift in range(-5, 6):
        end = place + shift * 2.0**-54
        first = run(still(), [1.0], (0.0, end), line, Event("line"))
        second = run(still(), [1.0], (end, 3.0), line, Event("line"))
        assert (len(first.events[0]), len(second.events[0])) == (1, 0), shift


def test_a_terminal_event_at_the_end_is_what_stops_the_motion():
    line = flat(lambda t, y, p: [t - 1.0], 1)
    solution = run(still(), [1.0], (0.0, 1.0), line, Event("line", terminal=True))
    assert solution.outcome.reason == "event"
    assert solution.t[-1] == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("where", [0.5, -1.0])
def test_an_event_that_is_not_a_number_stops_the_motion_with_its_name(where, method):
    domain = flat(lambda t, y, p: [t + 10.0, (where - t).sqrt()], 1)
    solution = run(still(), [1.0], (0.0, 1.0), domain, Event("fine"), Event("root"), method=method, max_step=0.2)
    assert solution.outcome.reason == "not-finite"
    assert not solution.outcome.success
    assert "event 'root' is not a number" in str(solution.outcome)
    assert max(0.0, where - 0.21) <= solution.t[-1] <= max(0.0, where)
