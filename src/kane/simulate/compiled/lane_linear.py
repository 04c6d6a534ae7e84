"""What `linear` does, for LANES systems at once: x that satisfies A x = b and makes xᵀ M x / 2 − f·x least.

Every number goes through the same operations in the same order as alone, so that its bits are the same. Systems choose
pivots of their own: columns and rows are exchanged lane by lane where the choices differ. They have to agree in the
rank of their rows. A lane that does not, or has no answer, or meets what is not a number, is left to whoever called:
`good` has a bit for each lane that is fine.

`m` is a record of type `embedded.MEMORY` of which all arrays of a run's own have LANES numbers in place of each; rows
are not filled up. Addresses count in ROW bytes there.
"""

from __future__ import annotations

import math

import numpy as np

from ...backends.kernel import LANES
from ...constraints.thresholds import MASS_FLOOR, NO_MASS, ROUNDING
from .call import part, reals, wholes
from .lane_values import (
    EVERY,
    ROW,
    above,
    at_least,
    bits,
    both,
    choose,
    differs,
    from_bits,
    fused,
    gather,
    gather_pair,
    load,
    minus,
    negative,
    over,
    plus,
    root,
    scatter,
    size,
    splat,
    store,
    times,
)
from .linear import REFRESH


@part
def first_lane(good):
    """The first lane that is good, of at least one."""
    for lane in range(LANES):
        if (good >> lane) & 1:
            return np.int64(lane)
    return np.int64(0)


@part
def scales(m, n, mass):
    """As `linear.scales`; the bits of lanes whose masses are numbers."""
    zero, total = splat(0.0), splat(0.0)
    for j in range(n):
        total = plus(total, load(mass + ROW * j * (n + 1)))
    least = over(times(splat(MASS_FLOOR), total), splat(float(n)))
    least = choose(differs(total, zero), least, splat(1.0))
    for j in range(n):
        heavy = load(mass + ROW * j * (n + 1))
        heavy = choose(above(heavy, zero), heavy, zero)
        store(m.scale + ROW * j, over(splat(1.0), root(plus(heavy, least))))
    return bits(both(at_least(total, zero), above(splat(math.inf), total)))


@part
def square_row(n, row):
    """The sum of squares of a row, four sums at a time as rows are read alone."""
    one, two, three, four = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    for j in range(0, n, 4):
        x = load(row + ROW * j)
        one = plus(one, times(x, x))
        if j + 1 < n:
            x = load(row + ROW * (j + 1))
            two = plus(two, times(x, x))
        if j + 2 < n:
            x = load(row + ROW * (j + 2))
            three = plus(three, times(x, x))
        if j + 3 < n:
            x = load(row + ROW * (j + 3))
            four = plus(four, times(x, x))
    return plus(plus(one, two), plus(three, four))


@part
def scale_rows(m, rows, a, b, groups, sizes):
    """As `linear.scale_rows`; the bits of lanes in which all is a number and not at a pole."""
    n = m.n
    fault, least, zero = splat(0.0), splat(math.inf), splat(0.0)
    for j in range(n):
        store(m.square + ROW * j, zero)
        unit = load(m.scale + ROW * j)
        least = choose(above(least, unit), unit, least)
    for i in range(rows):
        store(m.longest + ROW * i, zero)
    for i in range(rows):
        at, to = a + ROW * i * n, m.w + ROW * i * (n + 1)
        for j in range(n):
            store(to + ROW * j, times(load(at + ROW * j), load(m.scale + ROW * j)))
        length, longest = square_row(n, to), m.longest + ROW * groups[i]
        store(longest, choose(above(length, load(longest)), length, load(longest)))
        right = load(b + ROW * i)
        fault = plus(fault, plus(minus(length, length), minus(right, right)))
    for i in range(rows):
        rounding, longest = splat(0.0), load(m.longest + ROW * i)
        if sizes[i] > 0.0:
            rounding = times(splat(ROUNDING * sizes[i]), least)
            pole = above(times(splat(ROUNDING * ROUNDING), root(longest)), rounding)
            fault = plus(fault, choose(both(pole, above(rounding, zero)), splat(1.0), zero))
        inverse = over(splat(1.0), root(longest))
        store(m.longest + ROW * i, choose(above(longest, times(rounding, rounding)), inverse, zero))
    for i in range(rows):
        factor, to = load(m.longest + ROW * groups[i]), m.w + ROW * i * (n + 1)
        for j in range(n):
            x = times(factor, load(to + ROW * j))
            store(to + ROW * j, x)
            store(m.square + ROW * j, plus(load(m.square + ROW * j), times(x, x)))
        store(to + ROW * n, times(negative(factor), load(b + ROW * i)))
    return bits(at_least(zero, size(fault)))


@part
def pivot(m, rows, k, floor):
    """As `linear.pivot`: the column of each lane."""
    n = m.n
    best, longest = splat(float(k)), splat(-1.0)
    for j in range(k, n):
        length, summed = load(m.square + ROW * j), load(m.summed + ROW * j)
        lost = both(above(times(splat(REFRESH), summed), length), above(summed, floor))
        if bits(lost) != 0:
            total = splat(0.0)
            for i in range(k, rows):
                x = load(m.w + ROW * (i * (n + 1) + j))
                total = plus(total, times(x, x))
            length = choose(lost, total, length)
            store(m.square + ROW * j, length)
            store(m.summed + ROW * j, choose(lost, total, summed))
        longer = above(length, longest)
        best, longest = choose(longer, splat(float(j)), best), choose(longer, length, longest)
    return best


@part
def exchange(where, one, other):
    """Exchange a number in some lanes."""
    x, y = load(one), load(other)
    if bits(where) == EVERY:
        store(one, y)
        store(other, x)
    else:
        store(one, choose(where, y, x))
        store(other, choose(where, x, y))


@part
def exchange_columns(m, rows, k, best):
    """Exchange the column k with that which each lane has chosen, of which k is not looked at again in m.square and
    m.summed."""
    width, w, order, square, summed = ROW * (m.n + 1), m.w, m.order, m.square, m.summed
    left = EVERY & bits(differs(best, splat(float(k))))
    for j in range(k + 1, m.n):
        if left == 0:
            return
        chosen = left & ~bits(differs(best, splat(float(j))))
        if chosen == 0:
            continue
        where, left = from_bits(chosen), left & ~chosen
        for at in range(w, w + rows * width, width):
            exchange(where, at + ROW * k, at + ROW * j)
        exchange(where, order + ROW * k, order + ROW * j)
        exchange(where, square + ROW * k, square + ROW * j)
        exchange(where, summed + ROW * k, summed + ROW * j)


@part
def exchange_rows(m, rows, k, best):
    """Exchange the row k, from column k on, with that which each lane has chosen, and the numbers of m.v."""
    width, w, v = ROW * (m.n + 1), m.w, m.v
    left = EVERY & bits(differs(best, splat(float(k))))
    for i in range(k + 1, rows):
        if left == 0:
            return
        chosen = left & ~bits(differs(best, splat(float(i))))
        if chosen == 0:
            continue
        where, left = from_bits(chosen), left & ~chosen
        exchange(where, v + ROW * k, v + ROW * i)
        for j in range(ROW * k, width, ROW):
            exchange(where, w + k * width + j, w + i * width + j)


@part
def add_multiple(where, value, source, target, length):
    """Add `value` times the row at `source` to that at `target`, both of so many bytes, in the lanes `where`."""
    some = bits(where)
    if some == 0:
        return
    if some == EVERY:
        for j in range(0, length, ROW):
            store(target + j, fused(value, load(source + j), load(target + j)))
    else:
        for j in range(0, length, ROW):
            x = load(target + j)
            store(target + j, choose(where, fused(value, load(source + j), x), x))


@part
def column_below(m, rows, k):
    """(length of column k from row k on, where something lies below row k); the column is in m.v, the row that is
    largest in it at the place k."""
    width, zero = m.n + 1, splat(0.0)
    best, total, largest, below = splat(float(k)), splat(0.0), splat(0.0), splat(0.0)
    for i in range(k, rows):
        value = load(m.w + ROW * (i * width + k))
        store(m.v + ROW * i, value)
        total = plus(total, times(value, value))
        if i > k:
            below = choose(differs(value, zero), splat(1.0), below)
        larger = above(size(value), largest)
        best, largest = choose(larger, splat(float(i)), best), choose(larger, size(value), largest)
    exchange_rows(m, rows, k, best)
    return root(total), above(below, zero)


@part
def reflect(m, rows, k, length, where):
    """As `linear.reflect` in the lanes `where`."""
    width, w, v, row, zero = ROW * (m.n + 1), m.w, m.v, m.row, splat(0.0)
    corner, first = load(v + ROW * k), ROW * (k + 1)
    signed = choose(at_least(corner, zero), length, negative(length))
    store(v + ROW * k, plus(corner, signed))
    share = over(splat(-1.0), times(length, plus(length, size(corner))))
    for j in range(first, width, ROW):
        store(row + j, zero)
    for i in range(k, rows):
        value = load(v + ROW * i)
        add_multiple(differs(value, zero), value, w + i * width + first, row + first, width - first)
    for i in range(k, rows):
        value = times(share, load(v + ROW * i))
        add_multiple(both(where, differs(value, zero)), value, row + first, w + i * width + first, width - first)
    at = w + k * width + ROW * k
    store(at, choose(where, negative(signed), load(at)))


@part
def triangularize(m, rows, tolerance, good):
    """(rank, good): as `linear.triangularize`; lanes whose rank differs from that of the first good one are not."""
    n = m.n
    width, order = n + 1, wholes(m.order)
    for j in range(n):
        for lane in range(LANES):
            order[LANES * j + lane] = j
        store(m.summed + ROW * j, load(m.square + ROW * j))
    most = min(rows, n)
    least, floor = splat(0.0), splat(0.0)
    for k in range(most):
        exchange_columns(m, rows, k, pivot(m, rows, k, floor))
        length, below = column_below(m, rows, k)
        if k == 0:
            least = times(splat(tolerance), length)
            floor = times(least, least)
        goes_on = bits(above(length, least)) & good
        if not (goes_on >> first_lane(good)) & 1:
            return k, good & ~goes_on
        good = goes_on
        if bits(below) != 0:
            reflect(m, rows, k, length, below)
        for j in range(k + 1, n):
            x = load(m.w + ROW * (k * width + j))
            store(m.square + ROW * j, minus(load(m.square + ROW * j), times(x, x)))
    return most, good


@part
def eliminate(m, rank):
    """As `linear.eliminate`: [D | E] of x_D = D x_I + E in m.x_dependent."""
    width, side, w, target, zero = ROW * (m.n + 1), ROW * (m.n - rank + 1), m.w, m.x_dependent, splat(0.0)
    for i in range(rank):
        for j in range(0, side, ROW):
            store(target + i * side + j, load(w + i * width + ROW * rank + j))
    for back in range(rank):
        i = rank - 1 - back
        at = target + i * side
        inverse = over(splat(-1.0), load(w + i * width + ROW * i))
        for j in range(0, side, ROW):
            store(at + j, times(inverse, load(at + j)))
        for k in range(i):
            value = load(w + k * width + ROW * i)
            add_multiple(differs(value, zero), value, at, target + k * side, side)


@part
def pick(base, alike, numbers):
    """The row from `base` on with the number `alike`, or, where that is below 0, of each lane its own as `gather`."""
    if alike >= 0:
        return load(base + ROW * alike)
    return gather(base, numbers)


@part
def mass_row(m, a, mass, f, share, target):
    """As `linear.mass_row`: m.row is the dependent part of row `a` of M, the independent one, then −f_a, goes to
    `target`. Units are in m.square, in the order of m.order; m.summed is what that is in all lanes, −1 where they
    differ."""
    n, rank, order, units, row, alike = m.n, m.rank, m.order, m.square, m.row, wholes(m.summed)
    own, unit = order + ROW * a, load(units + ROW * a)
    for j in range(n):
        if alike[a] >= 0 and alike[j] >= 0:
            x = load(mass + ROW * (alike[a] * n + alike[j]))
        else:
            x = gather_pair(mass, n, own, order + ROW * j)
        x = times(times(unit, load(units + ROW * j)), x)
        if j == a:
            x = plus(x, splat(share))
        store(row + ROW * j if j < rank else target + ROW * (j - rank), x)
    store(target + ROW * (n - rank), times(negative(unit), pick(f, alike[a], own)))


@part
def add_products(first, side, target, count, factors, next_factor, source):
    """Add `count` rows of length `side` at `source`, each times its factor, to that at `target`, from `first` on."""
    for j in range(ROW * first, ROW * side, ROW):
        total = load(target + j)
        for i in range(count):
            total = fused(load(factors + i * next_factor), load(source + ROW * i * side + j), total)
        store(target + j, total)


@part
def reduce_system(m, mass, f, share):
    """As `linear.reduce_system`: the upper triangle of m.k."""
    rank, free = m.rank, m.n - m.rank
    side = free + 1
    for a in range(rank):
        target = m.product + ROW * a * side
        mass_row(m, a, mass, f, share, target)
        add_products(np.int64(0), side, target, rank, m.row, np.int64(ROW), m.x_dependent)
    for i in range(free):
        target = m.k + ROW * i * side
        mass_row(m, rank + i, mass, f, share, target)
        add_products(i, side, target, rank, m.row, np.int64(ROW), m.x_dependent)
        add_products(i, side, target, rank, m.x_dependent + ROW * i, ROW * side, m.product)


@part
def cholesky(m, free, good):
    """As `linear.cholesky` of m.k; the bits of lanes in which it is positive definite."""
    side, k, row, zero = ROW * (free + 1), m.k, m.row, splat(0.0)
    for i in range(free):
        store(row + ROW * i, load(k + i * side + ROW * i))
    for i in range(free):
        at = k + i * side
        pivot = load(at + ROW * i)
        good &= bits(above(pivot, times(splat(NO_MASS), load(row + ROW * i))))
        inverse = over(splat(1.0), root(pivot))
        for j in range(ROW * i, side, ROW):
            store(at + j, times(inverse, load(at + j)))
        for j in range(i + 1, free):
            value = negative(load(at + ROW * j))
            add_multiple(differs(value, zero), value, at + ROW * j, k + j * side + ROW * j, side - ROW * j)
    for back in range(free):
        i = free - 1 - back
        at = k + i * side
        total = negative(load(at + ROW * free))
        for j in range(i + 1, free):
            total = minus(total, times(load(at + ROW * j), load(k + j * side + ROW * free)))
        store(at + ROW * free, over(total, load(at + ROW * i)))
    return good


@part
def write_solution(m, x):
    """Set x from the independent unknowns in m.k and m.x_dependent; the bits of lanes in which all are numbers."""
    rank, free = m.rank, m.n - m.rank
    side, fault, alike = free + 1, splat(0.0), wholes(m.summed)
    for i in range(rank + free):
        if i < rank:
            at = m.x_dependent + ROW * i * side
            total = load(at + ROW * free)
            for j in range(free):
                total = plus(total, times(load(at + ROW * j), load(m.k + ROW * (j * side + free))))
        else:
            total = load(m.k + ROW * ((i - rank) * side + free))
        total = times(load(m.square + ROW * i), total)
        fault = plus(fault, minus(total, total))
        if alike[i] >= 0:
            store(x + ROW * alike[i], total)
        else:
            scatter(total, x, m.order + ROW * i)
    return bits(at_least(splat(0.0), size(fault)))


@part
def solve_lanes(m, rows, groups, sizes, a, b, mass, f, tolerance, share, x, good):
    """As `linear.solve_constrained` for the lanes `good`; the bits of those that have an answer in x."""
    n = m.n
    good &= scales(m, n, mass)
    good &= scale_rows(m, rows, a, b, wholes(groups), reals(sizes))
    if good == 0:
        return good
    m.rank, good = triangularize(m, rows, tolerance, good)
    eliminate(m, m.rank)
    order, alike = wholes(m.order), wholes(m.summed)
    for j in range(n):
        alike[j] = order[LANES * j]
        for lane in range(1, LANES):
            if order[LANES * j + lane] != alike[j]:
                alike[j] = -1
        store(m.square + ROW * j, pick(m.scale, alike[j], m.order + ROW * j))
    free = n - m.rank
    if free > 0:
        reduce_system(m, mass, f, share)
        good = cholesky(m, free, good)
    return good & write_solution(m, x)
