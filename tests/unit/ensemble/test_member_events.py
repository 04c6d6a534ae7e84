"""Events of members in step: the crossings of the motion alone to the bit, whatever kind of event is watched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from unit.ensemble.alone import assert_motions_alone

TIMES = np.linspace(0.0, 2.0, 7)

FAST = {"fast": "sin(40*q1)", "waves": "sin(9*q2)*cos(5*q1) + 0.3", "clock": "sin(300*t)"}
CLOSE = {
    "pair": "(q1 - 0.3)*(q1 - 0.3 - 1e-4)",
    "closer": "(q1 - 0.3)*(q1 - 0.3 - 1e-7)",
    "three": "(q1 - 0.3)*(q1 - 0.3 - 1e-7)*(q1 - 0.3 - 2e-7)",
}
TOUCHES = {
    "touch": "(q1 - 0.2)**2",
    "near": "(q1 - 0.2)**2 + 1e-12",
    "turn": "cos(q1) - 1",
    "zero": "select(q1 > 100, q1, 0)",
    "never": "q1 - 100",
}
SHARP = {"kink": "abs(q1) - 0.5", "jump": "select(q1 > 0.5, 1, -1)", "pole": "1/(q1 - 0.1)"}
ONE_WAY = {"up": {"expression": "u1", "direction": 1}, "down": {"expression": "u1", "direction": -1}, "both": "u1"}
ENDS = {"first": {"expression": "q2 - 0.2", "terminal": True, "direction": 1}, "beside": "sin(3*q1)"}

KINDS: dict[str, dict[str, Any]] = {
    "fast": {"t": 1.5, "events": FAST},
    "close": {"t": 2.0, "events": CLOSE},
    "touches": {"t": 2.0, "events": TOUCHES},
    "sharp": {"t": 2.0, "events": SHARP},
    "one way": {"t": TIMES, "events": ONE_WAY},
    "terminal": {"t": TIMES, "events": ENDS},
    "backward": {"t": (2.0, 0.5), "events": ONE_WAY | CLOSE},
    "rk45": {"t": 1.0, "events": ONE_WAY | TOUCHES, "method": "rk45", "rtol": 1e-5},
    "rk4": {"t": 1.0, "events": ENDS | FAST, "method": "rk4", "step": 0.02},
}


DOUBTS = pytest.mark.filterwarnings("ignore:event .* crossings may be missing:RuntimeWarning")
"""Some of these touch zero, or change faster than can be followed, which is said."""


@DOUBTS
@pytest.mark.parametrize("kind", KINDS)
def test_events_of_members_are_those_of_motions_alone(kind: str) -> None:
    found = kane.load("double-pendulum").ensemble(
        **KINDS[kind], n=19, seed=4, q={"q1": "uniform(-2, 2)"}, parameters={"m1": "normal(1, 0.1)"}
    )
    assert_motions_alone(found)


def test_an_event_that_is_not_a_number_ends_its_member_alone() -> None:
    events = {"before": "q1 + q2", "root": "sqrt(q1 + 1) - 2", "behind": "u1"}
    found = kane.load("double-pendulum").ensemble(
        2.0, n=19, seed=4, q={"q1": "uniform(-0.9, 0.9)"}, u={"u1": "normal(0, 4)"}, events=events
    )
    assert 0 < np.count_nonzero(found.success) < 19
    assert_motions_alone(found)


@pytest.mark.parametrize("embed", ["formulation", "run-time"])
def test_events_of_constrained_members_are_those_of_motions_alone(embed: str) -> None:
    events = {"upright": "roll", "wave": "sin(20*roll)", "fell": {"expression": "roll**2 - 0.04", "terminal": True}}
    found = kane.load("whipple-bicycle").ensemble(
        TIMES, n=11, seed=3, u={"uroll": "uniform(0.1, 1.5)"}, events=events, embed=embed
    )
    assert_motions_alone(found)


def test_every_crossing_of_a_wave_is_counted_in_every_member() -> None:
    """sin(w t) with w of 60 values crosses zero floor(w t / pi) times within t."""
    m = kane.Model("still")
    m.parameter("w", 1.0)
    m.particle("mass", 1.0)
    m.joint("slide", "prismatic", "ground", "mass", axis="x", coordinates=["x"], speeds=["v"])
    w = np.linspace(0.5, 90.0, 60)
    found = m.ensemble(3.0, q={"x": np.zeros(60)}, u={"v": 1.0}, parameters={"w": w}, events={"wave": "sin(w*x)"})
    assert np.array_equal(found.crossings["wave"], np.floor(3.0 * w / np.pi))
    np.testing.assert_allclose(found.first["wave"], np.where(w * 3.0 > np.pi, np.pi / w, np.nan), rtol=1e-9)
