"""A mechanism from a SymPy description: everything that the analyst said, nothing that SymPy derived from it.

Frames, points, bodies, loads and constraints are rebuilt at the analyst's level, and the equations are formulated from
them. All expressions are translated before anything is judged, so that one error names all symbols without a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError, Problem
from ...graph import Expr
from ..constraints import ConfigurationEquations, MotionEquations
from ..loads import GivenActions
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
from .leaves import GivenValues
from .massive import Massive, Matter, SetAcceleration
from .motion import declare_motion, hold_motion_variables
from .reading import Description, clock, rate
from .scalars import Scalars
from .skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class SymPySource:
    """What a mechanism that was read from a SymPy description remembers of it.

    `symbols` maps the names of a program's inputs to the script's own symbols; `unoriented` are frames with an angular
    velocity and no orientation of their own; `given_start` the coordinates that `initial` gave; `lagrangian` (J) is in
    coordinates, their rates, t and parameters, where the description has one.
    """

    symbols: Mapping[str, Any]
    unoriented: tuple[str, ...] = ()
    given_start: tuple[str, ...] = ()
    lagrangian: Expr | None = None


def declare(
    m: Mechanism,
    given: Description,
    values: Mapping[Any, Any] | None,
    initial: Mapping[Any, Any] | None,
    free: Iterable[Any] | str,
) -> SymPySource:
    """Declare everything that a description says in an empty mechanism."""
    scalars = Scalars(m, given, GivenValues(values, "the value"), free)
    declare_motion(m, given, scalars)
    matter = _matter(m, given, scalars)
    holonomic, motion = scalars.translate_all(given.holonomic), scalars.translate_all(given.motion)
    lagrangian = None if given.lagrangian is None else scalars(given.lagrangian)
    accelerations = _set_accelerations(m, given, scalars, matter)  # last: nothing else contains rates of speeds
    scalars.refuse_missing()
    for body in matter.bodies:
        body.declare(m)
    for name, load in matter.loads.items():
        m.load(name, load)
    if matter.gravity is not None:
        m.set_gravity(matter.gravity)
    _constrain(m, given, holonomic, motion, scalars)
    if matter.skeleton is not None:
        doubt_angular_velocities(m, scalars, matter.skeleton.oriented, matter.skeleton.kinematics)
        doubt_accelerations(m, scalars, accelerations)
    m.parameters = {name: m.parameters[name] for name in scalars.parameters()}
    states = dict(zip(given.q, m.coordinates, strict=True))
    speeds = dict(zip(given.u or [rate(q) for q in given.q], m.speeds, strict=True))
    start = _start(m, GivenValues(initial, "the initial value"), {**states, **speeds})
    unoriented = () if matter.skeleton is None else tuple(matter.skeleton.unoriented)
    return SymPySource(_symbols(states, speeds, scalars), unoriented, start, lagrangian)


@dataclass(frozen=True, slots=True)
class _Matter:
    """What has mass and what acts on it, before it is declared."""

    bodies: Sequence[Massive]
    loads: Mapping[str, GivenActions]
    gravity: Sequence[Expr] | None = None
    skeleton: Skeleton | None = None


def _matter(m: Mechanism, given: Description, scalars: Scalars) -> _Matter:
    if given.frame is None:
        if given.loads:
            raise InputError("loads act, but no inertial frame is given: LagrangesMethod(..., frame=N)")
        return _Matter((), {})
    skeleton = Skeleton(m, scalars, given.frame, given.fixed_point, scalars.are_equal)
    matter = Matter(m, given, scalars, skeleton)
    bodies = matter.bodies()
    known = set(scalars.missing)
    loads, gravity = matter.loads()
    if given.auxiliary and scalars.missing:
        matter.forget_reactions(loads.values(), known)
    for point in skeleton.adrift:
        what = "it has a velocity, and no position from a fixed point: its place is not known"
        m.remarks.append(Problem(m.where(f"point '{point.name}'"), what))
    return _Matter(bodies, loads, gravity, skeleton)


def _set_accelerations(m: Mechanism, given: Description, scalars: Scalars, matter: _Matter) -> list[SetAcceleration]:
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
) -> None:
    """Configuration constraints, and those motion constraints that are not their rates."""
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
        doubt_added_rows(m, scalars, rows, moving)


__all__ = ["SymPySource", "declare"]
