"""Ends of modes are found within steps: where they are far from it is told by few samples, and nothing is missed."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import kane
from seeds import generator

LOCATED = 1e-11  # s, of a crossing that is found on the motion itself
TOUCHED = 1e-3  # of a wave that comes this near to zero it is left open whether it crosses
STEP, END = 1.0, 60.0  # s
TURNS = 1.0  # in one step, of the fastest wave
SAMPLES = 400  # of a step, to see all crossings of such waves by


@functools.cache
def slider_on_waves() -> kane.Model:
    """A body that glides, and is locked while a sum of two waves is above zero."""
    m = kane.Model("slider", gravity=(0, 0, 0))
    for name in ("level", "a", "b", "wa", "wb", "pa", "pb"):
        m.parameter(name, 1.0, free=True)
    m.body("block", mass=1.0)
    m.joint("rail", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    wave = "level + a*cos(wa*t + pa) + b*cos(wb*t + pb)"
    m.constrain("lock", kane.MotionEquations("v"), when=wave, until=f"-({wave})")
    return m


def crossings_of(level: float, waves: list[tuple[float, float, float]]) -> np.ndarray | None:
    """Times at which level + Σ a cos(w t + p) changes sign from the first rise on, by fine samples and bisection; None
    if it nearly touches zero."""
    t = np.linspace(0.0, END, round(END / STEP) * SAMPLES + 1)

    def value(t: np.ndarray) -> np.ndarray:
        return np.sum([a * np.cos(w * t + p) for a, w, p in waves], axis=0) + level

    g = value(t)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(g)))) + 1
    if np.abs(g[turns]).min(initial=1.0) < TOUCHED or min(abs(g[0]), abs(g[-1])) < TOUCHED:
        return None
    at = np.flatnonzero(np.diff(np.sign(g)))
    low, high = t[at], t[at + 1]
    for _ in range(60):
        middle = 0.5 * (low + high)
        before = np.sign(value(middle)) == np.sign(value(low))
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return high[1:] if g[0] > 0.0 else high


def random_waves(rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray]:
    """Parameters of the slider on waves with up to a turn in each step, and when they cross zero."""
    while True:
        level = float(rng.uniform(-2.0, 2.0))
        amplitude, frequency = rng.uniform(0.1, 1.5, 2), rng.uniform(0.1, 2.0 * math.pi * TURNS / STEP, 2)
        phase = rng.uniform(0.0, 2.0 * math.pi, 2)
        times = crossings_of(level, list(zip(amplitude, frequency, phase, strict=True)))
        if times is not None:
            names = ("level", "a", "b", "wa", "wb", "pa", "pb")
            return dict(zip(names, (level, *amplitude, *frequency, *phase), strict=True)), times


@pytest.mark.parametrize("number", range(60))
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_condition_that_holds_for_a_moment_within_a_step_is_met(number: int, method: str) -> None:
    """Two crossings of waves in one step too, of which its ends show nothing."""
    given, times = random_waves(generator(number))
    steps: dict[str, Any] = {"first_step": STEP, "max_step": STEP}
    if method == "rk4":
        steps = {"method": method, "step": STEP}
    run = slider_on_waves().simulate(END, u=[1.0], parameters=given, **steps)
    found = [x.t for x in run.transitions[1:]]
    assert len(found) == len(times)
    assert np.abs(np.array(found) - times).max(initial=0.0) <= LOCATED


@functools.cache
def pin_on_a_wheel() -> kane.Model:
    """A wheel in free rotation with a pin 1 m from its axis, which strikes a wall at x = `wall`."""
    m = kane.Model("wheel", gravity=(0, 0, 0))
    m.parameter("wall", 0.5, free=True)
    m.body("wheel", mass=1.0, inertia={"xx": 0.5, "yy": 0.5, "zz": 1.0})
    m.joint("axle", "revolute", "ground", "wheel", axis="z", coordinates=["turn"], speeds=["w"])
    m.contact("stop", "wheel", "ground", shape={"point": (1, 0, 0)}, normal=(-1, 0, 0), at=("wall", 0, 0), friction=0)
    return m


@pytest.mark.parametrize("number", range(20))
def test_a_pin_strikes_in_its_first_turn_however_long_the_steps_of_a_free_rotation_become(number: int) -> None:
    """cos(turn) = wall for the first time; a rotation without load has no error, so that steps grow tenfold."""
    rng = generator(number)
    wall, turn, rate = float(rng.uniform(-0.9, 0.99)), float(rng.uniform(0.0, 1.0)), float(rng.uniform(1.0, 50.0))
    start = math.acos(wall) + turn * (2.0 * math.pi - 2.0 * math.acos(wall))
    run = pin_on_a_wheel().simulate(100.0, q=[start], u=[rate], parameters={"wall": wall})
    strike = run.transitions[1]
    assert strike.cause == "impact"
    assert strike.t == pytest.approx((2.0 * math.pi - math.acos(wall) - start) / rate, abs=1e-9 / rate)


@pytest.mark.parametrize("embed", ["formulation", "run-time"])
def test_ends_that_are_far_cost_four_samples_in_a_step(embed: str) -> None:
    """All of them only in the first step, and in the last."""
    run = kane.load("shopping-cart").simulate((0.0, 1.0), method="rk4", step=1e-3, embed=embed)
    done = run.statistics
    assert len(run.transitions) == 1
    assert done.event_evaluations <= 4 * done.steps + 2 * 14


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_a_slip_ends_on_time_though_its_row_was_longer_where_it_began(embed: str) -> None:
    """Two trolleys rub against each other with 3 N: 4.5 m/s are gone after 1 s. The row is written with a factor that
    falls by six decades meanwhile; what counts as rounding of the slip is that of the row as it is now."""
    factor = "(1 + 1e6*exp(-40*t))"
    m = kane.Model("trolleys")
    for i, mass in enumerate((1.0, 2.0)):
        m.body(f"b{i}", mass=mass)
        m.joint(f"j{i}", "prismatic", "ground", f"b{i}", axis="x", coordinates=[f"x{i}"], speeds=[f"v{i}"])
    m.constrain("rub", kane.Friction(f"{factor}*(v0 - v1)", bound=f"3/{factor}"))
    run = m.simulate(2.0, u=[104.5, 100.0], embed=embed, rtol=1e-10, atol=1e-12)
    (stick,) = run.transitions[1:]
    assert stick.cause == "stick" and stick.t == pytest.approx(1.0, abs=LOCATED)


def test_gaps_and_reactions_that_are_rounding_are_not_searched() -> None:
    """After the impact four balls hang side by side: gaps of 1e-15 m and reactions of 1e-13 N, both noise. Without
    knowing so, 15 000 evaluations a step look for crossings in them."""
    run = kane.load("newtons-cradle").simulate(1.0, method="rk4", step=1e-3)
    assert run.outcome.success and len(run.transitions) == 3
    assert run.statistics.event_evaluations <= 50 * run.statistics.steps
