"""Sizes of constraint rows before anything cancels: what the motion of the bodies could make of a unit reaction.

A row that a mechanism meets in any case, such as a torque across a plane in a planar linkage, vanishes but for rounding
errors, and a rounding error of unit length would be a constraint. Beside these sizes it is seen for what it is. They
are sums of absolute values along the chains of frames and points, at one state with speeds near 1, so they are of the
right order everywhere and depend on no choice of axes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from ..graph import Expr, Values
from ..model import Mechanism
from ..model.constraints import Row
from ..model.loads import EffortAction, ForceAction
from ..space import Frame, Point

Array = np.ndarray
_SEED = 11
_UNKNOWN_RATE = 1.0  # rad/s, or m/s per m, of a frame or an offset whose rate is not given


def row_sizes(mechanism: Mechanism, rows: Sequence[Row]) -> Array:
    """(m,): power of the unit reaction of each row per unit of speed, no term against another (m/s, rad/s per unit of
    the speeds); 0 where it has no value."""
    scales = _Scales(mechanism)
    found = np.array([scales.of(row) for row in rows])
    return np.where(np.isfinite(found), found, 0.0) / scales.speed


class _Scales:
    """Absolute values of the motion of frames and points at one state, each found once."""

    def __init__(self, mechanism: Mechanism):
        rng = random.Random(_SEED)
        values = {name: rng.uniform(0.3, 1.1) for name in mechanism.graph.inputs}
        for c in mechanism.coordinate_records.values():
            values[c.name] = c.initial + rng.uniform(0.05, 0.3)
        values.update((p.name, p.value) for p in mechanism.parameters.values())
        self._values = Values(values)
        self._w: dict[Frame, float] = {}
        self._v: dict[Point, float] = {}
        defined = self._values([s.definition for s in mechanism.speed_records.values()])
        sizes = [abs(x) for x in defined if np.isfinite(x)]
        self.speed = max(sizes, default=1.0) or 1.0

    def of(self, row: Row) -> float:
        """The size of a row: Σ |F| |v| + |T| |ω| + |f| |s| over its actions."""
        total = 0.0
        for action in row.actions:
            if isinstance(action, EffortAction):
                s, f = self._values([action.variable, action.value])
                total += abs(s * f)
            elif isinstance(action, ForceAction):
                total += self._size(action.vector.xyz) * self._point_speed(action.point)
            else:
                total += self._size(action.vector.xyz) * self._frame_speed(action.frame)
        return total

    def _size(self, xyz: Sequence[Expr]) -> float:
        return float(np.linalg.norm(self._values(xyz)))

    def _frame_speed(self, frame: Frame) -> float:
        """|ω| (rad/s), those of all turns from the root on added up."""
        path: list[Frame] = []
        at: Frame | None = frame
        while at is not None and at not in self._w:
            path.append(at)
            at = at.parent
        for f in reversed(path):
            if f.parent is None:
                own, inner = 0.0, 0.0
            elif f.w_NF is not None:
                own, inner = self._size(f.w_NF), 0.0
            else:
                own = _UNKNOWN_RATE if f.w_PF is None else self._size(f.w_PF)
                inner = self._w[f.parent]
            self._w[f] = own + inner
        return self._w[frame]

    def _point_speed(self, point: Point) -> float:
        """|v| (m/s), those of all offsets from the root on added up."""
        path: list[Point] = []
        at: Point | None = point
        while at is not None and at not in self._v:
            path.append(at)
            at = at.parent
        for p in reversed(path):
            if p.v_NP is not None:
                self._v[p] = self._size(p.v_NP.xyz)
            elif p.parent is None:
                self._v[p] = 0.0
            else:
                length = self._size(p.offset.xyz)
                rate = length * _UNKNOWN_RATE if p.offset_rate is None else self._size(p.offset_rate.xyz)
                self._v[p] = self._v[p.parent] + rate + length * self._frame_speed(p.offset.frame)
        return self._v[point]


__all__ = ["row_sizes"]
