"""The code of recursions on other machines than this one, and in the hands of many callers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kane.backends.llvm.machine import host
from kane.backends.llvm.writer import Lanes
from kane.backends.looped import code
from kane.backends.looped.text import module
from kane.errors import InputError
from kane.large import LargeAnswers, large_motion
from unit.large.mechanisms import states, tree

AGREEMENT = 1e-12  # relative: the same operations, fused or not


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("fma", [False, True])
def test_code_for_any_width_of_vectors_gives_the_same_answers(
    monkeypatch: pytest.MonkeyPatch, width: int, fma: bool
) -> None:
    model = tree(12, 3, "cylindrical")
    q, u, x = states(model, 2 * width + 1, 3)
    free = np.zeros(0)
    wanted = LargeAnswers(model.mechanism).answer("forward_dynamics", 0.0, (q, u, x), free)
    other = dataclasses.replace(host(), width=width, fma=fma)
    monkeypatch.setattr(code, "host", lambda: other)
    given = LargeAnswers(model.mechanism).answer("forward_dynamics", 0.0, (q, u, x), free)
    assert np.abs(given - wanted).max() <= AGREEMENT * np.abs(wanted).max()


def test_the_code_does_not_depend_on_the_number_of_bodies() -> None:
    texts = {module(LargeAnswers(tree(n).mechanism).recursion("motion"), 5, 1, Lanes(1, True)) for n in (5, 50)}
    assert len(texts) == 1


def test_a_state_is_made_unit_and_nothing_else_changes() -> None:
    model = tree(3, 1, "spherical")
    q, u, x = (rows[0] for rows in states(model, 1, 4))
    unit = large_motion(LargeAnswers(model.mechanism), None, []).unit
    assert unit is not None
    y = unit(0.0, 3.0 * q, u, 7.0, x)
    assert np.abs(y[: len(q)] - q).max() <= AGREEMENT
    assert np.array_equal(y[len(q) :], [*u, 7.0])


def test_a_motion_without_quaternions_needs_no_projection() -> None:
    assert large_motion(LargeAnswers(tree(3).mechanism), None, []).unit is None


def test_what_is_not_finite_is_refused_in_a_batch_and_alone() -> None:
    model = tree(5)
    answers = LargeAnswers(model.mechanism)
    q, u, x = states(model, 6, 5)
    u[4, 2] = np.inf
    for rows in (slice(None), 4):
        with pytest.raises(InputError, match="u_j2"):
            answers.answer("forward_dynamics", 0.0, (q[rows], u[rows], x[rows]), np.zeros(0))
