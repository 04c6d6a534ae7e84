"""Events with a direction that are beyond zero when the motion begins."""

from __future__ import annotations

from typing import Any

import pytest

import kane


def event(expression: str, direction: int) -> dict[str, Any]:
    return {"limit": {"expression": expression, "direction": direction, "terminal": True}}


@pytest.mark.parametrize(("expression", "direction", "side"), [("T + 1", 1, "above"), ("T - 99", -1, "below")])
def test_a_limit_that_is_exceeded_from_the_start_is_told(expression: str, direction: int, side: str) -> None:
    """A pendulum let go at rest hangs on its pivot with m g cos q, and with no more than three times its weight."""
    m = kane.load("pendulum")
    text = expression.replace("T", "force.pivot")
    run = m.simulate(1, q={"q": 1.0}, u={"u": 0.0}, events=event(text, direction))
    assert run.outcome.success and run.t[-1] == 1.0
    assert f"event 'limit' did not occur: its expression is {side} zero already at t = 0 s" in str(run.outcome)


def test_an_event_that_occurs_or_may_yet_occur_is_not_told() -> None:
    """The angle falls through zero within a second; it does not come to -2 rad, nor, from -1, rise to 2 rad."""
    m = kane.load("pendulum")
    for start, text, direction in ((1.0, "q", -1), (1.0, "q + 2", -1), (-1.0, "q - 2", 1)):
        run = m.simulate(1, q={"q": start}, u={"u": 0.0}, events=event(text, direction))
        assert "did not occur" not in str(run.outcome)
