"""A device that is faster than the model: several ticks in a step, the force of each from a local model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

import kane
from kane.realtime import Coupler, Human, Replay, Session, SimulatedDevice, Touch, stiffness_limit

RATE, DAMPING = 1000.0, 0.4
NEAR = 0.01  # asked of the stiffness at which a device becomes unstable, relative to that of its difference equation


DRIFT = 1e-7
"""Rounding of the largest eigenvalue: a sled and a device that drift away together have a double one."""


def sled(mass: float = 2.0) -> kane.Model:
    m = kane.Model("sled")
    m.body("sled", mass=mass)
    m.joint("slide", "prismatic", "ground", "sled", axis="x", coordinates=["x"], speeds=["v"])
    return m


def led(model: kane.Model, axis: str, **options: object) -> Session:
    """Two seconds of a hand that swings."""
    device = SimulatedDevice(0.3, 3.0, human=Human("0.05*sin(6*t)", damping=2.0, stiffness=50.0))
    return Touch(model, device, Coupler((axis,), 1500.0, 0.4), real_time=False, **options).run(2.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("ticks", [1, 2, 5])
def test_forces_are_those_of_a_local_model(ticks: int) -> None:
    """F = K (p + h v⁺ − x) + B (v⁺ − w) in all ticks of a step from p on, which the sled ends with v⁺; w is the mean
    velocity of the device in the step before."""
    found = led(sled(), "x", ticks_per_step=ticks)
    T, x, v = 1.0 / RATE, found.position[:, 0], found.u[:, 0]
    for step in range(1, len(x) // ticks):
        first = step * ticks
        p, w = found.q[first - 1, 0], (x[first] - x[first - ticks]) / (ticks * T)
        for i in range(ticks):
            force = 1500.0 * (p + ticks * T * v[first] - x[first + i]) + 0.4 * (v[first] - w)
            assert found.force[first + i, 0] == pytest.approx(force, abs=1e-9)
    assert np.allclose(found.t, T * np.arange(1, len(x) + 1), rtol=0, atol=1e-12)


def test_the_model_meets_the_spring_where_the_device_is_on_average() -> None:
    """After (k + 1)/(2 k) of its step, so that what moves along with the device is not held back."""
    found = led(sled(), "x", ticks_per_step=5)
    x, v, h = found.position[::5, 0], found.u[::5, 0], 5.0 / RATE
    p, w = found.q[4:-5:5, 0], np.diff(x) / h
    pulled = -1500.0 * (p + 0.6 * h * v[1:] - x[1:]) - 0.4 * (v[1:] - w)
    np.testing.assert_allclose(2.0 * np.diff(v), h * pulled, rtol=0, atol=1e-12)


def test_motions_of_several_ticks_tend_to_that_of_one() -> None:
    m = kane.load("pendulum")
    fine = led(m, "q", rate=16000).q[15::16, 0]
    away = [np.abs(led(m, "q", rate=1000 * k, ticks_per_step=k).q[k - 1 :: k, 0] - fine).max() for k in (1, 4)]
    assert away[1] < 1.5 * away[0] < 0.02 * np.ptp(fine)  # both have steps of 1 ms


def difference_equation(stiffness: float, mass: float, device: float, ticks: int) -> np.ndarray:
    """What a step does to place and speed of a sled and of the device, whose damping acts in continuous time."""
    T, h = 1.0 / RATE, ticks / RATE
    moves = expm(T * np.array([[0, 1, 0], [0, -DAMPING / device, 1 / device], [0, 0, 0]]))
    columns: list[list[float]] = []
    for p, v, x, w in np.eye(4):
        share = (ticks + 1) / (2 * ticks)
        after = (mass * v - h * stiffness * (p - x)) / (mass + share * h * h * stiffness)
        place, speed = x, w
        for _ in range(ticks):
            force = stiffness * (p + h * after - place)
            place, speed, _ = moves @ (place, speed, force)
        columns.append([p + 0.5 * h * (v + after), after, place, speed])
    return np.array(columns).T


def critical(mass: float, device: float, ticks: int) -> float:
    """The stiffness at which the difference equation becomes unstable."""
    low, high = 1.0, 1e6
    while high > (1 + 1e-6) * low:
        middle = math.sqrt(low * high)
        radius = np.abs(np.linalg.eigvals(difference_equation(middle, mass, device, ticks))).max()
        low, high = (middle, high) if radius <= 1 + DRIFT else (low, middle)
    return low


@pytest.mark.parametrize("ticks", [2, 8])
def test_below_the_limit_no_mass_is_unstable(ticks: int) -> None:
    """And the limit is what is needed, for a device of 3 kg on a model that nobody moves."""
    limit = stiffness_limit(DAMPING, RATE)
    found = [critical(m, d, ticks) / limit for m in (1e-6, 1e-3, 0.1, 1.0, 1e4) for d in (0.003, 0.1, 3.0)]
    assert 1 - 1e-3 < min(found) < 1 + 1e-2


@pytest.mark.parametrize("ticks", [2, 5])
def test_the_loop_becomes_unstable_where_its_difference_equation_does(ticks: int) -> None:
    mass, device = 0.3, 0.2
    stiffness = critical(mass, device, ticks)
    assert stiffness > stiffness_limit(DAMPING, RATE)
    for share, grows in ((1 - NEAR, False), (1 + NEAR, True)):
        simulated = SimulatedDevice(mass=device, damping=DAMPING, start=(1e-3,))
        coupler = Coupler(("x",), share * stiffness)
        loop = Touch(sled(mass), simulated, coupler, ticks_per_step=ticks, real_time=False, active=True)
        apart = loop.run(60.0)
        s = np.abs(apart.position[:, 0] - apart.place[:, 0])
        assert bool(s[-6000:].max() > s[6000:12000].max()) == grows


def test_a_recording_plays_again_to_the_bit_and_looking_ahead_changes_none() -> None:
    m = kane.load("piano-key")
    finger = Human("0.03 - 0.03*sin(12*t)", mass=1e-3, damping=0.05, stiffness=5)
    device, options = SimulatedDevice(1e-3, 0.02, human=finger), {"ticks_per_step": 3, "real_time": False}
    plain, ahead = (Touch(m, device, ("k",), look_ahead=looks, **options).run(2.0) for looks in (False, True))
    again = Touch(m, Replay(plain.position, damping=0.02), plain.coupler, **options).run(2.0)
    assert plain.timing.changes > 20 and ahead.timing.foreseen == plain.timing.changes
    for other in (ahead, again):
        assert np.array_equal(plain.q, other.q) and np.array_equal(plain.force, other.force)


def test_what_contradicts_is_refused() -> None:
    for steps, ticks, match in ((2, 3, "one of them is 1"), (1, 0, "1 … 1000"), (1, True, "1 … 1000")):
        with pytest.raises(kane.InputError, match=match):
            Touch(sled(), SimulatedDevice(damping=1.0), ("x",), steps=steps, ticks_per_step=ticks)
