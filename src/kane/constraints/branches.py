"""Branches of a motion at a singular position: speeds along which constraints that lose rank there can go on.

Where rows lose rank, A u + c = 0 is not enough: A u̇ = b(u) must have a solution too. With W over the combinations of
rows that vanish, Wᵀ b is a quadratic in the speeds along the null space of A, and its zeros are the tangents of the
branches that meet at the position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .metric import Array, drop_rounding, row_lengths
from .projection import InconsistentRows, RowLabels, RowTerms, project_speeds
from .rank import count_above
from .thresholds import BESIDE, CLOSED, OFF_BRANCH, REDUNDANT, SAME_BRANCH, SINGULAR, TURNED, WRITTEN

_STARTS, _TURNS = 16, 60  # directions from which branches are sought, and Gauss–Newton steps along each


def speeds_on_branch(A: Array, b: Callable[[Array], Array], u: Array, rows: RowLabels, held: Sequence[int]) -> Array:
    """u where A u̇ = b(u) has a solution; where rows A (m, n) lose rank and it has none, the nearest speeds that have
    one, if they are near, the speeds `held` staying. `b` gives (k, m) for speeds (k, n), which satisfy A u + c = 0.

    InconsistentRows, with the branches, where u is not near one.
    """
    lengths = row_lengths(A, rows.units, rows.sizes)
    A = drop_rounding(A, rows.sizes)
    left, values, _ = np.linalg.svd(A / lengths[:, None])
    W = left[:, count_above(values, SINGULAR) :]
    if not W.shape[1]:
        return u

    def residual(speeds: Array) -> Array:
        return (b(speeds) / lengths) @ W

    generic = u * np.sin(np.outer(np.arange(1.0, 5.0), np.arange(1.0, len(u) + 1.0)))
    size = float(np.abs(b(np.vstack([u, generic])) / lengths).max())
    off = residual(u[None])[0]
    if np.abs(off).max() <= OFF_BRANCH * size + CLOSED:  # speeds of a rounding error are rest
        return u
    whole = np.vstack([A / lengths[:, None], np.eye(len(u))[list(held)]])
    _, values, right = np.linalg.svd(whole)
    N = right[count_above(values, SINGULAR) :]
    found = _tangents(residual, u, N, OFF_BRANCH**2 * size)
    if found and np.linalg.norm(found[0] - u) <= WRITTEN * np.linalg.norm(u):
        return found[0]
    raise InconsistentRows("acceleration", list(zip(rows.names, (lengths * (W @ off)).tolist(), strict=True)), found)


def are_on_branch(A: Array, b: Callable[[Array], Array], u: Array, rows: RowLabels) -> Any:
    """Where `speeds_on_branch` leaves speeds u (k, n) as they are beyond doubt, (k,) of bool: rows A (k, m, n); `b`
    gives (k, j, m) for speeds (k, j, n)."""
    lengths = row_lengths(A, rows.units, rows.sizes)
    left, values, _ = np.linalg.svd(drop_rounding(A, rows.sizes) / lengths[..., None])
    largest = values.max(axis=1, keepdims=True, initial=0.0)
    clear = np.all((values > 2.0 * SINGULAR * largest) | (values < 0.5 * SINGULAR * largest), axis=1)
    count = np.sum(values > SINGULAR * largest, axis=1)
    m = A.shape[1]
    if np.all(count == m):
        return clear
    generic = u[:, None, :] * np.sin(np.outer(np.arange(1.0, 5.0), np.arange(1.0, u.shape[1] + 1.0)))
    sides = b(np.concatenate([u[:, None, :], generic], axis=1)) / lengths[:, None, :]
    size = np.abs(sides).max(axis=(1, 2))
    off = np.abs((sides[:, :1] @ left)[:, 0])
    off[np.arange(m) < count[:, None]] = 0.0
    return clear & (off.max(axis=1) <= 0.5 * (OFF_BRANCH * size + CLOSED))


def _tangents(outside: Callable[[Array], Array], u: Array, N: Array, within: float) -> list[Array]:
    """Zeros of a quadratic in speeds that differ from u along the directions N (p, n), the nearest first; those of one
    direction are listed once."""
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
        if np.abs(outside(v[None])).max() <= within and np.linalg.norm(v) > SAME_BRANCH * np.linalg.norm(u):
            found.append(v)
    found.sort(key=lambda v: float(np.linalg.norm(v - u)))
    kept: list[Array] = []
    for v in found:
        if all(abs(v @ w) < (1.0 - SAME_BRANCH) * np.linalg.norm(v) * np.linalg.norm(w) for w in kept):
            kept.append(v)
    return kept


def speeds_near_singularity(ahead: Callable[[float], RowTerms], u: Array, rows: RowLabels, rank: int) -> Array | None:
    """Speeds (n,) into which constraints would change u close to a position at which they lose rank; None where u can
    go on, or nothing is known. `ahead` gives the rows after a time (s), at the coordinates to which u has led.

    At such a position A u̇ = b may have a solution and the motion none: it is held by what rows say in higher order,
    which shows close to the position, as soon as they have their `rank`.
    """
    fastest = float(np.abs(u).max(initial=0.0))
    for distance in BESIDE if fastest else ():
        at = ahead(distance / fastest)
        lengths = row_lengths(at.A, rows.units, rows.sizes)
        values: Array = np.linalg.svd(drop_rounding(at.A, rows.sizes) / lengths[:, None], compute_uv=False).astype(
            float
        )
        if count_above(values, OFF_BRANCH) < rank:
            continue
        turned = project_speeds(at, u, rows, ())
        return turned if np.linalg.norm(turned - u) > TURNED * np.linalg.norm(u) else None
    return None


__all__ = ["are_on_branch", "speeds_near_singularity", "speeds_on_branch"]
