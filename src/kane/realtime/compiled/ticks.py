"""The loop that keeps time, compiled: one tick after another, without Python.

`k` is a record of type `TICKS` wherever it occurs in this package; `m`, `c`, `s` are those of time stepping.
"""

from __future__ import annotations

from ...simulate.compiled.call import part, reals, record_of, wholes
from ...simulate.compiled.changing_record import record
from ...simulate.compiled.records import MEMORY, NO_MODE, REACHED
from ...simulate.compiled.step import copy_numbers
from ...simulate.compiled.stepping import start_stepping
from ...simulate.compiled.stepping_motion import stepping
from ...simulate.compiled.store import loop
from ..words import FRONT, GRIP, STOP, STOPPED, TOLD
from .ahead import adopt, is_as_expected, look_ahead, note_foresight
from .clock import load, now, sleep_until, store, watch_until
from .coupler import advance, grip, limit_force, observe, set_force, ticks_left
from .device import move_device, read_device, set_step_velocity
from .record import SIMULATED

FURTHEST_BEHIND = 64
"""Ticks that the loop may be behind its clock before it gives up to catch up with them and counts them as skipped."""

SHARE = 4
"""Part of a tick that working it out may take where it is looked ahead at."""

memory_of_loop = record_of(MEMORY)


@part
def change_grip(k, m, c):
    """Take the grip that is asked for, and look where it is."""
    wanted = load(k.control + 8 * GRIP)
    if wanted == k.grip_now:
        return
    k.grip_now, k.holds, k.ahead = wanted, 0, 0
    c.terms, k.coupler = wholes(k.grips)[2 * wanted], wholes(k.grips)[2 * wanted + 1]
    grip(k, m)


@part
def publish(k, m, c, computing, late):
    """Write the tick to the record and to the slot that nobody reads, and show that one."""
    row = reals(k.record + 8 * k.width * (k.tick % k.room))
    row[0] = m.t - ticks_left(k)
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
    for i in range(c.elements):
        row[at + 5 + i] = wholes(c.state)[i]
    back = 1 - load(k.control + 8 * FRONT)
    copy_numbers(k.width, k.record + 8 * k.width * (k.tick % k.room), k.slots + 8 * k.width * back)
    store(k.control + 8 * FRONT, back)
    store(k.control + 8 * TOLD, c.count)


@part
def begin_tick(k, m, c, s):
    """Wait until the tick is due, and look ahead at it where there is time; how late it begins, ns. Ticks that are too
    far behind are given up."""
    if not k.real_time:
        if k.looks_ahead:
            look_ahead(k, m, c, s)
        return 0
    due = k.origin + k.tick * k.period + k.skipped * k.period
    if k.looks_ahead and SHARE * k.cost < k.period:
        sleep_until(k, due - k.spin - 2 * k.cost)
        if now(k) < due - k.cost:
            look_ahead(k, m, c, s)
    sleep_until(k, due - k.spin)
    watch_until(k, due)
    late = now(k) - due
    k.worst_late = max(k.worst_late, late)
    if late > k.period:
        k.late += 1
    if late > FURTHEST_BEHIND * k.period:
        k.skipped += late // k.period
    return late


@part
def end_tick(k, began, prepared):
    """How long the computation of a tick took, ns."""
    computing = now(k) - began
    k.worst_computing = max(k.worst_computing, computing)
    if computing > k.period:
        k.overruns += 1
    if not prepared:
        k.cost = computing
    return computing


@loop
def tick_loop(memory, ticks):
    """Go on until `ticks` ticks are over, in all, or until asked to stop; returns why it came back."""
    k = memory[0]
    k.ahead = 0
    m = memory_of_loop(k.loop)
    s = stepping(m.transition_memory)
    c = record(s.changing)
    if k.tick == 0 and m.steps == 0 and c.count == 0:
        m.transition_fault = start_stepping(m, c, s, k.h)
        if m.transition_fault != 0:
            return NO_MODE
        grip(k, m)
    while k.tick < ticks:
        if load(k.control + 8 * STOP) != 0:
            return STOPPED
        late = begin_tick(k, m, c, s)
        began = now(k)
        steps = k.tick % k.every == 0
        if steps:
            change_grip(k, m, c)
        holds = read_device(k)
        observe(k)
        prepared = False
        if steps:
            first, prepared = c.count, is_as_expected(k, holds)
            set_step_velocity(k)
            if prepared:
                adopt(k)
            else:
                code = advance(k, m, c, s, holds, k.position, k.step_velocity)
                if code != 0:
                    return code
            note_foresight(k, c, first)
            k.step_holds = 1 if holds else 0
            copy_numbers(k.axes, k.position, k.stepped_from)
        set_force(k, holds)
        limit_force(k)
        if k.source == SIMULATED:
            move_device(k, m.t - ticks_left(k))
        publish(k, m, c, end_tick(k, began, prepared), late)
        k.tick += 1
    return REACHED


__all__ = ["FURTHEST_BEHIND", "tick_loop"]
