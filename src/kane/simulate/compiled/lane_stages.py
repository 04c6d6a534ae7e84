"""The stages of a step of LANES motions at once, its projection onto constraints, its error and its dense output.

What `explicit` does for a motion alone, every number by the same operations in the same order. `w` as in
`member_memory`; `m` is the memory of any lane, which has the tableau.
"""

from __future__ import annotations

import numpy as np

from ...backends.kernel import LANES
from .call import call_with, part, reals, wholes
from .explicit import HIDDEN_JUMP
from .lane_values import (
    ROW,
    above,
    bits,
    both,
    choose,
    copy_rows,
    load,
    minus,
    over,
    plus,
    root,
    size,
    splat,
    store,
    times,
)
from .member_memory import lane

NOTHING = np.int64(0)
"""The address of what is not added. For a plain constant numba would compile `combine_lanes` once more."""


@part
def put_sum(total, base, target, offset):
    """Write a sum, plus what is at `base` unless that is 0."""
    if base != 0:
        total = plus(total, load(base + offset))
    store(target + offset, total)


@part
def combine_lanes(w, start, column, value, row, base, target):
    """As `explicit.combine` for all lanes: the entries of `row`, each times the lane's own h, times the stages k. What
    is at `base` is added in the end, unless that is 0."""
    length, next_k, h = w.n * ROW, w.width * ROW, load(w.h)
    at, stop = start[row], start[row + 1]
    left = (stop - at) % 4
    if left == 0:
        left = 4
    added = base if at + left == stop else 0
    v, a = times(h, splat(value[at])), w.k + column[at] * next_k
    if left == 1:
        for i in range(0, length, ROW):
            put_sum(times(v, load(a + i)), added, target, i)
    else:
        x, b = times(h, splat(value[at + 1])), w.k + column[at + 1] * next_k
        if left == 2:
            for i in range(0, length, ROW):
                put_sum(plus(times(v, load(a + i)), times(x, load(b + i))), added, target, i)
        else:
            y, c = times(h, splat(value[at + 2])), w.k + column[at + 2] * next_k
            z, d = splat(0.0), c
            if left == 4:
                z, d = times(h, splat(value[at + 3])), w.k + column[at + 3] * next_k
            for i in range(0, length, ROW):
                two = plus(times(v, load(a + i)), times(x, load(b + i)))
                put_sum(plus(two, plus(times(y, load(c + i)), times(z, load(d + i)))), added, target, i)
    for at in range(start[row] + left, stop, 4):
        v, a = times(h, splat(value[at])), w.k + column[at] * next_k
        x, b = times(h, splat(value[at + 1])), w.k + column[at + 1] * next_k
        y, c = times(h, splat(value[at + 2])), w.k + column[at + 2] * next_k
        z, d = times(h, splat(value[at + 3])), w.k + column[at + 3] * next_k
        added = base if at + 4 == stop else 0
        for i in range(0, length, ROW):
            two = plus(times(v, load(a + i)), times(x, load(b + i)))
            four = plus(two, plus(times(y, load(c + i)), times(z, load(d + i))))
            put_sum(plus(load(target + i), four), added, target, i)


@part
def distance_lanes(w, m, a, b, scale):
    """As `explicit.distance` of a and b, for all lanes."""
    total, atol, rtol = splat(0.0), reals(m.atol), splat(m.rtol)
    for i in range(w.n):
        offset = i * ROW
        allowed = plus(splat(atol[i]), times(rtol, size(load(scale + offset))))
        part = over(minus(load(a + offset), load(b + offset)), allowed)
        total = plus(total, times(part, part))
    return root(over(total, splat(float(w.n))))


@part
def project_lanes(w, m):
    """Project the states in x of all lanes; result in x and y_new."""
    n, state = w.n, w.x + ROW
    call_with(w.project, w.project_memory, w.x, w.y_new)
    if w.projects:
        moved = distance_lanes(w, m, w.y_new, state, w.y)
        whole = distance_lanes(w, m, state, w.y, w.y)
        jumps = bits(both(above(moved, splat(1.0)), above(moved, times(splat(HIDDEN_JUMP), whole))))
        for at in range(LANES):
            lane(w, at).jumped = (jumps >> at) & 1
    copy_rows(n, w.y_new, state)


@part
def remove_drift(w):
    """As `explicit.remove_drift` of the errors of all lanes."""
    n, state = w.n, w.x + ROW
    for i in range(n):
        offset = i * ROW
        store(state + offset, minus(load(w.y_new + offset), load(w.error + offset)))
    store(w.x, load(w.t_new))
    call_with(w.project, w.project_memory, w.x, w.error)
    for i in range(n):
        offset = i * ROW
        store(w.error + offset, minus(load(w.y_new + offset), load(w.error + offset)))


@part
def set_stage(w, m, s):
    """The states of stage s of all lanes in x, their times left out."""
    combine_lanes(w, wholes(m.a_start), wholes(m.a_column), reals(m.a_value), s, w.y, w.x + ROW)


@part
def set_stage_times(w, m, s):
    """The times of stage s of all lanes in x."""
    store(w.x, plus(times(load(w.h), splat(reals(m.c)[s])), load(w.time)))


@part
def attempt_lanes(w, m):
    """One step of all lanes: stages in k, result in y_new."""
    for s in range(1, m.stages + 1):
        set_stage(w, m, s)
        if s < m.stages:
            set_stage_times(w, m, s)
        else:
            store(w.x, load(w.t_new))
            if w.project != 0:
                project_lanes(w, m)
            else:
                copy_rows(w.n, w.x + ROW, w.y_new)
        call_with(w.rhs, w.rhs_memory, w.x, w.k + s * w.width * ROW)


@part
def dense_lanes(w, m):
    """As `explicit.dense_rows` for all lanes: the dense rows of their steps."""
    n, last = w.n, w.k + m.stages * w.width * ROW
    for s in range(m.stages + 1, m.rows):
        set_stage(w, m, s)
        set_stage_times(w, m, s)
        call_with(w.rhs, w.rhs_memory, w.x, w.k + s * w.width * ROW)
    h = load(w.h)
    for i in range(n):
        offset = i * ROW
        rise = minus(load(w.y_new + offset), load(w.y + offset))
        bend = minus(times(h, load(w.k + offset)), rise)
        store(w.dense + offset, rise)
        store(w.dense + n * ROW + offset, bend)
        store(w.dense + 2 * n * ROW + offset, minus(minus(rise, times(h, load(last + offset))), bend))
    start, column, value = wholes(m.dense_start), wholes(m.dense_column), reals(m.dense_value)
    for row in range(m.dense_rows):
        combine_lanes(w, start, column, value, row, NOTHING, w.dense + (3 + row) * n * ROW)


@part
def interpolate_lanes(w, m, i, s):
    """As `step.interpolate` of the state i, for all lanes."""
    r, part = splat(1.0 - s), splat(s)
    dense, next_row = w.dense + i * ROW, w.n * ROW
    top = 2 + m.dense_rows - m.dense_rows % 2
    x = load(dense + top * next_row)
    if m.dense_rows % 2:
        x = plus(x, times(r, load(dense + (top + 1) * next_row)))
    for d in range(top - 2, -1, -2):
        inner = plus(load(dense + (d + 1) * next_row), times(part, x))
        x = plus(load(dense + d * next_row), times(r, inner))
    return plus(load(w.y + i * ROW), times(part, x))


@part
def excess(n, values):
    """0 in lanes in which n numbers are finite, nan in others: the sum of x − x."""
    total = splat(0.0)
    for i in range(n):
        x = load(values + i * ROW)
        total = plus(total, minus(x, x))
    return total


@part
def squared_error(w, m):
    """The sums of the squares of the errors of all lanes in tolerances."""
    total, atol, rtol = splat(0.0), reals(m.atol), splat(m.rtol)
    for i in range(w.n):
        offset = i * ROW
        before, after = size(load(w.y + offset)), size(load(w.y_new + offset))
        largest = choose(above(after, before), after, before)
        part = over(load(w.error + offset), plus(splat(atol[i]), times(rtol, largest)))
        total = plus(total, times(part, part))
    return total


@part
def estimate_errors(w, m):
    """Sums of the squares of the error estimates in tolerances, and whether all is finite, for all lanes; of a fixed
    step only whether its result is."""
    store(w.sums + 2 * ROW, excess(w.n, w.y_new))
    if m.fixed:
        return
    store(w.sums + 3 * ROW, excess(w.n, w.k + m.stages * w.width * ROW))
    store(w.sums + ROW, splat(0.0))
    start, column, value = wholes(m.error_start), wholes(m.error_column), reals(m.error_value)
    for row in range(m.error_rows):
        combine_lanes(w, start, column, value, row, NOTHING, w.error)
        if w.projects:
            remove_drift(w)
        store(w.sums + row * ROW, squared_error(w, m))
