"""Impacts with and without friction: a rod on rough ground with its paradoxes, rows of balls, laws of impact."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import kane
from cases.changing_records import changes, close, reaction, record, times
from kane.simulate.contacts import resolve_impact

TIGHT = 1e-12  # critical angles and coefficient of the rod


def rod(p: SimpleNamespace, mu: float, e: float = 0.0) -> kane.Model:
    """A rod whose lower end A = G − l (cos θ, sin θ) meets rough ground: x, y of G, θ; u their rates."""
    model = kane.Model("rod", gravity=(0, -9.81, 0))
    model.parameter("mu", mu, free=True)
    model.parameter("e", e, free=True)
    model.body("rod", mass=p.m, inertia={"xx": 0.01 * p.J, "yy": p.J, "zz": p.J})
    model.joint("plane", "planar", "ground", "rod", normal="z")
    model.contact("floor", "rod", "ground", shape={"point": (-p.l, 0, 0)}, friction="mu", restitution="e")
    return model


def touching(p: SimpleNamespace, theta: float) -> list[float]:
    """Coordinates in which the end touches the ground."""
    return [p.l * math.cos(theta), p.l * math.sin(theta), theta]


def sliding(p: SimpleNamespace, theta: float, w: float, v_t: float = -1.0, v_n: float = 0.0) -> list[float]:
    """Speeds at which the end has the velocity (v_t, v_n)."""
    return [v_t - p.l * w * math.sin(theta), v_n + p.l * w * math.cos(theta), w]


def compliance(p: SimpleNamespace, theta: float) -> np.ndarray:
    """W of normal and tangential velocity of the end."""
    s, c = p.l * math.sin(theta), p.l * math.cos(theta)
    return np.array([[1 / p.m + c * c / p.J, -s * c / p.J], [-s * c / p.J, 1 / p.m + s * s / p.J]])


def test_the_rod_has_no_consistent_motion_between_two_angles() -> None:
    """Released without turning: where p < 0, b = −g < 0, and only an impact without collision helps."""
    d = record("V01")
    p, v = d.p, d.values
    model = rod(p, 1.0)

    def is_paradox(theta: float, mu: float) -> bool:
        q, u = touching(p, theta), sliding(p, theta, 0.0)
        return model.simulate(1e-12, q=q, u=u, parameters={"mu": mu}).transitions[0].cause == "impact without collision"

    for mu, interval in zip(p.mu, v["theta_intervals"], strict=True):
        assert is_paradox(v["theta_critical"], mu) == bool(interval) == (mu > v["mu_critical"])
        for theta, inwards in zip(interval, (TIGHT, -TIGHT), strict=False):
            assert is_paradox(theta + inwards, mu) and not is_paradox(theta - inwards, mu)


def test_states_of_the_rod_are_told_apart() -> None:
    d = record("V03")
    p = d.p
    model = rod(p, p.mu)
    for row in d.values["table"]:
        q, u = touching(p, row["theta"]), sliding(p, row["theta"], row["w"])
        run = model.simulate(1e-6, q=q, u=u)
        start = run.transitions[0]
        told = {"slides": ("start", 1), "leaves": ("start", 1), "indeterminate": ("start", 2)}
        told["inconsistent"] = ("impact without collision", 1)
        assert (start.cause, start.possible) == told[row["result"]], row
        if row["result"] in ("slides", "leaves"):
            assert start.mode["floor"] == {"slides": "slips", "leaves": "open"}[row["result"]]
        if row["result"] == "slides":
            assert reaction(run, "floor.normal")[0] == close(row["N_if_sliding"])


def test_an_inconsistent_state_of_the_rod_ends_in_an_impact_without_collision() -> None:
    d = record("V05")
    p, v = d.p, d.values
    run = rod(p, p.mu, p.e).simulate(1e-3, q=touching(p, p.theta), u=sliding(p, p.theta, p.w, -p.V))
    start, wanted = run.transitions[0], v["newton"]
    assert start.cause == "impact without collision"
    assert start.impulse["floor"] == close([wanted["P_n"], wanted["P_t"]])
    assert start.energy_change == close(wanted["energy_change"])
    assert start.u_after is not None
    vx, vy, w = start.u_after
    end = [vx + p.l * w * math.sin(p.theta), vy - p.l * w * math.cos(p.theta)]
    assert end == close([wanted["v_t"], wanted["v_n"]])
    for law, wanted in (("path-newton", v["newton"]), ("path-poisson", v["poisson"]), ("stronge", v["stronge"])):
        found = resolve_impact(compliance(p, p.theta), [0.0, -p.V], [p.mu], [p.e], law=law)
        assert found.law == law
        assert [*found.P, *found.v] == close([wanted[k] for k in ("P_n", "P_t", "v_n", "v_t")])


IMPACTS = {
    "newton": "moreau_newton",
    "poisson": "poisson_lcp",
    "stronge": "routh_stronge",
    "path-newton": "routh_newton",
    "path-poisson": "routh_poisson",
}
"""Our names of laws, and those of the records."""


@pytest.mark.parametrize("name", ["I01", "I02", "I03", "I08"])
@pytest.mark.parametrize("law", IMPACTS)
def test_a_rod_strikes_rough_ground(name: str, law: str) -> None:
    """Newton's law is not followed where it would gain energy: then it is Poisson's."""
    d = record(name)
    p, v = d.p, d.values
    wanted = v[IMPACTS[law]]
    used = law.replace("newton", "poisson") if wanted["energy_change"] > 0.0 else law
    W = compliance(p, p.theta)
    assert [W[1, 1], W[0, 1], W[0, 0]] == close(v["W"])
    found = resolve_impact(W, [p.v_n, p.v_t], [p.mu], [p.e], law=law)
    assert found.law == used
    wanted = v[IMPACTS[used]]
    assert [*found.P, *found.v] == close([wanted[k] for k in ("P_n", "P_t", "v_n", "v_t")])


@pytest.mark.parametrize("name", ["I01", "I02", "I03", "I08"])
@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
def test_a_model_of_the_rod_strikes_as_its_law_says(name: str, law: str) -> None:
    d = record(name)
    p = d.p
    wanted = d.values[IMPACTS[law]]
    if wanted["energy_change"] > 0.0:
        wanted = d.values[IMPACTS["poisson"]]
    model = rod(p, p.mu, p.e)
    run = model.simulate(1e-4, q=touching(p, p.theta), u=sliding(p, p.theta, p.w, p.v_t, p.v_n), impact=law)
    start = run.transitions[0]
    assert start.cause == "impact"
    assert start.impulse["floor"] == close([wanted["P_n"], wanted["P_t"]])
    assert start.energy_change == close(wanted["energy_change"])


@pytest.mark.parametrize("name", ["N01", "N02", "N03"])
@pytest.mark.parametrize("law", ["newton", "poisson", "sequential"])
def test_a_ball_strikes_a_row_of_balls(name: str, law: str) -> None:
    d = record(name)
    p, v = d.p, d.values
    model = kane.Model("balls")
    for k, mass in enumerate(p.masses):
        model.body(f"ball {k}", mass=mass)
        model.joint(f"slide {k}", "prismatic", "ground", f"ball {k}", axis="x", at=(0.2 * k, 0, 0))
    for k, e in enumerate(p.e):
        ball = {"sphere": 0.1}
        model.contact(f"pair {k}", f"ball {k + 1}", f"ball {k}", shape=ball, surface=ball, restitution=e)
    start = model.simulate(0.1, u=p.v_before, impact=law).transitions[0]
    wanted = v["sequential_left_to_right" if law == "sequential" else law]
    assert start.cause == "impact" and start.u_after == close(wanted)
    assert start.energy_change == close(v[f"energy_{law}"] - v["energy_before"])
    assert start.u_after is not None
    assert np.dot(p.masses, start.u_after) == close(v["momentum"])


def test_a_cradle_passes_the_impact_on() -> None:
    d = record("N07")
    p, v = d.p, d.values
    model = kane.Model("cradle", gravity=(0, -p.g, 0))
    ball = {"sphere": 0.02, "at": (0, -p.L, 0)}
    for k in range(3):
        model.body(f"ball {k}", mass=1.0, center=(0, -p.L, 0))
        model.joint(f"string {k}", "revolute", "ground", f"ball {k}", axis="z", at=(0.04 * k, 0, 0))
    for k in range(2):
        model.contact(f"pair {k}", f"ball {k + 1}", f"ball {k}", shape=ball, surface=ball, restitution=p.e)
    last = v["impact_times"][-1]
    run = model.simulate(last + 0.1, q=[-p.theta0, 0, 0], impact="sequential")
    struck = changes(run, "impact")
    assert times(struck) == close(v["impact_times"])
    speed = v["speed_at_impact"] / p.L
    for k, x in enumerate(struck):
        passed = [[speed, 0, 0], [0, 0, speed]]
        before, after = passed if k % 2 == 0 else [[-s for s in u] for u in reversed(passed)]
        assert x.u_before == close(before) and x.u_after == close(after)
