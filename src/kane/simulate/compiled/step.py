"""What every method does after a step: values between its ends, crossings of events, storing of output.

`m` is the memory of the loop, a record of type `records.MEMORY`.
"""

from __future__ import annotations

import numpy as np

from .call import call, compiled, reals, wholes
from .records import MOST_CROSSINGS, SAMPLES

EPS = 2.220446049250313e-16

SLOPE = 1e-6
"""Fraction of a step over which the slope of an event is measured: its sign is all that is used."""

AT_START = 64.0
"""How many roundings of the time a crossing is found within, with some room."""

GOLDEN = 0.3819660112501051
"""Where golden-section search places its point."""


@compiled
def copied(n, source, target):
    """Copy n numbers from one address to another."""
    a, b = reals(source), reals(target)
    for i in range(n):
        b[i] = a[i]


@compiled
def all_finite(n, values):
    """Whether the n numbers at the address `values` are finite: x - x is 0 for those and nan for the others."""
    x = reals(values)
    total = 0.0
    for i in range(n):
        total += x[i] - x[i]
    return total == 0.0


@compiled
def placed(m, t, y):
    """Put the time and the state at the address `y` where the programs read them."""
    reals(m.x)[0] = t
    copied(m.n, y, m.x + 8)


@compiled
def between(m, s, target):
    """Write the state at the fraction `s` of the last step to the address `target`."""
    n = m.n
    y, dense, x = reals(m.y), reals(m.dense), reals(target)
    last = 2 + m.dense_rows
    for i in range(n):
        value = dense[last * n + i]
        for d in range(last - 1, -1, -1):
            value = dense[d * n + i] + (s if d % 2 else 1.0 - s) * value
        x[i] = y[i] + s * value


@compiled
def events_at(m, h, s):
    """Evaluate all events at the fraction `s` of the step into g_point."""
    reals(m.x)[0] = m.t + s * h
    between(m, s, m.x + 8)
    call(m.event_program, m.x, m.g_point)
    m.event_evaluations += 1


@compiled
def event_signs(m):
    """Take the sides of the events at the present state where none is known yet."""
    placed(m, m.t, m.y)
    call(m.event_program, m.x, m.g_point)
    m.event_evaluations += 1
    g, side = reals(m.g_point), wholes(m.g_sign)
    for e in range(m.events):
        if side[e] == 0:
            side[e] = (g[e] > 0.0) - (g[e] < 0.0)


@compiled
def root(m, h, event, low, g_low, high, g_high):
    """The crossing of `event` between `low` and `high`, as a fraction of the step, on its far side.

    Of g_low and g_high only the signs need be right. Inverse quadratic interpolation where it is safe, bisection
    elsewhere [Cha97]. Giving the far side means that a simulation continued from the crossing does not meet the same
    crossing again.
    """
    g = reals(m.g_point)
    tolerance = 2.0 * EPS * max(1.0, abs(m.t / h))
    a, g_a, b, g_b = high, g_high, low, g_low
    c, g_c = b, g_b
    part = 0.5
    for _ in range(200):
        s = a + part * (b - a)
        events_at(m, h, s)
        g_s = g[event]
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
def dip(m, h, event, sign, low, high):
    """A fraction between `low` and `high` where sign * event is negative, or -1 if it only comes near zero."""
    g = reals(m.g_point)
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
        events_at(m, h, s)
        value = sign * g[event]
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
def keep(m, h, count, event, rising, s):
    """Note a crossing of `event` at the fraction `s`, in order of time, if its direction is wanted.

    A crossing within rounding of the start of the whole simulation is the start: a ball that goes up again from where
    it was found on the ground has not just met the ground.
    """
    if m.steps == 0 and s * abs(h) <= AT_START * EPS * max(abs(m.t), abs(h)):
        return count
    wanted = wholes(m.directions)[event]
    if (wanted > 0 and not rising) or (wanted < 0 and rising):
        return count
    found_at, found = reals(m.found_at), wholes(m.found)
    place = count
    while place > 0 and found_at[place - 1] > s:
        found_at[place] = found_at[place - 1]
        found[place] = found[place - 1]
        place -= 1
    found_at[place] = s
    found[place] = event
    return count + 1


@compiled
def sampled(m, h):
    """Events, and the signs of their slopes, at the ends of SAMPLES equal parts of the step."""
    events = m.events
    g, point = reals(m.g), reals(m.g_point)
    for i in range(2 * SAMPLES + 2):
        end = i >= 2 * SAMPLES
        s = (i // 2) / SAMPLES
        if i % 2:
            s += -SLOPE if end else SLOPE
        events_at(m, h, s)
        for e in range(events):
            value = point[e]
            if i % 2:
                value -= g[(i - 1) * events + e]
                value = -value if end else value
            g[i * events + e] = value


@compiled
def crossings(m, h):
    """Find all crossings of all events inside the step; returns how many, in order of time, in `found`.

    An event crosses where its sign changes from one side to the other. Being zero at the start, or touching zero and
    turning back, is no crossing. Between two samples of the same sign there may be a pair of crossings, if the event
    heads for zero at the first and comes back from it at the second.
    """
    sampled(m, h)
    events = m.events
    g, sides = reals(m.g), wholes(m.g_sign)
    count = 0
    for e in range(events):
        sign = float(sides[e])
        for i in range(-1, SAMPLES):
            low, high = max(i, 0) / SAMPLES, (i + 1) / SAMPLES
            g_low, g_high = g[2 * max(i, 0) * events + e], g[2 * (i + 1) * events + e]
            middle = -1.0
            if i >= 0 and sign * g_low > 0.0 and sign * g_high > 0.0:
                falls = sign * g[(2 * i + 1) * events + e] < 0.0
                rises = sign * g[(2 * i + 3) * events + e] > 0.0
                if falls and rises:
                    middle = dip(m, h, e, sign, low, high)
            parts = 2 if middle >= 0.0 else 1 if sign * g_high < 0.0 else 0
            for part in range(parts):
                a = middle if part == 1 else low
                b = middle if part == 0 and parts == 2 else high
                side = sign if part == 0 else -sign
                s = a
                if i >= 0 and g_low != 0.0:
                    s = root(m, h, e, a, side, b, -side)
                count = keep(m, h, count, e, side < 0.0, s)
            if g_high != 0.0:
                sign = 1.0 if g_high > 0.0 else -1.0
        sides[e] = int(sign)
    return count


@compiled
def has_room(m):
    """Whether the output arrays can take everything that one more step may bring."""
    if m.requested == 0 and m.stored + 1 >= m.room:
        return False
    return m.crossings + m.events * MOST_CROSSINGS <= m.event_room


@compiled
def wants_between(m, t_new):
    """Whether this step is looked at anywhere but at its end."""
    if m.events > 0:
        return True
    if m.next_time >= m.requested:
        return False
    return m.sign * (reals(m.times)[m.next_time] - t_new) < 0.0


@compiled
def noted(m, h):
    """Store the crossings of this step up to the first terminal one; True if there is one, its row is the last."""
    if m.events == 0:
        return False
    count = crossings(m, h)
    found_at, found, event, event_t = reals(m.found_at), wholes(m.found), wholes(m.event), reals(m.event_t)
    for c in range(count):
        row = m.crossings
        event[row] = found[c]
        event_t[row] = m.t + found_at[c] * h
        between(m, found_at[c], m.event_y + 8 * row * m.n)
        m.crossings += 1
        if wholes(m.terminal)[found[c]]:
            m.stopped_by = found[c]
            return True
    return False


@compiled
def finish(m, t_new, h):
    """Close an accepted step from m.t to t_new: events, output, the new state. True if a terminal event stops it."""
    n = m.n
    out_t, times = reals(m.out_t), reals(m.times)
    stopped = noted(m, h)
    t_stop = t_new
    if stopped:
        t_stop = reals(m.event_t)[m.crossings - 1]
        copied(n, m.event_y + 8 * (m.crossings - 1) * n, m.y_new)
    while m.next_time < m.requested and m.sign * (times[m.next_time] - t_stop) < 0.0:
        out_t[m.stored] = times[m.next_time]
        between(m, (times[m.next_time] - m.t) / h, m.out_y + 8 * m.stored * n)
        m.next_time += 1
        m.stored += 1
    at_time = m.next_time < m.requested and times[m.next_time] == t_stop
    if at_time or m.requested == 0:
        out_t[m.stored] = t_stop
        copied(n, m.y_new, m.out_y + 8 * m.stored * n)
        m.next_time += 1 if at_time else 0
        m.stored += 1
    copied(n, m.y_new, m.y)
    m.t = t_stop
    m.steps += 1
    return stopped
