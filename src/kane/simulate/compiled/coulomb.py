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

from .call import part, stay_separate
from .contact_newton import newton_steps
from .contacts import (
    BOUND,
    CONE,
    ENUMERATION,
    FREE,
    GAUSS_SEIDEL,
    NEWTON,
    NORMAL,
    SOLVED,
    TIGHT,
    WARM_START,
    evaluate,
    lay_out,
    measure_contacts,
    problem,
    work_size,
)
from .enumeration import count_modes, enumerate_modes
from .gauss_seidel import sweep_contacts

__all__ = [
    "BOUND",
    "CONE",
    "FREE",
    "NORMAL",
    "SOLVED",
    "count_solutions",
    "problem",
    "set_problem",
    "solve_contacts",
    "solve_problem",
    "work_size",
]

FEW_MODES, MOST_MODES = 16.0, 4096.0
"""Combinations of modes that are looked at in any case, and at most where nothing else finds a solution."""

ATTEMPTS, FIRST_SWEEPS, MORE_SWEEPS, NEWTON_STEPS = 6, np.int64(6), 4, 20
"""Times that Newton's method is begun; sweeps before the first, how many times more before each next one, and steps."""


@part
def set_problem(k, first, rows, kinds, mu, n, w, b, r, work):
    """The record of a problem, laid out in `work`, with its contacts measured."""
    stay_separate()
    m = problem(work)
    m.k, m.first, m.rows, m.kinds, m.mu, m.n, m.w, m.b, m.r = k, first, rows, kinds, mu, n, w, b, r
    lay_out(m, work)
    measure_contacts(m)
    return m


@part
def iterate(m):
    """Sweeps and Newton steps in turn, each attempt with more sweeps and another rho; returns the natural residual."""
    sweeps, best = FIRST_SWEEPS, evaluate(m)
    m.method = WARM_START
    if best <= TIGHT:
        return best
    rho_share = 1.0
    for attempt in range(ATTEMPTS):
        m.method = GAUSS_SEIDEL
        if sweep_contacts(m, sweeps) <= TIGHT:
            break
        m.method = NEWTON
        if newton_steps(m, NEWTON_STEPS, rho_share) <= SOLVED:
            break
        sweeps *= MORE_SWEEPS
        rho_share = 0.1 if attempt % 2 == 0 else 1.0
    return m.residual


@part
def solve_problem(m):
    """Solve the problem in the record m: few modes are enumerated, else iteration, and modes where that fails."""
    stay_separate()
    modes = count_modes(m)
    if not (modes >= 1.0 and modes <= FEW_MODES):
        iterate(m)
    if m.residual > SOLVED and modes >= 1.0 and modes <= MOST_MODES:
        m.method = ENUMERATION
        enumerate_modes(m)
    if not m.residual <= SOLVED:
        m.method = -1
    return m.residual


@part
def solve_contacts(k, first, rows, kinds, mu, n, w, b, r, work):
    """Set r to a solution of the problem; returns its natural residual. See the head of the module."""
    return solve_problem(set_problem(k, first, rows, kinds, mu, n, w, b, r, work))


@part
def count_solutions(k, first, rows, kinds, mu, n, w, b, r, work):
    """Solve as `solve_contacts` does, by looking at all modes if they are not more than MOST_MODES."""
    m = set_problem(k, first, rows, kinds, mu, n, w, b, r, work)
    modes = count_modes(m)
    if not (modes >= 1.0 and modes <= MOST_MODES):
        return solve_problem(m)
    m.method = ENUMERATION if enumerate_modes(m) <= SOLVED else -1
    return m.residual
