"""Crossings of events inside a step, found by a program of its own, which only simulations with events need.

`m` is the memory of the loop, a record of type `records.MEMORY`.
"""

from __future__ import annotations

import numpy as np
from numba import types

from .call import part, reals, record_of, wholes
from .changing_record import CONDITION_GUARD, GUARDS
from .event_clusters import HIDDEN, bends_one_way, isolate_crossings, value_at
from .event_samples import BESIDE, MISFIT, SLOPE, STRICT, events_at, is_drowned, sample_events, stays_clear
from .records import BOTTOMS, DEPTH, MEMORY, POINT, SAMPLES
from .step import EPS
from .store import program

AT_START = 64.0
"""How many roundings of the time a crossing is found within, with some room."""

DOUBTS = 2
"""Places in one step where an event may hide its crossings in rounding before no more are told apart: it is noise."""

GOLDEN = 0.3819660112501051
"""Where golden-section search places its point."""

NONE, SECOND = np.int64(0), np.int64(1)
"""How many crossings are known, and which point of the search is on top, to begin with. For plain constants numba would
compile what takes them once more."""

record = record_of(MEMORY)
"""The memory of the loop at an address."""


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
    ball that goes up again from where it was found on the ground has not just met the ground. What ends a mode and
    stays below zero is kept.
    """
    at_start = m.steps == m.segment_start and s * abs(h) <= AT_START * EPS * max(abs(m.t), abs(h))
    stays = event < m.transition_events and reals(m.g)[m.events + event] < 0.0
    if at_start and not stays:
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
def cubic_error(a, b):
    """How far the value halfway between the points a and b of the search is from the cubic through values and slopes
    there."""
    return abs(a[3] - 0.5 * (a[1] + b[1]) - 0.125 * (b[0] - a[0]) * (a[2] - b[2]))


@part
def misfit(a, b):
    """The same in parts of the values."""
    size = abs(a[1]) + abs(b[1])
    return cubic_error(a, b) / size if size > 0.0 else 0.0


@part
def cubic(a, b):
    """Coefficients of u, u² and u³ of the cubic from the point a of the search (u = 0) to b (u = 1)."""
    width = b[0] - a[0]
    first = width * a[2]
    second = 3.0 * (b[1] - a[1]) - width * (2.0 * a[2] + b[2])
    third = 2.0 * (a[1] - b[1]) + width * (a[2] + b[2])
    return first, second, third


@part
def extrema(first, second, third):
    """Where a cubic turns, in order; -1 for what is not there."""
    root_of = second * second - 3.0 * third * first
    if root_of <= 0.0:
        return -1.0, -1.0
    # Roots of first + 2 second u + 3 third u^2 without cancellation.
    big = -(second + (root_of**0.5 if second >= 0.0 else -(root_of**0.5)))
    u = big / (3.0 * third) if third != 0.0 else -1.0
    v = first / big if big != 0.0 else -1.0
    return min(u, v), max(u, v)


@part
def lingers(value, slope, band):
    """Whether what a cubic is at a place lets the event be zero nearby with a slope of either sign; both are known to
    within `band`, the slope to within 8 of it, and a change of place by 1 adds no more than 2."""
    return abs(value) <= 3.0 * band and abs(slope) <= 8.0 * band


@part
def may_hide_crossings(a, b, share):
    """Whether an event may do more between the points a and b of the search than its signs there show; `share` is the
    largest misfit of what is known of it.

    A point is (place, value, slope); a[3] is the value halfway to b. The cubic through values and slopes is compared
    with the value halfway, which gives a band of error about it, in which errors of intervals beside it have a part: an
    error that changes its sign halfway is not seen there. If the cubic leaves the band steeply wherever it enters it,
    its extrema show how often the event changes sign; it is least steep at its ends, its extrema or its inflection.
    """
    width = b[0] - a[0]
    g_a, g_b = a[1], b[1]
    if g_a == 0.0 and g_b == 0.0 and a[3] == 0.0 and a[2] == 0.0 and b[2] == 0.0:
        return False  # zero throughout
    error = cubic_error(a, b)
    if error > share * (abs(g_a) + abs(g_b)):
        return True
    first, second, third = cubic(a, b)
    # A slope over a finite distance is wrong by that distance times half the curvature, 2 second / width^2.
    band = 4.0 * (error + BESIDE * a[6] + SLOPE * (abs(first) + (abs(second) + abs(third)) / width))
    if lingers(g_a, first, band) or lingers(g_b, width * b[2], band):
        return True
    inflection = -second / (3.0 * third) if third != 0.0 else -1.0
    if 0.0 < inflection < 1.0:
        value = g_a + inflection * (first + inflection * (second + inflection * third))
        if lingers(value, first + inflection * second, band):
            return True
    before, changes = g_a, 0
    for extremum in extrema(first, second, third):
        if 0.0 < extremum < 1.0:
            value = g_a + extremum * (first + extremum * (second + extremum * third))
            if lingers(value, 0.0, band):
                return True
            changes += 1 if value * before < 0.0 else 0
            before = value
    changes += 1 if before * g_b < 0.0 else 0
    return changes > (1 if g_a * g_b < 0.0 else 0)


@part
def changes_by_rounding(m, event, a, b):
    """Whether an event is on one side at the points a and b of the search and halfway, and changes by no more than its
    rounding: then nothing is searched there."""
    if not (a[1] * b[1] > 0.0 and a[1] * a[3] > 0.0):
        return False
    return is_drowned(m, event, b[1] - a[1]) and is_drowned(m, event, a[3] - a[1])


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
    if is_drowned(m, event, SLOPE * stack[middle + 2]):
        stack[middle + 2] = 2.0 * (stack[middle + 3] - stack[early + 3]) / (stack[late] - stack[early])
    a, b, c = reals(m.search + 8 * early), reals(m.search + 8 * middle), reals(m.search + 8 * late)
    stack[early + 6], stack[middle + 6] = cubic_error(b, c), cubic_error(a, b)


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
    beside = 0.0
    for k in (i - 1, i + 1):
        if 0 <= k < SAMPLES:
            early, slope = 2 * k * events + event, (2 * SAMPLES + 1 + k) * events + event
            bend = 0.125 * (g[slope] - g[slope + events]) / SAMPLES
            error = abs(g[early + events] - 0.5 * (g[early] + g[early + 2 * events]) - bend)
            beside = max(beside, error)
    for j in range(2):
        at = (1 - j) * POINT
        stack[at] = (i + j) / SAMPLES
        stack[at + 1] = g[2 * (i + j) * events + event]
        stack[at + 2] = g[(2 * SAMPLES + 1 + i + j) * events + event]
        stack[at + 3] = g[(2 * i + 1) * events + event]
        stack[at + 4] = 0.0
        stack[at + 5] = 0.0
        stack[at + 6] = beside


@part
def cross_interval(m, h, event, a, b, sign, unsure, count):
    """Note the crossings of `event`, on the side `sign` so far, between the points a and b of the search: none or one
    by its signs there; up to three where these are `unsure` to tell all. Returns how many crossings are known then, and
    the side."""
    low, g_low, side = a[0], a[1], sign
    if unsure:
        first, second, third = cubic(a, b)
        for extremum in extrema(first, second, third):
            if 0.0 < extremum < 1.0:
                s = a[0] + extremum * (b[0] - a[0])
                value = value_at(m, h, event, s)
                if side * value < 0.0:
                    at = low if g_low == 0.0 else root(m, h, event, low, side, s, -side)
                    count = keep(m, h, count, event, side < 0.0, at)
                if value != 0.0:
                    low, g_low, side = s, value, 1.0 if value > 0.0 else -1.0
        falls = sign * a[1] > 0.0 and sign * a[2] < 0.0
        if falls and sign * b[1] > 0.0 and sign * b[2] > 0.0 and sign * g_low > 0.0:
            dip = find_dip(m, h, event, sign, a[0], b[0])
            if dip >= 0.0:
                count = keep(m, h, count, event, side < 0.0, root(m, h, event, a[0], side, dip, -side))
                low, g_low, side = dip, -side, -side
    if side * b[1] < 0.0:
        at = low if g_low == 0.0 else root(m, h, event, low, side, b[0], -side)
        count = keep(m, h, count, event, side < 0.0, at)
        side = -side
    return count, side


@part
def note_doubt(m, h, event, s):
    """Note that `event` lingers at zero at the fraction `s` of the step; the first place is kept."""
    doubtful = wholes(m.doubtful)
    if doubtful[event] == 0:
        reals(m.doubtful_t)[event] = m.t + s * h
    doubtful[event] += 1


@part
def cross_shortest(m, h, event, a, b, sign, doubts, count):
    """The same where a and b are as close as the search brings them, and there may be any number of crossings. What
    ends modes ends them at the first, and is not asked for more; nor is what was hidden in rounding near `doubts`
    places of this step."""
    ends_mode = event < m.transition_events
    apart = HIDDEN if ends_mode or doubts >= DOUBTS else isolate_crossings(m, h, event, a[0], b[0], sign)
    if apart == HIDDEN:
        if not ends_mode and (doubts >= DOUBTS or not bends_one_way(m)):
            note_doubt(m, h, event, a[0])
        return cross_interval(m, h, event, a, b, sign, True, count)
    ends = reals(m.cluster)
    for i in range(apart):
        at = root(m, h, event, ends[2 * i], sign, ends[2 * i + 1], -sign)
        count = keep(m, h, count, event, sign < 0.0, at)
        sign = -sign
    return count, sign


@part
def find_crossings(m, h):
    """Find all crossings of all events inside the step; returns how many, in order of time, in `found`.

    An event crosses where its sign changes from one side to the other. Being zero at the start, or touching zero and
    turning back, is no crossing. Where an event may change sign more often than its samples show, the search goes on
    with half the interval; what is left in doubt at the end, within 4e-6 of a step, is told apart by values alone.
    Where rounding or nearness hides crossings, it is cut where its cubic turns, searched for a pair, and noted in
    `doubtful` if there may be three and more. Of an event that was too fast for the first samples, in this step or the
    one before, an interval is believed only if it and the one of twice its length are smooth: waves may look like a
    cubic by chance. A step whose search ends before that is noted in `unresolved`. What ends modes is not searched
    where it is clear of zero.
    """
    few = sample_events(m, h)
    if m.not_a_number:
        return NONE
    fast, unresolved, doubtful = wholes(m.fast), wholes(m.unresolved), wholes(m.doubtful)
    events = m.events
    g, sides, stack = reals(m.g), wholes(m.g_sign), reals(m.search)
    count = NONE
    for e in range(events):
        if few and stays_clear(m, e):
            continue
        sign = float(sides[e])
        splits, bottoms, given_up, known = 0, 0, 0, doubtful[e]
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
                still = changes_by_rounding(m, e, a, b)
                unsure = not still and may_hide_crossings(a, b, STRICT if proven else MISFIT)
                if (unsure or (proven and a[5] == 0.0 and not still)) and a[4] < DEPTH:
                    if splits < m.splits and bottoms < BOTTOMS:
                        split_interval(m, h, e, top, 0.0 if unsure else 1.0)
                        top += 1
                        splits += 1
                        continue
                    given_up = 1
                bottoms += 1 if unsure else 0
                if unsure and a[4] >= DEPTH:
                    count, sign = cross_shortest(m, h, e, a, b, sign, doubtful[e] - known, count)
                else:
                    count, sign = cross_interval(m, h, e, a, b, sign, unsure, count)
                if b[1] != 0.0:
                    sign = 1.0 if b[1] > 0.0 else -1.0
                top -= 1
        if m.at_end and arrives(m, h, e, sign):
            count = keep(m, h, count, e, sign < 0.0, 1.0)
        unresolved[e] += given_up
        guards = e < m.transition_events and e % GUARDS != CONDITION_GUARD
        sides[e] = 1 if guards else int(sign)
    return count


@program(types.int64(types.int64, types.float64))
def watch(memory, h):
    """Find the crossings in the step of length h that has just been made; returns how many."""
    return find_crossings(record(memory), h)
