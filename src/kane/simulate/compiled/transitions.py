"""A mode ends and the next one begins: at a crossing of a function that `mode_ends` writes, and where a motion starts.

`c` is a record of type `changing_record.MEMORY`, `m` that of the loop, `records.MEMORY`.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ...constraints.thresholds import SAME_TIME, TOUCHING
from .call import call, call_with, part, reals, record_of, wholes
from .changing_record import (
    CONDITION_GUARD,
    CONTACT,
    CYCLES,
    FREED,
    FRICTION_GUARD,
    GOES_ON,
    GUARDS,
    HAS_NO_MASS,
    IMPOSED,
    NONE,
    NORMAL_GUARD,
    OPEN,
    OVERLAPS,
    PARADOX,
    RELEASE,
    SLIP,
    SLIPS,
    START,
    record,
)
from .mass_metric import fill
from .mode_choice import least_mobile, strike_and_choose, switched_basis
from .mode_ends import (
    condition_ahead,
    end_mode,
    read_conditions,
    rounding_of,
    set_floor,
    time_to_stop,
    write_event_functions,
)
from .mode_forces import evaluate, solve_mode, write_rates
from .mode_projection import project_state
from .records import MEMORY
from .slips import slip_rows
from .step import EPS, copy_numbers, set_inputs
from .store import program
from .touch import mark_drives, mark_grazing, start_flights
from .transition_record import impose, note

MOST_AT_ONE_TIME = 200
"""Transitions at one instant at most."""

TASKS = CHANGE, FIRST, LIMIT, JUMP, BEFORE_JUMP, JAM = range(6)
"""End the mode and begin the next, begin the first one, shorten a step, begin anew where something jumped in time, find
the last time before that, end a slip that friction jams."""

NEARLY = 0.95
"""Part of the time to the end of a slip that a step may take."""

machine = record_of(MEMORY)


@part
def read_state(m, c):
    """The state of the loop and its inputs to c.x, speeds to c.before."""
    reals(c.x)[0] = m.t
    copy_numbers(m.n, m.y, c.x + 8)
    copy_numbers(c.inputs - 1 - m.n, m.x + 8 * (1 + m.n), c.x + 8 * (1 + m.n))
    copy_numbers(c.n, c.x + c.u_start, c.before)
    fill(c.rows, 0.0, c.impulse)
    for i in range(c.elements):
        wholes(c.barred)[i] = 0


@part
def switch(c, cause, which, t):
    """Impose rows, or let them go, if that is the cause; returns the element that was imposed, −1 for none."""
    if cause == IMPOSED:
        impose(c, which, t)
        return which
    if cause == FREED:
        wholes(c.state)[which], wholes(c.present)[which] = OPEN, 0
    return np.int64(-1)


@part
def overlaps(c, i):
    """Whether the contact i comes into force where its bodies are inside each other."""
    return wholes(c.type)[i] == CONTACT and reals(c.phi)[wholes(c.first)[i]] < -TOUCHING


@part
def take_sides(m, c):
    """Sides of the functions of the mode where it was stopped: the step went on from there. Conditions that were found
    to rise behind what stopped it, maybe at the same instant, are still to come. Sides of other events are taken anew.
    """
    side, found, behind = wholes(m.g_sign), wholes(m.found), False
    read_conditions(c, c.x)
    for i in range(c.elements):
        side[GUARDS * i + NORMAL_GUARD], side[GUARDS * i + FRICTION_GUARD] = 1, 1
        side[GUARDS * i + CONDITION_GUARD] = 1 if condition_ahead(c, i, m.t) > 0.0 else -1
    for k in range(m.found_count):
        if behind and found[k] < GUARDS * c.elements and found[k] % GUARDS == CONDITION_GUARD:
            side[found[k]] = 1
        behind = behind or found[k] == m.stopped_by
    for e in range(m.transition_events, m.events):
        side[e] = 0


@part
def set_sides(m, c, switched, at_start):
    """Sides of the functions of a mode that begins: none may be below zero. A condition counts where it rises, also in
    a jump; that which ends what has just come into force counts at once."""
    side = wholes(m.g_sign)
    for i in range(c.elements):
        set_floor(c, i)
        for guard in range(GUARDS):
            reals(m.g_rounding)[GUARDS * i + guard] = rounding_of(c, i, guard)
        side[GUARDS * i + NORMAL_GUARD], side[GUARDS * i + FRICTION_GUARD] = 1, 1
        if at_start or i == switched:
            side[GUARDS * i + CONDITION_GUARD] = wholes(c.present)[i]


@part
def close_mode(c):
    """Move the state in c.x onto the rows of the mode. A contact that comes to rest in it, from a speed that is none,
    must not drive others together: those come to rest with it."""
    for _ in range(c.elements + 1):
        project_state(c, 0.0)
        call(c.terms, c.x, c.qdot)
        if not mark_drives(c):
            break
    for i in range(c.elements):
        wholes(c.grazes)[i] = 0


@part
def write_state(m, c, energy, at_start):
    """Give the loop the state in c.x, from which it starts anew."""
    first_step = start_flights(c)
    mark_grazing(c)
    close_mode(c)
    copy_numbers(c.states, c.x + c.q_start, m.y)
    reals(m.y)[c.states - 1] += energy
    if m.requested == 0 and not at_start:
        reals(m.out_t)[m.stored] = m.t
        copy_numbers(m.n, m.y, m.out_y + 8 * m.stored * m.n)
        m.stored += 1
    m.fresh, m.proven, m.tries, m.h, m.error = 1, 0, 0, -first_step, 1e-4
    if m.fixed:
        m.h, m.origin, m.grid = m.fixed_step, m.t, 0
    m.segment_start, m.limited = m.steps, 0
    for i in range(c.elements):
        if wholes(c.state)[i] == SLIPS and slip_rows(c, i)[1] == 2:
            m.limited = 1


@part
def first_to_yield(c, which):
    """The element that slips or opens where friction of the element `which` is overcome: another one, maybe, of those
    that it shares its friction with."""
    found = which
    for i in range(c.elements):
        if not wholes(c.barred)[found] and wholes(c.barred)[i]:
            found = i
    return found


@part
def change_mode(m, c, task):
    """End the mode at the state of the loop and begin the next; says whether the motion goes on, NONE where it should
    end by a jam and nothing jams."""
    at_start = task == FIRST
    read_state(m, c)
    if c.fixed_laws and at_start:
        call(c.laws, c.x, c.law)
    if not evaluate(c, c.x):
        return HAS_NO_MASS
    c.possible, c.law_used, c.guarded = -1, -1, 0
    cause, which = START, np.int64(-1)
    if task == JAM:
        cause, which = PARADOX, least_mobile(c, switched_basis(c))
        if which == NONE:
            return NONE
        m.found_count = 0
        take_sides(m, c)
    elif not at_start:
        which = m.stopped_by // GUARDS
        solve_mode(c)
        take_sides(m, c)
        cause = end_mode(c, m.stopped_by)
        if cause == START:
            m.fresh = 1
            return GOES_ON
        which = first_to_yield(c, which) if cause in (SLIP, RELEASE) else which
    imposed = switch(c, cause, which, m.t)
    if imposed >= 0 and overlaps(c, imposed):
        c.culprit = imposed
        return OVERLAPS
    result, cause, energy = strike_and_choose(c, cause, imposed)
    if result != GOES_ON:
        return result
    write_state(m, c, energy, at_start)
    if not evaluate(c, c.x):
        return HAS_NO_MASS
    solve_mode(c)
    set_sides(m, c, which if cause in (IMPOSED, FREED) else np.int64(-1), at_start)
    c.same_time = c.same_time + 1 if m.t - c.last_t <= SAME_TIME * EPS * abs(m.t) and not at_start else 0
    c.last_t = m.t
    note(c, m.t, cause, which, energy)
    m.transitions = c.count
    return CYCLES if c.same_time > MOST_AT_ONE_TIME else GOES_ON


@part
def change_at_jump(m, c):
    """End what the mode cannot keep up where loads or laws have just jumped, and begin the next; says whether the
    motion goes on. What is still lawful stays."""
    set_inputs(m, m.t, m.y)
    write_event_functions(c, m.x, m.g_point)
    for slot in range(GUARDS * c.elements):
        if slot % GUARDS != CONDITION_GUARD and reals(m.g_point)[slot] < 0.0:
            m.stopped_by = slot
            return change_mode(m, c, CHANGE)
    return GOES_ON


@part
def sample_at(m, time, target):
    """Rates and watched functions of the present state at another time, to the address `target`."""
    set_inputs(m, time, m.y)
    call_with(m.rhs, m.rhs_memory, m.x, target)
    call_with(m.event_program, m.event_memory, m.x, target + 8 * m.n)


@part
def largest_change(count, a, b):
    """The largest difference of numbers at two addresses; nan if one is."""
    x, y, largest = reals(a), reals(b), 0.0
    for i in range(count):
        change = abs(x[i] - y[i])
        if change > largest or change != change:
            largest = change
    return largest


@part
def find_last_before_jump(m, c):
    """Move c.jump_t back to the last time from m.t on at which motion and reactions are still those before the jump
    that lies in between: a sample may fall into the roundings of the time of the jump."""
    count = m.n + m.events
    old, new, found = c.around, c.around + 8 * count, c.around + 16 * count
    before, after = m.t, c.jump_t
    sample_at(m, before, old)
    sample_at(m, after, new)
    middle = 0.5 * (before + after)
    while middle != before and middle != after:
        sample_at(m, middle, found)
        if largest_change(count, found, new) < largest_change(count, found, old):
            after = middle
        else:
            before = middle
        middle = 0.5 * (before + after)
    c.jump_t = before
    return GOES_ON


@part
def limit_step(m, c):
    """Shorten the next step so that it does not reach the place where a slip in a plane stops."""
    reals(m.x)[0] = m.t
    copy_numbers(m.n, m.y, m.x + 8)
    write_rates(c, m.x, c.y)
    most = time_to_stop(c)
    if most > 0.0:
        m.h = min(m.h, max(NEARLY * most, 64.0 * EPS * abs(m.t)))
    return GOES_ON


@program(types.int64(types.int64, types.int64, types.int64))
def transition_program(loop_memory, memory, task):
    """Do one of the tasks for the motion in the memory of a loop."""
    m, c = machine(loop_memory), record(memory)
    c.evaluated = 0
    if task == LIMIT:
        return limit_step(m, c)
    if task == JUMP:
        return change_at_jump(m, c)
    if task == BEFORE_JUMP:
        return find_last_before_jump(m, c)
    return change_mode(m, c, task)
