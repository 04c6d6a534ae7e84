"""The mode of one state of a motion: what each changing constraint does there, and which way its slips go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..constraints.thresholds import AT_REST
from .changing import ChangingSet
from .routine import Routine
from .solution import Array


@dataclass(frozen=True, slots=True)
class SampleMode:
    """What each changing constraint does at one time: "open", "sticks" or "slips", and the direction (2,) of each slip
    along its rows, a unit vector."""

    mode: Mapping[str, str]
    slip: Mapping[str, Array]


def row_terms(changing: ChangingSet, x: Array) -> Mapping[str, Array]:
    """The terms of the equations at inputs x, rows `A` (m, n) and their `rate` (m,) (m/s, rad/s) among them."""
    return changing.layout.terms.split(Routine(changing.terms.address, changing.layout.terms.size)(x))


def slip_rows(changing: ChangingSet) -> list[slice]:
    """The rows of each element along which friction acts."""
    skipped = {"contact": 1, "friction": 0}
    return [
        slice(first + skipped.get(e.type, e.rows), first + e.rows)
        for e, first in zip(changing.elements, changing.first_rows, strict=True)
    ]


def with_slips(changing: ChangingSet, mode: Mapping[str, str], rate: Array) -> SampleMode:
    """A mode with the directions of its slips, for motions in time steps, within which they may turn round: those of
    the rates (m,) of their rows. What has no speed sticks."""
    found, slip = dict(mode), dict[str, Array]()
    for e, rows in zip(changing.elements, slip_rows(changing), strict=True):
        if mode[e.name] != "slips":
            continue
        speed = float(np.linalg.norm(rate[rows]))
        if speed > AT_REST:
            slip[e.name] = np.pad(rate[rows] / speed, (0, 2 - len(rate[rows])))
        else:
            found[e.name] = "sticks"
    return SampleMode(found, slip)


__all__ = ["SampleMode", "row_terms", "with_slips"]
