"""Devices: where a hand is, and what force it feels.

The loop reads positions from memory and writes forces to memory; it never waits for anybody. A device is a record that
says how: simulated in the loop itself, a `Mailbox` that others write to, or a recording that is played again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.linalg import expm

from ..boundary import describe_value, refuse_odd
from ..errors import InputError
from ..graph import Graph, Inputs, Program, lower
from ..model.expression import parse_expression
from .coupler import per_axis

PARTS = 4
"""Parts of a tick in which a simulated device moves: dry friction and the hand's intention are held in each."""


@runtime_checkable
class Device(Protocol):
    """What a device says of itself, for each of so many axes: its own damping b (N s/m, N m s/rad) and the largest
    force it can exert (N, N m); and the delay (s) after which it feels a force, in a loop of some rate (Hz)."""

    def dampings(self, axes: int) -> tuple[float, ...]: ...

    def most_forces(self, axes: int) -> tuple[float, ...]: ...

    def delay_at(self, rate: float) -> float: ...


@dataclass(frozen=True, slots=True)
class Human:
    """A hand on the device: mass (kg, kg m²), damping and stiffness of its arm, and where it wants to be, an
    expression in t for each axis."""

    intention: tuple[str, ...] | str = "0"
    mass: float | tuple[float, ...] = 0.0
    damping: float | tuple[float, ...] = 0.0
    stiffness: float | tuple[float, ...] = 0.0


@dataclass(frozen=True, slots=True)
class SimulatedDevice:
    """A device that exists only in the loop: mass (kg, kg m²), viscous `damping` and dry `friction` of each axis, the
    step of its `encoder` (m, rad), a `delay` of its force in ticks, the largest `force`, where it starts (by default at
    the model), and the hand that holds it. Forces are held between ticks. Without friction it moves exactly as the
    linear system that it is.

    >>> from kane.realtime import SimulatedDevice
    >>> SimulatedDevice(mass=0.1, damping=0.5).dampings(2)
    (0.5, 0.5)
    """

    mass: float | tuple[float, ...] = 0.1
    damping: float | tuple[float, ...] = 1.0
    friction: float | tuple[float, ...] = 0.0
    encoder: float | tuple[float, ...] = 0.0
    delay: int = 0
    force: float | tuple[float, ...] = 1e6
    start: tuple[float, ...] | None = None
    human: Human | None = None

    def __post_init__(self) -> None:
        if isinstance(self.delay, bool) or not isinstance(self.delay, int) or not 0 <= self.delay <= 1000:
            raise InputError(f"delay = {self.delay!r}: give a number of ticks, 0 … 1000")

    def dampings(self, axes: int) -> tuple[float, ...]:
        """b of each axis (N s/m, N m s/rad), the device's own."""
        return per_axis("damping", self.damping, axes)

    def most_forces(self, axes: int) -> tuple[float, ...]:
        """The largest force of each axis (N, N m)."""
        return per_axis("force", self.force, axes)

    def delay_at(self, rate: float) -> float:
        """The delay of its force (s) in a loop of a rate (Hz)."""
        return self.delay / rate

    def masses(self, axes: int) -> Any:
        """Mass of each axis with the hand on it (kg, kg m²), (axes,)."""
        own = np.array(per_axis("mass", self.mass, axes))
        hand = 0.0 if self.human is None else np.array(per_axis("human.mass", self.human.mass, axes))
        if not np.all(own + hand > 0.0):
            raise InputError(f"mass = {self.mass!r}: a device that moves has a mass > 0\n    fix: give one")
        return own + hand

    def transfer(self, axes: int, length: float) -> Any:
        """How x and ẋ after `length` seconds follow from x, ẋ and a force that is held, (axes, 6): the solution of
        m ẍ + b ẋ + k x = f."""
        human = self.human or Human()
        mass, b = self.masses(axes), np.array(self.dampings(axes))
        b = b + np.array(per_axis("human.damping", human.damping, axes))
        k = np.array(per_axis("human.stiffness", human.stiffness, axes))
        found = np.zeros((axes, 6))
        for i in range(axes):
            system = np.zeros((3, 3))
            system[0, 1] = 1.0
            system[1] = -k[i] / mass[i], -b[i] / mass[i], 1.0 / mass[i]
            found[i] = expm(length * system)[:2].reshape(-1)
        return found

    def intention(self, axes: int) -> Program | None:
        """Where the hand wants to be, (axes,), as a program of t; None without a hand."""
        if self.human is None:
            return None
        texts = self.human.intention
        texts = (texts,) * axes if isinstance(texts, str) else tuple(texts)
        if len(texts) != axes:
            raise InputError(f"human.intention has {len(texts)} expressions where the device has {axes} axes")
        graph = Graph()
        t = graph.input("t")
        wanted = [parse_expression(text, graph, {"t": t}) for text in texts]
        return lower("intention", [Inputs("t", ("t",))], {"wanted": ((axes,), wanted)})


class Mailbox:
    """A device that someone else moves: `put` its position as often as you like, from any thread, and read `force`.

    Positions are counted from where the coupler took hold. Between two positions the last one holds; after `silence`
    seconds without one the coupler lets go, and takes hold anew with the next. A position that is not finite is not
    taken. `damping` and `most_force` are the device's own; `delay` (s) is what its position takes to come here and the
    force to go back, which makes the coupler softer.
    """

    @refuse_odd
    def __init__(
        self, axes: int, *, damping: float = 1.0, most_force: float = 1e6, silence: float = 0.2, delay: float = 0.0
    ):
        if isinstance(axes, bool) or not isinstance(axes, int) or not 1 <= axes <= 6:
            raise InputError(f"axes = {describe_value(axes)}: a device has one to six")
        self._damping = per_axis("damping", damping, axes)
        self._most_force = per_axis("most_force", most_force, axes)
        (self.silence,), (self.delay,) = per_axis("silence", silence, 1), per_axis("delay", delay, 1)
        self.mail = np.zeros(2, dtype=np.int64)
        self.position = np.zeros(axes)
        self.force = np.zeros(axes)

    @refuse_odd
    def put(self, position: Any) -> None:
        """The device is here now, (axes,) m or rad."""
        new = np.asarray(position, dtype=float)
        if new.shape != self.position.shape:
            raise InputError(f"position has shape {new.shape}; the device has {self.position.size} axes")
        self.mail[0] += 1
        self.position[:] = new
        self.mail[1] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.mail[0] += 1

    def dampings(self, axes: int) -> tuple[float, ...]:
        """b of each axis (N s/m, N m s/rad), the device's own."""
        return self._damping

    def most_forces(self, axes: int) -> tuple[float, ...]:
        """The largest force of each axis (N, N m)."""
        return self._most_force

    def delay_at(self, rate: float) -> float:
        """The delay of its force (s)."""
        return self.delay


@dataclass(frozen=True, slots=True)
class Replay:
    """The positions of a device as they were recorded, (ticks, axes) m or rad: the same motion again, to the bit.

    `damping` is that of the device then.
    """

    position: Any
    damping: float | tuple[float, ...] = 1.0
    force: float | tuple[float, ...] = 1e6

    @refuse_odd
    def __post_init__(self) -> None:
        position = np.ascontiguousarray(self.position, dtype=float)
        if position.ndim != 2 or not position.size or not np.all(np.isfinite(position)):
            raise InputError("position: give what a session recorded, finite numbers of shape (ticks, axes)")
        object.__setattr__(self, "position", position)

    def dampings(self, axes: int) -> tuple[float, ...]:
        """b of each axis (N s/m, N m s/rad), the device's own."""
        return per_axis("damping", self.damping, axes)

    def most_forces(self, axes: int) -> tuple[float, ...]:
        """The largest force of each axis (N, N m)."""
        return per_axis("force", self.force, axes)

    def delay_at(self, rate: float) -> float:
        """None: nobody feels the force."""
        return 0.0


__all__ = ["Device", "Human", "Mailbox", "Replay", "SimulatedDevice"]
