"""Multipliers of constraints in numbers: g = M u̇ + bias − tau = Aᵀ λ.

Where rows are redundant λ is not unique. Of all solutions the one is taken that the rows would give if each were a
spring of the same, very large stiffness: Σ λ²/k is least, k being 1 for every row (N/m, or N m/rad) unless it is given.
So a choice of body frames, origins or speeds changes nothing. What does not change along the null space of Aᵀ is
determined. All arrays have a leading batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .metric import Array, sizes_by_mass, speed_units
from .rank import choose_speeds
from .thresholds import REDUNDANT, ROUNDING, WELL_CONDITIONED

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Multipliers:
    """λ (batch, m), and `null` (batch, m, k): directions in which λ is not determined, each of unit length or zero."""

    values: Array
    null: Array


@dataclass(frozen=True, slots=True)
class Balance:
    """Rows A (batch, m, n) whose reactions Aᵀ λ are to give g (batch, n); `mass` (batch, n) is the diagonal of M,
    `stiffness` (m,) that of the rows, `sizes` (m,) their sizes without cancellation (see `metric`)."""

    A: Array
    g: Array
    mass: Array
    stiffness: Array | None = None
    sizes: Array | None = None

    def scale(self) -> tuple[Array, Array, Array]:
        """(A scaled, g scaled, row factors): speeds measured by mass, rows of unit length, rounding errors zero."""
        columns, rows = row_and_speed_units(self.A, self.mass, self.sizes)
        A = self.A * columns[..., None, :] * rows[..., :, None]
        short = np.linalg.norm(A, axis=-1) < 0.5  # of unit length, the direction of a rounding error would be anything
        return np.where(short[..., None], 0.0, A), self.g * columns, rows

    def root_flexibility(self, rows: Array) -> Array:
        """Factors (batch, m) of λ / rows whose Euclidean norm is to be least: rows / sqrt(k)."""
        return rows if self.stiffness is None else rows / np.sqrt(self.stiffness)


def row_and_speed_units(A: Array, mass: Array, sizes: Array | None = None) -> tuple[Array, Array]:
    """(columns, rows): factors (batch, n) and (batch, m) of A that measure speeds by the mass they move and give the
    rows unit length. A row that is rounding relative to its size or, without sizes, to the longest, has its factor."""
    columns = speed_units(mass)
    lengths = np.linalg.norm(A * columns[..., None, :], axis=-1)
    longest = lengths.max(axis=-1, keepdims=True, initial=0.0)
    longest = np.broadcast_to(longest if sizes is None else sizes_by_mass(sizes, columns), lengths.shape)
    longest = np.where(longest > 0.0, longest, 1.0)
    return columns, 1.0 / np.where(lengths > ROUNDING * longest, lengths, longest)


def multipliers_by_singular_values(of: Balance) -> Multipliers:
    """λ from all rows at once, by singular values."""
    A, g, rows = of.scale()
    U, s, Vt = np.linalg.svd(A)
    kept = s > REDUNDANT * np.maximum(s[..., :1], np.finfo(float).tiny)
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    k = s.shape[-1]
    along = np.einsum("bkn,bn->bk", Vt[..., :k, :], g) * inverse
    values = np.einsum("bmk,bk->bm", U[..., :k], along)
    loose = np.ones(U.shape[:-1], dtype=bool)
    loose[..., :k] = ~kept
    null = U * loose[..., None, :]
    if np.any(loose):
        weight = of.root_flexibility(rows)
        back = np.linalg.pinv(null * weight[..., None], rcond=REDUNDANT)
        values = values - np.einsum("bmk,bk->bm", null, np.einsum("bkm,bm->bk", back, values * weight))
    return Multipliers(values * rows, _zero_rounding(null) * rows[..., :, None])


def multipliers_by_released_rows(of: Balance) -> Multipliers:
    """λ as minus the generalized forces of auxiliary speeds: dependent speeds get a part that violates one row each.

    u_D = D u_I + E + A_D⁻¹ w, so λ of the rows that were chosen is A_D⁻ᵀ g_D. Redundant rows get their share after.
    """
    scaled, forces, rows = of.scale()
    weight = of.root_flexibility(rows)
    values = np.zeros(scaled.shape[:-1])
    null = np.zeros((*values.shape, values.shape[-1]))
    left = np.arange(len(scaled))
    while len(left):
        chosen = choose_speeds(of.A[left[0]], of.mass[left[0]], sizes=of.sizes)
        good = np.ones(len(left), dtype=bool)
        if chosen.rows:
            blocks = scaled[left[1:]][:, list(chosen.rows)][:, :, list(chosen.dependent)]
            good[1:] = np.linalg.cond(blocks) < WELL_CONDITIONED
        some = left[good]
        values[some], found = _release(scaled[some], forces[some], weight[some], chosen.rows, chosen.dependent)
        null[some] = 0.0
        null[some, :, : found.shape[-1]] = found
        again = np.zeros(len(left), dtype=bool)
        again[good] = ~_spans_null_space(scaled[some], found)
        again[0] = False
        left = left[again | ~good]
    used = null.any(axis=(0, 1))
    return Multipliers(values * rows, null[..., used] * rows[..., :, None])


def _release(
    A: Array, g: Array, weight: Array, rows: tuple[int, ...], dependent: tuple[int, ...]
) -> tuple[Array, Array]:
    """λ with the least norm of weight λ, and the null space of Aᵀ, with this choice of rows and dependent speeds."""
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
        Q = np.linalg.qr(null * weight[..., None])[0]
        weighed = values * weight
        values = (weighed - np.einsum("bmk,bk->bm", Q, np.einsum("bmk,bm->bk", Q, weighed))) / weight
        null = _zero_rounding(null / np.linalg.norm(null, axis=1, keepdims=True))
    return values, null


def _spans_null_space(A: Array, null: Array) -> Flags:
    """Whether the null space found belongs to Aᵀ in each sample: there are as many dependent rows as was thought."""
    if not null.shape[-1]:
        return np.ones(len(A), dtype=bool)
    return np.abs(np.einsum("bmn,bmk->bnk", A, null)).max(axis=(1, 2), initial=0.0) < WELL_CONDITIONED * REDUNDANT


def _zero_rounding(null: Array) -> Array:
    """Components that are rounding errors made zero, so that what they multiply is not taken for undetermined."""
    return np.where(np.abs(null) > REDUNDANT, null, 0.0)


def least_multipliers(A: Array, reaction: Array, sizes: Array | None = None) -> Array:
    """λ (m,) with Aᵀλ = reaction (n,) at one state, as above."""
    if not len(A):
        return np.zeros(0)
    return multipliers_by_singular_values(
        Balance(A[None], reaction[None], np.ones((1, len(reaction))), sizes=sizes)
    ).values[0]


__all__ = [
    "Balance",
    "Multipliers",
    "least_multipliers",
    "multipliers_by_released_rows",
    "multipliers_by_singular_values",
    "row_and_speed_units",
]
