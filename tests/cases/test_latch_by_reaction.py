"""A pendulum that is caught, and let go where the reaction of its latch says so: the time is known in closed form."""

from __future__ import annotations

import math

import pytest

import kane

CAUGHT = 0.2  # rad
LEVEL = 3.0  # N m, of the reaction plus the time
WITHIN = 1e-9  # s: location of an event


def test_a_latch_lets_go_where_its_reaction_says_so() -> None:
    """It holds m g L sin(q) = 9.81 sin(0.2) N m, so that |λ| + t rises through 3 at t = 3 − 9.81 sin(0.2)."""
    m = kane.load("pendulum")
    m.constrain("hook", kane.Latch(f"q - {CAUGHT}"), until=f"abs(hook) + t - {LEVEL}")
    run = m.simulate(2.0, q=[-1.0])
    caught, freed = [x for x in run.transitions if x.cause in ("imposed", "freed")]
    assert (caught.cause, freed.cause) == ("imposed", "freed")
    assert freed.t == pytest.approx(LEVEL - 9.81 * math.sin(CAUGHT), abs=WITHIN)
    before = run.t <= freed.t
    after_catch = before & (run.t > caught.t)
    assert after_catch.any() and abs(run.q[after_catch, 0] - CAUGHT).max() < WITHIN
