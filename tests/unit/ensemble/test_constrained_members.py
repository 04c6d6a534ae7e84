"""Members under constraints: starts found together and steps taken together, to the bit what each gives alone."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.ensemble_work import MemberWork
from kane.errors import KaneError

TIMES = np.linspace(0.0, 0.6, 4)

MOTIONS: list[tuple[str, dict[str, Any]]] = [
    ("four-bar", {"t": 0.5, "q": {"crank": "uniform(0.3, 2.5)"}}),
    ("four-bar", {"t": TIMES, "q": {"crank": "uniform(0.3, 2.5)"}, "embed": "formulation"}),
    ("parallelogram", {"t": 0.5, "q": {"crank": np.linspace(-0.6, 0.6, 13)}, "u": {"w1": 1.0}}),
    ("slider-crank", {"t": TIMES, "u": {"w": "normal(3, 1)"}, "parameters": {"m2": "normal(2, 0.1)"}}),
    ("rattleback", {"t": TIMES, "u": {"wz": "normal(1, 0.3)"}}),
    ("chaplygin-sleigh", {"t": 1.0, "u": {"w": "normal(1, 0.3)"}, "drift": "none"}),
    ("four-bar", {"t": 0.5, "u": {"w1": "normal(1, 0.3)"}, "drift": (1.0, 20.0)}),
    (
        "whipple-bicycle",
        {
            "t": 1.0,
            "q": {"roll": "normal(0, 0.2)", "steer": "normal(0, 0.2)"},
            "parameters": {"mB": "normal(85, 3)", "w": "normal(1.02, 0.02)"},
            "events": {"fell": {"expression": "roll**2 - 0.09", "terminal": True}},
            "embed": "formulation",
        },
    ),
]


def assert_alone(found: Any, i: int) -> None:
    """A member is what its motion alone is, also where it cannot begin."""
    if found.reasons[i] == "refused":
        with pytest.raises(KaneError) as refused:
            found.member(i)
        assert str(refused.value) in found.messages[i]
        return
    alone = found.member(i)
    assert found.reasons[i] == alone.outcome.reason
    assert found.end_t[i] == alone.t[-1]
    assert np.array_equal(found.end_q[i], alone.q[-1])
    assert np.array_equal(found.end_u[i], alone.u[-1])
    if found.q is not None:
        assert np.array_equal(found.q[i], alone.q)
        assert np.array_equal(found.u[i], alone.u)


@pytest.mark.parametrize(("name", "options"), MOTIONS, ids=[f"{k}-{name}" for k, (name, _) in enumerate(MOTIONS)])
def test_constrained_members_have_the_bits_of_motions_alone(name: str, options: dict[str, Any]) -> None:
    found = kane.load(name).ensemble(**options, n=13, seed=4)
    for i in range(13):
        assert_alone(found, i)
    assert np.count_nonzero(found.reasons == "refused") == (1 if name == "parallelogram" else 0), "flat, and off branch"


@pytest.mark.parametrize("name", ["four-bar", "whipple-bicycle"])
def test_starts_found_together_are_those_found_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = kane.load(name)
    angle = {"four-bar": "crank", "whipple-bicycle": "steer"}[name]
    asked: dict[str, Any] = {"n": 40, "seed": 2, "q": {angle: "normal(0.4, 0.3)"}, "keep": "motions"}
    times, together = np.array([0.0, 1e-3, 2e-3]), []
    original = MemberWork._start_together

    def watched(work: MemberWork, numbers: Any, chosen: Any) -> Any:
        groups = original(work, numbers, chosen)
        together.append(sum(len(group.places) for group in groups))
        return groups

    monkeypatch.setattr(MemberWork, "_start_together", watched)
    found: Any = model.ensemble(times, **asked)
    assert sum(together) > 30
    monkeypatch.setattr(MemberWork, "_start_together", lambda *_: ())
    one_by_one: Any = model.ensemble(times, **asked)
    assert np.array_equal(found.q, one_by_one.q, equal_nan=True)
    assert np.array_equal(found.u, one_by_one.u, equal_nan=True)


def ring(radius: float = 1.0) -> kane.Model:
    """A particle on a ring x² + y² = r², in a vertical plane."""
    m = kane.Model("ring", gravity=[0, -9.81, 0])
    m.parameter("r", radius)
    m.particle("carrier", 0.5)
    m.particle("bead", 1.0)
    m.joint("along", "prismatic", "ground", "carrier", axis="x", coordinates=["x"], speeds=["vx"])
    m.joint("up", "prismatic", "carrier", "bead", axis="y", coordinates=["y"], speeds=["vy"])
    m.constrain("ring", kane.ConfigurationEquations("x**2 + y**2 = r*abs(r)"))
    return m


def test_starts_that_cannot_be_spoil_no_start_beside_them() -> None:
    """A ring of imaginary radius has no point, at its centre its row vanishes, and nan is no place."""
    x, r = np.linspace(0.5, 0.9, 24), np.linspace(0.9, 1.1, 24)
    r[3] = -1.0
    x[9], r[9] = 0.0, 0.0
    x[17] = np.nan
    model = ring()
    found: Any = model.ensemble(0.3, q={"x": x, "y": 0.2}, u={"vy": 0.0}, parameters={"r": r})
    sound = [i for i in range(24) if i not in (3, 9, 17)]
    assert found.success[sound].all()
    assert found.reasons[3] == "refused"
    assert found.reasons[17] == "refused"
    for i in [i for i in range(24) if i != 17]:
        assert_alone(found, i)
    radius = np.linalg.norm(found.end_q[sound], axis=1)
    np.testing.assert_allclose(radius, r[sound], rtol=1e-12)


def test_speeds_that_cannot_be_are_named_for_their_member_alone() -> None:
    spin = np.full(20, -4.6 / 0.3)
    spin[5] = 1.0
    found = kane.load("whipple-bicycle").ensemble(0.2, u={"ux": 4.6, "uyaw": 0.0, "urear": spin})
    assert found.reasons[5] == "refused"
    assert "not possible together" in found.messages[5]
    assert found.success[[i for i in range(20) if i != 5]].all()


def test_processes_give_the_bits_of_threads_under_constraints() -> None:
    asked: dict[str, Any] = {"n": 130, "seed": 6, "u": {"uroll": "uniform(0.1, 0.8)"}}
    model = kane.load("whipple-bicycle")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as pool:
        far: Any = model.ensemble(TIMES, executor=pool, **asked)
    near: Any = model.ensemble(TIMES, **asked)
    assert near.success.all()
    assert np.array_equal(near.q, far.q)
    assert np.array_equal(near.u, far.u)
