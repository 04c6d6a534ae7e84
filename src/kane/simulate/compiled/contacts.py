"""One contact problem in memory: u = W r + b with a law for every contact, and how far r is from satisfying it.

n rows belong to k contacts. Contact i has the rows first[i] … first[i] + rows[i] − 1 and a kind:

- NORMAL, 1 row: r ≥ 0, u ≥ 0, r u = 0;
- CONE, 2 or 3 rows, the normal one first, then 1 or 2 tangential ones: the same for the normal row, and Coulomb's law
  |r_t| ≤ mu r_n, with r_t = −mu r_n u_t / |u_t| where u_t ≠ 0;
- BOUND, 1 or 2 rows: |r| ≤ mu, with r = −mu u / |u| where u ≠ 0 (dry friction of a known bound);
- FREE, any number of rows: u = 0 and any r (a constraint that holds in both directions).

The normal reaction of an impact's expansion has a floor, r_n ≥ floor[i] in place of 0; else all floors are 0. W need be
neither symmetric nor regular. A record of type `PROBLEM`, at the beginning of the memory that the caller gives, has all
of it; parts take it as `m`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ...constraints.thresholds import ROUNDING
from .call import PART, part, reals, record_of, stay_separate, wholes

KINDS = NORMAL, CONE, BOUND, FREE = range(4)
"""Kinds of contacts, as the numbers in `kinds`."""

METHODS = WARM_START, ENUMERATION, GAUSS_SEIDEL, NEWTON, LEMKE = range(5)
"""What found a solution: it was given, or which method. A `method` of −1 says that none was found."""

GIVEN = ("k", "first", "rows", "kinds", "mu", "n", "w", "b", "r")
"""Counts and addresses that the caller gives; `w` is the matrix W, row by row."""
OWN = (
    "floor",  # (k,): least normal reactions
    "metric",  # (k,): mobilities by which contacts are measured
    "u",  # (n,): W r + b
    "given",  # (n,): r as it was given
    "kept",  # (n,): the best r so far
    "step",  # (n,)
    "matrix",  # (n, n + 1): equations of a step, right side last
    "active",  # (n,) int64: rows whose r is unknown in them
    "order",  # (n,) int64: unknowns as pivots exchanged them
    "choice",  # (k,) int64: mode of each contact
    "modes",  # (k,) int64: how many it has
    "found",  # (MOST_SOLUTIONS, n): u of different solutions
)
RESULTS = ("method", "solutions", "sweeps", "steps")
"""Which of METHODS found r, or −1; how many solutions of different u there are, −1 where they were not counted; sweeps
of Gauss–Seidel and steps of Newton that it took."""
PROBLEM = np.dtype([(name, "i8") for name in (*GIVEN, *OWN, *RESULTS)] + [("residual", "f8")])
"""The record of a problem: what is given, where its memory is, and the results."""

MOST_SOLUTIONS = 16
"""Solutions that are told apart; more are not counted."""

SOLVED = 1e-8
"""Natural residual of an r that counts as a solution."""

REACTION_SHARE = 1e-3
"""Share of reactions that residuals are relative to, where it is more than b. Reactions of W r that are so much larger
than b cancel, and leave that much more rounding; with 1 they would hide that b is not met."""

TIGHT = 1e-13
"""Natural residual that needs no further step."""

problem: Callable[..., Any] = record_of(PROBLEM)
"""The record of type PROBLEM at an address."""

RECORD_NUMBERS = PROBLEM.itemsize // 8


def work_size(k: int, n: int) -> int:
    """How many numbers (8 bytes each) the memory of a problem of k contacts and n rows has."""
    return RECORD_NUMBERS + 4 * k + 4 * n + n * (n + 1) + 2 * n + MOST_SOLUTIONS * n


work_numbers: Callable[..., Any] = part(work_size)
"""`work_size` for compiled code."""


@part
def lay_out(m, work):
    """Set the addresses of a problem's own memory, which begins at `work`; floors are 0."""
    k, n = m.k, m.n
    m.floor = work + 8 * RECORD_NUMBERS
    m.metric = m.floor + 8 * k
    m.choice = m.metric + 8 * k
    m.modes = m.choice + 8 * k
    m.u = m.modes + 8 * k
    m.given = m.u + 8 * n
    m.kept = m.given + 8 * n
    m.step = m.kept + 8 * n
    m.active = m.step + 8 * n
    m.order = m.active + 8 * n
    m.matrix = m.order + 8 * n
    m.found = m.matrix + 8 * n * (n + 1)
    floor = reals(m.floor)
    for i in range(k):
        floor[i] = 0.0
    m.method, m.solutions, m.sweeps, m.steps, m.residual = -1, -1, 0, 0, math.inf


@part
def measure_contacts(m):
    """Set metric[i], by which contact i is measured: the largest |W_jj| of its rows.

    Where that is nothing beside other contacts the largest of all stands for it, or 1.
    """
    first, rows, w, metric = wholes(m.first), wholes(m.rows), reals(m.w), reals(m.metric)
    largest = 0.0
    for i in range(m.k):
        size = 0.0
        for j in range(first[i], first[i] + rows[i]):
            size = max(size, abs(w[j * m.n + j]))
        metric[i] = size
        largest = max(largest, size)
    for i in range(m.k):
        if not metric[i] > ROUNDING * largest:
            metric[i] = largest if largest > 0.0 else 1.0


fast_part: Callable[..., Any] = njit(**PART, fastmath={"reassoc", "contract"})
"""A part whose sums may be taken in any order, several terms at a time."""


@fast_part
def product(n, x, y):
    """x · y of n numbers."""
    total = 0.0
    for j in range(n):
        total += x[j] * y[j]
    return total


@part
def set_motion(m, j):
    """Set u of row j, which is returned."""
    value = reals(m.b)[j] + product(m.n, reals(m.w + 8 * j * m.n), reals(m.r))
    reals(m.u)[j] = value
    return value


@part
def set_motions(m):
    """Set u = W r + b."""
    for j in range(m.n):
        set_motion(m, j)


@part
def length(count, x, start):
    """|x| of the numbers start … start + count − 1."""
    total = 0.0
    for j in range(start, start + count):
        total += x[j] * x[j]
    return math.sqrt(total)


@part
def disc_defect(count, start, radius, rho, r, u):
    """|r − p|², p being the point of the disc |p| ≤ radius that is nearest to r − rho u."""
    total = 0.0
    for j in range(start, start + count):
        z = r[j] - rho * u[j]
        total += z * z
    share = 1.0
    if total > radius * radius:
        share = radius / math.sqrt(total)
    square = 0.0
    for j in range(start, start + count):
        d = r[j] - share * (r[j] - rho * u[j])
        square += d * d
    return square


@part
def contact_defect(m, i, r, u):
    """Square of what is wrong with contact i, in the metric of its mobility w: w |r − p|², p = r where its law holds.

    p is r − u / w projected to where the law allows r: the normal reaction to what is at least the floor, then the
    tangential one to the disc of radius mu r_n (the function of Alart and Curnier).
    """
    start, count, kind = wholes(m.first)[i], wholes(m.rows)[i], wholes(m.kinds)[i]
    mobility = reals(m.metric)[i]
    mu, floor, rho = reals(m.mu)[i], reals(m.floor)[i], 1.0 / mobility
    if kind == FREE:
        square = 0.0
        for j in range(start, start + count):
            square += rho * rho * u[j] * u[j]
        return mobility * square
    if kind == BOUND:
        return mobility * disc_defect(count, start, mu, rho, r, u)
    normal = r[start] - max(floor, r[start] - rho * u[start])
    square = normal * normal
    if kind == CONE:
        square += disc_defect(count - 1, start + 1, mu * max(floor, r[start]), rho, r, u)
    return mobility * square


@part
def problem_size(m):
    """What residuals compare with: the largest |b_i| / √w, √w floor_i or REACTION_SHARE √w |r_i| of a contact.

    w is the mobility of the contact.
    """
    first, rows, metric, floor = wholes(m.first), wholes(m.rows), reals(m.metric), reals(m.floor)
    b, r = reals(m.b), reals(m.r)
    largest = 0.0
    for i in range(m.k):
        root = math.sqrt(metric[i])
        reaction = max(floor[i], REACTION_SHARE * length(rows[i], r, first[i]))
        largest = max(largest, length(rows[i], b, first[i]) / root, reaction * root)
    return largest


@part
def natural_residual(m):
    """The natural residual of r: the largest defect of a contact relative to the size of the problem; u must be set.

    It does not change when W, b or the rows of one contact are measured in other units.
    """
    r, u = reals(m.r), reals(m.u)
    worst, total = 0.0, 0.0
    for i in range(m.k):
        square = contact_defect(m, i, r, u)
        total += square
        worst = max(worst, square)
    if total != total:
        return math.inf
    return math.sqrt(worst) / problem_size(m) if worst > 0.0 else 0.0


@part
def evaluate(m):
    """Set u and the natural residual of r, which is returned."""
    stay_separate()
    set_motions(m)
    m.residual = natural_residual(m)
    return m.residual
