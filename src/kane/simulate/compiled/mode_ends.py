"""Where a mode ends: two functions for each changing constraint that fall through zero there, and what ends then."""

from __future__ import annotations

import math

from ...constraints.thresholds import AT_REST, GAP_ROUNDINGS, ON_CONE, SLIP_ROUNDINGS
from .call import call, part, reals, wholes
from .changing_record import (
    BOUND,
    CONTACT,
    DURATION,
    ENDS,
    FREED,
    FRICTION,
    IMPOSED,
    LAWS,
    NOT_CLOSED,
    NOT_STUCK,
    OPEN,
    RELEASE,
    SLIP,
    SLIPS,
    START,
    STATIC,
    STICK,
    STICKS,
    SWITCHED,
    TOUCH,
)
from .mass_metric import fill, from_z, inner
from .mode_forces import mode_program, permanent_reactions, read_ends
from .slips import frictionless, set_direction, slip_direction, slip_rounding, slip_rows, slip_speed, turn_directions
from .step import copy_numbers
from .touch import gap_rounding, largest_normal


@part
def condition_ahead(c, i, t):
    """What falls through zero where the element i is imposed, or let go; 1 where nothing will."""
    condition = reals(c.condition)
    if wholes(c.state)[i] == OPEN:
        return -condition[2 * i] if wholes(c.has_when)[i] else 1.0
    ahead = -condition[2 * i + 1] if wholes(c.has_until)[i] else math.inf
    if wholes(c.has_duration)[i]:
        ahead = min(ahead, reals(c.imposed)[i] + reals(c.law)[i * LAWS + DURATION] - t)
    return ahead if ahead < math.inf else 1.0


@part
def friction_ahead(c, i, source):
    """What falls through zero where the slip of the element i ends, or what it sticks by is overcome; 1 where nothing
    will."""
    law, reaction = reals(c.law), reals(c.reaction)
    at, slips = slip_rows(c, i)
    if slips == 0:
        return 1.0
    if wholes(c.state)[i] == SLIPS:
        if frictionless(c, i):
            return 1.0
        ahead = slip_direction(c, i)
        return ahead + SLIP_ROUNDINGS * slip_rounding(c, i, source) if slips == 1 else ahead
    size = abs(reaction[at])
    if slips == 2:
        size = math.sqrt(reaction[at] * reaction[at] + reaction[at + 1] * reaction[at + 1])
    normal = law[i * LAWS + BOUND] if wholes(c.type)[i] == FRICTION else reaction[wholes(c.first)[i]]
    return law[i * LAWS + STATIC] * normal - size


@part
def write_event_functions(c, source, target):
    """Write two functions for each changing constraint, which fall through zero where its mode ends, and what the
    user's events watch."""
    g = reals(target)
    state, kind, first = wholes(c.state), wholes(c.type), wholes(c.first)
    rate, phi, reaction = reals(c.rate), reals(c.phi), reals(c.reaction)
    if not read_ends(c, source):
        fill(2 * c.elements + c.watched, math.nan, target)
        return
    if c.watched > 0 or c.conditions != 0:
        if c.permanent > 0 and mode_program(c, ENDS) == 0:
            permanent_reactions(c)
        copy_numbers(c.inputs, source, c.x_watch)
        copy_numbers(c.rows, c.reaction, c.x_watch + 8 * c.inputs)
    if c.conditions != 0:
        call(c.conditions, c.x_watch, c.condition)
    if c.watched > 0:
        call(c.watch, c.x_watch, target + 16 * c.elements)
    for i in range(c.elements):
        one, two = 1.0, 1.0
        if kind[i] == SWITCHED or kind[i] == FRICTION:
            one = condition_ahead(c, i, reals(source)[0])
        elif state[i] == OPEN:
            one = rate[first[i]]
            if kind[i] == CONTACT:
                one = phi[first[i]] + GAP_ROUNDINGS * gap_rounding(c, i, source)
        else:
            one = reaction[first[i]] + reals(c.slack)[i]
        if kind[i] != SWITCHED and state[i] != OPEN:
            two = friction_ahead(c, i, source)
        g[2 * i], g[2 * i + 1] = one, two


@part
def time_to_stop(c):
    """The shortest time (s) in which a slip in a plane would stop with its present deceleration, 0 if none does. Reads
    what `write_rates` left in c.z."""
    n = c.n
    rate, wanted, shortest = reals(c.rate), reals(c.wanted), 0.0
    from_z(c, c.z, c.step)
    for i in range(c.elements):
        at, slips = slip_rows(c, i)
        if wholes(c.state)[i] == SLIPS and slips == 2:
            size, loss = 0.0, 0.0
            for s in range(at, at + 2):
                size += rate[s] * rate[s]
                loss -= rate[s] * (inner(n, c.a + 8 * s * n, c.step) - wanted[s])
            if loss > 0.0 and size > 0.0 and (shortest == 0.0 or size < shortest * loss):
                shortest = size / loss
    return shortest


@part
def slip_together(c, which):
    """Let the slip of the element `which` begin, and of all that are at the edge of their friction like it: where what
    each of them holds is not determined, none of them does."""
    reaction, law = reals(c.reaction), reals(c.law)
    for i in range(c.elements):
        at, slips = slip_rows(c, i)
        if wholes(c.state)[i] != STICKS or slips == 0:
            continue
        holds = law[i * LAWS + STATIC]
        holds *= law[i * LAWS + BOUND] if wholes(c.type)[i] == FRICTION else reaction[wholes(c.first)[i]]
        one, two = reaction[at], reaction[at + 1] if slips == 2 else 0.0
        if i == which or math.sqrt(one * one + two * two) >= (1.0 - ON_CONE) * holds > 0.0:
            wholes(c.state)[i] = SLIPS
            wholes(c.barred)[i] = NOT_STUCK
            set_direction(c, i, -one, -two)


@part
def end_mode(c, slot):
    """End what the function `slot` watched; returns the cause, START where it was no end."""
    i = slot // 2
    state, kind, barred = wholes(c.state), wholes(c.type), wholes(c.barred)
    if slot % 2 == 0 and (kind[i] == SWITCHED or kind[i] == FRICTION):
        return IMPOSED if state[i] == OPEN else FREED
    if slot % 2 == 0:
        if state[i] == OPEN:
            return TOUCH
        state[i] = OPEN
        barred[i] = NOT_CLOSED
        return RELEASE
    if state[i] == SLIPS:
        if slip_speed(c, i) > AT_REST:
            turn_directions(c)
            return START
        state[i] = STICKS
        return STICK
    reaction = reals(c.reaction)
    if kind[i] == CONTACT and reaction[wholes(c.first)[i]] <= ON_CONE * largest_normal(c):
        state[i] = OPEN  # normal reaction and friction vanish together
        barred[i] = NOT_CLOSED
        return RELEASE
    slip_together(c, i)
    return SLIP
