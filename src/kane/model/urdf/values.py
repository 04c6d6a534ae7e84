"""Attributes of URDF elements as numbers, vectors, orientations and inertias, every fault noted at its line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import ExpressionError, ModelError, Problem, excerpt
from ..files.faults import Lost, TooManyFaults, problems_of
from ..files.nodes import MAX_FAULTS, problem, stop_remark
from ..right_angles import RIGHT_ANGLE, cos_sin, right_angle_error, rounded_sentences
from .xml import Element

Array = np.ndarray[Any, np.dtype[np.float64]]

LARGEST = 1e15
"""Magnitude beyond which a number of a robot is a mistake; products of some of them still fit a float64."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

UNBOUNDED = 1e30
"""A limit as large as this is no limit: URDF readers refuse infinity, so files write a large number for it."""


class Faults:
    """What has been found wrong with one file, in the order of its lines."""

    def __init__(self, source: str, right_angle: float = RIGHT_ANGLE):
        self.source = source
        self.right_angle = right_angle
        self.found: list[tuple[int, Problem]] = []
        self.remarks: list[Problem] = []  # what is doubtful but was taken as it is
        self.rounded: dict[str, tuple[int, float]] = {}  # where right angles have few digits: line, largest error (rad)

    def remark(self, line: int, where: str, what: str, because: str = "", fix: str = "") -> None:
        self.remarks.append(problem(self.source, line, where, what, because, fix))

    def note(self, line: int, where: str, what: str, because: str = "", fix: str = "") -> Lost:
        self.found.append((line, problem(self.source, line, where, what, because, fix)))
        if len(self.found) >= MAX_FAULTS:
            raise TooManyFaults
        return Lost()

    def locate(self, error: ModelError | ExpressionError, line: int, prefix: str) -> None:
        """Note the problems of the model itself at a line of the file."""
        for p in problems_of(error):
            self.note(line, p.where.removeprefix(prefix), p.what, p.because, p.fix)

    def remark_right_angles(self) -> None:
        """Tell, once, of right angles that are written with few digits."""
        if self.rounded:
            errors = {where: off for where, (_, off) in self.rounded.items()}
            what, because, fix = rounded_sentences(errors, "load with right_angle=...")
            self.remark(next(iter(self.rounded.values()))[0], "", what, because, fix)

    def raise_all(self) -> None:
        if self.found:
            found = sorted(self.found, key=lambda f: f[0])
            raise ModelError([*(p for _, p in found), *stop_remark(self.source, found[-1][0], len(found))])

    # values --------------------------------------------------------------------------------------------------------

    def word(self, element: Element, key: str, where: str) -> str:
        """An attribute that has to be there."""
        value = element.attributes.get(key, "").strip()
        if not value:
            raise self.note(element.line, where, f"<{element.tag}> has no {key}", fix=f'write {key}="…"')
        return value

    def number(self, element: Element, key: str, where: str, default: float | None = None) -> float:
        text = element.attributes.get(key)
        if text is None and default is not None:
            return default
        return self._numbers(element, key, self.word(element, key, where), where, 1)[0]

    def bound(self, element: Element, key: str, where: str, default: float) -> float:
        """A limit: any finite number, or inf; a number as large as `UNBOUNDED` is none."""
        text = element.attributes.get(key, "").strip().lower()
        if text.lstrip("+-") in ("inf", "infinity"):
            return -math.inf if text.startswith("-") else math.inf
        if not text:
            return default
        if not _NUMBER.fullmatch(text):
            raise self.note(element.line, where, f"{key} '{excerpt(text)}' is not a number")
        value = float(text)
        return value if abs(value) < UNBOUNDED else math.copysign(math.inf, value)

    def triple(self, element: Element | None, key: str, where: str, default: Sequence[float]) -> tuple[float, ...]:
        if element is None or key not in element.attributes:
            return tuple(default)
        return self._numbers(element, key, element.attributes[key], where, len(default))

    def _numbers(self, element: Element, key: str, text: str, where: str, count: int) -> tuple[float, ...]:
        words = text.split()
        what = f"{key} '{excerpt(text)}'"
        if len(words) != count:
            need = "one number" if count == 1 else f"{count} numbers"
            raise self.note(element.line, where, f"{what} has {len(words)} parts", f"{key} is {need}")
        values = []
        for word in words:
            if not _NUMBER.fullmatch(word):
                because, fix = (
                    "numbers of a URDF stand alone, in SI units",
                    "write the number without a unit: 4.0",
                )
                raise self.note(element.line, where, f"{what} is not a number", because, fix)
            value = float(word)
            if not abs(value) <= LARGEST:
                because = f"numbers of a robot are finite, of magnitude up to {LARGEST:g}"
                raise self.note(element.line, where, f"{what} is too large", because, "give a finite number")
            values.append(value)
        return tuple(values)

    def pose(self, element: Element | None, where: str) -> tuple[tuple[float, ...], Array]:
        """(xyz, R) of the <origin> of an element."""
        origin = None if element is None else element.first("origin")
        zero = (0.0, 0.0, 0.0)
        xyz, rpy = self.triple(origin, "xyz", where, zero), self.triple(origin, "rpy", where, zero)
        if origin is not None and element is not None and element.tag in ("joint", "inertial"):
            off = max(map(right_angle_error, origin.attributes.get("rpy", "").split()), default=0.0)
            if off > self.right_angle:
                self.rounded.setdefault(where, (origin.line, off))
        return xyz, turn(rpy, self.right_angle)

    def inertia(self, element: Element, where: str) -> Array:
        """The central inertia of an <inertial>, in its own axes."""
        inertia = element.first("inertia")
        if inertia is None:
            fix = "write <inertia ixx=… iyy=… izz=… ixy=… ixz=… iyz=…/>"
            raise self.note(element.line, where, "<inertial> has no <inertia>", fix=fix)
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        xx, yy, zz, xy, xz, yz = each_of(*(partial(self.number, inertia, key, where, 0.0) for key in keys))
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def each_of(*readers: Callable[[], Any]) -> list[Any]:
    """What each of some readers gives; all of them are asked, also where some have noted a fault."""
    found, lost = list[Any](), False
    for reader in readers:
        try:
            found.append(reader())
        except Lost:
            lost = True
    if lost:
        raise Lost
    return found


def turn_inertia(own: Array, R: Array) -> dict[str, float]:
    """Entries of an inertia in axes against which its own are turned by R."""
    I = R @ own @ R.T
    places = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    return {key: float(0.5 * (I[i, j] + I[j, i])) for key, (i, j) in places.items()}


def turn(rpy: Sequence[float], right_angle: float = RIGHT_ANGLE) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll); angles within `right_angle` (rad) of a multiple of 90° are taken as that."""
    if not any(rpy):
        return np.eye(3)
    (cr, sr), (cp, sp), (cy, sy) = (cos_sin(angle, right_angle) for angle in rpy)
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return Rz @ Ry @ Rx + 0.0


def rpy_of(R: Array) -> tuple[float, float, float]:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll); yaw is zero where the pitch is ±90°."""
    flat = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], flat)
    if flat < 1e-9:  # only the sum or difference of the other two matters
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def turn_z_to(axis: Array) -> Array:
    """A rotation that takes z to the unit vector `axis`."""
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
