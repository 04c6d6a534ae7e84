"""Contact problems that were made elsewhere: how many are solved, how well, and how long one takes.

Times are those of the compiled program, called by its address from Python; what such a call takes for a contact at rest
is a row of its own and is in all others. No other program solves the same problems to the same accuracy.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, exactly, spread
from kane.simulate.compiled.contact_programs import COUNT, SOLVE, contact_program
from kane.simulate.compiled.contacts import CONE, work_size
from kane.simulate.contacts import solve_contact_problem
from unit.simulate.contact_laws import REFERENCE, Contacts, violation

REPEATS = 21
_PROGRAM = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_int64] * 12)


def problems() -> Iterator[tuple[str, int, Contacts]]:
    """(kind, number of contacts, problem); kinds end in 2 for planar and in 3 for spatial problems."""
    stored = np.load(REFERENCE / "contact_problems.npz")
    for name in sorted({name.rsplit("/", 1)[0] for name in stored.files}):
        W, b, mu = (np.ascontiguousarray(stored[f"{name}/{part}"], dtype=float) for part in ("W", "b", "mu"))
        k = len(mu)
        yield name.split("-")[0], k, Contacts(W, b, mu, ("cone",) * k, (len(b) // k,) * k)


def seconds_of(contacts: Contacts, task: int = SOLVE) -> float:
    """How long a problem takes from r = 0 on, in s: the median of some calls."""
    k, n = len(contacts.mu), len(contacts.b)
    rows = np.array(contacts.rows, dtype=np.int64)
    first, kinds = np.cumsum(rows) - rows, np.full(k, CONE, dtype=np.int64)
    r, work = np.zeros(n), np.zeros(work_size(k, n))
    lists = [array.ctypes.data for array in (first, rows, kinds, contacts.mu, contacts.mu)]
    arrays = [array.ctypes.data for array in (contacts.W, contacts.b, r, work)]
    program = _PROGRAM(contact_program.address)
    times = []
    for _ in range(REPEATS):
        r[:] = 0.0
        start = time.perf_counter()
        program(task, k, *lists, n, *arrays)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def solutions() -> list[Row]:
    """How many of the problems are solved, and how far the worst solution is from the laws."""
    solved, worst, count = 0, 0.0, 0
    for _, _, contacts in problems():
        solution = solve_contact_problem(contacts.W, contacts.b, contacts.mu)
        solved, count = solved + solution.solved, count + 1
        worst = max(worst, violation(contacts, solution.r))
    return [
        Row("Coulomb contact problems solved", exactly(solved), f"of {count}", count),
        Row("Coulomb contact problems: largest violation of a law", exactly(worst), "relative to b", 1e-8, "at most"),
    ]


def times() -> list[Row]:
    """Times of the problems, by their size."""
    call = seconds_of(Contacts(np.eye(2), np.zeros(2), np.zeros(1), ("cone",), (2,)))
    rows = [Row("call of the contact program, one contact at rest", exactly(1e6 * call), "µs")]
    for title, kinds, sizes, target in (
        ("planar contact problems, 1 to 4 contacts", "2", (1, 2, 4), 20.0),
        ("planar contact problems, 8 contacts", "2", (8,), None),
        ("planar contact problems, 24 contacts", "2", (24,), None),
        ("spatial contact problems, 8 contacts", "3", (8,), 250.0),
        ("spatial contact problems, 24 contacts", "3", (24,), None),
    ):
        found = [1e6 * seconds_of(c) for kind, k, c in problems() if kind.endswith(kinds) and k in sizes]
        rows.append(Row(f"{title}: time", spread(found), "µs", target, "at most"))
        rows.append(Row(f"{title}: longest time", exactly(max(found)), "µs"))
    counted = [1e6 * seconds_of(c, COUNT) for kind, k, c in problems() if kind.endswith("2") and k == 4]
    rows.append(Row("planar contact problems, 4 contacts, all solutions counted: time", spread(counted), "µs"))
    return rows
