"""What members draw: by seed and index alone, of the distributions that were asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

from kane.ensemble import Draws, choice, normal, uniform
from kane.ensemble.draws import Column, Component
from kane.ensemble.streams import uniform_numbers
from kane.errors import InputError

NORMAL, UNIFORM = Column("q", "a", normal(1.0, 0.05)), Column("u", "b", uniform(-2.0, 3.0))


def test_a_member_draws_from_the_generator_of_its_seed_and_index() -> None:
    numbers = Draws((NORMAL, UNIFORM), 20, seed=7).numbers(0, 20)
    for i in range(20):
        unit = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(i,))).random(2)
        expected = [scipy.stats.norm.ppf(unit[0], 1.0, 0.05), -2.0 + 5.0 * unit[1]]
        np.testing.assert_allclose(numbers[i], expected, rtol=1e-14)


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**32 - 1, 2**32, 2**64 + 5, 2**130 + 12345, 3**200])
def test_first_numbers_of_many_generators_are_those_of_each(seed: int) -> None:
    for first in (0, 4096, 2**31 - 3, 2**32 - 9):
        found = uniform_numbers(seed, first, first + 8, 3)
        for i, row in enumerate([] if found is None else found):
            generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(first + i,)))
            assert np.array_equal(row, generator.random(3))
        assert found is not None


def test_members_beyond_the_range_of_a_word_draw_from_their_generators() -> None:
    first = 2**32 - 2
    row = Draws((UNIFORM,), 2**33, seed=7).numbers(first, first + 4)[3, 0]
    unit = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(first + 3,))).random()
    assert row == -2.0 + 5.0 * unit


@pytest.mark.parametrize("sampling", ["random", "sobol"])
def test_members_do_not_depend_on_how_many_there_are_or_on_blocks(sampling: str) -> None:
    few, many = Draws((NORMAL, UNIFORM), 16, 3, sampling), Draws((NORMAL, UNIFORM), 256, 3, sampling)
    whole = many.numbers(0, 256)
    assert np.array_equal(few.numbers(0, 16), whole[:16])
    assert np.array_equal(many.numbers(40, 200), whole[40:200])


def test_functions_draw_after_distributions_from_the_same_generator() -> None:
    plan = Draws((Column("q", "f", lambda g: g.normal()), NORMAL), 5, seed=1)
    for i, row in enumerate(plan.numbers(0, 5)):
        generator = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(i,)))
        generator.random(1)
        assert row[0] == generator.normal()


@pytest.mark.parametrize("sampling", ["random", "latin", "sobol"])
def test_samples_have_their_distribution(sampling: str) -> None:
    columns = (NORMAL, UNIFORM, Column("q", "c", choice([1.0, 2.0, 5.0])))
    a, b, c = Draws(columns, 2048, 11, sampling).numbers(0, 2048).T
    assert scipy.stats.kstest(a, scipy.stats.norm(1.0, 0.05).cdf).pvalue > 1e-3
    assert scipy.stats.kstest(b, scipy.stats.uniform(-2.0, 5.0).cdf).pvalue > 1e-3
    counts = [int(np.sum(c == value)) for value in (1.0, 2.0, 5.0)]
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_a_latin_hypercube_has_one_member_in_every_row() -> None:
    plan = Draws((Column("q", "a", uniform(0.0, 1.0)), Column("q", "b", uniform(0.0, 1.0))), 100, 5, "latin")
    for column in plan.numbers(0, 100).T:
        assert sorted(np.floor(100 * column).tolist()) == list(range(100))


def test_sobol_points_fill_the_square_more_evenly_than_random_ones() -> None:
    columns = (Column("q", "a", uniform(0.0, 1.0)), Column("q", "b", uniform(0.0, 1.0)))
    worst = {s: scipy.stats.qmc.discrepancy(Draws(columns, 512, 2, s).numbers(0, 512)) for s in ("sobol", "random")}
    assert worst["sobol"] < 0.1 * worst["random"]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: normal(0.0, -1.0), "not negative"),
        (lambda: normal(float("nan"), 1.0), "finite"),
        (lambda: uniform(2.0, 1.0), "wrong order"),
        (lambda: choice([]), "at least one"),
        (lambda: Draws((), 0), "one member at least"),
        (lambda: Draws((), 5, sampling="halton"), "random, latin, sobol"),
        (lambda: Draws((Column("q", "a", np.zeros(3)),), 5), "3 values are given for 5 members"),
        (lambda: Draws((Column("q", "a", lambda g: "x"),), 5).numbers(0, 1), "gave 'x' for member 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(InputError, match=text):
        make()


def test_a_function_gives_all_coordinates_at_once_and_is_called_once_for_each_member() -> None:
    calls = []

    def drawn(generator: np.random.Generator) -> np.ndarray:
        calls.append(1)
        return generator.multivariate_normal([1.0, 2.0], [[1.0, 0.9], [0.9, 1.0]])

    columns = [Column("q", name, Component(drawn, k, 2)) for k, name in enumerate(("a", "b"))]
    numbers = Draws((NORMAL, *columns), 4, seed=1).numbers(0, 4)
    assert len(calls) == 4
    for i, row in enumerate(numbers):
        generator = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(i,)))
        generator.random(1)
        assert np.array_equal(row[1:], drawn(generator))


def test_a_choice_is_of_numbers_or_of_a_sequence() -> None:
    assert choice(0.1, 0.2) == choice([0.1, 0.2]) == choice(np.array([0.1, 0.2]))
    assert choice(3.0).numbers == (3.0,)
