"""Linear algebra of a constrained system: x that satisfies A x = b and makes xᵀ M x / 2 − f·x least.

That is M x = f + Aᵀ λ, A x = b without its multipliers, by recombination [GIL03, Eqs. 44-45]: a pivoted QR of A tells
dependent from independent unknowns, x = N x_I + N0, and (Nᵀ M N) x_I = Nᵀ (f − M N0) is solved by Cholesky. Rows that
follow from others vanish in the QR and cost nothing; rows that contradict each other are met in the least squares.

Unknowns are measured in units of 1 / sqrt(M_jj), so that metres and radians compare, and rows of A have unit length.
Matrices are row by row and every inner loop runs along a row. `m` is a record of type `embedded.MEMORY`.
"""

from __future__ import annotations

import math

from .call import compiled, reals, wholes

FLOOR = 1e-3
"""Share of the mean of M_jj that every M_jj counts at least: a massless link must not outweigh all else."""

REFRESH = 1e-6
"""A column norm that fell below this part of where it was last summed has lost digits and is summed again."""

ROUNDING = 1e-15
"""A pivot of the reduced mass matrix below this part of its diagonal is zero but for rounding."""


@compiled
def scales(n, mass, scale):
    """Set scale[j] = 1 / sqrt(M_jj), small M_jj raised to a share of their mean; False if that is not a number."""
    total = 0.0
    for j in range(n):
        total += mass[j * n + j]
    least = FLOOR * total / n
    if not (total >= 0.0 and total < math.inf):
        return False
    for j in range(n):
        size = max(mass[j * n + j], 0.0) + least
        scale[j] = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
    return True


@compiled
def augmented(rows, n, a, b, scale, w, square):
    """Set the rows of w to [A | b], columns scaled and rows of unit length, and square[j] to the norms of the columns.

    A row of zeros stays. False if something is not a number.
    """
    for j in range(n):
        square[j] = 0.0
    fault = 0.0
    for i in range(rows):
        at, to = i * n, i * (n + 1)
        length = 0.0
        for j in range(n):
            value = a[at + j]
            if value != 0.0:
                value *= scale[j]
                length += value * value
            w[to + j] = value
        factor = 1.0 / math.sqrt(length) if length > 0.0 else 0.0
        fault += factor - factor + b[i] - b[i]
        w[to + n] = factor * b[i]
        for j in range(n):
            value = factor * w[to + j]
            w[to + j] = value
            square[j] += value * value
        fault += length - length
    return fault == 0.0


@compiled
def pivot(rows, n, k, w, square, summed, floor):
    """The column of k.. that is longest below row k; norms that have lost digits are summed again on the way."""
    best, longest = k, -1.0
    for j in range(k, n):
        size = square[j]
        if size < REFRESH * summed[j] and summed[j] > floor:
            size = 0.0
            for i in range(k, rows):
                value = w[i * (n + 1) + j]
                size += value * value
            square[j] = size
            summed[j] = size
        if size > longest:
            best, longest = j, size
    return best


@compiled
def exchanged(rows, n, k, j, w, square, summed, order):
    """Exchange the columns k and j."""
    width = n + 1
    for i in range(rows):
        w[i * width + k], w[i * width + j] = w[i * width + j], w[i * width + k]
    square[j] = square[k]
    summed[j] = summed[k]
    order[k], order[j] = order[j], order[k]


@compiled
def reflected(rows, n, k, length, w, v, row):
    """Turn column k of w into (R_kk, 0, ...) from row k on, by a reflection of all columns to its right.

    H = 1 − v vᵀ / (length² + |w_kk| length) with v = column + sign(w_kk) length e_k.
    """
    width = n + 1
    corner = w[k * width + k]
    last = k
    for i in range(k, rows):
        value = w[i * width + k]
        v[i] = value
        if value != 0.0:
            last = i
    if last == k:
        return
    signed = length if corner >= 0.0 else -length
    v[k] = corner + signed
    share = 1.0 / (length * (length + abs(corner)))
    first = k * width
    for j in range(k + 1, width):
        row[j] = v[k] * w[first + j]
    for i in range(k + 1, last + 1):
        value = v[i]
        if value != 0.0:
            at = i * width
            for j in range(k + 1, width):
                row[j] += value * w[at + j]
    for i in range(k, last + 1):
        value = share * v[i]
        if value != 0.0:
            at = i * width
            for j in range(k + 1, width):
                w[at + j] -= value * row[j]
    w[first + k] = -signed


@compiled
def triangular(m, rows, n, tolerance, w, square, summed, order, v, row):
    """The rank of [A | b] in w, which is made upper triangular, its columns in the order `order`.

    The rank counts |R_kk| above `tolerance` |R_00|; m.measure is |R_kk| / |R_00| at the place that m.generic names.
    """
    for j in range(n):
        order[j] = j
        summed[j] = square[j]
    most = min(rows, n)
    largest, floor = 0.0, 0.0
    m.measure = 1.0 if m.generic == 0 else 0.0
    for k in range(most):
        j = pivot(rows, n, k, w, square, summed, floor)
        if j != k:
            exchanged(rows, n, k, j, w, square, summed, order)
        length = 0.0
        for i in range(k, rows):
            value = w[i * (n + 1) + k]
            length += value * value
        length = math.sqrt(length)
        if k == 0:
            largest = length
            floor = (tolerance * largest) ** 2
        if k == m.generic - 1 and largest > 0.0:
            m.measure = length / largest
        if not length > tolerance * largest:
            return k
        reflected(rows, n, k, length, w, v, row)
        at = k * (n + 1)
        for i in range(k + 1, n):
            square[i] -= w[at + i] * w[at + i]
    return most


@compiled
def eliminated(rank, n, w):
    """Turn the rows [R11 R12 | c] into [D | E] of x_D = D x_I + E, in the columns from `rank` on."""
    width = n + 1
    for i in range(rank - 1, -1, -1):
        at = i * width
        inverse = -1.0 / w[at + i]
        for j in range(rank, n):
            w[at + j] *= inverse
        w[at + n] *= -inverse
        for k in range(i):
            value = w[k * width + i]
            if value != 0.0:
                to = k * width
                for j in range(rank, n):
                    w[to + j] += value * w[at + j]
                w[to + n] -= value * w[at + n]


@compiled
def reduced(rank, n, mass, f, share, scale, order, w, product, k):
    """Set the upper triangle of k to [Nᵀ M N | Nᵀ (f − M N0)], in scaled unknowns; `share` is added to each M_jj.

    With M and [D | E] in blocks, W = M_DD [D | E] + [M_DI | 0] and Nᵀ M [N | N0] = M_II + M_ID [D | E] + Dᵀ W.
    """
    width, free = n + 1, n - rank
    side = free + 1
    for a in range(rank):
        to = a * side
        pa = order[a]
        sa = scale[pa]
        for j in range(free):
            pj = order[rank + j]
            product[to + j] = sa * scale[pj] * mass[pa * n + pj]
        product[to + free] = -sa * f[pa]
        for b in range(rank):
            value = sa * scale[order[b]] * mass[pa * n + order[b]]
            if a == b:
                value += share
            if value != 0.0:
                at = b * width + rank
                for j in range(side):
                    product[to + j] += value * w[at + j]
    for i in range(free):
        to = i * side
        pi = order[rank + i]
        si = scale[pi]
        for j in range(i, free):
            pj = order[rank + j]
            k[to + j] = si * scale[pj] * mass[pi * n + pj]
        k[to + i] += share
        k[to + free] = -si * f[pi]
        for a in range(rank):
            value = si * scale[order[a]] * mass[pi * n + order[a]]
            other = w[a * width + rank + i]
            at, by = a * width + rank, a * side
            if value != 0.0 or other != 0.0:
                for j in range(i, side):
                    k[to + j] += value * w[at + j] + other * product[by + j]
        k[to + free] = -k[to + free]


@compiled
def cholesky(free, k, diagonal):
    """Solve the `free` equations whose upper triangle and right side are the rows of k; the solution replaces the
    right side. False if the matrix is not positive definite."""
    side = free + 1
    for i in range(free):
        diagonal[i] = k[i * side + i]
    for i in range(free):
        at = i * side
        size = k[at + i]
        if not size > ROUNDING * diagonal[i]:
            return False
        inverse = 1.0 / math.sqrt(size)
        for j in range(i, side):
            k[at + j] *= inverse
        for j in range(i + 1, free):
            value = k[at + j]
            if value != 0.0:
                to = j * side
                for c in range(j, side):
                    k[to + c] -= value * k[at + c]
    for i in range(free - 1, -1, -1):
        at = i * side
        total = k[at + free]
        for j in range(i + 1, free):
            total -= k[at + j] * k[j * side + free]
        k[at + free] = total / k[at + i]
    return True


@compiled
def constrained(m, rows, a, b, mass, f, tolerance, share, x):
    """Set x, (n,), to what makes xᵀ M x / 2 − f·x least where A x = b; all of them addresses.

    `tolerance` tells the rank of A, `share` is added to the scaled M_jj. Leaves the rank in m.rank and the unknowns,
    dependent ones first, in m.order. Where there is no answer x is nan.
    """
    n = m.n
    scale, w, k, order = reals(m.scale), reals(m.w), reals(m.k), wholes(m.order)
    square, summed, product, target = reals(m.square), reals(m.summed), reals(m.product), reals(x)
    good = scales(n, reals(mass), scale) and augmented(rows, n, reals(a), reals(b), scale, w, square)
    m.rank, m.measure = 0, math.nan
    free = n
    if good:
        m.rank = triangular(m, rows, n, tolerance, w, square, summed, order, reals(m.v), reals(m.row))
        free = n - m.rank
        eliminated(m.rank, n, w)
        if free > 0:
            reduced(m.rank, n, reals(mass), reals(f), share, scale, order, w, product, k)
            good = cholesky(free, k, square)
    if not good:
        for j in range(n):
            target[j] = math.nan
        return
    side = free + 1
    for i in range(free):
        j = order[m.rank + i]
        target[j] = scale[j] * k[i * side + free]
    for i in range(m.rank):
        at = i * (n + 1)
        total = w[at + n]
        for j in range(free):
            total += w[at + m.rank + j] * k[j * side + free]
        j = order[i]
        target[j] = scale[j] * total
