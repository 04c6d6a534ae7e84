"""Samples of events in a step, and which events these show to stay clear of zero.

All events are sampled at the points that the search for crossings begins with (`events`). What ends modes, if nothing
else is watched, is at most times far from its zero and changes little in a step: then four samples tell so.
`m` is the memory of the loop, a record of type `records.MEMORY`.
"""

from __future__ import annotations

from .call import call_with, part, reals, wholes
from .records import SAMPLES
from .step import interpolate

SLOPE = 1e-7
"""Fraction of a step over which the slope of an event is measured."""

CLEAR = 32.0
"""How many times further than from the cubic through the ends of a step an event has to be from zero to be clear of it.
Of 5e5 random sums of three waves that cross zero in a step, with up to three turns in it, one is taken to be clear by
the error of one step; that of the step before has to be as small."""

SHORTER = 2.0
"""By how much a step may be shorter than the one before, which its first slopes come from: those were measured over a
part of that."""

DROWNED = 8.0
"""Roundings of an event within which it has not changed: a slope that is measured by such a change is none."""

MISFIT, STRICT = 0.1, 0.01
"""How far a value may be from the cubic through its neighbours, in parts of these, for an event and for a fast one."""

BESIDE = 1.0 / 16.0
"""Part that the error of an interval beside it has in that of an interval. A fifth derivative f of an event, over an
interval of length w, makes it miss its cubic by at most f w^5 / 13 000 and by nothing halfway; the intervals beside it
miss theirs by f w^5 / 384 halfway, where the fourth derivative is f w: 1 / 35 of that is enough."""

LAST, LAST_SLOPE, ROWS = 2 * SAMPLES, 3 * SAMPLES + 1, 3 * SAMPLES + 2
"""Rows of g: of the values and of the slopes at the end of a step, and how many."""

ERROR, ERROR_BEFORE = ROWS, ROWS + 1
"""Rows of g behind these: how far events are from the cubic through the ends of the step, and were in that before."""

WITHIN = 3, 6
"""Rows of g at two points within a step that tell, with its ends, whether an event stays clear of zero: waves of which
whole turns fit into the step look like nothing with these no sooner than with all of them."""

FEW = (LAST, LAST_SLOPE, *WITHIN)
"""Rows of g for that, those at the start of the step apart."""


@part
def events_at(m, h, s):
    """Evaluate all events at the fraction `s` of the step into g_point."""
    reals(m.x)[0] = m.t + s * h
    interpolate(m, s, m.x + 8)
    call_with(m.event_program, m.event_memory, m.x, m.g_point)
    m.event_evaluations += 1


@part
def place_of_sample(i):
    """(whether row i of g has slopes, the row with the values there, the fraction of the step where events are
    evaluated for it, how far beside these values): events at one of 2 SAMPLES + 1 points of the step, or slopes at one
    of every second of those, where the events are known already."""
    slope = i > 2 * SAMPLES
    at = 2 * (i - 2 * SAMPLES - 1) if slope else i
    s = at / (2 * SAMPLES)
    side = SLOPE if s < 0.5 else -SLOPE
    return slope, at, s + side if slope else s, side


@part
def take_sample(m, h, i):
    """Set row i of g."""
    events = m.events
    g, point = reals(m.g), reals(m.g_point)
    slope, at, s, side = place_of_sample(i)
    events_at(m, h, s)
    for e in range(events):
        g[i * events + e] = (point[e] - g[at * events + e]) / side if slope else point[e]
        if point[e] != point[e]:
            m.not_a_number = e + 1


@part
def goes_on_smoothly(m, h):
    """Whether what ends modes, and nothing else is watched, has at the start of this step the values and slopes that
    it had at the end of the last one."""
    only_ends = m.events == m.transition_events and m.at_end == 0
    return only_ends and m.stages > 0 and abs(m.sampled_h) > 0.0 and abs(m.sampled_h) <= SHORTER * abs(h)


@part
def sample_few(m, h):
    """Rows of g for `stays_clear`: values and slopes at both ends, those at the first from the step before, and values
    at two points within."""
    events, g, longer = m.events, reals(m.g), h / m.sampled_h
    for e in range(events):
        g[e] = g[LAST * events + e]
        g[(LAST + 1) * events + e] = g[LAST_SLOPE * events + e] * longer
        g[ERROR_BEFORE * events + e] = g[ERROR * events + e] * (longer * longer) * (longer * longer)
    for i in FEW:
        take_sample(m, h, i)


@part
def set_errors(m):
    """How far each event is from the cubic through the ends of the step, as two points within show it: what it is
    halfway if its fourth derivative does not change."""
    events, g = m.events, reals(m.g)
    for e in range(events):
        a, d = g[e], g[LAST * events + e]
        b, c = a + g[(LAST + 1) * events + e] / 3.0, d - g[LAST_SLOPE * events + e] / 3.0
        error = 0.0
        for i in WITHIN:
            s = i / LAST
            r = 1.0 - s
            value = r * r * (r * a + 3.0 * s * b) + s * s * (3.0 * r * c + s * d)
            error += abs(g[i * events + e] - value) / (16.0 * r * r * s * s)
        g[ERROR * events + e] = error


@part
def stays_clear(m, event):
    """Whether an event is so far from zero throughout the step that its ends and two points within can tell: a cubic
    lies between the least and the largest of its Bernstein coefficients."""
    events, side, g = m.events, float(wholes(m.g_sign)[event]), reals(m.g + 8 * event)
    a, d = side * g[0], side * g[LAST * events]
    b = a + side * g[(LAST + 1) * events] / 3.0
    c = d - side * g[LAST_SLOPE * events] / 3.0
    least = min(min(a, b), min(c, d))
    error = max(g[ERROR * events], g[ERROR_BEFORE * events])
    return least > 0.0 and CLEAR * error <= least and wholes(m.fast)[event] == 0


@part
def is_drowned(m, event, change):
    """Whether a change of an event is lost in its rounding, where that is known."""
    rounding = reals(m.g_rounding)[event]
    return rounding > 0.0 and abs(change) <= DROWNED * rounding


@part
def slope_from_values(m, event, k):
    """The slope at the point k of SAMPLES + 1 from five values beside it, of fourth order in their distance."""
    g, events = reals(m.g + 8 * event), m.events
    if 0 < k < SAMPLES:
        i = 2 * k
        near, far = g[(i + 1) * events] - g[(i - 1) * events], g[(i + 2) * events] - g[(i - 2) * events]
        return (8.0 * near - far) * (2 * SAMPLES) / 12.0
    at, by = (0, 1) if k == 0 else (LAST, -1)
    rise = -25.0 * g[at * events] + 48.0 * g[(at + by) * events] - 36.0 * g[(at + 2 * by) * events]
    rise += 16.0 * g[(at + 3 * by) * events] - 3.0 * g[(at + 4 * by) * events]
    return by * rise * (2 * SAMPLES) / 12.0


@part
def replace_drowned_slopes(m):
    """Take slopes that were lost in the rounding of an event from its values."""
    events, g = m.events, reals(m.g)
    for e in range(events):
        for k in range(SAMPLES + 1):
            at = (LAST + 1 + k) * events + e
            if is_drowned(m, e, SLOPE * g[at]):
                g[at] = slope_from_values(m, e, k)


@part
def sample_events(m, h):
    """Samples of all events in g, unless they are there; whether `stays_clear` may be asked. If it is true of all of
    them there are no more than it needs."""
    if m.sampled:
        return False
    few = goes_on_smoothly(m, h)
    if few:
        sample_few(m, h)
        set_errors(m)
        clear = m.not_a_number == 0
        for e in range(m.events):
            clear = clear and stays_clear(m, e)
        if clear:
            m.sampled_h = h
            return few
    for i in range(ROWS):
        if not (few and (i in FEW or i == 0 or i == LAST + 1)):
            take_sample(m, h, i)
    if not few:
        set_errors(m)
    replace_drowned_slopes(m)
    m.sampled_h = h
    return few
