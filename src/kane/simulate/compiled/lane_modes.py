"""Constraints that come and go for LANES motions at once: what `changing` does, lane by lane to the same bits.

In come [t, q, u, work, tau, parameters] of all lanes, (inputs, LANES), and the address of a record; out go rates in the
mode of each lane, or its state on the constraints of that mode, (states, LANES). Rates in a mode that is written out
are those of its program for LANES samples, which is called once for each such mode that some lane is in. Rates that are
embedded at run time, and projections, take their own way in every lane: the program of a motion alone does them.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ...backends.kernel import LANES
from .call import call, call_with, part, record_of, wholes
from .changing import RATES
from .changing_record import record
from .lane_values import copy_from_lane, copy_in_lanes, copy_to_lane, from_bits
from .mode_forces import mode_index
from .store import program

MEMORY = np.dtype(
    [
        ("task", "i8"),  # RATES or PROJECTION
        ("inputs", "i8"),
        ("states", "i8"),
        ("table", "i8"),  # (4^elements,) int64: addresses of programs for LANES samples, 0 for none
        ("asked", "i8"),  # (1,) int64: the bits of lanes whose outputs are wanted
        ("program", "i8"),  # what does the task for a motion alone
        ("alone", "i8"),  # (LANES,) int64: addresses of what that works in
        ("constraints", "i8"),  # (LANES,) int64: addresses of the records of the motions
        ("inputs_alone", "i8"),  # (inputs,)
        ("outputs_alone", "i8"),  # (states,)
        ("outputs", "i8"),  # (states, LANES)
    ]
)

tasks = record_of(MEMORY)


@part
def lanes_in_mode(m, among, index):
    """The bits of lanes, of those `among`, that are in the mode with this index; nothing is known at their states
    afterwards (`changing_record.evaluated`)."""
    found = np.int64(0)
    for at in range(LANES):
        if (among >> at) & 1:
            c = record(wholes(m.constraints)[at])
            if mode_index(c) == index:
                c.evaluated = 0
                found |= np.int64(1) << at
    return found


@part
def write_rates(m, source, target):
    """Write the rates of all lanes whose modes are written out; the bits of the others that are asked for."""
    asked, left, alone = wholes(m.asked)[0], wholes(m.asked)[0], np.int64(0)
    for at in range(LANES):
        if not (left >> at) & 1:
            continue
        index = mode_index(record(wholes(m.constraints)[at]))
        address = wholes(m.table)[index]
        if address == 0:
            left &= ~(np.int64(1) << at)
            alone |= np.int64(1) << at
            continue
        alike = lanes_in_mode(m, left, index)
        left &= ~alike
        if alike == asked:
            call(address, source, target)
        else:
            call(address, source, m.outputs)
            copy_in_lanes(m.states, from_bits(alike), m.outputs, target)
    return alone


@program(types.void(types.int64, types.int64, types.int64))
def mode_lanes_program(source, target, memory):
    """Do for all lanes what the task in the record at `memory` says."""
    m = tasks(memory)
    left = write_rates(m, source, target) if m.task == RATES else wholes(m.asked)[0]
    for at in range(LANES):
        if (left >> at) & 1:
            copy_from_lane(m.inputs, source, at, m.inputs_alone)
            call_with(m.program, wholes(m.alone)[at], m.inputs_alone, m.outputs_alone)
            copy_to_lane(m.states, m.outputs_alone, target, at)
