"""The memory of a compiled loop: one record of numbers and addresses of arrays.

A loop takes nothing but this record, so its parts pass one pointer to each other; that makes them quick to compile and
to call. A loop may return to Python after any attempted step and be called again: everything it remembers is here, so
where it was cut does not change a single bit of the result. Whoever fills in addresses keeps the arrays alive.
"""

from __future__ import annotations

import numpy as np

RUNNING, REACHED, EVENT, SMALL_STEP, NOT_FINITE, FULL, NO_CONVERGENCE, NO_MODE, STIFF = range(9)
"""Why a loop returned: budget of steps used up, end of the span, terminal event, step below the floor, state not
finite, output arrays full, implicit iteration does not converge, no constraint set to go on with, steps kept short by
stability."""

REASONS_OF_LOOPS = (
    "runs",
    "has reached its end",
    "an event ended it",
    "the step has become too small",
    "the state is no longer finite",
    "its memory is full",
    "the implicit iteration does not converge",
    "there is no set of constraints to go on with",
    "stability, not accuracy, keeps its steps short",
)
"""The same in words."""

LOOK = 100
"""Accepted steps between looks for stiffness."""

SAMPLES = 4
"""Intervals into which a step is cut to look for crossings; each is cut further where more may be hidden in it."""

EVENT_ROWS = 3 * SAMPLES + 4
"""Rows of what is known of events in a step (`event_samples`)."""

DEPTH, BOTTOMS = 16, 24
"""How often an interval is halved at most, and how many intervals of one event in one step may be halved so often: more
are noise, or change faster than can be followed."""

FEWEST_SPLITS, MOST_SPLITS = 40, 4096
"""Halvings for one event in one step: as many as `ROOM` has place for the crossings of, within these bounds."""

ROOM = 32e6
"""Bytes for states at crossings, in the beginning; memory that is never written to costs nothing."""

POINT = 7
"""A point of the search: place, value and slope there, value halfway to the next point, how often halved, 1 if the
interval before halving was smooth, error of the cubics through the intervals beside it."""

FINEST, VALUES, CLUSTER = 16, 9, 8
"""How often what was halved `DEPTH` times is halved again to tell crossings in it apart, by how many values, and how
many of them at most (`event_clusters`). The shortest of these intervals is 6e-11 of a step."""

CLUSTER_ROOM = 2 * CLUSTER + (FINEST + 1) * VALUES
"""Numbers for that: ends of intervals with one crossing each, and values."""


def splits_for(states: int, events: int) -> int:
    """Halvings that the search may take for each of some events in one step of a motion with so many states."""
    rows = ROOM / (8.0 * max(1, states) * max(1, events))
    return int(min(MOST_SPLITS, max(FEWEST_SPLITS, rows / 4.0)))


def most_crossings(splits: int) -> int:
    """At most this many crossings of one event can be found in one step: three per interval, more in those that were
    halved most often, one at the start and one at the end of the motion."""
    return 3 * (SAMPLES + splits) + (CLUSTER - 3) * (BOTTOMS + 1) + 2


SIZES = (
    "n",  # states
    "width",  # outputs of the right-hand side, n or more
    "events",  # event functions
    "requested",  # output times asked for; 0: every step is stored
    "room",  # rows that fit into out_t, out_y
    "event_room",  # rows that fit into event_t, event_y, event
    "splits",  # halvings of the search for one event in one step
    "step_room",  # crossings of all events that one step may bring
    "sampled",  # 1: samples of events are in g when a step is searched
)

PROGRAMS = ("rhs", "project", "jacobian", "event_program")
"""Addresses of flat programs over [t, y, p]; 0 where there is none."""

PROGRAM_MEMORY = ("rhs_memory", "project_memory", "event_memory")
"""Addresses of the memory that these programs work in; 0 for programs that need none."""

SEARCHES = ("watch",)
"""The address of the search for crossings; 0 where there are no events."""

TRANSITIONS = (
    "transition",  # address of the program that changes the constraints at an event, 0 where none do
    "transition_memory",  # address of what it works in
    "transition_events",  # the first of all events, which belong to it
    "transitions",  # how many there have been
    "transition_room",  # how many there may be
    "transition_fault",  # what came of the last one
    "limited",  # 1: it limits every step
)

TABLEAU = (
    "stages",
    "rows",  # all rows of a, with those that only dense output needs
    "fixed",  # 1: the step is constant
    "error_order",
    "error_rows",
    "dense_rows",
)

ADDRESSES = (
    "c",  # tableau; for each matrix only the entries that are not zero, row r at start[r] : start[r + 1]
    "a_start",
    "a_column",
    "a_value",
    "error_start",
    "error_column",
    "error_value",
    "dense_start",
    "dense_column",
    "dense_value",
    "atol",  # (n,)
    "x",  # (1 + n + m,): t, y, p as the programs want them
    "y",  # (n,): the present state
    "y_new",  # (n,): the state at the end of the attempted step
    "saved",  # (n,)
    "f",  # (width,): derivative at y; explicit methods: the first row of k
    "k",  # (rows, width): derivatives of the stages
    "dense",  # (3 + dense rows, n): F_0, F_1, ... of the last step
    "scratch",  # (n,)
    "other",  # (n,): another state than y_new
    "directions",  # (events,) int64: -1 falling, 0 both, +1 rising
    "terminal",  # (events,) int64: 1 stops
    "g",  # (EVENT_ROWS, events): events at the samples and halfway between, slopes at the samples, errors of two steps
    "search",  # (DEPTH + 3, POINT)
    "cluster",  # (CLUSTER_ROOM,)
    "g_point",  # (events,)
    "g_rounding",  # (events,): what of an event is rounding; 0 if that is not known
    "g_sign",  # (events,) int64: the side each event is on, 0 if it has been zero since the start
    "fast",  # (events,) int64: 1 if an event was too fast for the samples of the last step
    "unresolved",  # (events,) int64: steps in which an event changed too fast for all its crossings to be found
    "doubtful",  # (events,) int64: places where an event lingers at zero, and may cross it more often than was found
    "doubtful_t",  # (events,): the first of them, s
    "found_at",  # (step_room,): crossings in this step as fractions of it
    "found",  # (step_room,) int64: which event
    "times",  # (requested,)
    "out_t",  # (room,)
    "out_y",  # (room, n)
    "event_t",  # (event_room,)
    "event_y",  # (event_room, n)
    "event",  # (event_room,) int64
    "jacobian_matrix",  # (n, n); from here on for implicit methods
    "real_factors",  # (n, n)
    "complex_factors",  # (n, n) complex
    "real_pivots",  # (n,) int64
    "complex_pivots",  # (n,) int64
    "z",  # (3, n): stages minus y
    "w",  # (3, n): the same, transformed
    "residual",  # (3, n)
    "complex_part",  # (n,) complex
)

REALS = (
    "rtol",
    "max_step",
    "t",  # where the motion is, s
    "t_end",  # where this run of the loop ends, s
    "t_last",  # where the whole motion ends, s
    "sign",  # +1 forward in time, -1 backward
    "span",  # length of the whole simulation, s
    "h",  # proposed length of the next step, positive, s; 0 before the first
    "error",  # error of the last accepted step, in units of the tolerance
    "fixed_step",  # fixed steps: their length, s
    "origin",  # fixed steps: t = origin + sign * grid * h
    "sampled_h",  # the signed step at whose end the samples of g end; 0 for none
    "noisy_h",  # a rejected step, the best of those tried
    "noisy_error",  # its error
    "tried_h",  # the step tried last
    "factored_h",  # implicit: the signed step that the factors belong to; 0 for none
    "h_before",  # implicit: the last accepted step
    "stability",  # explicit: h |λ| beyond which steps are unstable; 0 where that is not watched
    "stiff_rate",  # |λ| where stiffness was found first, 1/s; 0 before
    "stiff_t",  # where that was, s
    "pace",  # of the explicit method where the implicit one took over, s per evaluation
    "review_t",  # implicit in turn with explicit: where its pace was looked at last, s
    "review_cost",  # what the run had cost there, in evaluations
)

COUNTERS = (
    "project_error",  # 1: errors are judged after projection
    "tries",  # rejections in a row whose errors do not fall with the step
    "grid",
    "fresh",  # 1 when the state or the inputs were changed from outside
    "proven",  # 1 once a first step has been accepted
    "rejected_last",  # 1 when the last attempt was rejected
    "jumped",  # 1 when projection changed the last attempt by more than a share of what it did
    "not_finite",  # 1 when the last attempt met a value that is not finite, 2 when its iteration failed
    "segment_start",  # steps when the constraints last changed
    "steps",
    "rejected",
    "evaluations",
    "event_evaluations",
    "jacobians",
    "factorizations",
    "stored",  # rows written to out_t, out_y
    "next_time",  # the first requested time that is not written yet
    "crossings",  # rows written to event_t, event_y, event
    "stopped_by",  # index of the terminal event
    "found_count",  # crossings found in this step
    "at_end",  # 1 when this step ends where the whole motion does
    "not_a_number",  # 1 + index of an event that is nan
    "jacobian_current",  # implicit: one of radau.WANTED, OLD, CURRENT
    "extrapolates",  # implicit: 1 if the last step predicts the next
    "implicit",  # 1 while the implicit method is at work in turn with an explicit one
    "stiff",  # 1 when stability was found to keep steps short
    "stiff_due",  # accepted steps after which that is looked at next
    "stiff_signs",  # looks in a row that speak for it
    "clear_signs",  # looks in a row that speak against it
    "stiff_state",  # the state whose rate changes fastest where stiffness was found first
    "takeovers",  # how often the implicit method took over
    "reviews",  # looks at its pace since then
    "slower",  # those in a row, the last ones, at which an explicit one would have been faster
    "retreats",  # how often it had to give up, or was slower
    "review",  # attempted steps after which its pace is looked at next
)

WHOLE = (*SIZES, *PROGRAMS, *PROGRAM_MEMORY, *SEARCHES, *TRANSITIONS, *TABLEAU, *ADDRESSES, *COUNTERS)
MEMORY = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])
