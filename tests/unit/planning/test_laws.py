"""Time laws go from rest to rest, their derivatives agree, and their peaks are what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kane.errors import InputError
from kane.graph import Graph, evaluate, forward
from kane.planning import LAWS, Polynomial, TimeLaw, Trapezoid
from kane.planning.laws import fit_duration

X = np.linspace(0.0, 1.0, 2001)
EVERY = [*LAWS.values(), Trapezoid(0.5), Trapezoid(0.1)]
ROUNDING = 1e-12  # polynomials of degree seven with coefficients up to 84


@pytest.mark.parametrize("law", EVERY, ids=str)
def test_a_law_starts_and_ends_at_rest(law: TimeLaw) -> None:
    s, slope, _ = law.at(np.array([0.0, 1.0]))
    assert s == pytest.approx([0.0, 1.0], abs=ROUNDING)
    assert slope == pytest.approx([0.0, 0.0], abs=ROUNDING)


@pytest.mark.parametrize("name", ["cycloid", "3-4-5", "4-5-6-7"])
def test_smooth_laws_start_and_end_without_acceleration(name: str) -> None:
    assert LAWS[name].at(np.array([0.0, 1.0])).bend == pytest.approx([0.0, 0.0], abs=ROUNDING * 100)


def test_the_seventh_degree_law_has_no_jerk_at_its_ends() -> None:
    graph = Graph()
    x = graph.input("x")
    s = [LAWS["4-5-6-7"].expression(x)]
    for _ in range(3):
        s = forward(s, {x: 1.0})
    assert [evaluate(s, {"x": end})[0] for end in (0.0, 1.0)] == pytest.approx([0.0, 0.0], abs=1e-10)


@pytest.mark.parametrize("law", EVERY, ids=str)
def test_the_graph_differentiates_to_the_closed_form(law: TimeLaw) -> None:
    graph = Graph()
    x = graph.input("x")
    s = [law.expression(x)]
    slope = forward(s, {x: 1.0})
    every = [*s, *slope, *forward(slope, {x: 1.0})]
    at = np.array([0.0, 0.03, 0.11, 0.31, 0.5000001, 0.77, 0.95, 1.0])
    found = np.array([evaluate(every, {"x": value}) for value in at])
    assert np.allclose(found.T, law.at(at), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("law", EVERY, ids=str)
def test_the_peaks_are_touched_and_not_exceeded(law: TimeLaw) -> None:
    _, slope, bend = law.at(X)
    assert np.abs(slope).max() <= law.peak_slope * (1 + ROUNDING)
    assert np.abs(bend).max() <= law.peak_bend * (1 + ROUNDING)
    assert np.abs(slope).max() == pytest.approx(law.peak_slope, rel=1e-5)
    assert np.abs(bend).max() == pytest.approx(law.peak_bend, rel=1e-5)


def test_the_known_peaks_of_the_elementary_laws() -> None:
    assert LAWS["3-4-5"].peak_slope == pytest.approx(15 / 8)
    assert LAWS["3-4-5"].peak_bend == pytest.approx(10 / math.sqrt(3))
    assert LAWS["4-5-6-7"].peak_slope == pytest.approx(35 / 16)
    assert LAWS["4-5-6-7"].peak_bend == pytest.approx(84 * math.sqrt(5) / 25)


@pytest.mark.parametrize(("slope", "bend"), [(2.0, 30.0), (2.0, 1.0), (0.1, 5.0)])
def test_the_fastest_trapezoid_touches_its_limits(slope: float, bend: float) -> None:
    law, T = fit_duration("trapezoid", slope, bend)
    assert law.peak_bend / T**2 == pytest.approx(bend)
    triangle = law.peak_bend == Trapezoid(0.5).peak_bend
    assert law.peak_slope / T <= slope * (1 + ROUNDING)
    assert triangle or law.peak_slope / T == pytest.approx(slope)
    for other in (0.05, 0.2, 0.35, 0.5):
        assert fit_duration(Trapezoid(other), slope, bend)[1] * (1 + ROUNDING) >= T


def test_what_is_no_law_is_refused() -> None:
    with pytest.raises(InputError, match="no time law"):
        Polynomial((0.0, 1.0))
    with pytest.raises(InputError, match="at most 1/2"):
        Trapezoid(0.6)
