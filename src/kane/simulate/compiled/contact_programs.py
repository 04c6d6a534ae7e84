"""The programs of contact problems and impacts, called by address."""

from __future__ import annotations

from numba import types

from .coulomb import count_solutions, solve_contacts
from .store import program


@program(types.float64(*[types.int64] * 10))
def contact_program(k, first, rows, kinds, mu, n, w, b, r, work):
    """`coulomb.solve_contacts`."""
    return solve_contacts(k, first, rows, kinds, mu, n, w, b, r, work)


@program(types.float64(*[types.int64] * 10))
def counting_program(k, first, rows, kinds, mu, n, w, b, r, work):
    """`coulomb.count_solutions`."""
    return count_solutions(k, first, rows, kinds, mu, n, w, b, r, work)
