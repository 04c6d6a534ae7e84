"""Members whose constraints come and go: found without Python between them, to the bit what each gives alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.ensemble_work import MemberWork
from kane.errors import KaneError

TIMES = np.linspace(0.0, 0.6, 4)
STEPS: dict[str, Any] = {"contacts": "stepping", "step": 1e-3}
WRITTEN: dict[str, Any] = {"embed": "formulation"}  # modes are programs, and members go in step
COUNT = 11

MOTIONS: list[tuple[str, dict[str, Any]]] = [
    ("disk-on-ramp", {"t": 0.2, "parameters": {"phi": "uniform(0.05, 1.2)", "mu": "uniform(0.02, 0.9)"}}),
    ("disk-on-ramp", {"t": TIMES, "parameters": {"mu": "uniform(0.02, 0.9)"}, **WRITTEN}),
    ("rocking-block", {"t": TIMES, "parameters": {"angle0": "uniform(0.05, 0.15)"}}),
    ("rocking-block", {"t": 1.0, "parameters": {"angle0": "uniform(0.05, 0.15)"}, **WRITTEN}),
    ("bouncing-ball", {"t": np.linspace(0.0, 3.0, 7), "parameters": {"e": "uniform(0.5, 0.9)"}, **WRITTEN}),
    ("bouncing-ball", {"t": 1.0, "parameters": {"e": "uniform(0.5, 0.9)"}, "method": "rk4", "step": 1e-3, **WRITTEN}),
    ("stick-slip", {"t": 1.0, "parameters": {"k": "uniform(80, 120)"}, "events": {"middle": "x - 0.02"}, **WRITTEN}),
    ("shopping-cart", {"t": np.linspace(0.0, 3.0, 7), "u": {"u1": "uniform(0.5, 1.5)"}, **WRITTEN}),
    ("stick-slip", {"t": 1.0, "parameters": {"k": "uniform(80, 120)"}, "events": {"middle": "x - 0.02"}}),
    ("stick-slip", {"t": 0.5, "parameters": {"k": "uniform(80, 120)"}, "method": "radau"}),
    ("four-bar-stop", {"t": TIMES, "parameters": {"w0": "uniform(4, 6)", "e": "uniform(0.3, 0.9)"}}),
    ("shopping-cart", {"t": TIMES, "u": {"u1": "uniform(0.5, 1.5)"}}),
    ("tippe-top", {"t": 0.02, "parameters": {"spin": "uniform(150, 190)"}}),
    ("braking-car", {"t": 0.3, "u": {"u_root_vx": "uniform(5, 15)"}}),
    ("disk-on-ramp", {"t": 0.2, "parameters": {"phi": "uniform(0.05, 1.2)", "mu": "uniform(0.02, 0.9)"}, **STEPS}),
    ("rocking-block", {"t": TIMES, "parameters": {"angle0": "uniform(0.05, 0.15)"}, **STEPS}),
    ("four-bar-stop", {"t": TIMES, "parameters": {"w0": "uniform(4, 6)"}, **STEPS}),
    ("stick-slip", {"t": 1.0, "parameters": {"k": "uniform(80, 120)"}, "events": {"middle": "x - 0.02"}, **STEPS}),
]


def assert_alone(found: Any, i: int) -> None:
    """A member is what its motion alone is, with its events."""
    alone = found.member(i)
    assert found.reasons[i] == alone.outcome.reason
    assert found.end_t[i] == alone.t[-1]
    assert np.array_equal(found.end_q[i], alone.q[-1])
    assert np.array_equal(found.end_u[i], alone.u[-1])
    if found.q is not None:
        assert np.array_equal(found.q[i], alone.q)
        assert np.array_equal(found.u[i], alone.u)
    for crossings in alone.events:
        assert found.crossings[crossings.event.name][i] == len(crossings)
        first = crossings.t[0] if len(crossings) else np.nan
        assert np.array_equal(found.first[crossings.event.name][i], first, equal_nan=True)


@pytest.mark.parametrize(("name", "options"), MOTIONS, ids=[f"{k}-{name}" for k, (name, _) in enumerate(MOTIONS)])
def test_members_under_changing_constraints_have_the_bits_of_motions_alone(
    name: str, options: dict[str, Any], alone: list[int]
) -> None:
    found = kane.load(name).ensemble(**options, n=COUNT, seed=4)
    assert found.success.all(), found.messages
    assert not alone
    for i in range(0, COUNT, 3):
        assert_alone(found, i)


@pytest.mark.parametrize(
    "name", ["rocking-block", "shopping-cart", pytest.param("braking-car", marks=pytest.mark.long)]
)
def test_starts_found_together_are_those_found_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts that follow parameters, on permanent constraints, and wheels that begin to roll."""
    asked: dict[str, Any] = {
        "rocking-block": {"parameters": {"angle0": "normal(0, 0.1)"}},
        "shopping-cart": {"q": {"turn": "normal(2.5, 0.3)"}},
        "braking-car": {"u": {"u_root_vx": "normal(10, 3)"}, "q": {"q_root_pz": np.linspace(0.32, 0.32 + 2e-9, 12)}},
    }[name] | {"n": 12, "seed": 2, "keep": "motions"}
    times, model = np.array([0.0, 1e-4, 2e-4]), kane.load(name)
    kept = MemberWork._start_alone
    monkeypatch.setattr(MemberWork, "_start_alone", lambda self, numbers, left, *rest: () if left.size == 0 else 1 / 0)
    together: Any = model.ensemble(times, **asked)
    monkeypatch.setattr(MemberWork, "_start_alone", kept)
    for way in ("_start_plainly", "_start_together"):
        monkeypatch.setattr(MemberWork, way, lambda *_: ())
    one_by_one: Any = model.ensemble(times, **asked)
    assert together.success.all()
    assert np.array_equal(together.q, one_by_one.q)
    assert np.array_equal(together.u, one_by_one.u)


def ball() -> kane.Model:
    """A point above the ground, with restitution e."""
    m = kane.Model("ball", gravity=[0, 0, -10.0])
    m.parameter("e", 0.9)
    m.particle("ball", 1.0)
    m.joint("up", "prismatic", "ground", "ball", axis="z", coordinates=["h"], speeds=["v"])
    m.contact("floor", "ball", "ground", shape={"point": (0, 0, 0)}, normal="z", restitution="e")
    return m


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_very_many_impacts_of_a_member_are_all_counted(embed: str, alone: list[int]) -> None:
    """Let go from h, a ball that loses nothing strikes at t = √(2h/g), and every 2 √(2h/g) from then on, and passes
    h/2 twice in between: more transitions and crossings than there is room for at first."""
    h = np.linspace(0.5, 0.6, 5)
    found = ball().ensemble(100.0, q={"h": h}, parameters={"e": 1.0}, events={"half": "h - 0.25"}, embed=embed)
    assert not alone
    fall, part = np.sqrt(2 * h / 10.0), np.sqrt(2 * (h - 0.25) / 10.0)
    whole, left = np.divmod(100.0, 2 * fall)
    expected = 2 * whole + (left > part) + (left > 2 * fall - part)
    assert expected.min() > 256
    assert np.array_equal(found.crossings["half"], expected)
    np.testing.assert_allclose(found.first["half"], part, rtol=1e-9)


def test_very_many_impacts_in_time_steps_are_all_counted(alone: list[int]) -> None:
    """The same by time steps, which change its energy a little: more transitions than there is room for at first, and
    as many crossings as the motion alone has."""
    found: Any = ball().ensemble(
        90.0, q={"h": [0.05, 0.06]}, parameters={"e": 1.0}, events={"half": "h - 0.02"}, contacts="stepping", step=2e-3
    )
    assert not alone
    assert len(found.member(0).transitions) > 150
    for i in range(2):
        assert_alone(found, i)


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_jumps_in_time_change_the_mode_of_each_member_at_its_own_time(embed: str, alone: list[int]) -> None:
    """A block that friction holds against 1 N slides from its own time on, when 4 N push: 2 N accelerate it."""
    m = kane.Model("block")
    m.parameter("start", 0.5)
    m.particle("block", 1.0)
    m.joint("slide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    m.load("push", kane.Effort("slide", "select(t < start, 1, 4)"))
    m.constrain("table", kane.Brake("slide", bound=2.0))
    start = np.linspace(0.2, 0.8, 9)
    found: Any = m.ensemble(1.0, parameters={"start": start}, embed=embed)
    assert not alone
    np.testing.assert_allclose(found.end_u[:, 0], 2.0 * (1.0 - start), rtol=1e-9)
    for i in range(9):
        assert_alone(found, i)


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_members_that_cannot_begin_or_go_on_spoil_nobody(embed: str) -> None:
    h = np.linspace(0.1, 1.0, 12)
    h[0], h[5] = -0.1, np.nan
    m = ball()
    m.load("blow", kane.Effort("up", "select(h > 0.95, log(h - 2), 0)"))
    found: Any = m.ensemble(1.0, q={"h": h}, embed=embed)
    assert found.reasons[0] == "refused"
    assert found.reasons[5] == "refused"
    with pytest.raises(KaneError) as refused:
        found.member(0)
    assert str(refused.value) in found.messages[0]
    assert found.messages[11] == str(found.member(11).outcome)
    assert not found.success[11]
    sound = [i for i in range(12) if i not in (0, 5, 11)]
    assert found.success[sound].all()
    for i in sound:
        assert_alone(found, i)


def test_wheels_that_may_slide_begin_to_roll_with_the_radius_of_the_member() -> None:
    radius = np.array([0.3, 0.4])
    found: Any = kane.load("braking-car").ensemble(
        [0.0, 1e-5, 2e-5], parameters={"r": radius}, q={"q_root_pz": radius}, u={"u_root_vx": 12.0}, keep="motions"
    )
    np.testing.assert_allclose(found.u[:, 0, 6:], np.repeat(12.0 / radius, 4).reshape(2, 4), rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_give_the_same_bits(threads: int) -> None:
    asked: dict[str, Any] = {"n": 200, "seed": 3, "parameters": {"k": "uniform(80, 120)"}}
    model = kane.load("stick-slip")
    near: Any = model.ensemble(0.3, **asked)
    with ThreadPoolExecutor(threads) as pool:
        far: Any = model.ensemble(0.3, executor=pool, **asked)
    assert near.success.all()
    assert np.array_equal(near.end_q, far.end_q)
    assert np.array_equal(near.end_u, far.end_u)
