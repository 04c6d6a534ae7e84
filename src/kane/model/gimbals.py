"""Gimbal lock: three gimbal angles whose rates no longer give every angular velocity.

For a sequence of three different axes the outer axes are parallel where the middle angle is ±90°; for a symmetric one,
3-1-3 say, where it is 0 or 180°. There the matrix of joint partials Γ is singular [STON08].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Problem
from ..space import rotations
from .joints import Gimbal
from .mechanism import Mechanism

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Lock:
    """A gimbal joint at or near lock: its middle angle (rad), and |det Γ|, zero at lock and one farthest from it."""

    joint: str
    coordinate: str
    angle: float
    determinant: float

    def __str__(self) -> str:
        angle = f"{self.coordinate} = {math.degrees(self.angle):.6g}°"
        return f"joint '{self.joint}' is at gimbal lock: {angle}, |det Γ| = {self.determinant:.2g}"


def locks(mechanism: Mechanism, q: Array | Sequence[float], closeness: float) -> list[Lock]:
    """The gimbal joints of three angles whose |det Γ| is at most `closeness` at the coordinates q."""
    place = {c: k for k, c in enumerate(mechanism.coordinates)}
    found = []
    for joint in mechanism.joints.values():
        if not isinstance(joint.type, Gimbal) or len(joint.coordinates) != 3:
            continue
        axes = rotations.parse_sequence(joint.type.sequence)[1]
        middle = joint.coordinates[1].name
        angle = float(q[place[middle]])
        determinant = abs(math.sin(angle) if axes[0] == axes[2] else math.cos(angle))
        if determinant <= closeness:
            found.append(Lock(joint.name, middle, angle, determinant))
    return found


def lock_problem(mechanism: Mechanism, lock: Lock) -> Problem:
    """What to say about a state that is at gimbal lock."""
    return Problem(
        mechanism.where(f"joint '{lock.joint}'"),
        f"{lock.coordinate} = {math.degrees(lock.angle):.6g}° is gimbal lock (|det Γ| = {lock.determinant:.2g})",
        "at lock two of the three axes are parallel and the rates of the angles are not determined",
        "start from another angle, choose another sequence, or use a spherical joint, which has no lock",
    )
