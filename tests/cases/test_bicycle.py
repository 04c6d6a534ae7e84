"""The Whipple bicycle, nonlinear, linearized about straight running, against its benchmark [MPRS07].

M q'' + v C1 q' + (g K0 + v² K2) q = f with q = (roll, steer), f the roll and steer torques. In this model efforts along
uroll and usteer are those torques: roll and steer independent, their power has no other speed in it.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

import kane
from kane.analysis import Linearization
from kane.api.stops import FLAT
from kane.simulate.progress import EARLIEST

Array = NDArray[Any]

BENCHMARK = json.loads((Path(__file__).parents[1] / "reference" / "whipple_bicycle.json").read_text(encoding="utf-8"))
PARAMETERS = BENCHMARK["parameters"]
MATRICES = 1e-10  # of every element, by the largest of its matrix
EIGENVALUES = 1e-10  # 1/s, beyond the 13 digits that the reference is given with
SPEEDS = 1e-10  # m/s
DRIFT = 1e-8  # of energy, relative, in 20 s


@cache
def bicycle() -> kane.Model:
    return kane.load("whipple-bicycle")


def straight(v: float) -> dict[str, float]:
    """Speeds of straight upright running at v m/s."""
    return {"ux": v, "urear": -v / PARAMETERS["rR"], "ufront": -v / PARAMETERS["rF"], "uroll": 0.0}


def running(v: float) -> Linearization:
    """About straight running, in roll and steer alone."""
    whole = bicycle().linearize(
        u=straight(v), independent=["roll", "steer", "uroll", "usteer"], inputs=["uroll", "usteer"]
    )
    return whole.without(name for name in whole.states if name not in ("roll", "steer", "uroll", "usteer"))


def canonical(v: float) -> tuple[Array, Array, Array]:
    """(M, C, K) of M q'' + C q' + K q = f."""
    linear = running(v)
    M = np.linalg.inv(linear.B[2:])
    return M, -M @ linear.A[2:, 2:], -M @ linear.A[2:, :2]


def assert_matrix(found: Array, expected: Array, more: float = 1.0) -> None:
    assert np.abs(found - expected).max() <= MATRICES * more * np.abs(expected).max()


def test_canonical_matrices_are_those_of_the_benchmark() -> None:
    M, _, K = canonical(0.0)
    g = PARAMETERS["g"]
    assert running(0.0).states == ("roll", "steer", "uroll", "usteer")
    assert_matrix(M, np.array(BENCHMARK["M"]))
    assert_matrix(K / g, np.array(BENCHMARK["K0"]))
    for v in (0.5, 3.0, 10.0):
        M_v, C, K_v = canonical(v)
        assert_matrix(M_v, np.array(BENCHMARK["M"]))
        assert_matrix(C / v, np.array(BENCHMARK["C1"]))
        assert_matrix((K_v - K) / v**2, np.array(BENCHMARK["K2"]), more=1 + g / v**2)  # a difference of matrices


@pytest.mark.parametrize("v", list(BENCHMARK["eigenvalues_by_speed"]))
def test_eigenvalues_are_those_of_the_benchmark(v: str) -> None:
    expected = np.array([complex(*pair) for pair in BENCHMARK["eigenvalues_by_speed"][v]])
    found = running(float(v)).eigenvalues
    apart = np.abs(found[:, None] - expected[None, :])
    assert apart.min(axis=0).max() <= EIGENVALUES and apart.min(axis=1).max() <= EIGENVALUES


def test_nothing_but_roll_steer_and_speed_matters_when_running_straight() -> None:
    linear = bicycle().linearize(u=straight(4.6), independent=["roll", "steer"])
    assert linear.running == ()
    assert set(linear.ignorable) == {"x", "y", "yaw", "rear", "front"}
    assert "roll 1, steer" in str(linear.without(linear.ignorable))


def test_weave_capsize_and_double_root_are_at_the_published_speeds() -> None:
    """Where a pair stops to grow, where a real eigenvalue changes sign, where two real ones meet to become a pair."""

    def weave(v: float) -> float:
        return max(x.real for x in running(v).eigenvalues if abs(x.imag) > 1e-9)

    def capsize(v: float) -> float:
        return float(np.linalg.det(running(v).A))

    def meeting(v: float) -> float:
        a, b = sorted(running(v).eigenvalues, key=lambda x: -x.real)[:2]
        return float(((a - b) ** 2).real)

    published = BENCHMARK["speeds"]
    for crossing, name, between in (
        (weave, "weave", (4.0, 4.6)),
        (capsize, "capsize", (5.0, 7.0)),
        (meeting, "double_root", (0.5, 0.9)),
    ):
        found: Any = brentq(crossing, *between, xtol=1e-13)
        assert abs(found - published[name]) <= SPEEDS, name


def test_energy_is_kept_by_the_uncontrolled_bicycle() -> None:
    model = bicycle()
    run = model.simulate((0.0, 20.0), u={**straight(4.6), "uroll": 0.5})
    energy = model.energy(run.q, run.u)
    total = energy.kinetic + energy.potential
    assert run.t[-1] == 20.0
    assert np.abs(run.q[:, model.coordinates.index("roll")]).max() > 0.05, "it sways, and stays upright"
    assert np.abs(total - total[0]).max() <= DRIFT * abs(total[0])


def test_small_sway_is_that_of_the_linear_model() -> None:
    """The nonlinear motion from a small push, against the exponential of the benchmark's matrices."""
    v, push = 4.6, 1e-5
    M, C1, K0, K2 = (np.array(BENCHMARK[name]) for name in ("M", "C1", "K0", "K2"))
    right = np.linalg.solve(M, np.hstack([-(PARAMETERS["g"] * K0 + v**2 * K2), -v * C1]))
    values, vectors = np.linalg.eig(np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), right]))
    weights = np.linalg.solve(vectors, [0, 0, push, 0])
    t = np.linspace(0.0, 3.0, 31)
    expected = ((vectors[:2] * weights) @ np.exp(np.outer(values, t))).real
    model = bicycle()
    run = model.simulate(t, u={**straight(v), "uroll": push, "usteer": 0.0}, rtol=1e-11, atol=1e-15)
    found = run.q[:, [model.coordinates.index("roll"), model.coordinates.index("steer")]].T
    assert np.abs(found - expected).max() <= 1e-7 * push  # terms of second order: push² and its like


@pytest.mark.parametrize("lean", [0.05, 0.2])
def test_steady_turns_stay_steady(lean: float) -> None:
    """Hands off, a lean has its speed; with a steer torque any speed will do. Both circles are ridden for a while."""
    model = bicycle()
    free = model.trim(q={"roll": lean}, u={"uroll": 0.0, "usteer": 0.0})
    driven = model.trim(q={"roll": lean}, u={"ux": 5.0, "uroll": 0.0, "usteer": 0.0}, efforts=["usteer"])
    assert abs(driven["tau_usteer"]) > 1e-3 and not free.tau.any()
    for found in (free, driven):
        linear = model.linearize(found.q, found.u, found.tau)
        assert linear.running == ()
        run = model.simulate((0.0, 1.5), q=found.q, u=found.u, tau=found.tau, rtol=1e-11, atol=1e-13)
        assert np.abs(run.u - found.u).max() <= 1e-8
        radius = found["ux"] / found["uyaw"]
        angle = run.t * found["uyaw"]
        path = radius * np.column_stack([np.sin(angle), 1 - np.cos(angle)])
        assert np.abs(run.q[:, :2] - path).max() <= 1e-8


def test_a_bicycle_that_falls_flat_ends_soon_with_its_wheels_named() -> None:
    """Rolling has a pole there: rates of yaw and pitch grow without end, as 1 / cos(roll)."""
    fallen = kane.load("whipple-bicycle").simulate([0.0, 10.0], u={"ux": 2.0, "uroll": 0.2})
    assert fallen.outcome.reason == "stall"
    assert fallen.statistics.steps + fallen.statistics.rejected <= EARLIEST
    assert abs(np.cos(fallen["roll"][-1])) < FLAT
    said = str(fallen.outcome)
    assert re.match(r"stopped at t = [0-9.]+ s: wheels 'rear-wheel', 'front-wheel' lie flat", said), said
    assert said.count("fix:") == 1 and "loads" not in said, "one reason, one remedy"
    assert "fix: end it before, events={'fallen': {'expression': 'abs(roll) - 80*deg'" in str(fallen.outcome)
    event = {"fallen": {"expression": "abs(roll) - 80*deg", "terminal": True}}
    stopped = kane.load("whipple-bicycle").simulate([0.0, 10.0], u={"ux": 2.0, "uroll": 0.2}, events=event)
    assert stopped.outcome.reason == "event" and "flat" not in str(stopped.outcome)


def test_the_remedy_of_a_fall_names_a_coordinate_of_the_model_and_ends_it_there() -> None:
    disc = kane.load("rolling-disc")
    fallen = disc.simulate([0.0, 10.0], q={"lean": 0.3}, u={"wx": 0.0, "wy": 0.0, "wz": 0.0})
    found = re.search(r"'fallen': {'expression': '(abs\(lean\) - 80\*deg)'", str(fallen.outcome))
    assert found, str(fallen.outcome)
    event = {"fallen": {"expression": found.group(1), "terminal": True}}
    stopped = disc.simulate([0.0, 10.0], q={"lean": 0.3}, u={"wx": 0.0, "wy": 0.0, "wz": 0.0}, events=event)
    assert stopped.outcome.success and abs(stopped["lean"][-1]) == pytest.approx(np.radians(80), abs=1e-9)


@pytest.mark.parametrize("times", [(0.0, 1.0), np.linspace(0.0, 1.0, 21)])
def test_a_disc_that_passes_through_lying_flat_is_told(times: Any) -> None:
    """Without spin it falls like a rod on its edge, and nothing of its equations stops it below the plane."""
    disc = kane.load("rolling-disc")
    run = disc.simulate(times, q={"lean": 0.3}, u={"wx": 0.0, "wy": 0.0, "wz": 0.0, "vx": 0.0, "vy": 0.0})
    said = re.search(r"wheel 'disc' passed through lying flat at t = ([0-9.]+) s", str(run.outcome))
    assert said and "'abs(lean) - 80*deg'" in str(run.outcome)
    event = {"flat": {"expression": "lean - pi/2"}}
    exact = disc.simulate([0.0, 1.0], q={"lean": 0.3}, u={"wx": 0.0, "wy": 0.0, "wz": 0.0}, events=event)
    assert float(said.group(1)) == pytest.approx(exact.events[0].t[0], abs=2e-3)


def test_a_disc_that_nearly_lies_flat_whirls_and_gets_up_again() -> None:
    """Its spin of 0.01 rad/s keeps it 0.007 rad from the ground; the rim runs round, in 19 000 steps, and it rises."""
    disc = kane.load("rolling-disc")
    run = disc.simulate(np.linspace(0, 3, 301), q={"lean": 0.5}, u={"wx": 0.0, "wy": 0.0, "wz": 0.01})
    assert run.outcome.reason == "end" and run.statistics.steps > EARLIEST
    assert "passed through" not in str(run.outcome)
    tilt = np.pi / 2 - np.abs(run["lean"])
    lowest = int(np.argmin(tilt))
    assert tilt[lowest] < FLAT and tilt[lowest:].max() > 0.9 * tilt[0]
    energy = run.energy().total
    assert np.ptp(energy) < DRIFT * energy[0]
