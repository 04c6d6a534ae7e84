"""Dependent speeds as a textbook has them: which ones, how they follow the others, and the equations without them.

Constraints A u + c = 0, whose rates are A u̇ = b, are solved for as many speeds as they restrict: u_d = D u_i + c_d and
u̇_d = D u̇_i + b_d. One or two of them are solved for by Cramer's rule, those for which D is shortest, if no others are
asked for; more of them as the programs do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ..constraints.metric import scale_columns
from ..constraints.rank import Choice
from ..errors import InputError, SingularError
from ..formulation import Equations
from ..formulation.embedding import Embedded, evaluate_matrix
from ..graph import Expr
from .algebra import PARAMETER, RATE, SPEED, ZERO, Atom, Sum, Symbol, add, merge_angles, symbol_sum
from .reading import SMALL, Reader, TooLong
from .records import DependentSpeeds

_DETERMINANTS = 2  # dependent speeds that are solved for by Cramer's rule
_TRIED = 60  # choices of them that are compared
_REGULAR = 0.1  # of the largest determinant, columns scaled: below it a choice is near a singular position
_GROWTH = 1.25  # times as long as with the dependent speeds in them, equations without these may be

Read = Callable[[Expr, str], Sum]


def solve_dependent(e: Equations, reader: Reader, rough: Reader, independent: Sequence[str] | None) -> DependentSpeeds:
    """The dependent speeds of a model with constraints; `rough` compares lengths and names nothing."""
    choice = e.embedding.choice if independent is None else _choose(e, independent)
    if not choice.dependent:
        raise SingularError("the speeds do not determine the rates where the constraints are judged")
    if len(choice.dependent) <= _DETERMINANTS:
        if independent is None:
            choice = _shortest(e, rough, choice)
        return _by_determinants(e, choice, reader.read)
    rows, at = e.spanning_rows, e.regular_state.best
    embedded = Embedded.of(rows, choice, at)
    names = e.mechanism.speeds
    D = tuple(
        tuple(reader.name(x, f"D: {names[d]} per {names[i]}") for i, x in zip(choice.independent, row, strict=True))
        for d, row in zip(choice.dependent, embedded.D, strict=True)
    )
    rest = None if rows.driven else (ZERO,) * len(choice.dependent)
    return DependentSpeeds(choice.dependent, choice.independent, D, rest)


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


def _shortest(e: Equations, rough: Reader, usual: Choice) -> Choice:
    """The choice for which D is shortest: before anything else one that no position is singular for, then one with
    nothing that moves below a bar."""
    names = range(len(e.mechanism.speeds))
    candidates = list(combinations(names, len(usual.dependent)))
    if not usual.dependent or len(candidates) > _TRIED:
        return usual
    A = _scaled_rows(e)[list(usual.rows)]
    sizes = {dependent: abs(float(np.linalg.det(A[:, dependent]))) for dependent in candidates}
    regular = [x for x in candidates if sizes[x] >= _REGULAR * max(sizes.values()) and x != usual.dependent]
    found = [usual, *(Choice(tuple(i for i in names if i not in x), x, usual.rows) for x in regular)]
    return min(found, key=lambda choice: _length(e, choice, rough))


def _length(e: Equations, choice: Choice, rough: Reader) -> tuple[float, float, float]:
    try:
        below = _below(e, choice, rough.read)
        solved = _by_determinants(e, choice, rough.read)
    except TooLong:
        return float("inf"), float("inf"), float("inf")
    entries = [x for row in solved.D for x in row]
    return _is_divided(below), sum(_is_divided(x) for x in entries), sum(x.size for x in entries)


def _is_divided(total: Sum) -> bool:
    """Whether something that is no parameter stands below a bar."""
    below = (atom for term in total.terms for atom, n in term.powers if n < 0)
    return any(not (isinstance(atom, Symbol) and atom.kind == PARAMETER) for atom in below)


def _by_determinants(e: Equations, choice: Choice, read: Read) -> DependentSpeeds:
    """D, c_d and b_d by Cramer's rule, for one dependent speed or two."""
    rows, names, block, below = e.spanning_rows, e.mechanism.speeds, _block(e, choice), _below(e, choice, read)

    def solve(right: Sequence[Expr], k: int, about: str) -> Sum:
        replaced = [[right[n] if c == k else x for c, x in enumerate(row)] for n, row in enumerate(block)]
        return merge_angles(read(_determinant(replaced), about)) * below

    D, rest, rates = [], [], []
    for k, d in enumerate(choice.dependent):
        columns = [[-rows.A[r][i] for r in choice.rows] for i in choice.independent]
        abouts = [f"D: {names[d]} per {names[i]}" for i in choice.independent]
        D.append(tuple(solve(column, k, about) for column, about in zip(columns, abouts, strict=True)))
        rest.append(solve([-rows.c[r] for r in choice.rows], k, f"{names[d]} where the independent speeds are zero"))
        rates.append(solve([rows.b[r] for r in choice.rows], k, f"{names[d]}' where the independent rates are zero"))
    return DependentSpeeds(choice.dependent, choice.independent, tuple(D), tuple(rest), tuple(rates))


def _block(e: Equations, choice: Choice) -> list[list[Expr]]:
    """The columns of the dependent speeds."""
    return [[e.spanning_rows.A[r][d] for d in choice.dependent] for r in choice.rows]


def _below(e: Equations, choice: Choice, read: Read) -> Sum:
    """What D is divided by, as a factor."""
    return merge_angles(read(_determinant(_block(e, choice)), "the determinant of the constraints")).inverse()


def _determinant(rows: Sequence[Sequence[Expr]]) -> Expr:
    if len(rows) == 1:
        return rows[0][0]
    return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]


def reduce_equations(
    equations: Sequence[Sum], dependent: DependentSpeeds | None, speeds: Sequence[str], *, naming: bool
) -> tuple[tuple[int, Sum], ...]:
    """F_i + F_i* + Σ D_di (F_d + F_d*) of the independent speeds; nothing where one of them is too long to be read.

    Dependent speeds and their rates are replaced by what they are, unless they stand in Z's or that is much longer.
    """
    if dependent is None:
        return ()
    found = []
    for k, i in enumerate(dependent.independent):
        parts = [(row[k], equations[d]) for row, d in zip(dependent.D, dependent.dependent, strict=True)]
        if len(equations[i].terms) + sum(len(D.terms) * len(e.terms) for D, e in parts) > 2 * SMALL:
            return ()
        found.append((i, add([equations[i], *(D * e for D, e in parts)])))
    if naming or dependent.rates is None:
        return tuple(found)
    values = dict(_replacements(dependent, speeds))
    without = [(i, substitute(substitute(e, values), values)) for i, e in found]
    longest = _GROWTH * max(SMALL, *(e.size for _, e in found))
    return tuple(without if all(e.size <= longest for _, e in without) else found)


def _replacements(dependent: DependentSpeeds, speeds: Sequence[str]) -> Iterator[tuple[Atom, Sum]]:
    assert dependent.rest is not None and dependent.rates is not None
    rest = zip(dependent.dependent, dependent.D, dependent.rest, dependent.rates, strict=True)
    for d, row, at_rest, rate in rest:
        for kind, mark, remainder in ((SPEED, "", at_rest), (RATE, "'", rate)):
            others = [symbol_sum(Symbol(f"{speeds[i]}{mark}", kind, i)) for i in dependent.independent]
            follows = add([remainder, *(x * y for x, y in zip(row, others, strict=True))])
            yield Symbol(f"{speeds[d]}{mark}", kind, d), follows


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
