"""Random sequences of modes: no hang, what holds is held after every transition, and nothing gains energy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from kane.errors import ModelError
from laws.mode_sequences import ModeSketch, build_sketch, sketches
from long.random_sequences import DURATION, STEPS, judge_energy, judge_modes
from seeds import FIXED, examples


def judge(sketch: ModeSketch) -> str:
    """Run a mechanism and judge it; how its motion ended, "refused" where it cannot be described."""
    try:
        m, u = build_sketch(sketch)
        run = m.simulate(DURATION, u=u, max_steps=STEPS)
    except ModelError:  # a contact along which nothing can move, or one that starts inside the floor
        return "refused"
    if (
        not run.outcome.success
    ):  # friction beside ratchets may allow no motion; that is said, and nothing else stops one
        assert run.outcome.reason == "mode" and "no set of constraints is consistent" in str(run.outcome), run.outcome
    judge_modes(m, run)
    judge_energy(m, run)
    return str(run.outcome.reason)


@settings(max_examples=examples(6), derandomize=FIXED)
@given(sketches())
def test_random_modes_follow_each_other_lawfully(sketch: ModeSketch) -> None:
    judge(sketch)


@pytest.mark.long
@settings(max_examples=examples(100))
@given(sketches())
def test_a_thousand_random_mechanisms_change_their_modes_lawfully(sketch: ModeSketch) -> None:
    judge(sketch)
