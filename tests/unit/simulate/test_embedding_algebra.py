"""Accelerations of random constrained systems against the equations with multipliers, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kane.errors import InputError
from kane.graph import Layout
from kane.simulate import Embedding
from seeds import examples, generator
from unit.simulate.constrained_systems import embedded, given_terms, pendulum, program

AGREES = 1e-9
"""Relative to the largest acceleration; random systems may be badly conditioned."""

SIZES = [(1, 1), (2, 3), (5, 2), (6, 6), (9, 13), (12, 5)]


def solved(n: int, mass: Any, f: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """(u̇, independent, nearness) of one system."""
    rows = len(b)
    values = np.concatenate([np.ravel(mass), f, np.ravel(a), np.zeros(rows), b, np.zeros(rows)])
    zeros = np.zeros((1, n))
    found = given_terms(n, rows).accelerations([0.0], np.empty((1, 0)), zeros, zeros, values)
    return found.udot[0], found.independent[0], found.nearness[0]


def with_multipliers(mass: Any, f: Any, a: Any, b: Any) -> Any:
    """u̇ out of M u̇ − Aᵀ λ = f, A u̇ = b; redundant rows leave λ open, not u̇."""
    rows = len(b)
    matrix = np.block([[mass, -a.T], [a, np.zeros((rows, rows))]])
    return np.linalg.lstsq(matrix, np.concatenate([f, b]), rcond=1e-12)[0][: len(f)]


def deviation(found: Any, expected: Any) -> float:
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def rows_of_rank(rng: Any, rows: int, n: int, rank: int) -> Any:
    """A matrix of that rank whose singular values lie between 1 and 2."""
    left, right = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (rows, n))
    return left[:, :rank] * rng.uniform(1, 2, size=rank) @ right[:rank]


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(SIZES), st.integers(0, 2**32 - 1), st.data())
def test_recombination_agrees_with_multipliers(size: tuple[int, int], seed: int, data: Any) -> None:
    n, rows = size
    rank = data.draw(st.integers(0, min(n, rows)))
    rng = np.random.default_rng(seed)
    a = rows_of_rank(rng, rows, n, rank)
    root = rng.normal(size=(n, n + 2))
    mass, f, b = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n), a @ rng.normal(size=n)
    udot, independent, _ = solved(n, mass, f, a, b)
    assert deviation(udot, with_multipliers(mass, f, a, b)) < AGREES
    assert independent.sum() == n - rank


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SIZES), st.integers(0, 2**32 - 1), st.booleans(), st.data())
def test_multipliers_are_those_of_least_norm(size: tuple[int, int], seed: int, grouped: bool, data: Any) -> None:
    """M u̇ = f + Aᵀ λ with the least Σ (weight λ)²: the pseudoinverse of Aᵀ with its columns divided by the weights."""
    n, rows = size
    rank = data.draw(st.integers(0, min(n, rows)))
    rng = np.random.default_rng(seed)
    a = rows_of_rank(rng, rows, n, rank)
    root = rng.normal(size=(n, n + 2))
    mass, f, b = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n), a @ rng.normal(size=n)
    weights = rng.uniform(0.2, 5.0, size=rows)
    embedding = replace(
        given_terms(n, rows),
        weights=tuple(weights.tolist()),
        groups=tuple(rng.integers(3, size=rows).tolist()) if grouped else None,
    )
    values = np.concatenate([np.ravel(mass), f, np.ravel(a), np.zeros(rows), b, np.zeros(rows)])
    state = ([0.0], np.empty((1, 0)), np.zeros((1, n)), np.zeros((1, n)), values)
    found, multipliers = embedding.accelerations(*state), embedding.multipliers(*state)[0]
    g = mass @ found.udot[0] - f
    expected = np.linalg.pinv(a.T / weights, rcond=1e-9) @ g / weights
    assert deviation(a.T @ multipliers, g) < AGREES
    assert deviation(multipliers, expected) < AGREES
    assert found.rank[0] == rank


def test_rows_without_length_have_no_multiplier() -> None:
    a = np.array([[0.0, 0.0], [1.0, 0.0]])
    values = np.concatenate([np.eye(2).ravel(), [3.0, 1.0], a.ravel(), np.zeros(6)])
    embedding = replace(given_terms(2, 2), groups=("none", "one"))
    state = ([0.0], np.empty((1, 0)), np.zeros((1, 2)), np.zeros((1, 2)), values)
    assert embedding.multipliers(*state)[0] == pytest.approx([0.0, -3.0], abs=1e-15)
    assert embedding.accelerations(*state).udot[0] == pytest.approx([0.0, 1.0], abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([(5, 2), (9, 13), (12, 5)]), st.integers(0, 2**32 - 1))
def test_links_without_mass_are_carried_by_constraints(size: tuple[int, int], seed: int) -> None:
    """M is singular, by as much as constraints can make up for."""
    n, rows = size
    rng = np.random.default_rng(seed)
    rank = min(rows, n - 1)
    a = rows_of_rank(rng, rows, n, rank)
    root = rng.normal(size=(n, n - rank + 1))
    if rng.random() < 0.5:
        root[: rank - 1] = 0.0  # speeds that carry no mass at all
        root += np.vstack([np.zeros((rank - 1, root.shape[1])), np.eye(n - rank + 1)])
    mass, f, b = root @ root.T, rng.normal(size=n), a @ rng.normal(size=n)
    free = np.linalg.svd(a)[2][rank:]
    reduced = np.linalg.eigvalsh(free @ mass @ free.T)
    assume(reduced[0] > 1e-3 * reduced[-1])  # else it is hardly determined, and rounding is all that is compared
    assert deviation(solved(n, mass, f, a, b)[0], with_multipliers(mass, f, a, b)) < 1e2 * AGREES


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_of_speeds_and_rows_do_not_matter(factor: float) -> None:
    """Speeds in millimetres, or constraints in millimetres: the same motion, told otherwise."""
    rng = generator(5)
    a, root, f, goal = rng.normal(size=(3, 6)), rng.normal(size=(6, 8)), rng.normal(size=6), rng.normal(size=6)
    mass = root @ root.T
    plain = solved(6, mass, f, a, a @ goal)[0]
    s = np.array([factor, 1, factor, 1, 1, 1])
    scaled = solved(6, mass * np.outer(s, s), f * s, a * s, a @ goal)[0]
    assert deviation(scaled * s, plain) < AGREES
    assert deviation(solved(6, mass, f, factor * a, factor * a @ goal)[0], plain) < AGREES


def test_contradicting_rows_are_met_in_the_least_squares() -> None:
    udot, _, _ = solved(2, np.eye(2), [0.0, 0.0], np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 3.0]))
    assert np.allclose(udot, [2.0, 0.0], rtol=0, atol=1e-14)


def test_no_rows_leave_the_free_motion() -> None:
    rng = generator(2)
    root, f = rng.normal(size=(4, 6)), rng.normal(size=4)
    udot, independent, near = solved(4, root @ root.T, f, np.empty((0, 4)), np.empty(0))
    assert deviation(udot, np.linalg.solve(root @ root.T, f)) < AGREES
    assert independent.all() and near == 1


def test_as_many_rows_as_speeds_leave_nothing_to_the_forces() -> None:
    rng = generator(3)
    a, goal = rng.normal(size=(6, 6)), rng.normal(size=6)
    udot, independent, _ = solved(6, np.eye(6), 1e3 * rng.normal(size=6), a, a @ goal)
    assert deviation(udot, goal) < AGREES
    assert not independent.any()


def test_a_singular_constrained_mass_gives_no_number() -> None:
    mass = np.diag([1.0, 0.0, 1.0])
    udot, _, _ = solved(3, mass, [1.0, 1.0, 1.0], np.array([[1.0, 0.0, 0.0]]), [0.0])
    assert np.isnan(udot).all()


@pytest.mark.parametrize("place", ["mass", "f", "a", "b"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_a_number_gives_no_number(place: str, value: float) -> None:
    terms = {"mass": np.eye(3), "f": np.ones(3), "a": np.array([[1.0, 1.0, 0.0]]), "b": np.ones(1)}
    terms[place] = terms[place].copy()
    terms[place].flat[0] = value
    udot, _, _ = solved(3, **terms)
    assert not np.isfinite(udot).all()


def test_rows_at_right_angles_are_as_far_from_singular_as_can_be() -> None:
    near = [
        solved(2, np.eye(2), [0.0, 0.0], np.array([[1.0, 0.0], [np.cos(x), np.sin(x)]]), [0.0, 0.0])[2]
        for x in (np.pi / 2, 0.1, 0.001)
    ]
    assert near[0] == pytest.approx(1.0)
    assert 0.01 < near[1] < 0.1 and 0.0001 < near[2] < 0.001


def test_programs_that_do_not_fit_are_refused() -> None:
    def terms(v):
        system = pendulum(v)
        return [*v["u"], *system.f, system.power]

    with pytest.raises(InputError, match="writes 5 numbers, 14 are needed"):
        Embedding(Layout(2, 2, 0, 1), program(terms, 2, 2))


def test_more_places_than_rows_are_refused() -> None:
    terms = program(lambda v: [*v["u"], *[0.0] * (2 * 3 + 5 + 1)], 2, 2)
    places = program(lambda v: [0.0] * (2 * 3 + 4), 2, 2)
    with pytest.raises(InputError, match="about 2 rows, but there are 1"):
        Embedding(Layout(2, 2, 0, 1, (0, 1)), terms, places)


@pytest.mark.parametrize("gains", [(-1.0, 5.0), (1.0, 0.0), (1.0, np.nan)])
def test_gains_that_would_drive_errors_are_refused(gains: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="damping ratio"):
        embedded(pendulum, 2, 2, baumgarte=gains)


def test_groups_must_cover_all_rows() -> None:
    with pytest.raises(InputError, match="one for each of the 1 rows"):
        embedded(pendulum, 2, 2, groups=[0, 1])


def test_samples_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"tau has shape"):
        given_terms(2, 3).accelerations([0.0], np.empty((1, 0)), np.zeros((1, 2)), np.zeros((1, 3)), np.zeros(21))
