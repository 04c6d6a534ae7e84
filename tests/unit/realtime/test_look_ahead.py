"""Looking ahead at the next tick changes no bit, foresees transitions, and is taken over where it was right."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.realtime import Human, Mailbox, SimulatedDevice, Touch

FORESEEN = 0.9  # of the ticks with transitions: a hand does not go straight on from tick to tick

HANDS = {
    "bouncing-ball": (("z",), SimulatedDevice(0.1, 1.5, human=Human("0.02 + 0.05*sin(40*t)", 0.2, 2.0, 300.0))),
    "piano-key": (("k",), SimulatedDevice(1e-3, 0.02, human=Human("0.03 - 0.03*sin(12*t)", 1e-3, 0.05, 5.0))),
    "newtons-cradle": (("q1",), SimulatedDevice(0.1, 1.0, human=Human("0.02*sin(5*t)", 0.0, 1.0, 20.0))),
    "shopping-cart": (
        ("x", "y", "heading"),
        SimulatedDevice(0.5, 5.0, human=Human(("0.3*sin(t)", "0.1*sin(2*t)", "0.4*sin(3*t)"), 0.5, 10.0, 80.0)),
    ),
}


def load(name: str) -> kane.Model:
    """A model; the cart with a caster that turns easily."""
    m = kane.load(name)
    if name == "shopping-cart":
        m.set_parameters(mc=0.5)
    return m


@pytest.mark.parametrize("name", HANDS)
@pytest.mark.parametrize("steps", [1, 3])
def test_looking_ahead_changes_no_bit(name: str, steps: int) -> None:
    axes, device = HANDS[name]
    ahead, plain = (
        Touch(load(name), device, axes, steps=steps, real_time=False, look_ahead=look).run(6.0)
        for look in (True, False)
    )
    for what in ("q", "u", "work", "force", "observed"):
        assert np.array_equal(getattr(ahead, what), getattr(plain, what)), what
    assert [(x.t, x.cause, x.constraints, x.mode) for x in ahead.transitions] == [
        (x.t, x.cause, x.constraints, x.mode) for x in plain.transitions
    ]
    assert ahead.timing.changes == plain.timing.changes > 0
    assert ahead.timing.foreseen >= FORESEEN * ahead.timing.changes and plain.timing.foreseen == 0


def test_a_tick_that_comes_as_expected_is_taken_over() -> None:
    """Nobody holds the model: whatever it does was worked out before."""
    mailbox = Mailbox(1)
    ahead, plain = (
        Touch(kane.load("newtons-cradle"), mailbox, ("q1",), real_time=False, look_ahead=look).run(3.0)
        for look in (True, False)
    )
    assert ahead.timing.prepared == ahead.timing.ticks and plain.timing.prepared == 0
    assert ahead.timing.foreseen == ahead.timing.changes > 10
    assert np.array_equal(ahead.q, plain.q) and len(ahead.transitions) == len(plain.transitions)


def test_a_hand_that_rests_is_expected_to() -> None:
    mailbox = Mailbox(1, damping=5.0, silence=1e9)
    mailbox.put([0.3])
    m = kane.load("bouncing-ball")
    ahead, plain = (Touch(m, mailbox, ("z",), real_time=False, look_ahead=look).run(3.0) for look in (True, False))
    assert ahead.timing.prepared == ahead.timing.ticks - 1  # the first one takes hold
    assert np.array_equal(ahead.q, plain.q) and np.array_equal(ahead.force, plain.force)
