"""Constraints embedded at run time for LANES motions at once: what `embedded` does, lane by lane to the same bits.

In come [t, q, u, work, tau, parameters] of all lanes, (inputs, LANES), and the address of a record; out go rates or the
states moved onto the constraints, (states, LANES). What is not alike, a lane whose rows have another rank, a Newton
step that has to be halved, numbers that are none, is done by the program of a motion alone.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ...backends.kernel import LANES
from ...constraints.thresholds import EXACT, FIRM, MASS_SHARE, ROUGH, SINGULAR
from .call import call, call_with, part, record_of, wholes
from .embedded import MEMORY, RATES, STEPS
from .lane_linear import solve_lanes
from .lane_values import (
    ROW,
    above,
    at_least,
    bits,
    choose,
    copy_from_lane,
    copy_in_lanes,
    copy_rows,
    copy_to_lane,
    from_bits,
    load,
    minus,
    negative,
    plus,
    size,
    splat,
    store,
    times,
)
from .store import program

OTHERS = (
    "asked",  # (1,) int64: the bits of lanes whose outputs are wanted
    "alone",  # (LANES,) int64: addresses of the records with which a motion alone does the same task
    "inputs_alone",  # (inputs,)
    "outputs_alone",  # (states,)
)
"""Addresses of what lanes have besides the memory of a motion alone."""

LANE_MEMORY = np.dtype([*((name, MEMORY[name]) for name in MEMORY.names or ()), *((name, "i8") for name in OTHERS)])
"""The record of a task; a number in an array of a run's own is LANES numbers, and addresses of programs are those of
LANES samples, but for `embedding`."""

record = record_of(LANE_MEMORY)


@part
def position_residual(m):
    """Evaluate places at m.x; the largest position residual of each lane, nan where one is not a number."""
    call(m.places, m.x, m.place_phi)
    largest, fault = splat(0.0), splat(0.0)
    for i in range(m.holonomic):
        off = size(load(m.place_phi + ROW * i))
        largest = choose(above(off, largest), off, largest)
        fault = plus(fault, minus(off, off))
    return plus(largest, fault)


@part
def newton_step(m, good):
    """As `embedded.newton_step`; the bits of lanes that have a step in m.shift."""
    n, k = m.n, m.holonomic
    for i in range(k):
        store(m.b + ROW * i, negative(load(m.place_phi + ROW * i)))
    good = solve_lanes(
        m, k, m.place_groups, m.place_sizes, m.place_rows, m.b, m.mass, m.zero, FIRM, MASS_SHARE, m.step, good
    )
    for i in range(m.coordinates):
        total = splat(0.0)
        for j in range(n):
            total = plus(total, times(load(m.along + ROW * (i * n + j)), load(m.step + ROW * j)))
        store(m.shift + ROW * i, total)
    return good


@part
def residual_after(m, where):
    """The residual after the kept coordinates of some lanes are moved by the shift, which are then in m.x."""
    q = m.x + m.q_start
    for i in range(m.coordinates):
        moved = plus(load(m.kept + ROW * i), load(m.shift + ROW * i))
        store(q + ROW * i, choose(where, moved, load(q + ROW * i)))
    if m.unit != 0:
        call(m.unit, m.x, m.y)
        copy_in_lanes(m.states, where, m.y, q)
    return position_residual(m)


@part
def close_position(m, good):
    """As `embedded.close_position`; the bits of lanes that are where they would be alone."""
    residual = position_residual(m)
    good &= bits(at_least(residual, splat(0.0)))
    moving = good & bits(above(residual, splat(EXACT)))
    if moving == 0:
        return good
    call(m.terms, m.x, m.qdot)
    for _ in range(STEPS):
        solved = newton_step(m, moving)
        good, moving = good & ~(moving & ~solved), solved
        copy_rows(m.coordinates, m.x + m.q_start, m.kept)
        after = residual_after(m, from_bits(moving))
        worse = moving & bits(at_least(after, residual))
        bad = moving & ~bits(at_least(after, splat(0.0))) | worse & bits(above(residual, splat(ROUGH)))
        good, moving, worse = good & ~bad, moving & ~bad & ~worse, worse & ~bad
        copy_in_lanes(m.coordinates, from_bits(worse), m.kept, m.x + m.q_start)
        residual = choose(from_bits(moving), after, residual)
        moving &= bits(above(residual, splat(EXACT)))
        if moving == 0:
            return good
    return good


@part
def project_states(m, good):
    """As `embedded.project_state`; the bits of lanes that are where they would be alone."""
    if m.unit != 0:
        call(m.unit, m.x, m.y)
        copy_rows(m.states, m.y, m.x + m.q_start)
    if m.holonomic > 0:
        good = close_position(m, good)
    if m.rows == 0 or good == 0:
        return good
    n, rows = m.n, m.rows
    call(m.terms, m.x, m.qdot)
    for i in range(rows):
        store(m.b + ROW * i, negative(load(m.rate + ROW * i)))
    good = solve_lanes(m, rows, m.groups, m.sizes, m.a, m.b, m.mass, m.zero, FIRM, MASS_SHARE, m.step, good)
    for j in range(n):
        at = m.x + m.u_start + ROW * j
        store(at, plus(load(at), load(m.step + ROW * j)))
    return good


@part
def reaction_power(m, u, udot):
    """As `embedded.reaction_power`."""
    n, power = m.n, splat(0.0)
    for i in range(n):
        effort = negative(load(m.f + ROW * i))
        for j in range(n):
            effort = plus(effort, times(load(m.mass + ROW * (i * n + j)), load(udot + ROW * j)))
        power = plus(power, times(effort, load(u + ROW * i)))
    return power


@part
def write_rates(m, source, target, good):
    """As `embedded.write_rates`; the bits of lanes that have an answer."""
    rows, first = m.rows, target + ROW * m.coordinates
    call(m.terms, source, m.qdot)
    for i in range(rows):
        wanted = load(m.wanted + ROW * i)
        if m.stabilised:
            damped = times(splat(m.damping), load(m.rate + ROW * i))
            wanted = minus(wanted, plus(damped, times(splat(m.stiffness), load(m.phi + ROW * i))))
        store(m.b + ROW * i, wanted)
    good = solve_lanes(m, rows, m.groups, m.sizes, m.a, m.b, m.mass, m.f, SINGULAR, 0.0, first, good)
    copy_rows(m.coordinates, m.qdot, target)
    power = load(m.power)
    if m.driven:
        power = plus(power, reaction_power(m, source + m.u_start, first))
    store(target + ROW * (m.states - 1), power)
    return good


@part
def finish_alone(m, lane, source, target):
    """Do the task of one lane by the program of a motion alone."""
    copy_from_lane(m.inputs, source, lane, m.inputs_alone)
    call_with(m.embedding, wholes(m.alone)[lane], m.inputs_alone, m.outputs_alone)
    copy_to_lane(m.states, m.outputs_alone, target, lane)


@program(types.void(types.int64, types.int64, types.int64))
def lane_program(source, target, memory):
    """Do for all lanes what the task in the record at `memory` says."""
    m = record(memory)
    asked = wholes(m.asked)[0]
    if m.task == RATES:
        good = write_rates(m, source, target, asked)
    else:
        copy_rows(m.inputs, source, m.x)
        good = project_states(m, asked)
        copy_rows(m.states, m.x + m.q_start, target)
    for lane in range(LANES):
        if ((asked & ~good) >> lane) & 1:
            finish_alone(m, lane, source, target)
