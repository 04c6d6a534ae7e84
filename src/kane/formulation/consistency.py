"""States made to satisfy the constraints, and constraints judged at a state: rank, redundancy, contradiction.

Configurations are closed by damped Newton steps of least length; what cannot be closed, or is moved against itself, is
told row by row. Redundant rows say nothing that others do not say; contradicting rows cannot hold together. Where rows
lose rank, speeds also have to lie on a branch of the motion: A u̇ = b must have a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .embedding import REDUNDANT, choose, comparable

Array = np.ndarray[Any, np.dtype[np.float64]]

CLOSED = 1e-12
"""Largest residual (m, rad) of a configuration that counts as closed, times the size of the coordinates; largest
residual (m/s², rad/s²) of accelerations that is none."""

SINGULAR = 1e-6
"""Share of the largest singular value of the rows below which they count as losing rank at a position: of one that is
closed to CLOSED, its square, no more is known."""

_STEPS = 200  # Newton steps before a configuration counts as impossible to close
_HALVINGS = 30
_STALLED = 1e-3  # a residual that falls by less than this share in _PATIENCE steps is at a minimum
_PATIENCE = 12
_LONGEST = 1.0  # a Newton step of more than this and the largest coordinate is cut: its rows have hardly a direction
_KICK = 0.03  # rad or m by which a start is moved that led nowhere
_INVOLVED = 1e-6  # smallest part of a row in a combination that is named
_ASTRAY = 1e-5  # share of b that may lie outside the range of A: on a branch it is SINGULAR at most
_ROUNDED = 1e-2  # share by which speeds are turned onto a branch: that of numbers written with two digits
_STARTS, _TURNS = 16, 60  # directions from which branches are sought, and Gauss–Newton steps along each
_ALIKE = 1e-6  # 1 − |cos| of the angle between speeds that are one direction


class Terms(NamedTuple):
    """The rows at one state: A (m, n), A u + c (m), phi (m), and how coordinates follow the speeds, T (n_q, n)."""

    A: Array
    rate: Array
    phi: Array
    T: Array


@dataclass(frozen=True, slots=True)
class Freedom:
    """What constraints leave of the motion at a state.

    `rank` of the rows; `degrees` of freedom; `independent` and `dependent` speeds by name; `redundant` rows, each of
    which follows from others of them, and how many of these say nothing new, the `surplus`; `condition` of the
    independent part of the rows.
    """

    rank: int
    degrees: int
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    redundant: tuple[str, ...]
    surplus: int
    condition: float

    def __str__(self) -> str:
        plural = "" if self.degrees == 1 else "s"
        text = f"{self.degrees} degree{plural} of freedom: {', '.join(self.independent) or 'none'}"
        if self.redundant:
            some = "" if self.surplus == len(self.redundant) else f"{self.surplus} of "
            text += f"; redundant: {some}{', '.join(self.redundant)}"
        return text


class Unclosed(Exception):
    """Constraints that cannot hold, at the `level` of position, velocity or acceleration, or have no value: (row,
    residual) pairs, the largest first; `branches` are speeds at which they could at this position, the nearest first.
    """

    def __init__(self, level: str, residuals: Sequence[tuple[str, float]], branches: Sequence[Array] = ()):
        super().__init__(level, residuals)
        self.level = level
        self.residuals = sorted(residuals, key=lambda r: -abs(r[1]))
        self.branches = tuple(branches)


def closed(
    terms: Callable[[Array], Terms], unit: Callable[[Array], Array], q: Array, rows: Sequence[str], held: Sequence[int]
) -> Array:
    """q moved to where every residual vanishes, the coordinates `held` staying; least steps along the speeds.
    Where that leads nowhere it is tried once more from a little beside.

    Raises Unclosed where the residuals do not go to zero.
    """
    aside = _KICK * np.sin(np.arange(1.0, len(q) + 1.0))
    aside[list(held)] = 0.0
    try:
        return _newton(terms, unit, unit(q.copy()), rows, held)
    except Unclosed as error:
        if error.level == "value":
            raise
        try:
            return _newton(terms, unit, unit(q + aside), rows, held)
        except Unclosed:
            raise error from None


def _newton(
    terms: Callable[[Array], Terms], unit: Callable[[Array], Array], q: Array, rows: Sequence[str], held: Sequence[int]
) -> Array:
    """The same from one start. It can stall where the residuals are stationary, a flat four-bar say."""
    at = terms(q)
    finite(at, rows)
    best, since = float(np.linalg.norm(at.phi)), 0
    for _ in range(_STEPS):
        size = float(np.abs(at.phi).max(initial=0.0))
        step = _least(at.A, -at.phi, at.T[list(held)])
        near, then = q, at
        move = at.T @ step
        move[list(held)] = 0.0
        longest, far = _LONGEST + float(np.abs(q).max(initial=0.0)), float(np.abs(move).max(initial=0.0))
        if far > longest:
            move *= longest / far
        q, at = _shortened(terms, unit, q, at, move)
        if size <= CLOSED * (1.0 + float(np.abs(near).max(initial=0.0))):
            return q if np.abs(at.phi).max(initial=0.0) <= np.abs(then.phi).max(initial=0.0) else near
        now = float(np.linalg.norm(at.phi))
        since = 0 if now < (1.0 - _STALLED) * best else since + 1
        best = min(best, now)
        if not np.isfinite(now) or since > _PATIENCE:
            break
    raise Unclosed("position", list(zip(rows, at.phi.tolist(), strict=True)))


def finite(at: Terms, rows: Sequence[str]) -> None:
    """Unclosed where rows have no value."""
    fine = np.isfinite(at.phi) & np.isfinite(at.rate) & np.all(np.isfinite(at.A), axis=1)
    if not np.all(fine):
        raise Unclosed("value", [(row, np.nan) for row, has_value in zip(rows, fine, strict=True) if not has_value])


def _shortened(
    terms: Callable[[Array], Terms], unit: Callable[[Array], Array], q: Array, at: Terms, step: Array
) -> tuple[Array, Terms]:
    """The state a step ahead, the step halved until the residuals fall."""
    before = float(np.linalg.norm(at.phi))
    there, then = q, at
    for _ in range(_HALVINGS):
        there = unit(q + step)
        then = terms(there)
        if np.linalg.norm(then.phi) < before:
            break
        step = 0.5 * step
    return there, then


def moving(at: Terms, u: Array, rows: Sequence[str], held: Sequence[int], units: Sequence[str]) -> Array:
    """u moved to where A u + c = 0, by the least change, the speeds `held` staying; Unclosed where none does. Rows of
    one unit are compared by length.

    Directions that rows determine by less than SINGULAR are left alone: near a singular position they are not known.
    """
    finite(at, rows)
    lengths = _lengths(at.A, units)
    whole = np.vstack([at.A / lengths[:, None], np.eye(len(u))[list(held)]])
    right = np.concatenate([-at.rate / lengths, np.zeros(len(held))])
    step = np.linalg.lstsq(whole, right, rcond=SINGULAR)[0]
    left = at.rate + at.A @ step
    scale = np.abs(at.A) @ np.abs(u + step) + np.abs(at.rate) + lengths * np.abs(u + step).max(initial=0.0)
    if np.any(~(np.abs(left) <= SINGULAR * scale + 1e-9)):
        raise Unclosed("velocity", list(zip(rows, left.tolist(), strict=True)))
    return u + step


def _lengths(A: Array, units: Sequence[str]) -> Array:
    """What rows (m, n) are measured by: their lengths or, where one vanishes beside others of its unit, the longest."""
    lengths = np.linalg.norm(A, axis=1)
    longest = {unit: max(x for x, other in zip(lengths, units, strict=True) if other == unit) for unit in set(units)}
    tops = np.array([longest[unit] for unit in units])
    return np.where(lengths > SINGULAR * tops, lengths, np.where(tops > 0.0, tops, 1.0))


def branching(
    A: Array, b: Callable[[Array], Array], u: Array, rows: Sequence[str], held: Sequence[int], units: Sequence[str]
) -> Array:
    """u where A u̇ = b(u) has a solution; where rows A (m, n) lose rank and it has none, the nearest speeds that have
    one, if they are near, the speeds `held` staying. `b` gives (k, m) for speeds (k, n), which satisfy A u + c = 0.

    With W over the rows' combinations that vanish, Wᵀ b is a quadratic in the speeds along the null space of A, and
    its zeros are the tangents of the branches that meet at this position. Unclosed, with the branches, where u is not
    near one.
    """
    lengths = _lengths(A, units)
    left, values, _ = np.linalg.svd(A / lengths[:, None])
    W = left[:, int(np.sum(values > SINGULAR * values.max(initial=0.0))) :]
    if not W.shape[1]:
        return u

    def outside(speeds: Array) -> Array:
        return (b(speeds) / lengths) @ W

    generic = u * np.sin(np.outer(np.arange(1.0, 5.0), np.arange(1.0, len(u) + 1.0)))
    size = float(np.abs(b(np.vstack([u, generic])) / lengths).max())
    off = outside(u[None])[0]
    if np.abs(off).max() <= _ASTRAY * size + CLOSED:  # speeds of a rounding error are rest
        return u
    whole = np.vstack([A / lengths[:, None], np.eye(len(u))[list(held)]])
    _, values, right = np.linalg.svd(whole)
    N = right[int(np.sum(values > SINGULAR * values.max(initial=0.0))) :]
    found = _tangents(outside, u, N, _ASTRAY**2 * size)
    if found and np.linalg.norm(found[0] - u) <= _ROUNDED * np.linalg.norm(u):
        return found[0]
    raise Unclosed("acceleration", list(zip(rows, (lengths * (W @ off)).tolist(), strict=True)), found)


def _tangents(outside: Callable[[Array], Array], u: Array, N: Array, within: float) -> list[Array]:
    """Zeros of a quadratic in speeds that differ from u along the directions N (p, n), the nearest first; those of one
    direction are told once."""
    if not len(N):
        return []
    along = N @ u
    rng = np.random.default_rng(0)
    found: list[Array] = []
    for k in range(_STARTS):
        turned = rng.normal(size=len(N))
        z = along if k == 0 else turned * (k * np.linalg.norm(u) / np.linalg.norm(turned))
        v = u + (z - along) @ N
        for _ in range(_TURNS):
            h = float(np.linalg.norm(v)) or 1.0
            ahead, behind = outside(v + h * N), outside(v - h * N)  # differences of a quadratic are exact
            v = v - np.linalg.lstsq((ahead - behind).T / (2.0 * h), outside(v[None])[0], rcond=REDUNDANT)[0] @ N
        if np.abs(outside(v[None])).max() <= within and np.linalg.norm(v) > _ALIKE * np.linalg.norm(u):
            found.append(v)
    found.sort(key=lambda v: float(np.linalg.norm(v - u)))
    kept: list[Array] = []
    for v in found:
        if all(abs(v @ w) < (1.0 - _ALIKE) * np.linalg.norm(v) * np.linalg.norm(w) for w in kept):
            kept.append(v)
    return kept


def _least(A: Array, right: Array, keep: Array) -> Array:
    """The least solution of A x = right with keep x = 0, in the sense of least squares."""
    whole = np.vstack([A, keep]) if len(keep) else A
    lengths = np.linalg.norm(whole, axis=1)
    lengths[lengths == 0.0] = 1.0
    both = np.concatenate([right, np.zeros(len(keep))]) / lengths
    if not (np.all(np.isfinite(whole)) and np.all(np.isfinite(both))):
        return np.full(A.shape[1], np.nan)
    return np.linalg.lstsq(whole / lengths[:, None], both, rcond=REDUNDANT)[0]


def freedom(A: Array, mass: Array, rows: Sequence[str], speeds: Sequence[str], within: float = REDUNDANT) -> Freedom:
    """What rows A (m, n) leave of the motion; `mass` (n,) is the diagonal of M, by which speeds are compared."""
    choice = choose(A, mass, within)
    left, values, _ = np.linalg.svd(comparable(A, mass))
    rank = len(choice.dependent)
    null = np.abs(left[:, rank:]).max(axis=1, initial=0.0)  # parts of rows in combinations that are nothing
    return Freedom(
        rank,
        len(speeds) - rank,
        tuple(speeds[i] for i in choice.independent),
        tuple(speeds[i] for i in choice.dependent),
        tuple(r for r, x in zip(rows, null, strict=True) if x > _INVOLVED),
        len(rows) - rank,
        float(values[0] / values[rank - 1]) if rank else 1.0,
    )


__all__ = ["SINGULAR", "Freedom", "Terms", "Unclosed", "branching", "closed", "finite", "freedom", "moving"]
