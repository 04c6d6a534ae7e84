"""What is drawn over a motion besides its bodies: velocities, forces of constraints at their places, and what the
ground does to the wheels of vehicles."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..formulation import PULLS, WheelMarks, marks_program, pull_at_platforms, wheel_marks
from ..model import Mechanism, carrying_platform
from ..page import MarkedPlace, MarkedWheels
from .answers import Answers, law_key
from .records import Array


@dataclass(frozen=True, slots=True)
class WheelKernel:
    """The compiled program of `WheelMarks`. Of every body, `carried_by` has the number of the vehicle that is kept
    level and carries it, −1 for none, and `platforms` are the platforms of these vehicles, as numbers of bodies."""

    kernel: Kernel = field(repr=False)
    marks: WheelMarks
    carried_by: tuple[int, ...]
    platforms: tuple[int, ...]

    def for_page(self) -> MarkedWheels:
        """What a page is told of them."""
        m = self.marks
        return MarkedWheels(m.wheels, m.outlines, m.vehicles, self.carried_by, self.platforms)

    def pulls(self, body: int, force: Array, place: Array, poses: Array) -> Array:
        """The pulls at level platforms (`PULLS` each) of a `force` (3,) (N) on a body at a `place` (3,) (m), both in N,
        where the bodies have `poses` (bodies, 12); of no body with −1."""
        found = np.zeros(PULLS * len(self.platforms))
        vehicle = self.carried_by[body] if body >= 0 else -1
        if vehicle >= 0:
            moment = np.cross(place - poses[self.platforms[vehicle], 9:], force)
            found[PULLS * vehicle : PULLS * (vehicle + 1)] = force[2], moment[0], moment[1]
        return found


def wheel_kernel(answers: Answers, law: Any = None) -> WheelKernel | None:
    """What the ground does to the wheels of all vehicles, under a control law; None where there is nothing to tell."""
    mechanism = answers.mechanism
    if not mechanism.vehicles:
        return None

    def make() -> WheelKernel | None:
        twin, level = pull_at_platforms(mechanism)
        in_mode = bool(mechanism.changing)
        found = wheel_marks(answers.of(twin.all_rows_held() if in_mode else twin).fresh_equations(), law, in_mode)
        if found is None:
            return None
        names = list(mechanism.bodies)
        platforms = [mechanism.vehicles[name].platform.name for name in level]
        carried = tuple(carrying_platform(mechanism, name, platforms) for name in names)
        return WheelKernel(compile(found.program), found, carried, tuple(names.index(name) for name in platforms))

    return answers.make_once(("wheels", law_key(law)), make)


def marked_places(mechanism: Mechanism, told: Collection[str] = ()) -> list[MarkedPlace]:
    """The constraints that act at a point, in order, but for those under wheels of vehicles whose ground is told."""
    wheels = [wheel for name in told for wheel in mechanism.vehicles[name].wheels]
    under = {name for wheel in wheels for name in (wheel.constraint, wheel.height, wheel.name)}
    found, first = list[MarkedPlace](), 0
    for i, c in enumerate([*mechanism.constraints.values(), *mechanism.changing.values()]):
        if c.point is not None and c.name not in under:
            found.append(MarkedPlace(c.name, i, first, len(c.rows)))
        first += len(c.rows)
    return found


def marks_kernel(answers: Answers) -> Kernel:
    """What arrows along a motion are drawn with, compiled: of the model with all that comes and goes held."""

    def make() -> Kernel:
        return compile(marks_program(answers.all_rows_held().fresh_equations()))

    return answers.make_once("marks", make)


def forces_at(places: list[MarkedPlace], multipliers: Array, unit: Array) -> Array:
    """Forces (k, places, 3) (N) at places from multipliers (k, rows) and forces of unit reactions (k, rows, 3); zero
    where one is not finite."""
    found = np.zeros((len(multipliers), len(places), 3))
    for i, mark in enumerate(places):
        rows = slice(mark.first, mark.first + mark.rows)
        found[:, i] = np.einsum("kr,krc->kc", multipliers[:, rows], unit[:, rows])
    found[~np.isfinite(found).all(axis=2)] = 0.0
    return found


__all__ = ["WheelKernel", "forces_at", "marked_places", "marks_kernel", "wheel_kernel"]
