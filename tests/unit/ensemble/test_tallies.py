"""Tallies over members: those of blocks put together are those of the whole, and quantiles lie within a bin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.ensemble import Enough, JointTally, Tally
from kane.ensemble.tallies import BINS
from kane.errors import InputError

numbers = st.floats(-1e9, 1e9, allow_subnormal=False)


@given(st.lists(numbers, min_size=1, max_size=60), st.data())
def test_blocks_put_together_are_the_whole(values: list[float], data: st.DataObject) -> None:
    column = np.array(values)[:, None]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=4)))
    whole, merged = Tally.of(column), Tally.of(column[:0])
    for part in np.split(column, cuts):
        merged.merge(Tally.of(part))
    for name in ("count", "low", "high", "exponent", "offset", "bins"):
        assert np.array_equal(getattr(whole, name), getattr(merged, name)), name
    size = np.abs(column).max()
    np.testing.assert_allclose(merged.mean, column.mean(), atol=1e-13 * size)
    if len(values) > 1:
        np.testing.assert_allclose(merged.deviation, column.std(ddof=1), atol=1e-7 * size, rtol=1e-9)


@given(st.lists(numbers, min_size=1, max_size=200), st.floats(0.0, 1.0))
def test_a_quantile_is_known_to_a_bin(values: list[float], p: float) -> None:
    tally = Tally.of(np.array(values)[:, None])
    width = 2.0 ** float(tally.exponent[0])
    low, high = (np.quantile(values, p, method=m) for m in ("lower", "higher"))
    below = np.quantile(values, max(0.0, p - 1.0 / len(values)), method="lower")
    above = np.quantile(values, min(1.0, p + 1.0 / len(values)), method="higher")
    assert min(low, below) - width <= tally.quantile(p)[0] <= max(high, above) + width


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2**32 - 1), st.data())
def test_covariances_of_blocks_are_those_of_the_whole(members: int, width: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(members, 3, width)) @ rng.normal(size=(width, width)) + 10.0 * rng.normal(size=width)
    values[rng.random((members, 3)) < 0.2] = np.nan  # as of motions that have ended
    cuts = sorted(data.draw(st.lists(st.integers(0, members), max_size=4)))
    merged = JointTally.of(values[:0])
    for part in np.split(values, cuts):
        merged.merge(JointTally.of(part))
    for j in range(3):
        known = values[np.isfinite(values[:, j, 0]), j]
        assert merged.count[j] == len(known)
        if len(known) < 2:
            assert np.isnan(merged.covariance[j]).all()
        else:
            wanted = np.cov(known, rowvar=False).reshape(width, width)
            np.testing.assert_allclose(merged.covariance[j], wanted, atol=1e-10 * (1 + np.abs(known).max()) ** 2)


def test_members_count_together_where_all_that_is_watched_is_known() -> None:
    values = np.array([[[1.0, 2.0]], [[3.0, 5.0]], [[4.0, np.nan]], [[np.inf, 1.0]]])
    joint = JointTally.of(values)
    assert joint.count.tolist() == [2]
    np.testing.assert_allclose(joint.covariance[0], [[2.0, 3.0], [3.0, 4.5]])


def test_bins_are_fine() -> None:
    x = np.random.default_rng(0).normal(size=(20_000, 1))
    tally = Tally.of(x)
    assert tally.bins.sum() == 20_000
    assert 2.0 ** float(tally.exponent[0]) <= 4.0 * np.ptp(x) / BINS
    np.testing.assert_allclose(tally.quantile(0.975), np.quantile(x, 0.975), atol=0.02)


def test_what_is_not_finite_does_not_count() -> None:
    tally = Tally.of(np.array([[1.0, np.nan], [3.0, np.nan], [np.inf, 2.0]]))
    assert tally.count.tolist() == [2, 1]
    assert tally.mean.tolist() == [2.0, 2.0]
    assert np.isnan(tally.deviation[1])


def test_enough_members_are_those_that_make_the_interval_narrow() -> None:
    stop = Enough("fell", 0.01)
    assert not stop.reached_by_share(4800, 9600 - 300)
    assert stop.reached_by_share(4850, 9700)  # 1.96² / 4 / 0.01² = 9604
    assert not stop.reached_by_share(0, 10)  # Wilson: nobody of ten is no proof of nobody
    spread = Tally.of(np.random.default_rng(1).normal(size=(10_000, 1)))
    assert Enough("x", 0.0205).reached_by_mean(spread)
    assert not Enough("x", 0.0185).reached_by_mean(spread)
    with pytest.raises(InputError, match="half width"):
        Enough("x", -1.0)
