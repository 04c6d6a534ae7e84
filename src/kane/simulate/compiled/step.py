"""What every method does after a step: values between its ends, storing of crossings and of output.

`m` is the memory of the loop, a record of type `records.MEMORY`.
"""

from __future__ import annotations

import numpy as np
from numba import typeof, types

from .call import call_with, crossings, part, reals, transit, wholes
from .records import MEMORY

ARGUMENTS = (typeof(np.zeros(1, dtype=MEMORY)), types.int64)
"""What a loop takes: its memory and how many steps it may attempt."""

EPS = 2.220446049250313e-16

CHANGE, FIRST, LIMIT, JUMP, BEFORE_JUMP, JAM = (np.int64(task) for task in range(6))
"""Tasks of `transitions`."""


@part
def copy_numbers(n, source, target):
    """Copy n numbers from one address to another."""
    a, b = reals(source), reals(target)
    for i in range(n):
        b[i] = a[i]


@part
def all_finite(n, values):
    """Whether the n numbers at the address `values` are finite: x - x is 0 for those and nan for the others."""
    x = reals(values)
    total = 0.0
    for i in range(n):
        total += x[i] - x[i]
    return total == 0.0


@part
def set_inputs(m, t, y):
    """Put the time and the state at the address `y` where the programs read them."""
    reals(m.x)[0] = t
    copy_numbers(m.n, y, m.x + 8)


@part
def interpolate(m, s, target):
    """Write the state at the fraction `s` of the last step to the address `target`."""
    n = m.n
    y, dense, x = reals(m.y), reals(m.dense), reals(target)
    r = 1.0 - s
    top = 2 + m.dense_rows - m.dense_rows % 2  # rows are taken in pairs, the last one with none
    if m.dense_rows % 2:
        for i in range(n):
            x[i] = dense[top * n + i] + r * dense[(top + 1) * n + i]
    else:
        copy_numbers(n, m.dense + 8 * top * n, target)
    for d in range(top - 2, -1, -2):
        for i in range(n):
            x[i] = dense[d * n + i] + r * (dense[(d + 1) * n + i] + s * x[i])
    for i in range(n):
        x[i] = y[i] + s * x[i]


@part
def event_signs(m):
    """Take the sides of the events at the present state where none is known yet."""
    set_inputs(m, m.t, m.y)
    call_with(m.event_program, m.event_memory, m.x, m.g_point)
    m.event_evaluations += 1
    m.sampled_h = 0.0
    g, side = reals(m.g_point), wholes(m.g_sign)
    for e in range(m.events):
        if side[e] == 0:
            side[e] = (g[e] > 0.0) - (g[e] < 0.0)
        if g[e] != g[e]:
            m.not_a_number = e + 1


@part
def has_room(m):
    """Whether the output arrays can take everything that one more step may bring."""
    if m.requested == 0 and m.stored + 2 >= m.room:
        return False
    if m.transition != 0 and m.transitions >= m.transition_room:
        return False
    return m.crossings + m.step_room <= m.event_room


@part
def wants_dense_output(m, t_new):
    """Whether this step is looked at anywhere but at its end."""
    if m.events > 0:
        return True
    if m.next_time >= m.requested:
        return False
    return m.sign * (reals(m.times)[m.next_time] - t_new) < 0.0


@part
def write_state(m, part, time, target):
    """The state a `part` of this step ahead, at `time`, projected, to the address `target`."""
    interpolate(m, part, target)
    if m.project != 0:
        set_inputs(m, time, target)
        call_with(m.project, m.project_memory, m.x, target)


@part
def find_events(m, t_new, h):
    """Find the crossings in the step to t_new; False if an event is not a number there."""
    if m.events > 0:
        m.at_end = 1 if t_new == m.t_last else 0
        m.found_count = crossings(m.watch, m, h)
    return m.not_a_number == 0


@part
def store_crossings(m, t_new, h):
    """Store the crossings of this step up to the first terminal one; True if there is one, its row is the last."""
    if m.events == 0:
        return False
    found_at, found, event, event_t = reals(m.found_at), wholes(m.found), wholes(m.event), reals(m.event_t)
    for c in range(m.found_count):
        row = m.crossings
        event[row] = found[c]
        event_t[row] = m.t + found_at[c] * h if found_at[c] < 1.0 else t_new
        write_state(m, found_at[c], event_t[row], m.event_y + 8 * row * m.n)
        m.crossings += 1
        if wholes(m.terminal)[found[c]]:
            m.stopped_by = found[c]
            return True
    return False


@part
def finish(m, t_new, h):
    """Close an accepted step from m.t to t_new: events, output, the new state. True if a terminal event stops it."""
    n = m.n
    out_t, times = reals(m.out_t), reals(m.times)
    stopped = store_crossings(m, t_new, h)
    t_stop = t_new
    if stopped:
        t_stop = reals(m.event_t)[m.crossings - 1]
        copy_numbers(n, m.event_y + 8 * (m.crossings - 1) * n, m.y_new)
    while m.next_time < m.requested and m.sign * (times[m.next_time] - t_stop) < 0.0:
        out_t[m.stored] = times[m.next_time]
        write_state(m, (times[m.next_time] - m.t) / h, times[m.next_time], m.out_y + 8 * m.stored * n)
        m.next_time += 1
        m.stored += 1
    at_time = m.next_time < m.requested and times[m.next_time] == t_stop
    if at_time or m.requested == 0:
        out_t[m.stored] = t_stop
        copy_numbers(n, m.y_new, m.out_y + 8 * m.stored * n)
        m.next_time += 1 if at_time else 0
        m.stored += 1
    copy_numbers(n, m.y_new, m.y)
    m.t = t_stop
    m.steps += 1
    return stopped


@part
def limit_step(m):
    """Shorten the next step where the constraints ask for it."""
    if m.limited and not m.fixed:
        transit(m.transition, m, m.transition_memory, LIMIT)


@part
def changes_mode(m):
    """Whether the event that stopped a step belongs to the constraints: then they are changed, and the motion goes on
    unless m.transition_fault says otherwise."""
    if m.transition == 0 or m.stopped_by >= m.transition_events:
        return False
    m.transition_fault = transit(m.transition, m, m.transition_memory, CHANGE)
    return True


@part
def jams(m):
    """Whether no step is short enough since friction jams a contact: then the constraints are changed as above."""
    if m.transition == 0:
        return False
    fault = transit(m.transition, m, m.transition_memory, JAM)
    if fault < 0:
        return False
    m.transition_fault = fault
    return True
