"""Multipliers of constraints in numbers, and wrenches of joints summed inward from what bodies need.

g = M u̇ + bias − tau = Aᵀ λ. Where rows are redundant λ is not unique: of all solutions the one with the least norm is
taken, each multiplier measured by the acceleration that it gives, λ² Σ A²/M over its row, which makes newtons and
newton metres comparable. What does not change along the null space of Aᵀ is determined.
All arrays have a leading batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .embedding import REDUNDANT, choose
from .reactions import Held

Array = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
_NEGLIGIBLE = 1e-9  # share of the largest below which what changes along the null space is rounding
_ROUNDING = 1e-11  # share of the longest row below which a row is rounding
_WELL = 1e3  # condition up to which samples share a choice of dependent speeds; beyond, each makes its own


@dataclass(frozen=True, slots=True)
class Multipliers:
    """λ (batch, m), and `null` (batch, m, k): directions in which λ is not determined, each of unit length or zero."""

    values: Array
    null: Array


def scales(A: Array, mass: Array) -> tuple[Array, Array]:
    """(columns, rows): factors (batch, n) and (batch, m) of A that measure speeds by the mass they move and give the
    rows unit length. A row that is rounding beside the longest, one that the tree meets anyway, has its factor."""
    columns = 1.0 / np.sqrt(np.abs(mass) + 1e-6 * np.maximum(np.abs(mass).mean(axis=-1, keepdims=True), 1e-300))
    lengths = np.linalg.norm(A * columns[..., None, :], axis=-1)
    longest = lengths.max(axis=-1, keepdims=True, initial=0.0)
    longest = np.where(longest > 0.0, longest, 1.0)
    return columns, 1.0 / np.where(lengths > _ROUNDING * longest, lengths, longest)


def _felt(A: Array, columns: Array, rows: Array) -> Array:
    """A with rows that are rounding made zero: of unit length, their direction would be anything."""
    lengths = np.linalg.norm(A * columns[..., None, :], axis=-1) * rows
    return np.where(lengths[..., None] > 0.5, A, 0.0)


def by_singular_values(A: Array, g: Array, mass: Array) -> Multipliers:
    """λ of least norm from all rows of A at once, (batch, m, n)."""
    columns, rows = scales(A, mass)
    A = _felt(A, columns, rows)
    U, s, Vt = np.linalg.svd(A * rows[..., :, None] * columns[..., None, :])
    kept = s > REDUNDANT * np.maximum(s[..., :1], 1e-300)
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    k = s.shape[-1]
    along = np.einsum("bkn,bn->bk", Vt[..., :k, :], g * columns) * inverse
    values = np.einsum("bmk,bk->bm", U[..., :k], along)
    loose = np.ones(U.shape[:-1], dtype=bool)
    loose[..., :k] = ~kept
    return Multipliers(values * rows, _clean(U * loose[..., None, :]) * rows[..., :, None])


def by_released_rows(A: Array, g: Array, mass: Array) -> Multipliers:
    """λ as minus the generalized forces of auxiliary speeds: dependent speeds get a part that violates one row each.

    u_D = D u_I + E + A_D⁻¹ w, so λ of the rows that were chosen is A_D⁻ᵀ g_D. Redundant rows get their share after.
    """
    columns, rows = scales(A, mass)
    A = _felt(A, columns, rows)
    scaled, forces = A * rows[..., :, None] * columns[..., None, :], g * columns
    values = np.zeros(A.shape[:-1])
    null = np.zeros((*values.shape, values.shape[-1]))
    left = np.arange(len(A))
    while len(left):
        chosen = choose(A[left[0]], mass[left[0]])
        good = np.ones(len(left), dtype=bool)
        if chosen.rows:
            good[1:] = np.linalg.cond(scaled[left[1:]][:, list(chosen.rows)][:, :, list(chosen.dependent)]) < _WELL
        fits, null_here = _released(scaled[left[good]], forces[left[good]], chosen.rows, chosen.dependent)
        values[left[good]], null[left[good]] = fits, 0.0
        null[left[good], :, : null_here.shape[-1]] = null_here
        open_ = np.zeros(len(left), dtype=bool)
        open_[good] = ~_spanned(scaled[left[good]], null_here)
        open_[0] = False
        left = left[open_ | ~good]
    used = null.any(axis=(0, 1))
    return Multipliers(values * rows, null[..., used] * rows[..., :, None])


def _released(A: Array, g: Array, rows: tuple[int, ...], dependent: tuple[int, ...]) -> tuple[Array, Array]:
    """Least-norm λ and null space of Aᵀ with this choice of rows and dependent speeds."""
    m = A.shape[1]
    values = np.zeros(A.shape[:-1])
    others = [r for r in range(m) if r not in rows]
    null = np.zeros((len(A), m, len(others)))
    null[:, others, range(len(others))] = 1.0
    if rows:
        block = A[:, list(rows)][:, :, list(dependent)].transpose(0, 2, 1)
        values[:, list(rows)] = np.linalg.solve(block, g[:, list(dependent), None])[..., 0]
        if others:
            share = np.linalg.solve(block, A[:, others][:, :, list(dependent)].transpose(0, 2, 1))
            null[:, list(rows), :] = -share
    if others:
        Q = np.linalg.qr(null)[0]
        values = values - np.einsum("bmk,bk->bm", Q, np.einsum("bmk,bm->bk", Q, values))
        null = _clean(null / np.linalg.norm(null, axis=1, keepdims=True))
    return values, null


def _spanned(A: Array, null: Array) -> Flags:
    """Whether the null space found belongs to Aᵀ in each sample: there are as many dependent rows as was thought."""
    if not null.shape[-1]:
        return np.ones(len(A), dtype=bool)
    return np.abs(np.einsum("bmn,bmk->bnk", A, null)).max(axis=(1, 2), initial=0.0) < 1e3 * REDUNDANT


def _clean(null: Array) -> Array:
    """Components that are rounding errors made zero, so that what they multiply is not taken for undetermined."""
    return np.where(np.abs(null) > _NEGLIGIBLE, null, 0.0)


def summed_inward(held: Held, needs: Array, arms: Array) -> Array:
    """Wrenches of all joints on their children, (batch, joints, 6): what the bodies beyond each joint need.

    `needs` (batch, joints, 6) is about the joints' points, force before moment, in N; `arms` (batch, joints, 3) lead to
    them from those of the joints further in.
    """
    total = needs.copy()
    for i in reversed(held.outward):
        inner = held.parents[i]
        if inner >= 0:
            F = total[:, i, :3]
            total[:, inner, :3] += F
            total[:, inner, 3:] += total[:, i, 3:] + np.cross(arms[:, i], F)
    return total


def less_rows(held: Held, needs: Array, acts: Array | None, values: Array) -> Array:
    """What bodies need beyond their loads and the reactions of rows, (batch, joints, 6)."""
    left = needs.copy()
    if acts is not None:
        for k, (r, i) in enumerate(held.pairs):
            left[:, i] -= values[:, r, None] * acts[:, k]
    return left


def reach(held: Held, acts: Array | None, arms: Array, values: Array) -> Array:
    """How large forces and moments of rows could become in any joint if nothing cancelled, (batch, 2)."""
    if acts is None:
        return np.zeros((len(values), 2))
    each = np.abs(values[:, [r for r, _ in held.pairs]])
    force = (each * np.linalg.norm(acts[..., :3], axis=-1)).sum(axis=1)
    moment = (each * np.linalg.norm(acts[..., 3:], axis=-1)).sum(axis=1)
    spread = np.linalg.norm(arms, axis=-1).sum(axis=1)
    return np.stack([force, moment + spread * force], axis=-1)


def changing(change: Array, size: Array) -> Flags:
    """Which components of wrenches (batch, k, 6) change by more than rounding errors of sums as large as `size`,
    (batch, 2), in some sample: (k, 6)."""
    least = _NEGLIGIBLE * np.repeat(size, 3, axis=-1)[:, None, :]
    return np.any(np.abs(change) > np.maximum(least, 1e-300), axis=0)


__all__ = [
    "Multipliers",
    "by_released_rows",
    "by_singular_values",
    "changing",
    "less_rows",
    "reach",
    "scales",
    "summed_inward",
]
