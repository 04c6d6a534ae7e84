"""`Touch`: a model, a device and the coupler between them, run at a fixed rate in a thread of its own.

The thread runs compiled code alone (`ticks`); Python looks at what it publishes and asks it to stop.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np

from ..api import Model
from ..boundary import describe_value, refuse_odd
from ..errors import InputError
from ..simulate import Transition
from ..simulate.changing import STATES
from ..simulate.notice import announce_compilation
from .coupler import Coupler, per_axis, refuse_active, tune
from .coupling import Coupling, Grip
from .devices import Device, Mailbox, Replay
from .memory import TickMemory
from .priority import real_time_scheduling
from .session import Session, collect
from .words import FRONT, GRIP, HOLDING, REACHED, STOP, STOPPED, TOLD

ROOM = 100_000
"""Ticks of an endless session that are kept: the last ones."""

FOREVER = 2**62
"""Ticks of a session without an end."""

AXES = ("x", "y", "z")
"""Of a pointer, in N."""


class Touch:
    """A model in touch with a device: `start`, look at `state`, `stop`; or `run` to the end.

    `rate` (Hz) is that of ticks, `steps` how many steps the model takes in each; or `ticks_per_step` how many ticks a
    step of it has, in each of which the force is worked out from a local model. Without a stiffness the coupler is
    tuned to the device. One that could give the device more energy than it takes is refused, unless `active`; a
    passivity `controller` brakes the device where it has got more than there was. Between ticks the loop looks ahead
    at the next one, if it keeps time and `look_ahead` does not say otherwise. Without a coupler a `Mailbox` of three
    axes is a pointer, which takes `hold` of points of bodies. The model starts at q and u and is driven by `control`,
    as for `simulate`; a Python function cannot be.
    """

    @refuse_odd
    def __init__(
        self,
        model: Model,
        device: Device,
        coupler: Coupler | tuple[str, ...] | None,
        *,
        rate: float = 1000.0,
        steps: int = 1,
        ticks_per_step: int = 1,
        q: Any = None,
        u: Any = None,
        control: Any = None,
        real_time: bool = True,
        active: bool = False,
        controller: bool = False,
        look_ahead: bool | None = None,
    ):
        refuse_pace(rate, steps, ticks_per_step)
        self.model, self.device = model, device
        self.rate, self.steps, self.real_time = float(rate), steps, real_time
        self.ticks_per_step = ticks_per_step
        self.coupling, grip, self.coupler = _take(model, device, coupler, self.rate, (q, u, control), active)
        coupler = self.coupler
        self._memory = TickMemory(self.coupling, grip, coupler, device, self.rate, steps, ticks_per_step)
        self._memory.array["real_time"], self._memory.array["controller"] = int(real_time), int(controller)
        self._memory.array["looks_ahead"] = int(real_time if look_ahead is None else look_ahead)
        self._set_energy(grip)
        self._grips: dict[str, int] = {}
        self._held = ""
        self._memory.control[HOLDING] = int(not self.coupling.on_bodies)
        self._compiled = load_tick_loop()
        self._thread: threading.Thread | None = None
        self._ticks = 0
        self._code = 0
        self._scheduling = "no clock" if not real_time else "ordinary scheduling"
        self._failure: BaseException | None = None

    def _set_energy(self, grip: Grip) -> None:
        """Let the observer begin with the energy that there is."""
        _, kinetic, height = self.coupling.look(grip, self.coupling.inputs)
        self._memory.array["at_start"] = kinetic + height
        self._memory.array["observed"] = self._memory.array["least_observed"] = kinetic

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @refuse_odd
    def start(self, t: float = math.inf) -> Self:
        """Begin, until t seconds of it are over or until `stop`; or go on after that. Returns when it ticks."""
        self._begin(t)
        while self.alive and not self._memory.array[0]["tick"]:  # what is compiled first takes its time
            time.sleep(0.5 / self.rate)
        return self

    def _begin(self, t: float) -> None:
        self._prepare(t)
        self._thread = threading.Thread(target=self._work, name="kane real-time loop", daemon=True)
        self._thread.start()

    @refuse_odd
    def run(self, t: float) -> Session:
        """t seconds of it, in this thread where no clock is kept; Ctrl-C ends it and keeps what was done."""
        self._begin(t)
        assert self._thread is not None
        try:
            while self._thread.is_alive():
                self._thread.join(0.1)
        except KeyboardInterrupt:
            pass
        return self.stop()

    def state(self) -> dict[str, Any]:
        """The last tick: t, y = [q, u, work], position, velocity, force, place, observed, …, arrays by name."""
        memory = self._memory
        row, front = memory.slots[0], -1
        while int(memory.control[FRONT]) != front:  # the loop has gone on while it was copied
            front = int(memory.control[FRONT])
            row = memory.slots[front].copy()
        return {name: row[at] for name, at in memory.columns.items()}

    def stop(self) -> Session:
        """End it, and what happened."""
        if self._thread is None:
            raise InputError("the loop has not been started\n    fix: call start() or run(t)")
        self._memory.control[STOP] = 1
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._collect()

    def _collect(self) -> Session:
        return collect(self._memory, self.coupler, self._code, self._scheduling)

    # a pointer ---------------------------------------------------------------------------------------------------

    @refuse_odd
    def hold(self, body: str, point: Sequence[float], frequency: float, damping_ratio: float = 1.0) -> float:
        """Take hold of a point (m) of a body, in its frame, by a spring and a damper that have an angular `frequency`
        (rad/s) and a damping ratio with the mass that they meet there, which is returned (kg). The mailbox's positions
        count from where the point is now: put one there first."""
        if not self.coupling.on_bodies:
            raise InputError("this loop is coupled to expressions\n    fix: leave the coupler out, to hold bodies")
        place = per_axis("point", point, 3, -math.inf)
        (pull,), (ratio,) = per_axis("frequency", frequency, 1), per_axis("damping_ratio", damping_ratio, 1)
        memory = self._memory
        self.release()
        if body not in self._grips:
            self._grips[body] = memory.add_grip(self.coupling.grip_body(body))
        number = self._grips[body]
        at = self.coupling.point
        parameters = memory.loop.arrays["x"]
        parameters[at : at + 3] = place
        memory.arrays["x"][at : at + 3] = parameters[at : at + 3]
        state = self.state()
        inputs = memory.arrays["x"].copy()
        inputs[0], inputs[1 : 1 + state["y"].size] = state["t"][0], state["y"]
        masses = self.coupling.effective_masses(memory.grips[number], inputs)
        mass = min((m for m in masses if math.isfinite(m)), default=0.0)
        memory.arrays["stiffness"][:] = mass * pull * pull
        memory.arrays["damping"][:] = 2.0 * ratio * mass * pull
        memory.control[GRIP] = number
        self._held = body
        memory.control[HOLDING] = 1
        while self.alive and not memory.array[0]["holds"]:
            time.sleep(0.5 / self.rate)
        return mass

    def release(self) -> None:
        """Let go, and wait until the loop has."""
        memory = self._memory
        memory.control[HOLDING] = 0
        tick = int(memory.array[0]["tick"])
        while self.alive and int(memory.array[0]["tick"]) < tick + 2:
            time.sleep(0.5 / self.rate)

    @property
    def mode(self) -> dict[str, str]:
        """What each constraint that comes and goes did in the last tick."""
        return self.mode_in(self.state())

    def mode_in(self, state: dict[str, Any]) -> dict[str, str]:
        """What each constraint that comes and goes does in a `state`; before the first tick, at the start."""
        if not state["t"][0]:
            return self._memory.run.mode
        names = (element.name for element in self.coupling.constraints.elements)
        return {name: STATES[int(number)] for name, number in zip(names, state["mode"], strict=True)}

    @property
    def held_body(self) -> str:
        """The body that is held by a pointer, "" for none."""
        return self._held if self._memory.array[0]["holds"] else ""

    def transitions(self) -> tuple[Transition, ...]:
        """All transitions so far, to the end of the last tick."""
        return self._memory.run.transitions()[: int(self._memory.control[TOLD])]

    @property
    def stiffness(self) -> float:
        """Of the coupler's first axis now (N/m)."""
        return float(self._memory.arrays["stiffness"][0])

    def fault(self) -> str:
        """Why the loop cannot go on; empty while it can, and where it was stopped."""
        return "" if self.alive or self._code in (0, STOPPED, REACHED) else str(self._collect().outcome)

    @property
    def alive(self) -> bool:
        """Whether the loop is running."""
        return self._thread is not None and self._thread.is_alive()

    def _prepare(self, t: float) -> None:
        if self._thread is not None and self._thread.is_alive():
            raise InputError("the loop is running already\n    fix: stop() it first")
        if isinstance(t, bool) or not isinstance(t, (int, float)) or not t > 0.0:
            raise InputError(f"t = {describe_value(t)}: give a number of seconds > 0")
        ticks = round(min(t, FOREVER / self.rate) * self.rate)
        if isinstance(self.device, Replay):
            ticks = min(ticks, len(self.device.position))
        if ticks < 1:
            raise InputError(f"t = {t!r}: a session has at least one tick of {1.0 / self.rate:g} s")
        if self._thread is None:
            self._memory.make_record(min(ticks, ROOM) if math.isinf(t) else ticks)
        self._ticks = ticks
        self._memory.control[STOP] = 0

    def _work(self) -> None:
        try:
            with real_time_scheduling() if self.real_time else nullcontext(self._scheduling) as self._scheduling:
                self._memory.wind_up()
                self._code = int(self._compiled(self._memory.array, self._ticks))
        except BaseException as error:  # raised again by stop(), in the thread that asks
            self._failure = error
        finally:
            if isinstance(self.device, Mailbox):
                self.device.force[:] = 0.0  # a loop that has ended pulls at nobody


def _take(
    model: Model,
    device: Device,
    coupler: Coupler | tuple[str, ...] | None,
    rate: float,
    start: tuple[Any, Any, Any],
    active: bool,
) -> tuple[Coupling, Grip, Coupler]:
    """The coupling of a model from a start (q, u) under a control law, the third of them, the first grip on it, and the
    coupler, tuned or judged."""
    q, u, control = start
    if not isinstance(model, Model):
        raise InputError(f"{describe_value(model)} is no model\n    fix: give one of kane.load or kane.Model")
    if callable(control):
        fix = "give a control law by its name or by expressions, which are compiled, or one of kane.planning"
        raise InputError(f"the loop cannot run a control that is a Python function\n    fix: {fix}")
    if not isinstance(device, Device):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{describe_value(device)} is no device\n    fix: give a Mailbox or a SimulatedDevice")
    if coupler is None:
        if not (isinstance(device, Mailbox) and device.position.size == len(AXES)):
            raise InputError("without a coupler the device is a pointer\n    fix: give a Mailbox(3), or a coupler")
        coupling = Coupling(model, len(AXES), q, u, on_bodies=True, control=control)
        return coupling, coupling.grip_body(next(iter(model.bodies))), Coupler(AXES, 0.0)
    coupler = coupler if isinstance(coupler, Coupler) else Coupler(coupler)
    coupling = Coupling(model, len(coupler.axes), q, u, control=control)
    grip, damping = coupling.grip(coupler.axes), device.dampings(len(coupler.axes))
    if len(damping) != len(coupler.axes):
        raise InputError(
            f"the device has {len(damping)} axes, the coupler {len(coupler.axes)}: {', '.join(coupler.axes)}"
        )
    if coupler.stiffness is None:
        masses = coupling.effective_masses(grip, coupling.inputs)
        coupler = tune(coupler, damping, masses, rate, device.delay_at(rate))
    elif not active:
        refuse_active(coupler, damping, rate, device.delay_at(rate))
    return coupling, grip, coupler


def refuse_pace(rate: Any, steps: Any, ticks_per_step: Any = 1) -> None:
    """Refuse a rate (Hz) and numbers of steps in a tick, and of ticks in a step, that no loop has."""
    if not (isinstance(rate, (int, float)) and 1.0 <= rate <= 1e5):
        raise InputError(f"rate = {describe_value(rate)}: give one in 1 … 100 000 Hz")
    for name, count in (("steps", steps), ("ticks_per_step", ticks_per_step)):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 1000:
            raise InputError(f"{name} = {describe_value(count)}: give a whole number in 1 … 1000")
    if steps > 1 and ticks_per_step > 1:
        raise InputError(
            f"steps = {steps} in a tick and ticks_per_step = {ticks_per_step}: one of them is 1"
            "\n    fix: say whether the model or the device has the higher rate"
        )


def load_tick_loop() -> Any:
    """The compiled loop, from disk where it is known."""
    with announce_compilation("the loop that keeps time"):
        from numba import typeof, types

        from .compiled.record import TICKS
        from .compiled.ticks import tick_loop

        if not tick_loop.signatures:
            tick_loop.compile((typeof(np.zeros(1, dtype=TICKS)), types.int64))
    return tick_loop


__all__ = ["Touch", "refuse_pace"]
