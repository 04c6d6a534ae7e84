"""Unit quaternions among the coordinates of a state: which they are, and what to make of one that is not unit.

The digits that people write are forgiven: a quaternion is divided by its length, with a word about it where that was
off by more than 1e-6; one that is off by more than 1e-2 is no rotation and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, Problem

if TYPE_CHECKING:
    from .tree import Tree

Array = np.ndarray[Any, np.dtype[np.float64]]
QUATERNIONS = ("spherical", "free")
"""Kinds of joints whose first four coordinates are a unit quaternion."""
FORGIVEN, REFUSED = 1e-6, 1e-2  # of the length from 1: rounding of what was written; no rotation at all


@dataclass(frozen=True, slots=True)
class Attitude:
    """The quaternion of a joint in a state: names of its coordinates, its length, and its elements made unit."""

    joint: str
    names: tuple[str, ...]
    length: float
    unit: tuple[float, ...]

    @property
    def refused(self) -> bool:
        return not abs(self.length - 1.0) <= REFUSED

    @property
    def doubtful(self) -> bool:
        return not abs(self.length - 1.0) <= FORGIVEN

    def problem(self, mechanism: Tree) -> Problem:
        """What to say of it where it is doubtful or refused."""
        shown = ", ".join(f"{x:.6g}" for x in self.unit)
        because = "an attitude is a unit quaternion (w, x, y, z)"
        where = mechanism.where(f"joint '{self.joint}'")
        what = f"the initial quaternion {', '.join(self.names)} has length {self.length:.9g}"
        if self.refused:
            fix = f"write [{shown}]" if self.length > 0 else "write [1, 0, 0, 0] for no rotation"
            return Problem(where, what, because, fix)
        return Problem(where, f"{what} and is divided by it", because, f"write [{shown}]")


def quaternion_of(R: Array) -> tuple[float, float, float, float]:
    """The unit quaternion (wxyz) of a rotation, w ≥ 0."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], 0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R[0, 0] + R[1, 1] + R[2, 2]],
        ]
    )
    x, y, z, w = np.linalg.eigh(K / 3.0)[1][:, -1]
    sign = -1.0 if w < 0 else 1.0
    return (float(sign * w), float(sign * x), float(sign * y), float(sign * z))


def start_of_attitude(mechanism: Tree, joint: str, orientation: Any, where: str) -> dict[str, float]:
    """Coordinate → value of the quaternion of a spherical or free joint whose child is turned by `orientation`."""
    found = mechanism.joints.get(joint)
    if found is None:
        turning = {name: j for name, j in mechanism.joints.items() if j.type.kind in QUATERNIONS}
        found = mechanism.find(f"{' or '.join(QUATERNIONS)} joint", joint, turning, where)
    if found.type.kind not in QUATERNIONS:
        what, because = "an orientation is given", f"a {found.type.kind} joint is no {' or '.join(QUATERNIONS)} one"
        raise ModelError(Problem(mechanism.where(where), what, because, "give numbers by the names of its coordinates"))
    rows = mechanism.fixed_rotation(orientation, where)
    R = np.array([[mechanism.number(entry, where) for entry in row] for row in rows])
    return dict(zip((c.name for c in found.coordinates[:4]), quaternion_of(R), strict=True))


def quaternion_places(mechanism: Tree) -> dict[str, list[int]]:
    """Joint → where the four elements of its quaternion are among the coordinates."""
    place = {c: i for i, c in enumerate(mechanism.coordinates)}
    joints = (j for j in mechanism.joints.values() if j.type.kind in QUATERNIONS)
    return {j.name: [place[c.name] for c in j.coordinates[:4]] for j in joints}


def unit_quaternions(mechanism: Tree, q: Array) -> Array:
    """q, (n,) or (k, n), with every quaternion made unit."""
    q = np.array(q, dtype=float)
    for indices in quaternion_places(mechanism).values():
        q[..., indices] /= np.linalg.norm(q[..., indices], axis=-1, keepdims=True)
    return q


def attitudes(mechanism: Tree, values: Mapping[str, float]) -> list[Attitude]:
    """The quaternions of a state, coordinate → value, in the order of the joints."""
    found = []
    for joint in mechanism.joints.values():
        if joint.type.kind in QUATERNIONS:
            names = tuple(c.name for c in joint.coordinates[:4])
            wxyz = [values[n] for n in names]
            length = math.hypot(*wxyz)
            unit = tuple(x / length for x in wxyz) if length > 0 else (1.0, 0.0, 0.0, 0.0)
            found.append(Attitude(joint.name, names, length, unit))
    return found
