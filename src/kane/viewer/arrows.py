"""Arrows of a scene, as data: forces at places over time, which any view of the motion may draw.

`Arrows` has places (m) and vectors in their own unit, in N; how long they are drawn is the business of the view.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import KaneError
from .shapes import Array


@dataclass(frozen=True, slots=True)
class Arrows:
    """Vectors over the times `t` (k,): their feet `at` (k, n, 3) (m) and `vector` (k, n, 3) in `unit`, in N, with a
    name for each foot. `outline` has the feet, by number and in order, of the polygon that `vehicle` stands on, and
    `measure` (k,) says how near it is to tipping over (N rad), negative where it would."""

    name: str
    t: Array
    at: Array
    vector: Array
    feet: tuple[str, ...]
    vehicle: str = ""
    outline: tuple[int, ...] = ()
    measure: Array = field(default_factory=lambda: np.zeros(0))
    unit: str = "N"

    def __post_init__(self) -> None:
        if self.at.shape != self.vector.shape or self.at.shape != (len(self.t), len(self.feet), 3):
            raise ValueError(f"arrows '{self.name}': t {self.t.shape}, at {self.at.shape}, vector {self.vector.shape}")

    def between(self, times: Array) -> tuple[Array, Array]:
        """(at, vector) at other times, linear between those that are there."""
        flat = (x.reshape(len(self.t), -1) for x in (self.at, self.vector))
        found = (np.column_stack([np.interp(times, self.t, column) for column in x.T]) for x in flat)
        at, vector = (x.reshape(len(times), *self.at.shape[1:]) for x in found)
        return at, vector


def vehicle_arrows(run: Any) -> tuple[Arrows, ...]:
    """Forces of the ground on the wheels of each vehicle of a trajectory, outlined by the support polygon; none where
    they cannot be told."""
    found: list[Arrows] = []
    for name in run.model.mechanism.vehicles:
        try:
            ground = run.ground(name)
        except KaneError:
            continue
        if np.all(np.isfinite(ground.force)):
            forces = (ground.t, ground.contact, ground.force, ground.wheels)
            found.append(Arrows(f"ground on {name}", *forces, name, *_outline(run, name, ground.wheels)))
    return tuple(found)


def _outline(run: Any, vehicle: str, wheels: tuple[str, ...]) -> tuple[tuple[int, ...], Array]:
    """(the wheels at the corners of the support polygon, in order; the measure (k,)); none where a vehicle stands on a
    line."""
    try:
        tip = run.tipover(vehicle)
    except KaneError:
        return (), np.zeros(0)
    return tuple(wheels.index(first) for first, _ in tip.edges), tip.alpha


__all__ = ["Arrows", "vehicle_arrows"]
