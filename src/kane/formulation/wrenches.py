"""Wrenches of joints in numbers: summed inward from what bodies need, less what constraints give.

All arrays have a leading batch; wrenches are (force, moment) in N, about the joints' points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.thresholds import REDUNDANT
from .reactions import JointTree

Array = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def sum_inward(held: JointTree, needs: Array, arms: Array) -> Array:
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


def subtract_rows(held: JointTree, needs: Array, acts: Array | None, values: Array) -> Array:
    """What bodies need beyond their loads and the reactions of rows, (batch, joints, 6)."""
    left = needs.copy()
    if acts is not None:
        for k, (r, i) in enumerate(held.pairs):
            left[:, i] -= values[:, r, None] * acts[:, k]
    return left


def largest_wrenches(held: JointTree, acts: Array | None, arms: Array, values: Array) -> Array:
    """How large forces and moments of rows could become in any joint if nothing cancelled, (batch, 2)."""
    if acts is None:
        return np.zeros((len(values), 2))
    each = np.abs(values[:, [r for r, _ in held.pairs]])
    force = (each * np.linalg.norm(acts[..., :3], axis=-1)).sum(axis=1)
    moment = (each * np.linalg.norm(acts[..., 3:], axis=-1)).sum(axis=1)
    spread = np.linalg.norm(arms, axis=-1).sum(axis=1)
    return np.stack([force, moment + spread * force], axis=-1)


def find_changes(change: Array, size: Array) -> Flags:
    """Which components of wrenches (batch, k, 6) change by more than rounding errors of sums as large as `size`,
    (batch, 2), in some sample: (k, 6)."""
    least = REDUNDANT * np.repeat(size, 3, axis=-1)[:, None, :]
    return np.any(np.abs(change) > np.maximum(least, 1e-300), axis=0)


__all__ = ["find_changes", "largest_wrenches", "subtract_rows", "sum_inward"]
