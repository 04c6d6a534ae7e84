"""Which way a link's own axes point is our choice; this module makes the cheap one.

A link's axes are turned by a constant G against its body's, whatever the description. z lies along the joint's axis,
or against it where the link before has its z there: turns about parallel axes are then one, by the sum of their angles.
x lies along the common normal of the two, and where that costs nothing the next one's along x or y. So the constant
rotation between two joints is one turn about x and the joint's own a turn about z: four multiplications each instead
of nine. (The placement of Hartenberg and Denavit, found for any description.) Links that slide or are welded take the
orientation of their parent.
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
            hinge.turn = 0.0 if hinge.parent is None else hinge.parent.turn
            place = Placement(snap(hinge.child_mount @ base.T), np.eye(3))
        else:
            place = Placement(hinge.child_mount, snap(base))
        hinge.G = place.G
        found.append(place)
    return found


def _turning(hinge: Hinge, base: Array, axis: Array) -> Placement:
    """The placement of a link that turns about `axis`."""
    sense, before = _toward(snap(base @ axis))
    back = hinge.parent.turn if hinge.parent is not None and before[2, 2] == 1.0 else 0.0  # x is the parent's
    G = hinge.child_mount @ base.T @ before @ _about_z(-back)
    start = _gauge(hinge, G) + hinge.turn
    G = snap(G @ _about_z(start))
    start -= back
    return Placement(G, before, start if abs(start) > _SNAP else 0.0, sense)


def _toward(e: Array) -> tuple[float, Array]:
    """(sense, R): R = Rz(a) Rx(tilt) takes z to e, or to −e where that is z itself; |a| is at most 90°."""
    s = math.hypot(e[0], e[1])
    if s < _SNAP:
        return math.copysign(1.0, e[2]), np.eye(3)
    a, tilt = math.atan2(e[0], -e[1]), math.atan2(s, e[2])
    if abs(a) > _RIGHT:
        a, tilt = a - math.copysign(math.pi, a), -tilt
    return 1.0, snap(_about_z(a if s * abs(a) > _SNAP else 0.0) @ _about_x(tilt))


def _gauge(hinge: Hinge, G: Array) -> float:
    """The angle about its own z, less than 45°, by which a link's axes are turned to suit the next axis."""
    for axis in _axes_on(hinge, G.T):
        if math.hypot(axis[0], axis[1]) > _ACROSS:
            return math.remainder(math.atan2(-axis[0], axis[1]), _RIGHT)
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
