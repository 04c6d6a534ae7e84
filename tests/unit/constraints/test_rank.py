"""Rank, null space and lengths of rows against what they were made of."""

from __future__ import annotations

import numpy as np
import pytest

from kane.constraints.metric import drop_rounding, row_lengths, speed_units, unit_lengths
from kane.constraints.projection import InconsistentRows, RowLabels, RowTerms, project_speeds, require_values
from kane.constraints.rank import Elimination, null_space, part_along_free_motion, row_rank

EXACT = 1e-12


def rows_of_rank(seed: int, m: int, n: int, rank: int) -> np.ndarray:
    """Rows (m, n) of that rank with singular values between 1 and 2."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (m, n))
    return left[:, :rank] * rng.uniform(1, 2, size=rank) @ right[:rank]


@pytest.mark.parametrize("seed", range(6))
def test_the_null_space_is_what_rows_allow(seed: int) -> None:
    A = rows_of_rank(seed, 5, 7, 3)
    N = null_space(A)
    assert row_rank(A) == 3 and N.shape == (7, 4)
    assert np.abs(A @ N).max() <= EXACT and np.abs(N.T @ N - np.eye(4)).max() <= EXACT
    solved = Elimination.of(A, np.ones(7))
    assert solved is not None and np.abs(A @ solved.N).max() <= 100 * EXACT
    efforts = np.random.default_rng(seed).normal(size=7)
    assert np.abs(part_along_free_motion(A, efforts) - N @ (N.T @ efforts)).max() <= 100 * EXACT


def test_rows_of_rounding_errors_say_nothing_beside_their_sizes() -> None:
    A = np.array([[3e-17, -2e-17, 1e-17], [1e-17, 0.0, 4e-17]])
    sizes = np.array([1.0, 2.0])
    assert row_rank(A) == 2, "without sizes they are compared with each other"
    assert row_rank(A, sizes=sizes) == 0 and null_space(A, sizes=sizes).shape == (3, 3)
    assert not drop_rounding(A, sizes).any()
    assert unit_lengths(A, sizes).tolist() == [1, 2] and row_lengths(A, ["N", "N"], sizes).tolist() == [1, 2]
    u = np.array([1.0, 2.0, 3.0])
    labels = RowLabels(["a", "b"], ["N", "N"], sizes)
    assert project_speeds(RowTerms(A, A @ u, np.zeros(2), A), u, labels, ()).tolist() == u.tolist()


def test_a_row_at_a_pole_has_no_value() -> None:
    A = np.array([[1.0, 1e14], [1.0, 0.0]])
    with pytest.raises(InconsistentRows) as found:
        require_values(RowTerms(A, np.zeros(2), np.zeros(2), A), RowLabels(["steep", "plain"], sizes=np.ones(2)))
    assert [name for name, _ in found.value.residuals] == ["steep"]


def test_a_row_that_cannot_move_and_is_driven_is_refused() -> None:
    A, rate = np.array([[1e-17, 0.0]]), np.array([0.3])
    with pytest.raises(InconsistentRows):
        project_speeds(RowTerms(A, rate, np.zeros(1), A), np.zeros(2), RowLabels(["drive"], ["N"], np.ones(1)), ())


def test_units_of_speeds_do_not_change_with_the_units_of_mass() -> None:
    mass = np.array([2.0, 1e-9, 0.5])
    assert speed_units(1e3 * mass) * np.sqrt(1e3) == pytest.approx(speed_units(mass), rel=EXACT)
    assert np.all(np.isfinite(speed_units(np.zeros(3))))
