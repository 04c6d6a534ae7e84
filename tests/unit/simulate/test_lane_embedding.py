"""Constraints of eight motions at once: to the bit what each gives alone, whatever runs beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.backends.kernel import LANES
from kane.simulate import Embedding
from kane.simulate.lane_embedding import lanes_of_embedding
from seeds import examples
from unit.simulate.constrained_systems import (
    embedded,
    given_terms,
    helix,
    level,
    pendulum,
    rhombi,
    rod,
    sleigh,
)

EVERY = 2**LANES - 1
"""The bits of all lanes."""

ROUNDING = 1e-14
"""Numbers of the size of 1 after a few operations."""

SIZES = [(1, 1), (2, 3), (5, 2), (6, 6), (9, 13), (12, 5)]


def both(embedding: Embedding, task: str, x: Any, asked: int = EVERY) -> tuple[Any, Any, list[bool]]:
    """(outputs of the lanes, (outputs, LANES), of each alone, which lanes the program of a motion alone has done)."""
    alone = [embedding.workspace() for _ in range(LANES)]
    rates, projections = [w.rates for w in alone], [w.projection for w in alone]
    lanes = lanes_of_embedding(embedding, rates, projections, np.array([asked]))
    before = [program.owner.contents()["buffer"] for program in rates]
    found = getattr(lanes, task)(np.ascontiguousarray(x)).reshape(-1, LANES)
    after = [program.owner.contents()["buffer"] for program in rates]
    worked = [not np.array_equal(a, b, equal_nan=True) for a, b in zip(before, after, strict=True)]
    expected = np.array([getattr(embedding.workspace(), task)(x[:, i]) for i in range(LANES)]).T
    return found, expected, worked


def terms_of(rng: Any, n: int, rows: int, rank: int) -> Any:
    """Inputs of `given_terms` for a random system whose rows have that rank; some numbers are zero."""
    left, right = rng.normal(size=(rows, rank)), rng.normal(size=(rank, n))
    a = np.where(rng.random((rows, rank)) < 0.3, 0.0, left) @ np.where(rng.random((rank, n)) < 0.3, 0.0, right)
    root = rng.normal(size=(n, n + 2))
    mass = root @ root.T + 0.1 * np.eye(n)
    values = [np.ravel(mass), rng.normal(size=n), np.ravel(a), rng.normal(size=rows), a @ rng.normal(size=n)]
    return np.concatenate([np.zeros(2 * n + 2), *values, np.zeros(rows)])


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(SIZES), st.integers(0, 2**32 - 1), st.booleans(), st.data())
def test_lanes_with_pivots_of_their_own_have_the_bits_of_each_alone(
    size: tuple[int, int], seed: int, grouped: bool, data: Any
) -> None:
    n, rows = size
    rng = np.random.default_rng(seed)
    alike = data.draw(st.booleans())
    ranks = [data.draw(st.integers(0, min(n, rows)))] * LANES if alike else rng.integers(min(n, rows) + 1, size=LANES)
    x = np.array([terms_of(rng, n, rows, int(rank)) for rank in ranks]).T
    embedding = given_terms(n, rows)
    if grouped:
        groups = tuple(rng.integers(3, size=rows).tolist())
        sizes = tuple(rng.choice([0.0, 1.0, np.inf, 1e13], size=rows).tolist())
        embedding = replace(embedding, groups=groups, sizes=sizes)
    for task in ("rates", "projection"):
        found, expected, _ = both(embedding, task, x)
        assert np.array_equal(found, expected, equal_nan=True)


def test_lanes_that_are_alike_need_no_program_of_a_motion_alone() -> None:
    rng = np.random.default_rng(3)
    x = np.array([terms_of(rng, 9, 6, 4) for _ in range(LANES)]).T
    found, expected, worked = both(given_terms(9, 6), "rates", x)
    assert np.array_equal(found, expected)
    assert not any(worked)


def test_what_is_not_a_number_or_has_no_mass_or_another_rank_spoils_no_lane() -> None:
    rng, n, rows = np.random.default_rng(4), 6, 4
    x = np.array([terms_of(rng, n, rows, 3) for _ in range(LANES)]).T
    mass = slice(2 * n + 2, 2 * n + 2 + n * n)
    x[mass.start + 3, 1] = np.nan
    x[mass, 2] = 0.0
    x[:, 4] = terms_of(rng, n, rows, 4)
    x[[-3 * rows, -2 * rows], 6] = np.inf  # a rate, and what accelerations are to be
    for task in ("rates", "projection"):
        found, expected, worked = both(given_terms(n, rows), task, x)
        assert np.array_equal(found, expected, equal_nan=True)
        assert {1, 2, 4, 6} >= {i for i, alone in enumerate(worked) if alone} >= {1, 4, 6}
        assert np.isfinite(found[:, [0, 3, 5, 7]]).all()


def test_a_lane_without_a_motion_is_not_looked_at() -> None:
    rng = np.random.default_rng(5)
    x = np.array([terms_of(rng, 5, 3, 3) for _ in range(LANES)]).T
    x[:, 2] = np.nan
    found, expected, worked = both(given_terms(5, 3), "rates", x, EVERY & ~0b100)
    others = [i for i in range(LANES) if i != 2]
    assert np.array_equal(found[:, others], expected[:, others])
    assert not worked[2]


SYSTEMS = {
    "pendulum": lambda: embedded(pendulum, 2, 2),
    "redundant": lambda: embedded(helix, 3, 3),
    "no position": lambda: embedded(sleigh, 3, 3),
    "driven": lambda: embedded(rod, 2, 2, driven=True),
    "quaternion": lambda: embedded(level, 4, 3),
    "stabilised": lambda: embedded(pendulum, 2, 2, baumgarte=(1.0, 20.0)),
    "flat rhombi": lambda: embedded(rhombi(3), 7, 7),
}


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-6, 1e-2, 1.0, 30.0])
@pytest.mark.parametrize("name", SYSTEMS)
def test_states_off_the_constraints_are_moved_onto_them_as_alone(name: str, off: float) -> None:
    embedding = SYSTEMS[name]()
    rng = np.random.default_rng(int(1e3 * off) + 1)
    state, inputs = embedding.layout.state.size, embedding.layout.inputs.size
    for trial in range(20):
        x = np.zeros((inputs, LANES))
        usual = 0.0 if name == "flat rhombi" and trial % 2 else rng.normal(size=(state, 1))
        x[0], x[1 : 1 + state] = rng.random(LANES), usual + off * rng.normal(size=(state, LANES))
        for task in ("rates", "projection"):
            found, expected, _ = both(embedding, task, x)
            assert np.array_equal(found, expected, equal_nan=True)


def test_a_pendulum_is_moved_onto_its_circle_and_along_it() -> None:
    rng = np.random.default_rng(8)
    embedding = SYSTEMS["pendulum"]()
    x = np.zeros((embedding.layout.inputs.size, LANES))
    angle = rng.uniform(0, 6, LANES)
    x[1:3] = np.array([np.cos(angle), np.sin(angle)]) * rng.uniform(0.8, 1.2, LANES)
    x[3:5] = rng.normal(size=(2, LANES))
    q1, q2, u1, u2, _ = both(embedding, "projection", x)[0]
    assert np.abs(q1**2 + q2**2 - 1.0).max() < ROUNDING
    assert np.abs(q1 * u1 + q2 * u2).max() < ROUNDING
    assert np.abs(q1 - np.cos(angle)).max() < ROUNDING, "the least change is along the radius"
