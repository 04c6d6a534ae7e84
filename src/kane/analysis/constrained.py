"""Constraints in checks: states on them, accelerations by multipliers, what reactions may and may not do.

The multipliers λ solve M u̇ = f + Aᵀλ, A u̇ = b in numbers, least where rows are redundant: a route to the accelerations
that shares nothing with the embedding but the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..formulation import Equations
from ..formulation.consistency import Terms, Unclosed, closed, moving
from ..formulation.constraints import displacements
from .programs import Array, Programs, States

_SPREADS = (1.0, 0.5, 0.2, 0.05, 0.0)  # parts of a random distance from the start at which closing is tried


def on_constraints(
    equations: Equations, ask: Programs, states: States, start: Array, unit: Callable[[Array], Array]
) -> States:
    """States moved onto the constraints, drawn nearer to the initial coordinates `start` where they cannot be closed.

    `unit` makes quaternions among coordinates unit.
    """
    if not equations.mechanism.constraints:
        return states
    rows = equations.constraints
    units = [row.unit for c in equations.mechanism.constraints.values() for row in c.rows]
    T = displacements(equations.system)
    flat = [e for r in T for e in r]
    q, u = states.q.copy(), states.u.copy()
    for k in range(len(states)):
        one = States(*(x[k : k + 1] for x in (states.t, states.q, states.u, states.udot, states.tau)))

        def terms(at: Array, one: States = one) -> Terms:
            here = States(one.t, at[None], one.u, one.udot, one.tau)
            A, rate, _, phi = (x[0] for x in ask("constraints", here))
            follow = ask.of("displacements", ("t", "q"), {"T": ((len(T), len(T[0])), flat)}, here)
            return Terms(A, rate, phi, np.asarray(follow).reshape(len(T), -1))

        for part in _SPREADS:
            try:
                guess = start + part * (states.q[k] - start)
                q[k] = closed(lambda at: _placed(terms(at), rows.placed), unit, guess, rows.names, ())
                u[k] = moving(terms(q[k]), states.u[k], rows.names, (), units)
                break
            except Unclosed:
                if part == 0.0:
                    raise
    return States(states.t, q, u, states.udot, states.tau)


def _placed(terms: Terms, placed: tuple[int, ...]) -> Terms:
    """Those rows that have a residual."""
    some = list(placed)
    return Terms(terms.A[some], terms.rate[some], terms.phi[some], terms.T)


def by_multipliers(M: Array, f: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """(u̇, λ) of M u̇ = f + Aᵀλ, A u̇ = b at one state, by least squares: M (n, n), f (n,), A (m, n), b (m,)."""
    m, n = A.shape
    root = 1.0 / np.sqrt(np.abs(np.diag(M)) + 1e-6 * (float(np.abs(np.diag(M)).mean()) or 1.0))
    lengths = np.linalg.norm(A * root, axis=1)
    unit = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    rows = (A * root) * unit[:, None]
    whole = np.block([[M * np.outer(root, root), -rows.T], [rows, np.zeros((m, m))]])
    solution = np.linalg.lstsq(whole, np.concatenate([f * root, b * unit]), rcond=1e-11)[0]
    return solution[:n] * root, solution[n:] * unit


def not_reacted(A: Array, efforts: Array) -> Array:
    """What of efforts (n,) no reaction Aᵀλ can give: their part along the motions that the rows A (m, n) allow."""
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    rows = A / np.where(lengths > 0.0, lengths, 1.0)
    return efforts - rows.T @ np.linalg.lstsq(rows.T, efforts, rcond=1e-10)[0]


def allowed(A: Array) -> Array:
    """N (n, n − rank): an orthonormal basis of the speeds that rows A (m, n) allow."""
    _, values, right = np.linalg.svd(A)
    rank = int(np.sum(values > 1e-9 * values.max(initial=0.0)))
    return right[rank:].T


__all__ = ["allowed", "by_multipliers", "not_reacted", "on_constraints"]
