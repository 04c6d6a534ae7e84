"""Friction that contacts share: how much of it they need, and where all of it is used up and they slip together.

Where friction of contacts that stick is not determined, none of them slips as long as some forces within their cones
balance what acts. How much they need is s, the least largest share of its cone that any contact uses. Let what acts
along the surface grow by κ: at κ = 1/s they begin to slip, and a little beyond they accelerate. The power of the
friction r that holds for κ = 1 along these accelerations a is at most s times that of all friction,

    −Σ r_i · a_i ≤ s Σ μ N_i |a_i|,

N being what presses them while they hold, with equality where the slip begins; so κ follows by Newton's method, each
step a contact problem, and a is the motion with which the slip begins.
"""

from __future__ import annotations

import math

from ...constraints.thresholds import ALL_USED, LEAST_SHARE, PIVOT, REDUNDANT, RELAXED, SOLVED, STRAINED
from .call import part, reals, wholes
from .changing_record import (
    BOUND,
    CONTACT,
    FRICTION,
    KINETIC,
    LAWS,
    NONE,
    NOT_STUCK,
    OPEN,
    SLIPS,
    STATIC,
    STICKS,
    SWITCHED,
)
from .contact_programs import SOLVE
from .contacts import CONE, FREE
from .mass_metric import fill
from .mode_problem import add_to_problem, attach_friction, balance_problem, set_matrix, set_motions, solve_problem
from .slips import begin_slip, slip_direction, slip_rows
from .touch import largest_normal

BEYOND = 1e-6
"""How far beyond its limit friction is driven: the motion that begins is known to this share, s to its square."""

TINY = 1e-300
"""Friction (N) that is divided by at least."""

MOST_STEPS, GROWTH = 40, 1.1
"""Contact problems for one s at most, and by how much more the load grows in the next one while all is still held."""


@part
def mark_sharing(c, size, rank):
    """Mark the contacts that stick and whose friction is not determined, if some of them slip in a plane: from the
    directions in c.null along which the unknowns of the mode may change."""
    unknown, shared, planes = wholes(c.unknown), wholes(c.shared), False
    for j in range(size):
        i = wholes(c.owner)[j]
        at, slips = slip_rows(c, i)
        if wholes(c.type)[i] != CONTACT or wholes(c.state)[i] != STICKS or not at <= unknown[j] < at + slips:
            continue
        for e in range(size - rank):
            if abs(reals(c.null + 8 * e * size)[j]) > REDUNDANT:
                shared[i] = 1
                planes = planes or slips == 2
    if not planes:
        clear_sharing(c)


@part
def clear_sharing(c):
    """No friction is shared."""
    for i in range(c.elements):
        wholes(c.shared)[i] = 0


@part
def first_sharer(c):
    """The first contact that shares its friction, NONE if there is none."""
    for i in range(c.elements):
        if wholes(c.shared)[i]:
            return i
    return NONE


@part
def capacity(c, i):
    """Friction (N, N m) that the element i, which sticks, can take."""
    law, dry = reals(c.law + 8 * i * LAWS), wholes(c.type)[i] == FRICTION
    return law[STATIC] * (law[BOUND] if dry else reals(c.reaction)[wholes(c.first)[i]])


@part
def friction_of(c, i):
    """Size (N) of the friction of element i."""
    at, slips = slip_rows(c, i)
    reaction = reals(c.reaction)
    two = reaction[at + 1] if slips == 2 else 0.0
    return math.sqrt(reaction[at] * reaction[at] + two * two)


@part
def usage_of(c, i):
    """The share of its cone that the contact i uses, with the reactions in c.reaction."""
    least = reals(c.law)[i * LAWS + STATIC] * LEAST_SHARE * largest_normal(c)
    return friction_of(c, i) / max(capacity(c, i), least, TINY)


@part
def largest_user(c):
    """The contact that uses the largest share of its cone, of those that share their friction."""
    found, most = first_sharer(c), 0.0
    for i in range(c.elements):
        if wholes(c.shared)[i] and usage_of(c, i) > most:
            found, most = i, usage_of(c, i)
    return found


@part
def told_usage(c):
    """The largest share of its cone that a contact uses which shares its friction."""
    i = largest_user(c)
    return usage_of(c, i) if i != NONE else 0.0


@part
def all_press(c):
    """Whether all contacts that share their friction are pressed together."""
    found = True
    for i in range(c.elements):
        found = found and not (wholes(c.shared)[i] and not capacity(c, i) > 0.0)
    return found


@part
def set_shared_problem(c):
    """(contacts, rows) of the problem in which shared friction yields and all else is held."""
    count, size = 0, 0
    for i in range(c.elements):
        state, kind, law = wholes(c.state)[i], wholes(c.type)[i], reals(c.law + 8 * i * LAWS)
        if state == OPEN or (kind == FRICTION and state == SLIPS):
            continue
        if kind in (SWITCHED, FRICTION):
            count, size = add_to_problem(c, count, size, i, wholes(c.length)[i], FREE)
        elif kind == CONTACT and state == SLIPS:
            slip_direction(c, i)
            count, size = add_to_problem(c, count, size, i, 1, FREE)
            attach_friction(c, c.columns + 8 * (size - 1) * c.n, i, law[KINETIC], c.slip)
        else:
            reals(c.solver_mu)[count] = law[STATIC]
            rows = 1 + slip_rows(c, i)[1]
            count, size = add_to_problem(c, count, size, i, rows, CONE if wholes(c.shared)[i] else FREE)
    set_matrix(c, size)
    balance_problem(c, count, size)
    c.laid, c.laid_rows = count, size
    return count, size


@part
def solve_loaded(c, count, size, factor):
    """Solve the problem of shared friction with what acts along the surface grown by `factor`; its accelerations are in
    c.solver_v. Returns (Σ μ N |a|, −Σ r · a, the largest |a|, that without friction)."""
    row, w, b, u = wholes(c.solver_row), reals(c.solver_w), reals(c.solver_b), reals(c.solver_v)
    held, reaction = reals(c.solution), reals(c.reaction)
    for k in range(count):
        first = wholes(c.solver_first)[k]
        for s in range(first, first + wholes(c.solver_rows)[k]):
            grown = s > first and wholes(c.solver_type)[k] == CONE
            held[s] = factor * reaction[row[s]] if grown else reaction[row[s]]
    driven = 0.0
    for s in range(size):
        b[s] = 0.0
        for j in range(size):
            b[s] -= w[s * size + j] * held[j]
        driven = max(driven, abs(b[s]))
    solve_problem(c, SOLVE, count, size, c.solver_b)
    set_motions(c, size, c.solver_b)
    taken, given, largest = 0.0, 0.0, 0.0
    for k in range(count):
        if wholes(c.solver_type)[k] != CONE:
            continue
        first, square = wholes(c.solver_first)[k], 0.0
        for s in range(first + 1, first + wholes(c.solver_rows)[k]):
            square += u[s] * u[s]
            given -= reaction[row[s]] * u[s]
        taken += reals(c.solver_mu)[k] * reaction[row[first]] * math.sqrt(square)
        largest = max(largest, math.sqrt(square))
    return taken, given, largest, driven


@part
def needed_usage(c):
    """s of the friction that is shared, with reactions that hold in c.reaction; while these use up to RELAXED of their
    cones, the largest share that they use. Leaves the motion that begins in c.solver_v."""
    usage = told_usage(c)
    if not (usage > RELAXED and all_press(c)):
        c.loaded = 0.0
        return usage
    c.warm = 0
    count, size = set_shared_problem(c)
    fill(size, 0.0, c.solver_r)
    factor = c.loaded if c.loaded > 0.0 else 2.0 / usage
    growth, found = GROWTH, usage
    for _ in range(MOST_STEPS):
        taken, given, largest, driven = solve_loaded(c, count, size, factor)
        if not c.residual <= SOLVED:
            c.loaded = 0.0
            return usage
        if not (largest > ALL_USED * driven and given > 0.0):
            factor *= growth
            growth *= growth
            continue
        found = given / taken
        following = (1.0 + BEYOND) / found
        if following >= (1.0 - BEYOND) * factor:
            break
        factor = following
    c.loaded = factor
    return min(found, usage)


@part
def shared_ahead(c):
    """What falls through zero (N) where shared friction is used up: while contacts use little of it, what the first of
    them has left; it passes over to what they need."""
    most, left = 0.0, math.inf
    for i in range(c.elements):
        if wholes(c.shared)[i]:
            most = max(most, capacity(c, i))
            left = min(left, capacity(c, i) - friction_of(c, i))
    over = (told_usage(c) - RELAXED) / (STRAINED - RELAXED)
    if not over > 0.0:
        return left
    over = min(1.0, over)
    share = over * over * (3.0 - 2.0 * over)
    return left + share * (most * (1.0 - needed_usage(c)) - left)


@part
def slip_as_one(c):
    """Let the contacts that share their friction begin to slip with the motion that begins, but for those about which
    others turn; whether any does."""
    u, largest = reals(c.solver_v), 0.0
    usage = told_usage(c)
    if not (usage > RELAXED and needed_usage(c) > RELAXED and c.loaded > 0.0):
        return False
    for turn in range(2):
        for k in range(c.laid):
            i, first = wholes(c.solver_element)[k], wholes(c.solver_first)[k]
            if wholes(c.solver_type)[k] != CONE:
                continue
            one, two = u[first + 1], u[first + 2] if wholes(c.solver_rows)[k] == 3 else 0.0
            size = math.sqrt(one * one + two * two)
            if turn == 0:
                largest = max(largest, size)
            elif size > PIVOT * largest:
                wholes(c.barred)[i] = NOT_STUCK
                begin_slip(c, i, one, two)
    return largest > 0.0


@part
def way_to_cone(c, i, other):
    """How far friction of the element i has to go from what is told to that at the address `other`, 0 … 1, to be
    within its cone, which the latter is."""
    at, slips = slip_rows(c, i)
    bound, a, b, d = capacity(c, i), 0.0, 0.0, 0.0
    for s in range(slips):
        x = reals(c.reaction)[at + s]
        y = reals(other)[s] - x
        a, b, d = a + y * y, b + x * y, d + x * x
    d -= bound * bound
    if not (d > 0.0 and a > 0.0):
        return 0.0
    return min(1.0, d / (-b + math.sqrt(max(0.0, b * b - a * d)))) if b < 0.0 else 1.0


@part
def keep_within_cones(c):
    """Where shares of friction in c.reaction are beyond cones, move them towards those of which the largest share of a
    cone is least, until none is. Both hold what acts; nothing is to be done where friction cannot."""
    if first_sharer(c) == NONE or told_usage(c) <= 1.0:
        return
    needed, reaction, r = needed_usage(c), reals(c.reaction), reals(c.solver_r)
    if not (needed < 1.0 and c.loaded > 0.0):
        return
    factor, way = (1.0 - BEYOND) / needed, 0.0
    solve_loaded(c, c.laid, c.laid_rows, factor)
    for s in range(c.laid_rows):
        r[s] /= factor
    for k in range(c.laid):
        if wholes(c.solver_type)[k] == CONE:
            first = wholes(c.solver_first)[k]
            way = max(way, way_to_cone(c, wholes(c.solver_element)[k], c.solver_r + 8 * (first + 1)))
    for k in range(c.laid):
        if wholes(c.solver_type)[k] == CONE:
            first = wholes(c.solver_first)[k]
            for s in range(first + 1, first + wholes(c.solver_rows)[k]):
                row = wholes(c.solver_row)[s]
                reaction[row] += way * (r[s] - reaction[row])
