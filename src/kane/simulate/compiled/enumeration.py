"""All modes of a small planar contact problem, one after another: which have a solution, and how many there are.

In a mode every contact is open, closed and sticking, or slipping in one direction, so r follows from linear equations;
it is a solution if the law holds, which the natural residual says. Where the equations of a mode are singular a basic
solution is taken: among all modes these are all corners of the set of reactions, so none is missed. Solutions are
different where their u are.
"""

from __future__ import annotations

import math

from ...constraints.thresholds import ROUNDING
from .call import part, reals, stay_separate, wholes
from .contacts import BOUND, CONE, FREE, MOST_SOLUTIONS, evaluate
from .step import copy_numbers

ACCEPTED = 1e-9
"""Natural residual of the solution of a mode; regular equations leave 1e-15 times their condition."""

DIFFERENT = 1e-6
"""Relative difference of the u of different solutions. What one solution is found as in several modes, because it lies
where they meet, differs by rounding alone."""

FLOOR, STICK, SLIP_UP, SLIP_DOWN, FLOOR_STICK, FLOOR_UP, FLOOR_DOWN = range(7)
"""Modes of a contact. Normal rows have FLOOR and STICK, or u = 0; one with a floor slips or sticks there, too. Bounded
rows have STICK, SLIP_UP and SLIP_DOWN, with r = mu and r = −mu."""


@part
def count_modes(m):
    """How many combinations of modes there are; inf if a contact has two tangential rows."""
    rows, kinds, mu, floor, modes = wholes(m.rows), wholes(m.kinds), reals(m.bound), reals(m.floor), wholes(m.modes)
    total = 1.0
    for i in range(m.k):
        modes[i] = 1
        if kinds[i] == BOUND and mu[i] > 0.0:
            if rows[i] > 1:
                return math.inf
            modes[i] = 3
        elif kinds[i] == CONE and mu[i] > 0.0:
            if rows[i] > 2:
                return math.inf
            modes[i] = 6 if floor[i] > 0.0 else 4
        elif kinds[i] != BOUND and kinds[i] != FREE:
            modes[i] = 2
        total *= modes[i]
    return total


@part
def mode_of(m, i):
    """The mode of contact i that its digit in m.choice stands for."""
    digit, kind = wholes(m.choice)[i], wholes(m.kinds)[i]
    if kind == FREE:
        return STICK
    if kind == BOUND:
        return digit + 1  # STICK comes first
    if kind == CONE and wholes(m.modes)[i] == 6:
        return digit + 1  # FLOOR alone is none
    return digit


@part
def set_mode(m):
    """Set the r that the modes fix, 0 for the others, and in m.step the friction per normal reaction of slipping
    contacts; returns the number of unknown rows, which are listed in m.active."""
    first, rows, kinds, mu, floor = wholes(m.first), wholes(m.rows), wholes(m.kinds), reals(m.bound), reals(m.floor)
    r, slope, active = reals(m.r), reals(m.step), wholes(m.active)
    count = 0
    for j in range(m.n):
        r[j] = 0.0
        slope[j] = 0.0
    for i in range(m.k):
        at, mode = first[i], mode_of(m, i)
        sign = 1.0 if mode in (SLIP_UP, FLOOR_UP) else -1.0
        if kinds[i] == BOUND:
            if mode == STICK and mu[i] > 0.0:
                active[count] = at
                count += 1
            elif mu[i] > 0.0:
                r[at] = sign * mu[i]
            continue
        if kinds[i] == FREE:
            for j in range(at, at + rows[i]):
                active[count] = j
                count += 1
            continue
        if mode in (STICK, SLIP_UP, SLIP_DOWN):
            active[count] = at
            count += 1
        else:
            r[at] = floor[i]
        if kinds[i] == CONE and mu[i] > 0.0:
            if mode in (STICK, FLOOR_STICK):
                active[count] = at + 1
                count += 1
            elif mode in (SLIP_UP, SLIP_DOWN):
                slope[at] = sign * mu[i]
            elif mode != FLOOR:
                r[at + 1] = sign * mu[i] * floor[i]
    return count


@part
def write_mode_equations(m, count):
    """Write u = 0 for the unknown rows."""
    n, width = m.n, m.n + 1
    r, b, slope, active = reals(m.r), reals(m.b), reals(m.step), wholes(m.active)
    a, w = reals(m.matrix), reals(m.w)
    for e in range(count):
        at, to = active[e] * n, e * width
        right = -b[active[e]]
        for l in range(n):
            right -= w[at + l] * r[l]
        a[to + count] = right
        for c in range(count):
            l = active[c]
            a[to + c] = w[at + l] + (slope[l] * w[at + l + 1] if slope[l] != 0.0 else 0.0)


@part
def bring_pivot(a, width, count, c, order):
    """Exchange rows and columns so that the largest number of the rest of a is at (c, c); returns its size."""
    row, column, size = c, c, 0.0
    for i in range(c, count):
        for j in range(c, count):
            if abs(a[i * width + j]) > size:
                row, column, size = i, j, abs(a[i * width + j])
    if row != c:
        for j in range(c, count + 1):
            a[c * width + j], a[row * width + j] = a[row * width + j], a[c * width + j]
    if column != c:
        for i in range(count):
            a[i * width + c], a[i * width + column] = a[i * width + column], a[i * width + c]
        order[c], order[column] = order[column], order[c]
    return size


@part
def solve_basic(m, count):
    """Solve the equations of a mode by elimination with pivots from the whole rest; what they leave open is 0."""
    width, active, order, slope = m.n + 1, wholes(m.active), wholes(m.order), reals(m.step)
    a, r = reals(m.matrix), reals(m.r)
    largest, rank = 0.0, count
    for c in range(count):
        order[c] = c
    for c in range(count):
        size = bring_pivot(a, width, count, c, order)
        largest = max(largest, size)
        if not size > ROUNDING * largest:
            rank = c
            break
        inverse = 1.0 / a[c * width + c]
        for i in range(c + 1, count):
            factor = a[i * width + c] * inverse
            if factor != 0.0:
                for j in range(c + 1, count + 1):
                    a[i * width + j] -= factor * a[c * width + j]
    for i in range(rank - 1, -1, -1):
        total = a[i * width + count]
        for j in range(i + 1, rank):
            total -= a[i * width + j] * r[active[order[j]]]
        r[active[order[i]]] = total / a[i * width + i]
    for c in range(count):
        if slope[active[c]] != 0.0:
            r[active[c] + 1] = slope[active[c]] * r[active[c]]


@part
def distance(n, x, y):
    """The largest |x_j − y_j|."""
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(x[j] - y[j]))
    return largest


@part
def note_solution(m):
    """Keep u with those of different solutions, if it differs from them."""
    for s in range(m.solutions):
        if distance(m.n, reals(m.u), reals(m.found + 8 * s * m.n)) <= DIFFERENT * m.size:
            return
    if m.solutions < MOST_SOLUTIONS:
        copy_numbers(m.n, m.u, m.found + 8 * m.solutions * m.n)
        m.solutions += 1


@part
def next_choice(m):
    """Go on to the next combination of modes; False after the last one."""
    choice, modes = wholes(m.choice), wholes(m.modes)
    for i in range(m.k):
        choice[i] += 1
        if choice[i] < modes[i]:
            return True
        choice[i] = 0
    return False


@part
def has_tension(m):
    """Whether a closed contact of the mode would have to pull."""
    first, kinds, floor, r = wholes(m.first), wholes(m.kinds), reals(m.floor), reals(m.r)
    for i in range(m.k):
        if kinds[i] != BOUND and kinds[i] != FREE and not floor[i] - r[first[i]] <= ACCEPTED * m.size:
            return True
    return False


@part
def enumerate_modes(m):
    """Look at all modes; sets r to the solution nearest to the r that is given, and counts those of different u.

    Returns the natural residual; r is as given where there is no solution.
    """
    stay_separate()
    nearest = math.inf
    m.solutions = 0
    copy_numbers(m.n, m.r, m.start)
    copy_numbers(m.n, m.r, m.kept)
    choice = wholes(m.choice)
    for i in range(m.k):
        choice[i] = 0
    going = True
    while going:
        count = set_mode(m)
        write_mode_equations(m, count)
        solve_basic(m, count)
        if not has_tension(m) and evaluate(m) <= ACCEPTED:
            note_solution(m)
            far = distance(m.n, reals(m.r), reals(m.start))
            if far < nearest:
                nearest = far
                copy_numbers(m.n, m.r, m.kept)
        going = next_choice(m)
    copy_numbers(m.n, m.kept, m.r)
    return evaluate(m)
