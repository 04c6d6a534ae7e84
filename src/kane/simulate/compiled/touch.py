"""Which contacts touch, and which of their gaps, normal speeds and reactions are none but for rounding."""

from __future__ import annotations

import math

from ...constraints.thresholds import AT_REST, FLIGHT_ROUNDINGS, REST_ROUNDINGS, SIMULTANEOUS, TOUCH_ROUNDINGS
from .call import part, reals, wholes
from .changing_record import CONTACT, LAWS, ONE_WAY, OPEN, RESTITUTION
from .mass_metric import inner
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
def gap_noise(c, i, source):
    """The most that the gap of element i may be wrong by (m, rad): its rounding, with lengths that cancel in it."""
    a, longest = reals(c.a + 8 * wholes(c.first)[i] * c.n), 0.0
    for j in range(c.n):
        longest = max(longest, abs(a[j]))
    return gap_rounding(c, i, source) + EPS * longest


@part
def noisy_speed(c, i, fall):
    """Speed (m/s, rad/s) of a normal that falls back with the acceleration `fall` before its gap is more than noise."""
    return math.sqrt(2.0 * FLIGHT_ROUNDINGS * fall * gap_noise(c, i, c.x))


@part
def resting_speed(c, i):
    """Speed (m/s, rad/s) below which the normal of element i is at rest: what it would do from there is lost in the
    rounding of the time or, if it has a gap and does not bounce, of that."""
    row = wholes(c.first)[i]
    fall = max(0.0, -reals(c.drift)[row])
    least = max(AT_REST, TOUCH_ROUNDINGS * EPS * abs(reals(c.x)[0]) * fall)
    bounces = reals(c.lands)[i] > 0.0 or (reals(c.impulse)[row] > 0.0 and reals(c.law)[i * LAWS + RESTITUTION] > 0.0)
    if bounces or wholes(c.type)[i] == ONE_WAY:
        return least
    return max(least, math.sqrt(REST_ROUNDINGS * fall * gap_rounding(c, i, c.x)))


@part
def touches(c, i):
    """Whether element i can act: a contact without a gap, or a one-way rate at its bound."""
    kind, row = wholes(c.type)[i], wholes(c.first)[i]
    if not wholes(c.present)[i]:
        return False
    if kind == CONTACT:
        near = SIMULTANEOUS + TOUCH_ROUNDINGS * gap_rounding(c, i, c.x)
        return wholes(c.state)[i] != OPEN or reals(c.phi)[row] <= near
    if kind == ONE_WAY:
        return reals(c.rate)[row] <= AT_REST
    return False


@part
def flown_height(c, i):
    """(height, whether its flight ends by time): the gap of the contact i. Where rounding hides it, it is what is left
    to fall through with the speed before this transition; 0 where the flight begins with an impact."""
    n, row = c.n, wholes(c.first)[i]
    left = reals(c.lands)[i] - reals(c.x)[0]
    if not left > 0.0:
        return 0.0 if reals(c.impulse)[row] > 0.0 else max(0.0, reals(c.phi)[row]), False
    a, u, before, rate = reals(c.a + 8 * row * n), reals(c.x + c.u_start), reals(c.before), reals(c.rate)[row]
    for j in range(n):
        rate -= a[j] * (u[j] - before[j])
    return max(0.0, left * (0.5 * reals(c.falls)[i] * left - rate)), True


@part
def start_flights(c):
    """Look at contacts that separate and fall back, or are doing so. Returns the shortest time (s) until one has its
    greatest gap, 0 if none turns back: a first step must not pass over a whole bounce. A flight whose gap is lost in
    rounding ends by time, t + (v + √(v² + 2 a h)) / a for a gap h."""
    n, rate, lands, shortest = c.n, reals(c.rate), reals(c.lands), 0.0
    for i in range(c.elements):
        row = wholes(c.first)[i]
        height, by_time = flown_height(c, i)
        lands[i] = 0.0
        if wholes(c.type)[i] != CONTACT or wholes(c.state)[i] != OPEN or not touches(c, i):
            continue
        y = c.rows_z + 8 * row * n
        fall = inner(n, y, c.z_loose) - inner(n, y, c.z) - reals(c.drift)[row]
        if fall > 0.0 and (by_time or rate[row] > resting_speed(c, i)):
            time = rate[row] / fall
            if time > 0.0 and (shortest == 0.0 or time < shortest):
                shortest = time
            if rate[row] <= noisy_speed(c, i, fall):
                drop = math.sqrt(time * time + 2.0 * height / fall)
                lands[i], reals(c.falls)[i] = reals(c.x)[0] + time + drop, fall
    return shortest


@part
def mark_grazing(c):
    """Mark what is open and touches, and still approaches though its acceleration parts it: the speed is none."""
    for i in range(c.elements):
        opens = wholes(c.state)[i] == OPEN and touches(c, i)
        wholes(c.grazes)[i] = 1 if opens and -resting_speed(c, i) <= reals(c.rate)[wholes(c.first)[i]] < 0.0 else 0


@part
def mark_drives(c):
    """Mark what is open and touches, and approaches since others were brought to rest; whether there is any."""
    found = False
    for i in range(c.elements):
        opens = wholes(c.state)[i] == OPEN and not wholes(c.grazes)[i] and touches(c, i)
        if opens and reals(c.rate)[wholes(c.first)[i]] < -AT_REST:
            wholes(c.grazes)[i], found = 1, True
    return found


@part
def largest_normal(c):
    """The largest normal reaction of contacts in this mode (N, N m)."""
    largest = 0.0
    for i in range(c.elements):
        if wholes(c.type)[i] == CONTACT and wholes(c.state)[i] != OPEN:
            largest = max(largest, reals(c.reaction)[wholes(c.first)[i]])
    return largest
