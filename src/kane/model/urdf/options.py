"""What a URDF leaves open: how its base stands, which of its losses and limits act, where its packages are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..right_angles import RIGHT_ANGLE, judge_tolerance
from .visuals import Packages

BASES = ("fixed", "floating", "planar")
SHAPES = ("visual", "collision")
FRICTIONS = ("smooth", "sign", "none")
LIMITS = ("tell", "stop")


@dataclass(frozen=True, slots=True)
class UrdfOptions:
    """What a URDF leaves open.

    base: `fixed` welds the root link to the ground, `floating` leaves it free (six speeds, components in the link),
    `planar` lets it move level over the ground; None attaches it to nothing: something else will.
    wheels: links on which the robot rolls, each with its radius (m) or the keys of a `RoadWheel`; the base is then the
    platform of a vehicle, planar or floating, so high that they touch. vehicle: further options of that vehicle.
    gravity: m/s², in the root's axes at rest. mimic: whether <mimic> couples joints, which are free otherwise.
    limits: `tell` says where a motion leaves the range of a joint, `stop` stops it there. A joint whose range does not
    have zero in it starts in the middle. damping: whether <dynamics damping> acts. friction: how <dynamics
    friction> f acts: `smooth` is −f r / √(r² + v²) with v = 1 mm/s or mrad/s, `sign` −f sign(r), `none` not at all.
    packages: folders of the packages that package:// may lead to. strict: refuse inertias that no rigid body has,
    instead of noting them in `Mechanism.remarks`. shapes: whether a body has the shapes of <visual>, or those of
    <collision>, with which it then touches. right_angle: angles (rad) this close to a multiple of 90° are taken
    as that, since files write 1.57079632679 and zeros cost nothing; 0 takes them to the last bit. mappings: values of
    the arguments (<xacro:arg>) of a .xacro, by name.
    """

    base: str | None = "fixed"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    mimic: bool = True
    limits: str = "tell"
    damping: bool = True
    friction: str = "smooth"
    packages: Packages = field(default_factory=tuple)
    strict: bool = False
    shapes: str = "visual"
    right_angle: float = RIGHT_ANGLE
    wheels: Mapping[str, Any] = field(default_factory=dict[str, Any])
    vehicle: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mappings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        given = (("base", self.base, BASES), ("friction", self.friction, FRICTIONS), ("shapes", self.shapes, SHAPES))
        given += (("limits", self.limits, LIMITS),)
        for key, value, known in given:
            if value not in known and not (key == "base" and value is None):
                raise ValueError(f"{key}={value!r} is not one of {', '.join(known)}")
        if wrong := judge_tolerance(self.right_angle):
            raise ValueError(wrong)
        if not isinstance(self.mappings, Mapping):
            raise ValueError(f"mappings={self.mappings!r} is no mapping: give arguments of a .xacro by name")
        for key, value in (("wheels", self.wheels), ("vehicle", self.vehicle)):
            if not isinstance(value, Mapping):
                raise ValueError(f"{key}={value!r} is no mapping: give names of links and radii, or options by name")
        if isinstance(self.packages, (str, Path)):
            raise ValueError(f"packages='{self.packages}' is one folder: write a list, packages=['{self.packages}']")
        folders = self.packages.values() if isinstance(self.packages, Mapping) else self.packages
        for folder in folders:
            if not Path(folder).is_dir():
                raise ValueError(f"packages: there is no folder '{folder}'")
        if self.wheels and self.base == "fixed":
            raise ValueError("wheels, with base='fixed': a robot on wheels has base='planar', or 'floating'")
        if self.vehicle and not self.wheels:
            raise ValueError("vehicle, without wheels: name them, wheels={'left_wheel': 0.12}")
