"""The memory of the loop that keeps time: the record that compiled code works in, and the arrays that it names."""

from __future__ import annotations

import ctypes
import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

from ..backends import compile
from ..errors import InputError
from ..simulate.memory import NUMBERS, LoopMemory, fields_of, piece_of
from ..simulate.routine import address_of
from ..simulate.settings import STEPPING, Settings
from ..simulate.start import Start
from ..simulate.stepping import SteppingRun
from .compiled.record import ENERGIES, MAILBOX, REPLAY, SIMULATED, TICKS, columns
from .coupler import Coupler, per_axis
from .coupling import Coupling, Grip
from .devices import PARTS, Device, Mailbox, Replay, SimulatedDevice
from .words import COUNT, HOLDING

MOST_GRIPS = 1024
"""Bodies that one session may take hold of."""

TRANSITIONS = 65_536
"""Transitions that there is room for."""

AT_ONCE = 5_000_000
"""ns until the first tick, in which it is looked ahead at."""

SPIN, LONGEST_SPIN = 0.1, 100_000
"""Part of a tick, and ns at most, in which the loop watches the clock before the tick, awake."""


class TickMemory:
    """Everything that the compiled loop works in; whoever holds this keeps it alive."""

    def __init__(
        self, coupling: Coupling, grip: Grip, coupler: Coupler, device: Device, rate: float, steps: int, every: int
    ):
        axes, h = len(coupler.axes), every / (rate * steps)
        self.coupling, self.device = coupling, device
        self.run = SteppingRun(replace(coupling.constraints, terms=grip.terms))
        self.run.make_room_for(TRANSITIONS)
        n = coupling.start.size
        settings = Settings(STEPPING, 1e-8, 1e-8, h, math.inf, None, None, None)
        start = Start(coupling.start, coupling.inputs[1 + n :], 0.0, math.inf, np.array([math.inf]), n)
        self.loop = LoopMemory(start, settings, (), {})
        self.run.attach(self.loop.state)
        self.array = np.zeros(1, dtype=TICKS)
        self.arrays: dict[str, Any] = {}
        self.columns = columns(axes, n, len(coupling.constraints.elements))
        width = list(self.columns.values())[-1].stop
        self.control, self.slots = np.zeros(COUNT, dtype=np.int64), np.zeros((2, width))
        self.control[HOLDING] = 1
        self.grips: list[Grip] = []
        source = {Mailbox: MAILBOX, Replay: REPLAY, SimulatedDevice: SIMULATED}[type(device)]
        numbers = {
            "axes": axes,
            "source": source,
            "steps": steps,
            "every": every,
            "parts": PARTS,
            "width": width,
            "h": h,
        }
        numbers |= {
            "period": round(1e9 / rate),
            "coupler": grip.coupler.address,
            "loop": address_of(self.loop.array),
            "spin": min(LONGEST_SPIN, round(SPIN * 1e9 / rate)),
        }
        for name, value in numbers.items():
            self.array[name] = value
        parameters = self.loop.arrays["x"]
        self._hold(
            grip=np.zeros(4 * axes + ENERGIES),
            x=coupling.inputs.copy(),
            stiffness=np.array(coupler.stiffnesses()),
            damping=np.array(coupler.dampings()),
            own_damping=np.array(device.dampings(axes)),
            most_force=np.array(device.most_forces(axes)),
            position=np.zeros(axes),
            velocity=np.zeros(axes),
            last=np.zeros(axes),
            stepped_from=np.zeros(axes),
            step_velocity=np.zeros(axes),
            force=np.zeros(axes),
            control=self.control,
            grips=np.zeros((MOST_GRIPS, 2), dtype=np.int64),
            slots=self.slots,
            moment=np.zeros(2, dtype=np.int64),
            expected=np.zeros(axes),
            expected_velocity=np.zeros(axes),
        )
        self.array["pull"] = address_of(parameters) + 8 * coupling.pull
        self.array["gain"] = address_of(parameters) + 8 * coupling.gain
        library = ctypes.CDLL(None)
        for name, function in (("clock", library.clock_gettime), ("sleep", library.nanosleep)):
            self.array[name] = ctypes.cast(function, ctypes.c_void_p).value
        self.add_grip(grip)
        self._hold_pieces(axes)
        if isinstance(device, SimulatedDevice):
            self._hold_simulation(device, axes, rate)
        elif isinstance(device, Mailbox):
            if device.position.size != axes:
                raise InputError(f"the device has {device.position.size} axes, the coupler {axes}")
            self._hold(mail=device.mail, mail_position=device.position, force=device.force, offset=np.zeros(axes))
            self.array["silence"] = round(1e9 * device.silence)
        elif isinstance(device, Replay):
            if device.position.shape[1] != axes:
                raise InputError(f"the recording has {device.position.shape[1]} axes, the coupler {axes}")
            self._hold(replayed=device.position)

    def _hold(self, **arrays: Any) -> None:
        for name, array in arrays.items():
            self.arrays[name] = array
            self.array[name] = address_of(array)

    def _hold_pieces(self, axes: int) -> None:
        """Say where all is that a tick changes and the next one reads: numbers of the records, and arrays."""
        loop, own = self.loop, self.array[0]
        pieces = [*self.run.changed_pieces(), *fields_of(loop.array, NUMBERS), piece_of(loop.arrays["y"])]
        pieces += [*fields_of(self.array, ("given", "lost")), piece_of(self.arrays["grip"])]
        pieces += [(int(own["pull"]), axes), (int(own["gain"]), axes)]
        words = sum(length for _, length in pieces)
        self._hold(pieces=np.array(pieces, dtype=np.int64), kept=np.zeros((2, words)))
        self.array["piece_count"], self.array["words"] = len(pieces), words

    def add_grip(self, grip: Grip) -> int:
        """Let the loop have another grip; its number."""
        number = len(self.grips)
        if number == MOST_GRIPS:
            raise InputError(f"there are {MOST_GRIPS} grips already, which is the most that there may be")
        self.grips.append(grip)
        self.arrays["grips"][number] = grip.terms.address, grip.coupler.address
        return number

    def _hold_simulation(self, device: SimulatedDevice, axes: int, rate: float) -> None:
        intention = device.intention(axes)
        hand = 0.0 if device.human is None else device.human.stiffness
        place = self.coupling.look(self.grips[0], self.coupling.inputs)[0] if device.start is None else device.start
        place = np.array(place, dtype=float)
        if place.shape != (axes,):
            raise InputError(f"start has shape {place.shape}; the coupler has {axes} axes")
        masses = device.masses(axes)
        self.array["delay"] = device.delay
        self.array["most_damping"] = rate * float(masses.min())
        self._hold(
            true_position=place,
            true_velocity=np.zeros(axes),
            transfer=device.transfer(axes, 1.0 / (rate * PARTS)),
            device_mass=masses,
            coulomb=np.array(per_axis("friction", device.friction, axes)),
            encoder=np.array(per_axis("encoder", device.encoder, axes)),
            hand_stiffness=np.array(per_axis("human.stiffness", hand, axes)),
            wanted=np.zeros(axes),
            held_force=np.zeros((device.delay + 1, axes)),
        )
        if intention is not None:
            self._kernel = compile(intention)
            self.array["intention"] = self._kernel.address

    def make_record(self, room: int) -> None:
        """Room for so many ticks."""
        try:
            record = np.zeros((room, self.slots.shape[1]))
        except (MemoryError, ValueError):
            fix = "ask for less time, or start() without an end, which keeps the last ticks alone"
            raise InputError(f"{room} ticks are more than the memory can keep\n    fix: {fix}") from None
        self._hold(record=record)
        self.array["room"] = room

    def wind_up(self) -> None:
        """Let the next tick be due soon."""
        state = self.array[0]
        past = int(state["tick"] + state["skipped"]) * int(state["period"])
        state["origin"] = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + AT_ONCE - past

    def rows(self) -> Any:
        """The ticks that are kept, in their order."""
        tick, record = int(self.array[0]["tick"]), self.arrays["record"]
        if tick <= len(record):
            return record[:tick].copy()
        return np.roll(record, -(tick % len(record)), axis=0)


__all__ = ["TickMemory"]
