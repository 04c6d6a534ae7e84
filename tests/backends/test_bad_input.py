"""Arrays that do not fit are refused with the place, the value and the way to fix it; by every backend alike."""

from __future__ import annotations

import re

import numpy as np
import pytest

from backends.programs import arm
from kane.backends import BACKENDS, Kernel, compile
from kane.errors import InputError


@pytest.fixture(params=BACKENDS)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    made = compile(arm(), request.param)
    if request.param == "llvm":
        assert made.batch_address  # from here on batches, too, come in by compiled code
    return made


def refused(kernel: Kernel, *arrays: object) -> str:
    with pytest.raises(InputError) as caught:
        kernel(*arrays)  # pyright: ignore[reportArgumentType]
    return str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_named(kernel: Kernel, bad: float) -> None:
    text = refused(kernel, 0.0, [0.0, bad, 0.0], np.zeros(3))
    assert re.search(rf"program 'arm', input 'q', 'q1': {bad} was given, a finite number is needed", text)
    assert "fix:" in text
    assert "'t', 't': " in refused(kernel, bad, np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("sample", range(6))
def test_the_sample_that_is_not_finite_is_named(kernel: Kernel, bad: float, sample: int) -> None:
    u = np.zeros((6, 3))
    u[sample, 2] = bad
    assert f"input 'u', 'u2', sample {sample}: {bad} was given" in refused(kernel, 0.0, np.zeros(3), u)


def test_how_many_more_are_not_finite_is_said(kernel: Kernel) -> None:
    u = np.zeros((6, 3))
    u[2:4] = np.nan
    assert "'u0', sample 2: nan was given (and 5 more in 'u')" in refused(kernel, 0.0, np.zeros(3), u)


def test_an_input_the_outputs_do_not_need_is_checked_too(kernel: Kernel) -> None:
    assert "'q2'" in refused(kernel, 0.0, [0.0, 0.0, np.nan], np.zeros(3))


def test_a_wrong_shape_is_named_with_the_labels_and_the_shapes_that_fit(kernel: Kernel) -> None:
    text = refused(kernel, 0.0, np.zeros(4), np.zeros(3))
    assert "program 'arm', input 'q': shape (4,) was given, 3 values, q0, q1, q2, are needed" in text
    assert "pass shape (3,) for one sample or (batch, 3) for many" in text


def test_a_batch_laid_out_by_columns_is_recognised(kernel: Kernel) -> None:
    assert "transposing it would fit" in refused(kernel, 0.0, np.zeros((3, 8)), np.zeros(3))


def test_a_row_of_numbers_for_a_group_of_one_is_explained(kernel: Kernel) -> None:
    text = refused(kernel, np.zeros(8), np.zeros((8, 3)), np.zeros((8, 3)))
    assert "input 't': shape (8,) was given, one value, t, is needed" in text
    assert "x[:, None]" in text


def test_more_than_two_dimensions_are_refused(kernel: Kernel) -> None:
    assert "shape (2, 2, 3) was given" in refused(kernel, 0.0, np.zeros((2, 2, 3)), np.zeros(3))
    assert "input 'u': shape () was given" in refused(kernel, 0.0, np.zeros(3), 1.0)


def test_batches_of_different_size_are_named(kernel: Kernel) -> None:
    text = refused(kernel, 0.0, np.zeros((4, 3)), np.zeros((5, 3)))
    assert "batches of different size were given: 'q' has 4, 'u' has 5" in text
    assert "shared by all" in text


def test_a_wrong_number_of_arrays_shows_the_call_that_is_meant(kernel: Kernel) -> None:
    text = refused(kernel, 0.0, np.zeros(3))
    assert "2 arrays given, 3 needed" in text
    assert "kernel(t, q, u)" in text


@pytest.mark.parametrize(
    ("bad", "described"),
    [
        ("fast", "str 'fast'"),
        ([1.0, None, 2.0], "list [1.0, None, 2.0]"),
        (np.zeros(3, complex), "an array of complex128"),
        ([[1.0], [1.0, 2.0]], "list"),
    ],
)
def test_what_is_not_a_real_number_is_refused(kernel: Kernel, bad: object, described: str) -> None:
    text = refused(kernel, 0.0, bad, np.zeros(3))
    assert f"input 'q': {described}" in text
    assert "real numbers" in text
