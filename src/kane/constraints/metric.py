"""The metric of constraints: speeds measured by the mass they move, rows by their length.

Metres and radians, newtons and newton metres compare only after that. A row that is a rounding error has no direction,
so it must not be given unit length: lengths are judged by `sizes`, what the motion of the bodies would make of a row if
nothing cancelled (the power of its unit reaction at unit speeds, m/s or rad/s).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .thresholds import MASS_FLOOR, ROUNDING, SINGULAR

Array = np.ndarray[Any, np.dtype[np.float64]]


def speed_units(mass: Array) -> Array:
    """1 / sqrt(M_jj), (…, n), from the diagonal of M (…, n); small M_jj are raised by a share of their mean."""
    size = np.abs(mass)
    mean = size.mean(axis=-1, keepdims=True) if size.shape[-1] else np.ones((*size.shape[:-1], 1))
    return 1.0 / np.sqrt(size + MASS_FLOOR * np.where(mean > 0.0, mean, 1.0 / MASS_FLOOR))


def sizes_by_mass(sizes: Array, units: Array) -> Array:
    """`sizes` (m,) of rows, (…, m) where speeds have these units (…, n): those of the heaviest motion."""
    return sizes * units.min(axis=-1, keepdims=True, initial=np.inf) if units.shape[-1] else sizes


def scale_columns(A: Array, mass: Array, sizes: Array | None = None) -> Array:
    """A (…, m, n) with its columns measured by the mass (n,) that each speed moves; rows that are rounding errors made
    zero."""
    units = speed_units(mass)
    scaled = A * units
    lengths = np.linalg.norm(scaled, axis=-1)
    longest = lengths.max(axis=-1, keepdims=True, initial=0.0)
    least = longest if sizes is None else sizes_by_mass(sizes, units)
    scaled[lengths <= ROUNDING * least] = 0.0
    return scaled


def drop_rounding(A: Array, sizes: Array | None = None) -> Array:
    """A (…, m, n) with rows made zero that are rounding errors relative to `sizes` (m,), or to the longest."""
    lengths = np.linalg.norm(A, axis=-1)
    least = lengths.max(axis=-1, keepdims=True, initial=0.0) if sizes is None else sizes
    return np.where((lengths > ROUNDING * least)[..., None], A, 0.0)


def unit_lengths(A: Array, sizes: Array | None = None) -> Array:
    """Factors that rows A (…, m, n) are divided by to have unit length; rows that are rounding errors relative to
    `sizes` (m,), or to the longest, are divided by that and stay close to zero."""
    lengths = np.linalg.norm(A, axis=-1)
    least = lengths.max(axis=-1, keepdims=True, initial=0.0) if sizes is None else sizes
    return np.where(lengths > ROUNDING * least, lengths, np.where(least > 0.0, least, 1.0))


def row_lengths(A: Array, units: Sequence[str], sizes: Array | None = None) -> Array:
    """What rows A (…, m, n) are measured by at a position: their lengths or, where one is negligible among those of
    its unit, the longest; where all of a unit are rounding errors relative to `sizes` (m,), these."""
    lengths = np.linalg.norm(A, axis=-1)
    tops = np.zeros_like(lengths)
    for unit in dict.fromkeys(units):
        alike = [i for i, other in enumerate(units) if other == unit]
        tops[..., alike] = lengths[..., alike].max(axis=-1, keepdims=True)
    least = np.zeros(A.shape[-2]) if sizes is None else sizes
    tops = np.where(tops > ROUNDING * least, tops, np.where(least > 0.0, least, 1.0))
    return np.where(lengths > SINGULAR * tops, lengths, tops)


__all__ = ["Array", "drop_rounding", "row_lengths", "scale_columns", "sizes_by_mass", "speed_units", "unit_lengths"]
