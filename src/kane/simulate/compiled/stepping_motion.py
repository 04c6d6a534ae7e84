"""The memory of time stepping, the mass matrix in blocks, and the motion of a step as it would be without contacts.

The scheme is said in `stepping_problem`, whose notation this module shares. Where M consists of blocks, as that of free
bodies, only these are factorised. Accelerations are those in the middle of the step, by the midpoint rule.
"""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import NO_MASS
from .call import call, part, reals, record_of, wholes
from .changing import add_direction, add_multiple, along_basis, free_of_basis
from .contacts import product
from .step import copy_numbers

MIDPOINTS = 5
"""Iterations of the midpoint rule at most: the implicit one conserves the energy of bodies that tumble."""

SAME = 1e-14
"""Relative change of the accelerations at which that iteration is at its end: bodies that do not tumble need one."""

PROGRAMS = ("changing", "rates")
SIZES = (
    "steady",  # 1: mass and forces are constant, so that midpoints need not be looked at
    "terms",  # numbers that `changing.terms` writes
    "current",  # 1: the terms are those of the state that the loop is at
    "contacts",  # of the contact problem
    "size",  # its rows
    "solved",  # contact problems so far
    "rough",  # steps whose contact problem was left with more than `coulomb.SETTLED`
    "bends",  # 1: accelerations change within the step
    "switches",  # 1: there are switched or released constraints to look after
)
OWN_REALS = (
    "accelerations",  # (n,): without contacts, at the beginning of the step
    "midway",  # (n,): the same in its middle
    "free",  # (n,): speeds without contacts
    "after",  # (n,): speeds at the end of the step
    "moving",  # (n,): speeds with which it moves
    "guess",  # (n,): accelerations halfway before they were corrected
    "change",  # (n,): of speeds
    "kept",  # (terms,): terms in the middle of the step
    "qdot",  # (coordinates,)
    "free_rate",  # (rows,): rates of rows without contacts
    "final_rate",  # (rows,): rates at the end
    "impulse",  # (rows,): of the last step
    "ahead",  # (elements,): conditions at its end
)
OWN_WHOLES = (
    "start",  # (n,): first column of each row of L that is not zero
    "block",  # (n,): first row of the block that a row of M is in
    "touched",  # (n,): at the first row of a block: 1 where impulses act
    "entered",  # (elements,): 1 in the contact problem
    "kept_state",  # (elements,)
    "entries",  # (rows,): how many numbers of a row of the contact problem are not zero
    "entry",  # (rows, n): which
)
OWN = (*OWN_REALS, *OWN_WHOLES)
WHOLE = (*PROGRAMS, *SIZES, *OWN)
REALS = (
    "share",  # of restitution that is left
    "last_h",
    "worst",  # largest natural residual of the contact problem of a step so far
    "worst_t",  # where that step ends
)
STEPPING = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])

stepping = record_of(STEPPING)


# -- the mass matrix in blocks -------------------------------------------------------------------------------------


@part
def factor_blocks(c, s):
    """M = L Lᵀ into c.chol, without what lies before the first number of a row; False where M is singular."""
    n = c.n
    mass, chol, start, block = reals(c.mass), reals(c.chol), wholes(s.start), wholes(s.block)
    for i in range(n):
        first, row = start[i], reals(c.mass + 8 * i * n)
        if product(first, row, row) != 0.0:  # something is before where the row began the last time
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
def to_blocks(c, s, source, target):
    """L⁻¹ times the numbers at `source`."""
    n = c.n
    chol, b, x, start = reals(c.chol), reals(source), reals(target), wholes(s.start)
    for i in range(n):
        total = b[i]
        for k in range(start[i], i):
            total -= chol[i * n + k] * x[k]
        x[i] = total / chol[i * n + i] if total != 0.0 else 0.0  # most are, and divisions are slow


@part
def from_blocks(c, s, source, target):
    """L⁻ᵀ times the numbers at `source`, which may be the target."""
    n = c.n
    chol, x, start = reals(c.chol), reals(target), wholes(s.start)
    if source != target:
        copy_numbers(n, source, target)
    for j in range(n):
        i = n - 1 - j
        x[i] /= chol[i * n + i]
        for k in range(start[i], i):
            x[k] -= chol[i * n + k] * x[i]


# -- motion without contacts ---------------------------------------------------------------------------------------


@part
def reduce_terms(c, s, target):
    """Accelerations under the permanent constraints alone, from the terms; False where M is singular."""
    n = c.n
    if not factor_blocks(c, s):
        return False
    wanted, count = reals(c.wanted), 0
    for i in range(c.permanent):
        row = c.rows_z + 8 * i * n
        to_blocks(c, s, c.a + 8 * i * n, row)
        copy_numbers(n, row, c.step)
        count = add_direction(c, count, c.step, wanted[i])
    c.rank = count
    to_blocks(c, s, c.f, c.z_free)
    copy_numbers(n, c.z_free, c.z)
    if count > 0:
        along_basis(c, count, c.z_other)
        free_of_basis(c, count, c.z)
        add_multiple(n, c.z, 1.0, c.z_other)
    from_blocks(c, s, c.z, target)
    return True


@part
def look_at(c, s):
    """Terms and accelerations at the inputs in c.x; False where M is singular."""
    call(c.terms, c.x, c.qdot)
    if not c.fixed_laws:
        call(c.laws, c.x, c.law)
    s.current = 1
    return reduce_terms(c, s, s.accelerations)


@part
def move_terms(c, shift):
    """Let the terms be so many bytes further on in memory."""
    c.qdot += shift
    c.mass += shift
    c.f += shift
    c.a += shift
    c.rate += shift
    c.wanted += shift
    c.phi += shift
    c.power += shift


@part
def largest_change(n, one, other):
    """The largest difference of n numbers at two addresses, relative to the largest of the first."""
    x, y, change, size = reals(one), reals(other), 0.0, 0.0
    for i in range(n):
        change = max(change, abs(x[i] - y[i]))
        size = max(size, abs(x[i]))
    return change / size if size > 0.0 else 0.0


@part
def accelerate_halfway(c, s, h, speeds):
    """Accelerations in the middle of a step that moves with the speeds at an address, to s.midway; what was there to
    s.guess. Returns the relative change, nan where M is singular. Terms of the middle have memory of their own."""
    n, qdot, x = c.n, c.qdot, c.x_watch
    copy_numbers(c.inputs, c.x, x)
    copy_numbers(n, speeds, x + c.u_start)
    call(s.rates, x, s.qdot)
    add_multiple(c.coordinates, x + c.q_start, 0.5 * h, s.qdot)
    reals(x)[0] += 0.5 * h
    copy_numbers(n, s.midway, s.guess)
    move_terms(c, s.kept - qdot)
    call(c.terms, x, c.qdot)
    regular = reduce_terms(c, s, s.midway)
    move_terms(c, qdot - s.kept)
    return largest_change(n, s.midway, s.guess) if regular else math.nan


@part
def set_free_speeds(c, s, h):
    """Speeds at the end of the step without contacts, from accelerations halfway; False where M is singular."""
    n, u, change = c.n, c.x + c.u_start, 0.0
    copy_numbers(n, s.accelerations, s.midway)
    s.bends = 0
    if not s.steady:
        for _ in range(MIDPOINTS):
            copy_numbers(n, u, s.moving)
            add_multiple(n, s.moving, 0.5 * h, s.midway)
            change = accelerate_halfway(c, s, h, s.moving)
            if not change > SAME:
                break
            s.bends = 1
        if change != change:
            return False
        reduce_terms(c, s, s.accelerations)
    copy_numbers(n, u, s.free)
    add_multiple(n, s.free, h, s.midway)
    return True


@part
def correct_free_speeds(c, s, h):
    """Speeds without contacts once more, from accelerations along the motion that contacts have let the step have;
    whether they have changed."""
    if not accelerate_halfway(c, s, h, s.moving) > SAME:
        copy_numbers(c.n, s.guess, s.midway)
        return False
    reduce_terms(c, s, s.accelerations)
    copy_numbers(c.n, c.x + c.u_start, s.free)
    add_multiple(c.n, s.free, h, s.midway)
    return True
