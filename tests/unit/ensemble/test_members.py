"""Members of ensembles against closed forms, and to the bit against the same motion alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.ensemble import Enough, uniform
from kane.errors import InputError
from kane.simulate import members
from unit.ensemble.alone import assert_motions_alone

TIMES = np.linspace(0.0, 2.0, 9)

CROWD = "(q1 - 0.3)*(q1 - 0.3 - 1e-7)*(q1 - 0.3 - 2e-7)"
"""Crosses zero three times, close together."""

TERMINAL = {"expression": "q1", "terminal": True}

MOTIONS: list[tuple[str, dict[str, Any]]] = [
    ("double-pendulum", {"t": 3.0, "q": {"q1": "uniform(-3, 3)"}, "parameters": {"m1": "normal(1, 0.1)"}}),
    ("double-pendulum", {"t": TIMES, "q": {"q1": "uniform(-3, 3)"}, "events": {"down": "q2 - q1"}}),
    ("double-pendulum", {"t": 3.0, "q": {"q1": "uniform(-3, 3)"}, "events": {"crowd": CROWD}}),
    (
        "double-pendulum",
        {"t": 5.0, "q": {"q1": "uniform(-3, 3)"}, "events": {"up": {"expression": "q1", "terminal": True}}},
    ),
    ("stanford-arm", {"t": 0.2, "q": {"q2": "normal(1, 0.1)"}, "method": "rk4", "step": 1e-3}),
    ("double-pendulum", {"t": TIMES, "q": {"q1": "uniform(-3, 3)"}, "method": "rk4", "step": 0.013}),
    ("double-pendulum", {"t": (2.0, 0.0), "q": {"q1": "uniform(-3, 3)"}, "method": "rk4", "step": 0.013}),
    ("stanford-arm", {"t": 0.2, "q": {"q2": "normal(1, 0.1)"}, "method": "rk45"}),
    ("free-body", {"t": TIMES, "u": {"wy": "normal(1, 0.1)"}}),
    ("spinning-top", {"t": TIMES, "parameters": {"g": "uniform(1, 10)"}}),
    ("whipple-bicycle", {"t": TIMES, "u": {"uroll": "uniform(0.1, 0.8)"}, "embed": "formulation"}),
    ("whipple-bicycle", {"t": 1.0, "u": {"uroll": "uniform(0.1, 0.8)"}, "parameters": {"mB": "normal(85, 3)"}}),
    ("four-bar", {"t": 0.5, "method": "radau", "parameters": {"g": "normal(9.81, 0.1)"}}),
    ("bouncing-ball", {"t": TIMES, "parameters": {"e": "uniform(0.4, 0.9)"}}),
]


@pytest.mark.parametrize(("name", "options"), MOTIONS, ids=[f"{k}-{name}" for k, (name, _) in enumerate(MOTIONS)])
def test_members_have_the_bits_of_motions_alone(name: str, options: dict[str, Any]) -> None:
    found = kane.load(name).ensemble(**options, n=19, seed=4)
    assert found.success.all(), found.messages
    assert_motions_alone(found)


def oscillator() -> kane.Model:
    m = kane.Model("oscillator")
    m.parameter("k", 4.0)
    m.particle("mass", 1.0)
    m.joint("slide", "prismatic", "ground", "mass", axis="x", coordinates=["x"], speeds=["v"])
    m.load("spring", kane.JointSpring("slide", stiffness="k"))
    return m


def test_oscillators_follow_their_closed_form() -> None:
    found = oscillator().ensemble(
        TIMES, n=200, seed=2, q={"x": "normal(0, 1)"}, parameters={"k": "uniform(1, 9)"}, rtol=1e-11
    )
    x, k = found.numbers["x"], found.numbers["k"]
    expected = x[:, None] * np.cos(np.sqrt(k)[:, None] * TIMES)
    assert found.q is not None
    np.testing.assert_allclose(found.q[:, :, 0], expected, atol=1e-9)
    np.testing.assert_allclose(found.tallies["x"].mean, expected.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found.tallies["x"].deviation, expected.std(axis=0, ddof=1), atol=1e-9)
    speeds = -x[:, None] * np.sqrt(k)[:, None] * np.sin(np.sqrt(k)[:, None] * TIMES)
    together = [np.cov(speeds[:, j], expected[:, j]) for j in range(len(TIMES))]
    np.testing.assert_allclose(found.covariance("v", "x"), together, atol=1e-9)
    np.testing.assert_allclose(np.sqrt(found.covariance("x")[:, 0, 0]), found.tallies["x"].deviation, rtol=1e-12)
    with pytest.raises(InputError, match="'X' is not watched\n    fix: did you mean 'x'"):
        found.covariance("v", "X")
    np.testing.assert_allclose(found.high["x"], expected.max(axis=1), atol=1e-9)


@pytest.mark.parametrize("t", [TIMES, float(TIMES[-1])], ids=["times", "duration"])
def test_what_is_watched_ends_at_its_closed_form(t: Any) -> None:
    found = oscillator().ensemble(
        t, n=70, q={"x": "normal(0, 1)"}, parameters={"k": "uniform(1, 9)"}, watch={"twice": "2*x"}, rtol=1e-11
    )
    x, k = found.numbers["x"], found.numbers["k"]
    expected = 2.0 * x * np.cos(np.sqrt(k) * TIMES[-1])
    np.testing.assert_allclose(found.end["twice"], expected, atol=1e-9)
    column = found.to_table().column("end_twice").to_numpy()
    assert np.array_equal(column, found.end["twice"]) and np.array_equal(found.to_xarray()["end_twice"], column)
    assert list(found.sensitivity("end_twice")) and np.mean(found.end["twice"] > 0.0) == np.mean(expected > 0.0)


def test_a_motion_that_ends_before_has_no_value_at_the_last_time() -> None:
    events = {"middle": {"expression": "x", "terminal": True}}
    found = oscillator().ensemble(TIMES, n=8, q={"x": 1.0}, parameters={"k": 4.0}, watch={"y": "x"}, events=events)
    assert (found.reasons == "event").all() and np.isnan(found.end["y"]).all() and (found.high["y"] == 1.0).all()


def test_the_first_crossing_is_a_quarter_period() -> None:
    found = oscillator().ensemble(3.0, n=64, q={"x": 1.0}, parameters={"k": "uniform(1, 9)"}, events={"middle": "x"})
    np.testing.assert_allclose(found.first["middle"], 0.5 * np.pi / np.sqrt(found.numbers["k"]), rtol=1e-7)
    assert found.share("middle") == 1.0


def test_crossings_close_together_are_found_in_every_member() -> None:
    # cos(w t) falls through 0.3 at (2 pi j + arccos 0.3) / w, and rises through it at (2 pi j - arccos 0.3) / w.
    crowd = CROWD.replace("q1", "x")
    found = oscillator().ensemble(3.0, n=64, q={"x": 1.0}, parameters={"k": "uniform(1, 9)"}, events={"crowd": crowd})
    turns = 3.0 * np.sqrt(found.numbers["k"]) / (2.0 * np.pi)
    part = np.arccos(0.3) / (2.0 * np.pi)
    assert np.array_equal(found.crossings["crowd"], 3 * (np.floor(turns - part) + np.floor(turns + part) + 1))


def test_members_that_fail_spoil_nobody() -> None:
    m = oscillator()
    m.load("blow", kane.Effort("slide", "select(x > 5, exp(x**2), 0)"))
    x = np.linspace(0.1, 1.0, 40)
    x[7], x[20] = np.nan, 5.5
    found = m.ensemble(2.0, q={"x": x})
    sound = [i for i in range(40) if i not in (7, 20)]
    assert found.success[sound].all()
    assert found.reasons[7] == "refused"
    assert "member 7" in found.messages[7]
    assert not found.success[20]
    assert found.messages[20].startswith("stopped at t")
    good = m.ensemble(2.0, q={"x": x[sound]})
    assert found.end_q is not None and good.end_q is not None
    assert np.array_equal(found.end_q[sound], good.end_q)


def test_fixed_steps_end_in_the_member_that_leaves_the_numbers() -> None:
    # x' = v = x³ / 2 reaches infinity at t = 1 / x0²; fixed steps overflow soon after.
    m = kane.Model("runaway")
    m.particle("mass", 1.0)
    m.joint("slide", "prismatic", "ground", "mass", axis="x", coordinates=["x"], speeds=["v"])
    m.load("push", kane.Effort("slide", "3*x**5/4"))
    x = np.linspace(0.1, 0.3, 19)
    x[[5, 11]] = 1.0, 2.0
    found = m.ensemble(2.0, q={"x": x}, u={"v": 0.5 * x**3}, method="rk4", step=0.01)
    assert np.flatnonzero(~found.success).tolist() == [5, 11]
    assert_motions_alone(found)


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "bouncing-ball"])
def test_members_do_not_depend_on_what_ran_before(name: str) -> None:
    m = kane.load(name)

    def run(seed: int, n: int) -> kane.Ensemble:
        return m.ensemble(0.5, n=n, seed=seed, u={m.speeds[0]: "uniform(-1, 1)"})

    first, other, again = run(1, 20), run(2, 9), run(1, 20)
    assert first.end_q is not None and again.end_q is not None
    assert np.array_equal(first.end_q, again.end_q)
    assert_motions_alone(other)


def test_a_negative_mass_is_named_with_its_draw() -> None:
    found = kane.load("double-pendulum").ensemble(1.0, n=64, seed=3, parameters={"m1": "normal(0.1, 0.1)"})
    negative = found.numbers["m1"] < 0
    assert negative.any()
    assert np.array_equal(found.reasons == "refused", negative)
    i = int(np.flatnonzero(negative)[0])
    assert f"member {i}: m1 = {found.numbers['m1'][i]:.6g} from normal(0.1, 0.1)" in found.messages[i]


def test_jumps_of_loads_in_time_are_met_by_every_member() -> None:
    m = oscillator()
    m.parameter("pulse", 1.0)
    m.load("kick", kane.Effort("slide", "select(t < pulse, 0, 1)"))
    found = m.ensemble(2.0, n=9, parameters={"pulse": np.linspace(0.1, 3.0, 9)}, q={"x": 0.0})
    assert found.end_q is not None
    after = np.maximum(0.0, 2.0 - found.numbers["pulse"])
    np.testing.assert_allclose(found.end_q[:, 0], 0.25 * (1 - np.cos(2.0 * after)), atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"t": 2.0},
        {"t": TIMES, "events": {"far": "x - 0.2"}},
        {"t": (2.0, 0.5)},
        {"t": 2.0, "method": "rk4", "step": 0.03},
        {"t": 2.0, "method": "radau"},
    ],
    ids=["steps", "events", "backward", "fixed", "implicit"],
)
def test_members_with_jumps_of_their_own_have_the_bits_of_motions_alone(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pulses begin at the start, within it and beyond the end; what ends where a pulse does is left to a run alone."""
    m = oscillator()
    m.parameter("pulse", 1.0)
    m.load("kick", kane.Effort("slide", "select(t < pulse, 0, select(t < pulse + 0.3, 5, 1))"))
    pulse = np.array([0.0, 0.1, 0.25, 0.5, 0.7, 1.1, 1.4, 1.7, 1.9, 2.0, 2.3, 9.0])
    alone: list[int] = []
    original = members._Block.run_alone
    monkeypatch.setattr(members._Block, "run_alone", lambda self, i: (alone.append(i), original(self, i)))
    found = m.ensemble(**options, parameters={"pulse": pulse}, q={"x": 0.1})
    assert found.success.all()
    assert len(alone) <= (2 if options.get("method") != "radau" else len(pulse))
    for i in range(len(pulse)):
        run = found.member(i)
        assert found.end_t is not None and found.end_q is not None
        assert found.end_t[i] == run.t[-1]
        assert np.array_equal(found.end_q[i], run.q[-1])
        if found.q is not None:
            assert np.array_equal(found.q[i], run.q)
        for crossings in run.events:
            assert found.crossings[crossings.event.name][i] == len(crossings)


def test_work_ends_when_enough_is_known() -> None:
    m = oscillator()
    found = m.ensemble(
        1.0, n=100_000, q={"x": uniform(-1, 1)}, events={"out": "x - 0.2"}, keep="ends", until=Enough("out", 0.05)
    )
    assert len(found) < 20_000
    share = found.share("out")
    assert 1.96 * np.sqrt(share * (1 - share) / len(found)) <= 0.05


def test_tallies_alone_keep_no_member() -> None:
    found = oscillator().ensemble(
        TIMES, n=100, q={"x": "normal(0, 1)"}, keep="tallies", watch={"energy": "v**2/2 + k*x**2/2"}
    )
    assert found.q is None and found.end_q is None
    mean = found.tallies["energy"].mean
    np.testing.assert_allclose(mean, mean[0], rtol=1e-6)
    assert set(found.reasons.tolist()) == {"end"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n": 5, "parameters": {"K": "normal(1, 1)"}}, "unknown parameter 'K'"),
        ({"n": 5, "q": {"y": 1.0}}, "unknown coordinate 'y'"),
        ({"n": 5, "q": {"x": "gauss(1, 2)"}}, "normal"),
        ({"n": 5, "q": {"x": "normal(1)"}}, "does not take 1 numbers"),
        ({}, "how many members"),
        ({"n": 2.5}, "whole number"),
        ({"n": 5, "keep": "all"}, "motions, ends, tallies"),
        ({"q": {"x": [1.0, 2.0]}, "u": {"v": [1.0, 2.0, 3.0]}}, "values are given for"),
        ({"n": 5, "until": Enough("out", 0.1)}, "neither an event nor watched"),
        ({"n": 5, "rtool": 1e-3}, "rtool"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        oscillator().ensemble(1.0, **options)
