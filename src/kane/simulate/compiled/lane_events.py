"""Events of LANES motions at once: their samples in a step, and in which lanes these leave nothing to search for.

Most steps are far from every crossing. That shows in the same samples that a motion alone begins its search with
(`event_samples`), and is told here by a test that is stricter than that of the search: where it holds, the search would
find nothing and change nothing. Other lanes are searched one by one (`events`). `w` as in `member_memory`; `m` is the
memory of any lane.
"""

from __future__ import annotations

import numpy as np

from ...backends.kernel import LANES
from .call import call_with, part, reals, wholes
from .event_samples import BESIDE, MISFIT, ROWS, SLOPE, place_of_sample
from .lane_stages import interpolate_lanes
from .lane_values import (
    EVERY,
    ROW,
    above,
    at_least,
    bits,
    both,
    choose,
    load,
    minus,
    over,
    plus,
    size,
    splat,
    store,
    times,
)
from .member_memory import lane
from .records import SAMPLES

MARGIN = 0.9
"""Part of the misfit of a smooth event that is taken for smooth here: the search rounds otherwise."""

BANDS = 16.0
"""How many times further from zero than its error an event stays; the search lingers within 12 of it."""

ROUNDED = 1e-9
"""Part of its values by which an event stays away from zero besides, far beyond rounding."""


@part
def sample_lanes(w, m):
    """Samples of all events of all lanes in g: rows as in `event_samples`. States that no event reads are left out."""
    events, reads = w.events, wholes(w.reads)
    h, time = load(w.h), load(w.time)
    for i in range(ROWS):
        slope, at, s, side = place_of_sample(i)
        store(w.x, plus(time, times(splat(s), h)))
        for k in range(w.read):
            store(w.x + (1 + reads[k]) * ROW, interpolate_lanes(w, m, reads[k], s))
        row = w.g + i * events * ROW
        call_with(w.event_program, w.event_memory, w.x, row)
        if slope:
            values, by = w.g + at * events * ROW, splat(side)
            for e in range(events):
                store(row + e * ROW, over(minus(load(row + e * ROW), load(values + e * ROW)), by))


@part
def least(a, b):
    """The smaller numbers of two."""
    return choose(above(a, b), b, a)


@part
def most(a, b):
    """The larger numbers of two."""
    return choose(above(a, b), a, b)


@part
def set_misfits(w, event):
    """As `events.cubic_error` of an event in each interval of the samples, behind a row that stays zero."""
    row, g = w.events * ROW, w.g + event * ROW
    for i in range(SAMPLES):
        value, slope = g + 2 * i * row, g + (2 * SAMPLES + 1 + i) * row
        middle = times(splat(0.5), plus(load(value), load(value + 2 * row)))
        bend = times(splat(0.125 / SAMPLES), minus(load(slope), load(slope + row)))
        store(w.misfits + (1 + i) * ROW, size(minus(minus(load(value + row), middle), bend)))


@part
def stays_beyond(w, event, i, side):
    """Where an event stays on the side `side` throughout the interval i of the samples, as the search would find.

    It is smooth there, and the cubic through values and slopes, which lies between the least and the largest of its
    Bernstein coefficients, is further from zero than the band of error about it (`events.may_hide_crossings`).
    """
    row, g = w.events * ROW, w.g + event * ROW
    value, slope = g + 2 * i * row, g + (2 * SAMPLES + 1 + i) * row
    width, three = splat(1.0 / SAMPLES), splat(3.0)
    a, b = times(side, load(value)), times(side, load(value + 2 * row))
    first, last = times(width, times(side, load(slope))), times(width, times(side, load(slope + row)))
    ends, rise = plus(a, b), minus(b, a)
    second = minus(times(three, rise), plus(plus(first, first), last))
    third = minus(plus(first, last), plus(rise, rise))
    before, error, after = load(w.misfits + i * ROW), load(w.misfits + (i + 1) * ROW), load(w.misfits + (i + 2) * ROW)
    steep = plus(size(first), times(splat(float(SAMPLES)), plus(size(second), size(third))))
    band = plus(plus(error, times(splat(BESIDE), most(before, after))), times(splat(SLOPE), steep))
    bottom = least(least(a, plus(a, over(first, three))), least(b, minus(b, over(last, three))))
    smooth = at_least(times(splat(MARGIN * MISFIT), ends), error)
    return both(smooth, above(bottom, plus(times(splat(BANDS), band), times(splat(ROUNDED), ends))))


@part
def quiet_lanes(w):
    """The bits of lanes in whose steps no event may cross zero, by the samples in g; where one is not a number, none
    of these comparisons holds."""
    quiet = np.int64(EVERY)
    for e in range(w.events):
        side = load(w.side + e * ROW)
        set_misfits(w, e)
        for i in range(SAMPLES):
            quiet &= bits(stays_beyond(w, e, i, side))
            if quiet == 0:
                return quiet
    return quiet


@part
def note_sides(w, at):
    """Remember on which side the events of a lane are; 0 if it has to be searched."""
    m, side = lane(w, at), reals(w.side)
    for e in range(w.events):
        side[LANES * e + at] = 0.0 if wholes(m.fast)[e] else float(wholes(m.g_sign)[e])


@part
def hand_samples(w, at):
    """Put the samples of a lane where its search finds them; what is not finite it has to sample itself, to name what
    is not a number."""
    m, count = lane(w, at), ROWS * w.events
    g, samples, excess = reals(m.g), reals(w.g), 0.0
    for i in range(count):
        g[i] = samples[LANES * i + at]
        excess += g[i] - g[i]
    m.sampled = 1 if excess == 0.0 else 0
    m.event_evaluations += ROWS * m.sampled
