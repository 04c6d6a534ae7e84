"""What keeps a constrained motion from going on: rows that lose rank or cannot be continued, speeds without mass.

In come functions that give the terms of a system and its rates, and the state at which a motion stopped; out comes a
sentence. Nothing here runs while a motion goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..graph.layout import Layout
from .metric import Array, speed_units
from .rank import null_space
from .thresholds import ASIDE, FURTHEST, INVOLVED, JUMP, NO_MASS, REDUNDANT, SINGULAR

AHEAD = 10.0
"""Ratio of the looks ahead, the first of them to the step that was tried."""


@dataclass(frozen=True, slots=True)
class Names:
    """Where a system is (model 'arm'), and the names of its rows and speeds."""

    where: str
    rows: Sequence[str]
    speeds: Sequence[str]


@dataclass(frozen=True, slots=True)
class StateTerms:
    """The terms of a system at a state: q̇, M (n, n), A (rows, n), rate = A u + c, b of A u̇ = b, phi, each (rows,)."""

    qdot: Array
    M: Array
    A: Array
    rate: Array
    b: Array
    phi: Array

    def without_value(self) -> Array:
        """Which rows are not numbers, (rows,)."""
        numbers = np.column_stack([self.A, self.rate, self.b, self.phi])
        return ~np.all(np.isfinite(numbers), axis=1)


@dataclass(frozen=True, slots=True)
class ConstraintPrograms:
    """The layout of an embedding, its programs `terms` and `rates` as functions of the inputs, and the rank of its rows
    in general."""

    layout: Layout
    terms: Callable[[Array], Array]
    rates: Callable[[Array], Array]
    rank: int

    def at(self, x: Array) -> StateTerms:
        """The terms for the inputs x = [t, q, u, work, tau, parameters]."""
        found = self.layout.terms.split(self.terms(x))
        return StateTerms(*(found[name] for name in ("qdot", "M", "A", "rate", "b", "phi")))

    def step_ahead(self, x: Array, h: float) -> Array:
        """The inputs a time h (s) later, by one step of Euler's method, speeds first, without projection."""
        q, u = (self.layout.inputs[name].place for name in ("q", "u"))
        udot = self.rates(x)[self.layout.state["u"].place]
        later = x.copy()
        if np.all(np.isfinite(udot)):
            later[u] += h * udot
        later[q] += h * self.at(later).qdot
        later[0] += h
        return later

    def perturb(self, x: Array) -> Array:
        """The inputs with every coordinate moved a little, no two alike."""
        beside = x.copy()
        beside[self.layout.inputs["q"].place] += ASIDE * np.cos(np.arange(self.layout.coordinates))
        return beside


MOVES_NO_MASS = (
    "moves no mass and no inertia, so no effort determines its rate",
    "the mass matrix has to be positive definite",
    "give what it moves an inertia, or a mass off the axis that it turns about, or weld it",
)
"""What is wrong with a speed that moves no mass, because of what, how to fix it."""

_FREE_OF_MASS = "has a part in a free motion that moves no mass, so no effort determines its rate"


@dataclass(frozen=True, slots=True)
class Massless:
    """A direction without mass that constraints leave free: the speed that it is along, and whether along it alone."""

    speed: int
    alone: bool

    @property
    def problem(self) -> tuple[str, str, str]:
        """What, because of what, how to fix it."""
        return MOVES_NO_MASS if self.alone else (_FREE_OF_MASS, *MOVES_NO_MASS[1:])


def find_massless(terms: StateTerms) -> Massless | None:
    """A free direction without mass: N v with Nᵀ M N v = 0, where the columns of N span A N = 0."""
    if not np.all(np.isfinite(terms.M)) or np.any(terms.without_value()):
        return None
    n = len(terms.M)
    N = null_space(terms.A)
    if not N.size:
        return None
    masses, within = np.linalg.eigh(N.T @ terms.M @ N)
    if masses[0] > NO_MASS * np.abs(terms.M).max():
        return None
    along = np.abs(N @ within[:, 0])
    speed = int(np.argmax(along > (1.0 - INVOLVED) * along.max()))
    return Massless(speed, n == 1 or bool(np.delete(along, speed).max() < REDUNDANT))


def explain_stop(system: ConstraintPrograms, x: Array, step: float, began: float, names: Names) -> str:
    """What stops a motion that began at a time (s) at the inputs x, where a step (s) was tried last, or ""."""
    with np.errstate(all="ignore"):
        here = system.at(x)
        if not np.all(np.isfinite(here.M)):
            return ""
        if not np.all(np.isfinite(system.rates(x))):
            found = find_massless(here)
            if found is not None:
                return f"speed '{names.speeds[found.speed]}' {found.problem[0]}"
        if not system.layout.rows:
            return ""
        bad = np.flatnonzero(here.without_value())
        if bad.size:
            return f"constraint '{names.rows[bad[0]]}' has no value there"
        row = _row_losing_rank(here, system.at(system.perturb(x)), system.rank)
        if row is not None:
            return f"constraint '{names.rows[row]}' loses rank there (the mechanism is fully extended, or lies flat)"
        return _row_without_continuation(system, x, step, began, names)


def _row_losing_rank(here: StateTerms, aside: StateTerms, rank: int) -> int | None:
    """The row with the largest part in the direction that the rows no longer determine, though they do at a position
    close by; None where there is no such direction."""
    if rank == 0:
        return None
    units = speed_units(np.diag(here.M))
    parts, values, _ = np.linalg.svd(here.A * units)
    elsewhere = np.linalg.norm(aside.A * units, 2) if np.all(np.isfinite(aside.A)) else 0.0
    if values[rank - 1] > SINGULAR * max(values[0], elsewhere):
        return None
    return int(np.argmax(np.abs(parts[:, rank - 1])))


def _row_without_continuation(system: ConstraintPrograms, x: Array, step: float, began: float, names: Names) -> str:
    """The row that cannot be continued: the first found in looks further and further ahead."""
    u = system.layout.inputs["u"].place
    h = AHEAD * max(abs(step), 2.0 * np.finfo(float).eps * abs(x[0]))
    furthest = max(h, FURTHEST * abs(x[0] - began))
    while h > 0.0:
        later = system.step_ahead(x, math.copysign(h, step))
        there = system.at(later)
        bad = np.flatnonzero(there.without_value())
        if bad.size:
            return f"constraint '{names.rows[bad[0]]}' has no value beyond"
        off = _relative_residual(there, later[u])
        if off.max() > JUMP:
            return (
                f"constraint '{names.rows[int(np.argmax(off))]}' cannot be continued there: a contact or curve"
                f" ends or folds back, or an imposed motion jumps or becomes infinite"
            )
        if h >= furthest:
            break
        h = min(AHEAD * h, furthest)
    return ""


def _relative_residual(terms: StateTerms, u: Array) -> Array:
    """By how much the rate of each row is off, as a share of the sizes of its parts; (rows,)."""
    parts = np.abs(terms.A) @ np.abs(u) + np.abs(terms.rate - terms.A @ u)
    return np.where(parts > 0.0, np.abs(terms.rate) / np.where(parts > 0.0, parts, 1.0), 0.0)


__all__ = ["ConstraintPrograms", "Massless", "Names", "StateTerms", "explain_stop", "find_massless"]
