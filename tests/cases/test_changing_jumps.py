"""Loads that jump in time: from there on a new mode holds, also at a sample that falls on the jump."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane

MU, G, STRONG, UP = 0.4, 9.81, 10.0, 30.0
CLOSE = 1e-9


def pushed_block(push: str, lift: str = "0") -> kane.Model:
    """1 kg on a floor with friction."""
    m = kane.Model("block", gravity=(0, 0, -G))
    m.body("sledge", mass=0)
    m.particle("block", 1.0)
    m.joint("along", "prismatic", "ground", "sledge", axis="x", coordinates=["x"], speeds=["v"])
    m.joint("up", "prismatic", "sledge", "block", axis="z", coordinates=["z"], speeds=["w"])
    m.contact("floor", "block", "ground", shape={"point": (0, 0, 0)}, normal="z", friction=MU)
    m.load("push", kane.Force("block", (push, 0, lift)))
    return m


@pytest.mark.parametrize("times", [3.0, np.linspace(0, 3, 13), np.array([0.0, 1.0, 2.0, 3.0])], ids=str)
@pytest.mark.parametrize("when", ["t < {}", "t <= {}", "{} >= t", "10*t < 10*{}"])
def test_every_sample_has_the_forces_of_the_load_at_its_time(times: Any, when: str) -> None:
    """It sticks under 1 N, slides under 10 N, and 30 N upwards lift it."""
    push, lift = (f"select({when.format(t)}, {a}, {b})" for t, a, b in ((1, 1, STRONG), (2, 0, UP)))
    run = pushed_block(push, lift).simulate(times)
    assert [x.cause for x in run.transitions[1:]] == ["slip", "release"] and run.check().passed
    at_once = when.count("=") == 0  # whether the new load holds at the instant itself
    pushed = (run.t > 1) | ((run.t == 1) & at_once)
    lifted = (run.t > 2) | ((run.t == 2) & at_once)
    expected = np.where(lifted, STRONG, np.where(pushed, STRONG - MU * G, 0.0))
    assert run.acceleration()[:, 0] == pytest.approx(expected, abs=CLOSE)
    assert run.multipliers[:, 0] == pytest.approx(np.where(lifted, 0.0, G), abs=CLOSE)
    assert run.u[-1] == pytest.approx([STRONG - MU * G + STRONG, UP - G], abs=CLOSE)


def test_a_mode_that_stays_lawful_goes_on_through_a_jump() -> None:
    run = pushed_block("select(t < 1, 1, 2)").simulate(2.0)
    assert len(run.transitions) == 1 and run.multipliers[-1, 1] == pytest.approx(-2.0)


def test_samples_of_a_control_choose_the_mode_anew() -> None:
    """Held efforts of 1 N, then of 10 N: from that sample on it slides."""
    run = pushed_block("0").simulate(
        2.0, control=lambda t, q, u: [1.0 if t < 0.75 else STRONG, 0.0], control_period=0.25
    )
    assert [x.cause for x in run.transitions[1:]] == ["slip"] and run.check().passed
    expected = np.where(run.t < 0.75, 0.0, STRONG - MU * G)
    assert run.acceleration()[:, 0] == pytest.approx(expected, abs=CLOSE)
    assert run.u[-1, 0] == pytest.approx(1.25 * (STRONG - MU * G), abs=CLOSE)
