"""How a simulation ends, and that neither chunks nor reruns change a bit of it."""

from __future__ import annotations

import _thread
import dataclasses
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from kane.simulate import REASONS, Event, Events, Outcome, integrate
from kane.simulate.progress import STALL
from unit.simulate.systems import flat, kepler, oscillator, van_der_pol

KEPLER = ([0.4, 0.0, 0.0, 2.0], (0.0, 20.0))


def explosion():
    """y' = y^2: infinite at t = 1 from y = 1."""
    return flat(lambda t, y, p: [y[0] * y[0]], 1)


def test_reaching_the_end_is_said_with_its_cost():
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 10.0))
    s = solution.statistics
    assert solution.outcome.success
    assert solution.outcome.reason == "end"
    assert str(solution.outcome) == (
        f"reached t = 10 s in {s.steps} steps ({s.rejected} rejected, {s.evaluations} evaluations)"
    )
    assert str(solution) == str(solution.outcome)


@pytest.mark.parametrize("method", ["dop853", "rk45", "rk23", "radau"])
def test_a_motion_that_explodes_stops_before_its_singularity_and_says_so(method):
    solution = integrate(explosion(), [1.0], (0.0, 2.0), method=method, rtol=1e-6, atol=1e-8)
    assert not solution.outcome.success
    assert solution.outcome.reason in ("step", "not-finite", "convergence")
    assert solution.outcome.t == pytest.approx(1.0, abs=1e-3)
    assert str(solution.outcome).startswith("stopped at t = ")
    assert "the states up to there are kept" in str(solution.outcome)
    assert np.all(np.isfinite(solution.y))
    early = solution.t < 0.9
    assert solution.y[early, 0] == pytest.approx(1 / (1 - solution.t[early]), rel=1e-4)


def test_a_fixed_step_into_infinity_stops_at_the_last_finite_state():
    solution = integrate(explosion(), [1.0], (0.0, 5.0), method="rk4", step=0.1)
    assert solution.outcome.reason == "not-finite"
    assert "the state became not finite" in str(solution.outcome)
    assert np.all(np.isfinite(solution.y))


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_derivative_that_is_not_finite_at_the_start_is_an_outcome(method):
    root = flat(lambda t, y, p: [y[0].sqrt()], 1)
    solution = integrate(root, [-1.0], (0.0, 1.0), method=method)
    assert solution.outcome.reason == "not-finite"
    assert solution.t.tolist() == [0.0]


def test_the_edge_of_a_domain_is_an_outcome():
    # y' = -1 / (2 sqrt(y)) reaches y = 0 at t = 4/3 and does not exist beyond.
    edge = flat(lambda t, y, p: [-0.5 / y[0].sqrt()], 1)
    solution = integrate(edge, [1.0], (0.0, 2.0))
    assert not solution.outcome.success
    assert solution.outcome.t == pytest.approx(4 / 3, abs=1e-3)


def test_the_allowed_number_of_steps_is_an_outcome():
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 1e6), max_steps=100)
    assert solution.outcome.reason == "limit"
    assert solution.statistics.steps + solution.statistics.rejected == 100
    assert "the allowed 100 steps are used up" in str(solution.outcome)
    assert solution.t[-1] == solution.outcome.t


def whirl():
    """A turn at the rate 1 / (1 - t)^2: its angle, 1 / (1 - t) - 1, grows without bound, and so does its rate."""
    return flat(lambda t, y, p: [-y[1] / ((1 - t) * (1 - t)), y[0] / ((1 - t) * (1 - t))], 2)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_motion_that_advances_no_more_ends_by_itself(method):
    """Steps fall with the square of the time that is left: the pole at 1 s is never reached."""
    options: dict[str, Any] = {"method": method, "rtol": 1e-4, "atol": 1e-4}
    solution = integrate(whirl(), [1.0, 0.0], (0.0, 2.0), **options)
    assert solution.outcome.reason == "stall"
    assert 0.999 < solution.outcome.t < 1.0
    assert "advanced t by almost nothing" in str(solution.outcome)
    early = solution.t < 0.5
    angle = 1 / (1 - solution.t[early]) - 1
    assert solution.y[early] == pytest.approx(np.column_stack([np.cos(angle), np.sin(angle)]), abs=1e-2)


def test_a_stall_does_not_depend_on_chunks_and_gives_way_to_a_number_of_steps():
    options: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}
    first, second = (integrate(whirl(), [1.0, 0.0], (0.0, 2.0), chunk=c, **options) for c in (None, 7919))
    assert first.outcome == second.outcome
    assert first.statistics == second.statistics
    more = first.statistics.steps + first.statistics.rejected + 1000
    further = integrate(whirl(), [1.0, 0.0], (0.0, 2.0), max_steps=more, **options)
    assert further.outcome.reason == "limit"
    assert further.outcome.t > first.outcome.t


def test_many_steps_to_an_event_in_a_span_without_end_are_no_stall():
    """An oscillator over 1e12 s, of which its event wants 1e5 s, and a stiff motion by an explicit method."""
    event = Events(flat(lambda t, y, p: [t - 1e5], 2), (Event("late", terminal=True),))
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 1e12), events=event)
    assert solution.outcome.reason == "event"
    assert solution.statistics.steps > 2 * STALL
    stiff = flat(lambda t, y, p: [-1e5 * (y[0] - 1.0)], 1)
    solution = integrate(stiff, [0.0], (0.0, 10.0), method="rk23", rtol=1e-4)
    assert solution.outcome.success
    assert solution.statistics.steps > 2 * STALL
    assert solution.y[-1] == pytest.approx([1.0], abs=1e-3)


def test_an_interrupt_keeps_what_was_computed():
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    solution = integrate(oscillator(), [1.0, 0.0], np.linspace(0.0, 1e9, 11), method="rk4", step=1e-3)
    timer.join()
    assert solution.outcome.reason == "interrupt"
    assert not solution.outcome.success
    assert f"interrupted at t = {solution.outcome.t:.10g} s; the states up to there are kept" in str(solution.outcome)
    assert solution.t[-1] == solution.outcome.t > 0.0
    assert np.hypot(*solution.y[-1]) == pytest.approx(1.0, abs=1e-6)


def test_an_interrupt_from_the_progress_callable_keeps_the_steps():
    def progress(fraction):
        if fraction > 0.3:
            raise KeyboardInterrupt

    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 1000.0), progress=progress, chunk=10)
    assert solution.outcome.reason == "interrupt"
    assert 300 < solution.t[-1] < 400


def test_progress_rises_to_one():
    seen = []
    integrate(oscillator(), [1.0, 0.0], (0.0, 1000.0), progress=seen.append, chunk=50)
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("method", ["dop853", "rk45", "rk4", "radau"])
@pytest.mark.parametrize("times", [None, 57])
def test_neither_chunks_nor_reruns_change_a_bit(method, times):
    start, span = KEPLER
    watch = Events(flat(lambda t, y, p: [y[1], y[0]], 4), (Event("y"), Event("x", 1)))
    options: dict[str, Any] = {"step": 0.01} if method == "rk4" else {"rtol": 1e-7, "atol": 1e-9}
    t = span if times is None else np.linspace(*span, times)

    def motion(chunk):
        return integrate(kepler(), start, t, method=method, events=watch, chunk=chunk, **options)

    whole = motion(None)
    for other in (motion(None), motion(1), motion(7)):
        assert np.array_equal(whole.t, other.t)
        assert np.array_equal(whole.y, other.y)
        assert whole.statistics == other.statistics
        for a, b in zip(whole.events, other.events, strict=True):
            assert np.array_equal(a.t, b.t)
            assert np.array_equal(a.y, b.y)


def test_output_grows_beyond_any_first_guess():
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 20.0), method="rk4", step=1e-4)
    assert len(solution.t) == 200_001
    assert np.abs(solution.y[:, 0] - np.cos(solution.t)).max() < 1e-10


def test_the_parameters_reach_the_program():
    for mu in (0.5, 2.0):
        direct = flat(lambda t, y, p, mu=mu: [y[1], mu * (1.0 - y[0] * y[0]) * y[1] - y[0]], 2)
        with_parameter = integrate(van_der_pol(), [2.0, 0.0], (0.0, 5.0), parameters=[mu])
        assert with_parameter.y[-1] == pytest.approx(integrate(direct, [2.0, 0.0], (0.0, 5.0)).y[-1], rel=1e-9)


def test_records_are_frozen_and_reasons_are_known():
    solution = integrate(oscillator(), [1.0, 0.0], (0.0, 1.0))
    for record, name in ((solution, "outcome"), (solution.outcome, "reason"), (solution.statistics, "steps")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, None)
    assert solution.outcome.reason in REASONS
    with pytest.raises(ValueError, match="one of the reasons"):
        Outcome("tired", 0.0, "")


def test_a_second_process_finds_the_loops_in_the_cache():
    integrate(oscillator(), [1.0, 0.0], (0.0, 1.0))
    integrate(oscillator(), [1.0, 0.0], (0.0, 1.0), method="radau")
    code = """
from numba import cfunc, types
from kane.simulate import integrate
from kane.simulate.compiled.explicit import explicit_loop
from kane.simulate.compiled.radau import radau_loop
pointer = types.CPointer(types.float64)

@cfunc(types.void(pointer, pointer))
def decay(x, out):
    out[0] = -x[1]

for method in ("dop853", "radau"):
    assert integrate(decay.address, [1.0], (0.0, 1.0), method=method).outcome.success
for loop in (explicit_loop, radau_loop):
    assert sum(loop.stats.cache_hits.values()) == 1 and not loop.stats.cache_misses, loop.stats
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_importing_the_package_does_not_import_numba():
    code = "import sys, kane.simulate; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
