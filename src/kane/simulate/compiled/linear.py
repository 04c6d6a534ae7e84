"""Linear algebra of a constrained system: x that satisfies A x = b and makes xᵀ M x / 2 − f·x least.

That is M x = f + Aᵀ λ, A x = b without its multipliers, by recombination [GIL03, Eqs. 44-45]: a pivoted QR of A gives
dependent from independent unknowns, x = N x_I + N0, and (Nᵀ M N) x_I = Nᵀ (f − M N0) is solved by Cholesky. Rows that
follow from others vanish in the QR and cost nothing; rows that contradict each other are met in the least squares.
λ can be had from the factors of the same QR (`multipliers`).

Unknowns are measured in units of 1 / sqrt(M_jj), so that metres and radians compare.
Matrices are row by row, every inner loop runs along a row, and rows are filled up to whole groups (`lanes`). `m` is a
record of type `embedded.MEMORY`.
"""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import MASS_FLOOR, NO_MASS, ROUNDING
from .call import part, reals, wholes
from .lanes import LANES, WIDE, add, add_rows, add_rows_wide, add_squares, scale

REFRESH = 1e-6
"""A column norm that fell below this part of where it was last summed has lost digits and is summed again."""

START, NUMBER = np.int64(0), np.int64(8)
"""Where a row begins, and bytes from one number to the next. For plain constants numba would compile
`add_products` anew."""


@part
def padded_length(count):
    """`count` rounded up to whole groups: the length of a row."""
    return (count + (LANES - 1)) & -LANES


@part
def scales(n, mass, next_mass, units):
    """Set units[j] = 1 / sqrt(M_jj), small M_jj raised by a share of their mean; False if that is not a number. From
    one M_jj to the next it is so many numbers: n + 1 in a matrix."""
    total = 0.0
    for j in range(n):
        total += mass[j * next_mass]
    least = MASS_FLOOR * total / n
    if not (total >= 0.0 and total < math.inf):
        return False
    if total == 0.0:
        least = 1.0
    for j in range(n):
        units[j] = 1.0 / math.sqrt(max(mass[j * next_mass], 0.0) + least)
    return True


@part
def scale_rows(m, rows, a, b, groups, sizes):
    """Set the rows of m.w to [A | −b], columns scaled, rows divided by the longest of their group, and m.square to the
    norms of the columns.

    A row that alone of its group becomes short is what a singular position looks like, so it must stay short. A group
    of rows that are rounding errors relative to `sizes`, one for each group, becomes zero. False if something is no
    number, or so long relative to them that it is at a pole.
    """
    n = m.n
    width = padded_length(n + 1)
    w, square, units, longest = reals(m.w), reals(m.square), reals(m.scale), reals(m.longest)
    for j in range(width):
        square[j] = 0.0
    for i in range(rows):
        longest[i] = 0.0
    fault, least = 0.0, math.inf
    for j in range(n):
        least = min(least, units[j])
    for i in range(rows):
        at, to = i * n, i * width
        for j in range(n):
            w[to + j] = a[at + j] * units[j]
        for j in range(n, width):
            w[to + j] = 0.0
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for j in range(to, to + width, LANES):
            one += w[j] * w[j]
            two += w[j + 1] * w[j + 1]
            three += w[j + 2] * w[j + 2]
            four += w[j + 3] * w[j + 3]
        length = (one + two) + (three + four)
        longest[groups[i]] = max(longest[groups[i]], length)
        fault += (length - length) + (b[i] - b[i])
    for i in range(rows):
        rounding = ROUNDING * sizes[i] * least if sizes[i] > 0.0 else 0.0
        if rounding > 0.0 and ROUNDING * ROUNDING * math.sqrt(longest[i]) > rounding:
            fault += 1.0
        longest[i] = 1.0 / math.sqrt(longest[i]) if longest[i] > rounding * rounding else 0.0
    for i in range(rows):
        factor, to = longest[groups[i]], m.w + 8 * i * width
        for j in range(0, width, LANES):
            scale(to + 8 * j, factor)
            add_squares(m.square + 8 * j, 1.0, to + 8 * j)
        w[i * width + n] = -factor * b[i]
    return fault == 0.0


@part
def pivot(rows, n, k, w, square, summed, floor):
    """The column of k.. that is longest below row k; norms that have lost digits are summed again on the way."""
    width = padded_length(n + 1)
    best, longest = k, -1.0
    for j in range(k, n):
        size = square[j]
        if size < REFRESH * summed[j] and summed[j] > floor:
            size = 0.0
            for i in range(k, rows):
                value = w[i * width + j]
                size += value * value
            square[j] = size
            summed[j] = size
        if size > longest:
            best, longest = j, size
    return best


@part
def exchange_columns(rows, n, k, j, w, square, summed, order):
    """Exchange the columns k and j, of which k is not looked at again in `square` and `summed`."""
    width = padded_length(n + 1)
    for i in range(rows):
        w[i * width + k], w[i * width + j] = w[i * width + j], w[i * width + k]
    square[j] = square[k]
    summed[j] = summed[k]
    order[k], order[j] = order[j], order[k]


@part
def column_below(rows, n, k, w, v):
    """(length, last row that is not zero, row that came to the place k) of column k from row k on, copied to v.

    The row that is largest in this column comes to the place k: then a reflection harms no row that is small relative
    to others, and what little a short row says is not lost in the rounding of long ones.
    """
    width = padded_length(n + 1)
    last, best, total, largest = k, k, 0.0, 0.0
    for i in range(k, rows):
        value = w[i * width + k]
        v[i] = value
        if value != 0.0:
            last = i
            total += value * value
            if abs(value) > largest:
                best, largest = i, abs(value)
    if best != k:
        v[k], v[best] = v[best], v[k]
        one, two = k * width, best * width
        for j in range(k, n + 1):
            w[one + j], w[two + j] = w[two + j], w[one + j]
    return math.sqrt(total), last, best


@part
def reflect(n, k, length, last, w, v, row):
    """Turn column k of w, which is in v, into (R_kk, 0, ...) by a reflection of all columns to its right; returns
    −1 / (length² + |w_kk| length), and the vector of the reflection is in v.

    H = 1 − v vᵀ / (length² + |w_kk| length) with v = column + sign(w_kk) length e_k. The columns before k, which share
    a group with k + 1, hold nothing any more below row k. w and row are addresses.
    """
    width = padded_length(n + 1)
    first = (k + 1) & -LANES
    corner = v[k]
    signed = length if corner >= 0.0 else -length
    v[k] = corner + signed
    share = -1.0 / (length * (length + abs(corner)))
    sums = reals(row)
    for j in range(first, width):
        sums[j] = 0.0
    for i in range(k, last + 1):
        value = v[i]
        if value != 0.0:
            at = w + 8 * i * width
            for j in range(first, width, LANES):
                add(row + 8 * j, value, at + 8 * j)
    for i in range(k, last + 1):
        value = share * v[i]
        if value != 0.0:
            at = w + 8 * i * width
            for j in range(first, width, LANES):
                add(at + 8 * j, value, row + 8 * j)
    reals(w)[k * width + k] = -signed
    return share


@part
def triangularize(m, rows, tolerance):
    """The rank of [A | −b] in m.w, which is made upper triangular, its columns in the order m.order.

    The rank counts |R_kk| above `tolerance` |R_00|; m.measure is |R_kk| / |R_00| at the place that m.generic names.
    Row k of m.v, (rows,), m.shares and m.swaps keep what was done to the rows for column k: an exchange of row k, then
    the reflection 1 + share v vᵀ.
    """
    n = m.n
    width = padded_length(n + 1)
    w, square, summed, order = reals(m.w), reals(m.square), reals(m.summed), wholes(m.order)
    shares, swaps = reals(m.shares), wholes(m.swaps)
    for j in range(n):
        order[j] = j
        summed[j] = square[j]
    most = min(rows, n)
    largest, floor = 0.0, 0.0
    m.measure = 1.0 if m.generic == 0 else 0.0
    for k in range(most):
        j = pivot(rows, n, k, w, square, summed, floor)
        if j != k:
            exchange_columns(rows, n, k, j, w, square, summed, order)
        v = reals(m.v + 8 * k * rows)
        length, last, swaps[k] = column_below(rows, n, k, w, v)
        shares[k] = 0.0
        if k == 0:
            largest = length
            floor = (tolerance * largest) * (tolerance * largest)
        if k == m.generic - 1 and largest > 0.0:
            m.measure = length / largest
        if not length > tolerance * largest:
            return k
        if last > k:
            shares[k] = reflect(n, k, length, last, m.w, v, m.row)
        at = m.w + 8 * k * width
        for i in range((k + 1) & -LANES, width, LANES):
            add_squares(m.square + 8 * i, -1.0, at + 8 * i)
    return most


@part
def eliminate(rank, n, w, x):
    """Set the rows of x to [D | E] of x_D = D x_I + E from the rows [R11 R12 | −c] of w; x is an address."""
    width, free = padded_length(n + 1), n - rank
    side = padded_length(free + 1)
    target = reals(x)
    for i in range(rank):
        for j in range(free + 1):
            target[i * side + j] = w[i * width + rank + j]
        for j in range(free + 1, side):
            target[i * side + j] = 0.0
    for i in range(rank - 1, -1, -1):
        at = x + 8 * i * side
        inverse = -1.0 / w[i * width + i]
        for j in range(0, side, LANES):
            scale(at + 8 * j, inverse)
        for k in range(i):
            value = w[k * width + i]
            if value != 0.0:
                to = x + 8 * k * side
                for j in range(0, side, LANES):
                    add(to + 8 * j, value, at + 8 * j)


@part
def add_products(first, side, target, count, factors, next_factor, source):
    """Add `count` rows of length `side` at `source`, each times its factor, to that at `target`, from `first` on."""
    j = first
    while j + WIDE <= side:
        add_rows_wide(target + 8 * j, count, factors, next_factor, source + 8 * j, 8 * side)
        j += WIDE
    while j < side:
        add_rows(target + 8 * j, count, factors, next_factor, source + 8 * j, 8 * side)
        j += LANES


@part
def mass_row(m, a, mass, f, share, target):
    """Set m.row to the dependent part of row `a` of M, in scaled unknowns and their order, and the row at the address
    `target` to the independent part, followed by −f_a."""
    n, rank = m.n, m.rank
    free = n - rank
    units, order, row, rest = reals(m.scale), wholes(m.order), reals(m.row), reals(target)
    at = order[a] * n
    unit = units[order[a]]
    for j in range(rank):
        row[j] = unit * units[order[j]] * mass[at + order[j]]
    for j in range(free):
        rest[j] = unit * units[order[rank + j]] * mass[at + order[rank + j]]
    rest[free] = -unit * f[order[a]]
    for j in range(free + 1, padded_length(free + 1)):
        rest[j] = 0.0
    if a < rank:
        row[a] += share
    else:
        rest[a - rank] += share


@part
def reduce_system(m, mass, f, share):
    """Set the upper triangle of m.k to [Nᵀ M N | Nᵀ (M N0 − f)], in scaled unknowns; `share` is added to each M_jj.

    With M and [D | E] in blocks, W = M_DD [D | E] + [M_DI | −f_D] and
    Nᵀ [M N | M N0 − f] = [M_II | −f_I] + M_ID [D | E] + Dᵀ W.
    """
    rank, free = m.rank, m.n - m.rank
    side = padded_length(free + 1)
    for a in range(rank):
        target = m.product + 8 * a * side
        mass_row(m, a, mass, f, share, target)
        add_products(START, side, target, rank, m.row, NUMBER, m.x_dependent)
    for i in range(free):
        target, first = m.k + 8 * i * side, i & -LANES
        mass_row(m, rank + i, mass, f, share, target)
        add_products(first, side, target, rank, m.row, NUMBER, m.x_dependent)
        add_products(first, side, target, rank, m.x_dependent + 8 * i, 8 * side, m.product)


@part
def cholesky(free, address, diagonal):
    """Solve the `free` equations [K | h] whose upper triangle is at `address`, K x + h = 0; x replaces h.

    False if K is not positive definite.
    """
    side = padded_length(free + 1)
    k = reals(address)
    for i in range(free):
        diagonal[i] = k[i * side + i]
    for i in range(free):
        at = i * side
        size = k[at + i]
        if not size > NO_MASS * diagonal[i]:
            return False
        inverse = 1.0 / math.sqrt(size)
        for j in range(i & -LANES, side, LANES):
            scale(address + 8 * (at + j), inverse)
        for j in range(i + 1, free):
            value = -k[at + j]
            if value != 0.0:
                for c in range(j & -LANES, side, LANES):
                    add(address + 8 * (j * side + c), value, address + 8 * (at + c))
    for i in range(free - 1, -1, -1):
        at = i * side
        total = -k[at + free]
        for j in range(i + 1, free):
            total -= k[at + j] * k[j * side + free]
        k[at + free] = total / k[at + i]
    return True


@part
def solve_constrained(m, rows, groups, sizes, a, b, mass, f, tolerance, share, x):
    """Set x, (n,), to what makes xᵀ M x / 2 − f·x least where A x = b; all of them addresses.

    Rows of A with the same number in `groups`, (rows,) int64, compare by length; `sizes` are those of groups without
    cancellation. `tolerance` decides the rank of A, `share` is added to the scaled M_jj. Leaves the rank in m.rank and
    the unknowns, dependent ones first, in m.order. Where there is no answer x is nan.
    """
    n = m.n
    units, k, order, square = reals(m.scale), reals(m.k), wholes(m.order), reals(m.square)
    target = reals(x)
    m.rank, m.measure = 0, math.nan
    good = scales(n, reals(mass), n + 1, units) and scale_rows(
        m, rows, reals(a), reals(b), wholes(groups), reals(sizes)
    )
    free = n
    if good:
        m.rank = triangularize(m, rows, tolerance)
        free = n - m.rank
        eliminate(m.rank, n, reals(m.w), m.x_dependent)
        if free > 0:
            reduce_system(m, reals(mass), reals(f), share)
            good = cholesky(free, m.k, square)
    if not good:
        for j in range(n):
            target[j] = math.nan
        return
    side = padded_length(free + 1)
    for i in range(free):
        j = order[m.rank + i]
        target[j] = units[j] * k[i * side + free]
    dependent = reals(m.x_dependent)
    for i in range(m.rank):
        at = i * side
        total = dependent[at + free]
        for j in range(free):
            total += dependent[at + j] * k[j * side + free]
        j = order[i]
        target[j] = units[j] * total
