"""Many motions of one kind, LANES of them in step: explicit methods, each member with its own t and its own h.

Every lane has the memory that a motion has alone (`records.MEMORY`), and is judged, stored and searched for crossings
by the same parts. Only what costs most is done for all lanes at once: the stages of a step, its projection onto
constraints and its error estimate. What is rare is done by a lane alone: the first step, which is proven, and dense
output. So a member has the bits that it has alone. A lane whose member is done takes the next one. Members that do not
go in step are taken one after the other (`series`), all in the first lane.
"""

from __future__ import annotations

from ...backends.kernel import LANES
from . import lanewise
from .call import call_with, part, reals, wholes
from .explicit import (
    HIDDEN_JUMP,
    combine_errors,
    continue_motion,
    dense_rows,
    judge_step,
    look_for_stiffness,
    next_end,
    prepare,
    step_to_outputs,
    too_small,
)
from .lane_values import ROW, above, bits, both, load, minus, over, plus, root, size, splat, store, times
from .member_memory import aim, end_member, lane, place_member
from .records import EVENT, FULL, NOT_FINITE, REACHED, RUNNING, SMALL_STEP, STIFF
from .step import copy_numbers, find_events, finish, has_room, wants_dense_output
from .store import loop


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
def attempt_lanes(w, m):
    """One step of all lanes, by the tableau that is in any of their memories: stages in k, result in y_new."""
    n = w.n
    start, column, value, c = wholes(m.a_start), wholes(m.a_column), reals(m.a_value), reals(m.c)
    state = w.x + ROW
    for s in range(1, m.stages + 1):
        combine_lanes(w, start, column, value, s, state)
        for i in range(n):
            lanewise.add(state + i * ROW, w.y + i * ROW)
        if s == m.stages:
            lanewise.copy(w.t_new, w.x)
            if w.project != 0:
                project_lanes(w, m)
            else:
                for i in range(n):
                    lanewise.copy(state + i * ROW, w.y_new + i * ROW)
        else:
            lanewise.weigh(w.x, w.h, c[s])
            lanewise.add(w.x, w.time)
        call_with(w.rhs, w.rhs_memory, w.x, w.k + s * w.width * ROW)


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


@part
def copy_from_lane(n, lanes, at, target):
    """n numbers of one lane."""
    a, b = reals(lanes), reals(target)
    for i in range(n):
        b[i] = a[LANES * i + at]


@part
def copy_to_lane(n, source, lanes, at):
    """n numbers into one lane."""
    a, b = reals(source), reals(lanes)
    for i in range(n):
        b[LANES * i + at] = a[i]


@part
def begin_member(w, at, member):
    """Put a member at its start into a lane, and take its first step; why it ends there, or RUNNING."""
    place_member(w, at, member)
    m, n = lane(w, at), w.n
    aim(w, at)
    reason = first_step_alone(m)
    copy_to_lane(n, m.y, w.y, at)
    copy_to_lane(n, m.f, w.k, at)
    copy_to_lane(1 + n + w.p, m.x, w.x, at)
    return reason


@part
def first_step_alone(m):
    """A first step that is proven; of a fixed step only the derivative at the start."""
    if m.fixed:
        return RUNNING if prepare(m) else NOT_FINITE
    reason = RUNNING
    while reason == RUNNING and not m.proven and m.rejected < 1000:
        reason = continue_motion(m, 1)
    return reason


@part
def leave_lane(w, at, reason):
    """End the member in a lane."""
    copy_from_lane(w.n, w.y, at, lane(w, at).y)
    end_member(w, at, reason)


@part
def plan_step(w, at):
    """Where the next step of a lane ends; why there is none, or RUNNING."""
    m = lane(w, at)
    if m.t == m.t_end:
        if m.t == m.t_last:
            return REACHED
        copy_from_lane(w.n, w.y, at, m.y)
        aim(w, at)
        if m.fresh and not prepare(m):
            return NOT_FINITE
        copy_to_lane(w.n, m.f, w.k, at)
    if not has_room(m) or m.steps + m.rejected >= w.budget:
        return FULL
    if m.stiff:
        return STIFF
    reals(w.proposed)[at] = m.h
    t_new, clipped = next_end(m)
    h = t_new - m.t
    if too_small(m, h, clipped):
        return SMALL_STEP
    reals(w.time)[at], reals(w.t_new)[at], reals(w.h)[at] = m.t, t_new, h
    wholes(w.clipped)[at] = 1 if clipped else 0
    return RUNNING


@part
def copy_stages(w, at):
    """The stages of a lane into its own memory."""
    m = lane(w, at)
    for s in range(m.stages + 1):
        copy_from_lane(w.n, w.k + s * w.width * ROW, at, m.k + 8 * s * m.width)


@part
def take_lane(w, at):
    """Whether the step of a lane is good; now and then a good one is looked at for stiffness."""
    m = lane(w, at)
    if not judge_lane(w, at):
        return False
    if m.steps >= m.stiff_due:
        copy_stages(w, at)
        copy_from_lane(w.n, w.y, at, m.y)
        copy_from_lane(w.n, w.y_new, at, m.y_new)
        look_for_stiffness(m, reals(w.h)[at])
    return True


@part
def judge_lane(w, at):
    """Whether the step of a lane is good; fixed steps are unless they are not finite."""
    m, sums = lane(w, at), reals(w.sums)
    m.evaluations += m.stages
    finite = sums[2 * LANES + at] == 0.0
    if m.fixed:
        return finite
    error = combine_errors(m, sums[at], sums[LANES + at])
    finite = finite and sums[3 * LANES + at] == 0.0
    return judge_step(m, error, finite, reals(w.proposed)[at], wholes(w.clipped)[at] != 0)


@part
def passes_unseen(m, t_new):
    """Whether nobody looks at a step to t_new: no event, no output."""
    if m.events > 0 or m.next_time >= m.requested:
        return False
    return m.sign * (reals(m.times)[m.next_time] - t_new) > 0.0


@part
def pass_step(w, at):
    """Count a step that nobody looks at; the state of the lane is not in its own memory then."""
    m = lane(w, at)
    m.t = reals(w.t_new)[at]
    m.steps += 1
    m.grid += 1


@part
def move_lane(w, m, at):
    """Make the end of the step of one lane its beginning."""
    y, y_new, f, last = reals(w.y), reals(w.y_new), reals(w.k), reals(w.k + m.stages * w.width * ROW)
    for i in range(w.n):
        place = LANES * i + at
        y[place], f[place] = y_new[place], last[place]


@part
def move_lanes(w, m):
    """The same for all lanes."""
    last = w.k + m.stages * w.width * ROW
    for i in range(w.n):
        lanewise.copy(w.y_new + i * ROW, w.y + i * ROW)
        lanewise.copy(last + i * ROW, w.k + i * ROW)


@part
def close_step(w, at):
    """Close an accepted step of a lane; why the member ends there, or RUNNING."""
    m, n = lane(w, at), w.n
    t_new, h = reals(w.t_new)[at], reals(w.h)[at]
    t, first = m.t, m.stored
    copy_from_lane(n, w.y, at, m.y)
    copy_from_lane(n, w.y_new, at, m.y_new)
    if wants_dense_output(m, t_new):
        copy_stages(w, at)
        dense_rows(m, t, t_new, h)
    if not find_events(m, t_new, h):
        return NOT_FINITE
    m.grid += 1
    if w.projects:
        copy_numbers(n, m.y, m.scratch)
    stopped = finish(m, t_new, h)
    if w.projects:
        step_to_outputs(m, t, first)
    move_lane(w, m, at)
    copy_to_lane(n, m.y, w.y, at)
    return EVENT if stopped else RUNNING


@part
def step_lanes(w):
    """One attempted step of every lane that has a member."""
    m = lane(w, 0)
    attempt_lanes(w, m)
    estimate_errors(w, m)
    member, good = wholes(w.member), wholes(w.good)
    unseen = True
    for at in range(LANES):
        if member[at] >= 0:
            good[at] = 1 if take_lane(w, at) else 0
            unseen = unseen and good[at] != 0 and passes_unseen(lane(w, at), reals(w.t_new)[at])
    if unseen:
        move_lanes(w, m)
    for at in range(LANES):
        if member[at] < 0:
            continue
        reason = RUNNING
        if unseen:
            pass_step(w, at)
        elif good[at] and passes_unseen(lane(w, at), reals(w.t_new)[at]):
            move_lane(w, m, at)
            pass_step(w, at)
        elif good[at]:
            reason = close_step(w, at)
        elif m.fixed:
            reason = NOT_FINITE
        if reason != RUNNING:
            leave_lane(w, at, reason)


@part
def fill_lanes(w):
    """Give every empty lane a member, and every member the end of its next step; how many lanes go on."""
    busy = 0
    for at in range(LANES):
        while True:
            reason = RUNNING
            if wholes(w.member)[at] < 0:
                if w.next == w.members:
                    break
                w.next += 1
                reason = begin_member(w, at, w.next - 1)
            if reason == RUNNING:
                reason = plan_step(w, at)
            if reason == RUNNING:
                busy += 1
                break
            leave_lane(w, at, reason)
    return busy


@loop
def members_loop(memory, budget):
    """Advance the members by up to `budget` attempted steps of all lanes; whether all are done."""
    w = memory[0]
    for _ in range(budget):
        if w.done == w.members:
            return True
        if fill_lanes(w) > 0:
            step_lanes(w)
    return w.done == w.members
