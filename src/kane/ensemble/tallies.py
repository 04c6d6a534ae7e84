"""What is learned from all members without keeping them: counts, means, deviations, covariances, extremes, quantiles.

A tally of a block is merged into that of the blocks before it, in the order of the blocks; so it does not depend on who
computed which. Quantiles come from counts in bins whose width is a power of two: when a value lies outside, bins are
joined in pairs. Counts are whole numbers, so joining bins early or late gives the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Array = NDArray[np.float64]

BINS = 1024
"""Bins of a tally: a quantile is known to one part in about 500 of the range, or better."""

SMALLEST = -900
"""The width of a bin is no smaller than two to this power."""


@dataclass(slots=True)
class Tally:
    """Numbers of many members at some places (times): all arrays (k,), `bins` (k, BINS).

    Bin b of place j has the values from (offset + b) 2^exponent on, as long as 2^exponent.
    """

    count: NDArray[np.int64]
    mean: Array
    squares: Array
    low: Array
    high: Array
    exponent: NDArray[np.int64]
    offset: NDArray[np.int64]
    bins: NDArray[np.int64]

    @classmethod
    def of(cls, values: Array) -> Tally:
        """The tally of values (members, k); those that are not finite do not count."""
        places = values.shape[1]
        found = cls(
            np.zeros(places, np.int64),
            np.zeros(places),
            np.zeros(places),
            np.full(places, np.inf),
            np.full(places, -np.inf),
            np.full(places, SMALLEST, np.int64),
            np.zeros(places, np.int64),
            np.zeros((places, BINS), np.int64),
        )
        for j in range(places):
            column = values[:, j]
            column = column[np.isfinite(column)]
            if column.size:
                found._set(j, column)
        return found

    def _set(self, j: int, x: Array) -> None:
        self.count[j] = x.size
        self.mean[j] = x.mean()
        self.squares[j] = np.square(x - self.mean[j]).sum()
        self.low[j], self.high[j] = x.min(), x.max()
        self.exponent[j], self.offset[j] = _grid(float(self.low[j]), float(self.high[j]))
        at = np.floor(np.ldexp(x, -int(self.exponent[j]))).astype(np.int64) - self.offset[j]
        self.bins[j] = np.bincount(at, minlength=BINS)

    def merge(self, other: Tally) -> None:
        """Take in the tally of more members."""
        for j in np.flatnonzero(other.count).tolist():
            if not self.count[j]:
                for name in self.__slots__:
                    getattr(self, name)[j] = getattr(other, name)[j]
                continue
            a, b = int(self.count[j]), int(other.count[j])
            step = float(other.mean[j] - self.mean[j])
            self.mean[j] += step * b / (a + b)
            self.squares[j] += other.squares[j] + step * step * a * b / (a + b)
            self.count[j] = a + b
            self.low[j], self.high[j] = min(self.low[j], other.low[j]), max(self.high[j], other.high[j])
            exponent, offset = _grid(float(self.low[j]), float(self.high[j]))
            exponent = max(exponent, int(self.exponent[j]), int(other.exponent[j]))
            offset = _offset(float(self.low[j]), exponent)
            self.bins[j] = _rebin(self, j, exponent, offset) + _rebin(other, j, exponent, offset)
            self.exponent[j], self.offset[j] = exponent, offset

    @property
    def deviation(self) -> Array:
        """Standard deviation at each place, nan for fewer than two members."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.count > 1, np.sqrt(self.squares / (self.count - 1)), np.nan)

    def quantile(self, p: float) -> Array:
        """The value below which the share p of the members lies, at each place, to within the width of a bin."""
        if not 0.0 <= p <= 1.0:
            raise InputError(f"quantile({p}): a share lies between 0 and 1")
        found = np.full(len(self.count), np.nan)
        for j in np.flatnonzero(self.count).tolist():
            wanted = p * self.count[j]
            below = np.concatenate([[0], np.cumsum(self.bins[j])])
            b = int(min(np.searchsorted(below, wanted, side="right"), BINS) - 1)
            inside = (wanted - below[b]) / max(1, self.bins[j, b])
            value = math.ldexp(float(self.offset[j] + b) + min(1.0, inside), int(self.exponent[j]))
            found[j] = min(max(value, self.low[j]), self.high[j])
        return found


@dataclass(slots=True)
class JointTally:
    """How quantities vary together at some places (times), of the members in which all of them are finite: how many
    these are, `count` (k,), the means (k, w), and the sums of products of differences from them, `products` (k, w, w).
    """

    count: NDArray[np.int64]
    mean: Array
    products: Array

    @classmethod
    def of(cls, values: Array) -> JointTally:
        """The tally of values (members, k, w)."""
        places, width = values.shape[1:]
        found = cls(np.zeros(places, np.int64), np.zeros((places, width)), np.zeros((places, width, width)))
        with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are finite, and huge
            for j in range(places):
                x = np.ascontiguousarray(values[:, j].T)
                x = x[:, np.isfinite(x).all(axis=0)]
                if x.shape[1]:
                    found._set(j, x)
        return found

    def _set(self, j: int, x: Array) -> None:
        """The place j from values (w, members): place by place and along the members, which is what caches like."""
        self.count[j] = x.shape[1]
        self.mean[j] = x.mean(axis=1)
        off = x - self.mean[j][:, None]
        self.products[j] = np.einsum("im,jm->ij", off, off)  # no BLAS: its sums may depend on its threads

    def merge(self, other: JointTally) -> None:
        """Take in the tally of more members."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            step = other.mean - self.mean
            self.mean += share[:, None] * step
            between = (share * self.count)[:, None, None] * (step[:, :, None] * step[:, None, :])
            self.products += other.products + between
        self.count = count

    @property
    def covariance(self) -> Array:
        """Covariances (k, w, w), nan for fewer than two members."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.count[:, None, None] > 1, self.products / (self.count - 1)[:, None, None], np.nan)


def _offset(low: float, exponent: int) -> int:
    return math.floor(math.ldexp(low, -exponent))


def _grid(low: float, high: float) -> tuple[int, int]:
    """(exponent, offset) of the finest bins that reach from low to high."""
    span = max(high - low, abs(low) * 2.0**-40, abs(high) * 2.0**-40)
    exponent = SMALLEST if span == 0.0 else max(SMALLEST, math.frexp(span)[1] - 11)
    while _offset(high, exponent) - _offset(low, exponent) >= BINS:
        exponent += 1
    return exponent, _offset(low, exponent)


def _rebin(tally: Tally, j: int, exponent: int, offset: int) -> NDArray[np.int64]:
    """Counts of a tally in bins that are wider, or begin elsewhere."""
    bins = np.zeros(BINS, np.int64)
    used = np.flatnonzero(tally.bins[j])
    shift = exponent - int(tally.exponent[j])
    at = (used + tally.offset[j]) // 2**shift if shift < 62 else np.where(used + tally.offset[j] < 0, -1, 0)
    np.add.at(bins, at - offset, tally.bins[j, used])
    return bins


def share_interval(occurred: int, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share of which `occurred` of `count` members are a sample; (0, 1) if there are none."""
    if not count:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    p, zz = occurred / count, z * z / count
    middle, half = p + 0.5 * zz, z * math.sqrt(p * (1 - p) / count + zz / (4 * count))
    return max(0.0, (middle - half) / (1 + zz)), min(1.0, (middle + half) / (1 + zz))


@dataclass(frozen=True, slots=True)
class Enough:
    """Members enough: when the interval of this `confidence` for the mean of `name` at the last time, or for the share
    of members in which the event `name` occurs, is no wider than ± `half_width`."""

    name: str
    half_width: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not (self.half_width > 0 and 0 < self.confidence < 1):
            raise InputError(f"{self}: give a half width > 0 and a confidence between 0 and 1")

    def reached_by_share(self, occurred: int, count: int) -> bool:
        """Whether a share is known well enough, by Wilson's interval."""
        low, high = share_interval(occurred, count, self.confidence)
        return 0.5 * (high - low) <= self.half_width

    def reached_by_mean(self, tally: Tally) -> bool:
        """Whether a mean at the last place is known well enough."""
        if tally.count[-1] < 30:
            return False
        z = NormalDist().inv_cdf(0.5 + 0.5 * self.confidence)
        return z * float(tally.deviation[-1]) / math.sqrt(tally.count[-1]) <= self.half_width


__all__ = ["BINS", "Enough", "JointTally", "Tally", "share_interval"]
