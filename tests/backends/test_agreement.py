"""All backends compute what the interpreter computes, on any program and any shape of input."""

from __future__ import annotations

import math
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backends.programs import (
    EXACT,
    QUOTIENTS,
    ULPS,
    arm,
    edge_inputs,
    long_chain,
    one_operation,
    one_operation_on_quotients,
    smooth_programs,
    values_and_bounds,
)
from kane.backends import BACKENDS, compile
from kane.errors import KaneError
from kane.graph import Graph, Inputs, lower
from kane.graph.ops import TABLE

RELATIVE = 1e-13
"""For programs of some tens of well-conditioned operations: a few hundred roundings."""

CHAIN_RELATIVE = 1e-9
"""For thousands of operations in a chain, whose roundings grow on the way."""


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("op", TABLE)
def test_every_operation_means_what_the_op_table_says_at_edge_values(backend: str, op: str) -> None:
    program, x = one_operation(op), edge_inputs(op)
    expected = np.array([TABLE[op].value(*row) for row in x.tolist()])
    got = compile(program, backend)(x)
    if op in EXACT:
        assert np.array_equal(got, expected, equal_nan=True)
        assert np.array_equal(np.signbit(got[expected == 0]), np.signbit(expected[expected == 0]))
    else:
        finite = np.isfinite(expected)
        assert np.array_equal(got[~finite], expected[~finite], equal_nan=True)
        assert np.all(np.abs(got[finite] - expected[finite]) <= ULPS * np.spacing(np.abs(expected[finite])))


@pytest.mark.parametrize("op", TABLE)
def test_every_operation_means_what_the_op_table_says_of_nan_and_infinities(backend: str, op: str) -> None:
    pairs = list(product(QUOTIENTS, repeat=TABLE[op].arity))
    with np.errstate(all="ignore"):
        arguments = np.array(pairs)[..., 0] / np.array(pairs)[..., 1]
    expected = np.array([TABLE[op].value(*row) for row in arguments.tolist()])
    got = compile(one_operation_on_quotients(op), backend)(np.array(pairs).reshape(len(pairs), -1))
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_allclose(got, expected, rtol=RELATIVE)


def test_the_sign_of_what_is_not_a_number_is_none() -> None:
    assert np.isnan(TABLE["sign"].value(math.nan))
    assert [TABLE["sign"].value(x) for x in (-2.0, 0.0, math.inf)] == [-1.0, 0.0, 1.0]


@given(program=smooth_programs(), x=st.lists(st.floats(-4, 4), min_size=4, max_size=4))
@settings(max_examples=25)
def test_random_programs_stay_within_their_running_error_bound(program, x) -> None:
    expected, bound = values_and_bounds(program, x)
    assume(np.all(np.abs(expected) < 1e100))
    for name in ("llvm", "numpy", "interpret"):
        got = compile(program, name)(x[:2], x[2:])
        assert np.all(np.abs(got - expected) <= bound), name


def test_samples_of_a_batch_equal_single_calls(backend: str) -> None:
    kernel = compile(arm(), backend)
    rng = np.random.default_rng(1)
    t, q, u = rng.uniform(-3, 3, (7, 1)), rng.uniform(-3, 3, (7, 3)), rng.uniform(-3, 3, (7, 3))
    together = kernel(t, q, u)
    assert [x.shape for x in together] == [(7, 3), (7, 3, 2), (7,)]
    for i in range(7):
        alone = kernel(t[i], q[i], u[i])
        assert [x.shape for x in alone] == [(3,), (3, 2), ()]
        for a, b in zip(alone, together, strict=True):
            if backend == "numpy":  # its loops over arrays may round sine and cosine otherwise than its scalar ones
                np.testing.assert_allclose(a, b[i], rtol=RELATIVE, atol=RELATIVE)
            else:
                assert np.array_equal(a, b[i])


def test_a_single_sample_among_batches_is_shared_by_all(backend: str) -> None:
    kernel = compile(arm(), backend)
    rng = np.random.default_rng(2)
    q, u = rng.uniform(-3, 3, 3), rng.uniform(-3, 3, (5, 3))
    shared = kernel(0.25, q, u)
    spelled_out = kernel(np.full((5, 1), 0.25), np.tile(q, (5, 1)), u)
    for a, b in zip(shared, spelled_out, strict=True):
        np.testing.assert_allclose(a, b, rtol=RELATIVE, atol=RELATIVE)


def test_the_form_of_the_arrays_does_not_matter(backend: str) -> None:
    kernel = compile(arm(), backend)
    q, u = np.array([0.5, -1.0, 0.25]), np.array([1.0, 2.0, -0.5])
    expected = kernel(0.5, q, u)

    class Derived(np.ndarray):
        pass

    frozen = q.copy()
    frozen.flags.writeable = False
    forms = [
        (np.float64(0.5), q.tolist(), tuple(u)),
        (np.array(0.5), q.astype(np.float32), u.astype(">f8")),
        (np.array([0.5]), np.repeat(q, 2)[::2], u[::-1].copy()[::-1]),
        (np.float32(0.5), q.view(Derived), u.astype(np.longdouble)),
        (0.5, frozen, np.frombuffer(b"x" + u.tobytes(), dtype=np.uint8)[1:].view(np.float64)),
    ]
    for form in forms:
        for a, b in zip(kernel(*form), expected, strict=True):
            assert np.array_equal(a, b)
    rows = np.zeros((4, 6))
    rows[:, :3], rows[:, 3:] = q, u
    for view in (rows, np.asfortranarray(rows), rows[::-1], rows[::2]):
        for a, b in zip(kernel(0.5, view[:, :3], view[:, 3:]), expected, strict=True):
            np.testing.assert_allclose(a[-1], b, rtol=RELATIVE, atol=RELATIVE)


def test_an_empty_batch_gives_empty_outputs(backend: str) -> None:
    efforts, matrix, power = compile(arm(), backend)(0.0, np.zeros((0, 3)), np.zeros(3))
    assert (efforts.shape, matrix.shape, power.shape) == ((0, 3), (0, 3, 2), (0,))


def test_integers_are_taken_as_numbers(backend: str) -> None:
    kernel = compile(arm(), backend)
    for a, b in zip(kernel(1, [1, 2, 3], [4, 5, 6]), kernel(1.0, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), strict=True):
        assert np.array_equal(a, b)


def test_outputs_may_be_inputs_constants_and_repeated_values(backend: str) -> None:
    g = Graph()
    x, y = g.input("x"), g.input("y")
    outputs = {"y": ((5,), [x, g.const(-2.0), x * y, x * y, g.const(0.0)])}
    kernel = compile(lower("copies", [Inputs("x", ("x", "y"))], outputs), backend)
    assert kernel([3.0, 0.5]).tolist() == [3.0, -2.0, 1.5, 1.5, 0.0]


def test_a_program_without_inputs_is_called_without_arrays(backend: str) -> None:
    g = Graph()
    kernel = compile(lower("constant", [], {"y": ((2,), [g.const(1.5), g.const(-4.0)])}), backend)
    assert kernel().tolist() == [1.5, -4.0]


def test_long_programs_are_computed_alike(backend: str) -> None:
    program = long_chain(3000)
    x = np.random.default_rng(3).uniform(-1, 1, (5, 8))
    expected = compile(program, "interpret")(x)
    got = compile(program, backend)
    np.testing.assert_allclose(got(x), expected, rtol=CHAIN_RELATIVE, atol=CHAIN_RELATIVE)
    np.testing.assert_allclose(got(x[0]), expected[0], rtol=CHAIN_RELATIVE, atol=CHAIN_RELATIVE)


def test_results_belong_to_the_caller(backend: str) -> None:
    kernel = compile(long_chain(40), backend)
    first = kernel(np.full(8, 0.5))
    kept = first.copy()
    assert first.flags.writeable
    kernel(np.full(8, -0.25))
    assert np.array_equal(first, kept)


def test_inputs_are_left_as_they_are(backend: str) -> None:
    x = np.linspace(-1, 1, 24).reshape(3, 8)
    kept = x.copy()
    compile(long_chain(40), backend)(x)
    assert np.array_equal(x, kept)


def test_a_kernel_tells_what_it_is_and_does_not_change(backend: str) -> None:
    kernel = compile(arm(), backend)
    assert kernel.program == arm()
    assert repr(kernel).startswith(f"<Kernel 'arm' by {backend}: t (1), q (3), u (3) -> efforts (3,)")
    with pytest.raises(AttributeError, match="compile another one"):
        kernel.backend = "other"


def test_a_kernel_can_be_sent_to_another_process(backend: str) -> None:
    kernel = compile(arm(), backend)
    arrived = pickle.loads(pickle.dumps(kernel))
    assert (arrived.program, arrived.backend) == (kernel.program, backend)
    form = (0.5, np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]))
    assert all(np.array_equal(a, b) for a, b in zip(arrived(*form), kernel(*form), strict=True))


def test_an_unknown_backend_is_refused_with_the_known_ones() -> None:
    with pytest.raises(KaneError, match=r"no backend 'fortran'(.|\n)*llvm, interpret, numpy, c"):
        compile(arm(), "fortran")


@pytest.mark.parametrize("name", ["interpret", "numpy"])
def test_only_machine_code_has_an_address(name: str) -> None:
    kernel = compile(arm(), name)
    for attribute in ("address", "batch_address"):
        with pytest.raises(KaneError, match=f"'{name}' makes no machine code(.|\n)*backend='llvm'"):
            getattr(kernel, attribute)
