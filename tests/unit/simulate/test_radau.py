"""The implicit method: its constants, its order, and stiff motions with published answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kane.simulate import integrate
from kane.simulate.compiled import radau
from unit.simulate.systems import driven, flat, robertson, van_der_pol

VAN_DER_POL_AT_2000 = (1.706167732170483, -8.928097010247975e-4)
"""Test Set for Initial Value Problem Solvers, problem VDPOL with mu = 1000 [MM08]."""

ROBERTSON_AT_1E11 = (0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050)
"""The same test set, problem ROBER [MM08]."""


def collocation() -> np.ndarray:
    """A of the collocation method with Radau's nodes: the integrals of Lagrange's polynomials up to each node."""
    powers = np.vander(radau.NODES, increasing=True)
    integrals = np.array([[c ** (k + 1) / (k + 1) for k in range(3)] for c in radau.NODES])
    return integrals @ np.linalg.inv(powers)


def test_the_nodes_are_the_zeros_of_the_radau_polynomial():
    # d^2/dx^2 of x^2 (x - 1)^3
    polynomial = np.polyder(np.polymul([1, 0, 0], np.poly([1, 1, 1])), 2)
    assert np.abs(np.polyval(polynomial, radau.NODES)).max() < 1e-13


def test_the_transformation_splits_the_inverse_of_the_tableau():
    t, inverse = np.array(radau.T), np.array(radau.T_INVERSE)
    assert np.abs(t @ inverse - np.eye(3)).max() < 1e-14
    split = inverse @ np.linalg.inv(collocation()) @ t
    expected = [[radau.GAMMA, 0, 0], [0, radau.ALPHA, radau.BETA], [0, -radau.BETA, radau.ALPHA]]
    assert np.abs(split - expected).max() < 1e-12


def test_the_dense_polynomial_passes_through_the_stages():
    powers = np.array([[c, c * c, c**3] for c in radau.NODES])
    assert np.abs(powers @ np.array(radau.DENSE).T - np.eye(3)).max() < 1e-13


def test_the_error_falls_with_the_fifth_power_of_the_step():
    counts, errors = (20, 40, 80), []
    for count in counts:
        h = 2.0 / count
        solution = integrate(driven(), [1.0], (0.0, 2.0), method="radau", rtol=1e-9, atol=1e9, max_step=h, first_step=h)
        assert solution.statistics.steps == pytest.approx(count, abs=2)
        errors.append(abs(solution.y[-1, 0] - 0.2))
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(5.0, abs=0.4)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_the_van_der_pol_relaxation_oscillation_agrees_with_the_published_state(rtol):
    solution = integrate(
        van_der_pol(), [2.0, 0.0], (0.0, 2000.0), parameters=[1000.0], method="radau", rtol=rtol, atol=1e-3 * rtol
    )
    assert solution.outcome.success
    assert solution.y[-1] == pytest.approx(VAN_DER_POL_AT_2000, rel=30 * rtol)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_robertson_agrees_with_the_published_state_after_1e11_seconds(rtol):
    solution = integrate(robertson(), [1.0, 0.0, 0.0], (0.0, 1e11), method="radau", rtol=rtol, atol=1e-8 * rtol)
    assert solution.y[-1] == pytest.approx(ROBERTSON_AT_1E11, rel=100 * rtol)
    assert np.abs(solution.y.sum(axis=1) - 1.0).max() < 1e-9


def test_a_stiff_motion_costs_the_implicit_method_far_fewer_steps():
    options = {"parameters": [100.0], "rtol": 1e-5, "atol": 1e-7}
    implicit = integrate(van_der_pol(), [2.0, 0.0], (0.0, 80.0), method="radau", **options)
    explicit = integrate(van_der_pol(), [2.0, 0.0], (0.0, 80.0), method="dop853", **options)
    assert implicit.y[-1] == pytest.approx(explicit.y[-1], rel=1e-3)
    assert implicit.statistics.steps * 20 < explicit.statistics.steps


def test_a_jacobian_program_gives_the_same_motion_with_fewer_evaluations():
    matrix = flat(lambda t, y, p: [0.0, 1.0, -2.0 * p[0] * y[0] * y[1] - 1.0, p[0] * (1.0 - y[0] * y[0])], 2, 1)
    options = {"parameters": [1000.0], "method": "radau", "rtol": 1e-7, "atol": 1e-9}
    given = integrate(van_der_pol(), [2.0, 0.0], (0.0, 1000.0), jacobian_address=matrix, **options)
    differences = integrate(van_der_pol(), [2.0, 0.0], (0.0, 1000.0), **options)
    assert given.y[-1] == pytest.approx(differences.y[-1], rel=1e-5)
    assert given.statistics.evaluations < differences.statistics.evaluations


def test_jacobians_and_factors_are_used_again_while_they_serve():
    decay = flat(lambda t, y, p: [-1e4 * (y[0] - t.cos()), y[0] - y[1]], 2)
    solution = integrate(decay, [1.0, 0.0], (0.0, 20.0), method="radau", rtol=1e-8, atol=1e-10)
    statistics = solution.statistics
    assert statistics.jacobians < statistics.steps / 10
    assert statistics.factorizations < statistics.steps / 2
    # y0 follows cos t with a lag of 1e-4 s
    assert solution.y[-1, 0] == pytest.approx((1e8 * math.cos(20) + 1e4 * math.sin(20)) / (1e8 + 1), abs=1e-8)


def test_large_linear_systems_are_solved_as_the_exponential_says():
    n = 30
    stiff = flat(
        lambda t, y, p: [
            1e3 * ((y[i - 1] if i else 0.0 * t) - 2.0 * y[i] + (y[i + 1] if i + 1 < n else 0.0 * t)) for i in range(n)
        ],
        n,
    )
    modes = np.sin(np.pi * np.outer(np.arange(1, n + 1), np.arange(1, n + 1)) / (n + 1))
    rates = -4e3 * np.sin(np.pi * np.arange(1, n + 1) / (2 * (n + 1))) ** 2
    start = modes[0] + 0.5 * modes[6]
    solution = integrate(stiff, start, (0.0, 0.1), method="radau", rtol=1e-9, atol=1e-11)
    exact = modes[0] * math.exp(0.1 * rates[0]) + 0.5 * modes[6] * math.exp(0.1 * rates[6])
    assert np.abs(solution.y[-1] - exact).max() < 1e-7


def test_a_state_without_weight_does_not_disturb_the_others():
    # The last state counts nothing; its tolerance is so large that nothing about it is ever looked at.
    kernel = flat(lambda t, y, p: [y[1], 1e3 * (1.0 - y[0] * y[0]) * y[1] - y[0], y[0] * y[1]], 3)
    watched = integrate(kernel, [2.0, 0.0, 0.0], (0.0, 1500.0), method="radau", rtol=1e-7, atol=[1e-9, 1e-9, 1e300])
    alone = integrate(van_der_pol(), [2.0, 0.0], (0.0, 1500.0), parameters=[1e3], method="radau", rtol=1e-7, atol=1e-9)
    assert watched.outcome.success
    assert watched.y[-1, :2] == pytest.approx(alone.y[-1], rel=1e-5)
    # y0 y1 is half the rate of y0^2
    assert watched.y[-1, 2] == pytest.approx(0.5 * (watched.y[-1, 0] ** 2 - 4.0), rel=1e-2)
