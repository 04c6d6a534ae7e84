"""The program of contact problems and impacts, called by address: the tasks share most of what is compiled for them.

A loop that solves contacts calls it with `call.solve_by`, so that its own compilation does not wait for all of this."""

from __future__ import annotations

from numba import types

from .coulomb import count_solutions, settle_contacts, solve_contacts
from .impact import resolve_impact
from .store import program

TASKS = SOLVE, COUNT, SETTLE = -1, -2, -3
"""Tasks beside the laws of impact: `solve_contacts`, `count_solutions` and `settle_contacts` of `coulomb`."""


@program(types.float64(*[types.int64] * 12))
def contact_program(task, k, first, rows, kinds, mu, e, n, w, b, r, work):
    """Do one of the tasks or resolve an impact by the law `task`: with b for v and r for P. e is read by laws alone."""
    if task == SOLVE:
        return solve_contacts(k, first, rows, kinds, mu, n, w, b, r, work)
    if task == COUNT:
        return count_solutions(k, first, rows, kinds, mu, n, w, b, r, work)
    if task == SETTLE:
        return settle_contacts(k, first, rows, kinds, mu, n, w, b, r, work)
    return resolve_impact(task, k, first, rows, kinds, mu, e, n, w, b, r, work)
