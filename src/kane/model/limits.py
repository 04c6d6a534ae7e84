"""Limits of joints as those of the columns of a motion: coordinates, the speeds that are their rates, their efforts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .mechanism import Mechanism
from .records import Limit

SLACK = 1e-9
"""What a value may be beyond a limit, as a share of the limit, or in SI units below 1: a stop holds no better."""


def limits_by_speed(mechanism: Mechanism) -> Iterator[tuple[str, int, Limit]]:
    """(coordinate, place of the speed that is its rate, limits) of all coordinates that have both."""
    rates = {record.definition: i for i, record in enumerate(mechanism.speed_records.values())}
    for name, limit in mechanism.limits.items():
        place = rates.get(mechanism.coordinate_rates[mechanism.coordinate_records[name].symbol])
        if place is not None:
            yield name, place, limit


def limits_by_column(mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """The least and the largest allowed value of coordinates, speeds (u1) and efforts (tau_u1) that have a limit."""
    found = {name: (limit.lower, limit.upper) for name, limit in mechanism.limits.items()}
    for _, place, limit in limits_by_speed(mechanism):
        speed = mechanism.speeds[place]
        found[speed] = (-limit.velocity, limit.velocity)
        found[f"tau_{speed}"] = (-limit.effort, limit.effort)
    return {name: ends for name, ends in found.items() if any(map(math.isfinite, ends))}


__all__ = ["SLACK", "limits_by_column", "limits_by_speed"]
