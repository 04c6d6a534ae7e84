"""A slider that bounces on a stop, with an arm that slips after every impact and sticks in every flight."""

from __future__ import annotations

import numpy as np
import pytest

import kane

SELF_SIMILAR = 1e-4
"""Of a factor: a gap is known to 1e-5 of itself where flights begin to end by time, and the arm has turned a little."""


def test_bounces_come_to_rest_though_friction_sticks_in_every_flight() -> None:
    """A slider bounces on a stop, and an arm on it slips after every impact and sticks in flight. All that decides is
    the same in every bounce, so that impulses and flights fall by one factor, down to what rounding hides; the sum of
    the flights is when it rests."""
    m = kane.Model(gravity=(0, 0, -9.81))
    m.body("slider", mass=1.9)
    m.body("arm", mass=2.1, center=(0.0033, 0, 0.021), inertia={"xx": 0.035, "yy": 0.035, "zz": 0.035})
    m.joint("up", "prismatic", "ground", "slider", axis="z", coordinates=["z"])
    m.joint("hinge", "revolute", "slider", "arm", axis="y", coordinates=["turn"])
    m.constrain("stop", kane.HardStop("z", lower=-0.2275, restitution=0.387))
    m.constrain("friction", kane.Friction("turn'", bound=2.0))
    run = m.simulate(1.0)
    assert run.outcome.success, run.outcome
    struck = [x for x in run.transitions if x.cause == "impact"]
    impulses = np.array([x.impulse["stop"][0] for x in struck])
    ratios = impulses[6:-1] / impulses[5:-2]  # while the arm still turns by something its weight acts at other places
    assert len(ratios) > 10 and ratios == pytest.approx(ratios[0], rel=SELF_SIMILAR)
    first, second = struck[5].t, struck[6].t
    assert struck[-1].t == pytest.approx(first + (second - first) / (1 - ratios[0]), abs=1e-3 * (second - first))
    assert run.transitions[-1].mode["stop"] == "sticks" and run.q[-1, 0] == pytest.approx(-0.2275, abs=1e-12)
