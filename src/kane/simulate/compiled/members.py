"""Many motions of one kind, LANES of them in step: explicit methods, each member with its own t and its own h.

Every lane has the memory that a motion has alone (`records.MEMORY`), and is judged, stored and searched for crossings
by the same parts. Only what costs most is done for all lanes at once: the stages of a step, its projection onto
constraints, its error estimate and its dense output (`lane_stages`), samples of events and whether they need be
searched (`lane_events`). What is rare is done by a lane alone: the first step, which is proven, the search for
crossings, a change of the mode with the first step in the next one, and rows of output. So a member has the bits that
it has alone. A lane whose member is done takes the next one. Members that do not go in step are taken one after the
other (`series`), all in the first lane.
"""

from __future__ import annotations

import numpy as np

from ...backends.kernel import LANES
from .call import part, reals, wholes
from .explicit import (
    combine_errors,
    continue_motion,
    go_on,
    judge_step,
    look_for_stiffness,
    next_end,
    prepare,
    step_to_outputs,
    too_small,
)
from .lane_events import hand_samples, note_sides, quiet_lanes, sample_lanes
from .lane_stages import attempt_lanes, dense_lanes, estimate_errors, excess
from .lane_values import (
    EVERY,
    ROW,
    bits,
    copy_from_lane,
    copy_in_lanes,
    copy_rows,
    copy_to_lane,
    differs,
    from_bits,
    load,
    minus,
    plus,
    splat,
    store,
    times,
)
from .member_memory import aim, end_member, lane, make_room, start_member
from .records import FULL, NOT_FINITE, REACHED, RUNNING, SMALL_STEP, STIFF
from .step import copy_numbers, find_events, finish, limit_step, wants_dense_output
from .store import loop


@part
def begin_member(w, at, member):
    """Put a member at its start into a lane, and take its first step; why it ends there, or RUNNING."""
    reason = start_member(w, at, member)
    if reason == RUNNING:
        reason = prove_step(w, at)
    copy_to_lane(1 + w.n + w.p, lane(w, at).x, w.x, at)
    join_lanes(w, at)
    return reason


@part
def prove_step(w, at):
    """Let the motion in a lane, which has just begun or changed its mode, go on alone until a step is proven; why it
    ends there, or RUNNING. Of a fixed step only the derivative is needed."""
    m = lane(w, at)
    if m.fresh and not prepare(m):
        return NOT_FINITE
    reason = RUNNING
    while reason == RUNNING and not (m.proven or m.fixed or m.t == m.t_end):
        if m.steps + m.rejected >= w.budget:
            return FULL
        make_room(w, at)
        reason = continue_motion(m, 1)
    return reason


@part
def join_lanes(w, at):
    """Put the state and the derivative that a motion has come to alone into its lane, as those before the next step and
    at the end of the last one."""
    m, n = lane(w, at), w.n
    copy_to_lane(n, m.y, w.y, at)
    copy_to_lane(n, m.y, w.y_new, at)
    copy_to_lane(n, m.f, w.k, at)
    copy_to_lane(n, m.f, w.k + m.stages * w.width * ROW, at)
    note_sides(w, at)


@part
def leave_lane(w, at, reason):
    """End the member in a lane."""
    copy_from_lane(w.n, w.y, at, lane(w, at).y)
    end_member(w, at, reason)


@part
def pass_changes(w, at):
    """Let the motion in a lane go on behind a change in time; why it ends there, or RUNNING."""
    m, n = lane(w, at), w.n
    copy_from_lane(n, w.y, at, m.y)
    copy_from_lane(n, w.k, at, m.f)
    reason = aim(w, at)
    if reason == RUNNING:
        reason = prove_step(w, at)
    join_lanes(w, at)
    return reason


@part
def plan_step(w, at):
    """Where the next step of a lane ends; why there is none, or RUNNING."""
    m = lane(w, at)
    while m.t == m.t_end:
        if m.t == m.t_last:
            return REACHED
        reason = pass_changes(w, at)
        if reason != RUNNING:
            return reason
    make_room(w, at)
    if m.steps + m.rejected >= w.budget:
        return FULL
    if m.stiff:
        return STIFF
    if m.limited:
        copy_from_lane(w.n, w.y, at, m.y)
        limit_step(m)
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
def look_into_steps(w, m, good):
    """Dense output of all lanes if it is wanted in one that is `good`, by bits, and samples of their events; the bits
    of lanes whose events need not be searched."""
    wanted = False
    for at in range(LANES):
        wanted = wanted or ((good >> at) & 1 and wants_dense_output(lane(w, at), reals(w.t_new)[at]))
    if not wanted:
        return np.int64(EVERY)
    wholes(w.asked)[0] = good
    dense_lanes(w, m)
    if m.events == 0:
        return np.int64(EVERY)
    if w.event_program == 0:
        return np.int64(0)
    sample_lanes(w, m)
    quiet = quiet_lanes(w)
    for at in range(LANES):
        if reals(w.t_new)[at] == m.t_last:  # zero may be reached there
            quiet &= ~(1 << at)
    return quiet


@part
def passes_unseen(m, t_new):
    """Whether there is no output in a step to t_new."""
    return m.next_time < m.requested and m.sign * (reals(m.times)[m.next_time] - t_new) > 0.0


@part
def pass_step(w, at):
    """Count a step that nobody looks at; the state of the lane is not in its own memory then."""
    m = lane(w, at)
    m.t = reals(w.t_new)[at]
    m.steps += 1
    m.grid += 1


@part
def move_lanes(w, m, where):
    """Make the end of the step of some lanes, by bits, its beginning; what the others have in y_new is lost."""
    last = w.k + m.stages * w.width * ROW
    if where == EVERY:
        w.y, w.y_new = w.y_new, w.y
        copy_rows(w.n, last, w.k)
    else:
        copy_in_lanes(w.n, from_bits(where), w.y_new, w.y)
        copy_in_lanes(w.n, from_bits(where), last, w.k)


@part
def search_lane(w, at):
    """Find the crossings in the step of a lane; False if an event is not a number there."""
    m = lane(w, at)
    if w.event_program != 0:
        hand_samples(w, at)
    sound = find_events(m, reals(w.t_new)[at], reals(w.h)[at])
    note_sides(w, at)
    return sound


@part
def close_step(w, at, quiet):
    """Close an accepted step of a lane, in which events need not be searched if `quiet`; why the member ends there, or
    RUNNING. One that has changed its mode goes on alone until the next step is proven."""
    m, n = lane(w, at), w.n
    t_new, h = reals(w.t_new)[at], reals(w.h)[at]
    t, first = m.t, m.stored
    copy_from_lane(n, w.y, at, m.y)
    copy_from_lane(n, w.y_new, at, m.y_new)
    if wants_dense_output(m, t_new):
        copy_from_lane((3 + m.dense_rows) * n, w.dense, at, m.dense)
    m.found_count = 0
    if m.events > 0 and not quiet and not search_lane(w, at):
        return NOT_FINITE
    m.grid += 1
    if w.projects:
        copy_stages(w, at)
        copy_numbers(n, m.y, m.scratch)
    stopped = finish(m, t_new, h)
    if w.projects:
        step_to_outputs(m, t, first)
    if not stopped:
        return RUNNING
    reason = go_on(m)
    if reason == RUNNING:
        reason = prove_step(w, at)
    join_lanes(w, at)
    return reason


@part
def step_lanes(w):
    """One attempted step of every lane that has a member."""
    m = lane(w, 0)
    attempt_lanes(w, m)
    estimate_errors(w, m)
    member, good = wholes(w.member), np.int64(0)
    for at in range(LANES):
        if member[at] >= 0 and take_lane(w, at):
            good |= 1 << at
    quiet = look_into_steps(w, m, good)
    for at in range(LANES):
        reason = RUNNING
        if member[at] < 0:
            continue
        if not (good >> at) & 1:
            reason = NOT_FINITE if m.fixed else RUNNING
        elif (quiet >> at) & 1 and passes_unseen(lane(w, at), reals(w.t_new)[at]):
            pass_step(w, at)
        else:
            reason = close_step(w, at, (quiet >> at) & 1)
        if reason != RUNNING:
            leave_lane(w, at, reason)
    for at in range(LANES):
        if member[at] < 0:
            good |= 1 << at  # nobody reads it
    move_lanes(w, m, good)


@part
def count_unseen(m, most):
    """How many steps of one length, of so many, end before anybody looks at the motion: two less, since times are
    rounded."""
    left = m.sign * (m.t_end - m.t)
    if m.next_time < m.requested:
        left = min(left, m.sign * (reals(m.times)[m.next_time] - m.t))
    return np.int64(min(left / m.h - 2.0, float(most)))


@part
def stride_lanes(w, most):
    """Take up to `most` steps of one length of all lanes in which nobody looks at any; how many were taken. A step that
    is not finite is not, and left to `step_lanes`."""
    m, count = lane(w, 0), most
    if not m.fixed or m.events > 0:
        return np.int64(0)
    member, busy, rows = wholes(w.member), np.int64(0), reals(w.sums)
    for at in range(LANES):
        if member[at] >= 0:
            own = lane(w, at)
            count = min(count, count_unseen(own, min(most, w.budget - own.steps)))
            rows[at], rows[LANES + at], rows[2 * LANES + at] = own.origin, own.sign, float(own.grid)
            busy |= 1 << at
    origin, sign, grid, taken = load(w.sums), load(w.sums + ROW), load(w.sums + 2 * ROW), np.int64(0)
    while taken < count:
        grid = plus(grid, splat(1.0))
        end = plus(origin, times(times(sign, grid), splat(m.h)))
        store(w.t_new, end)
        store(w.h, minus(end, load(w.time)))
        attempt_lanes(w, m)
        if busy & bits(differs(excess(w.n, w.y_new), splat(0.0))):
            break
        move_lanes(w, m, np.int64(EVERY))
        store(w.time, end)
        taken += 1
    for at in range(LANES):
        if member[at] >= 0 and taken > 0:
            own = lane(w, at)
            own.t = reals(w.time)[at]
            own.steps += taken
            own.grid += taken
            own.evaluations += taken * own.stages
    return taken


@part
def fill_lanes(w):
    """Give every empty lane a member, and every member the end of its next step; the bits of lanes that go on, which
    are asked for what the step needs."""
    busy = np.int64(0)
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
                busy |= np.int64(1) << at
                break
            leave_lane(w, at, reason)
    wholes(w.asked)[0] = busy
    return busy


@loop
def members_loop(memory, budget):
    """Advance the members by up to `budget` attempted steps of all lanes; whether all are done."""
    w, left = memory[0], budget
    while left > 0 and w.done < w.members:
        if fill_lanes(w) == 0:
            continue
        taken = stride_lanes(w, left)
        if taken == 0:
            step_lanes(w)
        left -= max(taken, 1)
    return w.done == w.members
