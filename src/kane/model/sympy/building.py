"""A mechanism from a SymPy description: everything that the analyst said, nothing that SymPy derived from it.

Frames, points, bodies, loads and constraints are rebuilt at the analyst's level, and the equations are formulated from
them. Symbols without a value become parameters without one: whether the equations contain them is known once these are
formulated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import InputError, Problem
from ...graph import Expr
from ..constraints import ConfigurationEquations, MotionEquations
from ..mechanism import Mechanism
from .doubts import (
    Rows,
    constraint_rows,
    doubt_accelerations,
    doubt_added_rows,
    doubt_angular_velocities,
    follows,
    motion_rows,
)
from .evidence import Evidence, find_evidence
from .leaves import GivenValues
from .massive import FoundMatter, Matter, SetAcceleration, find_matter
from .motion import declare_motion, hold_motion_variables
from .reading import Description, clock, rate
from .scalars import Scalars


@dataclass(frozen=True, slots=True)
class SymPySource:
    """What a mechanism that was read from a SymPy description remembers of it.

    `symbols` maps the names of a program's inputs to the script's own symbols; `unoriented` are frames with an angular
    velocity and no orientation of their own; `given_start` the coordinates that `initial` gave; `speeds` are the
    definitions of the script's own speeds, by name; `lagrangian` (J) is in
    coordinates, their rates, t and parameters, where the description has one; `doubts` are what SymPy itself does not
    tell.
    """

    symbols: Mapping[str, Any]
    unoriented: tuple[str, ...] = ()
    given_start: tuple[str, ...] = ()
    speeds: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    lagrangian: Expr | None = None
    doubts: tuple[Problem, ...] = ()


def declare(
    m: Mechanism,
    given: Description,
    values: Mapping[Any, Any] | None,
    initial: Mapping[Any, Any] | None,
    free: Iterable[Any] | str,
) -> SymPySource:
    """Declare everything that a description says in an empty mechanism."""
    known = GivenValues(values, "the value")
    for state in (*given.q, *given.u):
        if state in known:
            raise InputError(f"{state} moves: give its start in `initial`, not in `values`")
    evidence = find_evidence(m.name, given, known) if given.auxiliary else Evidence()
    scalars = Scalars(m, given, known, free, evidence.names)
    scalars.motion.update(dict.fromkeys((*given.auxiliary, *evidence.symbols), m.graph.const(0.0)))
    declare_motion(m, given, scalars)
    matter = find_matter(m, given, scalars)
    holonomic, motion = scalars.translate_all(given.holonomic), scalars.translate_all(given.motion)
    lagrangian = None if given.lagrangian is None else scalars(given.lagrangian)
    accelerations = _set_accelerations(m, given, scalars, matter)  # last: nothing else contains rates of speeds
    evidence.add_parameters(scalars)
    scalars.refuse_strangers()
    matter.declare(m)
    doubts = [*evidence.doubts, *_constrain(m, given, holonomic, motion, scalars)]
    if matter.skeleton is not None:
        doubts += doubt_angular_velocities(m, scalars, matter.skeleton.oriented, matter.skeleton.kinematics)
        doubts += doubt_accelerations(m, scalars, accelerations)
    m.remarks += doubts
    for name in scalars.missing.values():
        m.parameters[name] = replace(m.parameters[name], value=math.nan, free=False)
    m.parameters = {name: m.parameters[name] for name in scalars.parameters()}
    if evidence.symbols:
        m.auxiliary = evidence.speeds(m)
    states = dict(zip(given.q, m.coordinates, strict=True))
    speeds = dict(zip(given.u or [rate(q) for q in given.q], m.speeds, strict=True))
    start = _start(m, GivenValues(initial, "the initial value"), {**states, **speeds})
    unoriented = () if matter.skeleton is None else tuple(matter.skeleton.unoriented)
    symbols = _symbols(states, speeds, scalars) | {scalars.names[s]: s for s in evidence.symbols}
    own = {name: s.definition for name, s in m.speed_records.items()}
    return SymPySource(symbols, unoriented, start, own, lagrangian, tuple(doubts))


def _set_accelerations(
    m: Mechanism, given: Description, scalars: Scalars, matter: FoundMatter
) -> list[SetAcceleration]:
    if matter.skeleton is None or given.lagrangian is not None:
        return []
    hold_motion_variables(m, given, scalars)
    return Matter(m, given, scalars, matter.skeleton).set_accelerations()


def _start(m: Mechanism, initial: GivenValues, states: Mapping[Any, str]) -> tuple[str, ...]:
    """Set the initial state as it is given, a guess where constraints ask for more; the coordinates that it has."""
    if strangers := initial.unknown(states):
        raise InputError(f"`initial` names {', '.join(strangers)}, which is no coordinate and no speed")
    starts = {name: initial.of(symbol) for symbol, name in states.items() if symbol in initial}
    for name, value in starts.items():
        if not isinstance(value, float):
            raise InputError(f"the initial value of {name} is not a number: {value}")
    m.set_initial(starts)
    return tuple(name for name in starts if name in m.coordinates)


def _symbols(states: Mapping[Any, str], speeds: Mapping[Any, str], scalars: Scalars) -> dict[str, Any]:
    """Which SymPy symbol stands for each input of a program."""
    import sympy as sp

    known = {"t": clock(), **{name: q for q, name in states.items()}, **scalars.parameters()}
    for u, name in speeds.items():
        known.update({name: u, f"{name}'": u.diff(clock()), f"tau_{name}": sp.Symbol(f"tau_{name}")})
    return known


def _constrain(
    m: Mechanism, given: Description, holonomic: Sequence[Expr], motion: Sequence[Expr], scalars: Scalars
) -> Iterator[Problem]:
    """Declare configuration constraints, and those motion constraints that are not their rates; what is doubtful."""
    rows: Rows = []
    if holonomic:
        rows = constraint_rows(m, m.constrain("configuration", ConfigurationEquations(list(holonomic))))
        scalars.close(holonomic)
    moving = motion_rows(m, motion)
    if moving is None:
        kept = list(motion)  # refused, with the reason, where it is declared
    else:
        kept = [e for e, row in zip(motion, moving, strict=True) if not (rows and follows(scalars, row, rows))]
    if kept:
        m.constrain("motion", MotionEquations(kept))
    if rows and moving is not None and given.lagrangian is None:
        yield from doubt_added_rows(m, scalars, rows, moving)


__all__ = ["SymPySource", "declare"]
