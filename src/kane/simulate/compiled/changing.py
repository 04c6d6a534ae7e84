"""Motion under constraints that come and go: rates, projection and watched functions in the mode that holds now.

Rows are those of all constraints: permanent ones first, then those of every changing constraint, one after another. The
program `terms` gives M u̇ = f + Aᵀ λ and A u̇ = b for all of them; a mode says which rows hold, and how friction acts in
the others. With M = L Lᵀ everything is done in z = Lᵀ u̇, where rows are y = L⁻¹ a and lengths are those of the mass:
permanent rows are an orthonormal basis, changing rows are freed of it, and what is left is a small system for the
reactions of the mode. A slipping contact has one unknown, its normal reaction: its friction −μ λ d goes along with it.

A record of type `MEMORY` says where everything is; it belongs to one run. What changes the mode is in `transitions`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ...constraints.thresholds import AT_REST, EXACT, NO_MASS, REDUNDANT, ROUGH
from .call import call, part, reals, record_of, wholes
from .step import copy_numbers
from .store import program

CONTACT, ONE_WAY, FRICTION, SWITCHED = range(4)
"""Types of changing constraints: a gap that may close, a rate that is never negative, dry friction with a given bound,
rows that hold between two conditions."""

OPEN, STICKS, SLIPS = range(3)
"""What a changing constraint does: nothing, holds all its rows, holds its normal while friction acts along its slip."""

LAWS = 5
"""Numbers of a law: restitution, static friction, kinetic friction, bound, duration."""

RESTITUTION, STATIC, KINETIC, BOUND, DURATION = range(LAWS)

MOTION, ENDS = np.int64(0), np.int64(1)
"""Programs of a mode that is written out: rates of the state, and what tells its end."""

STATES = 4
"""States of an element in the table of modes: open, sticks, slips forward, slips backward."""

NONE = np.int64(-1)
"""No unknown. For a plain constant numba would compile what takes it once more."""

EPS = 2.220446049250313e-16

NEWTON_STEPS = 8
"""Newton steps of a projection of positions."""

SLIP_ENDS = 0.25 * AT_REST
"""A slip in a plane that comes from straight ahead ends at twice this speed: where it vanishes it has no direction, and
no step may look across that place."""

GAP_ROUNDINGS = 4.0
"""Roundings of a gap below zero at which it has closed: one that has just opened grows like t² or t³, and noise must
not close it."""

SLIP_ROUNDINGS = 64.0
"""Roundings of a slip within which it has not changed its direction: one that has just begun grows like t², and noise
must not end it."""

LITTLE_FRICTION = 1e9
"""Weight of friction beside normal reactions where the two are not determined: a block in a groove must not hang on the
friction of its walls."""

LEAST_SHARE = 1e-12
"""Share of the largest reaction that a contact counts at least where friction is shared among contacts."""

ROUNDINGS = 4.0
"""Roundings of a change of a speed within which the speed is zero afterwards: what is left has cancelled."""

TASKS = RATES, PROJECTION, WATCH, REACTIONS = range(4)
"""Rates of the state, the state on the constraints of the mode, functions that tell its end, reactions of all rows."""

PROGRAMS = ("terms", "places", "unit", "laws", "conditions", "watch", "solver")
SIZES = (
    "coordinates",
    "n",
    "rows",  # of all constraints
    "permanent",  # of these, the first ones
    "elements",  # changing constraints
    "holonomic",  # rows with a residual
    "inputs",
    "states",
    "watched",  # functions that the user's events watch
    "fixed_laws",  # 1: laws are numbers
    "impact_law",
    "q_start",  # bytes from the inputs to q
    "u_start",  # bytes from the inputs to u
    "rank",  # of the permanent rows, as last found
    "unknowns",  # reactions of the mode
    "room",  # transitions that fit in
    "count",  # transitions so far
    "same_time",  # transitions at one instant
    "possible",  # modes that were possible at the last choice, −1 if not counted
)
SHARED = (
    "type",  # (elements,) int64
    "first",  # (elements,) int64: first row
    "length",  # (elements,) int64: rows
    "has_when",  # (elements,) int64
    "has_until",
    "has_duration",
    "place_of",  # (rows,) int64: index among the rows with a residual, −1 without
    "table",  # (2, 4^elements) int64: programs of the modes, rates and ends, 0 for none; 0 itself without a table
)
OWN_REALS = (
    "qdot",  # outputs of terms, which begin here
    "mass",
    "f",
    "a",
    "rate",
    "wanted",
    "phi",
    "power",
    "place_phi",  # outputs of places, which begin here
    "place_rows",
    "along",
    "law",  # (elements, LAWS)
    "condition",  # (elements, 2): when, until
    "x",  # (inputs + rows,): inputs being changed, and multipliers behind them
    "x_watch",  # (inputs + rows,)
    "y",  # (states,)
    "kept",  # (coordinates,)
    "chol",  # (n, n)
    "basis",  # (n, n): orthonormal rows that span the permanent ones
    "beta",  # (n,): what z is along them
    "z_free",  # (n,)
    "z",  # (n,)
    "z_other",  # (n,)
    "rows_z",  # (rows, n): permanent rows, and changing ones freed of these
    "drift",  # (rows,): what a row of accelerations misses without changing reactions
    "columns",  # (rows, n): what a unit of each unknown does
    "k",  # (rows, rows): the system for the unknowns
    "right",  # (rows,)
    "solution",  # (rows,)
    "null",  # (rows, rows)
    "weight",  # (rows,): of unknowns that are not determined
    "scale",  # (rows,)
    "reaction",  # (rows,): λ of the changing rows
    "slip",  # (2,)
    "direction",  # (elements, 2): of the slip that is going on
    "imposed",  # (elements,): since when a switched constraint holds, s
    "offset",  # (rows,): residual that is kept
    "slack",  # (elements,): reaction (N, N m) below which one is rounding
    "step",  # (n,)
    "before",  # (n,): speeds before a transition
    "impulse",  # (rows,)
    "solver_w",  # (rows, rows): the contact problem of a transition
    "ends",  # (3, rows): reactions, rates and residuals as the program of a mode writes them
    "solver_b",
    "solver_r",
    "solver_v",
    "solver_mu",  # (elements + 1,)
    "solver_e",  # (elements + 1,)
    "solver_work",
    "at",  # (room,): transitions
    "energy",  # (room,)
    "impulses",  # (room, rows)
    "speeds",  # (room, 2, n): before and after
    "directions",  # (room, elements, 2)
)
OWN_WHOLES = (
    "state",  # (elements,): OPEN, STICKS or SLIPS
    "place_group",  # unused rows of places are skipped by this: (holonomic,) the element of a row, −1 permanent
    "unknown",  # (rows,): row of each unknown
    "pivot_row",  # (rows,)
    "pivot_column",  # (rows,)
    "barred",  # (elements,): what must not be chosen: 1 + OPEN, 1 + STICKS …; 0 nothing
    "solver_first",
    "solver_rows",
    "solver_type",
    "solver_element",  # (elements + 1,): element of each contact of the problem
    "solver_row",  # (rows,): row of each row of the problem
    "cause",  # (room,)
    "which",  # (room,): the element
    "choices",  # (room,): modes that were possible, −1 if not counted
    "states_after",  # (room, elements)
)
OWN = (*OWN_REALS, *OWN_WHOLES)
REALS = ("last_t", "residual")

WHOLE = (*PROGRAMS, *SIZES, *SHARED, *OWN)
MEMORY = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])
OWN_FIELDS = slice(len(WHOLE) - len(OWN), len(WHOLE))

record = record_of(MEMORY)


@part
def inner(n, a, b):
    """Inner product of the n numbers at two addresses."""
    x, y = reals(a), reals(b)
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@part
def add_multiple(n, target, factor, source):
    """target += factor source."""
    x, y = reals(target), reals(source)
    for i in range(n):
        x[i] += factor * y[i]


@part
def fill(n, value, target):
    """Set n numbers."""
    x = reals(target)
    for i in range(n):
        x[i] = value


@part
def factor_mass(c):
    """M = L Lᵀ into c.chol; False where some direction moves no mass."""
    n = c.n
    mass, chol = reals(c.mass), reals(c.chol)
    for i in range(n):
        for j in range(i + 1):
            total = mass[i * n + j]
            for k in range(j):
                total -= chol[i * n + k] * chol[j * n + k]
            if i == j:
                if not total > NO_MASS * mass[i * n + i]:
                    return False
                chol[i * n + i] = math.sqrt(total)
            else:
                chol[i * n + j] = total / chol[j * n + j]
    return True


@part
def to_z(c, source, target):
    """L⁻¹ times the numbers at `source`."""
    n = c.n
    chol, b, x = reals(c.chol), reals(source), reals(target)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= chol[i * n + k] * x[k]
        x[i] = total / chol[i * n + i]


@part
def from_z(c, source, target):
    """L⁻ᵀ times the numbers at `source`."""
    n = c.n
    chol, b, x = reals(c.chol), reals(source), reals(target)
    for j in range(n):
        i = n - 1 - j
        total = b[i]
        for k in range(i + 1, n):
            total -= chol[k * n + i] * x[k]
        x[i] = total / chol[i * n + i]


@part
def add_direction(c, count, row, target):
    """Add the direction of a row (at an address, which is changed) to the basis of `count`, along which z is to have
    the value that gives row · z = target; returns the new count. A row that says nothing new is left out."""
    n = c.n
    beta = reals(c.beta)
    length = math.sqrt(inner(n, row, row))
    for _ in range(2):
        for k in range(count):
            e = c.basis + 8 * k * n
            share = inner(n, row, e)
            add_multiple(n, row, -share, e)
            target -= share * beta[k]
    left = math.sqrt(inner(n, row, row))
    if count == n or not left > REDUNDANT * length:
        return count
    e = c.basis + 8 * count * n
    fill(n, 0.0, e)
    add_multiple(n, e, 1.0 / left, row)
    beta[count] = target / left
    return count + 1


@part
def along_basis(c, count, target):
    """target = Σ β e."""
    beta = reals(c.beta)
    fill(c.n, 0.0, target)
    for k in range(count):
        add_multiple(c.n, target, beta[k], c.basis + 8 * k * c.n)


@part
def free_of_basis(c, count, vector):
    """Take out of a vector what lies along the basis."""
    for _ in range(2):
        for k in range(count):
            e = c.basis + 8 * k * c.n
            add_multiple(c.n, vector, -inner(c.n, vector, e), e)


@part
def evaluate(c, source):
    """Terms at the inputs at `source`, and all that follows from them but the mode; False where M is singular."""
    n = c.n
    call(c.terms, source, c.qdot)
    if not c.fixed_laws:
        call(c.laws, source, c.law)
    if not factor_mass(c):
        return False
    wanted, drift = reals(c.wanted), reals(c.drift)
    count = 0
    for i in range(c.permanent):
        to_z(c, c.a + 8 * i * n, c.rows_z + 8 * i * n)
        copy_numbers(n, c.rows_z + 8 * i * n, c.step)
        count = add_direction(c, count, c.step, wanted[i])
    c.rank = count
    to_z(c, c.f, c.z_free)
    along_basis(c, count, c.z_other)
    copy_numbers(n, c.z_free, c.z)
    free_of_basis(c, count, c.z)
    add_multiple(n, c.z, 1.0, c.z_other)
    for i in range(c.permanent, c.rows):
        y = c.rows_z + 8 * i * n
        to_z(c, c.a + 8 * i * n, y)
        drift[i] = inner(n, y, c.z) - wanted[i]
        free_of_basis(c, count, y)
    return True


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
    if size > 0.0:
        sign = 1.0 if along >= 0.0 else -1.0
        slip[0], slip[1] = sign * rate[first] / size, sign * rate[first + 1] / size
    return along - 0.5 * size - SLIP_ENDS


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
def slip_rounding(c, i, source):
    """Rounding error of the rate of the first slip row of element i, at the inputs at `source`: of what it is the
    difference of."""
    n, row = c.n, slip_rows(c, i)[0]
    a, u = reals(c.a + 8 * row * n), reals(source + c.u_start)
    given, total = reals(c.rate)[row], 0.0
    for j in range(n):
        given -= a[j] * u[j]
        total += abs(a[j] * u[j])
    return EPS * (total + abs(given))


@part
def set_unknowns(c):
    """The reactions that are unknown in this mode, what a unit of each does, and what known friction does to c.z."""
    n = c.n
    state, kind, unknown = wholes(c.state), wholes(c.type), wholes(c.unknown)
    law, slip, reaction = reals(c.law), reals(c.slip), reals(c.reaction)
    fill(c.rows, 0.0, c.reaction)
    count = 0
    for i in range(c.elements):
        if state[i] == OPEN:
            continue
        first, length = wholes(c.first)[i], wholes(c.length)[i]
        at, slips = slip_rows(c, i)
        if kind[i] == FRICTION and state[i] == SLIPS:
            slip_direction(c, i)
            for s in range(slips):
                reaction[at + s] = -law[i * LAWS + KINETIC] * law[i * LAWS + BOUND] * slip[s]
                add_multiple(n, c.z, reaction[at + s], c.rows_z + 8 * (at + s) * n)
            continue
        held = length
        if kind[i] == CONTACT:
            held = 1 + (slips if state[i] == STICKS else 0)
        for r in range(held):
            unknown[count] = first + r
            column = c.columns + 8 * count * n
            copy_numbers(n, c.rows_z + 8 * (first + r) * n, column)
            if state[i] == SLIPS:
                slip_direction(c, i)
                for s in range(slips):
                    add_multiple(n, column, -law[i * LAWS + KINETIC] * slip[s], c.rows_z + 8 * (at + s) * n)
            count += 1
    c.unknowns = count


@part
def largest_left(size, p, a, rows, columns):
    """(size, row, column) of the largest number from the pivot p on."""
    best, at_row, at_column = 0.0, p, p
    for i in range(p, size):
        for j in range(p, size):
            value = abs(a[rows[i] * size + columns[j]])
            if value > best:
                best, at_row, at_column = value, i, j
    return best, at_row, at_column


@part
def eliminate(c, size, k, right):
    """Bring the system k (size, size) x = right into triangular form by full pivoting, rows and columns in units of
    c.scale; returns its rank."""
    a, b, unit = reals(k), reals(right), reals(c.scale)
    rows, columns = wholes(c.pivot_row), wholes(c.pivot_column)
    for i in range(size):
        rows[i], columns[i] = i, i
        b[i] *= unit[i]
        for j in range(size):
            a[i * size + j] *= unit[i] * unit[j]
    first = 0.0
    for p in range(size):
        best, at_row, at_column = largest_left(size, p, a, rows, columns)
        first = max(first, best) if p == 0 else first
        if not best > REDUNDANT * first:
            return p
        rows[p], rows[at_row] = rows[at_row], rows[p]
        columns[p], columns[at_column] = columns[at_column], columns[p]
        top = rows[p] * size
        for i in range(p + 1, size):
            at = rows[i] * size
            factor = a[at + columns[p]] / a[top + columns[p]]
            for j in range(p, size):
                a[at + columns[j]] -= factor * a[top + columns[j]]
            b[rows[i]] -= factor * b[rows[p]]
    return size


@part
def substitute_back(c, size, rank, k, right, free, target):
    """Write the unknowns of a triangular system to `target` in which those without a pivot are 0; with `free` ≥ 0 the
    direction in which the unknown without a pivot of that number is 1 and nothing changes."""
    a, b, x = reals(k), reals(right), reals(target)
    rows, columns = wholes(c.pivot_row), wholes(c.pivot_column)
    for j in range(size):
        x[j] = 0.0
    if free >= 0:
        x[columns[rank + free]] = 1.0
    for p in range(rank):
        i = rank - 1 - p
        at = rows[i] * size
        total = 0.0 if free >= 0 else b[rows[i]]
        for j in range(i + 1, size if free >= 0 else rank):
            total -= a[at + columns[j]] * x[columns[j]]
        x[columns[i]] = total / a[at + columns[i]]


@part
def set_pivot_unknowns(c, size, rank, k, right, target):
    """Set the unknowns that have a pivot in a triangular system, from those at `target` that have none."""
    a, b, x = reals(k), reals(right), reals(target)
    rows, columns = wholes(c.pivot_row), wholes(c.pivot_column)
    for p in range(rank):
        i = rank - 1 - p
        at = rows[i] * size
        total = b[rows[i]]
        for j in range(i + 1, size):
            total -= a[at + columns[j]] * x[columns[j]]
        x[columns[i]] = total / a[at + columns[i]]


@part
def weighted_product(c, size, a, b):
    """Σ w a b with the weights of c.weight."""
    w, x, y = reals(c.weight), reals(a), reals(b)
    total = 0.0
    for i in range(size):
        total += w[i] * x[i] * y[i]
    return total


@part
def move_to_least(c, size, rank, k, right, solution):
    """Move the unknowns of a triangular system along the directions in c.null to where Σ w x² is least; makes these
    orthonormal. Where weights differ much they are not exact, so that what is determined is set anew."""
    for e in range(size - rank):
        direction = c.null + 8 * e * size
        for other in range(e):
            before = c.null + 8 * other * size
            add_multiple(size, direction, -weighted_product(c, size, direction, before), before)
        length = math.sqrt(weighted_product(c, size, direction, direction))
        add_multiple(size, direction, 1.0 / length - 1.0, direction)
        add_multiple(size, solution, -weighted_product(c, size, solution, direction), direction)
    set_pivot_unknowns(c, size, rank, k, right, solution)


@part
def solve_least(c, size, k, right, solution):
    """Solve the system k (size, size) x = right, rows and columns in units of c.scale; returns its rank. Where unknowns
    are not determined the sum of their squares, in these units and with the weights of c.weight, is least."""
    rank = eliminate(c, size, k, right)
    substitute_back(c, size, rank, k, right, NONE, solution)
    if rank < size:
        for e in range(size - rank):
            substitute_back(c, size, rank, k, right, e, c.null + 8 * e * size)
        move_to_least(c, size, rank, k, right, solution)
    x, unit = reals(solution), reals(c.scale)
    for j in range(size):
        x[j] *= unit[j]
    return rank


@part
def weigh_friction(c, size, most):
    """Weights by which friction is shared among contacts that stick, where it is not determined: as little as can be,
    and in proportion to what each can take, μ times its normal reaction in c.solution, `most` being the largest. With
    most = 0 the normal reactions are not known yet."""
    unknown, x, weight, unit, law = (
        wholes(c.unknown),
        reals(c.solution),
        reals(c.weight),
        reals(c.scale),
        reals(c.law),
    )
    fill(size, 1.0, c.weight)
    at = 0
    for i in range(c.elements):
        if wholes(c.state)[i] != STICKS or wholes(c.type)[i] != CONTACT or slip_rows(c, i)[1] == 0:
            continue
        while unknown[at] != wholes(c.first)[i]:
            at += 1
        share = law[i * LAWS + STATIC] * max(x[at] / most, LEAST_SHARE) if most > 0.0 else 1.0
        for s in range(at + 1, at + wholes(c.length)[i]):
            weight[s] = LITTLE_FRICTION / share * (unit[s] / unit[at]) ** 2


@part
def share_friction(c, size, rank):
    """Share what is not determined of the friction of contacts that stick: contacts that unload must not seem to slip
    where others hold."""
    unit, x, most = reals(c.scale), reals(c.solution), 0.0
    for i in range(c.elements):
        if wholes(c.state)[i] != OPEN and wholes(c.type)[i] == CONTACT:
            for j in range(size):
                if wholes(c.unknown)[j] == wholes(c.first)[i]:
                    most = max(most, x[j])
    if not most > 0.0:
        return
    weigh_friction(c, size, most)
    for j in range(size):
        x[j] = x[j] / unit[j] if unit[j] > 0.0 else 0.0
    move_to_least(c, size, rank, c.k, c.right, c.solution)
    for j in range(size):
        x[j] *= unit[j]


@part
def solve_mode(c):
    """Reactions of the mode into c.reaction, and accelerations into c.z."""
    n, law = c.n, reals(c.law)
    set_unknowns(c)
    size = c.unknowns
    unknown, k, right, x = wholes(c.unknown), reals(c.k), reals(c.right), reals(c.solution)
    scale, reaction, slip, drift = reals(c.scale), reals(c.reaction), reals(c.slip), reals(c.drift)
    if size == 0:
        return
    for i in range(size):
        row = c.rows_z + 8 * unknown[i] * n
        length = math.sqrt(inner(n, row, row))
        scale[i] = 1.0 / length if length > 0.0 else 0.0
        known = drift[unknown[i]]
        for j in range(c.permanent, c.rows):
            if reaction[j] != 0.0:
                known += reaction[j] * inner(n, row, c.rows_z + 8 * j * n)
        right[i] = -known
        for j in range(size):
            k[i * size + j] = inner(n, row, c.columns + 8 * j * n)
    weigh_friction(c, size, 0.0)
    rank = solve_least(c, size, c.k, c.right, c.solution)
    if rank < size:
        share_friction(c, size, rank)
    for j in range(size):
        add_multiple(n, c.z, x[j], c.columns + 8 * j * n)
        reaction[unknown[j]] = x[j]
    for i in range(c.elements):
        if wholes(c.state)[i] == SLIPS and wholes(c.type)[i] == CONTACT:
            at, slips = slip_rows(c, i)
            slip_direction(c, i)
            for s in range(slips):
                reaction[at + s] = -law[i * LAWS + KINETIC] * slip[s] * reaction[wholes(c.first)[i]]


@part
def mode_index(c):
    """The number of the mode in the table: four states for each element, a slip forward or backward being two."""
    index = np.int64(0)
    state = wholes(c.state)
    for i in range(c.elements):
        digit = state[i]
        if digit == SLIPS and reals(c.direction)[2 * i] < 0.0:
            digit += 1
        index = STATES * index + digit
    return index


@part
def mode_program(c, which):
    """The address of a program of this mode, rates (0) or ends (1); 0 where it is not written out."""
    if c.table == 0:
        return np.int64(0)
    return wholes(c.table)[which * STATES**c.elements + mode_index(c)]


@part
def read_ends(c, source):
    """Reactions, rates and residuals of all rows in this mode, from its program where there is one; False where the
    mass matrix is singular."""
    address = mode_program(c, ENDS)
    if address == 0:
        if not evaluate(c, source):
            return False
        solve_mode(c)
        return True
    call(address, source, c.ends)
    copy_numbers(c.rows, c.ends, c.reaction)
    copy_numbers(c.rows, c.ends + 8 * c.rows, c.rate)
    copy_numbers(c.rows, c.ends + 16 * c.rows, c.phi)
    if not c.fixed_laws:
        call(c.laws, source, c.law)
    return True


@part
def permanent_reactions(c):
    """Reactions of the permanent rows behind those of the mode, into c.reaction: what is left of M u̇ − f."""
    n, size = c.n, c.permanent
    k, right, scale, reaction = reals(c.k), reals(c.right), reals(c.scale), reals(c.reaction)
    copy_numbers(n, c.z, c.z_other)
    add_multiple(n, c.z_other, -1.0, c.z_free)
    for j in range(size, c.rows):
        if reaction[j] != 0.0:
            to_z(c, c.a + 8 * j * n, c.step)
            add_multiple(n, c.z_other, -reaction[j], c.step)
    for i in range(size):
        row = c.rows_z + 8 * i * n
        right[i] = inner(n, row, c.z_other)
        length = math.sqrt(inner(n, row, row))
        scale[i] = 1.0 / length if length > 0.0 else 0.0
        for j in range(size):
            k[i * size + j] = inner(n, row, c.rows_z + 8 * j * n)
    fill(size, 1.0, c.weight)
    solve_least(c, size, c.k, c.right, c.solution)
    copy_numbers(size, c.solution, c.reaction)


@part
def write_rates(c, source, target):
    """Write [q̇, u̇, power] for the inputs at `source`; the power is that of loads and changing reactions."""
    address = mode_program(c, MOTION)
    if address != 0:
        call(address, source, target)
        return
    if not evaluate(c, source):
        fill(c.states, math.nan, target)
        return
    solve_mode(c)
    copy_numbers(c.coordinates, c.qdot, target)
    from_z(c, c.z, target + 8 * c.coordinates)
    power = reals(c.power)[0]
    for i in range(c.permanent, c.rows):  # along A u, not along the rate A u + c: what moves by itself works too
        power += reals(c.reaction)[i] * inner(c.n, c.a + 8 * i * c.n, source + c.u_start)
    reals(target)[c.states - 1] = power


@part
def write_reactions(c, source, target):
    """Write the reactions of all rows in this mode, nan where the mass matrix is singular."""
    if not read_ends(c, source):
        fill(c.rows, math.nan, target)
        return
    if c.permanent > 0 and mode_program(c, ENDS) == 0:
        permanent_reactions(c)
    copy_numbers(c.rows, c.reaction, target)


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
def frictionless(c, i):
    """Whether element i never has friction, so that nothing changes where its slip turns round."""
    law, kind = reals(c.law), wholes(c.type)
    bound = law[i * LAWS + BOUND] if kind[i] == FRICTION else 1.0
    return c.fixed_laws != 0 and law[i * LAWS + STATIC] * bound == 0.0


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
def holds_place(c, i):
    """Whether the residual of row i is kept in this mode."""
    if wholes(c.place_of)[i] < 0:
        return False
    if i < c.permanent:
        return True
    group = wholes(c.place_group)
    e = group[wholes(c.place_of)[i]]
    return wholes(c.state)[e] != OPEN


@part
def holds_rate(c, i, e):
    """Whether row i, of element e, keeps its rate in this mode."""
    state, kind = wholes(c.state)[e], wholes(c.type)[e]
    if state == OPEN or (kind == FRICTION and state == SLIPS):
        return False
    if kind == CONTACT and i > wholes(c.first)[e]:
        return state == STICKS and reals(c.law)[e * LAWS + STATIC] > 0.0
    return True


@part
def place_residual(c):
    """Evaluate places at c.x; the largest residual that is kept."""
    call(c.places, c.x, c.place_phi)
    phi, offset, at = reals(c.place_phi), reals(c.offset), wholes(c.place_of)
    largest = 0.0
    for i in range(c.rows):
        if holds_place(c, i):
            size = abs(phi[at[i]] - offset[i])
            if size > largest or size != size:
                largest = size
    return largest


@part
def close_places(c, enough):
    """Move the coordinates in c.x to where all residuals of the mode are `enough` at most, by steps that are least in
    the metric of the mass at the beginning."""
    n = c.n
    phi, offset, at = reals(c.place_phi), reals(c.offset), wholes(c.place_of)
    q, along, step = reals(c.x + c.q_start), reals(c.along), reals(c.step)
    residual = place_residual(c)
    for _ in range(NEWTON_STEPS):
        if not residual > enough:
            return
        count = 0
        for i in range(c.rows):
            if holds_place(c, i):
                to_z(c, c.place_rows + 8 * at[i] * n, c.z_other)
                count = add_direction(c, count, c.z_other, -(phi[at[i]] - offset[i]))
        along_basis(c, count, c.z_other)
        from_z(c, c.z_other, c.step)
        copy_numbers(c.coordinates, c.x + c.q_start, c.kept)
        for i in range(c.coordinates):
            for j in range(n):
                q[i] += along[i * n + j] * step[j]
        after = place_residual(c)
        if not after < residual:
            if residual < ROUGH:
                copy_numbers(c.coordinates, c.kept, c.x + c.q_start)
            return
        residual = after


@part
def close_rates(c):
    """Move the speeds in c.x to where the rates of all rows of the mode are zero, with the least kinetic energy of the
    change. A speed of which nothing but rounding is left is zero."""
    n = c.n
    rate, u, step = reals(c.rate), reals(c.x + c.u_start), reals(c.step)
    for _ in range(2):
        call(c.terms, c.x, c.qdot)
        if not factor_mass(c):
            return
        count = 0
        for i in range(c.permanent):
            to_z(c, c.a + 8 * i * n, c.z_other)
            count = add_direction(c, count, c.z_other, -rate[i])
        for e in range(c.elements):
            for r in range(wholes(c.length)[e]):
                i = wholes(c.first)[e] + r
                if holds_rate(c, i, e):
                    to_z(c, c.a + 8 * i * n, c.z_other)
                    count = add_direction(c, count, c.z_other, -rate[i])
        along_basis(c, count, c.z)
        from_z(c, c.z, c.step)
        for j in range(n):
            u[j] += step[j]
            if abs(u[j]) <= ROUNDINGS * EPS * abs(step[j]):
                u[j] = 0.0


@part
def project_state(c, enough):
    """Move the state in c.x onto the rows of the mode, to where residuals of position are `enough` at most."""
    if c.unit != 0:
        call(c.unit, c.x, c.y)
        copy_numbers(c.states, c.y, c.x + c.q_start)
    call(c.terms, c.x, c.qdot)
    if not factor_mass(c):
        return
    if c.holonomic > 0:
        close_places(c, enough)
    close_rates(c)


@program(types.void(types.int64, types.int64, types.int64))
def changing_program(source, target, memory):
    """Do a task: at `memory` is which, and behind it the address of the run's record, which all tasks share."""
    task, c = wholes(memory)[0], record(wholes(memory)[1])
    if task == RATES:
        write_rates(c, source, target)
    elif task == WATCH:
        write_event_functions(c, source, target)
    elif task == REACTIONS:
        write_reactions(c, source, target)
    else:
        copy_numbers(c.inputs, source, c.x)
        project_state(c, EXACT)
        copy_numbers(c.states, c.x + c.q_start, target)
