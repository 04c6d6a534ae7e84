"""Equations of motion in the closed form of control design: M u̇ + F = B τ, and in independent speeds alone.

With u = S z + u0 for the independent speeds z that were chosen, u̇ = S ż + Ṡz, and Sᵀ M S ż + Sᵀ(M Ṡz + F) = Sᵀ B τ
[TK01, Eqs. 7 and 8]. S, u0 and Ṡz solve one linear system: the rows of the constraints and those that define z,
A u + c = 0 and Y u + y = z; A u̇ = b and Y u̇ = ż − the rate of Y u + y at u̇ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..constraints.metric import drop_rounding, unit_lengths
from ..constraints.rank import null_space, pivot_columns
from ..constraints.thresholds import SINGULAR
from ..errors import ModelError, Problem
from ..graph import Expr, Inputs, Program, Values, linear_coefficients, lower, substitute, time_derivative
from ..model.measures import MeasureNumbers
from ..model.symbols import Quantity
from .elimination import solve_columns
from .embedding import evaluate_matrix
from .equations import Equations
from .expressions import Output

Rows = list[list[Expr]]

CLOSED_FORM = ("M", "F", "B", "S", "Sdot_z", "u0", "reduced_M", "reduced_F", "reduced_B")
"""What a closed form consists of: the terms of all speeds, how these follow from z, and what is left along z."""

PIVOTS = "pivots"
"""The output that tells how far the speeds z are from not determining the motion: shares of what the pivots of the
elimination are where they were chosen."""


@dataclass(frozen=True, slots=True)
class ClosedFormOf:
    """What was chosen: independent speeds by name, each a speed of the model or an expression linear in the speeds, and
    what inputs act along: speeds, rates or joints."""

    speeds: Mapping[str, Quantity]
    inputs: tuple[str, ...]


def closed_form_program(equations: Equations, chosen: ClosedFormOf, names: Sequence[str]) -> Program:
    """A program of the named outputs, of `CLOSED_FORM` and `PIVOTS`, from q and z; t and parameters where they matter.

    The graph of `equations` is used up by it: give one of its own.
    """
    found = _Terms(equations, chosen).outputs(names)
    groups = equations.groups(["t", "q", *(["parameters"] if equations.free else [])])
    return lower("closed_form", [*groups, Inputs("z", tuple(chosen.speeds), "u")], found, optional=("t",))


class _Terms:
    """The terms of a closed form, as expressions of q and z."""

    def __init__(self, equations: Equations, chosen: ClosedFormOf):
        self.equations, self.graph = equations, equations.graph
        self.n, self.p, self.k = len(equations.system.u), len(chosen.speeds), len(chosen.inputs)
        self.z = [self.graph.input(name) for name in chosen.speeds]
        held = equations.mechanism.constraints
        at = equations.regular_state.best if held else Values(equations.system.initial_state())
        rows = _rows(equations, chosen, at)
        X, pivots = solve_columns(rows.factors, rows.right, at)
        self.S = [x[: self.p] for x in X]
        self.u0 = [x[self.p] for x in X]
        self._rate = [x[self.p + 1] for x in X]
        shares = [p * (1.0 / value) for p, value in zip(pivots, at(pivots), strict=True)]
        self.shrunk = shares or [self.graph.const(1.0)]
        self.B = _input_matrix(equations, chosen.inputs)
        u = [self._sum(row, self.z, u0) for row, u0 in zip(self.S, self.u0, strict=True)]
        self._speeds = dict(zip(equations.system.u, u, strict=True))

    def outputs(self, names: Sequence[str]) -> dict[str, Output]:
        """The named ones, by name."""
        n, p, k = self.n, self.p, self.k
        shapes = {"M": (n, n), "F": (n,), "B": (n, k), "S": (n, p), "Sdot_z": (n,), "u0": (n,)}
        shapes |= {"reduced_M": (p, p), "reduced_F": (p,), "reduced_B": (p, k), PIVOTS: (len(self.shrunk),)}
        return {name: (shapes[name], self._expressions(name, names)) for name in names}

    def _expressions(self, name: str, names: Sequence[str]) -> list[Expr]:
        if name in ("M", "B", "S"):
            return _flat({"M": self.equations.mass_matrix, "B": self.B, "S": self.S}[name])
        if name == "reduced_M":
            return _flat(self._reduced_mass())
        if name == "reduced_B":
            return _flat(_transpose([self._reduce(column) for column in _transpose(self.B)], self.p))
        if name == "reduced_F":
            return self._reduced_bias(by_mass="M" in names or "reduced_M" in names)
        if name in ("F", "Sdot_z"):
            return self._in_z(self.equations.bias if name == "F" else self._rate)
        return self.u0 if name == "u0" else self.shrunk

    def _reduced_bias(self, *, by_mass: bool) -> list[Expr]:
        """Sᵀ(M Ṡz + F): with M where it is there anyway, else as efforts that produce u̇ = Ṡz, one sweep."""
        rate = self._in_z(self._rate)
        if by_mass:
            bias = self._in_z(self.equations.bias)
            return self._reduce(
                [self._sum(row, rate, f) for row, f in zip(self.equations.mass_matrix, bias, strict=True)]
            )
        moving = {**self._speeds, **dict(zip(self.equations.system.udot, rate, strict=True))}
        return self._reduce(substitute(self.equations.inverse_dynamics, moving))

    def _in_z(self, exprs: Sequence[Expr]) -> list[Expr]:
        """Expressions of q and u as those of q and z."""
        return substitute(list(exprs), self._speeds)

    def _reduce(self, f: Sequence[Expr]) -> list[Expr]:
        """Sᵀ f."""
        return [self._sum([row[k] for row in self.S], f, self.graph.const(0.0)) for k in range(self.p)]

    def _reduced_mass(self) -> Rows:
        """Sᵀ M S, each entry below its diagonal once."""
        moved = _transpose([self._reduce(column) for column in _transpose(self.equations.mass_matrix)], self.p)  # Sᵀ M
        columns = [[row[k] for row in self.S] for k in range(self.p)]
        lower_part = [
            [self._sum(moved[i], columns[j], self.graph.const(0.0)) for j in range(i + 1)] for i in range(self.p)
        ]
        return [[lower_part[max(i, j)][min(i, j)] for j in range(self.p)] for i in range(self.p)]

    @staticmethod
    def _sum(a: Sequence[Expr], b: Sequence[Expr], total: Expr) -> Expr:
        for x, y in zip(a, b, strict=True):
            total = total + x * y
        return total


@dataclass(frozen=True, slots=True)
class _Rows:
    """Factors of u in the rows of the constraints and in the definitions of z, and right-hand sides: one column for
    each z, one for u0, one for u̇ at ż = 0."""

    factors: Rows
    right: Rows


def _rows(equations: Equations, chosen: ClosedFormOf, at: Values) -> _Rows:
    graph, system, p = equations.graph, equations.system, len(chosen.speeds)
    zero, one = graph.const(0.0), graph.const(1.0)
    defined = _definitions(equations, chosen.speeds)
    Y, y = linear_coefficients(defined, system.u)
    rates = time_derivative(defined, equations.system.kinematics(accelerate=False).rates)
    factors, right = list[list[Expr]](), list[list[Expr]]()
    if equations.mechanism.constraints:
        rows = equations.spanning_rows
        A, sizes = evaluate_matrix(rows.A, at), rows.sizes
        _refuse_dependent(equations, chosen, evaluate_matrix(Y, at), null_space(A, sizes=sizes))
        kept = sorted(pivot_columns((drop_rounding(A, sizes) / unit_lengths(A, sizes)[:, None]).T))
        factors = [rows.A[r] for r in kept]
        right = [[*([zero] * p), -rows.c[r], rows.b[r]] for r in kept]
    else:
        _refuse_dependent(equations, chosen, evaluate_matrix(Y, at), np.eye(len(system.u)))
    for k in range(p):
        factors.append(Y[k])
        right.append([*(one if i == k else zero for i in range(p)), -y[k], -rates[k]])
    return _Rows(factors, right)


def _definitions(equations: Equations, speeds: Mapping[str, Quantity]) -> list[Expr]:
    """What each z is, in the speeds of the equations."""
    m = equations.mechanism
    measures = MeasureNumbers(m, dict(m.names()))
    described = [m.scalar(definition, f"closed form / {name}", measures) for name, definition in speeds.items()]
    return equations.system.take(described)


def _refuse_dependent(equations: Equations, chosen: ClosedFormOf, Y: np.ndarray, free: np.ndarray) -> None:
    """Refuse speeds that do not determine the motion: more or fewer than its degrees of freedom, or dependent ones."""
    names, degrees = ", ".join(chosen.speeds), free.shape[1]
    what = f"{len(chosen.speeds)} speeds are chosen for {degrees} degrees of freedom" if len(Y) != degrees else ""
    if not what:
        lengths = np.linalg.norm(Y, axis=1)
        values = np.linalg.svd(Y / np.where(lengths > 0.0, lengths, 1.0)[:, None] @ free, compute_uv=False)
        if not values.min(initial=1.0) > SINGULAR:
            what = f"{names} do not tell all motions apart where the model starts"
    if what:
        m = equations.mechanism
        able = [m.speeds[i] for i in equations.embedding.choice.independent] if m.constraints else list(m.speeds)
        because = "speeds z are independent and determine all others, u = S z"
        raise ModelError(Problem(m.where("closed form"), what, because, f"choose others, such as {', '.join(able)}"))


def _input_matrix(equations: Equations, inputs: Sequence[str]) -> Rows:
    """B (n, k): efforts along all speeds of a unit of each input."""
    m = equations.mechanism
    columns = list[list[Expr]]()
    for name in inputs:
        along = m.effort_variable(name, f"closed form / {name}")
        columns.append(equations.control_efforts({along: m.graph.const(1.0)}))
    return _transpose(columns, len(equations.system.u))


def _transpose(rows: Sequence[Sequence[Expr]], count: int | None = None) -> Rows:
    """Columns as rows; `count` of them where there are no rows."""
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(count or 0)]


def _flat(rows: Rows) -> list[Expr]:
    return [e for row in rows for e in row]


__all__ = ["CLOSED_FORM", "PIVOTS", "ClosedFormOf", "closed_form_program"]
