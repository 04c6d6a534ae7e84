"""A mechanism from a SymPy description: everything that the analyst said, nothing that SymPy derived from it.

Frames, points, bodies, loads and constraints are rebuilt at the analyst's level, and the equations are formulated from
them. All expressions are translated before anything is judged, so that symbols without a value are told all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ExpressionError, InputError, Problem
from ...graph import Expr, linear_coefficients, substitute
from ..loads import Effort
from .leaves import Values
from .massive import GivenLoad, Massive, Matter
from .motion import SpeedsAsVariables, declare_motion
from .reading import Description, clock, rate
from .scalars import EQUAL, Scalars
from .skeleton import Skeleton


class SymPyMechanism(SpeedsAsVariables):
    """A mechanism that can be read from a SymPy description, and remembers which symbol each name came from."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.sympy_symbols: dict[str, Any] = {}
        self.unoriented: tuple[str, ...] = ()  # frames with an angular velocity and no orientation of their own
        self.given_start: tuple[str, ...] = ()  # coordinates that `initial` gave
        self.lagrangian: Expr | None = None  # in coordinates, their rates, t and parameters (J)

    def take_description(
        self,
        given: Description,
        values: Mapping[Any, Any] | None,
        initial: Mapping[Any, Any] | None,
        free: Iterable[Any] | str,
    ) -> None:
        """Declare everything that a description says."""
        scalars = Scalars(self, given, Values(values, "the value"), free)
        declare_motion(self, given, scalars)
        bodies, loads, gravity = self._matter(given, scalars)
        holonomic, motion = scalars.each(given.holonomic), scalars.each(given.motion)
        if given.lagrangian is not None:
            self.lagrangian = scalars(given.lagrangian)
        scalars.refuse_missing()
        for body in bodies:
            body.declare(self)
        for load in loads:
            self.load(load)
        if gravity is not None:
            self.set_gravity(gravity)
        self._constrain(holonomic, motion, scalars)
        self.parameters = {name: self.parameters[name] for name in scalars.parameters()}
        states = dict(zip(given.q, self.coordinates, strict=True))
        speeds = dict(zip(given.u or [rate(q) for q in given.q], self.speeds, strict=True))
        self._start(Values(initial, "the initial value"), {**states, **speeds})
        self._remember(states, speeds, scalars)

    def _matter(
        self, given: Description, scalars: Scalars
    ) -> tuple[list[Massive], list[GivenLoad], Sequence[Expr] | None]:
        """(bodies, loads, gravity)."""
        if given.frame is None:
            if given.loads:
                raise InputError("loads act, but no inertial frame is given: LagrangesMethod(..., frame=N)")
            return [], [], None
        skeleton = Skeleton(self, scalars, given.frame, given.fixed_point, scalars.same)
        matter = Matter(self, given, scalars, skeleton)
        bodies = matter.bodies()
        loads, gravity = matter.loads()
        if given.auxiliary and scalars.missing:
            matter.forget_reactions(loads)
        self.unoriented = tuple(skeleton.unoriented)
        for point in skeleton.adrift:
            what = "it has a velocity, and no position from a fixed point: its place is not known"
            self.remarks.append(Problem(self.where(f"point '{point.name}'"), what))
        return bodies, loads, gravity

    def _start(self, initial: Values, states: Mapping[Any, str]) -> None:
        """Set the initial state as it is given, a guess where constraints ask for more."""
        if strangers := initial.unknown(states):
            raise InputError(f"`initial` names {', '.join(strangers)}, which is no coordinate and no speed")
        starts = {name: initial.of(symbol) for symbol, name in states.items() if symbol in initial}
        for name, value in starts.items():
            if not isinstance(value, float):
                raise InputError(f"the initial value of {name} is not a number: {value}")
        self.set_initial(starts)
        self.given_start = tuple(name for name in starts if name in self.coordinates)

    def _remember(self, states: Mapping[Any, str], speeds: Mapping[Any, str], scalars: Scalars) -> None:
        """Which SymPy symbol stands for each input of a program."""
        import sympy as sp

        known = self.sympy_symbols
        known.update({"t": clock(), **{name: q for q, name in states.items()}, **scalars.parameters()})
        for u, name in speeds.items():
            known.update({name: u, f"{name}'": u.diff(clock()), f"tau_{name}": sp.Symbol(f"tau_{name}")})

    # constraints -----------------------------------------------------------------------------------------------------

    def _constrain(self, holonomic: Sequence[Expr], motion: Sequence[Expr], scalars: Scalars) -> None:
        """Configuration constraints, and those motion constraints that are not their rates."""
        rows: list[list[Expr]] = []
        variables, zero = list(self.motion_variables.values()), self.graph.const(0.0)
        if holonomic:
            for row in self.configuration_constraint("configuration", list(holonomic)).rows:
                factor = {a.variable: a.value for a in row.actions if isinstance(a, Effort)}
                rows.append([*(factor.get(v, zero) for v in variables), row.drift])
        kept = [e for e in motion if not (rows and self._follows(e, rows, variables, scalars))]
        if kept:
            self.motion_constraint("motion", kept)

    def _follows(self, equation: Expr, rows: list[list[Expr]], variables: Sequence[Expr], scalars: Scalars) -> bool:
        """Whether an equation of motion is a combination of rows in generic states."""
        definitions = {s.symbol: s.definition for s in self.speed_records.values()}
        try:
            ((factors,), (drift,)) = linear_coefficients(substitute([equation], definitions), variables)
        except ExpressionError:
            return False  # refused, with the reason, where it is declared
        for numbers in scalars.at([*(e for row in rows for e in row), *factors, drift]):
            *known, new = numbers.reshape(-1, len(variables) + 1)
            weights = np.linalg.lstsq(np.array(known).T, new, rcond=None)[0]
            if not np.abs(weights @ known - new).max() <= EQUAL * max(1.0, np.abs(new).max()):
                return False
        return True


__all__ = ["SymPyMechanism"]
