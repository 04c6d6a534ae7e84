"""Sobol's indices of results of an ensemble: which share of a variance each number that is drawn explains [SAL10].

They come from members of their own; how well they are known comes from drawing those again, with repetition.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..boundary import describe_value
from ..ensemble import Distribution
from ..ensemble.draws import LEAST
from ..errors import InputError
from .ensemble_views import column
from .records import Array

if TYPE_CHECKING:
    from .ensembles import Ensemble

CONFIDENCE = 0.95
"""Confidence of the intervals of indices."""

RESAMPLES = 400
"""How often members are drawn again for an interval: its ends, each beyond a fortieth of the indices, rest on ten."""


@dataclass(frozen=True, slots=True)
class SobolIndex:
    """The share of the variance of a result that a number explains alone (`first` order) and with all others
    (`total`); the intervals (low, high) in which these lie with a confidence of 95 %; and by how many `members`."""

    first: float
    total: float
    first_interval: tuple[float, float]
    total_interval: tuple[float, float]
    members: int

    def __str__(self) -> str:
        alone = share_text(self.first, self.first_interval)
        whole = share_text(self.total, self.total_interval)
        return f"{alone} alone, {whole} with all others, by {self.members} members"


def share_text(share: float, interval: tuple[float, float]) -> str:
    """A share and between which two it is known to lie."""
    low, high = interval
    return f"{share:z.3f} ({low:z.3f} to {high:z.3f})"


def sobol(ensemble: Ensemble, names: Sequence[str], n: int) -> dict[str, dict[str, SobolIndex] | str]:
    """By result the indices of each number that is drawn, by n (d + 2) members of their own, 0 where a result is the
    same for all; a sentence for a result that some of them do not have."""
    plan = ensemble.work.plan
    drawn = [c for c, given in enumerate(plan.columns) if isinstance(given.value, Distribution)]
    _check_sobol(ensemble, drawn, n)
    columns = list(plan.columns)
    for c, values in zip(drawn, _points([plan.columns[c].value for c in drawn], n, plan.seed), strict=True):
        columns[c] = replace(columns[c], value=values)
    members = n * (len(drawn) + 2)
    made = ensemble.again(replace(plan, columns=tuple(columns), count=members))
    found: dict[str, dict[str, SobolIndex] | str] = {}
    for name in names:
        y = column(made, name)
        lost = int(np.count_nonzero(~np.isfinite(y)))
        if lost:
            found[name] = f"{lost} of {members} members have no {name}"
        else:
            each = _with_intervals(y.reshape(-1, n), plan.seed)
            found[name] = {plan.columns[c].name: index for c, index in zip(drawn, each, strict=True)}
    return found


def _points(drawn: Sequence[Distribution], n: int, seed: int) -> Array:
    """Values (d, (d + 2) n) of the d numbers drawn: n points A of Sobol's sequence, n points B, and for each number
    those of A in which it alone is taken from B."""
    qmc = importlib.import_module("scipy.stats").qmc  # SciPy takes a while to import
    d = len(drawn)
    cube = np.maximum(qmc.Sobol(2 * d, rng=np.random.default_rng(seed)).random(n).T, LEAST)
    A, B = (np.array([x.quantile(p) for x, p in zip(drawn, half, strict=True)]) for half in (cube[:d], cube[d:]))
    mixed = [np.where(np.arange(d)[:, None] == k, B, A) for k in range(d)]
    return np.concatenate([A, B, *mixed], axis=1)


def _estimate(y: Array) -> Array:
    """Indices (2, d), first order and total, of a result (d + 2, n) at A, B and the points between them:
    S = mean(y_B (y_AB - y_A)) / V and S_T = mean((y_A - y_AB)²) / 2 V [SAL10, Table 2 (b) and (f)]."""
    A, B, *mixed = y - y[:2].mean()
    variance = float(np.var([A, B]))
    if variance == 0.0:
        return np.zeros((2, len(mixed)))
    AB = np.array(mixed)
    return np.array([np.mean(B * (AB - A), axis=1), 0.5 * np.mean((A - AB) ** 2, axis=1)]) / variance


def _with_intervals(y: Array, seed: int) -> list[SobolIndex]:
    """The index of each number, of a result (d + 2, n). Intervals hold the middle CONFIDENCE of the indices of
    RESAMPLES results whose n columns are drawn from those of y, with repetition. They are rather too wide: points of
    Sobol's sequence are more even than those that chance draws."""
    n, rng = y.shape[1], np.random.default_rng(seed)
    again = [_estimate(y[:, rng.integers(0, n, n)]) for _ in range(RESAMPLES)]
    low, high = np.quantile(again, (0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE), axis=0).tolist()
    (first, total), members = _estimate(y).tolist(), y.size
    return [
        SobolIndex(first[k], total[k], (low[0][k], high[0][k]), (low[1][k], high[1][k]), members)
        for k in range(len(first))
    ]


def _check_sobol(ensemble: Ensemble, drawn: Sequence[int], n: Any) -> None:
    """Refuse what has no Sobol indices."""
    other = [c for c in ensemble.work.plan.columns if isinstance(c.value, np.ndarray) or c.calls]
    if other or not drawn:
        raise InputError(
            f"sobol: {', '.join(map(str, other)) or 'nothing'} is no distribution\n    fix: draw all that differs"
        )
    if ensemble.keep == "tallies":
        raise InputError("sobol: only tallies are kept\n    fix: keep='ends'")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2 or n & (n - 1):
        raise InputError(f"sobol: n = {describe_value(n)} is no power of two\n    fix: give one, say 1024")


__all__ = ["SobolIndex", "share_text", "sobol"]
