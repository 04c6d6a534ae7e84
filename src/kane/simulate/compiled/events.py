"""Crossings of events inside a step, found by a program of its own, which only simulations with events need.

`m` is the memory of the loop, a record of type `records.MEMORY`.
"""

from __future__ import annotations

import numpy as np
from numba import types

from .call import call_with, part, reals, record_of, wholes
from .records import BOTTOMS, DEPTH, MEMORY, POINT, SAMPLES
from .step import EPS, interpolate
from .store import program

SLOPE = 1e-7
"""Fraction of a step over which the slope of an event is measured."""

MISFIT, STRICT = 0.1, 0.01
"""How far a value may be from the cubic through its neighbours, in parts of these, for an event and for a fast one."""

AT_START = 64.0
"""How many roundings of the time a crossing is found within, with some room."""

GOLDEN = 0.3819660112501051
"""Where golden-section search places its point."""

NONE, SECOND = np.int64(0), np.int64(1)
"""How many crossings are known, and which point of the search is on top, to begin with. For plain constants numba would
compile what takes them once more."""

record = record_of(MEMORY)
"""The memory of the loop at an address."""


@part
def events_at(m, h, s):
    """Evaluate all events at the fraction `s` of the step into g_point."""
    reals(m.x)[0] = m.t + s * h
    interpolate(m, s, m.x + 8)
    call_with(m.event_program, m.event_memory, m.x, m.g_point)
    m.event_evaluations += 1


@part
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


@part
def find_dip(m, h, event, sign, low, high):
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


@part
def keep(m, h, count, event, rising, s):
    """Note a crossing of `event` at the fraction `s`, in order of time, if its direction is wanted.

    A crossing within rounding of the start of a motion, or of what follows a change of constraints, is the start: a
    ball that goes up again from where it was found on the ground has not just met the ground.
    """
    if m.steps == m.segment_start and s * abs(h) <= AT_START * EPS * max(abs(m.t), abs(h)):
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


@part
def sample_events(m, h):
    """Events at 2 SAMPLES + 1 points of the step, then their slopes at every second of those, in g."""
    events = m.events
    g, point = reals(m.g), reals(m.g_point)
    for i in range(3 * SAMPLES + 2):
        slope = i > 2 * SAMPLES
        at = 2 * (i - 2 * SAMPLES - 1) if slope else i
        s = at / (2 * SAMPLES)
        side = SLOPE if s < 0.5 else -SLOPE
        events_at(m, h, s + side if slope else s)
        for e in range(events):
            g[i * events + e] = (point[e] - g[at * events + e]) / side if slope else point[e]
            if point[e] != point[e]:
                m.not_a_number = e + 1


@part
def misfit(a, b):
    """How far the value halfway between the points a and b of the search is from the cubic through values and slopes
    there, in parts of the values."""
    width = b[0] - a[0]
    error = abs(a[3] - 0.5 * (a[1] + b[1]) - 0.125 * width * (a[2] - b[2]))
    size = abs(a[1]) + abs(b[1])
    return error / size if size > 0.0 else 0.0


@part
def may_hide_crossings(a, b, share):
    """Whether an event may do more between the points a and b of the search than its signs there show; `share` is the
    largest misfit of what is known of it.

    A point is (place, value, slope); a[3] is the value halfway to b. The cubic through values and slopes is compared
    with the value halfway, which gives a band of error about it. If the cubic leaves the band steeply wherever it
    enters it, its extrema show how often the event changes sign.
    """
    width = b[0] - a[0]
    g_a, g_b = a[1], b[1]
    if g_a == 0.0 and g_b == 0.0 and a[3] == 0.0 and a[2] == 0.0 and b[2] == 0.0:
        return False  # zero throughout
    first = width * a[2]
    second = 3.0 * (g_b - g_a) - width * (2.0 * a[2] + b[2])
    third = 2.0 * (g_a - g_b) + width * (a[2] + b[2])
    error = abs(a[3] - (g_a + 0.5 * first + 0.25 * second + 0.125 * third))
    if error > share * (abs(g_a) + abs(g_b)):
        return True
    # A slope over a finite distance is wrong by that distance times half the curvature, 2 second / width^2.
    band = 4.0 * (error + SLOPE * (abs(first) + (abs(second) + abs(third)) / width))
    if (abs(g_a) <= band and abs(first) <= 8.0 * band) or (abs(g_b) <= band and abs(width * b[2]) <= 8.0 * band):
        return True
    root_of = second * second - 3.0 * third * first
    if root_of <= 0.0:
        return False
    # Roots of first + 2 second u + 3 third u^2 without cancellation.
    big = -(second + (root_of**0.5 if second >= 0.0 else -(root_of**0.5)))
    u = big / (3.0 * third) if third != 0.0 else -1.0
    v = first / big if big != 0.0 else -1.0
    before, changes = g_a, 0
    for extremum in (min(u, v), max(u, v)):
        if 0.0 < extremum < 1.0:
            value = g_a + extremum * (first + extremum * (second + extremum * third))
            if abs(value) <= band:
                return True
            changes += 1 if value * before < 0.0 else 0
            before = value
    changes += 1 if before * g_b < 0.0 else 0
    return changes > (1 if g_a * g_b < 0.0 else 0)


@part
def value_at(m, h, event, s):
    """The event at the fraction `s` of the step."""
    events_at(m, h, s)
    return reals(m.g_point)[event]


@part
def split_interval(m, h, event, top, fits):
    """Split the interval between the points top - 1 and top of the search in two; `fits` if it need not have been."""
    stack = reals(m.search)
    for j in range(POINT):
        stack[(top + 1) * POINT + j] = stack[top * POINT + j]
        stack[top * POINT + j] = stack[(top - 1) * POINT + j]
    late, middle, early = (top - 1) * POINT, top * POINT, (top + 1) * POINT
    s = 0.5 * (stack[late] + stack[early])
    g = stack[early + 3]
    stack[middle] = s
    stack[middle + 1] = g
    depth = stack[early + 4] + 1.0
    stack[early + 4], stack[middle + 4] = depth, depth
    stack[early + 5], stack[middle + 5] = fits, fits
    for j in range(3):
        side = SLOPE if s < 0.5 else -SLOPE
        place = s + side if j == 0 else 0.5 * (s + stack[early if j == 1 else late])
        value = value_at(m, h, event, place)
        if j == 0:
            stack[middle + 2] = (value - g) / side
        else:
            stack[(early if j == 1 else middle) + 3] = value


@part
def arrives(m, h, event, sign):
    """Whether an event, on the side `sign` so far, reaches zero where the whole motion ends, to within rounding.

    A motion continued from there starts at zero, or meets the crossing within rounding of its start, and leaves it out.
    """
    last = 2 * SAMPLES * m.events + event
    g_end, slope = reals(m.g)[last], reals(m.g)[last + (SAMPLES + 1) * m.events]
    if not sign * slope < 0.0 or sign * g_end < 0.0:
        return False
    return abs(g_end) * abs(h) <= AT_START * EPS * max(abs(m.t + h), abs(h)) * abs(slope)


@part
def set_interval(m, event, i):
    """Put the interval i of the samples on the stack, whose points are in order of time from its top down; an interval
    is the two topmost points."""
    events = m.events
    g, stack = reals(m.g), reals(m.search)
    for j in range(2):
        at = (1 - j) * POINT
        stack[at] = (i + j) / SAMPLES
        stack[at + 1] = g[2 * (i + j) * events + event]
        stack[at + 2] = g[(2 * SAMPLES + 1 + i + j) * events + event]
        stack[at + 3] = g[(2 * i + 1) * events + event]
        stack[at + 4] = 0.0
        stack[at + 5] = 0.0


@part
def find_crossings(m, h):
    """Find all crossings of all events inside the step; returns how many, in order of time, in `found`.

    An event crosses where its sign changes from one side to the other. Being zero at the start, or touching zero and
    turning back, is no crossing. Where an event may change sign more often than its samples show, the search goes on
    with half the interval; what is left in doubt at the end is searched for a pair of crossings. Of an event that was
    too fast for the first samples, in this step or the one before, an interval is believed only if it and the one
    of twice its length are smooth: waves may look like a cubic by chance. A step whose search ends before that is
    noted in `unresolved`.
    """
    sample_events(m, h)
    if m.not_a_number:
        return NONE
    fast, unresolved = wholes(m.fast), wholes(m.unresolved)
    events = m.events
    g, sides, stack = reals(m.g), wholes(m.g_sign), reals(m.search)
    count = NONE
    for e in range(events):
        sign = float(sides[e])
        splits, bottoms, given_up = 0, 0, 0
        if sign * g[e] < 0.0:
            count = keep(m, h, count, e, g[e] > 0.0, 0.0)
            sign = -sign
        was_fast, fast[e] = fast[e], 0
        for i in range(SAMPLES):
            set_interval(m, e, i)
            fast[e] = 1 if misfit(reals(m.search + 8 * POINT), stack) > MISFIT else fast[e]
        proven = was_fast or fast[e]
        for i in range(SAMPLES):
            set_interval(m, e, i)
            top = SECOND
            while top > 0:
                a, b = reals(m.search + 8 * top * POINT), reals(m.search + 8 * (top - 1) * POINT)
                unsure = may_hide_crossings(a, b, STRICT if proven else MISFIT)
                if (unsure or (proven and a[5] == 0.0)) and a[4] < DEPTH:
                    if splits < m.splits and bottoms < BOTTOMS:
                        split_interval(m, h, e, top, 0.0 if unsure else 1.0)
                        top += 1
                        splits += 1
                        continue
                    given_up = 1
                bottoms += 1 if unsure else 0
                middle = -1.0
                if unsure and sign * a[1] > 0.0 and sign * b[1] > 0.0 and sign * a[2] < 0.0 and sign * b[2] > 0.0:
                    middle = find_dip(m, h, e, sign, a[0], b[0])
                parts = 2 if middle >= 0.0 else 1 if sign * b[1] < 0.0 else 0
                for half in range(parts):
                    low = middle if half == 1 else a[0]
                    high = middle if half == 0 and parts == 2 else b[0]
                    side = sign if half == 0 else -sign
                    s = low if a[1] == 0.0 else root(m, h, e, low, side, high, -side)
                    count = keep(m, h, count, e, side < 0.0, s)
                if b[1] != 0.0:
                    sign = 1.0 if b[1] > 0.0 else -1.0
                top -= 1
        if m.at_end and arrives(m, h, e, sign):
            count = keep(m, h, count, e, sign < 0.0, 1.0)
        unresolved[e] += given_up
        sides[e] = int(sign)
    return count


@program(types.int64(types.int64, types.float64))
def watch(memory, h):
    """Find the crossings in the step of length h that has just been made; returns how many."""
    return find_crossings(record(memory), h)
