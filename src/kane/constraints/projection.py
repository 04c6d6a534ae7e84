"""States moved onto constraints: configurations closed, speeds that satisfy A u + c = 0.

Configurations are closed by damped Newton steps of least length, speeds by the least change. What cannot be satisfied
is given row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    best, since = float(_length(at.phi)), 0
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
        now = float(_length(at.phi))
        since = 0 if now < (1.0 - _STALLED) * best else since + 1
        best = min(best, now)
        if not np.isfinite(now) or since > _PATIENCE:
            break
    raise InconsistentRows("position", list(zip(rows.names, at.phi.tolist(), strict=True)))


def require_values(at: RowTerms, rows: RowLabels) -> None:
    """InconsistentRows where rows have no value, or one so large that they are at a pole."""
    fine = rows_with_values(at, rows)
    if not np.all(fine):
        raise InconsistentRows("value", [(row, np.nan) for row, has in zip(rows.names, fine, strict=True) if not has])


def rows_with_values(at: RowTerms, rows: RowLabels) -> Any:
    """Which rows have a value that is not so large that they are at a pole, (…, m) of bool."""
    fine = np.isfinite(at.phi) & np.isfinite(at.rate) & np.all(np.isfinite(at.A), axis=-1)
    if rows.sizes is not None:
        with np.errstate(all="ignore"):
            fine &= ~((rows.sizes > 0.0) & (ROUNDING * np.linalg.norm(at.A, axis=-1) > rows.sizes))
    return fine


def _step_ahead(
    terms: Callable[[Array], RowTerms], unit: Callable[[Array], Array], q: Array, at: RowTerms, step: Array
) -> tuple[Array, RowTerms]:
    """The state a step ahead, the step halved until the residuals fall."""
    before = float(_length(at.phi))
    there, then = q, at
    for _ in range(_HALVINGS):
        there = unit(q + step)
        then = terms(there)
        if _length(then.phi) < before:
            break
        step = 0.5 * step
    return there, then


def project_speeds(at: RowTerms, u: Array, rows: RowLabels, held: Sequence[int], loose: Sequence[int] = ()) -> Array:
    """u moved to where A u + c = 0, by the least change, the speeds `held` staying; InconsistentRows where none does.
    How much the `loose` ones change does not count. Rows of one unit are compared by length.

    Directions that rows determine by less than SINGULAR are left alone: near a singular position they are not known.
    """
    require_values(at, rows)
    changed, left, fine = least_change(at.A[None], at.rate[None], u[None], rows, held, loose)
    if not fine[0]:
        raise InconsistentRows("velocity", list(zip(rows.names, left[0].tolist(), strict=True)))
    return changed[0]


def least_change(
    A: Array, rate: Array, u: Array, rows: RowLabels, held: Sequence[int], loose: Sequence[int] = ()
) -> tuple[Array, Array, np.ndarray[Any, np.dtype[np.bool_]]]:
    """What `project_speeds` makes of k states: A (k, m, n), rate (k, m), u (k, n). The speeds, what is left of the
    rates, and where that is little enough, (k,) of bool."""
    lengths = row_lengths(A, rows.units, rows.sizes)
    unit, right = drop_rounding(A, rows.sizes) / lengths[..., None], -rate / lengths
    if loose:
        others = [i for i in range(u.shape[1]) if i not in (*held, *loose)]
        step = least_beside(unit, right, others, list(loose))
    else:
        kept = np.broadcast_to(np.eye(u.shape[1])[list(held)], (len(u), len(held), u.shape[1]))
        aim = np.concatenate([right, np.zeros((len(u), len(held)))], axis=1)
        step = _least_squares(np.concatenate([unit, kept], axis=1), aim, SINGULAR)
    left = rate + (A @ step[..., None])[..., 0]
    speeds = np.abs(u + step)
    scale = (np.abs(A) @ speeds[..., None])[..., 0] + np.abs(rate) + lengths * speeds.max(1, keepdims=True, initial=0.0)
    return u + step, left, np.all(np.abs(left) <= SINGULAR * scale + SATISFIED, axis=1)


def least_beside(A: Array, right: Array, movable: list[int], loose: list[int]) -> Array:
    """Solutions (k, n) of A x = right, (k or 1, m, n) and (k, m), that are zero but in places `movable` and `loose`,
    and in as few of the movable ones as it takes: these do what no loose one can do, then the loose ones do the rest.
    """
    G, B, aim = A[:, :, movable], A[:, :, loose], right[..., None]
    follow = np.linalg.pinv(B, rcond=SINGULAR)
    beyond = np.eye(B.shape[1]) - B @ follow
    needed = beyond @ G
    step = np.zeros((len(right), A.shape[2], 1))
    step[:, movable] = np.linalg.pinv(needed * _spanning_columns(needed)[:, None, :], rcond=SINGULAR) @ (beyond @ aim)
    step[:, loose] = follow @ (aim - G @ step[:, movable])
    return step[..., 0]


def _spanning_columns(A: Array) -> Any:
    """Columns that span all others, of matrices (k, m, n), (k, n) of bool: by pivots, the longest first."""
    rest, every, found = A.copy(), np.arange(len(A)), np.zeros((len(A), A.shape[2]), dtype=bool)
    first = np.zeros(len(A))
    for _ in range(min(A.shape[1:])):
        squares = (rest**2).sum(axis=1)
        column = np.argmax(squares, axis=1)
        length = np.sqrt(squares[every, column])
        first = np.maximum(first, length)
        some = length > SINGULAR * first
        e = rest[every, :, column] / np.where(some, length, 1.0)[:, None]
        rest -= np.where(some, 1.0, 0.0)[:, None, None] * e[:, :, None] * (e[:, None, :] @ rest)
        rest[every[some], :, column[some]] = 0.0
        found[every[some], column[some]] = True
    return found


def _least_squares(whole: Array, right: Array, within: float) -> Array:
    """The least solutions (k, n) of k systems (k, m, n) x = (k, m) in the sense of least squares."""
    found = np.empty((len(whole), whole.shape[2]))
    for i, (each, aim) in enumerate(zip(whole, right, strict=True)):
        found[i] = np.linalg.lstsq(each, aim, rcond=within)[0]
    return found


def _length(phi: Array) -> Array:
    """The length of residuals (…, m)."""
    return np.linalg.norm(phi, axis=-1)


def _least_solution(A: Array, right: Array, keep: Array, sizes: Array | None) -> Array:
    """The least solution of A x = right with keep x = 0, in the sense of least squares."""
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(keep)) and np.all(np.isfinite(right))):
        return np.full(A.shape[1], np.nan)
    return _least_solutions(A[None], right[None], keep[None], sizes)[0]


def _least_solutions(A: Array, right: Array, keep: Array, sizes: Array | None) -> Array:
    """The same for k systems of finite numbers: A (k, m, n), right (k, m), keep (k, h, n)."""
    lengths = np.concatenate([unit_lengths(A, sizes), unit_lengths(keep)], axis=1)
    whole = np.concatenate([drop_rounding(A, sizes), keep], axis=1)
    both = np.concatenate([right, np.zeros(keep.shape[:2])], axis=1)
    return _least_squares(whole / lengths[..., None], both / lengths, REDUNDANT)


def close_positions(
    terms: Callable[[Array, Any], RowTerms], q: Array, rows: RowLabels, held: Sequence[int]
) -> tuple[Array, Any]:
    """Configurations (k, n_q) moved to where every residual vanishes, as `project_position` does without quaternions,
    to the same bits, and which of them are, (k,) of bool: others do not converge, or not in this way.

    `terms` gives the rows (k', m, …) at configurations (k', n_q) of the members at places (k',) of int.
    """
    found, settled, stay = q.copy(), np.zeros(len(q), dtype=bool), list(held)
    at = terms(q, np.arange(len(q)))
    left = np.flatnonzero(np.all(rows_with_values(at, rows), axis=1) & np.all(np.isfinite(at.T), axis=(1, 2)))
    at, q = RowTerms(*(x[left] for x in at)), q[left]
    best, since = _length(at.phi), np.zeros(len(left), dtype=np.int64)
    for _ in range(_STEPS):
        if not left.size:
            break
        step = _least_solutions(at.A, -at.phi, at.T[:, stay], rows.sizes)
        move = np.array([T @ x for T, x in zip(at.T, step, strict=True)])
        move[:, stay] = 0.0
        longest, far = _LONGEST + _largest(q), _largest(move)
        cut = far > longest
        move[cut] *= (longest[cut] / far[cut])[:, None]
        there, then = _steps_ahead(terms, left, q, at, move)
        fine = np.all(np.isfinite(then.phi), axis=1) & np.all(np.isfinite(then.A), axis=(1, 2))
        fine &= np.all(np.isfinite(then.T), axis=(1, 2))
        closed = _largest(at.phi) <= CLOSED * (1.0 + _largest(q))
        ends = closed & fine
        found[left[ends]] = np.where((_largest(then.phi) <= _largest(at.phi))[:, None], there, q)[ends]
        settled[left[ends]] = True
        now = _length(then.phi)
        since = np.where(now < (1.0 - _STALLED) * best, 0, since + 1)
        best = np.minimum(best, now)
        on = fine & ~closed & (since <= _PATIENCE)
        left, q, best, since, at = left[on], there[on], best[on], since[on], RowTerms(*(x[on] for x in then))
    return found, settled


def _largest(values: Array) -> Array:
    """The largest size of numbers (k, n), (k,)."""
    return np.abs(values).max(axis=1, initial=0.0)


def _steps_ahead(
    terms: Callable[[Array, Any], RowTerms], places: Any, q: Array, at: RowTerms, step: Array
) -> tuple[Array, RowTerms]:
    """As `_step_ahead` for many states."""
    before = _length(at.phi)
    there = q + step
    then = RowTerms(*(x.copy() for x in terms(there, places)))
    for _ in range(_HALVINGS - 1):
        some = np.flatnonzero(~(_length(then.phi) < before))
        if not some.size:
            break
        step[some] = 0.5 * step[some]
        there[some] = q[some] + step[some]
        for whole, part in zip(then, terms(there[some], places[some]), strict=True):
            whole[some] = part
    return there, then


__all__ = [
    "InconsistentRows",
    "RowLabels",
    "RowTerms",
    "close_positions",
    "least_beside",
    "least_change",
    "project_position",
    "project_speeds",
    "require_values",
    "rows_with_values",
]
