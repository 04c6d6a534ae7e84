"""Constraints in checks: states on them, accelerations by multipliers, what reactions may and may not do.

The multipliers λ solve M u̇ = f + Aᵀλ, A u̇ = b in numbers, least where rows are redundant: a route to the accelerations
that shares nothing with the embedding but the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..constraints.metric import speed_units, unit_lengths
from ..constraints.projection import InconsistentRows, RowLabels, RowTerms, project_position, project_speeds
from ..constraints.thresholds import NO_MASS, REDUNDANT
from ..formulation import Equations
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
    labels = RowLabels(rows.names, units, rows.sizes)
    T = displacements(equations.system)
    flat = [e for r in T for e in r]
    q, u = states.q.copy(), states.u.copy()
    for k in range(len(states)):
        one = States(*(x[k : k + 1] for x in (states.t, states.q, states.u, states.udot, states.tau)))

        def terms(at: Array, one: States = one) -> RowTerms:
            here = States(one.t, at[None], one.u, one.udot, one.tau)
            A, rate, _, phi = (x[0] for x in ask("constraints", here))
            follow = ask.of("displacements", ("t", "q"), {"T": ((len(T), len(T[0])), flat)}, here)
            return RowTerms(A, rate, phi, np.asarray(follow).reshape(len(T), -1))

        for part in _SPREADS:
            try:
                guess = start + part * (states.q[k] - start)
                q[k] = project_position(
                    lambda at: _with_residual(terms(at), rows.placed), unit, guess, labels.select(rows.placed), ()
                )
                u[k] = project_speeds(terms(q[k]), states.u[k], labels, ())
                break
            except InconsistentRows:
                if part == 0.0:
                    raise
    return States(states.t, q, u, states.udot, states.tau)


def _with_residual(terms: RowTerms, placed: tuple[int, ...]) -> RowTerms:
    """Those rows that have a residual."""
    some = list(placed)
    return RowTerms(terms.A[some], terms.rate[some], terms.phi[some], terms.T)


def by_multipliers(M: Array, f: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """(u̇, λ) of M u̇ = f + Aᵀλ, A u̇ = b at one state, by least squares: M (n, n), f (n,), A (m, n), b (m,).

    Speeds that move no mass are measured like the mean of the others: measured by next to nothing, their columns would
    be so long that the others drowned in their rounding errors.
    """
    m, n = A.shape
    mass = np.abs(np.diag(M))
    root = speed_units(np.where(mass > NO_MASS * mass.max(initial=0.0), mass, mass.sum() / max(1, n)))
    unit = 1.0 / unit_lengths(A * root)
    rows = (A * root) * unit[:, None]
    whole = np.block([[M * np.outer(root, root), -rows.T], [rows, np.zeros((m, m))]])
    solution = np.linalg.lstsq(whole, np.concatenate([f * root, b * unit]), rcond=REDUNDANT)[0]
    return solution[:n] * root, solution[n:] * unit


__all__ = ["by_multipliers", "on_constraints"]
