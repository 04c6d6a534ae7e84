"""Where a mode ends: functions of each changing constraint that fall through zero there, and what ends then.

Where a mode begins none of them may be below zero but by rounding, which is then taken for zero (`set_floor`): one that
is would never be seen to fall. What conditions say counts where it changes, and where what they end begins.
"""

from __future__ import annotations

import math

from ...constraints.thresholds import (
    AT_REST,
    GAP_ROUNDINGS,
    JAMMED,
    NO_REACTION,
    NOISE,
    ON_CONE,
    ROUNDING,
    SIMULTANEOUS,
    SLACK_ROUNDINGS,
    SLIP_ROUNDINGS,
    STILL,
)
from .beginning_slips import excess, friction_excess, full_speed, speeds_up
from .call import call, part, reals, wholes
from .changing_record import (
    BOUND,
    CONDITION_GUARD,
    CONTACT,
    DURATION,
    ENDS,
    FREED,
    FRICTION,
    FRICTION_GUARD,
    GUARDS,
    IMPOSED,
    LAWS,
    NORMAL_GUARD,
    NOT_CLOSED,
    NOT_STUCK,
    OF_FORCES,
    OF_MOTION,
    OF_NOTHING,
    ONE_WAY,
    OPEN,
    PARADOX,
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
from .mode_problem import begins_to_slip
from .shared_friction import (
    capacity,
    first_sharer,
    friction_of,
    keep_within_cones,
    largest_user,
    shared_ahead,
    slip_as_one,
)
from .slips import (
    begin_slip,
    frictionless,
    rate_rounding,
    slip_direction,
    slip_rows,
    slip_speed,
    turn_directions,
)
from .step import EPS, copy_numbers
from .touch import gap_noise, gap_rounding, largest_normal, resting_speed, touches


@part
def read_conditions(c, source):
    """Conditions of all elements, with the reactions in c.reaction if they ask for these; returns the address of the
    inputs that what is watched reads."""
    inputs = source
    if c.asks_reactions:
        if mode_program(c, ENDS) == 0:
            keep_within_cones(c)
            if c.permanent > 0:
                permanent_reactions(c)
        inputs = c.x_watch
        copy_numbers(c.inputs, source, inputs)
        copy_numbers(c.rows, c.reaction, inputs + 8 * c.inputs)
    if c.conditions != 0:
        call(c.conditions, inputs, c.condition)
    return inputs


@part
def condition_ahead(c, i, t):
    """What falls through zero where the element i is imposed, or let go; 1 where nothing will."""
    condition = reals(c.condition)
    if not wholes(c.present)[i]:
        return -condition[2 * i] if wholes(c.has_when)[i] else 1.0
    ahead = -condition[2 * i + 1] if wholes(c.has_until)[i] else math.inf
    if wholes(c.has_duration)[i]:
        ahead = min(ahead, reals(c.imposed)[i] + reals(c.law)[i * LAWS + DURATION] - t)
    return 1.0 if ahead == math.inf else ahead


@part
def friction_ahead(c, i, source, written):
    """What falls through zero where the slip of the element i ends, or what it sticks by is overcome; 1 where nothing
    will. If `written`, rates are from the program of the mode, which writes no rows."""
    at, slips = slip_rows(c, i)
    if slips == 0:
        return 1.0
    if wholes(c.state)[i] == SLIPS:
        if frictionless(c, i):
            return 1.0
        if wholes(c.young)[i]:
            return min(full_speed(c, i) - slip_speed(c, i), speeds_up(c, i))
        ahead = slip_direction(c, i)
        rounding = EPS * reals(c.ends)[3 * c.rows + at] if written else rate_rounding(c, at, source)
        return ahead + STILL + SLIP_ROUNDINGS * rounding if slips == 1 else ahead
    if wholes(c.shared)[i]:
        return shared_ahead(c) if i == first_sharer(c) else 1.0
    left = capacity(c, i) - friction_of(c, i)
    return left - friction_excess(c, i) if begins_to_slip(c) else left


@part
def jam_reaction(c, i):
    """The normal reaction (N, N m) of the slipping contact i that only a jam has."""
    return reals(c.slack)[i] / (NO_REACTION * JAMMED)


@part
def normal_ahead(c, i, t):
    """What falls through zero where the gap of element i closes, or its normal reaction would pull, or would grow
    beyond all bounds in a slip; 1 where it has none."""
    kind, row = wholes(c.type)[i], wholes(c.first)[i]
    if kind in (SWITCHED, FRICTION) or not wholes(c.present)[i]:
        return 1.0
    if wholes(c.state)[i] != OPEN:
        ahead = reals(c.reaction)[row] + reals(c.slack)[i]
        if begins_to_slip(c):
            ahead -= excess(c, row)
        if wholes(c.state)[i] == SLIPS and kind == CONTACT:
            return min(ahead, jam_reaction(c, i) - reals(c.reaction)[row])
        return ahead
    if kind == CONTACT:
        lands = reals(c.lands)[i]
        return lands - t if lands > 0.0 else reals(c.phi)[row]
    return reals(c.rate)[row]


@part
def needed_of_rows(c):
    """What of the rows the functions of this mode depend on: OF_NOTHING, OF_MOTION or OF_FORCES."""
    if c.asks_reactions:
        return OF_FORCES
    needed = OF_NOTHING
    for i in range(c.elements):
        kind, state = wholes(c.type)[i], wholes(c.state)[i]
        if kind == SWITCHED:
            continue
        if kind == FRICTION:
            watched = state != OPEN and not frictionless(c, i)
            forces = watched and state == STICKS
        else:
            watched = wholes(c.present)[i] != 0
            forces = state != OPEN
        if forces:
            return OF_FORCES
        if watched:
            needed = OF_MOTION
    return needed


@part
def write_event_functions(c, source, target):
    """Write the functions of each changing constraint which fall through zero where its mode ends, and what the user's
    events watch."""
    g, floor = reals(target), reals(c.floor)
    if not read_ends(c, source, needed_of_rows(c)):
        fill(GUARDS * c.elements + c.watched, math.nan, target)
        return
    inputs, written = read_conditions(c, source), mode_program(c, ENDS) != 0
    if c.watched > 0:
        call(c.watch, inputs, target + 8 * GUARDS * c.elements)
    for i in range(c.elements):
        friction = 1.0
        if wholes(c.type)[i] != SWITCHED and wholes(c.state)[i] != OPEN:
            friction = friction_ahead(c, i, source, written)
        at = GUARDS * i
        g[at + NORMAL_GUARD] = normal_ahead(c, i, reals(source)[0]) - floor[at + NORMAL_GUARD]
        g[at + FRICTION_GUARD] = friction - floor[at + FRICTION_GUARD]
        g[at + CONDITION_GUARD] = condition_ahead(c, i, reals(source)[0])


@part
def noise_of(c, i, guard):
    """What a function of element i may be below zero where the mode begins: rounding, or what counts as rest."""
    kind, state = wholes(c.type)[i], wholes(c.state)[i]
    if state == OPEN:
        return NOISE * (SIMULTANEOUS if kind == CONTACT else AT_REST)
    if guard == FRICTION_GUARD and state == SLIPS:
        return AT_REST
    forces = reals(c.slack)[i]
    if guard == FRICTION_GUARD:
        law = reals(c.law + 8 * i * LAWS)
        bound = law[BOUND] if kind == FRICTION else reals(c.reaction)[wholes(c.first)[i]]
        forces += ROUNDING * law[STATIC] * abs(bound)
    return NOISE * forces


@part
def margin_of(c, i):
    """What noise may take from the normal function of element i, which is open and touches."""
    if wholes(c.type)[i] == ONE_WAY:
        return NOISE * STILL
    if reals(c.lands)[i] > 0.0:
        return 0.0
    if reals(c.rate)[wholes(c.first)[i]] <= resting_speed(c, i):
        return GAP_ROUNDINGS * gap_noise(c, i, c.x)
    return GAP_ROUNDINGS * gap_rounding(c, i, c.x)


@part
def set_floor(c, i):
    """Let the functions of element i begin where they are, if they are below zero by rounding only; what is further
    below ends the mode at once. A gap that opens without a speed grows like t² or t³, and noise must not close it."""
    floor = reals(c.floor + 8 * GUARDS * i)
    floor[NORMAL_GUARD], floor[FRICTION_GUARD] = 0.0, 0.0
    normal, friction = normal_ahead(c, i, reals(c.x)[0]), 1.0
    if wholes(c.type)[i] != SWITCHED and wholes(c.state)[i] != OPEN:
        friction = friction_ahead(c, i, c.x, False)
    if -noise_of(c, i, NORMAL_GUARD) <= normal < 0.0:
        floor[NORMAL_GUARD] = normal
    if -noise_of(c, i, FRICTION_GUARD) <= friction < 0.0:
        floor[FRICTION_GUARD] = friction - (NOISE * STILL if wholes(c.state)[i] == SLIPS else 0.0)
    if wholes(c.state)[i] == OPEN and touches(c, i):
        floor[NORMAL_GUARD] -= margin_of(c, i)


@part
def rounding_of(c, i, guard):
    """What of a function of element i is rounding, at the state in c.x, where the mode begins; 0 for what is not
    known."""
    kind, state, at = wholes(c.type)[i], wholes(c.state)[i], wholes(c.first)[i]
    if guard == CONDITION_GUARD or kind == SWITCHED or reals(c.lands)[i] > 0.0:
        return 0.0
    if guard == FRICTION_GUARD:
        if wholes(c.young)[i]:
            return 0.0
        if state == SLIPS:
            return rate_rounding(c, slip_rows(c, i)[0], c.x)
    elif state == OPEN:
        return gap_noise(c, i, c.x) if kind == CONTACT else rate_rounding(c, at, c.x)
    return reals(c.slack)[i] / SLACK_ROUNDINGS


@part
def time_to_stop(c):
    """The shortest time (s) in which a slip in a plane would stop with its present deceleration, 0 if none does. Reads
    what `write_rates` left in c.z."""
    n = c.n
    rate, wanted, shortest = reals(c.rate), reals(c.wanted), 0.0
    from_z(c, c.z, c.step)
    for i in range(c.elements):
        at, slips = slip_rows(c, i)
        if wholes(c.state)[i] == SLIPS and slips == 2 and not wholes(c.young)[i]:
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
        size = math.sqrt(one * one + two * two)
        if size > 0.0 and (i == which or size >= (1.0 - ON_CONE) * holds > 0.0):
            wholes(c.barred)[i] = NOT_STUCK
            begin_slip(c, i, -one, -two)


@part
def overcome_friction(c, which):
    """End what element `which` sticks by: it slips or, where its normal reaction has vanished too, is open; the cause.
    Where it shares its friction all begin to slip as one or, where that cannot be told, the one that uses most."""
    i = which
    if wholes(c.shared)[which]:
        if slip_as_one(c):
            return SLIP
        i = largest_user(c)
    if wholes(c.type)[i] == CONTACT and reals(c.reaction)[wholes(c.first)[i]] <= ON_CONE * largest_normal(c):
        wholes(c.state)[i] = OPEN
        wholes(c.barred)[i] = NOT_CLOSED
        return RELEASE
    slip_together(c, i)
    return SLIP


@part
def end_slip(c, i):
    """The slip of element i sticks, or goes on in a direction that is taken anew (START), one that began by its
    velocity from now on."""
    if slip_speed(c, i) > AT_REST:
        if wholes(c.young)[i]:
            wholes(c.young)[i] = 0
            reals(c.floor)[GUARDS * i + FRICTION_GUARD] = 0.0
        turn_directions(c)
        return START
    wholes(c.state)[i], wholes(c.young)[i] = STICKS, 0
    return STICK


@part
def end_mode(c, slot):
    """End what the function `slot` watched; returns the cause, START where it was no end."""
    i, guard = slot // GUARDS, slot % GUARDS
    if guard == CONDITION_GUARD:
        return FREED if wholes(c.present)[i] else IMPOSED
    if guard == FRICTION_GUARD:
        return end_slip(c, i) if wholes(c.state)[i] == SLIPS else overcome_friction(c, i)
    if wholes(c.state)[i] == OPEN:
        return TOUCH
    if wholes(c.state)[i] == SLIPS and 2.0 * reals(c.reaction)[wholes(c.first)[i]] > jam_reaction(c, i):
        return PARADOX
    wholes(c.state)[i] = OPEN
    wholes(c.barred)[i] = NOT_CLOSED
    return RELEASE
