"""Which way a link's own axes point is our choice; this module makes the cheap one.

A link's axes are turned by a constant G against its body's, whatever the description. z lies along the joint's axis,
or against it where the link before has its z there: turns about parallel axes are then one, by the sum of their angles.
x or y lies along the common normal to the next axis. So the constant rotation between two joints is one turn about x
and the joint's own a turn about z: four multiplications each instead of nine. (The placement of Hartenberg and
Denavit, found for any description.) Links that slide or are welded take the orientation of their parent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_RIGHT = math.pi / 2
_SNAP = 1e-13  # entries of unit vectors below this are rounding errors of a product of rotations
_EXACT = 4e-15  # a starting angle this close to a multiple of 90° is one
_QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # a turn about z
_ACROSS = 1e-9  # an axis that leans by more than this has a common normal with z


@dataclass(slots=True)
class Hinge:
    """A joint in numbers: constant mounts, axis in the joint's frame; and by how much the axes of a link that turns are
    turned further about z (rad), where that saves something (`turns`)."""

    kind: str
    parent: Hinge | None
    mount: Array
    child_mount: Array
    axis: Array | None
    turn: float = 0.0
    children: list[Hinge] = field(default_factory=list)
    G: Array = field(default_factory=lambda: np.eye(3))

    @property
    def is_aligned(self) -> bool:
        """Whether mounts and axis are made of zeros and ones: right angles."""
        near = snap(np.vstack([self.mount, self.child_mount, np.eye(3) if self.axis is None else self.axis]))
        return bool(np.all((near == 0.0) | (np.abs(near) == 1.0)))


@dataclass(frozen=True, slots=True)
class Placement:
    """R_before, from the parent link's axes to the joint; the angle by which a turn about z starts, and its sense."""

    G: Array
    before: Array
    start: float = 0.0
    sense: float = 1.0


def snap(m: Array) -> Array:
    """Entries of a rotation (or of unit vectors) that are meant to be 0 or ±1 made so."""
    m = np.where(np.abs(m) < _SNAP, 0.0, m)
    return np.where(np.abs(np.abs(m) - 1.0) < _SNAP, np.sign(m), m)


def places(hinges: Sequence[Hinge]) -> list[Placement]:
    """A placement per hinge, parents first."""
    found = []
    for hinge in hinges:
        outer = np.eye(3) if hinge.parent is None else hinge.parent.G
        base = outer.T @ hinge.mount  # the joint's axes at rest, in the parent link's
        if hinge.kind == "revolute" and hinge.axis is not None:
            place = _turning(hinge, base, hinge.axis)
        elif hinge.kind in ("prismatic", "weld"):
            place = Placement(snap(hinge.child_mount @ base.T), np.eye(3))
        else:
            place = Placement(hinge.child_mount, snap(base))
        hinge.G = place.G
        found.append(place)
    return found


def _turning(hinge: Hinge, base: Array, axis: Array) -> Placement:
    """The placement of a link that turns about `axis`: of four that differ by quarter turns, that which starts at the
    least angle, so at none where all angles are right ones."""
    sense = -1.0 if snap(base @ axis)[2] == -1.0 else 1.0
    G = _turn_z_to(sense * (hinge.child_mount @ axis))
    G = G @ _about_z(_gauge(hinge, G) + hinge.turn)
    a, tilt, start = _zxz(snap(base @ hinge.child_mount.T @ G))
    quarters = round(start / _RIGHT)
    start -= quarters * _RIGHT
    G = snap(G @ np.linalg.matrix_power(_QUARTER, -quarters % 4))
    return Placement(G, snap(_about_z(a) @ _about_x(tilt)), start if abs(start) > _EXACT else 0.0, sense)


def _gauge(hinge: Hinge, G: Array) -> float:
    """The angle about its own z by which a link's axes are turned to suit the next axis: it lies across x then."""
    for axis in _axes_on(hinge, G.T):
        if math.hypot(axis[0], axis[1]) > _ACROSS:
            return math.atan2(-axis[0], axis[1])
    return 0.0


def _axes_on(hinge: Hinge, R: Array) -> Iterator[Array]:
    """The axes of the joints on a link and on what has its orientation, in the axes that R leads to."""
    for child in hinge.children:
        if child.axis is not None:
            yield R @ child.mount @ child.axis
        if child.kind in ("prismatic", "weld"):
            yield from _axes_on(child, R @ child.mount @ child.child_mount.T)


def _about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _about_x(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _turn_z_to(axis: Array) -> Array:
    """A rotation that takes z to `axis`; where it already is a coordinate axis, one made of zeros and ones."""
    e = axis / np.linalg.norm(axis)
    x = _cross(np.eye(3)[int(np.argmax(np.abs(e))) - 1], e)
    x /= np.linalg.norm(x)
    return np.column_stack([x, _cross(e, x), e])


def _cross(a: Array, b: Array) -> Array:
    """a × b. (NumPy's own, made for arrays of vectors, takes ten times as long.)"""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _zxz(R: Array) -> tuple[float, float, float]:
    """(a, tilt, b) with R = Rz(a) Rx(tilt) Rz(b); |a| is at most 90°, and zero where it can be.

    Where the tilt is small a is uncertain, but b is taken from what a and the tilt leave of R, and makes up for it.
    """
    s = math.hypot(R[0, 2], R[1, 2])
    a, tilt = math.atan2(R[0, 2], -R[1, 2]), math.atan2(s, R[2, 2])
    if abs(a) > _RIGHT:  # a turn of a = π is a tilt of the other sign
        a, tilt = a - math.copysign(math.pi, a), -tilt
    if s < _SNAP:
        a, tilt = 0.0, math.pi if R[2, 2] < 0 else 0.0
    elif s * abs(a) < _SNAP:
        a = 0.0
    rest = (_about_z(a) @ _about_x(tilt)).T @ R
    return a, tilt, math.atan2(rest[1, 0] - rest[0, 1], rest[0, 0] + rest[1, 1])
