"""Motion in one mode of a system whose constraints come and go, written out as one program.

A mode holds some rows and lets friction act along others. With the rows that hold embedded, u̇ = N u̇_I + N0, reactions λ
follow from what is left over along the dependent speeds, and friction −μ d λ_n from λ: G λ = M u̇ − f with one column of
G for every row that holds, its own a and the friction it brings, g = a − μ d a_t. Eliminating λ from the equations of
the dependent speeds leaves P (M u̇ − f) = 0 with P = [1, −G_Iᵀ G_D⁻ᵀ]; without friction P is Nᵀ [GIL03, Eqs. 44-45].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..constraints.rank import choose_speeds
from ..errors import ModelError, Problem
from ..graph import Expr, Program, Values
from ..graph.layout import INPUTS
from .constraints import Constraints
from .elimination import solve_columns
from .embedding import Embedded, evaluate_matrix
from .equations import Equations
from .mass import solve
from .motion import ControlLaw, apply_law, load_power
from .regular import regular_state


@dataclass(frozen=True, slots=True)
class SlidingFriction:
    """Friction along a row: −`coefficient` `sign` times the reaction of the row `normal`, or times 1 if that is None.
    `sign` is that of the slip."""

    row: int
    sign: float
    coefficient: Expr
    normal: int | None


@dataclass(frozen=True, slots=True)
class ModeRows:
    """Which rows hold, and the friction along rows that do not."""

    held: tuple[int, ...]
    friction: tuple[SlidingFriction, ...] = ()


@dataclass(frozen=True, slots=True)
class ModeMotion:
    """u̇ (n) and the reactions (all rows) in a mode."""

    udot: list[Expr]
    reactions: list[Expr]


def mode_motion(equations: Equations, mode: ModeRows, law: ControlLaw | None = None) -> ModeMotion:
    """Accelerations and reactions in a mode; `equations` are those of the mechanism in which every row holds."""
    graph, rows, M = equations.graph, equations.constraints, equations.mass_matrix
    f = apply_law(equations, law, [t - b for t, b in zip(equations.tau, equations.bias, strict=True)])
    reactions = [graph.const(0.0)] * len(rows)
    brought: dict[int, list[Expr]] = {r: list(rows.A[r]) for r in mode.held}
    for friction in mode.friction:
        force = [-friction.sign * friction.coefficient * a for a in rows.A[friction.row]]
        if friction.normal is None:
            f = [x + y for x, y in zip(f, force, strict=True)]
            reactions[friction.row] = -friction.sign * friction.coefficient
        else:
            brought[friction.normal] = [x + y for x, y in zip(brought[friction.normal], force, strict=True)]
    if not mode.held:
        return ModeMotion(solve(M, f, range(len(f))), reactions)
    held = _select(rows, mode.held)
    embedded, at = _embedding_of(equations, held)
    columns = [brought[r] for r in mode.held]
    coulomb = any(friction.normal is not None for friction in mode.friction)
    udot = _solve_with_friction(equations, embedded, columns, f, at) if coulomb else _solve(equations, embedded, f)
    left = [_residual(M, udot, f, d) for d in embedded.choice.dependent]
    along = [[column[d] for column in columns] for d in embedded.choice.dependent]
    found, _ = solve_columns(along, [[x] for x in left], at)
    for r, (value,) in zip(mode.held, found, strict=True):
        reactions[r] = value
    for friction in mode.friction:
        if friction.normal is not None:
            reactions[friction.row] = -friction.sign * friction.coefficient * reactions[friction.normal]
    return ModeMotion(udot, reactions)


def _select(rows: Constraints, held: Sequence[int]) -> Constraints:
    return Constraints(
        tuple(rows.names[r] for r in held),
        [rows.A[r] for r in held],
        [rows.c[r] for r in held],
        [rows.rate[r] for r in held],
        [rows.b[r] for r in held],
        [rows.phi[r] for r in held],
        tuple(k for k, r in enumerate(held) if r in rows.placed),
        rows.sizes[list(held)],
    )


def _embedding_of(equations: Equations, held: Constraints) -> tuple[Embedded, Values]:
    """The rows of a mode embedded, and the state at which they were judged; refuses rows that depend on each other."""
    at = regular_state(equations.system, held).best
    mass = evaluate_matrix([[row[i] for i, row in enumerate(equations.mass_matrix)]], at)[0]
    choice = choose_speeds(evaluate_matrix(held.A, at), np.asarray(mass), sizes=held.sizes)
    if len(choice.rows) < len(held):
        raise ModelError(
            Problem(
                equations.mechanism.where("modes"),
                f"rows depend on each other where {', '.join(held.names)} hold",
                "in a mode that is written out every reaction is determined",
                "leave out embed='formulation': at run time such modes are taken as they come",
            )
        )
    return Embedded.of(held, choice, at), at


def _solve(equations: Equations, embedded: Embedded, f: Sequence[Expr]) -> list[Expr]:
    """u̇ where friction does not depend on reactions."""
    M, mixed = embedded.mass_matrix(equations.mass_matrix)
    count = len(embedded.choice.independent)
    independent = solve(M, embedded.forces(f, mixed), range(count)) if count else []
    return embedded.all_speeds(independent, equations.graph)


def _solve_with_friction(
    equations: Equations, embedded: Embedded, columns: Sequence[Sequence[Expr]], f: Sequence[Expr], at: Values
) -> list[Expr]:
    """u̇ from P (M u̇ − f) = 0 with u̇ = N u̇_I + N0."""
    graph, M = equations.graph, equations.mass_matrix
    independent, dependent = embedded.choice.independent, embedded.choice.dependent
    across = [[column[d] for d in dependent] for column in columns]  # row h: G_D of the reaction h
    Q, _ = solve_columns(across, [[column[i] for i in independent] for column in columns], at)
    still = embedded.all_speeds([graph.const(0.0)] * len(independent), graph)
    moved = [
        embedded.all_speeds([graph.const(1.0 if k == j else 0.0) for k in range(len(independent))], graph)
        for j in range(len(independent))
    ]
    moved = [[x - y for x, y in zip(m, still, strict=True)] for m in moved]

    def through(vector: Sequence[Expr]) -> list[Expr]:
        """P times a vector."""
        out: list[Expr] = []
        for k, i in enumerate(independent):
            total = vector[i]
            for a, d in enumerate(dependent):
                total = total - Q[a][k] * vector[d]
            out.append(total)
        return out

    def inertia(vector: Sequence[Expr]) -> list[Expr]:
        """M times a vector."""
        out: list[Expr] = []
        for row in M:
            total = graph.const(0.0)
            for m, x in zip(row, vector, strict=True):
                total = total + m * x
            out.append(total)
        return out

    force = through([x - y for x, y in zip(f, inertia(still), strict=True)])
    if not independent:
        return still
    reduced = [list(row) for row in zip(*(through(inertia(m)) for m in moved), strict=True)]
    found, _ = solve_columns(reduced, [[x] for x in force], at)
    return embedded.all_speeds([x[0] for x in found], graph)


def _residual(M: Sequence[Sequence[Expr]], udot: Sequence[Expr], f: Sequence[Expr], i: int) -> Expr:
    """(M u̇ − f) along the speed i."""
    total = -f[i]
    for m, x in zip(M[i], udot, strict=True):
        total = total + m * x
    return total


def mode_programs(
    equations: Equations, mode: ModeRows, permanent: int, law: ControlLaw | None = None
) -> tuple[Program, Program]:
    """(rates of the state, what tells the end of the mode): the second writes reactions, rates and residuals of all
    rows, and of those that friction acts along what their rates are sums of, Σ |a u| + |c|, for their rounding. Rows
    from `permanent` on come and go: their reactions do work, and so do those of others that are driven."""
    rows, motion = equations.constraints, mode_motion(equations, mode, law)
    (power,) = apply_law(equations, law, [load_power(equations)])
    for k, (reaction, row) in enumerate(zip(motion.reactions, rows.A, strict=True)):
        if k < permanent and rows.c[k].is_zero:
            continue
        for a, u in zip(row, equations.system.u, strict=True):  # what moves by itself, as a belt does, works too
            power = power + reaction * (a * u)
    rates = [*equations.system.qdot, *motion.udot, power]
    m = len(rows)
    sizes = [equations.graph.const(0.0)] * m
    for row in {friction.row for friction in mode.friction}:
        sizes[row] = abs(rows.c[row])
        for a, u in zip(rows.A[row], equations.system.u, strict=True):
            sizes[row] = sizes[row] + abs(a * u)
    ends = {"reactions": ((m,), motion.reactions), "rate": ((m,), list(rows.rate)), "phi": ((m,), list(rows.phi))}
    ends["size"] = ((m,), sizes)
    return (
        equations.lower_outputs("mode", INPUTS, {"rates": ((len(rates),), rates)}),
        equations.lower_outputs("mode_ends", INPUTS, ends),
    )


__all__ = ["ModeMotion", "ModeRows", "SlidingFriction", "mode_motion", "mode_programs"]
