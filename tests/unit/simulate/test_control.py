"""A sampled Python control: held between samples, restarted at each, its cost said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kane.errors import InputError
from kane.simulate import Control, Event, Events, integrate
from unit.simulate.systems import flat, held_rate


@pytest.mark.parametrize("method", ["dop853", "rk45", "rk4", "radau"])
def test_the_held_input_acts_as_a_staircase(method):
    # y' = p - y with p = sin(t_k) held: y_{k+1} = p + (y_k - p) exp(-period), exactly.
    period = 0.1
    options: dict[str, Any] = {"step": 0.01} if method == "rk4" else {"rtol": 1e-10, "atol": 1e-12}
    times = np.linspace(0.0, 2.0, 21)
    solution = integrate(
        held_rate(),
        [1.0],
        times,
        parameters=[0.0],
        method=method,
        control=Control(lambda t, y: [math.sin(t)], period),
        **options,
    )
    y, exact = 1.0, [1.0]
    for k in range(20):
        p = math.sin(k * period)
        y = p + (y - p) * math.exp(-period)
        exact.append(y)
    assert np.abs(solution.y[:, 0] - exact).max() < 1e-9
    assert solution.held is not None
    assert solution.held.t == pytest.approx(times[:-1], abs=1e-15)
    assert solution.held.p[:, 0] == pytest.approx(np.sin(times[:-1]))


def test_feedback_sees_the_state_at_the_sample():
    # Deadbeat: hold the value that brings y to zero at the next sample.
    period = 0.5
    gain = -math.exp(-period) / (1 - math.exp(-period))
    control = Control(lambda t, y: gain * y, period)
    solution = integrate(held_rate(), [3.0], np.linspace(0, 2, 5), parameters=[0.0], control=control, rtol=1e-11)
    assert np.abs(solution.y[1:, 0]).max() < 1e-9


def test_the_cost_of_the_control_is_said():
    control = Control(lambda t, y: [0.0], 0.01)
    solution = integrate(held_rate(), [1.0], (0.0, 1.0), parameters=[0.0], control=control)
    assert solution.statistics.control_calls == 100
    assert solution.statistics.control_seconds > 0.0
    assert "100 calls of the Python control took" in str(solution.outcome)


def test_a_period_that_does_not_divide_the_span_ends_with_a_short_hold():
    control = Control(lambda t, y: [t], 0.4)
    solution = integrate(held_rate(), [0.0], (0.0, 1.0), parameters=[0.0], control=control)
    assert solution.held is not None
    assert solution.held.t == pytest.approx([0.0, 0.4, 0.8])
    assert solution.t[-1] == 1.0


def test_time_may_run_backward_under_control():
    control = Control(lambda t, y: [1.0], 0.25)
    solution = integrate(held_rate(), [2.0], (1.0, 0.0), parameters=[0.0], control=control)
    assert solution.y[-1, 0] == pytest.approx(1 + math.e, rel=1e-7)


def test_only_the_held_part_of_the_parameters_is_written():
    kernel = flat(lambda t, y, p: [p[0] + 10.0 * p[1] + 100.0 * p[2]], 1, 3)
    control = Control(lambda t, y: [2.0], 0.5, start=1)
    solution = integrate(kernel, [0.0], (0.0, 1.0), parameters=[1.0, 0.0, 3.0], control=control)
    assert solution.y[-1, 0] == pytest.approx(321.0)


def test_an_event_on_the_held_input_crosses_where_it_is_switched():
    watch = Events(flat(lambda t, y, p: [p[0] - 0.5], 1, 1), (Event("switched", 1),))
    control = Control(lambda t, y: [1.0 if t > 0.29 else 0.0], 0.1)
    solution = integrate(held_rate(), [0.0], (0.0, 1.0), parameters=[0.0], control=control, events=watch)
    assert solution.events[0].t == pytest.approx([0.3])


def test_a_control_that_is_not_finite_stops_the_simulation():
    control = Control(lambda t, y: [math.nan if t > 0.45 else 1.0], 0.1)
    solution = integrate(held_rate(), [0.0], (0.0, 1.0), parameters=[0.0], control=control)
    assert solution.outcome.reason == "control"
    assert solution.outcome.t == pytest.approx(0.5)
    assert "the control returned [nan], which is not finite" in str(solution.outcome)


def test_a_control_of_the_wrong_size_is_told_how_much_room_there_is():
    with pytest.raises(InputError, match=r"returned shape \(2,\).*room for 1"):
        integrate(held_rate(), [0.0], (0.0, 1.0), parameters=[0.0], control=Control(lambda t, y: [1, 2], 0.1))


def test_an_interrupt_inside_the_control_keeps_what_was_computed():
    def control(t, y):
        if t > 0.45:
            raise KeyboardInterrupt
        return [1.0]

    solution = integrate(held_rate(), [0.0], (0.0, 1.0), parameters=[0.0], control=Control(control, 0.1))
    assert solution.outcome.reason == "interrupt"
    assert solution.t[-1] == pytest.approx(0.5)


@pytest.mark.parametrize("period", [0.0, -1.0, math.inf, math.nan])
def test_a_period_that_is_no_time_is_refused(period):
    with pytest.raises(InputError, match="not a positive finite time"):
        Control(lambda t, y: [0.0], period)
