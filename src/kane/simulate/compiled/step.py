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

    Of g_low and g_high only the signs need be right. Inverse quadratic interpolation where it is safe, bisection elsewhere [Chandrupatla97]. Giving the far side means
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
    best, least = -1.0, np.inf
    for _ in range(60):
        if least < 0.0:
            return best
        if high - low < 1e-9:
            break
        tail = best < 0.0 or high - best > best - low
        if best < 0.0:
            s = low + GOLDEN * (high - low)
        else:
            s = best + GOLDEN * (high - best) if tail else best - GOLDEN * (best - low)
        events_at(problem, state, work, t, h, s)
        value = sign * work.g_point[event]
        if value < least:
            if best >= 0.0 and tail:
                low = best
            elif best >= 0.0:
                high = best
            best, least = s, value
        elif tail:
            high = s
        else:
            low = s
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
def sampled(problem, state, work, t, h):
    """Events and the signs of their slopes at the ends of SAMPLES equal parts of the step, in work.g."""
    events = work.g_sign.size
    for i in range(2 * SAMPLES + 2):
        end = i >= 2 * SAMPLES
        s = (i // 2) / SAMPLES
        if i % 2:
            s += -SLOPE if end else SLOPE
        events_at(problem, state, work, t, h, s)
        for e in range(events):
            value = work.g_point[e]
            if i % 2:
                value -= work.g[(i - 1) * events + e]
                value = -value if end else value
            work.g[i * events + e] = value


@compiled
def crossings(problem, state, work, t, h):
    """Find all crossings of all events inside the step; returns how many, in order of time, in work.found.

    An event crosses where its sign changes from one side to the other. Being zero at the start, or touching zero and
    turning back, is no crossing. Between two samples of the same sign there may be a pair of crossings, if the event
    heads for zero at the first and comes back from it at the second.
    """
    sampled(problem, state, work, t, h)
    events = work.g_sign.size
    count = 0
    for e in range(events):
        sign = np.float64(work.g_sign[e])
        for i in range(-1, SAMPLES):
            low, high = max(i, 0) / SAMPLES, (i + 1) / SAMPLES
            g_low, g_high = work.g[2 * max(i, 0) * events + e], work.g[2 * (i + 1) * events + e]
            middle = high
            if i >= 0 and sign * g_low > 0.0 and sign * g_high > 0.0:
                falls = sign * work.g[(2 * i + 1) * events + e] < 0.0
                rises = sign * work.g[(2 * i + 3) * events + e] > 0.0
                middle = dip(problem, state, work, t, h, e, sign, low, high) if falls and rises else -1.0
            pair = 0.0 <= middle < high
            if pair or sign * g_high < 0.0:
                for part in range(2 if pair else 1):
                    a, b = (low, middle) if part == 0 else (middle, high)
                    side = sign if part == 0 else -sign
                    s = a
                    if i >= 0 and g_low != 0.0:
                        s = root(problem, state, work, t, h, e, a, side, b, -side)
                    count = keep(problem, work, count, e, side < 0.0, s)
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
def finish(problem, state, work, out, t_new, h):
    """Close an accepted step from state.t to t_new: events, output, the new state. True if a terminal event stops it."""
    t = state.t
    n = work.y.size
    t_stop = t_new
    stopped = False
    count = crossings(problem, state, work, t, h) if problem.directions.size > 0 else 0
    for c in range(count):
        row = state.crossings
        out.event[row] = work.found[c]
        out.event_t[row] = t + work.found_at[c] * h
        between(work, work.found_at[c], out.event_y[row], 0)
        state.crossings += 1
        if problem.terminal[work.found[c]]:
            stopped = True
            t_stop = out.event_t[row]
            state.stopped_by = work.found[c]
            for i in range(n):
                work.y_new[i] = out.event_y[row, i]
            break
    while state.next_time < out.times.size and state.sign * (out.times[state.next_time] - t_stop) < 0.0:
        out.t[state.stored] = out.times[state.next_time]
        between(work, (out.times[state.next_time] - t) / h, out.y[state.stored], 0)
        state.next_time += 1
        state.stored += 1
    at_time = state.next_time < out.times.size and out.times[state.next_time] == t_stop
    if at_time or out.times.size == 0:
        out.t[state.stored] = t_stop
        for i in range(n):
            out.y[state.stored, i] = work.y_new[i]
        state.next_time += 1 if at_time else 0
        state.stored += 1
    for i in range(n):
        work.y[i] = work.y_new[i]
    state.t = t_stop
    state.steps += 1
    return stopped
