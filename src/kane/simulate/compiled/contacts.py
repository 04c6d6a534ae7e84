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

from ...constraints.thresholds import ROUNDING
from .call import part, reals, record_of, stay_separate, wholes
from .lanes import product

KINDS = NORMAL, CONE, BOUND, FREE = range(4)
"""Kinds of contacts, as the numbers in `kinds`."""

METHODS = WARM_START, ENUMERATION, GAUSS_SEIDEL, NEWTON, LEMKE = range(5)
"""What found a solution: it was given, or which method. A `method` of −1 says that none was found."""

GIVEN = ("k", "first", "rows", "kinds", "mu", "n", "given_w", "given_b", "given_r")
"""Counts and addresses that the caller gives; `given_w` is the matrix W, row by row."""
OWN = (
    "unit",  # (k,): √ of the mobilities by which contacts are measured
    "bound",  # (k,): mu, or the bound of a BOUND contact
    "floor",  # (k,): least normal reactions
    "choice",  # (k,) int64: mode of each contact
    "modes",  # (k,) int64: how many it has
    "reaching",  # (k,) int64: how many rows move it by their reactions; −1 where all of them count
    "reach",  # (k, n) int64: which
    "b",  # (n,)
    "r",  # (n,)
    "u",  # (n,): W r + b
    "start",  # (n,): r at the beginning
    "kept",  # (n,): the best r so far
    "step",  # (n,)
    "active",  # (n,) int64: rows whose r is unknown in a step or a mode
    "order",  # (n,) int64: unknowns as pivots exchanged them
    "w",  # (n, n)
    "matrix",  # (n, n + 1): equations of a step or a mode, right side last
    "found",  # (MOST_SOLUTIONS, n): u of different solutions
    "pushes",  # (2 n + k, 4) int64: unknowns of Lemke's method
    "basic",  # (2 n + k,) int64: variables of its rows
    "nonbasic",  # (2 n + k + 1,) int64: variables of its columns
    "place",  # (2 (2 n + k) + 1,) int64: row of a variable, or −1 − its column
    "table",  # (2 n + k, 2 n + k + 2): its dictionary
)
"""Addresses of a problem's own memory. What has a unit is measured there as `measure_contacts` says."""
RESULTS = ("method", "solutions", "sweeps", "steps")
"""Which of METHODS found r, or −1; how many solutions of different u there are, −1 where they were not counted; sweeps
of Gauss–Seidel and steps of Newton that it took."""
PROBLEM = np.dtype([(name, "i8") for name in (*GIVEN, *OWN, *RESULTS)] + [("size", "f8"), ("residual", "f8")])
"""The record of a problem: what is given, where its memory is, the results, and what residuals are relative to."""

MOST_SOLUTIONS = 16
"""Solutions that are told apart; more are not counted."""

FEW = 2
"""How many times fewer than all the rows that move a contact have to be, for their numbers to be looked up one by one
in place of a product of whole rows, several numbers at a time."""

TIGHT = 1e-13
"""Natural residual that needs no further step."""

problem: Callable[..., Any] = record_of(PROBLEM)
"""The record of type PROBLEM at an address."""

RECORD_NUMBERS = PROBLEM.itemsize // 8


def work_size(k: int, n: int) -> int:
    """How many numbers (8 bytes each) the memory of a problem of k contacts and n rows has."""
    unknowns = 2 * n + k
    lemke = 8 * unknowns + 2 + unknowns * (unknowns + 2)
    return RECORD_NUMBERS + 6 * k + k * n + 8 * n + n * n + n * (n + 1) + MOST_SOLUTIONS * n + lemke


work_numbers: Callable[..., Any] = part(work_size)
"""`work_size` for compiled code."""


@part
def lay_out(m, work):
    """Set the addresses of a problem's own memory, which begins at `work`."""
    k, n = m.k, m.n
    m.unit = work + 8 * RECORD_NUMBERS
    m.bound = m.unit + 8 * k
    m.floor = m.bound + 8 * k
    m.choice = m.floor + 8 * k
    m.modes = m.choice + 8 * k
    m.reaching = m.modes + 8 * k
    m.reach = m.reaching + 8 * k
    m.b = m.reach + 8 * k * n
    m.r = m.b + 8 * n
    m.u = m.r + 8 * n
    m.start = m.u + 8 * n
    m.kept = m.start + 8 * n
    m.step = m.kept + 8 * n
    m.active = m.step + 8 * n
    m.order = m.active + 8 * n
    m.w = m.order + 8 * n
    m.matrix = m.w + 8 * n * n
    m.found = m.matrix + 8 * n * (n + 1)
    unknowns = 2 * n + k
    m.pushes = m.found + 8 * MOST_SOLUTIONS * n
    m.basic = m.pushes + 32 * unknowns
    m.nonbasic = m.basic + 8 * unknowns
    m.place = m.nonbasic + 8 * (unknowns + 1)
    m.table = m.place + 8 * (2 * unknowns + 1)


@part
def measure_contacts(m):
    """Set the units of the contacts, √w with w the largest |W_jj| of their rows.

    Motions of a contact are measured as u / √w and reactions as r √w, so that all of them compare and their product is
    what it was. Where w is nothing beside that of other contacts the largest one stands for it, or 1.
    """
    first, rows, w, unit = wholes(m.first), wholes(m.rows), reals(m.given_w), reals(m.unit)
    largest = 0.0
    for i in range(m.k):
        mobility = 0.0
        for j in range(first[i], first[i] + rows[i]):
            mobility = max(mobility, abs(w[j * m.n + j]))
        unit[i] = math.sqrt(mobility)
        largest = max(largest, unit[i])
    for i in range(m.k):
        if not unit[i] > ROUNDING * largest:
            unit[i] = largest if largest > 0.0 else 1.0


@part
def take_in(m):
    """Copy what is given, measured in the units of the contacts; floors are 0, and all rows reach all contacts."""
    n, first, rows, kinds, unit = m.n, wholes(m.first), wholes(m.rows), wholes(m.kinds), reals(m.unit)
    given_w, given_b, given_r, mu = reals(m.given_w), reals(m.given_b), reals(m.given_r), reals(m.mu)
    w, b, r, bound, floor = reals(m.w), reals(m.b), reals(m.r), reals(m.bound), reals(m.floor)
    for i in range(m.k):
        bound[i] = mu[i] * unit[i] if kinds[i] == BOUND else mu[i]
        floor[i] = 0.0
        wholes(m.reaching)[i] = -1
        for j in range(first[i], first[i] + rows[i]):
            b[j] = given_b[j] / unit[i]
            r[j] = given_r[j] * unit[i]
            for c in range(m.k):
                factor = 1.0 / (unit[i] * unit[c])
                for l in range(first[c], first[c] + rows[c]):
                    w[j * n + l] = factor * given_w[j * n + l]
    m.method, m.solutions, m.sweeps, m.steps, m.residual = -1, -1, 0, 0, math.inf


@part
def give_back(m):
    """Write r where it was given, and u, in the units of the caller."""
    first, rows, unit = wholes(m.first), wholes(m.rows), reals(m.unit)
    given_r, r, u = reals(m.given_r), reals(m.r), reals(m.u)
    for i in range(m.k):
        for j in range(first[i], first[i] + rows[i]):
            given_r[j] = r[j] / unit[i]
            u[j] *= unit[i]


@part
def list_reach(m):
    """List for each contact the rows whose reactions move it, where these are few: of many bodies, those of contacts
    that share one."""
    first, rows, w, reaching = wholes(m.first), wholes(m.rows), reals(m.w), wholes(m.reaching)
    for i in range(m.k):
        reach, count = wholes(m.reach + 8 * i * m.n), 0
        for l in range(m.n):
            moves = False
            for j in range(first[i], first[i] + rows[i]):
                moves = moves or w[j * m.n + l] != 0.0
            if moves:
                reach[count] = l
                count += 1
        reaching[i] = count if FEW * count < m.n else -1


@part
def set_motion(m, i, j):
    """Set u of row j, which is of contact i; it is returned."""
    value, count = reals(m.b)[j], wholes(m.reaching)[i]
    if count < 0:
        value += product(m.n, m.w + 8 * j * m.n, m.r)
    else:
        w, r = reals(m.w + 8 * j * m.n), reals(m.r)
        reach = wholes(m.reach + 8 * i * m.n)
        for e in range(count):
            value += w[reach[e]] * r[reach[e]]
    reals(m.u)[j] = value
    return value


@part
def set_motions(m):
    """Set u = W r + b."""
    for i in range(m.k):
        for j in range(wholes(m.first)[i], wholes(m.first)[i] + wholes(m.rows)[i]):
            set_motion(m, i, j)


@part
def length(count, x, start):
    """|x| of the numbers start … start + count − 1."""
    total = 0.0
    for j in range(start, start + count):
        total += x[j] * x[j]
    return math.sqrt(total)


@part
def disc_defect(count, start, radius, r, u):
    """|r − p|², p being the point of the disc |p| ≤ radius that is nearest to r − u."""
    total = 0.0
    for j in range(start, start + count):
        z = r[j] - u[j]
        total += z * z
    share = radius / math.sqrt(total) if total > radius * radius else 1.0
    square = 0.0
    for j in range(start, start + count):
        d = r[j] - share * (r[j] - u[j])
        square += d * d
    return square


@part
def contact_defect(m, i, r, u):
    """Square of what is wrong with contact i: |r − p|², with p = r if and only if its law holds.

    p is r − u projected to where the law allows r: the normal reaction to what is at least the floor, then the
    tangential one to the disc of radius mu r_n (the function of Alart and Curnier).
    """
    start, count, kind = wholes(m.first)[i], wholes(m.rows)[i], wholes(m.kinds)[i]
    bound, floor = reals(m.bound)[i], reals(m.floor)[i]
    if kind == FREE:
        return disc_defect(count, start, math.inf, r, u)
    if kind == BOUND:
        return disc_defect(count, start, bound, r, u)
    normal = r[start] - max(floor, r[start] - u[start])
    square = normal * normal
    if kind == CONE:
        square += disc_defect(count - 1, start + 1, bound * max(floor, r[start]), r, u)
    return square


@part
def set_size(m):
    """Set what residuals are relative to: the largest |b_i| or floor of a contact."""
    first, rows, floor, b = wholes(m.first), wholes(m.rows), reals(m.floor), reals(m.b)
    m.size = 0.0
    for i in range(m.k):
        m.size = max(m.size, length(rows[i], b, first[i]), floor[i])


@part
def evaluate(m):
    """Set u and the natural residual of r, the largest defect of a contact relative to the size of the problem.

    It does not change when W, b or the rows of one contact are given in other units.
    """
    stay_separate()
    set_motions(m)
    r, u = reals(m.r), reals(m.u)
    worst, total = 0.0, 0.0
    for i in range(m.k):
        square = contact_defect(m, i, r, u)
        total += square
        worst = max(worst, square)
    m.residual = math.sqrt(worst) / m.size if total == total else math.inf
    return m.residual
