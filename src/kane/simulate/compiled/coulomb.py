"""Contact problems u = W r + b under Coulomb's law, solved without allocation; for calls from compiled code.

    solve_contacts(k, first, rows, kinds, mu, n, W, b, r, work) -> natural residual
    count_solutions(k, first, rows, kinds, mu, n, W, b, r, work) -> natural residual
    work_size(k, n) -> numbers (8 bytes each) of `work`, for Python

k and n are counts, everything else is an address (int64): of int64 numbers first, rows, kinds (k,), of float64 numbers
mu (k,), W (n, n) row by row, b (n,), r (n,). What the kinds mean is said in `contacts`. r is where the search begins,
zeros or the reactions of a moment ago, and where the solution is left; where it has several, the one nearest to where
it began. A natural residual of SOLVED or less is a solution; without one, r is the best that was found.

The record `problem(work)` says afterwards which method found it (`method`, −1 if none), how many solutions of different
u there are (`solutions`: 0 none, −1 not counted), and has u at the address `u`. Problems whose modes are few are always
counted; `count_solutions` counts those of up to MOST_MODES modes, which is slower.
"""

from __future__ import annotations

import numpy as np

from ...constraints.thresholds import SOLVED, WELL_SOLVED
from .call import part, reals, stay_separate, wholes
from .contact_newton import newton_steps
from .contacts import (
    BOUND,
    CONE,
    ENUMERATION,
    FREE,
    GAUSS_SEIDEL,
    LEMKE,
    NEWTON,
    NORMAL,
    TIGHT,
    WARM_START,
    evaluate,
    give_back,
    lay_out,
    list_reach,
    measure_contacts,
    problem,
    set_size,
    take_in,
    work_size,
)
from .enumeration import count_modes, enumerate_modes
from .gauss_seidel import leap, sweep_contacts, sweep_round
from .lemke import lemke_start
from .step import copy_numbers

__all__ = [
    "BOUND",
    "CONE",
    "FREE",
    "NORMAL",
    "SOLVING",
    "count_solutions",
    "problem",
    "set_problem",
    "solve_contacts",
    "solve_problem",
    "work_size",
]

FEW_MODES, MOST_MODES = 64.0, 4096.0
"""Combinations of modes that are looked at in any case, and at most where nothing else finds a solution."""

SOLVING, COUNTING = np.int64(0), np.int64(1)
"""Whether all solutions are counted. For plain constants numba would compile parts anew, here and below."""

FIRST_ATTEMPTS, LAST_ATTEMPTS = np.int64(2), np.int64(4)
"""Times that Newton's method is begun after sweeps, before and after Lemke's method."""

NO_SWEEPS, FIRST_SWEEPS, MANY_SWEEPS, MORE_SWEEPS = np.int64(0), np.int64(6), np.int64(100), 4
"""Sweeps before Newton's method, and how many times more there are with each next attempt."""

NEWTON_STEPS = np.int64(60)
"""Steps of Newton's method at most; four to ten are usual."""

SETTLED, ROUNDS, SLOW, PATIENCE = 1e-8, 60, 0.95, 24
"""Natural residual at which a large problem of a time step is settled; rounds of sweeps at most, what a round leaves of
the residual when no more is to be had by sweeps, and rounds before that is believed."""

NEWTON_ROWS, NEWTON_ROUNDS, NEWTON_TRIES = 200, 4, np.int64(8)
"""Rows up to which Newton's method is tried after so many rounds that have not settled a problem, and its steps then.
The equations of larger ones take longer to solve than the sweeps that they would save."""

ENOUGH = 1e-5
"""Natural residual of such a problem that is enough where sweeps become slow."""

POLISHES = 3
"""Attempts to make a natural residual as small as WELL_SOLVED where it is not."""

OTHER_STARTS, LEAST_REACH, MOST_REACH = 60, 0.5, 30.0
"""Pseudo-random beginnings, and how far they reach relative to b: wedged contacts have large reactions."""


@part
def set_problem(k, first, rows, kinds, mu, n, w, b, r, work):
    """The record of a problem, laid out in `work`, with all that is given taken in."""
    stay_separate()
    m = problem(work)
    m.k, m.first, m.rows, m.kinds, m.mu, m.n = k, first, rows, kinds, mu, n
    m.given_w, m.given_b, m.given_r = w, b, r
    lay_out(m, work)
    measure_contacts(m)
    take_in(m)
    return m


@part
def attempt(m, sweeps):
    """So many sweeps, then Newton steps; returns the natural residual."""
    stay_separate()
    m.method = GAUSS_SEIDEL
    if sweep_contacts(m, sweeps) > TIGHT:
        m.method = NEWTON
        newton_steps(m, NEWTON_STEPS)
    return m.residual


@part
def attempt_again(m, attempts, sweeps):
    """So many attempts, each with more sweeps, until one succeeds; returns the natural residual."""
    for _ in range(attempts):
        if attempt(m, sweeps) <= SOLVED:
            break
        sweeps *= MORE_SWEEPS
    return m.residual


@part
def scatter(m, seed, reach):
    """Set r to pseudo-random numbers up to `reach`, normal reactions positive; returns the next seed."""
    first, kinds, r = wholes(m.first), wholes(m.kinds), reals(m.r)
    for j in range(m.n):
        seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
        r[j] = reach * (seed / 0x40000000 - 1.0)
    for i in range(m.k):
        if kinds[i] in (NORMAL, CONE):
            r[first[i]] = abs(r[first[i]])
    return seed


@part
def begin_elsewhere(m):
    """Attempts from many other r; returns the natural residual."""
    seed, reach = 1, LEAST_REACH
    for _ in range(OTHER_STARTS):
        seed = scatter(m, seed, reach * m.size)
        if attempt(m, FIRST_SWEEPS) <= SOLVED:
            break
        reach = LEAST_REACH if reach > MOST_REACH else 2.0 * reach
    return m.residual


@part
def iterate(m):
    """Sweeps and Newton steps, then Lemke's method; returns the natural residual."""
    m.method = WARM_START
    if evaluate(m) > TIGHT and attempt_again(m, FIRST_ATTEMPTS, FIRST_SWEEPS) > SOLVED and lemke_start(m):
        attempt(m, NO_SWEEPS)
        m.method = LEMKE
    return m.residual


@part
def persist(m):
    """What takes long: many sweeps, then beginning elsewhere."""
    if begin_elsewhere(m) > SOLVED:
        attempt_again(m, LAST_ATTEMPTS, MANY_SWEEPS)


@part
def polish(m):
    """Some more attempts from a solution whose residual can probably be made smaller."""
    method = m.method
    for _ in range(POLISHES):
        before = m.residual
        if not (before > WELL_SOLVED and before <= SOLVED):
            break
        copy_numbers(m.n, m.r, m.start)
        if attempt(m, FIRST_SWEEPS) > before:
            copy_numbers(m.n, m.start, m.r)
            evaluate(m)
            break
    m.method = method


@part
def clear_reactions(m):
    """r = 0, which is the solution where b = 0 and no floor is there."""
    r = reals(m.r)
    for j in range(m.n):
        r[j] = 0.0
    m.size = 1.0
    m.method = WARM_START
    evaluate(m)


@part
def solve_problem(m, counting):
    """Solve the problem in the record m; returns the natural residual.

    All modes are looked at if they are few, or `counting`, or if iteration finds no solution.
    """
    stay_separate()
    set_size(m)
    modes = count_modes(m)
    if m.size == 0.0:
        clear_reactions(m)
    elif modes > (MOST_MODES if counting else FEW_MODES):
        iterate(m)
    if m.residual > SOLVED and modes > MOST_MODES:
        persist(m)
    elif m.residual > SOLVED:
        m.method = ENUMERATION
        enumerate_modes(m)
    polish(m)
    if not m.residual <= SOLVED:
        m.method = -1
    give_back(m)
    return m.residual


@part
def keep_better(m, best):
    """Keep r, which is m.residual off, where it is better than the best one so far; returns how far the better is."""
    if m.residual < best:
        copy_numbers(m.n, m.r, m.found)
        return m.residual
    return best


@part
def settle_by_rounds(m):
    """Rounds of sweeps, with leaps along a steady drift, and Newton's method now and then; the best r is left."""
    best, known = np.inf, False
    for count in range(1, ROUNDS + 1):
        before = m.residual
        sweep_round(m)
        best = keep_better(m, best)
        if best <= SETTLED:
            break
        if known and leap(m):
            known = False
            continue
        copy_numbers(m.n, m.step, m.start)
        known = True
        if m.n <= NEWTON_ROWS and count % NEWTON_ROUNDS == 0:
            newton_steps(m, NEWTON_TRIES)
            best = keep_better(m, best)
            known = False
        if best <= SETTLED or (best <= ENOUGH and m.residual > SLOW * before and count >= PATIENCE):
            break
    copy_numbers(m.n, m.found, m.r)
    evaluate(m)


@part
def settle_contacts(k, first, rows, kinds, mu, n, w, b, r, work):
    """Set r to a solution to SETTLED, by sweeps from where it is: for large problems that change little from one to the
    next. Returns its natural residual, which may be larger."""
    m = set_problem(k, first, rows, kinds, mu, n, w, b, r, work)
    set_size(m)
    list_reach(m)
    m.method = WARM_START
    if m.size == 0.0:
        clear_reactions(m)
    elif evaluate(m) > SETTLED:
        m.method = GAUSS_SEIDEL
        settle_by_rounds(m)
    give_back(m)
    return m.residual


@part
def solve_contacts(k, first, rows, kinds, mu, n, w, b, r, work):
    """Set r to a solution of the problem; returns its natural residual. See the head of the module."""
    return solve_problem(set_problem(k, first, rows, kinds, mu, n, w, b, r, work), SOLVING)


@part
def count_solutions(k, first, rows, kinds, mu, n, w, b, r, work):
    """Solve as `solve_contacts` does, by looking at all modes if they are not more than MOST_MODES."""
    return solve_problem(set_problem(k, first, rows, kinds, mu, n, w, b, r, work), COUNTING)
