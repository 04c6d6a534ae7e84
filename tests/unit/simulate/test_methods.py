"""Explicit methods: measured order, closed forms, an independent integrator, starts that mislead."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from kane.simulate import integrate
from unit.simulate.systems import (
    ARENSTORF_PERIOD,
    ARENSTORF_START,
    arenstorf,
    double_pendulum,
    double_pendulum_energy,
    driven,
    flat,
    kepler,
    logistic,
    oscillator,
)

ADAPTIVE = ("dop853", "rk45", "rk23")

ORDER_SLACK = 0.35
"""A measured order differs from the true one by the terms of higher order that are still there."""


def measured_order(method: str, steps: tuple[int, ...]) -> float:
    """Slope of log error over log step of one method forced to equal steps, on y' = -2 t y^2 over [0, 2]."""
    errors = []
    for count in steps:
        if method == "rk4":
            solution = integrate(driven(), [1.0], (0.0, 2.0), method=method, step=2.0 / count)
        else:
            h = 2.0 / count
            solution = integrate(
                driven(), [1.0], (0.0, 2.0), method=method, rtol=0.5, atol=1e3, max_step=h, first_step=h
            )
        assert solution.statistics.steps == count
        errors.append(abs(solution.y[-1, 0] - 0.2))
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [
        ("rk4", 4, (20, 40, 80, 160)),
        ("rk23", 3, (80, 160, 320)),
        ("rk45", 5, (80, 160, 320)),
        ("dop853", 8, (10, 14, 20)),
    ],
)
def test_the_error_falls_with_the_power_of_the_step_that_the_method_claims(method, order, steps):
    assert -measured_order(method, steps) == pytest.approx(order, abs=ORDER_SLACK)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("rk45", 5), ("dop853", 8)])
def test_values_between_steps_converge_with_the_order_of_the_interpolation(method, order):
    errors = []
    counts = (8, 16) if method == "dop853" else (32, 64)
    times = np.linspace(0.0, 2.0, 57)
    for count in counts:
        h = 2.0 / count
        options: dict[str, Any] = (
            {"step": h} if method == "rk4" else {"rtol": 0.5, "atol": 1e3, "max_step": h, "first_step": h}
        )
        solution = integrate(driven(), [1.0], times, method=method, **options)
        errors.append(np.abs(solution.y[:, 0] - 1.0 / (1.0 + times**2)).max())
    assert math.log2(errors[0] / errors[1]) > order - 1


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_the_global_error_follows_the_tolerance(method, rtol):
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 10.0), method=method, rtol=rtol, atol=rtol)
    exact = np.column_stack([np.cos(solution.t), -np.sin(solution.t)])
    assert np.abs(solution.y - exact).max() < 30 * rtol


def test_a_planet_returns_to_its_start_after_each_turn():
    eccentricity = 0.6
    start = [1 - eccentricity, 0.0, 0.0, math.sqrt((1 + eccentricity) / (1 - eccentricity))]
    solution = integrate(kepler(), start, np.linspace(0.0, 6 * math.pi, 4), rtol=1e-11, atol=1e-13)
    assert np.abs(solution.y[1] - start).max() < 1e-9
    assert np.abs(solution.y - start).max() < 9e-9  # an error of the period adds up with the square of the turns


def test_the_arenstorf_orbit_closes():
    solution = integrate(arenstorf(), ARENSTORF_START, (0.0, ARENSTORF_PERIOD), rtol=1e-13, atol=1e-13)
    # The orbit amplifies an error by more than a million in one period.
    assert np.abs(solution.y[-1] - ARENSTORF_START).max() < 1e-6


def test_the_logistic_curve_is_met_at_the_requested_times():
    times = np.linspace(0.0, 12.0, 301)
    solution = integrate(logistic(), [0.5], times, rtol=1e-11, atol=1e-13)
    assert np.array_equal(solution.t, times)
    assert np.abs(solution.y[:, 0] - 1 / (1 + np.exp(-times))).max() < 1e-9


@pytest.mark.parametrize("method", ADAPTIVE)
def test_an_independent_integrator_finds_the_same_motion(method):
    def rhs(t, y):
        cube = math.hypot(y[0], y[1]) ** 3
        return [y[2], y[3], -y[0] / cube, -y[1] / cube]

    times = np.linspace(0.0, 5.0, 11)
    start = [0.8, 0.0, 0.1, 1.1]
    other = solve_ivp(rhs, (0.0, 5.0), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13)
    solution = integrate(kepler(), start, times, method=method, rtol=1e-9, atol=1e-11)
    assert np.abs(solution.y - other.y.T).max() < 1e-6


@pytest.mark.parametrize("method", [*ADAPTIVE, "radau"])
def test_time_runs_backward_as_well(method):
    there = integrate(kepler(), [0.8, 0.0, 0.1, 1.1], (0.0, 2.0), method=method, rtol=1e-9, atol=1e-11)
    back = integrate(kepler(), there.y[-1], (2.0, 0.0), method=method, rtol=1e-9, atol=1e-11)
    assert np.all(np.diff(back.t) < 0)
    assert np.abs(back.y[-1] - there.y[0]).max() < 1e-6


def test_fixed_steps_run_backward_and_end_exactly():
    solution = integrate(oscillator(), [1.0, 0.0], (1.0, 0.0), method="rk4", step=0.3)
    assert solution.t.tolist() == pytest.approx([1.0, 0.7, 0.4, 0.1, 0.0])
    assert solution.t[-1] == 0.0
    assert abs(solution.y[-1, 0] - math.cos(1.0)) < 1e-3


def test_a_fixed_step_that_divides_the_span_is_taken_exactly_that_often():
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 10.0), method="rk4", step=1e-3)
    assert solution.statistics.steps == 10_000
    assert solution.statistics.evaluations == 4 * 10_000 + 1
    assert np.abs(solution.t - np.linspace(0, 10, 10_001)).max() < 1e-14 * 10


@pytest.mark.parametrize("method", [*ADAPTIVE, "rk4", "radau"])
def test_a_span_of_no_length_gives_the_start(method):
    solution = integrate(oscillator(), [1.0, 2.0], (3.0, 3.0), method=method, step=0.1 if method == "rk4" else None)
    assert solution.outcome.success
    assert solution.t.tolist() == [3.0]
    assert solution.y.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("method", [*ADAPTIVE, "radau"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_double_pendulum_let_go_at_rest_from_the_horizontal_keeps_its_energy(method, rtol):
    start = [math.pi / 2, math.pi / 2, 0.0, 0.0]
    times = np.linspace(0.0, 0.5, 26)
    solution = integrate(double_pendulum(), start, times, method=method, rtol=rtol, atol=rtol)
    exact = integrate(double_pendulum(), start, times, rtol=1e-13, atol=1e-13)
    energies = [double_pendulum_energy(y) for y in exact.y]
    assert np.abs(energies).max() < 1e-10  # g times the heights of the horizontal, which are zero
    assert np.abs(solution.y - exact.y).max() < 300 * rtol


@pytest.mark.parametrize("method", [*ADAPTIVE, "radau"])
def test_derivatives_that_vanish_at_the_start_do_not_hide_what_follows(method):
    # y' = t^7 (1 + y): the first seven derivatives are zero at the start; y = exp(t^8 / 8) - 1.
    kernel = flat(lambda t, y, p: [t**7 * (1.0 + y[0])], 1)
    solution = integrate(kernel, [0.0], (0.0, 2.0), method=method, rtol=1e-6, atol=1e-6)
    exact = np.expm1(solution.t**8 / 8)
    assert np.abs(solution.y[:, 0] / (1 + exact) - exact / (1 + exact)).max() < 1e-4


@pytest.mark.parametrize("method", [*ADAPTIVE, "radau"])
def test_a_push_after_long_rest_is_not_stepped_over(method):
    # At rest until t = 40 of 100, then pushed for five seconds: the impulse 5 stays.
    kernel = flat(lambda t, y, p: [y[1], (t - 42.5).abs().less(2.5).select(1.0, 0.0)], 2)
    solution = integrate(kernel, [0.0, 0.0], (0.0, 100.0), method=method, rtol=1e-6, atol=1e-9)
    # No method of high order sees a jump as such; it is met only by shortening the step.
    assert solution.y[-1, 1] == pytest.approx(5.0, abs=1e-3)


def test_a_projection_keeps_every_step_on_its_surface():
    circle = flat(lambda t, y, p: [v / (y[0] * y[0] + y[1] * y[1]).sqrt() for v in y], 2)
    free = integrate(oscillator(), [1.0, 0.0], (0.0, 50.0), method="rk45", rtol=1e-4, atol=1e-4)
    bound = integrate(
        oscillator(), [1.0, 0.0], (0.0, 50.0), method="rk45", rtol=1e-4, atol=1e-4, project_address=circle
    )
    assert np.abs(np.hypot(*free.y.T) - 1).max() > 1e-4
    assert np.abs(np.hypot(*bound.y.T) - 1).max() < 1e-15 * 4


def test_outputs_after_the_derivative_are_ignored():
    kernel = flat(lambda t, y, p: [y[1], -y[0], y[0] * 100.0, t], 2)
    with_more = integrate(kernel, [1.0, 0.0], np.linspace(0, 3, 5))
    by_address = integrate(kernel.address, [1.0, 0.0], np.linspace(0, 3, 5), extra_outputs=2)
    plain = integrate(oscillator(), [1.0, 0.0], np.linspace(0, 3, 5))
    assert np.array_equal(with_more.y, plain.y)
    assert np.array_equal(by_address.y, plain.y)


@functools.cache
def linear():
    """y' = P y with the nine entries of P as parameters."""
    return flat(lambda t, y, p: [p[3 * i] * y[0] + p[3 * i + 1] * y[1] + p[3 * i + 2] * y[2] for i in range(3)], 3, 9)


@given(
    st.lists(st.floats(-3.0, 3.0), min_size=9, max_size=9),
    st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3),
    st.sampled_from([*ADAPTIVE, "radau"]),
)
@settings(max_examples=40)
def test_linear_motions_follow_the_matrix_exponential(entries, start, method):
    matrix = np.reshape(entries, (3, 3))
    solution = integrate(linear(), start, np.linspace(0, 1, 5), parameters=entries, method=method, rtol=1e-8, atol=1e-8)
    exact = np.array([expm(matrix * t) @ start for t in solution.t])
    assert np.abs(solution.y - exact).max() < 1e-5 * max(1.0, np.abs(exact).max())
