"""Contact problems and impacts on arrays: what simulations solve in compiled code, for tests and for curious users.

A problem has k contacts with rows of their own, in order: the normal row of a contact first, then the tangential ones.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .routine import address_of

Array = NDArray[np.float64]

KINDS = ("normal", "cone", "bound", "free")
"""Words for the kinds of contacts, in the order of `compiled.contacts.KINDS`."""
METHODS = ("warm start", "enumeration", "Gauss-Seidel", "Newton", "Lemke")
"""Words for the methods, in the order of `compiled.contacts.METHODS`."""
LAWS = ("poisson", "newton", "stronge", "sequential", "plastic", "path-newton", "path-poisson")
"""Words for the laws of impact, in the order of `compiled.impact.LAWS`."""

_ROWS = {"normal": (1,), "cone": (2, 3), "bound": (1, 2)}
"""Numbers of rows that a kind may have; any number for a free one."""

_PROGRAM = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_int64] * 12)


@dataclass(frozen=True, slots=True)
class ContactSolution:
    """Reactions r and motions u = W r + b, both (n,).

    `residual` is the natural residual, relative and without unit; `solutions` how many solutions of different u there
    are, None where they were not counted, as with tangential planes. `method` is None if no solution was found.
    """

    r: Array
    u: Array
    residual: float
    method: str | None
    solutions: int | None

    @property
    def solved(self) -> bool:
        """Whether r is a solution."""
        return self.method is not None


@dataclass(frozen=True, slots=True)
class ImpactSolution:
    """Impulses P and velocities v after the impact, both (n,), and the law by which they are.

    That may be another one than was asked for: see `resolve_impact`. `guarded` says that the coefficients of
    restitution were made equal.
    """

    P: Array
    v: Array
    law: str
    residual: float
    guarded: bool


@dataclass(frozen=True, slots=True)
class _Contacts:
    """Contacts as compiled code takes them."""

    W: Array
    b: Array
    mu: Array
    first: NDArray[np.int64]
    rows: NDArray[np.int64]
    kinds: NDArray[np.int64]

    def run(self, task: int, e: Array, r: Array, work: Array) -> float:
        """Run the program of contacts, with r changed in place and the memory `work`; the natural residual."""
        from .compiled.contact_programs import contact_program

        lists = map(address_of, (self.first, self.rows, self.kinds, self.mu, e))
        arrays = map(address_of, (self.W, self.b, r, work))
        return _PROGRAM(contact_program.address)(task, len(self.mu), *lists, len(self.b), *arrays)


def solve_contact_problem(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    *,
    rows: Sequence[int] | None = None,
    kinds: Sequence[str] | None = None,
    start: ArrayLike | None = None,
    count: bool = False,
) -> ContactSolution:
    """Reactions r, (n,), for which u = W r + b satisfies the law of every contact.

    W, (n, n), may be unsymmetric and singular; mu, (k,), are coefficients of friction, or the bounds of bounded
    contacts. A contact is `normal` (1 row: r ≥ 0, u ≥ 0, r u = 0), `cone` (2 or 3 rows, the normal one first: Coulomb's
    law), `bound` (1 or 2 rows: |r| ≤ mu, opposite to u where u ≠ 0) or `free` (any rows: u = 0). Without `rows` all
    have the same number; without `kinds` those of one row are normal and others cones. The search begins at `start`,
    and with `count` it looks at all modes of contacts of one tangential direction.

    >>> from kane.simulate.contacts import solve_contact_problem
    >>> print(solve_contact_problem(W=[[-0.5]], b=[2.0], mu=[0.0]).solutions)  # opens, or is pressed together with 4
    2
    """
    from .compiled.contact_programs import COUNT, SOLVE
    from .compiled.contacts import PROBLEM, work_size

    contacts = _read_contacts(W, b, mu, rows, kinds)
    k, n = len(contacts.mu), len(contacts.b)
    r = np.zeros(n) if start is None else _read("start", start, (n,)).copy()
    work = np.zeros(work_size(k, n))
    residual = contacts.run(COUNT if count else SOLVE, contacts.mu, r, work)
    found = work[: PROBLEM.itemsize // 8].view(PROBLEM)[0]
    method, solutions = int(found["method"]), int(found["solutions"])
    return ContactSolution(
        r=r,
        u=contacts.W @ r + contacts.b,
        residual=residual,
        method=None if method < 0 else METHODS[method],
        solutions=None if solutions < 0 else solutions,
    )


def resolve_impact(
    W: ArrayLike,
    v: ArrayLike,
    mu: ArrayLike,
    e: ArrayLike,
    *,
    rows: Sequence[int] | None = None,
    kinds: Sequence[str] | None = None,
    law: str = "poisson",
) -> ImpactSolution:
    """Impulses P and velocities v + W P after an impact of contacts with coefficients of restitution e, (k,).

    Contacts are as in `solve_contact_problem`; free ones come to rest, bounded ones take no impulse. Laws are
    `poisson` (compression, then expansion), `newton` (Moreau's form, `poisson` where that would gain energy),
    `sequential` (contacts one after another), `plastic` (no restitution) and, for one planar contact and `poisson`
    else, `stronge`, `path-newton` and `path-poisson` along the path of impulses; `path-newton` also for one contact in
    space that does not approach but that its friction drives together.

    >>> from kane.simulate.contacts import resolve_impact
    >>> cradle = [[2, -1], [-1, 2]]  # three balls of 1 kg: two contacts, normal rows
    >>> after = resolve_impact(cradle, v=[-1, 0], mu=[0, 0], e=[1, 1], law="sequential")
    >>> print(after.v.round(12), after.law)
    [0. 1.] sequential
    """
    from .compiled.impact import IMPACT, impact_size

    if law not in LAWS:
        raise InputError(f"law is '{law}'; there is no such law of impact\n    fix: one of {', '.join(LAWS)}")
    contacts = _read_contacts(W, v, mu, rows, kinds, moving="v")
    k, n = len(contacts.mu), len(contacts.b)
    restitution = _read("e", e, (k,))
    if not np.all((restitution >= 0.0) & (restitution <= 1.0)):
        raise InputError(f"e is {restitution}; coefficients of restitution are from 0 to 1")
    P, work = np.zeros(n), np.zeros(impact_size(k, n))
    residual = contacts.run(LAWS.index(law), restitution, P, work)
    found = work[: IMPACT.itemsize // 8].view(IMPACT)[0]
    return ImpactSolution(
        P=P,
        v=contacts.b + contacts.W @ P,
        law=LAWS[int(found["law"])],
        residual=residual,
        guarded=bool(found["guarded"]),
    )


def _read(name: str, values: Any, shape: tuple[int, ...]) -> Array:
    """The values as numbers of this shape."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; the contacts need {shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} has values that are not finite")
    return array


def _read_contacts(
    W: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    rows: Sequence[int] | None,
    kinds: Sequence[str] | None,
    moving: str = "b",
) -> _Contacts:
    """The contacts in the form of compiled code."""
    n, k = np.size(b), np.size(mu)
    if rows is None:
        if k == 0 or n % k:
            raise InputError(f"{moving} has {n} rows for {k} contacts; say with `rows` how many each contact has")
        rows = [n // k] * k
    if kinds is None:
        kinds = ["normal" if count == 1 else "cone" for count in rows]
    if len(rows) != k or len(kinds) != k or sum(rows) != n:
        raise InputError(
            f"mu has {k} contacts, rows {len(rows)} with {sum(rows)} rows in all, kinds {len(kinds)}; "
            f"the contacts of all have to be the same and {moving} has {n} rows"
        )
    for i, (count, kind) in enumerate(zip(rows, kinds, strict=True)):
        if kind not in KINDS:
            raise InputError(f"kinds[{i}] is '{kind}'; there is no such kind\n    fix: one of {', '.join(KINDS)}")
        if count not in _ROWS.get(kind, (count,)) or count < 1:
            allowed = " or ".join(map(str, _ROWS.get(kind, ("1 and more",))))
            raise InputError(f"rows[{i}] is {count}; a contact of kind '{kind}' has {allowed}")
    friction = _read("mu", mu, (k,))
    if np.any(friction < 0.0):
        raise InputError(f"mu is {friction}; friction is not negative")
    counts = np.array(rows, dtype=np.int64)
    return _Contacts(
        W=_read("W", W, (n, n)),
        b=_read(moving, b, (n,)),
        mu=friction,
        first=np.cumsum(counts) - counts,
        rows=counts,
        kinds=np.array([KINDS.index(kind) for kind in kinds], dtype=np.int64),
    )
