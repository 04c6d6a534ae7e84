"""A program is the same whatever was asked before it: every one is lowered from a graph of its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kane
from kane.formulation import Equations

MODELS = ("double-pendulum", "satellite-with-panels", "whipple-bicycle", "stanford-arm-kane")


def names_of(model: kane.Model) -> list[str]:
    """Programs that a model has."""
    rows = ("constraints", "guarded_dynamics")
    return [name for name in Equations.SIGNATURES if model.constraints or name not in rows]


@pytest.mark.parametrize("name", MODELS)
def test_programs_do_not_depend_on_the_order_of_questions(name: str) -> None:
    first = kane.load(name)
    alone = {what: str(Equations(kane.load(name).mechanism).program(what)) for what in names_of(first)}
    order = names_of(first)
    random.Random(name).shuffle(order)
    equations = first.equations()
    for what in order:
        assert str(equations.program(what)) == alone[what], f"{what} after {order[: order.index(what)]}"


def test_a_motion_does_not_depend_on_what_was_asked_before() -> None:
    """A double pendulum for 20 s: what differs in the last bit at the start differs in the first digit at the end."""
    asked = kane.load("double-pendulum")
    asked.inverse_dynamics([1.0, 2.0], [0.0, 0.0], [0.0, 0.0])
    asked.energy([1.0, 2.0], [0.0, 0.0])
    motions = [m.simulate(20, q=[1.5, 2.0]) for m in (asked, kane.load("double-pendulum"))]
    assert np.array_equal(motions[0].q, motions[1].q)
