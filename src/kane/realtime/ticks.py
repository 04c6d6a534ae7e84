"""The loop that keeps time, compiled: one tick after another, without Python.

In a tick of length T the loop reads the device, takes one or more steps of the system with the coupler's springs and
dampers at their ends (`formulation.coupled_terms_program`), and hands the force to the device. With x the device, p
what it is coupled to and h the length of a step,

    F = K (p⁺ − x) + B (ṗ⁺ − ẋ)      on the device, −F on the system

The observer adds up the energy that the device puts in, −F Δx from tick to tick since F is held between them, and what
the device's own damping must have taken at least, b Δx²/T [HR02]. It never falls below zero where b > K T/2 + B.

`k` is a record of type `TICKS` wherever it occurs; `m`, `c`, `s` are those of time stepping.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..simulate.compiled.call import call, part, reals, record_of, wholes
from ..simulate.compiled.changing_record import record
from ..simulate.compiled.records import MEMORY, NO_MODE, NOT_FINITE, REACHED
from ..simulate.compiled.step import all_finite, copy_numbers
from ..simulate.compiled.stepping import start_stepping, take_step
from ..simulate.compiled.stepping_motion import stepping
from ..simulate.compiled.store import loop
from .words import FRONT, GRIP, HOLDING, STOP, STOPPED

SIMULATED, MAILBOX, REPLAY = range(3)
"""Where positions of the device come from: one that is simulated here, memory that others write to, a recording."""

FURTHEST_BEHIND = 64
"""Ticks that the loop may be behind its clock before it gives up to catch up with them and counts them as skipped."""

MONOTONIC = 1
"""The clock that no one sets, of clock_gettime."""

BILLION = 1_000_000_000

ADDRESSES = (
    "loop",  # the memory of time stepping, `records.MEMORY`
    "coupler",  # program of the grip: place (axes,), rate (axes,), energy (2,), from the inputs of a motion
    "grip",  # what it wrote
    "x",  # inputs of a motion
    "pull",  # (axes,): parameters of the terms of the motion, among its inputs
    "gain",  # (axes,)
    "stiffness",  # (axes,): K, N/m or N m/rad
    "damping",  # (axes,): B, N s/m or N m s/rad
    "position",  # (axes,): of the device, as it was measured last, m or rad
    "velocity",  # (axes,): from differences of positions
    "force",  # (axes,): on the device, N or N m
    "last",  # (axes,): the position a tick before
    "own_damping",  # (axes,): b of the device
    "most_force",  # (axes,): what the device can exert
    "true_position",  # (axes,): of the simulated device
    "true_velocity",  # (axes,)
    "transfer",  # (axes, 6): how position and velocity follow themselves and a held force, over a part of a tick
    "device_mass",  # (axes,)
    "coulomb",  # (axes,): dry friction of the device, N or N m
    "encoder",  # (axes,): step of the encoder, 0 for none
    "hand_stiffness",  # (axes,): of the hand that leads the device
    "intention",  # program: where the hand wants to be, (axes,), from t; 0 for no hand
    "wanted",  # (axes,)
    "held_force",  # (delay + 1, axes): forces on their way to the device
    "mail",  # of the mailbox: sequence and time (ns), whole numbers
    "mail_position",  # (axes,)
    "offset",  # (axes,): from the mailbox's positions to those of the coupler
    "replayed",  # (ticks, axes): positions to be read again
    "record",  # (room, width): one row a tick
    "slots",  # (2, width): the last two ticks, for whoever looks
    "control",  # whole numbers that others see and set, `words`
    "grips",  # (grips, 2): terms of the motion and program of the coupler, for each that may be asked for
    "clock",  # clock_gettime
    "sleep",  # nanosleep
    "moment",  # two whole numbers: seconds, nanoseconds
)
NUMBERS = (
    "axes",
    "grip_now",  # the grip whose programs run
    "source",  # SIMULATED, MAILBOX or REPLAY
    "steps",  # of the system in a tick
    "parts",  # of a tick in which the simulated device moves
    "delay",  # ticks
    "tick",
    "room",  # rows of the record
    "width",
    "real_time",  # 1: ticks wait for the clock
    "period",  # ns
    "origin",  # ns, when tick 0 is due
    "silence",  # ns without mail after which the coupler lets go
    "late",  # ticks that began more than a period late
    "skipped",  # ticks that were given up
    "overruns",  # ticks whose computation took more than a period
    "worst_late",  # ns
    "worst_computing",  # ns
    "bad",  # positions that were not finite
    "silent",  # ticks without mail
    "holds",  # 1: the coupler has taken hold of a mailbox's device
    "lost",  # transitions that found no room
    "controller",  # 1: a passivity controller acts
)
REALS = ("h", "observed", "least_observed", "most_damping")
TICKS = np.dtype([(n, "i8") for n in (*ADDRESSES, *NUMBERS)] + [(n, "f8") for n in REALS])

WITH_AXES = ("position", "velocity", "force", "place")
SINGLE = ("observed", "kinetic", "potential", "computing", "late")


def columns(axes: int, states: int) -> dict[str, slice]:
    """Where a row of the record has what: t, the state, then `WITH_AXES` and `SINGLE` (J, s)."""
    found, at = {"t": slice(0, 1), "y": slice(1, 1 + states)}, 1 + states
    for name in WITH_AXES:
        found[name] = slice(at, at + axes)
        at += axes
    for name in SINGLE:
        found[name] = slice(at, at + 1)
        at += 1
    return found


memory_of_loop = record_of(MEMORY)


# -- clocks and memory that others see ---------------------------------------------------------------------------------


def _load(typing_context, address):
    def code(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(types.int64), code


def _store(typing_context, address, value):
    def code(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        builder.store_atomic(args[1], pointer, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _clock(typing_context, function, clock, moment):
    def code(context, builder, signature, args):
        whole, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(whole, [whole, pointer])
        address = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(address, [builder.trunc(args[1], whole), builder.inttoptr(args[2], pointer)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _sleep(typing_context, function, moment):
    def code(context, builder, signature, args):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [pointer, pointer])
        address = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(address, [builder.inttoptr(args[1], pointer), ir.Constant(pointer, None)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


load: Callable[..., Any] = intrinsic(_load)
"""load(address): a whole number that another thread may be writing."""
store: Callable[..., Any] = intrinsic(_store)
"""store(address, value): a whole number that another thread may be reading."""
read_clock: Callable[..., Any] = intrinsic(_clock)
sleep_for: Callable[..., Any] = intrinsic(_sleep)


@part
def now(k):
    """The time of the clock, ns."""
    read_clock(k.clock, MONOTONIC, k.moment)
    moment = wholes(k.moment)
    return moment[0] * BILLION + moment[1]


@part
def wait_until(k, due):
    """Sleep until the clock shows `due` (ns)."""
    left = due - now(k)
    while left > 0:
        moment = wholes(k.moment)
        moment[0], moment[1] = left // BILLION, left % BILLION
        sleep_for(k.sleep, k.moment)
        left = due - now(k)


@part
def grip(k, m):
    """Place and rate of what the device is coupled to, and the energy of the system, at the state of the loop."""
    x = reals(k.x)
    x[0] = m.t
    copy_numbers(m.n, m.y, k.x + 8)
    call(k.coupler, k.x, k.grip)


# -- the device --------------------------------------------------------------------------------------------------------


@part
def read_mail(k):
    """Take the last position that was written to the mailbox; whether there is one that is not too old."""
    position, mail = reals(k.position), reals(k.mail_position)
    for _ in range(8):
        before = load(k.mail)
        if before == 0:
            return False
        if before % 2:
            continue
        for i in range(k.axes):
            position[i] = mail[i]
        if load(k.mail) == before:
            break
    return not k.real_time or now(k) - load(k.mail + 8) <= k.silence


@part
def change_grip(k, m, c):
    """Take the grip that is asked for, and look where it is."""
    wanted = load(k.control + 8 * GRIP)
    if wanted == k.grip_now:
        return
    k.grip_now, k.holds = wanted, 0
    c.terms, k.coupler = wholes(k.grips)[2 * wanted], wholes(k.grips)[2 * wanted + 1]
    grip(k, m)


@part
def take_mail(k):
    """The position in the mailbox, counted from where the coupler took hold, to k.position; whether it holds. It takes
    hold where it is, at first and after every silence, so that nothing snaps."""
    position, offset, place = reals(k.position), reals(k.offset), reals(k.grip)
    if load(k.control + 8 * HOLDING) == 0:
        k.holds = 0
        return False
    if not read_mail(k):
        k.silent += 1
        k.holds = 0
        return False
    if not all_finite(k.axes, k.position):
        k.bad += 1
        copy_numbers(k.axes, k.last, k.position)
        return k.holds != 0
    if not k.holds:
        for i in range(k.axes):
            offset[i] = place[i] - position[i]
    for i in range(k.axes):
        position[i] += offset[i]
    if not k.holds:
        copy_numbers(k.axes, k.position, k.last)
        k.holds = 1
    return True


@part
def read_device(k):
    """Position and velocity of the device to k.position, k.velocity; False where it is silent: the coupler lets go."""
    position, last, velocity = reals(k.position), reals(k.last), reals(k.velocity)
    copy_numbers(k.axes, k.position, k.last)
    holds = True
    if k.source == MAILBOX:
        holds = take_mail(k)
        if not holds:
            copy_numbers(k.axes, k.last, k.position)
    elif k.source == REPLAY:
        copy_numbers(k.axes, k.replayed + 8 * k.axes * k.tick, k.position)
    else:
        true, step = reals(k.true_position), reals(k.encoder)
        for i in range(k.axes):
            position[i] = step[i] * math.floor(true[i] / step[i] + 0.5) if step[i] > 0.0 else true[i]
    if k.tick == 0:
        copy_numbers(k.axes, k.position, k.last)
    for i in range(k.axes):
        velocity[i] = (position[i] - last[i]) / (k.period * 1e-9)
    return holds


@part
def move_device(k, t):
    """Let the simulated device move for one tick, from t on, under the force that reaches it now."""
    axes, force = k.axes, reals(k.force)
    ring = 1 + k.delay
    copy_numbers(axes, k.force, k.held_force + 8 * axes * (k.tick % ring))
    force = reals(k.held_force + 8 * axes * ((k.tick + 1) % ring))
    x, v, a, wanted = reals(k.true_position), reals(k.true_velocity), reals(k.transfer), reals(k.wanted)
    length = k.period * 1e-9 / k.parts
    for part_of_tick in range(k.parts):
        reals(k.x)[0] = t + (part_of_tick + 0.5) * length
        if k.intention != 0:
            call(k.intention, k.x, k.wanted)
        for i in range(axes):
            f = force[i] + reals(k.hand_stiffness)[i] * wanted[i]
            place = a[6 * i] * x[i] + a[6 * i + 1] * v[i] + a[6 * i + 2] * f
            speed = a[6 * i + 3] * x[i] + a[6 * i + 4] * v[i] + a[6 * i + 5] * f
            brake = reals(k.coulomb)[i] * length / reals(k.device_mass)[i]
            if brake > 0.0:
                slower = math.copysign(max(0.0, abs(speed) - brake), speed)
                place += 0.5 * length * (slower - speed)
                if slower == 0.0 and v[i] == 0.0:
                    place = x[i]
                speed = slower
            x[i], v[i] = place, speed


# -- the coupler -------------------------------------------------------------------------------------------------------


@part
def set_pull(k, holds):
    """The coupler's force for the step to come, as the terms of the motion take it."""
    place, rate = reals(k.grip), reals(k.grip + 8 * k.axes)
    x, v, pull, gain = reals(k.position), reals(k.velocity), reals(k.pull), reals(k.gain)
    for i in range(k.axes):
        stiff, damp = reals(k.stiffness)[i], reals(k.damping)[i]
        pull[i] = stiff * (place[i] - x[i] + k.h * rate[i]) + damp * (rate[i] - v[i]) if holds else 0.0
        gain[i] = k.h * (k.h * stiff + damp) if holds else 0.0


@part
def set_force(k, rate_before):
    """The force on the device, from that of the step and how its rates have changed."""
    force, rate, before = reals(k.force), reals(k.grip + 8 * k.axes), reals(rate_before)
    for i in range(k.axes):
        force[i] = reals(k.pull)[i] + reals(k.gain)[i] * (rate[i] - before[i]) / k.h


@part
def observe(k):
    """Add up the energy that came in since the tick before, under the force that was held."""
    period, energy, least = k.period * 1e-9, 0.0, 0.0
    x, last, force = reals(k.position), reals(k.last), reals(k.force)
    for i in range(k.axes):
        moved = x[i] - last[i]
        energy -= force[i] * moved
        least += reals(k.own_damping)[i] * moved * moved / period
    k.observed += energy + least
    k.least_observed = min(k.least_observed, k.observed)


@part
def limit_force(k):
    """Brake the device where it has got more energy than it gave, and keep to what it can exert."""
    force, v, square = reals(k.force), reals(k.velocity), 0.0
    for i in range(k.axes):
        square += v[i] * v[i]
    if k.controller and k.observed < 0.0 and square > 0.0:
        brake = min(k.most_damping, -k.observed / (k.period * 1e-9 * square))
        for i in range(k.axes):
            force[i] -= brake * v[i]
    for i in range(k.axes):
        most = reals(k.most_force)[i]
        force[i] = min(most, max(-most, force[i]))


# -- the loop ----------------------------------------------------------------------------------------------------------


@part
def advance(k, m, c, s, holds):
    """Take the steps of one tick; what comes of it, 0 if all is well."""
    before = k.grip + 8 * (2 * k.axes + 2)
    for _ in range(k.steps):
        if c.count + 2 * c.elements >= c.room:
            k.lost += c.count - 1
            c.count = 1
        copy_numbers(k.axes, k.grip + 8 * k.axes, before)
        set_pull(k, holds)
        m.fresh = 1
        m.grid += 1
        t_new = m.origin + m.grid * k.h
        m.transition_fault = take_step(m, c, s, t_new, t_new - m.t)
        if m.transition_fault != 0:
            return NO_MODE
        if not all_finite(m.n, m.y_new):
            return NOT_FINITE
        copy_numbers(m.n, m.y_new, m.y)
        m.t = t_new
        m.steps += 1
        grip(k, m)
    set_force(k, before)
    return 0


@part
def publish(k, m, computing, late):
    """Write the tick to the record and to the slot that nobody reads, and show that one."""
    row = reals(k.record + 8 * k.width * (k.tick % k.room))
    row[0] = m.t
    n, axes = m.n, k.axes
    for i in range(n):
        row[1 + i] = reals(m.y)[i]
    at = 1 + n
    for i in range(axes):
        row[at + i] = reals(k.position)[i]
        row[at + axes + i] = reals(k.velocity)[i]
        row[at + 2 * axes + i] = reals(k.force)[i]
        row[at + 3 * axes + i] = reals(k.grip)[i]
    at += 4 * axes
    row[at] = k.observed
    row[at + 1] = reals(k.grip)[2 * axes]
    row[at + 2] = reals(k.grip)[2 * axes + 1]
    row[at + 3] = 1e-9 * computing
    row[at + 4] = 1e-9 * late
    back = 1 - load(k.control + 8 * FRONT)
    copy_numbers(k.width, k.record + 8 * k.width * (k.tick % k.room), k.slots + 8 * k.width * back)
    store(k.control + 8 * FRONT, back)


@part
def begin_tick(k):
    """Wait until the tick is due; how late it begins, ns. Ticks that are too far behind are given up."""
    if not k.real_time:
        return 0
    due = k.origin + k.tick * k.period + k.skipped * k.period
    wait_until(k, due)
    late = now(k) - due
    k.worst_late = max(k.worst_late, late)
    if late > k.period:
        k.late += 1
    if late > FURTHEST_BEHIND * k.period:
        k.skipped += late // k.period
    return late


@part
def end_tick(k, began):
    """How long the computation of a tick took, ns."""
    computing = now(k) - began
    k.worst_computing = max(k.worst_computing, computing)
    if computing > k.period:
        k.overruns += 1
    return computing


@loop
def tick_loop(memory, ticks):
    """Go on until `ticks` ticks are over, in all, or until asked to stop; returns why it came back."""
    k = memory[0]
    m = memory_of_loop(k.loop)
    s = stepping(m.transition_memory)
    c = record(s.changing)
    if k.tick == 0 and m.steps == 0 and c.count == 0:
        m.transition_fault = start_stepping(m, c, s)
        if m.transition_fault != 0:
            return NO_MODE
        grip(k, m)
    while k.tick < ticks:
        if load(k.control + 8 * STOP) != 0:
            return STOPPED
        late = begin_tick(k)
        began = now(k)
        change_grip(k, m, c)
        holds = read_device(k)
        observe(k)
        code = advance(k, m, c, s, holds)
        if code != 0:
            return code
        limit_force(k)
        if k.source == SIMULATED:
            move_device(k, m.t)
        publish(k, m, end_tick(k, began), late)
        k.tick += 1
    return REACHED


__all__ = ["MAILBOX", "REPLAY", "SIMULATED", "TICKS", "columns", "tick_loop"]
