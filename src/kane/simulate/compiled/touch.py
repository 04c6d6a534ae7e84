"""Which contacts touch, and which of their gaps, normal speeds and reactions are none but for rounding."""

from __future__ import annotations

import math

from ...constraints.thresholds import AT_REST, REST_ROUNDINGS, SIMULTANEOUS, TOUCH_ROUNDINGS
from .call import part, reals, wholes
from .changing_record import CONTACT, ONE_WAY, OPEN
from .step import EPS


@part
def gap_rounding(c, i, source):
    """Rounding error (m, rad) of the gap of element i at the inputs at `source`: of what it is the difference of."""
    n = c.n
    a, q = reals(c.a + 8 * wholes(c.first)[i] * n), reals(source + c.q_start)
    total = 0.0
    if c.coordinates == n:
        for j in range(n):
            total += abs(a[j] * q[j])
        return EPS * total
    longest, size = 0.0, 0.0
    for j in range(n):
        longest = max(longest, abs(a[j]))
    for j in range(c.coordinates):
        size = max(size, abs(q[j]))
    return EPS * longest * size


@part
def resting_speed(c, i):
    """Speed (m/s, rad/s) below which the normal of element i is at rest: what it would do from there is lost in the
    rounding of its gap."""
    fall = max(0.0, -reals(c.drift)[wholes(c.first)[i]])
    return max(
        AT_REST,
        math.sqrt(REST_ROUNDINGS * fall * gap_rounding(c, i, c.x)),
        TOUCH_ROUNDINGS * EPS * abs(reals(c.x)[0]) * fall,
    )


@part
def touches(c, i):
    """Whether element i can act: a contact without a gap, or a one-way rate at its bound."""
    kind, row = wholes(c.type)[i], wholes(c.first)[i]
    if kind == CONTACT:
        near = SIMULTANEOUS + TOUCH_ROUNDINGS * gap_rounding(c, i, c.x)
        return wholes(c.state)[i] != OPEN or reals(c.phi)[row] <= near
    if kind == ONE_WAY:
        return reals(c.rate)[row] <= AT_REST
    return False


@part
def time_to_turn(c):
    """The shortest time (s) until a contact that separates has its greatest gap, 0 if none turns back: a first step
    must not pass over a whole bounce."""
    rate, drift, shortest = reals(c.rate), reals(c.drift), 0.0
    for i in range(c.elements):
        row = wholes(c.first)[i]
        if wholes(c.type)[i] != CONTACT or wholes(c.state)[i] != OPEN or not touches(c, i):
            continue
        if rate[row] > resting_speed(c, i) and drift[row] < 0.0:
            time = -rate[row] / drift[row]
            if shortest == 0.0 or time < shortest:
                shortest = time
    return shortest


@part
def largest_normal(c):
    """The largest normal reaction of contacts in this mode (N, N m)."""
    largest = 0.0
    for i in range(c.elements):
        if wholes(c.type)[i] == CONTACT and wholes(c.state)[i] != OPEN:
            largest = max(largest, reals(c.reaction)[wholes(c.first)[i]])
    return largest
