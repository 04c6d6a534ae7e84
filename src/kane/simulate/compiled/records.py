"""What the compiled loops read and write: addresses and arrays, gathered by what they are for.

A loop may return to Python after any attempted step and be called again; everything it remembers is in `STATE` and in
the arrays of `Work`, so where it was cut does not change a single bit of the result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

RUNNING, REACHED, EVENT, SMALL_STEP, NOT_FINITE, FULL, SINGULAR, NO_CONVERGENCE = range(8)
"""Why a loop returned: budget of steps used up, end of the span, terminal event, step below the floor, state not
finite, output arrays full, iteration matrix singular, implicit iteration does not converge."""

SAMPLES = 8
"""Intervals into which a step is cut to look for crossings; slopes at their ends also reveal crossings in pairs."""

MOST_CROSSINGS = 2 * SAMPLES + 1
"""At most this many crossings of one event can be found in one step."""

STATE = np.dtype(
    [
        ("t", "f8"),  # where the motion is
        ("t_end", "f8"),  # where this run of the loop ends
        ("sign", "f8"),  # +1 forward in time, -1 backward
        ("span", "f8"),  # length of the whole simulation
        ("h", "f8"),  # proposed length of the next step, positive; 0 before the first
        ("error", "f8"),  # error of the last accepted step, in units of the tolerance
        ("origin", "f8"),  # fixed steps: t = origin + sign * grid * h
        ("grid", "i8"),
        ("fresh", "i8"),  # 1 when the state or the inputs were changed from outside
        ("proven", "i8"),  # 1 once a first step has been accepted
        ("rejected_last", "i8"),  # 1 when the last attempt was rejected
        ("not_finite", "i8"),  # 1 when the last attempt met a value that is not finite
        ("steps", "i8"),
        ("rejected", "i8"),
        ("evaluations", "i8"),
        ("event_evaluations", "i8"),
        ("jacobians", "i8"),
        ("factorizations", "i8"),
        ("stored", "i8"),  # rows written to Output.t, Output.y
        ("next_time", "i8"),  # first requested time that is not written yet
        ("crossings", "i8"),  # rows written to Output.event_*
        ("stopped_by", "i8"),  # index of the terminal event
        ("jacobian_current", "i8"),  # implicit: the Jacobian belongs to the present state
        ("factored", "i8"),  # implicit: the factors belong to factored_h and the Jacobian in hand
        ("factored_h", "f8"),
        ("has_dense", "i8"),  # implicit: a previous step can be extrapolated
        ("h_before", "f8"),
        ("rate", "f8"),
    ]
)
"""The scalar memory of a loop."""


class Problem(NamedTuple):
    """Addresses of flat programs (0 where there is none) and what to look for in the events."""

    rhs: int
    project: int
    jacobian: int
    events: int
    directions: Array  # (k,) int64: -1 falling, 0 both, +1 rising
    terminal: Array  # (k,) int64: 1 stops


class Tolerance(NamedTuple):
    """When a step is good enough: |error_i| <= atol_i + rtol |y_i|, in the root mean square."""

    rtol: float
    atol: Array  # (n,)
    max_step: float


class Method(NamedTuple):
    """A tableau, entries that are zero left out."""

    stages: int
    rows: int  # all rows, with those that only dense output needs
    fixed: int
    error_order: int
    c: Array
    a_start: Array
    a_column: Array
    a_value: Array
    error_start: Array
    error_column: Array
    error_value: Array
    dense_start: Array
    dense_column: Array
    dense_value: Array


class Work(NamedTuple):
    """Arrays that the loop owns between calls."""

    x: Array  # (1 + n + m,): t, y, p as the programs want them
    y: Array  # (n,)
    y_new: Array  # (n,)
    base: Array  # (n,): state that the stages start from
    f: Array  # (width,): derivative at y, with the extra outputs of the program
    k: Array  # (rows * width,): derivatives of the stages
    dense: Array  # (d * n,): F_0 ... of the last step
    scratch: Array  # (3 * n,)
    g: Array  # (2 * (SAMPLES + 1) * k,): events and their slopes at the samples
    g_point: Array  # (k,)
    g_sign: Array  # (k,) int64: sign of each event before now, 0 if it has been 0 since the start
    found_at: Array  # (MOST_CROSSINGS * k,): crossings in this step as fractions of it
    found: Array  # (MOST_CROSSINGS * k,) int64: which event


class Output(NamedTuple):
    """Where results go. With no requested times every accepted step is stored."""

    times: Array
    t: Array
    y: Array
    event_t: Array
    event_y: Array
    event: Array
