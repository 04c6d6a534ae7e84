"""A slider-crank with clearance in its guide [FLG10]: impacts, and the limit of no clearance."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kane

TIMES = 1e-10  # s
CORNERS = {"upper rear": (-1, 1), "upper front": (1, 1), "lower rear": (-1, -1), "lower front": (1, -1)}
TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-14}


def values(**changed: float) -> tuple[kane.Model, SimpleNamespace]:
    model = kane.load("slider-crank-clearance")
    model.set_parameters(**changed)
    return model, SimpleNamespace(**{name: parameter.value for name, parameter in model.parameters.items()})


class Free:
    """The double pendulum of crank and rod with the slider at its end, which turns by itself; angles are from x."""

    def __init__(self, p: SimpleNamespace):
        self.p = p
        self.both = (p.m2 / 2 + p.m3) * p.l1 * p.l2

    def mass(self, q: np.ndarray) -> np.ndarray:
        p, both = self.p, self.both * math.cos(q[0] - q[1])
        crank = p.J1 + p.m1 * p.l1**2 / 4 + (p.m2 + p.m3) * p.l1**2
        rod = p.J2 + p.m2 * p.l2**2 / 4 + p.m3 * p.l2**2
        return np.array([[crank, both, 0], [both, rod, 0], [0, 0, p.J3]])

    def flow(self, _: float, y: np.ndarray) -> np.ndarray:
        p, (q1, q2, _), (w1, w2, _) = self.p, y[:3], y[3:]
        turn = self.both * math.sin(q1 - q2)
        crank = -turn * w2**2 - p.g * (p.m1 / 2 + p.m2 + p.m3) * p.l1 * math.cos(q1)
        rod = turn * w1**2 - p.g * (p.m2 / 2 + p.m3) * p.l2 * math.cos(q2)
        return np.concatenate([y[3:], np.linalg.solve(self.mass(y[:3]), [crank, rod, 0])])

    def gap(self, q: np.ndarray, corner: str) -> float:
        p, (x, side) = self.p, CORNERS[corner]
        height = p.l1 * math.sin(q[0]) + p.l2 * math.sin(q[1])
        height += x * p.a * math.sin(q[2]) + side * p.b * math.cos(q[2])
        return p.b + p.c - side * height

    def strike(self, y: np.ndarray, corner: str) -> np.ndarray:
        p, (x, side) = self.p, CORNERS[corner]
        slider = x * p.a * math.cos(y[2]) - side * p.b * math.sin(y[2])
        row = -side * np.array([p.l1 * math.cos(y[0]), p.l2 * math.cos(y[1]), slider])
        push = np.linalg.solve(self.mass(y[:3]), row)
        return np.concatenate([y[:3], y[3:] - (1 + p.e) * (row @ y[3:]) / (row @ push) * push])

    def impacts(self, w: list[float], count: int) -> list[tuple[float, str, np.ndarray]]:
        """(time, corner, speeds afterwards) of the first impacts, without friction."""
        y, t, found = np.array([0.0, 0.0, 0.0, *w]), 0.0, []
        while len(found) < count:
            events = []
            for corner in CORNERS:

                def closes(_: float, y: np.ndarray, corner: str = corner) -> float:
                    return self.gap(y[:3], corner)

                closes.terminal, closes.direction = True, -1  # type: ignore[attr-defined]
                events.append(closes)
            run = solve_ivp(self.flow, (t, t + 1.0), y, "DOP853", events=events, max_step=1e-4, **TIGHT)
            struck = next(c for c, times in zip(CORNERS, run.t_events or (), strict=True) if len(times))
            t, y = run.t[-1], self.strike(run.y[:, -1], struck)
            found.append((t, struck, y[3:]))
        return found


def test_corners_strike_where_their_own_equations_have_it() -> None:
    """A slider that starts with a turn strikes with one corner after another, without friction."""
    model, p = values(mu=0.0, e=0.4)
    start = [150.0, -75.0, 40.0]
    run = model.simulate(0.012, u=start, rtol=1e-12, atol=1e-14)
    found = [x for x in run.transitions if x.cause == "impact"][:8]
    expected = Free(p).impacts(start, 8)
    assert [x.constraints for x in found] == [(corner,) for _, corner, _ in expected]
    assert len({corner for _, corner, _ in expected}) == 2
    assert [x.t for x in found] == pytest.approx([t for t, *_ in expected], abs=TIMES)
    for impact, (*_, w) in zip(found, expected, strict=True):
        assert impact.u_after == pytest.approx(w, rel=1e-8, abs=1e-7)


def ideal_crank(p: SimpleNamespace, time: float, w: float) -> tuple[float, float]:
    """Angle and speed of the crank without clearance, by its energy: ½ I(θ) θ'² + V(θ) is constant."""
    free = Free(p)

    def energy(theta: float, w: float) -> float:
        rod = -math.asin(p.l1 / p.l2 * math.sin(theta))
        speeds = np.array([w, -w * p.l1 * math.cos(theta) / (p.l2 * math.cos(rod)), 0.0])
        kinetic = speeds @ free.mass(np.array([theta, rod, 0.0])) @ speeds / 2
        height = p.m1 * p.l1 / 2 * math.sin(theta) + p.m2 * (p.l1 * math.sin(theta) + p.l2 / 2 * math.sin(rod))
        return kinetic + p.g * height

    total = energy(0.0, w)

    def rate(theta: float) -> float:
        still = energy(theta, 0.0)
        return math.sqrt((total - still) / (energy(theta, 1.0) - still))

    run = solve_ivp(lambda _, y: [rate(y[0])], (0.0, time), [0.0], "DOP853", **TIGHT)
    return run.y[0, -1], rate(run.y[0, -1])


@pytest.mark.parametrize("time", [0.03, 0.1])
def test_without_clearance_it_is_a_slider_crank(time: float) -> None:
    """Places are wrong by c. Where the force on the slider changes its side, the gap opens with t³: it strikes with
    c^(2/3) and loses c^(4/3) of energy: the error falls with a power between 1 and 4/3 of the clearance."""
    errors = []
    for c in (1e-4, 1e-5, 1e-6):
        model, p = values(mu=0.0, e=0.0, c=c)
        run = model.simulate(time)
        assert run.outcome.success
        theta, w = ideal_crank(p, time, 150.0)
        errors.append([run.q[-1, 0] - theta, run.u[-1, 0] - w])
    assert np.abs(errors[-1]) == pytest.approx([0, 0], abs=2e-2 * time)
    powers = -np.diff(np.log10(np.abs(errors)), axis=0)
    assert (powers > 0.99).all() and (powers < 4 / 3 + 0.01).all()


def test_the_slider_of_the_paper_loses_energy_in_impacts_and_friction_alone() -> None:
    model, p = values()
    run = model.simulate(0.1)
    assert run.outcome.success
    report = run.check()
    assert report.passed, report
    height = p.l1 * np.sin(run.q[:, 0]) + p.l2 * np.sin(run.q[:, 0] + run.q[:, 1])
    assert np.abs(height).max() == pytest.approx(p.c, rel=1e-9)  # it uses all of its clearance
    lost = -sum(x.energy_change for x in run.transitions)
    energy = run.energy()
    total = energy.kinetic + energy.potential
    assert 0.0 < lost < total[0] - total[-1]
