"""The stages of a step of LANES motions at once, its projection onto constraints, its error and its dense output.

What `explicit` does for a motion alone, every number by the same operations in the same order. `w` as in
`member_memory`; `m` is the memory of any lane, which has the tableau.
"""

from __future__ import annotations

from ...backends.kernel import LANES
from . import lanewise
from .call import call_with, part, reals, wholes
from .explicit import HIDDEN_JUMP
from .lane_values import ROW, above, bits, both, load, minus, over, plus, root, size, splat, store, times
from .member_memory import lane


@part
def combine_lanes(w, start, column, value, row, target):
    """As `explicit.combine` for all lanes: the entries of `row`, each times the lane's own h, times the stages k."""
    n, size = w.n, w.width * ROW
    at, stop = start[row], start[row + 1]
    left = (stop - at) % 4
    if left == 0:
        left = 4
    for j in range(4):
        lanewise.weigh(w.weights + j * ROW, w.h, value[at + j] if j < left else 0.0)
    if left == 3:
        lanewise.spread(w.weights + 3 * ROW, 0.0)
    a = w.k + column[at] * size
    b = w.k + column[at + 1] * size if left > 1 else a
    c = w.k + column[at + 2] * size if left > 2 else b
    d = w.k + column[at + 3] * size if left > 3 else c
    for i in range(n):
        offset = i * ROW
        if left == 1:
            lanewise.sum1(target + offset, w.weights, a + offset)
        elif left == 2:
            lanewise.sum2(target + offset, w.weights, a + offset, b + offset)
        else:
            lanewise.sum4(target + offset, w.weights, a + offset, b + offset, c + offset, d + offset)
    for at in range(start[row] + left, stop, 4):
        for j in range(4):
            lanewise.weigh(w.weights + j * ROW, w.h, value[at + j])
        a, b = w.k + column[at] * size, w.k + column[at + 1] * size
        c, d = w.k + column[at + 2] * size, w.k + column[at + 3] * size
        for i in range(n):
            offset = i * ROW
            lanewise.add4(target + offset, w.weights, a + offset, b + offset, c + offset, d + offset)


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
    for i in range(n):
        lanewise.copy(w.y_new + i * ROW, state + i * ROW)


@part
def remove_drift(w):
    """As `explicit.remove_drift` of the errors of all lanes."""
    n, state = w.n, w.x + ROW
    for i in range(n):
        offset = i * ROW
        store(state + offset, minus(load(w.y_new + offset), load(w.error + offset)))
    lanewise.copy(w.t_new, w.x)
    call_with(w.project, w.project_memory, w.x, w.error)
    for i in range(n):
        offset = i * ROW
        store(w.error + offset, minus(load(w.y_new + offset), load(w.error + offset)))


@part
def set_stage(w, m, s):
    """The states of stage s of all lanes in x, their times left out."""
    combine_lanes(w, wholes(m.a_start), wholes(m.a_column), reals(m.a_value), s, w.x + ROW)
    for i in range(w.n):
        lanewise.add(w.x + (1 + i) * ROW, w.y + i * ROW)


@part
def set_stage_times(w, m, s):
    """The times of stage s of all lanes in x."""
    lanewise.weigh(w.x, w.h, reals(m.c)[s])
    lanewise.add(w.x, w.time)


@part
def attempt_lanes(w, m):
    """One step of all lanes: stages in k, result in y_new."""
    for s in range(1, m.stages + 1):
        set_stage(w, m, s)
        if s < m.stages:
            set_stage_times(w, m, s)
        else:
            lanewise.copy(w.t_new, w.x)
            if w.project != 0:
                project_lanes(w, m)
            else:
                for i in range(w.n):
                    lanewise.copy(w.x + (1 + i) * ROW, w.y_new + i * ROW)
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
        combine_lanes(w, start, column, value, row, w.dense + (3 + row) * n * ROW)


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
def estimate_errors(w, m):
    """Sums of the squares of the error estimates in tolerances, and whether all is finite, for all lanes."""
    n, last = w.n, w.k + m.stages * w.width * ROW
    for row in range(4):
        lanewise.spread(w.sums + row * ROW, 0.0)
    for i in range(n):
        lanewise.add_excess(w.sums + 2 * ROW, w.y_new + i * ROW)
        lanewise.add_excess(w.sums + 3 * ROW, last + i * ROW)
    start, column, value, atol = wholes(m.error_start), wholes(m.error_column), reals(m.error_value), reals(m.atol)
    for row in range(m.error_rows):
        combine_lanes(w, start, column, value, row, w.error)
        if w.projects:
            remove_drift(w)
        for i in range(n):
            offset = i * ROW
            lanewise.add_square(w.sums + row * ROW, w.error + offset, w.y + offset, w.y_new + offset, atol[i], m.rtol)
