"""Events that wait for an expression to rise or fall through zero, and never see it since it was beyond already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from .run_values import evaluate
from .trajectory import Trajectory

BEYOND = {1: ("above", "rise"), -1: ("below", "fall")}
"""Direction of an event → the side of zero that it leads to, and the way there."""


def tell_beyond_at_start(run: Trajectory, events: Mapping[str, Any] | None) -> Trajectory:
    """The run, which tells of each event with a direction that did not occur and was beyond zero when the motion began:
    a limit that was exceeded at all times is not one that held."""
    told: list[str] = []
    directed = {n: cast("Mapping[str, Any]", e) for n, e in (events or {}).items() if isinstance(e, Mapping)}
    for name, event in directed.items():
        direction = event.get("direction", 0)
        if direction in BEYOND and len(run) and not run.events[name]:
            first = float(evaluate(run, event["expression"])[0])
            if first * direction > 0.0:
                side, way = BEYOND[direction]
                told.append(
                    f"event '{name}' did not occur: its expression is {side} zero already at t = {run.t[0]:g} s"
                    f" ({first:.4g}), and the event is where it {way}s through zero"
                )
    return replace(run, outcome=run.outcome.add(*told)) if told else run


__all__ = ["tell_beyond_at_start"]
