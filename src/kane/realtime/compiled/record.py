"""The memory of the loop that keeps time: one record of numbers and addresses, and what a row of its recording has."""

from __future__ import annotations

import numpy as np

SIMULATED, MAILBOX, REPLAY = range(3)
"""Where positions of the device come from: one that is simulated here, memory that others write to, a recording."""

ENERGIES = 3
"""Kinetic, potential, and potential of gravity alone (J), after place and rate of a grip."""

ADDRESSES = (
    "loop",  # the memory of time stepping, `records.MEMORY`
    "coupler",  # program of the grip: place (axes,), rate (axes,), energies, from the inputs of a motion
    "grip",  # what it wrote, and places and rates before the last step
    "x",  # inputs of a motion
    "pull",  # (axes,): parameters of the terms of the motion, among its inputs
    "gain",  # (axes,)
    "stiffness",  # (axes,): K, N/m or N m/rad
    "damping",  # (axes,): B, N s/m or N m s/rad
    "position",  # (axes,): of the device, as it was measured last, m or rad
    "velocity",  # (axes,): from differences of positions
    "force",  # (axes,): on the device, N or N m
    "last",  # (axes,): the position a tick before
    "stepped_from",  # (axes,): the position at the last step of the model
    "step_velocity",  # (axes,): mean velocity from the step before to that one
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
    "expected",  # (axes,): the position that is expected of the device at the next tick
    "expected_velocity",  # (axes,)
    "pieces",  # (pieces, 2) whole numbers, addresses and lengths: all that a tick changes and the next one reads
    "kept",  # (2, words): what was there before a tick was looked ahead at, and what it left
)
NUMBERS = (
    "axes",
    "grip_now",  # the grip whose programs run
    "source",  # SIMULATED, MAILBOX or REPLAY
    "steps",  # of the system in a tick
    "every",  # ticks in a step of the system, where there are several; then steps is 1
    "step_holds",  # 1: the coupler held in the last step
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
    "spin",  # ns before a tick from which on the clock is watched, since sleep ends late
    "looks_ahead",  # 1: ticks are worked out before they are due, for the position that is expected
    "piece_count",
    "words",  # of all pieces
    "cost",  # ns that the last tick took which was worked out
    "ahead",  # 1: the next tick is worked out
    "ahead_holds",  # what was expected of the device in it
    "ahead_changes",  # which transitions are in it, as one number
    "prepared",  # ticks that were worked out before they were due, as they came
    "changes",  # ticks with transitions
    "foreseen",  # of these, with the transitions that were expected
)
REALS = (
    "h",
    "observed",  # J, `observe`
    "least_observed",
    "entered",  # J, what came in through the device
    "given",  # J, what the model's own loads and drives gave
    "at_start",  # J, kinetic energy and that of gravity there was
    "most_damping",
)
TICKS = np.dtype([(n, "i8") for n in (*ADDRESSES, *NUMBERS)] + [(n, "f8") for n in REALS])

WITH_AXES = ("position", "velocity", "force", "place")
SINGLE = ("observed", "kinetic", "potential", "computing", "late")


def columns(axes: int, states: int, elements: int) -> dict[str, slice]:
    """Where a row of the record has what: t, the state, then `WITH_AXES` and `SINGLE` (J, s), and the mode: a number
    for each constraint that comes and goes."""
    found, at = {"t": slice(0, 1), "y": slice(1, 1 + states)}, 1 + states
    for name in WITH_AXES:
        found[name] = slice(at, at + axes)
        at += axes
    for name in SINGLE:
        found[name] = slice(at, at + 1)
        at += 1
    return found | {"mode": slice(at, at + elements)}


__all__ = ["ENERGIES", "MAILBOX", "REPLAY", "SIMULATED", "TICKS", "columns"]
