"""The woodpecker toy [GLO95, LGC01]: its periodic motion against the phases of a period solved one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kane

TIMES = 1e-9  # s
PUBLISHED = {"phiS": -0.2788, "v": -0.3411, "wS": -7.4583}
"""A state of the periodic motion while the lower edge slides, as printed for a stepping scheme."""
PRINTED = 5e-3  # relative

P = {name: parameter.value for name, parameter in kane.load("woodpecker").parameters.items()}
BEAK, LOWER, UPPER = range(3)


def matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, normal rows and rows along the pole of beak, lower and upper edge [LGC01]."""
    mM, mS, lM, lG = P["mM"], P["mS"], P["lM"], P["lG"]
    mass = np.array(
        [
            [mM + mS, mS * lM, mS * lG],
            [mS * lM, P["JM"] + mS * lM**2, mS * lM * lG],
            [mS * lG, mS * lM * lG, P["JS"] + mS * lG**2],
        ]
    )
    normal = np.array([[0, 0, -P["hS"]], [0, P["hM"], 0], [0, -P["hM"], 0]])
    along = np.array([[1, lM, lG - P["lS"]], [1, P["rM"], 0], [1, P["rM"], 0]])
    return mass, normal, along


M, NORMAL, ALONG = matrices()
PLAY = np.array([P["lM"] + P["lG"] - P["lS"] - P["r0"], P["rM"] - P["r0"], P["rM"] - P["r0"]])


def forces(q: np.ndarray) -> np.ndarray:
    spring, weight = P["c"] * (q[1] - q[2]), P["mS"] * P["g"]
    return np.array([-(P["mM"] + P["mS"]) * P["g"], -spring - weight * P["lM"], spring - weight * P["lG"]])


def reactions(q: np.ndarray, rows: np.ndarray, pushes: np.ndarray) -> np.ndarray:
    """What keeps rows · u constant, along `pushes`."""
    return np.linalg.solve(rows @ np.linalg.solve(M, pushes.T), -rows @ np.linalg.solve(M, forces(q)))


class Phase:
    """A stretch in which `contact` is open (None), slips with the sign given, or sticks (0)."""

    def __init__(self, contact: int | None = None, slip: int = 0):
        self.rows = self.pushes = np.zeros((0, 3))
        if contact is not None and slip:
            self.rows = NORMAL[[contact]]
            self.pushes = NORMAL[[contact]] - slip * P["mu"] * ALONG[[contact]]
        elif contact is not None:
            self.rows = self.pushes = np.array([NORMAL[contact], ALONG[contact]])

    def reactions(self, q: np.ndarray) -> np.ndarray:
        return reactions(q, self.rows, self.pushes)

    def run(self, y: np.ndarray, ends: Callable[[np.ndarray], float], ahead: float) -> tuple[np.ndarray, float]:
        """The state where `ends` falls through zero, not within `ahead` (s), and how long it took."""

        def flow(_: float, y: np.ndarray) -> np.ndarray:
            total = forces(y[:3])
            if len(self.rows):
                total = total + self.pushes.T @ self.reactions(y[:3])
            return np.concatenate([y[3:], np.linalg.solve(M, total)])

        def end(_: float, y: np.ndarray) -> float:
            return ends(y)

        end.terminal, end.direction = True, -1  # type: ignore[attr-defined]
        tight: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-14, "max_step": 1e-3}
        before = solve_ivp(flow, (0.0, ahead), y, "DOP853", **tight)
        found = solve_ivp(flow, (ahead, 1.0), before.y[:, -1], "DOP853", events=end, **tight)
        return found.y[:, -1], found.t[-1]


def strike(y: np.ndarray, contact: int, e: float = 0.0) -> np.ndarray:
    """Poisson's law for one contact with friction: compression until the approach ends, then e times its impulse."""
    normal, along = NORMAL[contact], ALONG[contact]
    W = np.array([normal, along]) @ np.linalg.solve(M, np.array([normal, along]).T)
    v = np.array([normal, along]) @ y[3:]
    compressed = np.linalg.solve(W, -v)
    if abs(compressed[1]) > P["mu"] * compressed[0]:  # it slips in the end, to the side that friction is against
        slips = [np.array([1.0, r]) * -v[0] / (W[0, 0] + r * W[0, 1]) for r in (-P["mu"], P["mu"])]
        (compressed,) = (x for x in slips if x[0] > 0 and (v + W @ x)[1] * x[1] < 0)
    v = v + W @ compressed
    back = e * compressed[0]
    friction = -(v[1] + W[1, 0] * back) / W[1, 1]
    friction = max(-P["mu"] * back, min(P["mu"] * back, friction))
    impulse = compressed + np.array([back, friction])
    return np.concatenate([y[:3], y[3:] + np.linalg.solve(M, normal * impulse[0] + along * impulse[1])])


def gap(contact: int) -> Callable[[np.ndarray], float]:
    return lambda y: PLAY[contact] + NORMAL[contact] @ y[:3]


Mark = tuple[str, float, np.ndarray]


def period(speed: float) -> list[Mark]:
    """(cause, time, speeds afterwards) of the changes of a period, which starts where the lower edge, held by friction,
    begins to slip, and the bird swings back with this angular velocity."""
    sticks = Phase(LOWER)
    low = -PLAY[LOWER] / P["hM"]

    def left(phi: float) -> float:
        normal, along = sticks.reactions(np.array([0.0, low, phi]))
        return P["mu"] * normal - abs(along)

    # the slip begins where what friction has left is used up, on the way up
    y = np.array([0.0, low, brentq(left, -1.0, 0.5, xtol=1e-15), 0.0, 0.0, speed])
    t, marks = 0.0, []

    def then(phase: Phase, until: Callable[[np.ndarray], float], cause: str, ahead: float = 1e-5) -> None:
        nonlocal y, t
        y, took = phase.run(y, until, ahead)
        t += took
        if cause.startswith("impact"):
            contact = {"beak": BEAK, "lower": LOWER, "upper": UPPER}[cause.split()[1]]
            y = strike(y, contact, P["e"] if contact == BEAK else 0.0)
        marks.append((cause, t, y[3:].copy()))

    slides, held = Phase(LOWER, -1), Phase(UPPER, 1)
    then(slides, lambda y: slides.reactions(y[:3])[0], "release lower")
    then(Phase(), gap(UPPER), "impact upper", 1e-3)
    then(Phase(), gap(BEAK), "impact beak")
    then(Phase(), gap(UPPER), "impact upper")
    then(held, lambda y: held.reactions(y[:3])[0], "release upper")
    then(Phase(), gap(LOWER), "impact lower", 1e-3)
    then(Phase(), gap(LOWER), "impact lower", 1e-4)
    then(slides, lambda y: -(ALONG[LOWER] @ y[3:]), "stick lower")
    then(sticks, lambda y: left(y[2]), "slip lower", 1e-2)
    return marks


def causes(run: kane.Trajectory, start: int) -> list[Mark]:
    first = run.transitions[start]
    return [(f"{x.cause} {' '.join(x.constraints)}", x.t - first.t, x.u_after) for x in run.transitions[start + 1 :]]


def test_every_change_of_a_period_is_where_its_own_equations_have_it() -> None:
    run = kane.load("woodpecker").simulate(0.3, rtol=1e-12, atol=1e-14)
    assert run.outcome.success and run.check().passed
    start = next(k for k, x in enumerate(run.transitions) if x.cause == "slip")
    expected = period(run.transitions[start].u_after[2])
    found = causes(run, start)[: len(expected)]
    assert [x[0] for x in found] == [x[0] for x in expected]
    assert [x[1] for x in found] == pytest.approx([x[1] for x in expected], abs=TIMES)
    for (*_, speeds), (*_, own) in zip(found, expected, strict=True):
        assert speeds == pytest.approx(own, rel=1e-6, abs=1e-6)


def fixed(map_: Callable[[float], float], guess: Sequence[float]) -> float:
    """Fixed point of a map of one number, by the secant method."""
    a, b = guess
    fa, fb = map_(a) - a, map_(b) - b
    while abs(b - a) > 1e-11 * abs(b):
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = map_(b) - b
    return b


def test_the_bird_pecks_periodically_through_the_published_state() -> None:
    """The return map is one of one number, since the slip begins at one angle of the bird; its slope is −0.84. While
    the lower edge slides, before it sticks, the bird passes the printed angle with the printed speeds."""
    speed = fixed(lambda w: period(w)[-1][2][2], (17.57, 17.58))
    around = [period(speed * (1 + d))[-1][2][2] for d in (-1e-4, 1e-4)]
    slope = (around[1] - around[0]) / (2e-4 * speed)
    assert -1.0 < slope < 0.0
    run = kane.load("woodpecker").simulate(4.0)
    slips = [x for x in run.transitions if x.cause == "slip"]
    assert slips[-1].u_after[2] == pytest.approx(speed, rel=1e-4)
    assert slips[-1].t - slips[-2].t == pytest.approx(period(speed)[-1][1], rel=1e-4)
    errors = [x.u_after[2] - speed for x in slips[:5]]
    assert errors[3] / errors[2] == pytest.approx(slope, abs=0.02)
    times = np.linspace(slips[-2].t, slips[-1].t, 20001)
    dense = kane.load("woodpecker").simulate(np.concatenate([[0.0], times]))
    k = np.flatnonzero((dense.q[:, 2] < PUBLISHED["phiS"]) & (dense.u[:, 2] < 0.0) & (dense.t > times[0]))[0]
    assert dense.u[k, 0] == pytest.approx(PUBLISHED["v"], rel=PRINTED)
    assert dense.u[k, 1] == pytest.approx(0.0, abs=1e-9)
    assert dense.u[k, 2] == pytest.approx(PUBLISHED["wS"], rel=PRINTED)
