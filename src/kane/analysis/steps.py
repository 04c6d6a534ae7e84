"""A motion by time stepping, checked step by step: momentum, laws of contact, and what impulses do to the energy.

A step from q, u of length h has impulses P of what comes and goes and ends with the speeds u⁺. With everything that has
no other place taken at its beginning,

    M (u⁺ − u − h a) = Aᵀ P,   P_n ≥ 0,   |P_t| ≤ μ P_n,   and Coulomb's law between P and A u⁺, the gap taken along

where a are the accelerations without contacts in the middle of the step (`simulate/compiled/stepping_problem.py`). Here
all of it is worked out anew, from states and impulses alone: speeds that a step moves with from where it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.thresholds import TOUCHING_IN_STEPS
from .programs import Array
from .report import CheckRow

MOMENTUM = 1e-9
"""Share of the largest momentum of a step that its impulses may miss, where forces do not change within a step."""

BENT = 1.0
"""What is added where they do, as a share of what they do times the angle (rad, m) that a step turns or moves by: the
state in its middle is known to the second order only."""

DEEPEST = 2e-9
"""Penetration (m, rad) that steps leave to the next one, and rounding."""

WITHIN = 1e-8
"""Share of the largest impulse by which one may pull, or friction exceed its bound."""

ROUGHLY = 1e-5
"""Natural residual of a contact problem, a share of the velocities in it, that is small beside the error of first order
that steps have."""

GAIN = 1e-9
"""Share of the kinetic energy that impulses may give, by rounding."""

BETWEEN = "the motion is known at given times, between steps: give (t0, t1)"

SHARES = (1.0, 0.5, 0.25, 0.125, 0.0)
"""What may be left of a restitution that would add energy."""


@dataclass(frozen=True, slots=True)
class SteppedElement:
    """What comes and goes: its type, first row and rows, and whether it is always in force."""

    type: str
    first: int
    rows: int
    always: bool


@dataclass(frozen=True, slots=True)
class SteppedMotion:
    """A motion of k steps: `inputs` (k + 1, inputs) of its programs where steps begin and end, with q and u at the
    places that are given. `terms` gives M, f, A, rate, b, phi at inputs, `rates` q̇, `laws` restitution, static and
    kinetic friction and bound of every element; `steady` where M and f are numbers. `impulse` gives those of a step,
    (m,), of all rows, the `permanent` ones first; `present` (k + 1, elements) says which elements are in force."""

    inputs: Array
    q: slice
    u: slice
    permanent: int
    elements: Sequence[SteppedElement]
    terms: Callable[[Array], Mapping[str, Array]]
    rates: Callable[[Array], Array]
    laws: Callable[[Array], Array]
    impulse: Callable[[int], Array]
    steady: bool
    present: Array

    def __len__(self) -> int:
        return len(self.inputs) - 1


@dataclass(frozen=True, slots=True)
class _CheckedStep:
    """One step: its length (s), terms at its beginning, speeds at both ends and without contacts, impulses, laws, how
    far it turns or moves (rad, m), and what forces that change within it do to the momentum."""

    h: float
    terms: Mapping[str, Array]
    before: Array
    after: Array
    free: Array
    impulse: Array
    laws: Array
    turn: float
    bent: float

    def rates(self, speeds: Array) -> Array:
        """Rates of all rows at other speeds than those at the beginning."""
        return self.terms["rate"] + self.terms["A"] @ (speeds - self.before)


def step_rows(motion: SteppedMotion | None, kinetic: float) -> tuple[list[CheckRow], float]:
    """The laws of contact in every step, and how much the motion changes within one at most: how far it turns or moves
    (rad, m), and by which share its speeds change without contacts; 0 where forces do not change. `kinetic` is the
    largest kinetic energy (J). Steps may be unknown."""
    names = {
        "gaps": "nothing penetrates: gaps ≥ 0",
        "impulses": "M (u⁺ − u − h a) = Aᵀ P in every step",
        "pushes": "contacts and stops push, they do not pull",
        "friction": "friction stays within its bound",
        "steps": "contact problems of steps are solved",
        "losses": "impulses of no step gain energy",
    }
    if motion is None:
        return [CheckRow(name, statement, None, WITHIN, BETWEEN) for name, statement in names.items()], 0.0
    worst = _Worst()
    end: Mapping[str, Array] | None = None
    for i in range(len(motion)):
        start = motion.terms(motion.inputs[i]) if end is None else end
        end = motion.terms(motion.inputs[i + 1])
        worst.add(motion, _step(motion, i, start), end)
        worst.add_gaps(motion, end["phi"], motion.present[i + 1])
    moved = 0.0 if motion.steady else max(worst.turn, worst.change / (worst.speed or 1.0))
    values = worst.values(kinetic, moved if motion.permanent else 0.0)
    return [CheckRow(name, statement, *values[name]) for name, statement in names.items()], moved


class _Worst:
    """The largest violations so far, and what they are small beside."""

    def __init__(self) -> None:
        self.missed, self.momentum, self.bent = 0.0, 0.0, 0.0
        self.pull, self.beyond, self.impulse = 0.0, 0.0, 0.0
        self.residual, self.gain, self.depth = 0.0, 0.0, 0.0
        self.turn, self.change, self.speed = 0.0, 0.0, 0.0

    def add_gaps(self, motion: SteppedMotion, phi: Array, present: Array) -> None:
        """How deep bodies are inside each other where a step ends."""
        rows = [e.first for e, there in zip(motion.elements, present, strict=True) if there and e.type == "contact"]
        self.depth = max(self.depth, -float(np.min(phi[rows], initial=0.0)))

    def add(self, motion: SteppedMotion, step: _CheckedStep, end: Mapping[str, Array]) -> None:
        """One more step, with the terms where it ends."""
        M, A, P = step.terms["M"], step.terms["A"], step.impulse
        gained = M @ (step.after - step.before)
        left = M @ (step.after - step.free) - P @ A
        held = np.concatenate([A[: motion.permanent], end["A"][: motion.permanent]])
        for e in motion.elements:
            if e.type == "switched" and np.any(P[e.first : e.first + e.rows]):  # closed once more where the step ends
                held = np.concatenate([held, end["A"][e.first : e.first + e.rows]])
        if len(held):
            left = left - held.T @ np.linalg.lstsq(held.T, left, rcond=None)[0]
        self.missed = max(self.missed, float(np.abs(left).max()))
        self.momentum = max(self.momentum, float(np.abs(gained).max()), step.h * float(np.abs(step.terms["f"]).max()))
        self.bent = max(self.bent, step.turn * step.bent)
        self.turn = max(self.turn, step.turn)
        self.change = max(self.change, float(np.abs(step.free - step.before).max()))
        self.speed = max(self.speed, float(np.abs(step.before).max()))
        self.impulse = max(self.impulse, float(np.abs(P).max(initial=0.0)))
        for e, law in zip(motion.elements, step.laws, strict=True):
            self._add_bounds(e, law, P, step.h)
        rates = step.rates(step.after)
        self.residual = max(self.residual, _residual(motion, step, rates))
        self.gain = max(self.gain, 0.5 * float(P @ (step.rates(step.free) + rates)))

    def _add_bounds(self, e: SteppedElement, law: Array, P: Array, h: float) -> None:
        """How far impulses of an element pull, or are beyond the bound of friction."""
        own = P[e.first : e.first + e.rows]
        friction = max(law[1], law[2])
        if e.type in ("contact", "one-way"):
            self.pull = max(self.pull, -float(own[0]))
        if e.type == "contact" and e.rows > 1:
            self.beyond = max(self.beyond, float(np.linalg.norm(own[1:]) - friction * own[0]))
        elif e.type == "friction":
            self.beyond = max(self.beyond, float(np.linalg.norm(own) - h * friction * law[3]))

    def values(self, kinetic: float, moved: float) -> dict[str, tuple[float, float]]:
        """(value, tolerance) of every row; `moved` where speeds are moved onto permanent constraints after a step."""
        impulse = self.impulse or 1.0
        return {
            "gaps": (self.depth, DEEPEST),
            "impulses": (self.missed / (self.momentum or 1.0), MOMENTUM + BENT * self.bent / (self.momentum or 1.0)),
            "pushes": (self.pull / impulse, WITHIN),
            "friction": (self.beyond / impulse, WITHIN),
            "steps": (self.residual, max(ROUGHLY, BENT * moved**2)),
            "losses": (self.gain / (kinetic or 1.0), GAIN),
        }


def _step(motion: SteppedMotion, i: int, terms: Mapping[str, Array]) -> _CheckedStep:
    x, y = motion.inputs[i], motion.inputs[i + 1]
    h, before = float(y[0] - x[0]), x[motion.u]
    a, turn, bent = _accelerations(terms, motion.permanent), 0.0, 0.0
    if not motion.steady:
        middle, v = _middle(motion, x, y, h)
        first, a = a, _accelerations(motion.terms(middle), motion.permanent)
        turn = h * float(np.abs(np.concatenate([v, before])).max(initial=0.0))
        bent = h * float(np.abs(terms["M"] @ (a - first)).max())
    return _CheckedStep(h, terms, before, y[motion.u], before + h * a, motion.impulse(i), motion.laws(x), turn, bent)


def _middle(motion: SteppedMotion, x: Array, y: Array, h: float) -> tuple[Any, Any]:
    """Inputs in the middle of a step from x to y, and the speeds that it moved with: q⁺ = q + h T(middle) v, and
    middle = q + h T(q) v / 2, as the midpoint rule has it."""
    middle = x.copy()
    middle[0] = 0.5 * (x[0] + y[0])
    moved = (y[motion.q] - x[motion.q]) / h
    q, v = 0.5 * (x[motion.q] + y[motion.q]), x[motion.u]
    for _ in range(2):
        middle[motion.q], middle[motion.u] = q, v
        T, drift = _coordinate_map(motion, middle)
        v = np.linalg.lstsq(T, moved - drift, rcond=None)[0]
        start = x.copy()
        start[motion.u] = v
        q = x[motion.q] + 0.5 * h * motion.rates(start)
    middle[motion.q], middle[motion.u] = q, v
    return middle, v


def _coordinate_map(motion: SteppedMotion, x: Array) -> tuple[Array, Array]:
    """(T, d) of q̇ = T u + d at inputs x."""
    n = motion.u.stop - motion.u.start
    still = x.copy()
    still[motion.u] = 0.0
    drift, columns = motion.rates(still), list[Array]()
    for j in range(n):
        still[motion.u] = np.arange(n) == j
        columns.append(motion.rates(still) - drift)
    return np.stack(columns, axis=1), drift


def _accelerations(terms: Mapping[str, Array], permanent: int) -> Any:
    """u̇ under the permanent constraints alone."""
    M, f, A = terms["M"], terms["f"], terms["A"][:permanent]
    if not permanent:
        return np.linalg.solve(M, f)
    whole = np.block([[M, -A.T], [A, np.zeros((permanent, permanent))]])
    return np.linalg.lstsq(whole, np.concatenate([f, terms["b"][:permanent]]), rcond=None)[0][: len(M)]


def _residual(motion: SteppedMotion, step: _CheckedStep, rates: Array) -> float:
    """The natural residual of the contact problem of a step, relative to the velocities in it: |r − p| of a contact,
    with p = r − u projected to where its law allows r, motions measured as u / √w and impulses as r √w."""
    ends = step.terms["phi"] + step.h * rates  # gaps
    closed = [
        (e, law)
        for e, law in zip(motion.elements, step.laws, strict=True)
        if np.any(step.impulse[e.first : e.first + e.rows])
        or (e.type == "contact" and e.always and ends[e.first] < -TOUCHING_IN_STEPS)
        or (e.type == "one-way" and e.always and rates[e.first] < 0.0)
    ]
    if not closed:
        return 0.0
    before = step.rates(step.free)
    worst, size = 0.0, 0.0
    for e, law in closed:
        own = slice(e.first, e.first + e.rows)
        A = step.terms["A"][own]
        unit = float(np.sqrt(np.max(np.sum(A * np.linalg.solve(step.terms["M"], A.T).T, axis=1)))) or 1.0
        r, u = unit * step.impulse[own], rates[own] / unit
        shifts = [0.0]
        if e.type == "contact":
            shifts = _shifts(step, e, law, before)
        worst = max(worst, min(_defect(e, law, r, u, shift / unit, unit, step.h) for shift in shifts))
        largest = np.abs(before[own] + np.eye(e.rows)[0] * max(shifts, key=abs)).max()
        size = max(size, float(largest) / unit)
    return worst / size if size > 0.0 else worst


def _shifts(step: _CheckedStep, e: SteppedElement, law: Array, before: Array) -> list[float]:
    """What is added to the normal rate of a contact: its gap, over the step, or what it bounces with."""
    gap, approach = float(step.terms["phi"][e.first]), float(step.terms["rate"][e.first])
    if law[0] > 0.0 and approach < 0.0 and gap + step.h * before[e.first] < 0.0:
        return [share * float(law[0]) * approach for share in SHARES if share > 0.0] + [gap / step.h]
    return [gap / step.h if abs(gap) > TOUCHING_IN_STEPS else 0.0]


def _defect(e: SteppedElement, law: Array, r: Array, u: Array, shift: float, unit: float, h: float) -> float:
    """|r − p| of one element."""
    if e.type == "switched":
        return float(np.linalg.norm(u))
    if e.type == "friction":
        return min(_disc(r, u, h * k * law[3] * unit) for k in (law[1], law[2]))
    normal = float(r[0] - max(0.0, r[0] - u[0] - shift))
    if e.rows == 1:
        return abs(normal)
    return min(float(np.hypot(normal, _disc(r[1:], u[1:], k * max(0.0, float(r[0]))))) for k in (law[1], law[2]))


def _disc(r: Array, u: Array, radius: float) -> float:
    """|r − p|, p being the point of a disc that is nearest to r − u."""
    z = r - u
    size = float(np.linalg.norm(z))
    return float(np.linalg.norm(r - z * (radius / size if size > radius else 1.0)))


__all__ = ["BETWEEN", "SteppedElement", "SteppedMotion", "step_rows"]
