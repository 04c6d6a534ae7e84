"""Which unknown reactions the auxiliary speeds of a SymPy description bring into evidence.

Comes in: a description, and the values that were given. The twin in which auxiliary speeds are speeds says what power
each unknown load has: none along motions that the constraints leave while auxiliary speeds are zero, or it needs a
value; and what the auxiliary speeds do not determine needs one too. Nothing is taken as zero that matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import ExpressionError, Problem
from ...graph import Expr, linear_coefficients, reverse, substitute
from ..auxiliary import AuxiliaryReaction, AuxiliarySpeeds
from ..constraints import ConfigurationEquations, MotionEquations
from ..mechanism import Mechanism
from .doubts import constraint_rows, follows, motion_rows
from .leaves import GivenValues, SymbolNames, part_name
from .massive import FoundMatter, find_matter
from .motion import declare_motion
from .reading import Description, clock
from .scalars import EQUAL, Array, Scalars


@dataclass(frozen=True, slots=True)
class Evidence:
    """SymPy's `symbols` of unknown reactions, their records, the twin that they are found with, the names of all
    symbols in it, those of symbols that are `missing` a value, and `doubts` about unknown loads."""

    symbols: tuple[Any, ...] = ()
    reactions: tuple[AuxiliaryReaction, ...] = ()
    twin: Mechanism | None = None
    names: SymbolNames = field(default_factory=SymbolNames)
    missing: Mapping[Any, str] = field(default_factory=dict[Any, str])
    doubts: tuple[Problem, ...] = ()

    def add_parameters(self, scalars: Scalars) -> None:
        """Declare what only auxiliary speeds are written with."""
        reactions = {reaction.name for reaction in self.reactions}
        for name, record in ({} if self.twin is None else self.twin.parameters).items():
            if name not in scalars.model.parameters and name not in reactions:
                scalars.model.parameter(name, record.value)
        scalars.missing.update(self.missing)

    def speeds(self, m: Mechanism) -> AuxiliarySpeeds:
        """What a description keeps of it, once its own loads and constraints are declared."""
        assert self.twin is not None
        definitions = tuple(s.definition for s in m.speed_records.values())
        return AuxiliarySpeeds(self.twin, self.reactions, (*m.loads, *m.constraints), definitions)


def find_evidence(name: str, given: Description, values: GivenValues) -> Evidence:
    """The reactions without a value that auxiliary speeds determine."""
    names, twin = SymbolNames(), Mechanism(name)
    loose = replace(given, u=(*given.u, *given.auxiliary), auxiliary=())
    scalars = Scalars(twin, loose, values, "all", names)
    declare_motion(twin, loose, scalars)
    matter = find_matter(twin, loose, scalars)
    held = _constrain(twin, given, scalars)
    candidates = [s for s in scalars.missing if s not in matter.missing and _is_component(given, s, scalars)]
    symbols, loose = _find_determined(given, scalars, matter, held, candidates) if candidates else ([], [])
    doubts = (_doubt_unknowns(twin, loose),) if loose else ()
    if not symbols:
        return Evidence(doubts=doubts)
    matter.declare(twin)
    reactions = [_describe(given, s, names[s]) for s in symbols]
    missing = {s: name for s, name in scalars.missing.items() if s not in symbols}
    return Evidence(tuple(symbols), tuple(reactions), twin, SymbolNames(names.of), missing, doubts)


def _constrain(twin: Mechanism, given: Description, scalars: Scalars) -> list[list[Expr]]:
    """Declare the constraints of the twin, and give their rows: velocity constraints as they were written, and those
    configuration constraints whose rates do not follow from them while auxiliary speeds are zero."""
    holonomic, motion = scalars.translate_all(given.holonomic), scalars.translate_all(given.motion)
    rows = motion_rows(twin, motion) or []
    if holonomic:
        placed = constraint_rows(twin, twin.constrain("configuration", ConfigurationEquations(holonomic)))
        scalars.close(holonomic)
        still = [_without(twin, given, scalars, row) for row in rows]
        added = [k for k, row in enumerate(placed) if not follows(scalars, row, still)]
        del twin.constraints["configuration"]
        if added:
            twin.constrain("configuration", ConfigurationEquations([holonomic[k] for k in added]))
            rows = [*(placed[k] for k in added), *rows]
    if motion:
        twin.constrain("motion", MotionEquations(motion))
    return rows


def _auxiliary_places(twin: Mechanism, given: Description, scalars: Scalars) -> list[int]:
    """Places of the auxiliary speeds among the motion variables."""
    definitions = {s.symbol: s.definition for s in twin.speed_records.values()}
    symbols = [scalars.motion[a] for a in given.auxiliary]
    variables = list(twin.motion_variables.values())
    return [variables.index(definitions.get(s, s)) for s in symbols if definitions.get(s, s) in variables]


def _without(twin: Mechanism, given: Description, scalars: Scalars, row: Sequence[Expr]) -> list[Expr]:
    """A row of motion while auxiliary speeds are zero."""
    auxiliary, zero = set(_auxiliary_places(twin, given, scalars)), twin.graph.const(0.0)
    return [zero if i in auxiliary else e for i, e in enumerate(row)]


def _is_component(given: Description, symbol: Any, scalars: Scalars) -> bool:
    """Whether a symbol is a component of loads and nothing else, linearly, with a factor that has a value and is no
    mass: a weight m g is no reaction."""
    import sympy as sp

    masses = [sp.sympify(body.mass) for body in given.bodies]
    not_factors = {*scalars.missing, *(x for mass in masses for x in _leaves(mass))}
    found = False
    for _, vector in given.loads:
        components = [c for column, _ in (vector.args if vector else ()) for c in column]
        having = [c for c in components if c.has(symbol)]
        found = found or bool(having)
        if any(not_factors & _leaves(sp.diff(c, symbol)) for c in having):
            return False
    equations = (*given.kinematics, *given.holonomic, *given.motion)
    return found and not any(sp.sympify(e).has(symbol) for e in equations)


def _leaves(expression: Any) -> set[Any]:
    """Symbols and functions of time in an expression."""
    from sympy.core.function import AppliedUndef

    return (expression.free_symbols | expression.atoms(AppliedUndef)) - {clock()}


def _find_determined(
    given: Description,
    scalars: Scalars,
    matter: FoundMatter,
    rows: Sequence[Sequence[Expr]],
    candidates: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    """Those of the candidates that do no work in the motion and do some along auxiliary speeds: which are determined by
    that, and which are not."""
    twin = scalars.model
    variables = list(twin.motion_variables.values())
    unknown = [twin.parameters[scalars.names[s]].symbol for s in candidates]
    definitions = {s.symbol: s.definition for s in twin.speed_records.values()}
    power, *speeds = substitute([matter.power(twin.graph), *(scalars.motion[a] for a in given.auxiliary)], definitions)
    try:
        C, _ = linear_coefficients(reverse({power: 1.0}, variables), unknown)
    except ExpressionError:
        return [], []
    E, _ = linear_coefficients(speeds, variables)  # a = E s
    flat = [e for row in C for e in row]
    kept, left = list(range(len(candidates))), set[int]()
    for numbers in scalars.at([*flat, *(e for row in E for e in row), *(e for row in rows for e in row[:-1])]):
        along = numbers[: len(flat)].reshape(len(variables), -1)
        table = numbers[len(flat) :].reshape(-1, len(variables))
        moving = _null_space(table[len(E) :])
        scale = max(1.0, float(np.abs(along).max(initial=0.0)))
        in_motion = moving @ _null_space(table[: len(E)] @ moving)
        work = np.abs(in_motion.T @ along).max(axis=0, initial=0.0)
        evident = np.abs(moving.T @ along).max(axis=0, initial=0.0)
        kept = [k for k in kept if work[k] <= EQUAL * scale < evident[k]]
        loose = _null_space((moving.T @ along)[:, kept])
        left |= {k for i, k in enumerate(kept) if np.any(np.abs(loose[i]) > EQUAL)}
    found = [candidates[k] for k in kept if k not in left]
    return found, [candidates[k] for k in kept if k in left]


def _doubt_unknowns(twin: Mechanism, symbols: Sequence[Any]) -> Problem:
    """What is told of unknown loads that neither move anything nor follow from auxiliary speeds."""
    listed = ", ".join(sorted(map(str, symbols)))
    what = f"the auxiliary speeds do not determine {listed}: there is no answer for them"
    because = "an auxiliary speed, along which an unknown load has power, gives one equation for it"
    fix = "give values to some of them, or an auxiliary speed to each"
    return Problem(twin.where("reactions"), what, because, fix)


def _null_space(A: Array) -> Array:
    """A basis (n, k) of what A (m, n) takes to zero."""
    if not A.size:
        return np.eye(A.shape[1])
    _, sizes, V = np.linalg.svd(A)
    rank = int(np.sum(sizes > EQUAL * max(1.0, float(sizes.max(initial=0.0)))))
    return V[rank:].T


def _describe(given: Description, symbol: Any, name: str) -> AuxiliaryReaction:
    """Where a reaction acts, in the names of the script."""
    having = [
        where
        for where, vector in given.loads
        if vector and any(c.has(symbol) for column, _ in vector.args for c in column)
    ]
    units = {"N" if hasattr(where, "vel") else "N m" for where in having}
    on = ", ".join(dict.fromkeys(part_name(where.name) for where in having))
    return AuxiliaryReaction(name, on, units.pop() if len(units) == 1 else "")


__all__ = ["Evidence", "find_evidence"]
