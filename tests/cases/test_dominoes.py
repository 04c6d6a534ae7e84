"""A row of dominoes against its own equations, solved with SciPy [VL10]: none rebounds, each leans on the next."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kane

TIMES = 1e-9  # s, of hits, after integration on both sides
ENERGY = 1e-8  # relative, lost in hits


class Train:
    """Dominoes 1 … n that lean on each other; contact k is that of domino k with k + 1.

    With φ = θ_k − θ_k+1 and L = d + s the gap is L cos θ_k+1 − d − h sin φ; the edge is h cos φ − L sin θ_k+1 up
    the side that it slides down.
    """

    def __init__(self, p: SimpleNamespace):
        self.p = p
        self.L = p.d + p.s
        self.J = p.m * (p.h**2 + p.d**2) / 3

    def gap(self, a: float, b: float) -> float:
        return self.L * math.cos(b) - self.p.d - self.p.h * math.sin(a - b)

    def rows(self, q: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Rates of the gaps and of the heights of the edges, per rate of the angles."""
        normal, along = np.zeros((count, len(q))), np.zeros((count, len(q)))
        for k in range(count):
            h, (a, b) = self.p.h, q[k : k + 2]
            normal[k, k : k + 2] = -h * math.cos(a - b), h * math.cos(a - b) - self.L * math.sin(b)
            along[k, k : k + 2] = -h * math.sin(a - b), h * math.sin(a - b) - self.L * math.cos(b)
        return normal, along

    def pushes(self, q: np.ndarray, u: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(normal, directions of the forces on the angles): friction is against the slip of the edge."""
        normal, along = self.rows(q, count)
        return normal, normal - self.p.mu * np.sign(along @ u)[:, None] * along

    def accelerate(self, q: np.ndarray, u: np.ndarray, count: int) -> np.ndarray:
        p = self.p
        weight = p.m * p.g * (p.h * np.sin(q) - p.d * np.cos(q)) / 2
        normal, force = self.pushes(q, u, count)
        curve = np.zeros(count)
        for k in range(count):
            (a, b), (ua, ub) = q[k : k + 2], u[k : k + 2]
            curve[k] = p.h * math.sin(a - b) * (ua - ub) ** 2 - self.L * math.cos(b) * ub**2
        pressed = np.linalg.solve(normal @ force.T / self.J, -curve - normal @ weight / self.J)
        return (weight + force.T @ pressed) / self.J

    def topple(self, dominoes: int) -> tuple[list[float], list[float]]:
        """Times of the hits, and the energy that is lost in each."""
        t, q, u = 0.0, np.array([0.0]), np.array([self.p.push])
        times, losses = [], []
        while len(q) < dominoes:
            n = len(q)

            def flow(_: float, y: np.ndarray, n: int = n) -> np.ndarray:
                return np.concatenate([y[n:], self.accelerate(y[:n], y[n:], n - 1)])

            def strikes(_: float, y: np.ndarray, n: int = n) -> float:
                return self.gap(y[n - 1], 0.0)

            strikes.terminal = True  # type: ignore[attr-defined]
            start = np.concatenate([q, u])
            found = solve_ivp(flow, (t, t + 1.0), start, "DOP853", events=strikes, rtol=1e-12, atol=1e-14)
            t, y = found.t[-1], found.y[:, -1]
            q, u = np.append(y[:n], 0.0), np.append(y[n:], 0.0)
            normal, force = self.pushes(q, u, n)
            after = u + force.T @ np.linalg.solve(normal @ force.T, -normal @ u)
            losses.append(self.J * (u @ u - after @ after) / 2)
            times.append(t)
            u = after
        return times, losses


@pytest.mark.parametrize(("mu", "s"), [(0.1, 0.02), (0.0, 0.02), (0.2, 0.03)])
def test_dominoes_topple_at_the_times_of_their_own_equations(mu: float, s: float) -> None:
    model = kane.load("dominoes")
    model.set_parameters(mu=mu, s=s)
    p = SimpleNamespace(**{name: parameter.value for name, parameter in model.parameters.items()})
    times, losses = Train(p).topple(10)
    run = model.simulate(times[-1] + 1e-3)
    assert run.outcome.success, run.outcome
    hits = [x for x in run.transitions if x.cause == "impact"]
    assert [x.t for x in hits] == pytest.approx(times, abs=TIMES)
    assert [-x.energy_change for x in hits] == pytest.approx(losses, rel=ENERGY)
    for k, hit in enumerate(hits):  # those behind lean on the next, those ahead stand
        assert hit.constraints == tuple(f"hit {j + 1}" for j in range(k + 1))
        assert not hit.u_after[k + 2 :].any()


def test_the_first_hit_has_its_closed_form() -> None:
    """J ω²/2 grows by the fall of the mass centre; J Δω = (−h cos θ, h cos θ) P, so that ω is halved."""
    model = kane.load("dominoes")
    model.set_parameters(mu=0.0)
    p = SimpleNamespace(**{name: parameter.value for name, parameter in model.parameters.items()})
    theta = math.asin(p.s / p.h)
    fall = (p.h * (1 - math.cos(theta)) - p.d * math.sin(theta)) / 2
    before = math.sqrt(p.push**2 + 6 * p.g * fall / (p.h**2 + p.d**2))
    hit = next(x for x in model.simulate(0.3).transitions if x.cause == "impact")
    assert hit.u_before[0] == pytest.approx(before, rel=1e-10)
    assert hit.u_after[:2] == pytest.approx([before / 2] * 2, rel=1e-10)


def test_a_push_that_is_too_weak_topples_nothing() -> None:
    """The first one needs ω² > 3 g (√(h² + d²) − h)/(h² + d²) to pass its edge."""
    model = kane.load("dominoes")
    p = SimpleNamespace(**{name: parameter.value for name, parameter in model.parameters.items()})
    diagonal = math.hypot(p.h, p.d)
    least = math.sqrt(3 * p.g * (diagonal - p.h)) / diagonal
    for push, topples in ((1.001 * least, True), (0.999 * least, False)):
        model.set_parameters(push=push)
        run = model.simulate(1.5)
        assert run.outcome.success, run.outcome
        assert any("hit 1" in x.constraints for x in run.transitions) == topples
        assert (run.q[-1] > 0.3).all() == topples


def test_in_the_end_the_last_one_lies_on_the_floor() -> None:
    run = kane.load("dominoes").simulate(1.5)
    assert run.outcome.success and run.check().passed
    assert run.q[-1, -1] == pytest.approx(math.pi / 2, abs=1e-9)
