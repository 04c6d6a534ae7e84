"""Arrows of a scene, as data: forces at places over time, which any view of the motion may draw.

`Arrows` has places (m) and vectors in their own unit, in N; how long they are drawn is the business of the view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import KaneError
from .shapes import Array

_LONG = 1.5  # of the spread of the places, how long the usual largest arrow is drawn: wheels hide its foot


@dataclass(frozen=True, slots=True)
class Arrows:
    """`n` vectors over the times `t` (k,): their feet `at` (k, n, 3) (m) and `vector` (k, n, 3) in `unit`, in N."""

    name: str
    t: Array
    at: Array
    vector: Array
    unit: str = "N"
    color: str = "#15803d"

    def __post_init__(self) -> None:
        if self.at.shape != self.vector.shape or self.at.shape[:1] != self.t.shape or self.at.shape[-1:] != (3,):
            raise ValueError(f"arrows '{self.name}': t {self.t.shape}, at {self.at.shape}, vector {self.vector.shape}")

    def between(self, times: Array) -> tuple[Array, Array]:
        """(at, vector) at other times, linear between those that are there."""
        flat = (x.reshape(len(self.t), -1) for x in (self.at, self.vector))
        found = (np.column_stack([np.interp(times, self.t, column) for column in x.T]) for x in flat)
        at, vector = (x.reshape(len(times), *self.at.shape[1:]) for x in found)
        return at, vector

    def scale(self) -> float:
        """Metres for one unit: vectors of a usual size become longer than the distance of their feet."""
        sizes = np.linalg.norm(self.vector, axis=-1)
        usual = float(np.median(sizes.max(axis=1))) if sizes.size else 0.0
        spread = float(np.ptp(self.at, axis=1).max()) if self.at.size else 0.0
        return _LONG * (spread or 1.0) / usual if usual > 0 else 0.0


def vehicle_arrows(run: Any) -> tuple[Arrows, ...]:
    """Forces of the ground on the wheels of each vehicle of a trajectory; none where they cannot be told."""
    found: list[Arrows] = []
    for name in run.model.mechanism.vehicles:
        try:
            ground = run.ground(name)
        except KaneError:
            continue
        if np.all(np.isfinite(ground.force)):
            found.append(Arrows(f"ground on {name}", ground.t, ground.contact, ground.force))
    return tuple(found)


__all__ = ["Arrows", "vehicle_arrows"]
