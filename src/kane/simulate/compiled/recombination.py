"""Systems whose rows are equations: dependent unknowns from independent ones [GIL03, Eqs. 44-45].

What is sought makes xᵀ M x / 2 − f·x least where A x = b. One unknown after another is eliminated: by a row of A, as
long as there are any, x_d = e − Σ w_j x_j, and then by its own equation, which has the same form. No roots are taken
and nothing is made orthogonal, which for a few speeds is a third of the work in the metric of the mass (`mass_metric`).
That one is for what is refused here: rows that are redundant or almost so, directions without mass.

Rows are filled up to whole groups (`lanes`); what is in the places that fill them up does not matter.
"""

from __future__ import annotations

from ...constraints.thresholds import NO_MASS, WELL_CONDITIONED
from .call import inline_part, part, reals, wholes
from .lanes import LANES, add, add_two, move, scale
from .linear import padded_length

BADLY_CHOSEN = 1.0 / WELL_CONDITIONED**2
"""Share of the square of a row that is left for the unknown which is eliminated by it, at least."""

MUCH_LARGER = 100.0
"""How many times the square of an unknown in a row may be that of the one that is eliminated by it."""


FEW = 16
"""Unknowns at most. The mass of more than that consists of blocks, which its metric makes use of."""


@inline_part
def add_row(n, target, factor, source):
    """A row of n numbers grows by `factor` times another one."""
    for j in range(0, 8 * n, 8 * LANES):
        add(target + j, factor, source + j)


@inline_part
def copy_row(n, source, target):
    """Copy a row of n numbers, and what is behind it up to whole groups."""
    for j in range(0, 8 * n, 8 * LANES):
        move(source + j, target + j)


@part
def add_equation(c, count, row, value):
    """Let the row at an address times the unknowns be `value`; returns how many such rows there are in c.eliminated
    then."""
    copy_row(c.n, row, c.eliminated + 8 * count * padded_length(c.n))
    reals(c.aim)[count] = value
    return count + 1


@inline_part
def square_of(c, n, row):
    """Square of a row in units of the mass that unknowns move, Σ a_j² / M_jj."""
    mass, total = reals(c.mass), 0.0
    for j in range(n):
        total += row[j] * row[j] / mass[j * (n + 1)]
    return total


@inline_part
def choose_unknown(c, n, p, row):
    """Bring the unknown that is eliminated by a row from the places p.. of the order to p. The one that is there stays
    while it is not much smaller, in units of the mass that it moves, than the largest: what is chosen then does not
    have to be waited for."""
    mass, order = reals(c.mass), wholes(c.order)
    square, heavy = row[order[p]] * row[order[p]], mass[order[p] * (n + 1)]
    good = square > 0.0
    for k in range(p + 1, n):
        j = order[k]
        good = good and row[j] * row[j] * heavy <= MUCH_LARGER * square * mass[j * (n + 1)]
    if good:
        return
    best = p
    for k in range(p + 1, n):
        j = order[k]
        other, mass_of_other = row[j] * row[j], mass[j * (n + 1)]
        if other * heavy > square * mass_of_other:
            best, square, heavy = k, other, mass_of_other
    order[p], order[best] = order[best], order[p]


@inline_part
def eliminate_by_row(c, n, p, d, row, value):
    """Take x_d = value − Σ w_j x_j, w being the row at an address, w_d = 1, out of M and f.

    With x = S x' + value e_d and S = I − e_d wᵀ: M' = Sᵀ M S = M − w vᵀ − v wᵀ with v = M_d − M_dd w / 2, and f' = f −
    value M_d − w (f_d − value M_dd)."""
    wide, order = 8 * padded_length(n), wholes(c.order)
    mine, f = c.reduced + d * wide, c.reduced + n * wide
    add_row(n, f, -value, mine)
    add_row(n, f, -reals(f)[d], row)
    add_row(n, mine, -0.5 * reals(mine)[d], row)
    for k in range(p + 1, n):
        i = order[k]
        other = c.reduced + i * wide
        along, across = -reals(row)[i], -reals(mine)[i]
        for j in range(0, 8 * n, 8 * LANES):
            add_two(other + j, along, mine + j, across, row + j)


@inline_part
def eliminate_rows(c, n, count):
    """Eliminate an unknown by each of the rows in c.eliminated; False where one has too little left of itself."""
    wide = 8 * padded_length(n)
    order, aim, given, whole = wholes(c.order), reals(c.aim), reals(c.given), reals(c.left)
    for p in range(count):
        whole[p] = square_of(c, n, reals(c.eliminated + p * wide))
    for p in range(count):
        at = c.eliminated + p * wide
        row = reals(at)
        choose_unknown(c, n, p, row)
        d = order[p]
        if not row[d] * row[d] > BADLY_CHOSEN * whole[p] * reals(c.mass)[d * (n + 1)]:
            return False
        share = 1.0 / row[d]
        for j in range(0, 8 * n, 8 * LANES):
            scale(at + j, share)
        given[p] = aim[p] * share
        for i in range(p + 1, count):
            other = c.eliminated + i * wide
            factor = -reals(other)[d]
            add_row(n, other, factor, at)
            aim[i] += factor * given[p]
        eliminate_by_row(c, n, p, d, at, given[p])
    return True


@inline_part
def eliminate_equations(c, n, count):
    """Eliminate the unknowns from the place `count` of the order on by their own equations; False where one of them
    moves no mass."""
    wide = 8 * padded_length(n)
    order, given, f = wholes(c.order), reals(c.given), reals(c.reduced + n * wide)
    for p in range(count, n):
        d = order[p]
        mine, at = c.reduced + d * wide, c.eliminated + p * wide
        pivot = reals(mine)[d]
        if not pivot > NO_MASS * reals(c.mass)[d * (n + 1)]:
            return False
        share = 1.0 / pivot
        given[p] = f[d] * share
        copy_row(n, mine, at)
        for j in range(0, 8 * n, 8 * LANES):
            scale(at + j, share)
        for k in range(p + 1, n):
            i = order[k]
            factor = -share * reals(mine)[i]
            f[i] += factor * f[d]
            add_row(n, c.reduced + i * wide, factor, mine)
    return True


@inline_part
def eliminate_all(c, n, count, target):
    """The same as `recombine` for n unknowns."""
    wide = 8 * padded_length(n)
    order, given, x = wholes(c.order), reals(c.given), reals(target)
    for j in range(n):
        copy_row(n, c.mass + 8 * j * n, c.reduced + j * wide)
    if not (eliminate_rows(c, n, count) and eliminate_equations(c, n, count)):
        return False
    for back in range(n):
        p = n - 1 - back
        row, total = reals(c.eliminated + p * wide), given[p]
        for k in range(p + 1, n):
            total -= row[order[k]] * x[order[k]]
        x[order[p]] = total
    return True


@part
def recombine(c, count, target):
    """Write the x that makes xᵀ M x / 2 − f·x least, with M in c.mass and f in the last row of c.reduced, where the
    `count` rows of `add_equation` hold; False where no choice of dependent unknowns is good."""
    if c.n == LANES:  # the compiler writes loops of a known length out
        return eliminate_all(c, LANES, count, target)
    return c.n <= FEW and eliminate_all(c, c.n, count, target)
