"""Freedom: what constraints leave of the motion at a state, and which rows say what others say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .metric import Array, scale_columns
from .rank import Choice, choose_speeds
from .thresholds import INVOLVED, LASTING, REDUNDANT


@dataclass(frozen=True, slots=True)
class Freedom:
    """What constraints leave of the motion at a state.

    `rank` of the rows; `degrees` of freedom; `independent` and `dependent` speeds by name, those of
    `explain` unless these do not serve here; `redundant` rows, each of
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
    usual: Choice | None = None,
) -> Freedom:
    """What rows A (m, n) leave of the motion; `mass` (n,) is the diagonal of M, by which speeds are compared, `sizes`
    (m,) those of the rows without cancellation (see `metric`). The independent speeds are those of the `usual` choice
    where they determine the others here."""
    choice = choose_speeds(A, mass, within, sizes)
    scaled = scale_columns(A, mass, sizes)
    if usual is not None and _determines(scaled, usual, choice):
        choice = usual
    left, values, _ = np.linalg.svd(scaled)
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


def _determines(A: Array, usual: Choice, best: Choice) -> bool:
    """Whether the rows give the dependent speeds of the usual choice about as well as those of the best one here."""
    if len(usual.dependent) != len(best.dependent):
        return False
    rows = list(best.rows)
    size, largest = (abs(np.linalg.det(A[np.ix_(rows, choice.dependent)])) for choice in (usual, best))
    return bool(size >= LASTING * largest)


__all__ = ["Freedom", "count_freedom"]
