"""Crossings of an event that lie close together, told apart by its values alone.

The search of a step (`events`) measures slopes over a part of the step, so it ends at intervals a few dozen times as
long. What may cross zero more often in one of those than its signs show is looked at here: the interval is cut in
halves until the quartic through five values of each shows one crossing or none. A polynomial changes sign no more often
than its Bernstein coefficients do, and exactly once if they do so once. Four values between show how far the quartic is
from the event, rounding included: coefficients within a multiple of that may have either sign. Where rounding hides how
often the event crosses, halving does not end, and nothing is told.
`m` is the memory of the loop, a record of type `records.MEMORY`.
"""

from __future__ import annotations

import numpy as np

from .call import part, reals
from .event_samples import events_at
from .records import CLUSTER, FINEST, VALUES

LOOKS = 256
"""How many intervals are looked at, to bound the work on noise; enough for eight crossings 1e-9 of a step apart."""

SURE = 64.0
"""How many times the error of a quartic, summed over four places, its coefficients have to be away from zero for their
signs to be believed: rounding of the values is in a coefficient up to 15 times, and may be small at all four places."""

HIDDEN = np.int64(-1)
"""How many crossings there are where that cannot be told."""


@part
def value_at(m, h, event, s):
    """The event at the fraction `s` of the step."""
    events_at(m, h, s)
    return reals(m.g_point)[event]


@part
def miss_of_quartic(a, b, c, d, e, first, second):
    """How far the values `first`, halfway between a and b, and `second`, halfway between b and c, are from the quartic
    through five values at equal distances."""
    beside_a = (35.0 * a + 140.0 * b - 70.0 * c + 28.0 * d - 5.0 * e) / 128.0
    beside_b = (-5.0 * a + 60.0 * b + 90.0 * c - 20.0 * d + 3.0 * e) / 128.0
    return abs(first - beside_a) + abs(second - beside_b)


@part
def bernstein_coefficient(i, a, b, c, d, e):
    """Coefficient 1, 2 or 3 of the quartic through five values at equal distances; 0 and 4 are its ends."""
    if i == 2:
        return (13.0 * (a + e) - 64.0 * (b + d) + 120.0 * c) / 18.0
    if i == 3:
        a, b, d, e = e, d, b, a
    return (-13.0 * a + 48.0 * b - 36.0 * c + 16.0 * d - 3.0 * e) / 12.0


@part
def take_values(m, h, event, low, width, place, halved):
    """The event at nine points of the interval `place` of those of length `width` from `low` on, into the row `halved`
    of values; returns the address of the row. Every second is known from the interval that this one is half of."""
    row = m.cluster + 8 * (2 * CLUSTER + VALUES * halved)
    g, whole = reals(row), reals(row - 8 * VALUES + 8 * (VALUES // 2) * (place % 2))
    for k in range(VALUES):
        if halved > 0 and k % 2 == 0:
            g[k] = whole[k // 2]
        else:
            g[k] = value_at(m, h, event, low + (place + k / (VALUES - 1)) * width)
    return row


@part
def most_changes(values, side):
    """How often an event with nine `values` in an interval, on the side `side` before it, may change sign there; 2 may
    be more. Where it ends at zero it is known only not to change, and the answer is 0 or more than 1."""
    g = reals(values)
    a, b, c, d, e = g[0], g[2], g[4], g[6], g[8]
    band = SURE * (miss_of_quartic(a, b, c, d, e, g[1], g[3]) + miss_of_quartic(e, d, c, b, a, g[7], g[5]))
    before, changes = side, 0
    for i in range(1, 4):
        value = bernstein_coefficient(i, a, b, c, d, e)
        now = -before  # what leaves room for the most changes, if nothing is known
        if abs(value) > band:
            now = 1.0 if value > 0.0 else -1.0
        elif before == 0.0:
            return 2
        changes += 1 if now * before < 0.0 else 0
        before = now
    if not abs(e) > 0.0:
        return 2 * changes
    return changes + 1 if before * e < 0.0 else changes


@part
def isolate_crossings(m, h, event, low, high, side):
    """Find intervals between the fractions `low` and `high` of the step in which `event`, on the side `side` before
    them, crosses zero once, and has no crossing outside them; returns how many, with their ends in order of time in
    `cluster`, or HIDDEN if that cannot be told."""
    ends = reals(m.cluster)
    width, place, halved, count = high - low, 0, 0, 0
    for _ in range(LOOKS):
        row = take_values(m, h, event, low, width, place, halved)
        changes, last = most_changes(row, side), reals(row)[VALUES - 1]
        if changes > 1:
            if halved == FINEST:
                return HIDDEN
            width, place, halved = 0.5 * width, 2 * place, halved + 1
            continue
        if changes == 1:
            if count == CLUSTER:
                return HIDDEN
            ends[2 * count], ends[2 * count + 1] = low + place * width, low + (place + 1) * width
            count += 1
        if abs(last) > 0.0:
            side = 1.0 if last > 0.0 else -1.0
        place += 1
        while halved > 0 and place % 2 == 0:
            width, place, halved = 2.0 * width, place // 2, halved - 1
        if halved == 0:
            return np.int64(count)
    return HIDDEN


@part
def bends_one_way(m):
    """Whether the values in the interval that was given to `isolate_crossings` show much the same curvature throughout,
    so that there are two crossings at most, or zero is touched. Where there are more it is zero somewhere between."""
    g = reals(m.cluster + 8 * 2 * CLUSTER)
    least, most = np.inf, -np.inf
    for k in range(1, VALUES - 1):
        bend = g[k - 1] - 2.0 * g[k] + g[k + 1]
        least, most = min(least, bend), max(most, bend)
    return (0.0 < most < 2.0 * least) or (2.0 * most < least < 0.0)
