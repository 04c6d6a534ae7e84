"""Members of an ensemble in the memory of a compiled loop: how one is put into a lane, and what is kept of it.

A lane has the memory that a motion has alone (`records.MEMORY`). `w` is a record of type `LANE_MEMORY`: sizes, and
where the lanes, the starts of the members and what came of them are.
"""

from __future__ import annotations

import numpy as np
from numba import typeof, types

from .call import part, reals, record_of, transit, wholes
from .changing_record import record
from .records import MEMORY, NO_MODE, RUNNING
from .step import BEFORE_JUMP, FIRST, JUMP, copy_numbers, has_room

SIZES = (
    "n",
    "width",  # numbers that the right-hand side writes, n or more
    "p",  # parameters
    "members",
    "events",  # those of the user, behind the functions that tell the ends of modes
    "requested",  # rows of output of each member
    "keeps",  # 1: rows of output are kept for each member, 0: they are written over
    "words",  # 64-bit words of MEMORY
    "projects",  # 1: steps are projected onto constraints and judged after that
    "own",  # pieces of memory in which programs of a lane remember something from one call to the next
    "changes",  # in time, of each member at most
    "read",  # states that events read
    "budget",  # attempts of one member at most; more is for a run alone to judge
    "next",  # the first member that no lane has taken yet
    "done",  # members that are done
)

ADDRESSES = (
    "rhs",  # programs for LANES samples
    "rhs_memory",  # what they work in
    "project",  # 0 where there is none
    "project_memory",
    "event_program",  # 0 where there is none, and lanes are sampled one by one
    "event_memory",
    "records",  # (LANES,) of MEMORY: the lanes
    "templates",  # the same as they are before a member begins
    "own_pieces",  # (LANES, own, 3) int64: address of each piece, of what it is before a member begins, 64-bit words
    "member",  # (LANES,) int64: which member is in a lane, -1 for none
    "asked",  # (1,) int64: the bits of lanes whose rates and projections are wanted
    "t_new",  # (LANES,): where the attempted step ends, s
    "h",  # (LANES,): its length, s
    "time",  # (LANES,)
    "proposed",  # (LANES,): the length that was proposed
    "clipped",  # (LANES,) int64
    "x",  # (1 + n + p, LANES)
    "y",  # (n, LANES)
    "y_new",  # (n, LANES)
    "k",  # (stages + 1, width, LANES)
    "dense",  # (3 + dense rows, n, LANES)
    "reads",  # (read,) int64: the states that events read
    "g",  # (rows of samples, events, LANES)
    "side",  # (events, LANES): the side each event is on, 0 where it has to be searched
    "misfits",  # (SAMPLES + 2, LANES): errors of the cubics through the samples of an event, zero before and behind
    "error",  # (n, LANES)
    "sums",  # (4, LANES): squares of two error estimates, excess of y_new and of its derivative; or times of steps
    "change_times",  # (members, changes, 2): times just before and just after each, s; nan for none
    "coming",  # (LANES,) int64: which of them comes next
    "starts",  # (members, n)
    "parameters",  # (members, p)
    "out_y",  # (members, requested, n), or (LANES, requested, n) where rows are not kept
    "reason",  # (members,) int64: why a member ended
    "stored",  # (members,) int64: rows of output
    "end_t",  # (members,), s
    "end_y",  # (members, n)
    "attempts",  # (members, 2) int64: steps taken and rejected
    "evaluations",  # (members,) int64
    "stopped_by",  # (members,) int64: the terminal event
    "first",  # (members, events): the first crossing of each event, s, nan for none
    "crossings",  # (members, events) int64
    "missed",  # (members, events) int64: crossings may be missing
)

LANE_MEMORY = np.dtype([(name, "i8") for name in (*SIZES, *ADDRESSES)])

ARGUMENTS = (typeof(np.zeros(1, dtype=LANE_MEMORY)), types.int64)

motion = record_of(MEMORY)


@part
def lane(w, at):
    """The memory of the motion in a lane."""
    return motion(w.records + 8 * w.words * at)


@part
def make_room(w, at):
    """Have room for what the next step of a lane may bring: crossings are counted, transitions are forgotten."""
    m = lane(w, at)
    if has_room(m):
        return
    count_crossings(w, at)
    m.crossings, m.transitions = 0, 0
    if m.transition != 0:
        record(m.transition_memory).count = 0


@part
def count_crossings(w, at):
    """Count the crossings of the user's events in the memory of a lane."""
    m, base = lane(w, at), w.events * wholes(w.member)[at]
    first, count = reals(w.first), wholes(w.crossings)
    for row in range(m.crossings):
        e = wholes(m.event)[row] - m.transition_events
        if e < 0:
            continue
        if count[base + e] == 0:
            first[base + e] = reals(m.event_t)[row]
        count[base + e] += 1


@part
def pass_change(w, at, after):
    """Go on just after a change in time; whether there is a mode to go on with."""
    m = lane(w, at)
    if m.transition != 0:
        record(m.transition_memory).jump_t = after
        transit(m.transition, m, m.transition_memory, BEFORE_JUMP)
    m.t, m.origin = after, after
    m.grid, m.fresh = 0, 1
    if m.transition == 0:
        return True
    make_room(w, at)
    return transit(m.transition, m, m.transition_memory, JUMP) == 0


@part
def aim(w, at):
    """Let the motion in a lane end just before the next change in time, or at its end; it goes on just after those that
    it has come to. Why there is no way on, or RUNNING."""
    m, coming = lane(w, at), wholes(w.coming)
    times = reals(w.change_times + 16 * w.changes * wholes(w.member)[at])
    while coming[at] < w.changes and m.sign * (times[2 * coming[at]] - m.t) <= 0.0:
        after = times[2 * coming[at] + 1]
        coming[at] += 1
        if m.sign * (after - m.t) > 0.0 and not pass_change(w, at, after):
            return NO_MODE
    before = times[2 * coming[at]] if coming[at] < w.changes else np.nan
    m.t_end = before if before == before else m.t_last
    return RUNNING


@part
def place_member(w, at, member):
    """Put a member at its start into a lane."""
    n, words = w.n, w.words
    wholes(w.member)[at] = member
    source, target = wholes(w.templates + 8 * words * at), wholes(w.records + 8 * words * at)
    for i in range(words):
        target[i] = source[i]
    for i in range(w.own):
        piece = wholes(w.own_pieces + 24 * (w.own * at + i))
        source, target = wholes(piece[1]), wholes(piece[0])
        for j in range(piece[2]):
            target[j] = source[j]
    m = lane(w, at)
    m.out_y = w.out_y + 8 * n * w.requested * (member if w.keeps else at)
    copy_numbers(n, w.starts + 8 * n * member, m.y)
    copy_numbers(n, m.y, m.out_y)
    copy_numbers(w.p, w.parameters + 8 * w.p * member, m.x + 8 * (1 + n))
    side, fast, unresolved, doubtful = wholes(m.g_sign), wholes(m.fast), wholes(m.unresolved), wholes(m.doubtful)
    rounding = reals(m.g_rounding)
    for e in range(m.events):
        side[e], fast[e], unresolved[e], doubtful[e], rounding[e] = 0, 0, 0, 0, 0.0
    for e in range(w.events):
        reals(w.first)[w.events * member + e], wholes(w.crossings)[w.events * member + e] = np.nan, 0
    wholes(w.coming)[at] = 0


@part
def start_member(w, at, member):
    """Put a member at its start into a lane, in its first mode; why it ends there, or RUNNING."""
    place_member(w, at, member)
    m = lane(w, at)
    if m.transition != 0:
        if transit(m.transition, m, m.transition_memory, FIRST) != 0:
            return NO_MODE
        copy_numbers(w.n, m.y, m.out_y)
    return aim(w, at)


@part
def end_member(w, at, reason):
    """Keep what came of the member in a lane, and leave the lane empty."""
    m, member, n = lane(w, at), wholes(w.member)[at], w.n
    wholes(w.reason)[member] = reason
    wholes(w.stored)[member] = m.stored
    wholes(w.stopped_by)[member] = m.stopped_by
    wholes(w.evaluations)[member] = m.evaluations
    wholes(w.attempts)[2 * member], wholes(w.attempts)[2 * member + 1] = m.steps, m.rejected
    reals(w.end_t)[member] = m.t
    copy_numbers(n, m.y, w.end_y + 8 * n * member)
    count_crossings(w, at)
    for e in range(w.events):
        place = m.transition_events + e
        wholes(w.missed)[w.events * member + e] = wholes(m.unresolved)[place] + wholes(m.doubtful)[place]
    wholes(w.member)[at] = -1
    w.done += 1
