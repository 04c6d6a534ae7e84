"""The double pendulum in heyoka: rods of 1 m, particles of 1 kg, by Taylor series in lanes.

Angles are those of the rods from the vertical, in rad: [a1, a2, a1', a2'].
"""

# heyoka is a compiled module without type information.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import heyoka as hy
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRAVITY = 9.81  # m/s²


def _equations() -> list[Any]:
    a1, a2, w1, w2 = hy.make_vars("a1", "a2", "w1", "w2")
    s, c = hy.sin(a1 - a2), hy.cos(a1 - a2)
    below = 2.0 - c * c
    down = 2.0 * GRAVITY * hy.sin(a1)
    first = (GRAVITY * hy.sin(a2) * c - down - s * (w1 * w1 * c + w2 * w2)) / below
    second = (down * c - 2.0 * GRAVITY * hy.sin(a2) + s * (2.0 * w1 * w1 + w2 * w2 * c)) / below
    return [(a1, w1), (a2, w2), (w1, first), (w2, second)]


class HeyokaPendulums:
    """Double pendulums let go from rest, as many at a time as the processor has lanes, to a tolerance of a step."""

    def __init__(self, tolerance: float):
        self.lanes = hy.recommended_simd_size()
        self.stepper = hy.taylor_adaptive_batch(
            _equations(), np.zeros((4, self.lanes)), tol=tolerance, compact_mode=False
        )

    def run(self, angles: Array, duration: float) -> Array:
        """Angles (n, 2) after `duration` seconds, from those at the start; n is a multiple of the lanes."""
        found = np.empty_like(angles)
        for first in range(0, len(angles), self.lanes):
            block = slice(first, first + self.lanes)
            self.stepper.set_time(np.zeros(self.lanes))
            self.stepper.state[:2] = angles[block].T
            self.stepper.state[2:] = 0.0
            self.stepper.propagate_until(np.full(self.lanes, duration))
            found[block] = self.stepper.state[:2].T
        return found
