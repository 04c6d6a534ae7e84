"""States moved onto constraints: configurations closed, speeds that satisfy A u + c = 0.

Configurations are closed by damped Newton steps of least length, speeds by the least change. What cannot be satisfied
is given row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .metric import Array, drop_rounding, row_lengths, unit_lengths
from .thresholds import CLOSED, REDUNDANT, ROUNDING, SATISFIED, SINGULAR

_STEPS = 200  # Newton steps before a configuration counts as impossible to close
_HALVINGS = 30
_STALLED = 1e-3  # a residual that falls by less than this share in _PATIENCE steps is at a minimum
_PATIENCE = 12
_LONGEST = 1.0  # a Newton step of more than this and the largest coordinate is cut: its rows have hardly a direction
_KICK = 0.03  # rad or m by which a start is moved that led nowhere


class RowTerms(NamedTuple):
    """The rows at one state: A (m, n), A u + c (m), phi (m), and how coordinates follow the speeds, T (n_q, n)."""

    A: Array
    rate: Array
    phi: Array
    T: Array


@dataclass(frozen=True, slots=True)
class RowLabels:
    """Names of rows, the units of their reactions, and their `sizes` without cancellation (see `metric`), each (m,)."""

    names: Sequence[str]
    units: Sequence[str] = ()
    sizes: Array | None = None

    def select(self, places: Sequence[int]) -> RowLabels:
        """Those of the rows at these places."""
        return RowLabels(
            [self.names[i] for i in places],
            [self.units[i] for i in places] if self.units else (),
            None if self.sizes is None else self.sizes[list(places)],
        )


class InconsistentRows(Exception):
    """Constraints that cannot hold, at the `level` of position, velocity or acceleration, or have no value: (row,
    residual) pairs, the largest first; `branches` are speeds at which they could at this position, the nearest first.
    """

    def __init__(self, level: str, residuals: Sequence[tuple[str, float]], branches: Sequence[Array] = ()):
        super().__init__(level, residuals)
        self.level = level
        self.residuals = sorted(residuals, key=lambda r: -abs(r[1]))
        self.branches = tuple(branches)


def project_position(
    terms: Callable[[Array], RowTerms], unit: Callable[[Array], Array], q: Array, rows: RowLabels, held: Sequence[int]
) -> Array:
    """q moved to where every residual vanishes, the coordinates `held` staying; least steps along the speeds.
    Where that does not converge it is tried once more from a position close by.

    Raises InconsistentRows where the residuals do not go to zero.
    """
    aside = _KICK * np.sin(np.arange(1.0, len(q) + 1.0))
    aside[list(held)] = 0.0
    try:
        return _newton(terms, unit, unit(q.copy()), rows, held)
    except InconsistentRows as error:
        if error.level == "value":
            raise
        try:
            return _newton(terms, unit, unit(q + aside), rows, held)
        except InconsistentRows:
            raise error from None


def _newton(
    terms: Callable[[Array], RowTerms], unit: Callable[[Array], Array], q: Array, rows: RowLabels, held: Sequence[int]
) -> Array:
    """The same from one start. It can stall where the residuals are stationary, a flat four-bar say."""
    at = terms(q)
    require_values(at, rows)
    best, since = float(np.linalg.norm(at.phi)), 0
    for _ in range(_STEPS):
        size = float(np.abs(at.phi).max(initial=0.0))
        step = _least_solution(at.A, -at.phi, at.T[list(held)], rows.sizes)
        near, then = q, at
        move = at.T @ step
        move[list(held)] = 0.0
        longest, far = _LONGEST + float(np.abs(q).max(initial=0.0)), float(np.abs(move).max(initial=0.0))
        if far > longest:
            move *= longest / far
        q, at = _step_ahead(terms, unit, q, at, move)
        if size <= CLOSED * (1.0 + float(np.abs(near).max(initial=0.0))):
            return q if np.abs(at.phi).max(initial=0.0) <= np.abs(then.phi).max(initial=0.0) else near
        now = float(np.linalg.norm(at.phi))
        since = 0 if now < (1.0 - _STALLED) * best else since + 1
        best = min(best, now)
        if not np.isfinite(now) or since > _PATIENCE:
            break
    raise InconsistentRows("position", list(zip(rows.names, at.phi.tolist(), strict=True)))


def require_values(at: RowTerms, rows: RowLabels) -> None:
    """InconsistentRows where rows have no value, or one so large that they are at a pole."""
    fine = np.isfinite(at.phi) & np.isfinite(at.rate) & np.all(np.isfinite(at.A), axis=1)
    if rows.sizes is not None:
        with np.errstate(all="ignore"):
            fine &= ~((rows.sizes > 0.0) & (ROUNDING * np.linalg.norm(at.A, axis=1) > rows.sizes))
    if not np.all(fine):
        raise InconsistentRows("value", [(row, np.nan) for row, has in zip(rows.names, fine, strict=True) if not has])


def _step_ahead(
    terms: Callable[[Array], RowTerms], unit: Callable[[Array], Array], q: Array, at: RowTerms, step: Array
) -> tuple[Array, RowTerms]:
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


def project_speeds(at: RowTerms, u: Array, rows: RowLabels, held: Sequence[int]) -> Array:
    """u moved to where A u + c = 0, by the least change, the speeds `held` staying; InconsistentRows where none does.
    Rows of one unit are compared by length.

    Directions that rows determine by less than SINGULAR are left alone: near a singular position they are not known.
    """
    require_values(at, rows)
    lengths = row_lengths(at.A, rows.units, rows.sizes)
    whole = np.vstack([drop_rounding(at.A, rows.sizes) / lengths[:, None], np.eye(len(u))[list(held)]])
    right = np.concatenate([-at.rate / lengths, np.zeros(len(held))])
    step = np.linalg.lstsq(whole, right, rcond=SINGULAR)[0]
    left = at.rate + at.A @ step
    scale = np.abs(at.A) @ np.abs(u + step) + np.abs(at.rate) + lengths * np.abs(u + step).max(initial=0.0)
    if np.any(~(np.abs(left) <= SINGULAR * scale + SATISFIED)):
        raise InconsistentRows("velocity", list(zip(rows.names, left.tolist(), strict=True)))
    return u + step


def _least_solution(A: Array, right: Array, keep: Array, sizes: Array | None) -> Array:
    """The least solution of A x = right with keep x = 0, in the sense of least squares."""
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(keep)) and np.all(np.isfinite(right))):
        return np.full(A.shape[1], np.nan)
    lengths = np.concatenate([unit_lengths(A, sizes), unit_lengths(keep)])
    whole, both = np.vstack([drop_rounding(A, sizes), keep]), np.concatenate([right, np.zeros(len(keep))])
    return np.linalg.lstsq(whole / lengths[:, None], both / lengths, rcond=REDUNDANT)[0].astype(np.float64)


__all__ = ["InconsistentRows", "RowLabels", "RowTerms", "project_position", "project_speeds", "require_values"]
