"""Which way a link's own axes point is our choice; this module makes the cheap one.

A link's axes are turned by a constant G against its body's. With z along the joint's axis and x along the common normal
to the next axis, the constant rotation between two joints is one turn about x and the joint's own a turn about z: four
multiplications each instead of nine. (The placement of Hartenberg and Denavit, found for any description.) Links that
slide or are welded take the orientation of their parent. Models whose axes are all parallel to coordinate axes are left
as they are described: nothing can be saved there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_SNAP = 1e-13  # entries of unit vectors below this are rounding errors of a product of rotations


@dataclass(slots=True)
class Hinge:
    """A joint in numbers: constant mounts, axis in the joint's frame, offset in the parent body's frame."""

    kind: str
    parent: Hinge | None
    mount: Array
    child_mount: Array
    axis: Array | None
    at: Array
    first_moment: Array  # of the child body, in its frame: which way it points
    children: list[Hinge] = field(default_factory=list)
    G: Array = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True, slots=True)
class Placement:
    """R_before, from the parent link's axes to the joint, and the angle by which a turn about z starts."""

    G: Array
    before: Array
    start: float


def snap(m: Array) -> Array:
    """Entries of a rotation (or of unit vectors) that are meant to be 0 or ±1 made so."""
    m = np.where(np.abs(m) < _SNAP, 0.0, m)
    return np.where(np.abs(np.abs(m) - 1.0) < _SNAP, np.sign(m), m)


def is_aligned(m: Array) -> bool:
    """Whether every entry is 0 or ±1: axes parallel to axes."""
    near = snap(m)
    return bool(np.all((near == 0.0) | (np.abs(near) == 1.0)))


def places(hinges: Sequence[Hinge]) -> list[Placement]:
    """A placement per hinge, parents first."""
    found = []
    for hinge in hinges:
        outer = np.eye(3) if hinge.parent is None else hinge.parent.G
        base = outer.T @ hinge.mount  # the joint's axes at rest, in the parent link's
        if hinge.kind == "revolute" and hinge.axis is not None:
            toward = _turn_z_to(hinge.axis)
            hinge.G = hinge.child_mount @ toward @ _about_z(_gauge(hinge, hinge.child_mount @ toward))
            whole = base @ hinge.child_mount.T @ hinge.G
            a, tilt, start = _zxz(snap(whole))
            before = snap(_about_z(a) @ _about_x(tilt))
            found.append(Placement(snap(hinge.G), before, start))
        elif hinge.kind in ("prismatic", "weld"):
            hinge.G = snap(hinge.child_mount @ base.T)
            found.append(Placement(hinge.G, np.eye(3), 0.0))
        else:
            hinge.G = hinge.child_mount
            found.append(Placement(hinge.G, snap(base), 0.0))
    return found


def _gauge(hinge: Hinge, G: Array) -> float:
    """The angle about its own z by which a link's axes are turned to suit what hangs on it."""
    for child in hinge.children:
        if child.axis is None:
            continue
        d = G.T @ child.mount @ child.axis
        if np.hypot(d[0], d[1]) > 1e-9:
            return float(np.arctan2(-d[0], d[1]))  # the next axis in the plane of y and z
    for child in hinge.children:
        p = G.T @ child.at
        if np.hypot(p[0], p[1]) > 1e-9 * max(1.0, float(np.abs(p).max())):
            return float(np.arctan2(p[1], p[0]))  # parallel axes: the offset along x
    h = G.T @ hinge.first_moment
    return float(np.arctan2(h[1], h[0])) if np.hypot(h[0], h[1]) > 0 else 0.0


def _about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _about_x(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _turn_z_to(axis: Array) -> Array:
    """A rotation that takes z to `axis`; where it already is a coordinate axis, one made of zeros and ones."""
    e = axis / np.linalg.norm(axis)
    k = int(np.argmin(np.abs(e)))
    x = _cross(np.eye(3)[k], e)
    x /= np.linalg.norm(x)
    return np.column_stack([x, _cross(e, x), e])


def _cross(a: Array, b: Array) -> Array:
    """a × b. (NumPy's own, made for arrays of vectors, takes ten times as long.)"""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _zxz(R: Array) -> tuple[float, float, float]:
    """(a, tilt, b) with R = Rz(a) Rx(tilt) Rz(b); a is zero where it can be.

    Where the tilt is small a is uncertain, but b is taken from what a and the tilt leave of R, and makes up for it.
    """
    s = float(np.hypot(R[0, 2], R[1, 2]))
    a, tilt = float(np.arctan2(R[0, 2], -R[1, 2])), float(np.arctan2(s, R[2, 2]))
    if s < _SNAP:
        a, tilt = 0.0, np.pi if R[2, 2] < 0 else 0.0
    elif s * (np.pi - abs(a)) < _SNAP:  # a turn of a = π is a tilt of the other sign
        a, tilt = 0.0, -tilt
    elif s * abs(a) < _SNAP:
        a = 0.0
    rest = (_about_z(a) @ _about_x(tilt)).T @ R
    return a, tilt, float(np.arctan2(rest[1, 0] - rest[0, 1], rest[0, 0] + rest[1, 1]))
