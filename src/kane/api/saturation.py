"""How long efforts are at their limits along a motion, and when: drives that give all they can.

Between two states of a motion its coordinates and speeds are taken on the cubics through them with their rates, the law
is asked there, and where it reaches or leaves a limit is found by halving. A control in Python is held between its
samples, so there it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..advice import SATURATION
from ..model.attitude import unit_quaternions
from ..simulate import MotionProblem, Solution
from .limits import NAMED, bounded_efforts, known_accelerations
from .records import Array
from .run_values import cubic

if TYPE_CHECKING:
    from .trajectory import Trajectory

Mask = np.ndarray[Any, np.dtype[np.bool_]]

_PIECES = 8  # parts of a step at whose ends the law is asked: what is shorter than one may be missed
_BLOCK = 4096  # steps that are looked at together, for the memory that their parts take
_NEAR = 0.5  # share of its limit that an effort has at some state before the parts of steps are looked at
_HALVINGS = 40  # of a part of a step: to the rounding of the time
_EQUAL = 1e-12  # relative: an effort is at its limit, after constant efforts were taken off and added again


@dataclass(frozen=True, slots=True)
class Saturation:
    """The effort along the rate of a coordinate at its `limit` (N m, N): in `spans` of time (s), from and to, which are
    `share` of the whole motion."""

    coordinate: str
    limit: float
    spans: tuple[tuple[float, float], ...]
    share: float

    @property
    def seconds(self) -> float:
        """For how long in all (s)."""
        return sum(abs(end - start) for start, end in self.spans)

    @property
    def first(self) -> float:
        """When first (s)."""
        return self.spans[0][0]

    def __str__(self) -> str:
        share = f"{100 * self.share:.3g} %" if self.share < 1.0 else "all"
        return f"{self.coordinate} for {self.seconds:.4g} s ({share} of the time), first at t = {self.first:.4g} s"


def saturation_sentences(found: tuple[Saturation, ...], *, none: bool) -> Iterable[str]:
    """What an outcome says about drives at their limits; with `none` also that there were none."""
    if found:
        more = f" and {len(found) - NAMED} more (all: {SATURATION})" if len(found) > NAMED else ""
        yield f"saturated: {', '.join(map(str, found[:NAMED]))}{more}"
    elif none:
        yield "no effort reached its limit"


def find_saturation(run: Trajectory, problem: MotionProblem, solution: Solution) -> tuple[Saturation, ...]:
    """Which efforts were at their limits, those that were longest first."""
    bounds = bounded_efforts(run.answers.mechanism)
    if not bounds or len(run.t) < 2 or run.t[0] == run.t[-1]:
        return ()
    if not (np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.u))):
        return ()
    places, most = [place for _, place, _ in bounds], np.array([limit for *_, limit in bounds])
    if run.law is not None:
        spans = _spans_of_law(run, places, most)
    elif solution.held is not None and len(solution.held.t):
        at = _at_limits(solution.held.p[:, places], most)
        times = np.append(solution.held.t, run.t[-1])
        spans = [_join(np.column_stack([times[:-1], times[1:]])[at[:, i]]) for i in range(len(places))]
    else:
        always = ((float(run.t[0]), float(run.t[-1])),)
        at = _at_limits(np.asarray(problem.tau)[places], most) & (most > 0.0)  # 0 of 0 is no effort
        spans = [always if full else () for full in at.tolist()]
    whole = abs(float(run.t[-1] - run.t[0]))
    found = [
        Saturation(name, limit, ends, sum(abs(b - a) for a, b in ends) / whole)
        for (name, _, limit), ends in zip(bounds, spans, strict=True)
        if ends
    ]
    return tuple(sorted(found, key=lambda one: -one.seconds))


def _at_limits(efforts: Array, most: Array) -> Mask:
    """Where efforts are at their limits; those beyond are not held there."""
    return np.abs(np.abs(efforts) - most) <= _EQUAL * most


Spans = tuple[tuple[float, float], ...]
Ask = Callable[[Array, Array, Array], Mask]


def _spans_of_law(run: Trajectory, places: list[int], most: Array) -> list[Spans]:
    """When efforts of a law that is compiled are at their limits."""
    law = run.law
    assert law is not None

    def efforts(t: Array, q: Array, u: Array) -> Array:
        return law(t, q, u)[:, places]

    given = efforts(run.t, run.q, run.u)
    if not np.any(np.abs(given) >= _NEAR * most):
        return [() for _ in places]
    path = _Path(run)
    steps = np.flatnonzero(np.diff(run.t) != 0.0)
    pieces = [list[tuple[float, float]]() for _ in places]
    for first in range(0, len(steps), _BLOCK):
        block = steps[first : first + _BLOCK]
        k, s = np.repeat(block, _PIECES + 1), np.tile(np.linspace(0.0, 1.0, _PIECES + 1), len(block))
        at = _at_limits(efforts(*path(k, s)), most)
        for i in range(len(places)):
            here = _Asked(path, lambda t, q, u, i=i: _at_limits(efforts(t, q, u), most)[:, i])
            pieces[i] += here.spans(k.reshape(-1, _PIECES + 1), s.reshape(-1, _PIECES + 1), at[:, i])
    return [_join(np.array(found).reshape(-1, 2)) for found in pieces]


class _Path:
    """A motion between its states, as `resample` gives it."""

    def __init__(self, run: Trajectory):
        self._run, self.t = run, run.t
        self._rates = np.atleast_2d(run.answers.ask("kinematics", run.t[:, None], None, q=run.q, u=run.u))
        self._accelerations = known_accelerations(run)

    def __call__(self, k: Any, s: Array) -> tuple[Array, Array, Array]:
        """(t, q, u) at parts s of the steps that begin with the states k."""
        h, run = self.t[k + 1] - self.t[k], self._run
        t = np.where(s == 1.0, self.t[k + 1], self.t[k] + s * h)  # the end of a step is the start of the next
        q = cubic(run.q, self._rates, k, k + 1, s[:, None], h[:, None])
        u = cubic(run.u, self._accelerations, k, k + 1, s[:, None], h[:, None])
        return t, unit_quaternions(run.answers.mechanism, q), u


@dataclass(frozen=True, slots=True)
class _Asked:
    """One effort along a motion: whether it is at its limit."""

    path: _Path
    ask: Ask

    def spans(self, k: Any, s: Array, at: Mask) -> list[tuple[float, float]]:
        """Times between which the effort is at its limit, from what was asked at the ends of parts: rows of parts of
        one step each."""
        states = at.reshape(k.shape)
        begin, end = states[:, :-1], states[:, 1:]
        low, high, step = s[:, :-1], s[:, 1:], k[:, :-1]
        times = [low.copy(), high.copy()]
        changed = begin != end
        if np.any(changed):
            places = self._halve(step[changed], low[changed], high[changed], begin[changed])
            times[1][changed & begin] = places[begin[changed]]
            times[0][changed & end] = places[end[changed]]
        kept = begin | end
        starts, ends = (self.path(step[kept], x[kept])[0] for x in times)
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def _halve(self, k: Any, low: Array, high: Array, begin: Mask) -> Array:
        """Parts of steps where the effort reaches or leaves its limit."""
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            same = self.ask(*self.path(k, middle)) == begin
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return 0.5 * (low + high)


def _join(pieces: Array) -> Spans:
    """Spans of time that follow each other as one."""
    found: list[tuple[float, float]] = []
    for start, end in pieces.tolist():
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


__all__ = ["Saturation", "find_saturation", "saturation_sentences"]
