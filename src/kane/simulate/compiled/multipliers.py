"""Multipliers of constraints from the factors of the solve, by a program of its own, compiled when they are asked for.

M u̇ = f + Aᵀ λ. In comes what the program of `embedded` takes, which is called for u̇ and leaves the QR of the rows, from
which λ follows by a triangle and the reflections. Out go λ of many states, or functions of a state and λ that events
watch. `m` is a record of type `embedded.MEMORY`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ...constraints.thresholds import ROUNDING, SINGULAR
from .call import call, call_with, part, reals, wholes
from .embedded import MULTIPLIERS, WATCH, record
from .linear import padded_length, scale_rows, scales, triangularize
from .step import copy_numbers
from .store import program

ONE = np.int64(1)
"""How far it is from one number to the next of a vector. For a plain constant numba would compile `scales` anew."""


@part
def apply_factor(m, rows, x):
    """Replace x, (rows,), by Q x, with Q of the QR that `triangularize` has made."""
    shares, swaps = reals(m.shares), wholes(m.swaps)
    for k in range(m.rank - 1, -1, -1):
        v, total = reals(m.v + 8 * k * rows), 0.0
        for i in range(k, rows):
            total += v[i] * x[i]
        total *= shares[k]
        for i in range(k, rows):
            x[i] += total * v[i]
        x[k], x[swaps[k]] = x[swaps[k]], x[k]


@part
def constraint_efforts(n, mass, f, x, target):
    """Set g = M x − f, what constraints have to give, (n,); all of them addresses."""
    M, efforts, found, g = reals(mass), reals(f), reals(x), reals(target)
    for i in range(n):
        total = -efforts[i]
        for j in range(n):
            total += M[i * n + j] * found[j]
        g[i] = total


@part
def solve_multipliers(m, rows, groups, g, target):
    """Set λ, (rows,), at the address `target` to what satisfies Aᵀ λ = g, (n,), after A has been factored.

    With D A S = Q R Πᵀ as it was factored, D the lengths of groups and S the units of the unknowns, R11ᵀ ν = (S g)_D
    and λ = D Q (ν, z). z is 0 where no row is redundant, else what makes Σ (weight λ)² least: of all λ that do the
    same, the one of least norm.
    """
    n, rank, width = m.n, m.rank, padded_length(m.n + 1)
    units, order, w, nu = reals(m.scale), wholes(m.order), reals(m.w), reals(m.row)
    efforts, factors, of = reals(g), reals(m.longest), wholes(groups)
    for i in range(rank):
        total = units[order[i]] * efforts[order[i]]
        for k in range(i):
            total -= w[k * width + i] * nu[k]
        nu[i] = total / w[i * width + i]
    values = reals(target)
    nothing = efforts[0] - efforts[0] if n > 0 else 0.0  # 0, or nan where there is no answer
    for i in range(rows):
        values[i] = nu[i] if i < rank else nothing
    apply_factor(m, rows, values)
    for i in range(rows):
        values[i] *= factors[of[i]]
    if rank < rows:
        remove_undetermined(m, rows, of, values)


@part
def remove_undetermined(m, rows, groups, values):
    """Take from λ in `values` what the null space of Aᵀ has of it, so that Σ (weight λ)² is least.

    The null space D Q (0, e_j), times the weights, is made orthonormal vector after vector in m.null.
    """
    factors, weights = reals(m.longest), reals(m.weight)
    for i in range(rows):
        values[i] *= weights[i]
    for j in range(rows - m.rank):
        b = reals(m.null + 8 * j * rows)
        for i in range(rows):
            b[i] = 1.0 if i == m.rank + j else 0.0
        apply_factor(m, rows, b)
        size = 0.0
        for i in range(rows):
            b[i] *= factors[groups[i]] * weights[i]
            size += b[i] * b[i]
        left = remove_directions(m, rows, j, b)
        inverse = 1.0 / math.sqrt(left) if left > ROUNDING * ROUNDING * size else 0.0
        for i in range(rows):
            b[i] *= inverse
        total = 0.0
        for i in range(rows):
            total += b[i] * values[i]
        for i in range(rows):
            values[i] -= total * b[i]
    for i in range(rows):
        values[i] /= weights[i]


@part
def remove_directions(m, rows, count, b):
    """Take the first `count` directions in m.null out of b; returns what is left of its square."""
    for k in range(count):
        e, total = reals(m.null + 8 * k * rows), 0.0
        for i in range(rows):
            total += e[i] * b[i]
        for i in range(rows):
            b[i] -= total * e[i]
    left = 0.0
    for i in range(rows):
        left += b[i] * b[i]
    return left


@part
def write_multipliers(m, source, target):
    """Write λ for the inputs at `source`."""
    r = record(m.rates)
    call_with(m.embedding, m.rates, source, r.y)
    constraint_efforts(r.n, r.mass, r.f, r.y + 8 * r.coordinates, r.product)
    solve_multipliers(r, r.rows, r.groups, r.product, target)


@part
def sample_multipliers(m, samples, target):
    """Write λ of Aᵀ λ = g for many samples.

    `samples` is the address of [how many, address of A (rows, n) of each, of its M_jj (n,), of g (n,), of `rank`
    (int64)].
    """
    given = wholes(samples)
    n, rows = m.n, m.rows
    units, ranks = reals(m.scale), wholes(given[4])
    for i in range(given[0]):
        mass, a = reals(given[2] + 8 * i * n), reals(given[1] + 8 * i * rows * n)
        good = scales(n, mass, ONE, units) and scale_rows(m, rows, a, reals(m.b), wholes(m.groups), reals(m.sizes))
        m.rank = triangularize(m, rows, SINGULAR) if good else 0
        ranks[i] = m.rank if good else -1
        solve_multipliers(m, rows, m.groups, given[3] + 8 * i * n, target + 8 * i * rows)


@program(types.void(types.int64, types.int64, types.int64))
def multiplier_program(source, target, memory):
    """Do what the task in the record at `memory` says: functions of the inputs at `source` and λ, or λ of many
    samples, `source` being the address of [how many, address of their inputs], or of given rows and efforts."""
    m = record(memory)
    if m.task == MULTIPLIERS:
        sample_multipliers(m, source, target)
        return
    watching = m.task == WATCH
    given = wholes(source)
    for i in range(1 if watching else given[0]):
        inputs = source if watching else given[1] + 8 * i * m.inputs
        write_multipliers(m, inputs, m.x + 8 * m.inputs if watching else target + 8 * i * m.rows)
    if watching:
        copy_numbers(m.inputs, source, m.x)
        call(m.watch, m.x, target)
