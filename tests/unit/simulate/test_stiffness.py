"""Stiff motions under the method "auto": found, gone on with by the implicit method where that is faster, and told.

What is not stiff keeps the bits of dop853. Closed forms and published states say whether a stiff motion is right.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kane
from kane.simulate import Event, Events, integrate
from kane.simulate.stiffness import MethodChoice
from kane.simulate.tableaux import DOP853, RK45, Tableau
from unit.simulate.systems import arenstorf, flat, kepler, oscillator, van_der_pol

VAN_DER_POL_AT_2000 = (1.7061677321704840, -8.928097010247975e-4)
"""mu = 1000, from (2, 0): the reference solution of the test set for IVP solvers, as in test_radau.py."""


def lagging(rate: float = 1e4, n: int = 1):
    """y0 follows cos t with a lag of 1/rate, and others follow it slowly."""
    return flat(lambda t, y, p: [-rate * (y[0] - t.cos()), *(y[i] - y[i + 1] for i in range(n))], n + 1)


def lag(rate: float, t: Any) -> Any:
    """y0 of `lagging` long after its start, to the closed form."""
    return (rate * rate * np.cos(t) + rate * np.sin(t)) / (rate * rate + 1.0)


def growth(tableau: Tableau, z: float) -> float:
    """By how much y' = -y grows in a step of length z."""
    y = [1.0]
    k: list[float] = []
    for row in tableau.a[: tableau.stages + 1]:
        y.append(1.0 + z * sum(a * rate for a, rate in zip(row, k, strict=False)))
        k.append(-y[-1])
    return abs(y[-1])


@pytest.mark.parametrize("tableau", [DOP853, RK45])
def test_the_bound_of_stability_is_where_a_decaying_motion_begins_to_grow(tableau: Tableau) -> None:
    assert growth(tableau, tableau.stability) < 1.0 < growth(tableau, 1.08 * tableau.stability)
    assert tableau.c[tableau.stages - 1] == 1.0  # two derivatives at the end of the step


@pytest.mark.parametrize(
    ("system", "start", "t"),
    [
        (oscillator(), [1.0, 0.0], 300.0),
        (kepler(), [1.0, 0.0, 0.0, 0.7], 300.0),
        (arenstorf(), [0.994, 0.0, 0.0, -2.00158510637908252240537862224], 170.0),
    ],
)
@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-12])
def test_a_motion_that_is_not_stiff_keeps_the_bits_of_dop853(system, start, t, rtol) -> None:
    options = {"rtol": rtol, "atol": 1e-2 * rtol}
    automatic = integrate(system, start, (0.0, t), **options)
    explicit = integrate(system, start, (0.0, t), method="dop853", **options)
    assert np.array_equal(automatic.t, explicit.t) and np.array_equal(automatic.y, explicit.y)
    assert automatic.statistics == explicit.statistics
    assert str(automatic.outcome) == str(explicit.outcome) and "stiff" not in str(automatic.outcome)


def test_a_stiff_motion_follows_its_closed_form_in_few_steps_and_says_so() -> None:
    found = integrate(lagging(), [1.0, 0.0], (0.0, 20.0))
    assert found.statistics.steps < 1500
    assert found.y[-1, 0] == pytest.approx(lag(1e4, 20.0), abs=1e-8)
    assert "stiff from t = " in str(found.outcome) and "'radau' took over" in str(found.outcome)
    assert "a rate of 1e+04 1/s, most of all in state 0" in str(found.outcome)


def test_van_der_pol_agrees_with_the_published_state() -> None:
    found = integrate(van_der_pol(), [2.0, 0.0], (0.0, 2000.0), parameters=[1000.0], rtol=1e-8, atol=1e-11)
    assert found.y[-1] == pytest.approx(VAN_DER_POL_AT_2000, rel=30 * 1e-8)
    assert found.statistics.steps < 5000


@pytest.mark.parametrize(("method", "rtol"), [("dop853", 1e-8), ("rk45", 1e-5)])
def test_an_explicit_method_that_was_asked_for_stays_and_says_what_to_do(method, rtol) -> None:
    found = integrate(lagging(), [1.0, 0.0], (0.0, 2.0), method=method, rtol=rtol)
    assert not found.statistics.jacobians
    assert "stability keeps the steps short; fix: method='auto' or 'radau'" in str(found.outcome)


def test_too_many_states_are_left_to_the_explicit_method_and_that_is_told() -> None:
    found = integrate(lagging(n=260), [1.0] + 260 * [0.0], (0.0, 0.4))
    assert not found.statistics.jacobians
    assert "261 states are too many" in str(found.outcome) and "fix: make the loads" in str(found.outcome)


@pytest.mark.parametrize(("retreats", "ended", "told"), [(1, True, False), (1, False, True), (2, True, True)])
def test_an_implicit_method_that_is_no_faster_is_told_where_stiffness_lasts_or_the_motion_fails(
    retreats: int, ended: bool, told: bool
) -> None:
    state = {"stiff_rate": 14.0, "stiff_state": 0, "stiff_t": 3.0, "takeovers": retreats, "retreats": retreats}
    memory: Any = SimpleNamespace(state=state)
    settings: Any = SimpleNamespace(method="auto")
    assert ("no faster" in MethodChoice(memory, settings, None).remark(["u"], ended)) == told


def test_a_satellite_with_soft_panels_ends_cheaply_with_no_word_of_stiffness() -> None:
    """The implicit method is tried as the panels come to rest, and the motion ends long before it is tried again."""
    panels = 8.0, {"xx": 4.0, "yy": 0.3, "zz": 4.2}
    m = kane.Model("satellite")
    m.body("bus", mass=120.0, inertia={"xx": 30.0, "yy": 34.0, "zz": 25.0})
    m.joint("flight", "free", "ground", "bus")
    for name, side in (("left", 1.0), ("right", -1.0)):
        m.body(name, mass=panels[0], center=(0.0, 1.2 * side, 0.0), inertia=panels[1])
        m.joint(f"j{name}", "gimbal", "bus", name, at=(0.0, 0.5 * side, 0.0), sequence="body 21")
        for i in range(2):
            m.load(f"{name}{i}", kane.JointSpring(f"j{name}", stiffness=40.0, damping=2.0, index=i))
    for axis in "xyz":
        m.reaction_wheel(f"r{axis}", "bus", axis, 0.02)
    law = {f"r{axis}": f"1.2*q_flight_w*q_flight_{axis} + 6*u_flight_w{axis}" for axis in "xyz"}
    run = m.simulate(150, q={"flight": {"axis": [0.6, 0, 0.8], "angle": "120*deg"}}, control=law)
    assert run.outcome.success and run.statistics.jacobians and run.statistics.steps < 1000
    assert "stiff" not in str(run.outcome)


def test_the_explicit_method_goes_on_when_stiffness_ends() -> None:
    """A lag that grows, and an oscillation that the implicit method would follow in ten times as many steps."""
    fading = flat(lambda t, y, p: [-(1e5 * (-t).exp() + 1.0) * (y[0] - t.cos()), y[2], -100.0 * y[1]], 3)
    options: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}
    found = integrate(fading, [1.0, 1.0, 0.0], (0.0, 100.0), **options)
    implicit = integrate(fading, [1.0, 1.0, 0.0], (0.0, 100.0), method="radau", **options)
    assert "took over" in str(found.outcome)
    assert found.statistics.steps < implicit.statistics.steps / 5
    assert found.y[-1, 1] == pytest.approx(math.cos(1000.0), abs=1e-6)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_where_the_loop_is_cut_changes_no_bit(chunk: int) -> None:
    options: dict[str, Any] = {"parameters": [100.0], "rtol": 1e-5, "atol": 1e-7}
    whole = integrate(van_der_pol(), [2.0, 0.0], (0.0, 200.0), **options)
    cut = integrate(van_der_pol(), [2.0, 0.0], (0.0, 200.0), chunk=chunk, **options)
    assert "took over" in str(whole.outcome)
    assert np.array_equal(whole.t, cut.t) and np.array_equal(whole.y, cut.y)
    assert str(whole.outcome) == str(cut.outcome)


def test_events_and_output_times_are_met_across_the_change_of_method() -> None:
    watched = Events(flat(lambda t, y, p: [y[0]], 2), (Event("zero"),))
    times = np.linspace(0.0, 20.0, 101)
    found = integrate(lagging(), [1.0, 0.0], times, events=watched, rtol=1e-9, atol=1e-11)
    crossings = np.arange(6) * math.pi + math.pi / 2 + math.atan(1e-4)  # cos t + sin t / rate = 0
    assert np.array_equal(found.t, times)
    assert found.events[0].t == pytest.approx(crossings, abs=1e-7)
    assert found.y[1:, 0] == pytest.approx(lag(1e4, times[1:]), abs=1e-7)


def test_a_load_that_jumps_is_no_stiffness_and_is_told() -> None:
    """Dry friction by a sign: it would hold at rest, which steps can only chatter about."""
    held = flat(lambda t, y, p: [y[1], -4.0 * y[0] - 3.0 * y[1].sign()], 2)
    found = integrate(held, [1.0, 0.0], (0.0, 10.0), max_steps=20_000)
    assert "% of the steps were rejected: loads that jump" in str(found.outcome)
    assert found.y[-1, 0] == pytest.approx(0.5, abs=1e-6)  # comes to rest at -(1 - 2 · 3/4)


def test_the_implicit_method_gives_way_where_it_is_slower() -> None:
    """A wave over a wide range of rates: each is stiff for the explicit method, but all of them are in the motion."""
    n = 24
    rates = np.geomspace(1.0, 3e3, n)
    chirp = flat(
        lambda t, y, p: [
            -float(r) * (y[i] - (float(r) * t).sin()) - 50.0 * float(r) * (y[i] - (float(r) * t).sin()) ** 3
            for i, r in enumerate(rates)
        ],
        n,
    )
    options: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
    found = integrate(chirp, np.zeros(n), (0.0, 0.5), **options)
    explicit = integrate(chirp, np.zeros(n), (0.0, 0.5), method="dop853", **options)
    assert found.y[-1] == pytest.approx(explicit.y[-1], abs=1e-7)
    assert found.statistics.evaluations < 1.5 * explicit.statistics.evaluations
