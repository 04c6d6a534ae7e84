"""A walker without drives: its periodic gaits by Newton's method on the return map, against equations of its own and
the published gaits of the simplest walker [GCRC98, BHO14]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kane

GAIT = 1e-9  # rad, rad/s, s: both sides integrate
MULTIPLIER = 1e-5  # central differences of 1e-5 on both sides
APART = 0.2  # rad, between the legs where a foot strikes

Map = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""(angle and rate of the leg that stands, rate of the other) after a step, and how long it took."""


@dataclass(frozen=True)
class Walker:
    """Goswami's equations, angles from the normal of the slope, positive where the foot is behind the hip."""

    a: float
    b: float
    m: float
    hip: float
    slope: float
    g: float

    def mass(self, s: float, n: float) -> np.ndarray:
        length, both = self.a + self.b, -self.m * (self.a + self.b) * self.b * math.cos(s - n)
        return np.array([[(self.hip + self.m) * length**2 + self.m * self.a**2, both], [both, self.m * self.b**2]])

    def flow(self, _: float, y: np.ndarray) -> np.ndarray:
        s, n, ds, dn = y
        length = self.a + self.b
        turn = self.m * length * self.b * math.sin(s - n)
        stands = (self.hip * length + self.m * (self.a + length)) * self.g * math.sin(s + self.slope)
        swings = -self.m * self.b * self.g * math.sin(n + self.slope)
        right = np.array([stands + turn * dn**2, swings - turn * ds**2])
        return np.concatenate([y[2:], np.linalg.solve(self.mass(s, n), right)])

    def moments(self, s: float, n: float, ds: float, dn: float) -> np.ndarray:
        """Angular momentum about the foot of leg n, and of leg s about the hip; foot of leg s at rest."""
        length = self.a + self.b

        def along(q: float) -> np.ndarray:
            return np.array([math.sin(q), math.cos(q)])

        def across(q: float) -> np.ndarray:
            return np.array([math.cos(q), -math.sin(q)])

        hip, v_hip = length * along(s), length * across(s) * ds
        foot = hip - length * along(n)
        bodies = [
            (self.hip, hip, v_hip),
            (self.m, self.a * along(s), self.a * across(s) * ds),
            (self.m, hip - self.b * along(n), v_hip - self.b * across(n) * dn),
        ]

        def moment(mass: float, arm: np.ndarray, v: np.ndarray) -> float:
            return mass * (arm[1] * v[0] - arm[0] * v[1])

        return np.array(
            [sum(moment(m, r - foot, v) for m, r, v in bodies), moment(bodies[1][0], bodies[1][1] - hip, bodies[1][2])]
        )

    def strike(self, s: float, n: float, ds: float, dn: float) -> np.ndarray:
        """Rates of leg n, which stands now, and of leg s: the impulse at the foot of n changes no moment."""
        wanted = self.moments(s, n, ds, dn)
        of_hip, of_leg = self.mass(n, s)
        return np.linalg.solve([of_hip + of_leg, of_leg], wanted)

    def step(self, start: np.ndarray) -> tuple[np.ndarray, float]:
        def strikes(_: float, y: np.ndarray) -> float:
            return math.cos(y[0]) - math.cos(y[1]) if y[0] - y[1] > APART else 1.0

        strikes.terminal, strikes.direction = True, -1  # type: ignore[attr-defined]
        s, ds, dn = start
        found = solve_ivp(
            self.flow, (0.0, 10.0), [s, -s, ds, dn], "DOP853", events=strikes, rtol=1e-12, atol=1e-13, max_step=0.05
        )
        s, n, ds, dn = found.y[:, -1]
        return np.array([n, *self.strike(s, n, ds, dn)]), found.t[-1]


def model_of(walker: Walker) -> kane.Model:
    model = kane.load("compass-walker")
    values = {"a": walker.a, "b": walker.b, "m": walker.m, "mH": walker.hip, "slope": walker.slope, "g": walker.g}
    model.set_parameters(**values)
    return model


def step_of(model: kane.Model, length: float = 1.0) -> Map:
    """The same step, simulated with the model."""

    def step(start: np.ndarray) -> tuple[np.ndarray, float]:
        s, ds, dn = start
        q = [length * math.sin(s), length * math.cos(s), s, -s]
        u = [length * math.cos(s) * ds, -length * math.sin(s) * ds, ds, dn]
        run = model.simulate(6.0, q=q, u=u, rtol=1e-12, atol=1e-13)
        assert run.outcome.success, run.outcome
        strike = next(x for x in run.transitions if x.cause == "imposed")
        (at,) = np.flatnonzero(run.t == strike.t)[-1:]
        return np.array([run.q[at, 3], strike.u_after[3], strike.u_after[2]]), strike.t

    return step


def slope_of(step: Map, start: np.ndarray, h: float = 1e-5) -> np.ndarray:
    return np.array([(step(start + d)[0] - step(start - d)[0]) / (2 * h) for d in h * np.eye(3)]).T


def periodic(step: Map, guess: list[float]) -> tuple[np.ndarray, float]:
    """The state after a strike that comes back after a step, by Newton's method, and the period."""
    x, time = np.array(guess), 0.0
    for _ in range(8):
        after, time = step(x)
        if np.abs(after - x).max() < 1e-12:
            break
        x = x - np.linalg.solve(slope_of(step, x) - np.eye(3), after - x)
    return x, time


def multipliers(step: Map, x: np.ndarray) -> np.ndarray:
    found = np.linalg.eigvals(slope_of(step, x))
    return found[np.lexsort((found.imag, found.real))]


COMPASS = Walker(0.5, 0.5, 5.0, 10.0, math.radians(3), 9.81)
START = [-0.271, 1.092, 0.377]


def test_the_walker_has_the_periodic_gait_of_its_own_equations_and_it_is_stable() -> None:
    """On 3°: a step takes 0.734 s [GTE98]; Floquet multipliers are within the unit circle."""
    expected, period = periodic(COMPASS.step, START)
    step = step_of(model_of(COMPASS))
    found, time = periodic(step, START)
    assert found == pytest.approx(expected, abs=GAIT) and time == pytest.approx(period, abs=GAIT)
    assert time == pytest.approx(0.734, abs=1e-3)
    values = multipliers(step, found)
    assert values == pytest.approx(multipliers(COMPASS.step, expected), abs=MULTIPLIER)
    assert np.abs(values).max() < 1.0


PUBLISHED = [
    (0.200310900563820, -0.199832473025474, -0.015822999949030, 3.882, True),
    (0.193937369810188, -0.203866927442012, -0.015144260853193, 3.096, False),
]
"""[BHO14], slope 0.009: angle and rate of the leg that stands, of the angle between the legs, period, stability."""
FOOT = 1e-5  # mass of a foot beside that of the hip; the published gaits are the limit 0
DIGITS = 1e-9  # of what two such masses are extrapolated to


@pytest.mark.parametrize(("angle", "rate", "between", "period", "stable"), PUBLISHED, ids=["long", "short"])
def test_the_simplest_walker_has_its_two_published_gaits(
    angle: float, rate: float, between: float, period: float, stable: bool
) -> None:
    guess = [-round(angle, 4), -round(rate, 4), round(between - rate, 4)]
    steps = [step_of(model_of(Walker(0.0, 1.0, foot, 1.0, 0.009, 1.0))) for foot in (FOOT, 2 * FOOT)]
    (once, time), (twice, later) = (periodic(step, guess) for step in steps)
    assert 2 * once - twice == pytest.approx([-angle, -rate, between - rate], abs=DIGITS)
    assert 2 * time - later == pytest.approx(period, abs=6e-4)
    assert (np.abs(multipliers(steps[0], once)).max() < 1.0) == stable


def test_the_walker_goes_on_walking_and_every_foot_presses() -> None:
    """The gait is reached from the start of the file; an impact takes m g sin γ · 2 l sin s."""
    model = kane.load("compass-walker")
    run = model.simulate(12.0)
    assert run.outcome.success and run.check().passed
    strikes = [x for x in run.transitions if x.cause == "imposed"]
    assert len(strikes) == 16
    gait, period = periodic(COMPASS.step, START)
    assert np.diff([x.t for x in strikes])[-2:] == pytest.approx([period] * 2, abs=1e-4)
    given = 20.0 * 9.81 * math.sin(COMPASS.slope) * 2.0 * math.sin(-gait[0])
    assert strikes[-1].energy_change == pytest.approx(-given, rel=1e-4)
    rows = [row for part in model.changing.values() for row in part.row_names()]
    for foot in ("foot 1", "foot 2"):
        pressing = run.multipliers[:, rows.index(f"{foot}.2")]
        assert pressing.max() > 100.0 and pressing.min() > -1e-6
