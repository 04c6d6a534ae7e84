"""A single call refuses a state without a finite answer; a batch gives such samples back as they are."""

from __future__ import annotations

import numpy as np
import pytest

from kane.backends import BACKENDS, compile
from kane.errors import SingularError
from kane.graph import Graph, Inputs, Program, lower


def reciprocals() -> Program:
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    return lower("reciprocals", [Inputs("q", ("x", "y"), "q")], {"r": ((2,), [1.0 / x, x / y])})


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_single_call_refuses_a_singular_state(backend: str) -> None:
    kernel = compile(reciprocals(), backend)
    assert np.array_equal(kernel(np.array([2.0, 4.0])), [0.5, 0.5])
    with pytest.raises(SingularError, match=r"'reciprocals': output 'r'\[1\] is inf although all inputs are finite"):
        kernel(np.array([1.0, 0.0]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_gives_singular_samples_back(backend: str) -> None:
    with np.errstate(divide="ignore"):
        out = compile(reciprocals(), backend)(np.array([[1.0, 0.0], [2.0, 4.0]]))
    assert np.isinf(out[0, 1])
    assert np.array_equal(out[1], [0.5, 0.5])
