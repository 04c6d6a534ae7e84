"""Slips of contacts and of dry friction: their rows, speeds and directions, and what of them is rounding."""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import AT_REST, SLIP_ENDS, STILL
from .call import part, reals, wholes
from .changing_record import BOUND, CONTACT, FRICTION, KINETIC, LAWS, SLIPS, STATIC
from .step import EPS


@part
def slip_rows(c, i):
    """(first slip row, how many) of the element i: those along which friction acts."""
    first, length = wholes(c.first)[i], wholes(c.length)[i]
    kind = wholes(c.type)[i]
    if kind == CONTACT and reals(c.law)[i * LAWS + STATIC] > 0.0:
        return first + 1, length - 1
    if kind == FRICTION:
        return first, length
    return first, np.int64(0)


@part
def slip_speed(c, i):
    """Speed of the slip of element i, its direction into c.slip."""
    at, slips = slip_rows(c, i)
    rate, slip = reals(c.rate), reals(c.slip)
    slip[0], slip[1] = 1.0, 0.0
    if slips == 0:
        return 0.0
    one = rate[at]
    two = rate[at + 1] if slips == 2 else 0.0
    size = math.sqrt(one * one + two * two)
    if size > 0.0:
        slip[0], slip[1] = one / size, two / size
    return size


@part
def slip_direction(c, i):
    """Unit vector of the slip of element i into c.slip, on the side of the slip that began; returns what falls through
    zero where the slip ends, or has turned by 60° since its direction was taken."""
    first, count = slip_rows(c, i)
    rate, slip, began = reals(c.rate), reals(c.slip), reals(c.direction + 16 * i)
    slip[0], slip[1] = began[0], began[1]
    if count == 0:
        return 0.0
    if count == 1:
        return rate[first] * began[0]
    along = rate[first] * began[0] + rate[first + 1] * began[1]
    size = math.sqrt(rate[first] * rate[first] + rate[first + 1] * rate[first + 1])
    if size > STILL:
        sign = 1.0 if along >= 0.0 else -1.0
        slip[0], slip[1] = sign * rate[first] / size, sign * rate[first + 1] / size
    return along - 0.5 * size - SLIP_ENDS


@part
def set_direction(c, i, one, two):
    """Let the slip of element i begin along (one, two), which need not be a unit vector."""
    began = reals(c.direction + 16 * i)
    size = math.sqrt(one * one + two * two)
    began[0], began[1] = one / size, two / size


@part
def begin_slip(c, i, one, two):
    """Let the slip of element i begin from rest along (one, two)."""
    wholes(c.state)[i] = SLIPS
    set_direction(c, i, one, two)
    plane = wholes(c.type)[i] == CONTACT and slip_rows(c, i)[1] == 2 and reals(c.law)[i * LAWS + KINETIC] > 0.0
    wholes(c.young)[i] = 1 if plane else 0


@part
def turn_directions(c):
    """Take the directions of all slips anew: those of one body turn together."""
    for i in range(c.elements):
        if wholes(c.state)[i] == SLIPS and not wholes(c.young)[i] and slip_speed(c, i) > AT_REST:
            set_direction(c, i, reals(c.slip)[0], reals(c.slip)[1])


@part
def rate_rounding(c, row, source):
    """Rounding error of the rate of a row, at the inputs at `source`: of what it is the difference of."""
    n = c.n
    a, u = reals(c.a + 8 * row * n), reals(source + c.u_start)
    given, total = reals(c.rate)[row], 0.0
    for j in range(n):
        given -= a[j] * u[j]
        total += abs(a[j] * u[j])
    return EPS * (total + abs(given))


@part
def frictionless(c, i):
    """Whether element i never has friction, so that nothing changes where its slip turns round."""
    law, kind = reals(c.law), wholes(c.type)
    bound = law[i * LAWS + BOUND] if kind[i] == FRICTION else 1.0
    return c.fixed_laws != 0 and law[i * LAWS + STATIC] * bound == 0.0
