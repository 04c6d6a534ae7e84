"""Reactions that auxiliary speeds bring into evidence, as expressions of t, q, u, u̇ and tau.

The twin of a description has the auxiliary speeds a beside u. Its generalized forces, taken where a = 0, are linear in
the unknown reactions R: −(F + F*) = g + C R. Along a motion in which one auxiliary speed is 1 and the others 0, and the
speeds change by D so that the constraints A u + B a + c = 0 hold, A D = −B, they vanish [KL83]:

    g_a + Dᵀ (g_u − tau) + (C_a + Dᵀ C_u) R = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError, Problem
from ..graph import Expr, Values, depends_on, linear_coefficients, substitute
from ..model import Mechanism
from .elimination import Rows, solve_columns
from .expressions import MotionExpressions
from .transfer import Transfer

if TYPE_CHECKING:
    from .equations import Equations


def reaction_symbols(mechanism: Mechanism) -> dict[str, Expr]:
    """The names of reactions that auxiliary speeds bring into evidence, and the symbols that stand for them."""
    found = () if mechanism.auxiliary is None else mechanism.auxiliary.reactions
    return {reaction.name: mechanism.graph.input(f"reaction.{reaction.name}") for reaction in found}


def without_reaction_symbols(equations: Equations, exprs: list[Expr], *, accelerated: bool = False) -> list[Expr]:
    """Expressions in which these symbols are replaced by what they stand for, of t, q, u and tau; `accelerated`, of
    u̇ as well."""
    symbols = [equations.graph.input(f"reaction.{name}") for name in reaction_symbols(equations.mechanism)]
    if not symbols or not depends_on(exprs, symbols):
        return exprs
    found = list(auxiliary_reactions(equations).values())
    if not accelerated:
        found = substitute(found, dict(zip(equations.system.udot, equations.forward_dynamics, strict=True)))
    return substitute(exprs, dict(zip(symbols, found, strict=True)))


def auxiliary_reactions(equations: Equations) -> dict[str, Expr]:
    """Name → reaction (N, N m), of t, q, u, u̇, tau and free parameters."""
    mechanism, target = equations.mechanism, equations.graph
    auxiliary = mechanism.auxiliary
    if auxiliary is None:
        return {}
    _refuse_changed(mechanism)
    loose = MotionExpressions(auxiliary.twin, "all")
    graph, n = loose.graph, len(mechanism.speeds)
    extra = auxiliary.twin.speeds[n:]
    still = {graph.input(name): 0.0 for a in extra for name in (a, f"{a}'")}
    names = [reaction.name for reaction in auxiliary.reactions]
    C, g = linear_coefficients(substitute(loose.inverse_dynamics, still), [graph.input(name) for name in names])
    g = [x - graph.input(f"tau_{name}") for x, name in zip(g[:n], mechanism.speeds, strict=True)] + g[n:]
    state = {**loose.system.generic_state(), **equations.system.generic_state()}
    at = Values(dict.fromkeys(graph.inputs, 0.0) | state)
    D = _following_speeds(loose, n, at)
    rows: Rows = []
    sides: Rows = []
    for k in range(len(extra)):
        whole = [(D[i][k], i) for i in range(n) if not D[i][k].is_zero]
        rows.append([_sum(C[n + k][r], [(d, C[i][r]) for d, i in whole]) for r in range(len(names))])
        sides.append([-_sum(g[n + k], [(d, g[i]) for d, i in whole])])
    used = _independent([at(row) for row in rows], len(names))
    found, _ = solve_columns([rows[k] for k in used], [sides[k] for k in used], at)
    fixed = [p for p in mechanism.parameters.values() if p.has_value and p.name not in equations.free]
    bring = Transfer(graph, target, {graph.input(p.name): p.value for p in fixed})
    return dict(zip(names, equations.without_idle(bring([column[0] for column in found])), strict=True))


def _following_speeds(loose: MotionExpressions, n: int, at: Values) -> Rows:
    """D (n, auxiliary): how speeds change with each auxiliary one, so that the constraints hold; the last speeds do,
    which are those that the analyst called dependent, where the constraints can be solved for them."""
    zero, count = loose.graph.const(0.0), len(loose.system.u) - n
    D = [[zero] * count for _ in range(n)]
    rows = loose.constraints.A if loose.mechanism.constraints else []
    if all(e.is_zero for row in rows for e in row[n:]):
        return D
    numbers = [at(row) for row in rows]
    rank = int(np.linalg.matrix_rank(np.array([row[:n] for row in numbers])))
    used = _independent([row[:n] for row in numbers], rank)
    columns = [[numbers[r][j] for r in used] for j in range(n)]
    moved = [n - 1 - j for j in _independent(columns[::-1], rank)]
    block = [[rows[r][j] for j in moved] for r in used]
    solved, _ = solve_columns(block, [[-e for e in rows[r][n:]] for r in used], at)
    for j, row in zip(moved, solved, strict=True):
        D[j] = row
    return D


def _independent(rows: Sequence[Sequence[float]], count: int) -> list[int]:
    """Places of the first `count` rows that are well independent: each at least a tenth of its size away from what the
    ones before it span; where these are too few, whichever are farthest."""
    left = np.array(rows, dtype=float).reshape(len(rows), -1)
    sizes = np.linalg.norm(left, axis=1)
    found: list[int] = []
    while len(found) < count:
        away = np.linalg.norm(left, axis=1)
        good = [k for k in range(len(left)) if away[k] > 0.1 * sizes[k] > 0.0 and k not in found]
        k = good[0] if good else int(np.argmax(away))
        direction = left[k] / away[k]
        left = left - np.outer(left @ direction, direction)
        left[k] = 0.0
        found.append(k)
    return found


def _sum(total: Expr, products: Sequence[tuple[Expr, Expr]]) -> Expr:
    for x, y in products:
        total = total + x * y
    return total


def _refuse_changed(mechanism: Mechanism) -> None:
    """Refuse reactions of a script to whose loads and constraints others were added, or whose speeds were replaced."""
    assert mechanism.auxiliary is not None
    parts = (*mechanism.loads, *mechanism.constraints, *mechanism.changing)
    added = [f"'{name}' was added" for name in parts if name not in mechanism.auxiliary.parts]
    if tuple(s.definition for s in mechanism.speed_records.values()) != mechanism.auxiliary.speeds:
        added.append("other speeds were chosen")
    if added:
        raise ModelError(
            Problem(
                mechanism.where("reactions"),
                f"{added[0]} after the script was read",
                "the auxiliary speeds were described with the script's own loads, constraints and speeds",
                "change the script that the model was read from",
            )
        )


__all__ = ["auxiliary_reactions", "reaction_symbols", "without_reaction_symbols"]
