"""How stiff a coupler may be, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.realtime import Coupler, SimulatedDevice, Touch, explicit_mass, stiffness_limit

RATE = 1000.0
BOUND = 0.01  # asked of the stiffness at which a sampled device becomes unstable, relative to the passivity bound


def wall(mass: float = 1e9) -> kane.Model:
    """A body that slides along x, by default so heavy that nobody moves it."""
    m = kane.Model("wall")
    m.body("wall", mass=mass)
    m.joint("slide", "prismatic", "ground", "wall", axis="x", coordinates=["x"], speeds=["v"])
    return m


def grows(stiffness: float, damping: float, coupler_damping: float = 0.0, delay: int = 0) -> bool:
    """Whether a device that is let go a millimetre away from a wall swings ever wider."""
    device = SimulatedDevice(mass=0.2, damping=damping, start=(1e-3,), delay=delay)
    coupler = Coupler(("x",), stiffness, coupler_damping)
    session = Touch(wall(), device, coupler, real_time=False, active=True).run(100.0)
    x = np.abs(session.position[:, 0])
    quarter = len(x) // 4
    return bool(x[-quarter:].max() > x[quarter : 2 * quarter].max())


@pytest.mark.parametrize("delay", [1, 5])
def test_a_force_that_comes_later_makes_the_limit_lower(delay: int) -> None:
    limit = stiffness_limit(0.4, RATE, delay=delay / RATE)
    assert limit == pytest.approx(stiffness_limit(0.4, RATE) / (1 + 2 * delay))
    assert not grows((1.0 - BOUND) * limit, 0.4, delay=delay)
    assert grows((1.0 + BOUND) * limit, 0.4, delay=delay)
    with pytest.raises(kane.InputError, match=r"/ \(T \+ 2 delay\) = "):
        Touch(wall(), SimulatedDevice(damping=0.4, delay=delay), Coupler(("x",), 1.01 * limit))


@pytest.mark.parametrize("coupler_damping", [0.0, 0.1])
def test_a_sampled_wall_becomes_unstable_where_passivity_ends(coupler_damping: float) -> None:
    limit = stiffness_limit(0.4, RATE, coupler_damping)
    if coupler_damping:  # a damper that is sampled helps a device that is alone; passivity is for any hand
        assert not grows(limit, 0.4, coupler_damping)
        return
    low, high = 0.5 * limit, 2.0 * limit
    while high - low > 1e-3 * limit:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle, 0.4) else (middle, high)
    assert abs(low / limit - 1.0) < BOUND


def test_an_explicit_coupler_needs_the_mass_that_is_told() -> None:
    stiffness, damping, h = 800.0, 0.7, 1.0 / RATE
    least = explicit_mass(stiffness, damping, RATE)
    for share, stable in ((1.001, True), (0.999, False)):
        m = share * least
        v = np.array([-h * stiffness / m, 1.0 - h * damping / m])  # v⁺ = v − h (K x + B v) / m, x⁺ = x + h v⁺
        step = np.array([[1.0, 0.0] + h * v, v])
        assert (np.abs(np.linalg.eigvals(step)).max() <= 1.0) == stable


def test_a_mass_far_below_that_stays_with_the_device() -> None:
    stiffness = 0.9 * stiffness_limit(1.0, RATE)
    light = 1e-6 * explicit_mass(stiffness, 0.0, RATE)
    device = SimulatedDevice(damping=1.0, start=(0.01,))
    found = Touch(wall(light), device, Coupler(("x",), stiffness), real_time=False).run(0.1)
    assert abs(found.place[-1, 0] - found.position[-1, 0]) < 1e-9
    assert np.abs(found.place).max() < 0.015  # the spring and the mass of the coupler itself overshoot once


def test_a_coupler_that_is_too_stiff_is_refused_with_the_figures() -> None:
    with pytest.raises(kane.InputError, match=r"2 \(b − B\) / T = 1600"):
        Touch(wall(), SimulatedDevice(damping=1.0), Coupler(("x",), 1601.0, 0.2))


def test_a_tuned_coupler_is_within_the_limit() -> None:
    loop = Touch(wall(2.0), SimulatedDevice(damping=3.0), ("x",), real_time=False)
    (k,), (b,) = loop.coupler.stiffnesses(), loop.coupler.dampings()
    assert 0.5 * stiffness_limit(3.0, RATE) < k < stiffness_limit(3.0, RATE, b)
    assert b == pytest.approx(min(0.75, 2 * (2.0 * k) ** 0.5))


@pytest.mark.parametrize(
    ("axes", "stiffness", "words"),
    [
        ((), 1.0, "one to six axes"),
        (("x",), float("nan"), "stiffness = nan"),
        (("x",), -1.0, "≥ 0"),
        (("x",), (1.0, 2.0), "one for each of 1 axes"),
    ],
)
def test_what_is_no_coupler_is_refused(axes: tuple[str, ...], stiffness: float, words: str) -> None:
    with pytest.raises(kane.InputError, match=words):
        Coupler(axes, stiffness)


def test_an_axis_that_the_model_does_not_have_is_named() -> None:
    with pytest.raises(kane.ModelError, match="unknown"):
        Touch(wall(), SimulatedDevice(), ("nowhere",))
