"""Lemke's method: the contact problem as a linear complementarity problem, w = M z + q, w ≥ 0, z ≥ 0, w z = 0 [CPS92].

Every direction in which a contact can push is an unknown z: the normal, and each tangential row to both sides. Rows of
FREE contacts push to both sides, too. A contact with friction has one more z, its slip, whose w is the friction that is
left over, mu r_n − Σ z [ST96]. For one tangential direction that is Coulomb's law; for two it is that of a pyramid,
whose solution is where Newton's method begins. It takes long, but where W is positive semidefinite and b belongs to it
there is an end, and it is a solution. The lexicographic rule breaks ties, so that redundant contacts make no cycles.

The dictionary at m.table has a row for each basic variable, in columns the unknowns that are 0, z0 after them, and the
value of the basic variable last. Variable i is w_i, N + i is z_i, 2 N is z0.
"""

from __future__ import annotations

import numpy as np

from .call import part, reals, wholes
from .contact_newton import add_multiple
from .contacts import BOUND, CONE, FREE

PIVOTS = 50
"""Pivots per unknown at most; about two are usual."""

SMALLEST = 1e-11
"""A coefficient below this is none: W has diagonals of 1 at most."""

NORMAL_PUSH, PUSH, SLIP = np.int64(0), np.int64(1), np.int64(2)
"""What an unknown is: a normal reaction above its floor, a reaction in one direction of a row, a slip."""

NOTHING, NO_ROW = np.int64(0), np.int64(-1)
"""A count before the first, and in place of a row. For plain constants numba would compile parts anew."""


@part
def note_unknown(m, count, what, contact, row, sign):
    """Add an unknown to the list in m.pushes, four numbers each; returns how many there are with it."""
    entry = wholes(m.pushes + 32 * count)
    entry[0], entry[1], entry[2], entry[3] = what, contact, row, sign
    return count + 1


@part
def list_unknowns(m):
    """List the unknowns z, each by what it is, its contact, its row and its direction; returns how many there are."""
    first, rows, kinds, bound = wholes(m.first), wholes(m.rows), wholes(m.kinds), reals(m.bound)
    count = NOTHING
    for i in range(m.k):
        at = first[i]
        if kinds[i] != BOUND and kinds[i] != FREE:
            count = note_unknown(m, count, NORMAL_PUSH, i, at, 1)
            at += 1
        if kinds[i] == FREE or bound[i] > 0.0:
            for j in range(at, first[i] + rows[i]):
                count = note_unknown(m, count, PUSH, i, j, 1)
                count = note_unknown(m, count, PUSH, i, j, -1)
        if (kinds[i] == CONE or kinds[i] == BOUND) and bound[i] > 0.0:
            count = note_unknown(m, count, SLIP, i, at, 1)
    return count


@part
def coefficient(m, one, other):
    """M of two unknowns."""
    a, c = wholes(m.pushes + 32 * one), wholes(m.pushes + 32 * other)
    if a[0] == SLIP:
        if a[1] != c[1] or c[0] == SLIP:
            return 0.0
        return reals(m.bound)[a[1]] if c[0] == NORMAL_PUSH else -1.0
    if c[0] == SLIP:
        return 1.0 if a[1] == c[1] and a[0] == PUSH else 0.0
    return a[3] * c[3] * reals(m.w)[a[2] * m.n + c[2]]


@part
def offset(m, one):
    """q of an unknown: the motion of its row, or the friction that is left over, without any z."""
    a, i = wholes(m.pushes + 32 * one), wholes(m.pushes + 32 * one)[1]
    first, kinds, floor = wholes(m.first), wholes(m.kinds), reals(m.floor)
    if a[0] == SLIP:
        return reals(m.bound)[i] * (floor[i] if kinds[i] == CONE else 1.0)
    total, w = reals(m.b)[a[2]], reals(m.w)
    for c in range(m.k):
        if floor[c] > 0.0:
            total += w[a[2] * m.n + first[c]] * floor[c]
    return a[3] * total


@part
def write_dictionary(m, count):
    """Write w = M z + 1 z0 + q; all w are basic."""
    width, table = count + 2, reals(m.table)
    basic, place = wholes(m.basic), wholes(m.place)
    nonbasic = wholes(m.nonbasic)
    for i in range(count):
        for j in range(count):
            table[i * width + j] = coefficient(m, i, j)
        table[i * width + count] = 1.0
        table[i * width + count + 1] = offset(m, i)
        basic[i], nonbasic[i] = i, count + i
        place[i], place[count + i] = i, -1 - i
    nonbasic[count] = 2 * count
    place[2 * count] = -1 - count


@part
def exchange_variables(m, count, row, column):
    """Let the unknown of `column` enter and that of `row` leave the basis; returns the one that left."""
    width, table = count + 2, reals(m.table)
    basic, nonbasic, place = wholes(m.basic), wholes(m.nonbasic), wholes(m.place)
    own = reals(m.table + 8 * row * width)
    inverse = 1.0 / own[column]
    for j in range(width):
        own[j] *= -inverse
    own[column] = inverse
    for i in range(count):
        factor = table[i * width + column]
        if i != row and factor != 0.0:
            table[i * width + column] = 0.0
            add_multiple(width, factor, own, reals(m.table + 8 * i * width))
    left, entered = basic[row], nonbasic[column]
    basic[row], nonbasic[column] = entered, left
    place[entered], place[left] = row, -1 - column
    return left


@part
def inverse_entry(m, count, row, j):
    """Entry (row, j) of the inverse basis: how much the basic variable of `row` grows with q_j."""
    at = wholes(m.place)[j]
    if at >= 0:
        return 1.0 if at == row else 0.0
    return -reals(m.table)[row * (count + 2) - 1 - at]


@part
def comes_first(m, count, one, other, column):
    """Whether row `one` is lexicographically before row `other` in the ratio test of a column."""
    width, table = count + 2, reals(m.table)
    a, c = -table[one * width + column], -table[other * width + column]
    difference = table[one * width + count + 1] / a - table[other * width + count + 1] / c
    if abs(difference) > SMALLEST * m.size:
        return difference < 0.0
    if wholes(m.basic)[one] == 2 * count or wholes(m.basic)[other] == 2 * count:
        return wholes(m.basic)[one] == 2 * count
    for j in range(count):
        difference = inverse_entry(m, count, one, j) / a - inverse_entry(m, count, other, j) / c
        if abs(difference) > SMALLEST:
            return difference < 0.0
    return False


@part
def leaving_row(m, count, column):
    """The row whose variable reaches 0 first when that of the column grows; −1 if none does."""
    width, table, best = count + 2, reals(m.table), NO_ROW
    for i in range(count):
        if table[i * width + column] < -SMALLEST and (best < 0 or comes_first(m, count, i, best, column)):
            best = i
    return best


@part
def worst_row(m, count):
    """The row of the smallest w, the last of equal ones; −1 if none is negative."""
    width, table, best, least = count + 2, reals(m.table), NO_ROW, 0.0
    for i in range(count):
        value = table[i * width + count + 1]
        if value < least or (best >= 0 and value == least):
            best, least = i, value
    return best


@part
def pivot_to_solution(m, count):
    """Exchange variables until z0 has left; False if it cannot."""
    row = worst_row(m, count)
    if row < 0:
        return True
    left = exchange_variables(m, count, row, count)
    place = wholes(m.place)
    for _ in range(PIVOTS * count):
        entering = left + count if left < count else left - count
        column = -1 - place[entering]
        row = leaving_row(m, count, column)
        if row < 0:
            return False
        left = exchange_variables(m, count, row, column)
        if left == 2 * count:
            return True
    return False


@part
def lemke_start(m):
    """Set r to the solution of the complementarity problem, if it is found; whether it was."""
    count = list_unknowns(m)
    write_dictionary(m, count)
    if not pivot_to_solution(m, count):
        return False
    first, floor, r, place, table = wholes(m.first), reals(m.floor), reals(m.r), wholes(m.place), reals(m.table)
    for j in range(m.n):
        r[j] = 0.0
    for i in range(m.k):
        if floor[i] > 0.0:
            r[first[i]] = floor[i]
    for i in range(count):
        a, row = wholes(m.pushes + 32 * i), place[count + i]
        if a[0] != SLIP and row >= 0:
            r[a[2]] += a[3] * table[row * (count + 2) + count + 1]
    return True
