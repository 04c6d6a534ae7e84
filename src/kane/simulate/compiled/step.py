"""What every method does after a step: values between its ends, crossings of events, storing of output."""

from __future__ import annotations

import numpy as np

from .call import call, compiled
from .records import SAMPLES

EPS = 2.220446049250313e-16

SLOPE = 1e-6
"""Fraction of a step over which the slope of an event is measured: its sign is all that is used."""

GOLDEN = 0.3819660112501051
"""Where golden-section search places its point."""


@compiled
def between(work, s, target, offset):
    """Write the state at the fraction `s` of the last step to `target`, from `offset` on."""
    n = work.y.size
    last = work.dense.size // n - 1
    for i in range(n):
        value = work.dense[last * n + i]
        for d in range(last - 1, -1, -1):
            value = work.dense[d * n + i] + (s if d % 2 else 1.0 - s) * value
        target[offset + i] = work.y[i] + s * value


@compiled
def hermite(work, h, k_end):
    """Set the first three dense rows from the ends of the step; `k_end` is where the derivative at its end starts."""
    n = work.y.size
    for i in range(n):
        rise = work.y_new[i] - work.y[i]
        bend = h * work.f[i] - rise
        work.dense[i] = rise
        work.dense[n + i] = bend
        work.dense[2 * n + i] = rise - h * work.k[k_end + i] - bend


@compiled
def events_at(problem, state, work, t, h, s):
    """Evaluate all events at the fraction `s` of the step into work.g_point."""
    work.x[0] = t + s * h
    between(work, s, work.x, 1)
    call(problem.events, work.x, work.g_point, 0)
    state.event_evaluations += 1


@compiled
def event_signs(problem, state, work):
    """Take the signs of the events at the present state where none is known yet."""
    work.x[0] = state.t
    for i in range(work.y.size):
        work.x[1 + i] = work.y[i]
    call(problem.events, work.x, work.g_point, 0)
    state.event_evaluations += 1
    for e in range(work.g_sign.size):
        if work.g_sign[e] == 0:
            work.g_sign[e] = np.int64(np.sign(work.g_point[e]))


@compiled
def root(problem, state, work, t, h, event, low, g_low, high, g_high):
    """The crossing of `event` between `low` and `high`, as a fraction of the step, on its far side.

    Inverse quadratic interpolation where it is safe, bisection elsewhere [Chandrupatla97]. Giving the far side means
    that a simulation continued from the crossing does not meet the same crossing again.
    """
    tolerance = 2.0 * EPS * max(1.0, abs(t / h))
    a, g_a, b, g_b = high, g_high, low, g_low
    c, g_c = b, g_b
    part = 0.5
    for _ in range(200):
        s = a + part * (b - a)
        events_at(problem, state, work, t, h, s)
        g_s = work.g_point[event]
        if g_s == 0.0:
            return s
        if (g_s > 0.0) == (g_a > 0.0):
            c, g_c = a, g_a
        else:
            c, g_c = b, g_b
            b, g_b = a, g_a
        a, g_a = s, g_s
        width = abs(b - a)
        if width <= 2.0 * tolerance:
            break
        limit = tolerance / width
        xi = (a - b) / (c - b)
        phi = (g_a - g_b) / (g_c - g_b)
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            part = g_a / (g_b - g_a) * g_c / (g_b - g_c)
            part += (c - a) / (b - a) * g_a / (g_c - g_a) * g_b / (g_c - g_b)
            part = min(1.0 - limit, max(limit, part))
        else:
            part = 0.5
    return a if (g_a > 0.0) == (g_high > 0.0) else b


@compiled
def dip(problem, state, work, t, h, event, sign, low, high):
    """A fraction between `low` and `high` where sign * event is negative, or -1 if it only comes near zero."""
    s = low + GOLDEN * (high - low)
    events_at(problem, state, work, t, h, s)
    g_s = sign * work.g_point[event]
    for _ in range(60):
        if g_s < 0.0:
            return s
        if high - low < 1e-9:
            break
        tail = high - s > s - low
        trial = s + GOLDEN * (high - s) if tail else s - GOLDEN * (s - low)
        events_at(problem, state, work, t, h, trial)
        g_trial = sign * work.g_point[event]
        if g_trial < g_s:
            if tail:
                low = s
            else:
                high = s
            s, g_s = trial, g_trial
        elif tail:
            high = trial
        else:
            low = trial
    return -1.0


@compiled
def keep(problem, work, count, event, rising, s):
    """Note a crossing of `event` at the fraction `s`, in order of time, if its direction is wanted."""
    wanted = problem.directions[event]
    if (wanted > 0 and not rising) or (wanted < 0 and rising):
        return count
    place = count
    while place > 0 and work.found_at[place - 1] > s:
        work.found_at[place] = work.found_at[place - 1]
        work.found[place] = work.found[place - 1]
        place -= 1
    work.found_at[place] = s
    work.found[place] = event
    return count + 1


@compiled
def crossings(problem, state, work, t, h):
    """Find all crossings of all events inside the step; returns how many, in order of time, in work.found.

    An event crosses where its sign changes from one side to the other. Being zero at the start, or touching zero and
    turning back, is no crossing.
    """
    events = work.g_sign.size
    for i in range(SAMPLES + 1):
        s = i / SAMPLES
        near = s + SLOPE if i < SAMPLES else s - SLOPE
        events_at(problem, state, work, t, h, near)
        for e in range(events):
            work.g[(2 * i + 1) * events + e] = work.g_point[e]
        events_at(problem, state, work, t, h, s)
        for e in range(events):
            work.g[2 * i * events + e] = work.g_point[e]
            slope = work.g[(2 * i + 1) * events + e] - work.g_point[e]
            work.g[(2 * i + 1) * events + e] = slope if i < SAMPLES else -slope
    count = 0
    for e in range(events):
        sign = np.float64(work.g_sign[e])
        start = work.g[e]
        if sign * start < 0.0:
            count = keep(problem, work, count, e, start > 0.0, 0.0)
            sign = -sign
        for i in range(SAMPLES):
            low, high = i / SAMPLES, (i + 1) / SAMPLES
            g_low, g_high = work.g[2 * i * events + e], work.g[2 * (i + 1) * events + e]
            if sign * g_high < 0.0:
                s = low
                if g_low != 0.0:
                    s = root(problem, state, work, t, h, e, low, g_low, high, g_high)
                count = keep(problem, work, count, e, g_high > 0.0, s)
            elif sign * g_low > 0.0 and sign * g_high > 0.0:
                falls = sign * work.g[(2 * i + 1) * events + e] < 0.0
                rises = sign * work.g[(2 * i + 3) * events + e] > 0.0
                if falls and rises:
                    middle = dip(problem, state, work, t, h, e, sign, low, high)
                    if middle >= 0.0:
                        s = root(problem, state, work, t, h, e, low, g_low, middle, -sign)
                        count = keep(problem, work, count, e, sign < 0.0, s)
                        s = root(problem, state, work, t, h, e, middle, -sign, high, g_high)
                        count = keep(problem, work, count, e, sign > 0.0, s)
            if g_high != 0.0:
                sign = np.sign(g_high)
        work.g_sign[e] = np.int64(sign)
    return count


@compiled
def room(problem, state, out):
    """Whether the output arrays can take everything that one more step may bring."""
    if out.times.size == 0 and state.stored + 1 >= out.t.size:
        return False
    return state.crossings + problem.directions.size * (2 * SAMPLES + 1) <= out.event_t.size


@compiled
def wants_between(problem, state, out, t_new):
    """Whether this step is looked at anywhere but at its end."""
    if problem.directions.size > 0:
        return True
    if state.next_time >= out.times.size:
        return False
    return state.sign * (out.times[state.next_time] - t_new) < 0.0


@compiled
def store(state, work, out, t, h, s, time):
    """Append the state at the fraction `s` of the step (1 means its very end) to the output."""
    row = state.stored
    out.t[row] = time
    if s == 1.0:
        for i in range(work.y.size):
            out.y[row, i] = work.y_new[i]
    else:
        between(work, s, out.y[row], 0)
    state.stored += 1


@compiled
def finish(problem, state, work, out, t_new, h):
    """Close an accepted step from state.t to t_new: events, output, the new state. True if a terminal event stops it."""
    t = state.t
    n = work.y.size
    stop = 1.0
    stopped = False
    if problem.directions.size > 0:
        count = crossings(problem, state, work, t, h)
        for c in range(count):
            row = state.crossings
            out.event[row] = work.found[c]
            out.event_t[row] = t + work.found_at[c] * h
            between(work, work.found_at[c], out.event_y[row], 0)
            state.crossings += 1
            if problem.terminal[work.found[c]]:
                stop = work.found_at[c]
                stopped = True
                state.stopped_by = work.found[c]
                break
    t_stop = t + stop * h if stopped else t_new
    while state.next_time < out.times.size and state.sign * (out.times[state.next_time] - t_stop) <= 0.0:
        time = out.times[state.next_time]
        store(state, work, out, t, h, 1.0 if time == t_new else (time - t) / h, time)
        state.next_time += 1
    if out.times.size == 0:
        store(state, work, out, t, h, stop, t_stop)
    if stopped:
        between(work, stop, work.scratch, 0)
        for i in range(n):
            work.y[i] = work.scratch[i]
    else:
        for i in range(n):
            work.y[i] = work.y_new[i]
    state.t = t_stop
    state.steps += 1
    return stopped
