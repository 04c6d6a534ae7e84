"""What keeps a constrained motion from going on: the constraint that has no continuation, or the speed without mass.

In come the compiled programs of an embedding and the state at which a motion stopped; out comes a sentence. Nothing
here runs while a motion goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.layout import Layout

JUMP = 0.01
"""A row whose rate, after a step as short as can be, is off by this share of its parts has no continuation there. Where
it has one, the share falls with the step."""

FURTHEST = 1e-5
"""Share of the time behind a motion that is looked ahead at most. A row that changes as a whole within that has, for
all that the motion knows, no continuation either: a pole."""

LOST, ASIDE = 1e-5, 0.1
"""Share of the largest singular value of the rows, at the place and this far aside (m, rad), below which they hold the
motion no more."""

NO_MASS = 1e-13
"""Share of the largest mass below which a direction has none but for rounding."""

DEPENDENT = 1e-9
"""Share of the largest singular value of the rows below which what they say depends on other rows."""

AHEAD = 10.0
"""Ratio of the looks ahead, the first of them to the step that was tried."""


@dataclass(frozen=True, slots=True)
class Names:
    """Where a system is (model 'arm'), and the names of its rows and speeds."""

    where: str
    rows: Sequence[str]
    speeds: Sequence[str]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a system at a state: q̇, M (n, n), A (rows, n), rate = A u + c, b of A u̇ = b, phi, each (rows,)."""

    qdot: Any
    M: Any
    A: Any
    rate: Any
    b: Any
    phi: Any

    def valueless(self) -> Any:
        """Which rows are not numbers, (rows,)."""
        numbers = np.column_stack([self.A, self.rate, self.b, self.phi])
        return ~np.all(np.isfinite(numbers), axis=1)


@dataclass(frozen=True, slots=True)
class System:
    """The layout of an embedding, its programs `terms` and `rates` as functions of the inputs, and the rank of its rows
    in general."""

    layout: Layout
    terms: Callable[[Any], Any]
    rates: Callable[[Any], Any]
    rank: int

    def at(self, x: Any) -> Terms:
        """The terms for the inputs x = [t, q, u, work, tau, parameters]."""
        found = self.layout.terms.split(self.terms(x))
        return Terms(*(found[name] for name in ("qdot", "M", "A", "rate", "b", "phi")))

    def ahead(self, x: Any, h: float) -> Any:
        """The inputs a time h (s) later, by one step of Euler's method, speeds first, without projection."""
        q, u = (self.layout.inputs[name].place for name in ("q", "u"))
        udot = self.rates(x)[self.layout.state["u"].place]
        later = x.copy()
        if np.all(np.isfinite(udot)):
            later[u] += h * udot
        later[q] += h * self.at(later).qdot
        later[0] += h
        return later

    def aside(self, x: Any) -> Any:
        """The inputs with every coordinate moved a little, no two alike."""
        beside = x.copy()
        beside[self.layout.inputs["q"].place] += ASIDE * np.cos(np.arange(self.layout.coordinates))
        return beside


@dataclass(frozen=True, slots=True)
class Massless:
    """A direction without mass that constraints leave free: the speed that it is along, and whether along it alone."""

    speed: int
    alone: bool

    @property
    def told(self) -> tuple[str, str, str]:
        """What, the law, how to mend it."""
        what = "moves bodies without mass only" if self.alone else "has a part in a free motion that moves no mass"
        return (
            f"{what}, so no effort determines its rate",
            "the mass matrix is positive definite",
            "give the body mass or inertia, or weld it",
        )


def massless(terms: Terms) -> Massless | None:
    """A free direction without mass: N v with Nᵀ M N v = 0, where the columns of N span A N = 0."""
    if not np.all(np.isfinite(terms.M)) or np.any(terms.valueless()):
        return None
    n = len(terms.M)
    sizes = np.linalg.norm(terms.A, axis=1, keepdims=True)
    _, values, directions = np.linalg.svd(terms.A / np.where(sizes > 0.0, sizes, 1.0))
    N = directions[np.count_nonzero(values > DEPENDENT * values.max(initial=0.0)) :].T
    if not N.size:
        return None
    masses, within = np.linalg.eigh(N.T @ terms.M @ N)
    if masses[0] > NO_MASS * np.abs(terms.M).max():
        return None
    along = np.abs(N @ within[:, 0])
    speed = int(np.argmax(along > (1.0 - 1e-6) * along.max()))
    return Massless(speed, n == 1 or bool(np.delete(along, speed).max() < 1e-9))


def blamed(system: System, x: Any, step: float, began: float, names: Names) -> str:
    """What stops a motion that began at a time (s) at the inputs x, where a step (s) was tried last, or ""."""
    with np.errstate(all="ignore"):
        here = system.at(x)
        if not np.all(np.isfinite(here.M)):
            return ""
        if not np.all(np.isfinite(system.rates(x))):
            found = massless(here)
            if found is not None:
                return f"speed '{names.speeds[found.speed]}' {found.told[0]}"
        if not system.layout.rows:
            return ""
        bad = np.flatnonzero(here.valueless())
        if bad.size:
            return f"constraint '{names.rows[bad[0]]}' has no value there"
        row = _lost(here, system.at(system.aside(x)), system.rank)
        if row is not None:
            return f"constraint '{names.rows[row]}' has no hold there: the mechanism is at the end of its reach"
        return _beyond(system, x, step, began, names)


def _lost(here: Terms, aside: Terms, rank: int) -> int | None:
    """The row that has most part in what the rows together, unlike aside, determine no more, if there is something."""
    if rank == 0:
        return None
    mass = np.abs(np.diag(here.M))
    units = np.sqrt(mass + max(mass.mean(), np.finfo(float).tiny))
    parts, values, _ = np.linalg.svd(here.A / units)
    elsewhere = np.linalg.norm(aside.A / units, 2) if np.all(np.isfinite(aside.A)) else 0.0
    if values[rank - 1] > LOST * max(values[0], elsewhere):
        return None
    return int(np.argmax(np.abs(parts[:, rank - 1])))


def _beyond(system: System, x: Any, step: float, began: float, names: Names) -> str:
    """The row that has no continuation, the first that is met in looks further and further ahead."""
    u = system.layout.inputs["u"].place
    h = AHEAD * max(abs(step), 2.0 * np.finfo(float).eps * abs(x[0]))
    furthest = max(h, FURTHEST * abs(x[0] - began))
    while h > 0.0:
        later = system.ahead(x, math.copysign(h, step))
        there = system.at(later)
        bad = np.flatnonzero(there.valueless())
        if bad.size:
            return f"constraint '{names.rows[bad[0]]}' has no value beyond"
        off = _share(there, later[u])
        if off.max() > JUMP:
            return (
                f"constraint '{names.rows[int(np.argmax(off))]}' has no continuation there: a contact or curve that"
                f" ends or turns over, or something imposed that has a jump or a pole"
            )
        if h >= furthest:
            break
        h = min(AHEAD * h, furthest)
    return ""


def _share(terms: Terms, u: Any) -> Any:
    """By how much the rate of each row is off, as a share of the sizes of its parts; (rows,)."""
    parts = np.abs(terms.A) @ np.abs(u) + np.abs(terms.rate - terms.A @ u)
    return np.where(parts > 0.0, np.abs(terms.rate) / np.where(parts > 0.0, parts, 1.0), 0.0)
