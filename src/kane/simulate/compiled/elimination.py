"""Small linear systems that may be singular: full pivoting, and of all solutions that with the least sum of squares."""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import REDUNDANT
from .call import part, reals, wholes
from .changing_record import NONE, TIERS
from .mass_metric import add_multiple
from .step import copy_numbers


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
def weighted_product(c, size, tier, a, b):
    """Σ w a b over the unknowns of a tier."""
    w, x, y, of = reals(c.weight), reals(a), reals(b), wholes(c.tier)
    total = 0.0
    for i in range(size):
        if of[i] == tier:
            total += w[i] * x[i] * y[i]
    return total


@part
def next_direction(c, size, tier, done, count):
    """(tier, which) of the directions in c.null from `done` on has the largest part in the unknowns of the tier, or of
    the next one in which they have a part at all."""
    while True:
        best, most = done, 0.0
        for e in range(done, count):
            direction = c.null + 8 * e * size
            here, behind = weighted_product(c, size, tier, direction, direction), 0.0
            for later in range(tier + 1, TIERS):
                behind += weighted_product(c, size, later, direction, direction)
            if here > most * (here + behind):
                best, most = e, here / (here + behind)
        if most > REDUNDANT or tier == TIERS - 1:
            return tier, best
        tier += 1


@part
def move_to_least(c, size, rank, k, right, solution):
    """Move the unknowns of a triangular system along the directions in c.null to where Σ w x² of the first tier, x
    being measured from c.near, is least, of all such places to where that of the second is, and so on; makes directions
    orthonormal in this sense. What is determined is set anew, since weights may differ much."""
    count, tier = size - rank, np.int64(0)
    for e in range(count):
        tier, best = next_direction(c, size, tier, e, count)
        if best != e:
            copy_numbers(size, c.null + 8 * e * size, c.swap)
            copy_numbers(size, c.null + 8 * best * size, c.null + 8 * e * size)
            copy_numbers(size, c.swap, c.null + 8 * best * size)
        direction = c.null + 8 * e * size
        length = math.sqrt(weighted_product(c, size, tier, direction, direction))
        add_multiple(size, direction, 1.0 / length - 1.0, direction)
        for _ in range(2):
            away = weighted_product(c, size, tier, solution, direction) - weighted_product(
                c, size, tier, c.near, direction
            )
            add_multiple(size, solution, -away, direction)
        for other in range(e + 1, count):
            behind = c.null + 8 * other * size
            add_multiple(size, behind, -weighted_product(c, size, tier, behind, direction), direction)
    set_pivot_unknowns(c, size, rank, k, right, solution)


@part
def solve_least(c, size, k, right, solution):
    """Solve the system k (size, size) x = right, rows and columns in units of c.scale; returns its rank. Where unknowns
    are not determined the sum of their squares is least, in these units: with the weights of c.weight, and tier after
    tier of c.tier."""
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
