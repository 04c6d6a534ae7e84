"""Freedom: what constraints leave of the motion at a state, and which rows say what others say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .metric import Array, scale_columns
from .rank import choose_speeds
from .thresholds import INVOLVED, REDUNDANT


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


def count_freedom(
    A: Array,
    mass: Array,
    rows: Sequence[str],
    speeds: Sequence[str],
    within: float = REDUNDANT,
    sizes: Array | None = None,
) -> Freedom:
    """What rows A (m, n) leave of the motion; `mass` (n,) is the diagonal of M, by which speeds are compared, `sizes`
    (m,) those of the rows without cancellation (see `metric`)."""
    choice = choose_speeds(A, mass, within, sizes)
    left, values, _ = np.linalg.svd(scale_columns(A, mass, sizes))
    rank = len(choice.dependent)
    null = np.abs(left[:, rank:]).max(axis=1, initial=0.0)  # parts of rows in combinations that are nothing
    return Freedom(
        rank,
        len(speeds) - rank,
        tuple(speeds[i] for i in choice.independent),
        tuple(speeds[i] for i in choice.dependent),
        tuple(r for r, x in zip(rows, null, strict=True) if x > INVOLVED),
        len(rows) - rank,
        float(values[0] / values[rank - 1]) if rank else 1.0,
    )


__all__ = ["Freedom", "count_freedom"]
