"""Vectors in the metric of the mass: M = L Lᵀ, z = Lᵀ u̇, rows y = L⁻¹ a, and orthonormal bases of rows.

Lengths in z are those of the mass, so that a step along a basis has the least kinetic energy.
"""

from __future__ import annotations

import math

from ...constraints.thresholds import NO_MASS, REDUNDANT
from .call import part, reals, wholes
from .step import copy_numbers


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
    """M = L Lᵀ into c.chol, without what lies before the first number of a row, and the blocks that M consists of;
    False where some direction moves no mass."""
    n = c.n
    mass, chol, start, block = reals(c.mass), reals(c.chol), wholes(c.start), wholes(c.block)
    for i in range(n):
        first, row = start[i], c.mass + 8 * i * n
        if inner(first, row, row) != 0.0:  # something is before where the row began the last time
            first = 0
        while first < i and mass[i * n + first] == 0.0:
            first += 1
        start[i] = first
        for j in range(first, i + 1):
            total = mass[i * n + j]
            for k in range(max(first, start[j]), j):
                total -= chol[i * n + k] * chol[j * n + k]
            if i == j:
                if not total > NO_MASS * mass[i * n + i]:
                    return False
                chol[i * n + i] = math.sqrt(total)
            else:
                chol[i * n + j] = total / chol[j * n + j]
        for j in range(first):
            chol[i * n + j] = 0.0
    least = n
    for j in range(n):
        i = n - 1 - j
        least = min(least, start[i])
        block[i] = 1 if least == i else 0
    for i in range(n):
        block[i] = i if block[i] == 1 else block[i - 1]
    return True


@part
def to_z(c, source, target):
    """L⁻¹ times the numbers at `source`."""
    n = c.n
    chol, b, x, start = reals(c.chol), reals(source), reals(target), wholes(c.start)
    for i in range(n):
        total = b[i]
        for k in range(start[i], i):
            total -= chol[i * n + k] * x[k]
        x[i] = total / chol[i * n + i] if total != 0.0 else 0.0  # most are, and divisions are slow


@part
def from_z(c, source, target):
    """L⁻ᵀ times the numbers at `source`, which may be the target."""
    n = c.n
    chol, x, start = reals(c.chol), reals(target), wholes(c.start)
    if source != target:
        copy_numbers(n, source, target)
    for j in range(n):
        i = n - 1 - j
        x[i] /= chol[i * n + i]
        for k in range(start[i], i):
            x[k] -= chol[i * n + k] * x[i]


@part
def along_speeds(c, speeds, vector):
    """u · L z: the power along the speeds at an address of forces that are z in the metric, or energy of impulses."""
    n, total = c.n, 0.0
    chol, start, u, z = reals(c.chol), wholes(c.start), reals(speeds), reals(vector)
    for i in range(n):
        for k in range(start[i], i + 1):
            total += u[i] * chol[i * n + k] * z[k]
    return total


@part
def span_rows(c, size):
    """Orthonormal basis of the `size` rows in c.span, which are changed, and what z is along it, c.beta, where the rows
    times z are c.aim; returns the rank.

    The row of which most is left, beside its length, goes first: of rows that almost depend on each other the last one
    has the error, and none of those behind it takes that for a direction of its own.
    """
    n = c.n
    aim, left, beta, order = reals(c.aim), reals(c.left), reals(c.beta), wholes(c.pivot_row)
    for i in range(size):
        row = c.span + 8 * i * n
        length = math.sqrt(inner(n, row, row))
        left[i], order[i] = 1.0 if length > 0.0 else 0.0, i
        if length > 0.0:
            add_multiple(n, row, 1.0 / length - 1.0, row)
            aim[i] /= length
    for count in range(min(size, n)):
        best = count
        for i in range(count + 1, size):
            if left[order[i]] > left[order[best]]:
                best = i
        order[count], order[best] = order[best], order[count]
        row, e, i = c.span + 8 * order[count] * n, c.basis + 8 * count * n, order[count]
        if not left[i] > REDUNDANT:
            return count
        for k in range(count):
            share = inner(n, row, c.basis + 8 * k * n)
            add_multiple(n, row, -share, c.basis + 8 * k * n)
            aim[i] -= share * beta[k]
        length = math.sqrt(inner(n, row, row))
        fill(n, 0.0, e)
        add_multiple(n, e, 1.0 / length, row)
        beta[count] = aim[i] / length
        for k in range(count + 1, size):
            other = c.span + 8 * order[k] * n
            share = inner(n, other, e)
            add_multiple(n, other, -share, e)
            aim[order[k]] -= share * beta[count]
            left[order[k]] = math.sqrt(inner(n, other, other))
    return min(size, n)


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
