"""What came and went along a motion, checked by the laws of contact: gaps, reactions that push, friction within its
bound, impulses that account for jumps of the speeds and take no energy from nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..constraints.thresholds import SATISFIED
from .programs import Array, Programs, States
from .report import CheckRow

PUSHES = 1e-8
"""Share of the largest force by which a reaction may pull, or friction exceed its bound: they do so where a function
that is computed to 1e-10 falls through zero."""

JUMPS = 1e-5
"""Share of the largest jump by which an impact may miss M (u⁺ − u⁻) = Aᵀ P: the one after which a contact rests carries
the impulses of all the bounces that are left out, 1.4e-6 of it where accelerations are thousands of m/s²."""

GAIN = 1e-9
"""Share of the kinetic energy that an impact may seem to give, by rounding."""

NOT_UNIQUE = "more contacts than needed: those of least norm are told, others would do as well"


class Switching(Protocol):
    """What is read of a transition."""

    @property
    def t(self) -> float: ...
    @property
    def energy_change(self) -> float: ...
    @property
    def u_before(self) -> Array | None: ...
    @property
    def u_after(self) -> Array | None: ...


@dataclass(frozen=True, slots=True)
class ChangingMotion:
    """A motion of k times under m rows of constraints, `permanent` ones first: A (k, m, n), residuals phi (k, m) and
    reactions (k, m). `gaps` are the rows whose residual is a gap, `pushing` those whose reaction pushes, `friction` has
    for each constraint with friction its rows and the bound (k,) of the size of their reactions. `transitions` come
    with `impulses` (transitions, m). `own_rates` (k, m) are rates of the rows that are due to t alone, `present` says
    where each of the `gaps` is in force."""

    permanent: int
    A: Array
    phi: Array
    reactions: Array
    gaps: tuple[int, ...]
    pushing: tuple[int, ...]
    friction: tuple[tuple[tuple[int, ...], Array], ...]
    transitions: Sequence[Switching]
    impulses: Array
    own_rates: Array
    present: Array

    @property
    def struck(self) -> bool:
        """Whether there was an impulse."""
        return bool(np.any(self.impulses))

    @property
    def redundant(self) -> bool:
        """Whether more rows react at some time than the motion needs, so that their reactions are not unique."""
        acting = self.reactions != 0.0
        ranks = np.linalg.matrix_rank(self.A * acting[:, :, None])
        return bool(np.any(ranks < acting.sum(axis=1)))

    def efforts(self) -> Array:
        """What all reactions do along the speeds, (k, n)."""
        return np.einsum("kmn,km->kn", self.A, self.reactions)


def changing_rows(motion: ChangingMotion, ask: Programs, states: States) -> list[CheckRow]:
    """The laws of contact along a motion."""
    size = max(float(np.abs(x).max(initial=0.0)) for x in (motion.reactions, ask("bias", states))) or 1.0
    return [
        _gaps(motion),
        _pushes(motion, size),
        _friction(motion, size),
        _jumps(motion, ask, states),
        _gains(motion, ask, states),
    ]


def _gaps(motion: ChangingMotion) -> CheckRow:
    name, statement = "gaps", "nothing penetrates: gaps ≥ 0"
    if not motion.gaps:
        return CheckRow(name, statement, None, SATISFIED, "there are none")
    gaps = np.where(motion.present, motion.phi[:, motion.gaps], 0.0)
    return CheckRow(name, statement, max(0.0, -float(np.min(gaps))), SATISFIED)


def _pushes(motion: ChangingMotion, size: float) -> CheckRow:
    name, statement = "pushes", "contacts and stops push, they do not pull"
    if not motion.pushing:
        return CheckRow(name, statement, None, PUSHES, "there are none")
    if motion.redundant:
        return CheckRow(name, statement, None, PUSHES, NOT_UNIQUE)
    worst = max(0.0, -float(np.min(motion.reactions[:, motion.pushing])))
    return CheckRow(name, statement, worst / size, PUSHES)


def _friction(motion: ChangingMotion, size: float) -> CheckRow:
    name, statement = "friction", "friction stays within its bound"
    if not motion.friction:
        return CheckRow(name, statement, None, PUSHES, "there is none")
    if motion.redundant:
        return CheckRow(name, statement, None, PUSHES, NOT_UNIQUE)
    beyond = [
        float(np.max(np.linalg.norm(motion.reactions[:, rows], axis=1) - bound)) for rows, bound in motion.friction
    ]
    return CheckRow(name, statement, max(0.0, *beyond) / size, PUSHES)


def _jumps(motion: ChangingMotion, ask: Programs, states: States) -> CheckRow:
    """At the transitions whose time is one of the motion's, so that their place is known."""
    name, statement = "impacts", "M (u⁺ − u⁻) = Aᵀ P at impacts"
    times = states.t[:, 0]
    struck = [i for i, P in enumerate(motion.impulses) if np.any(P)]
    places = {i: np.flatnonzero(times == motion.transitions[i].t) for i in struck}
    seen = [i for i in struck if len(places[i])]
    if not seen:
        note = "no time of the motion is that of an impact" if struck else "there are none"
        return CheckRow(name, statement, None, JUMPS, note)
    M, missed, size = ask("mass_matrix", states), 0.0, 0.0
    for i in seen:
        at, change = int(places[i][0]), motion.transitions[i]
        assert change.u_before is not None and change.u_after is not None
        gained = M[at] @ (change.u_after - change.u_before)
        left, held = gained - motion.impulses[i] @ motion.A[at], motion.A[at, : motion.permanent].T
        left = left - held @ np.linalg.lstsq(held, left, rcond=None)[0]  # what permanent constraints take is not told
        missed = max(missed, float(np.abs(left).max()))
        size = max(size, float(np.abs(gained).max()))
    return CheckRow(name, statement, missed / (size or 1.0), JUMPS)


def _gains(motion: ChangingMotion, ask: Programs, states: States) -> CheckRow:
    name, statement = "losses", "no impact gains energy"
    if not motion.struck:
        return CheckRow(name, statement, None, GAIN, "there are none")
    T = float(np.max(ask("energy", states)[0]))
    gains = [x.energy_change for x in motion.transitions]
    if np.any(motion.own_rates):
        statement = "no impact gains energy but from what moves it"
        gains = [_relative_gain(motion, i, states) for i in range(len(gains))]
    return CheckRow(name, statement, max(0.0, *gains) / (T or 1.0), GAIN)


def _relative_gain(motion: ChangingMotion, i: int, states: States) -> float:
    """What the impulses of a transition give (J) beyond what is due to motions that are imposed: P · (v⁺ + v⁻) / 2 with
    rates v of the rows; 0 where its place is not known."""
    change, P, at = motion.transitions[i], motion.impulses[i], np.flatnonzero(states.t[:, 0] == motion.transitions[i].t)
    if not np.any(P) or not len(at) or change.u_before is None or change.u_after is None:
        return 0.0
    A, own = motion.A[at[0]], motion.own_rates[at[0]]
    return float(P @ (A @ (change.u_before + change.u_after) + 2 * own)) / 2


__all__ = ["ChangingMotion", "changing_rows"]
