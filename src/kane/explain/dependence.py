"""Dependent speeds as a textbook has them: how they follow the independent ones, and the equations without them.

Constraints A u + c = 0, whose rates are A u̇ = b, are solved for as many speeds as they restrict: u_d = D u_i + c_d and
u̇_d = D u̇_i + b_d. One or two of them are solved for by Cramer's rule, more of them as the programs do. Which speeds are
independent is decided in `formulation.choice`, or by the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..backends.mathml import text_name
from ..constraints.metric import scale_columns
from ..constraints.rank import Choice
from ..errors import InputError, SingularError
from ..formulation import Equations
from ..formulation.choice import choose_independent, serves_everywhere
from ..formulation.elimination import solve_columns
from ..formulation.embedding import evaluate_matrix
from ..graph import Expr
from .algebra import RATE, SPEED, Atom, Sum, Symbol, add, merge_angles, symbols_of
from .dropping import join_words
from .reading import SMALL, Reader, TooLong
from .records import DependentSpeeds

_DETERMINANTS = 2  # dependent speeds that are solved for by Cramer's rule
_GROWTH = 1.25  # times as long as with the dependent speeds in them, equations without these may be


def solve_dependent(e: Equations, reader: Reader, independent: Sequence[str] | None) -> DependentSpeeds:
    """The dependent speeds of a model with constraints."""
    choice = choose_independent(e) if independent is None else _choose(e, independent)
    if not choice.dependent:
        raise SingularError("the speeds do not determine the rates where the constraints are judged")
    names, rows = e.mechanism.speeds, e.spanning_rows
    columns = [[-rows.A[r][i] for r in choice.rows] for i in choice.independent]
    columns += [[-rows.c[r] for r in choice.rows], [rows.b[r] for r in choice.rows]]
    abouts = [
        [
            *(f"D: {names[d]} per {names[i]}" for i in choice.independent),
            f"{names[d]} where the independent speeds are zero",
            f"{names[d]}' where the independent rates are zero",
        ]
        for d in choice.dependent
    ]
    solve = _by_determinants if len(choice.dependent) <= _DETERMINANTS else _by_elimination
    solved = solve(e, choice, columns, abouts, reader)
    return DependentSpeeds(
        choice.dependent,
        choice.independent,
        D=tuple(tuple(row[:-2]) for row in solved),
        rest=tuple(row[-2] for row in solved),
        rates=tuple(row[-1] for row in solved),
        why=_why(e, choice, asked=independent is not None),
    )


def refuse_independent(independent: Sequence[str] | None, why: str) -> None:
    """Refuse independent speeds that were asked for where none can be chosen."""
    if independent is not None:
        raise InputError(f"explain: independent: {why}\n    fix: leave it out")


def _why(e: Equations, choice: Choice, *, asked: bool) -> str:
    """Why these speeds are the independent ones."""
    names = [text_name(name) for name in e.mechanism.speeds]
    follow = f"{join_words([names[d] for d in choice.dependent])} follow{'s' * (len(choice.dependent) == 1)}"
    them = "it" if len(choice.independent) == 1 else "them"
    if serves_everywhere(e, choice):
        told = f"{follow} from {them} in every position"
    else:
        best = "" if asked else " best"
        told = f"{follow} from {them}{best} in the initial position, and in others but for singular ones"
    return f"{'as asked for; ' if asked else ''}{told}"


def _scaled_rows(e: Equations) -> np.ndarray:
    """A at a regular state, columns measured by the masses that the speeds move."""
    rows, at = e.spanning_rows, e.regular_state.best
    mass = evaluate_matrix([[e.mass_matrix[i][i] for i in range(len(e.system.u))]], at)[0]
    return scale_columns(evaluate_matrix(rows.A, at), mass, rows.sizes)


def _choose(e: Equations, independent: Sequence[str]) -> Choice:
    """The choice with these independent speeds."""
    names, usual = e.mechanism.speeds, e.embedding.choice
    listed = (independent,) if isinstance(independent, str) else tuple(independent)
    free = f"{len(usual.independent)} of the speeds {', '.join(names)} are independent"
    wrong = [name for name in listed if name not in names]
    if wrong or len(set(listed)) != len(usual.independent):
        what = f"there is no speed {wrong[0]!r}" if wrong else f"{len(set(listed))} speeds are named"
        raise InputError(f"explain: independent: {what}\n    fix: {free}: name as many")
    chosen = tuple(i for i, name in enumerate(names) if name in listed)
    others = tuple(i for i in range(len(names)) if i not in chosen)
    A = _scaled_rows(e)[list(usual.rows)]
    size, largest = abs(np.linalg.det(A[:, others])), abs(np.linalg.det(A[:, usual.dependent]))
    if not size > 1e-9 * largest:
        possible = ", ".join(names[i] for i in usual.independent)
        raise InputError(
            f"explain: independent: the constraints do not determine the others from {', '.join(listed)}"
            f"\n    fix: name others, {possible} for example"
        )
    return Choice(chosen, others, usual.rows)


def _by_elimination(
    e: Equations, choice: Choice, columns: list[list[Expr]], abouts: list[list[str]], reader: Reader
) -> list[list[Sum]]:
    """The dependent speeds for every column, in rows; what is long is named."""
    right = [list(row) for row in zip(*columns, strict=True)]
    solved, _ = solve_columns(_block(e, choice), right, e.regular_state.best)
    return [
        [reader.name(x, about) for x, about in zip(row, named, strict=True)]
        for row, named in zip(solved, abouts, strict=True)
    ]


def _by_determinants(
    e: Equations, choice: Choice, columns: list[list[Expr]], abouts: list[list[str]], reader: Reader
) -> list[list[Sum]]:
    """The same by Cramer's rule."""
    block = _block(e, choice)
    below = merge_angles(reader.read(_determinant(block), "the determinant of the constraints")).inverse()

    def solve(right: Sequence[Expr], k: int, about: str) -> Sum:
        replaced = [[right[n] if c == k else x for c, x in enumerate(row)] for n, row in enumerate(block)]
        return merge_angles(reader.read(_determinant(replaced), about)) * below

    return [
        [solve(column, k, about) for column, about in zip(columns, named, strict=True)]
        for k, named in enumerate(abouts)
    ]


def _block(e: Equations, choice: Choice) -> list[list[Expr]]:
    """The columns of the dependent speeds."""
    return [[e.spanning_rows.A[r][d] for d in choice.dependent] for r in choice.rows]


def _determinant(rows: Sequence[Sequence[Expr]]) -> Expr:
    if len(rows) == 1:
        return rows[0][0]
    return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]


def reduce_equations(
    equations: Sequence[Sum], dependent: DependentSpeeds | None, speeds: Sequence[str], reader: Reader
) -> tuple[tuple[int, Sum], ...]:
    """F_i + F_i* + Σ D_di (F_d + F_d*) of the independent speeds; where Z's are introduced, F_d + F_d* that is long is
    one. Dependent speeds and rates are replaced by what they are, unless they stand in Z's or that is much longer.
    """
    if dependent is None:
        return ()
    forces = dict(enumerate(equations))
    rows = list(zip(dependent.dependent, dependent.D, strict=True))
    longest = max(
        len(forces[i].terms) + sum(len(D[k].terms) * len(forces[d].terms) for d, D in rows)
        for k, i in enumerate(dependent.independent)
    )
    if longest > 2 * SMALL and not reader.naming:
        raise TooLong
    if longest > SMALL and reader.naming:
        forces |= {d: reader.define(forces[d], f"F{d + 1} + F{d + 1}*") for d in dependent.dependent}
    found = [(i, add([forces[i], *(D[k] * forces[d] for d, D in rows)])) for k, i in enumerate(dependent.independent)]
    if reader.naming:
        return tuple(found)
    speed_values = dependent.values([Symbol(name, SPEED, k) for k, name in enumerate(speeds)])
    values: dict[Atom, Sum] = {**dependent.values(rates_of(speeds)), **speed_values}
    without = [(i, substitute(substitute(e, values), values)) for i, e in found]
    most = _GROWTH * max(SMALL, *(e.size for _, e in found))
    return tuple(without if all(e.size <= most for _, e in without) else found)


def rates_of(speeds: Sequence[str]) -> list[Symbol]:
    """The symbols of the rates of speeds."""
    return [Symbol(f"{name}'", RATE, k) for k, name in enumerate(speeds)]


def rates_left(
    sums: Sequence[Sum], dependent: DependentSpeeds | None, speeds: Sequence[str]
) -> tuple[tuple[Symbol, Sum], ...]:
    """What the rates of dependent speeds are that occur in sums."""
    if dependent is None:
        return ()
    occurring = set[str]().union(*map(symbols_of, sums))
    return tuple((s, value) for s, value in dependent.values(rates_of(speeds)).items() if s.name in occurring)


def substitute(total: Sum, values: Mapping[Atom, Sum]) -> Sum:
    """The sum with atoms replaced by sums."""
    parts = []
    for term in total.terms:
        product = Sum.of({tuple((a, n) for a, n in term.powers if a not in values): term.coefficient})
        for atom, n in term.powers:
            if atom in values:
                for _ in range(n):
                    product = product * values[atom]
        parts.append(product)
    return add(parts)
