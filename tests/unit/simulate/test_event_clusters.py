"""Crossings that lie close together are told apart, or the outcome says where they could not be."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy as np
import pytest

from kane.backends import Kernel
from kane.simulate import Event, Events, Solution, integrate
from unit.simulate.systems import flat

MOST = 9
"""Roots that the events of this module have; those that are not wanted lie outside the motion."""

OUTSIDE = 50.0

METHODS: dict[str, dict[str, Any]] = {
    "dop853": {"max_step": 0.5},
    "radau": {"method": "radau", "max_step": 0.5},
    "rk45": {"method": "rk45", "max_step": 0.5},
    "rk4": {"method": "rk4", "step": 0.25},
}

LOCATED, LOCATED_BY_RK4 = 1e-9, 0.25**4 / 20.0
"""s; crossings of a state are where the dense output has them, whose error follows the tolerance, or is of fourth order
in a step of 0.25 s."""


@functools.cache
def motion() -> Kernel:
    """y = (t, cos t, -sin t)."""
    return flat(lambda t, y, p: [1.0 + 0.0 * t, y[2], -y[1]], 3, MOST)


def product(of):
    """The kernel of the product of of(t, y) - of(p, p) over all roots p."""

    def function(t, y, p):
        factors = [of(t, y) - of(root, [root, root.cos()]) for root in p]
        return [functools.reduce(lambda a, b: a * b, factors)]

    return flat(function, 3, MOST)


@functools.cache
def watched(name: str) -> Kernel:
    """Events with roots of our choice."""
    if name == "time":
        return product(lambda t, y: t)
    if name == "state":
        return product(lambda t, y: y[0])
    if name == "growing":
        return flat(lambda t, y, p: [math.prod((y[0] - root for root in p), start=(4.0 * t).exp())], 3, MOST)
    return flat(lambda t, y, p: [math.prod((y[1] - root.cos() for root in p[:5]), start=t + 1.0)], 3, MOST)


def run(kernel: Kernel, roots, span=(0.0, 3.0), *, event=None, **options) -> Solution:
    given = [*roots, *(OUTSIDE + k for k in range(MOST - len(roots)))]
    begin = [span[0], math.cos(span[0]), -math.sin(span[0])]
    events = Events(kernel, (event or Event("root"),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return integrate(motion(), begin, span, rtol=1e-10, atol=1e-12, events=events, parameters=given, **options)


def clusters(count: int, spacing: float, low: float, high: float, tries: int):
    """Roots close together, a part of `spacing` more or less apart, at random places."""
    rng = np.random.default_rng(5)
    for _ in range(tries):
        yield rng.uniform(low, high) + spacing * np.concatenate([[0.0], np.cumsum(rng.uniform(0.7, 1.3, count - 1))])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["time", "state", "growing", "cosine"])
def test_crossings_close_together_are_all_found(name, method):
    """Two to five of them, from 1e-3 s down to 1e-9 s apart, in steps of up to half a second."""
    for count in (2, 3, 4, 5):
        for spacing in (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
            # The roots of cos t - cos p that are not wanted are those of angles that the motion does not come to.
            for roots in clusters(count, spacing, 0.1, 2.4, 4):
                others = [3.05 + 0.01 * k for k in range(5 - count)] if name == "cosine" else []
                solution = run(watched(name), [*roots, *others], **METHODS[method])
                found = solution.events[0]
                assert len(found) == count and found.complete, (count, spacing, roots, str(solution.outcome))
                assert np.abs(found.t - roots).max() < (LOCATED_BY_RK4 if method == "rk4" else LOCATED)


@pytest.mark.parametrize("count", [6, 7, 8])
def test_up_to_eight_crossings_are_told_apart_down_to_a_part_in_1e9_of_a_step(count):
    for spacing in (1e-6, 1e-7, 1e-9):
        for roots in clusters(count, spacing, 0.05, 0.95, 10):
            solution = run(watched("time"), roots, (0.0, 1.0), method="rk4", step=1.0)
            assert solution.events[0].complete
            assert solution.events[0].t == pytest.approx(roots, abs=1e-14)


def test_crossings_at_distances_of_different_size_are_all_found():
    rng = np.random.default_rng(6)
    for _ in range(60):
        roots = rng.uniform(0.05, 0.9) + np.concatenate([[0.0], np.cumsum(10.0 ** rng.uniform(-9, -3, 4))])
        solution = run(watched("time"), roots, (0.0, 1.0), method="rk4", step=1.0)
        assert solution.events[0].t == pytest.approx(roots, abs=1e-14), roots


@pytest.mark.parametrize("place", [0.25, 0.5, 0.625, 1.0])
@pytest.mark.parametrize("count", [3, 5])
def test_crossings_on_both_sides_of_a_point_of_the_search_and_on_it_are_all_found(place, count):
    """The search cuts a step of 1 s at all of these places, where one of the crossings is."""
    for spacing in (2.0**-20, 2.0**-24, 2.0**-27):
        for before in range(count):
            roots = place + spacing * (np.arange(count) - before)
            solution = run(watched("time"), roots, (0.0, 2.0), method="rk4", step=1.0)
            assert solution.events[0].t == pytest.approx(roots, abs=1e-14), (spacing, before)


@pytest.mark.parametrize(("direction", "kept"), [(1, [0, 2]), (-1, [1])])
def test_crossings_close_together_have_their_directions(direction, kept):
    roots = 0.7 + 1e-7 * np.arange(3)
    event = Event("root", direction)
    found = run(flat_cubic(), roots, (0.0, 1.0), event=event, method="rk4", step=1.0).events[0]
    assert found.t == pytest.approx(roots[kept], abs=1e-14)


def test_a_motion_stops_at_the_first_of_crossings_close_together():
    roots = 0.7 + 1e-7 * np.arange(3)
    solution = run(flat_cubic(), roots, event=Event("root", terminal=True), **METHODS["dop853"])
    assert solution.t[-1] == pytest.approx(roots[0], abs=1e-14)


@functools.cache
def flat_cubic() -> Kernel:
    """Rises, falls and rises through its roots."""
    return flat(lambda t, y, p: [(t - p[0]) * (t - p[1]) * (t - p[2])], 3, MOST)


@pytest.mark.parametrize(("count", "spacing"), [(3, 1e-12), (5, 1e-12), (8, 1e-12), (9, 1e-8)])
def test_more_and_closer_crossings_than_can_be_told_apart_are_named(count, spacing):
    """Nine are found where the search happens to cut between them."""
    for roots in clusters(count, spacing, 0.05, 0.95, 20):
        solution = run(watched("time"), roots, (0.0, 1.0), method="rk4", step=1.0)
        if count > 8 and len(solution.events[0]) == count:
            continue
        assert not solution.events[0].complete
        assert "event 'root' stays within rounding of zero near t = " in str(solution.outcome)


def test_crossings_that_rounding_hides_are_named_and_a_touch_is_none():
    """A cube in powers of t is rounding within 5e-6 s of its zero; a square that rounding is added to only touches."""
    cube = flat(lambda t, y, p: [t * t * t - 3.0 * p[0] * t * t + 3.0 * p[0] ** 2 * t - p[0] * p[0] * p[0]], 3, MOST)
    square = flat(lambda t, y, p: [(t - p[0]) ** 2 + (t.sin() ** 2 + t.cos() ** 2 - 1.0).abs()], 3, MOST)
    for roots in clusters(1, 0.0, 0.1, 0.9, 30):
        assert not run(cube, roots, (0.0, 1.0), method="rk4", step=1.0).events[0].complete
        touched = run(square, roots, (0.0, 1.0), method="rk4", step=1.0).events[0]
        assert len(touched) == 0 and touched.complete


def test_events_that_cross_apart_are_not_asked_for_more():
    """9 values and 5 slopes in a step, and what it takes to place a crossing; no more for steep ones."""
    line = flat(lambda t, y, p: [(t - p[0]) * (t - p[1]) * (t + 1.0)], 3, MOST)
    for roots in clusters(2, 0.4, 0.1, 0.4, 10):
        done = run(line, roots, (0.0, 1.0), method="rk4", step=1.0).statistics
        assert done.event_evaluations <= 14 + 2 * 10 + 1
