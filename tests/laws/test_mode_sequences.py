"""Random sequences of modes: no hang, what holds is held after every transition, and nothing gains energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kane.errors import ModelError
from laws.mode_sequences import ModeSketch, build_sketch, sketches
from long.random_sequences import DURATION, STEPS, judge_energy, judge_modes, random_model
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


ONCE_FAULTS = {
    "a bounce that drives a ratchet grew by itself": (
        ("planar", "pendulum"),
        ("gate", "latch", "stop", "ratchet"),
        2053042056,
    ),
    "an imposed row that follows from others had only rounding to stop": (
        ("disc",),
        ("switched", "switched", "switched", "latch"),
        3615667124,
    ),
    "the same beside a body that falls": (("slider", "disc", "planar"), ("switched", "ratchet", "friction"), 724357114),
    "friction jams a body in space: its reaction grows beyond all bounds": (
        ("free", "planar", "pendulum"),
        ("friction", "floor"),
        3528770418,
    ),
}

JAMS = (1923203257, 3084955804)  # seed of the mechanism


@pytest.mark.parametrize("what", ONCE_FAULTS)
def test_what_once_was_a_fault_goes_on(what: str) -> None:
    assert judge(ModeSketch(*ONCE_FAULTS[what])) == "end"


def test_friction_that_jams_a_contact_under_a_switched_equation_strikes_it() -> None:
    """The reaction of a slip grows like 1/√(time left) towards a place where friction leaves no normal mobility along
    the motions which the equation allows; no step passes that, and an impact without collision does."""
    rng = np.random.default_rng(JAMS)
    m = random_model(rng)
    run = m.simulate(DURATION, u=rng.normal(size=len(m.speeds)), max_steps=STEPS)
    assert run.outcome.success, run.outcome
    (jam,) = [x for x in run.transitions if x.cause == "impact without collision"]
    assert jam.energy_change < 0.0 and jam.t == pytest.approx(0.965441, abs=1e-6)  # where the steps ended
    assert np.linalg.norm(jam.impulse["c0"]) > 0.0
    judge_modes(m, run)
    judge_energy(m, run)


def test_a_row_that_can_no_more_act_is_named() -> None:
    """A ratchet along an axis of a ball that rolls: where the axis is upright the floor alone decides, and no force can
    keep the rate from falling through zero."""
    assert judge(ModeSketch(("disc", "disc", "free"), ("ratchet",), 2346782273)) == "mode"


@settings(max_examples=examples(4), derandomize=FIXED)
@given(sketches())
def test_random_modes_follow_each_other_lawfully(sketch: ModeSketch) -> None:
    judge(sketch)


@pytest.mark.long
@settings(max_examples=examples(100))
@given(sketches())
def test_a_thousand_random_mechanisms_change_their_modes_lawfully(sketch: ModeSketch) -> None:
    judge(sketch)
