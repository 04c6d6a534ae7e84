"""Laws of the machine code: the same bits however a sample is computed, trigonometry within bounds, calls that last."""

from __future__ import annotations

import concurrent.futures
import ctypes
import gc
import math
import sys
import weakref

import numpy as np
import pytest

from backends.programs import arm, long_chain
from kane.backends import compile, native
from kane.backends.llvm import batch_text, compile_llvm, flat_text, rows, writer
from kane.backends.llvm.entry import INPUT_LIMIT
from kane.backends.llvm.machine import Library, assemble
from kane.backends.llvm.trig import BOUND
from kane.backends.llvm.writer import Lanes
from kane.errors import InputError
from kane.graph import Graph, Inputs, Program, lower

TRIG_ULPS = 2.0
"""What the reduction (one unit) and the polynomial with its last rounding (below one) can add up to."""

FLAT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

CHAIN_RELATIVE = 1e-9  # of thousands of roundings that grow on the way


def trigonometry() -> Program:
    g = Graph()
    x = g.input("x")
    return lower("trigonometry", [Inputs("x", ("x",))], {"sine": ((), [x.sin()]), "cosine": ((), [x.cos()])})


def computed(program: Program, lanes: Lanes, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs for a batch by vector code of the given lanes, compiled here and now."""
    library = Library(assemble(batch_text(program, lanes)))
    function = native.BATCH_FUNCTION(library.address("batch"))
    results, finite = native.run_batch(program, function, arrays, len(arrays[0]), workers=1)
    assert finite
    return results


# the same bits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fma", [True, False])
def test_every_width_of_vectors_gives_the_same_bits(fma: bool) -> None:
    program = long_chain(200)
    x = np.random.default_rng(4).uniform(-2, 2, (9, 8))
    results = [computed(program, Lanes(width, fma), [x])[0] for width in (1, 2, 4, 8)]
    assert all(np.array_equal(r, results[0]) for r in results)


def test_a_sample_has_the_same_bits_anywhere_in_any_batch() -> None:
    g = Graph()
    a, b = g.input("a"), g.input("b")
    values = [a.sin() * b.cos() + a.cos(), b.sin() - (a.sin() * 3.0).sin(), (b * 1e9).cos() * a.cos() - b.sin()]
    kernel = compile(lower("waves", [Inputs("x", ("a", "b"))], {"y": ((3,), values)}, simplify=False))
    x = np.random.default_rng(5).uniform(-2, 2, (33, 2))
    x[7] = 1e15, 2e12  # arguments that leave the inline code must not touch their neighbours
    whole = kernel(x)
    for start, stop in ((0, 1), (1, 4), (5, 12), (7, 8), (8, 33)):
        assert np.array_equal(kernel(x[start:stop]), whole[start:stop])
    order = np.random.default_rng(6).permutation(33)
    assert np.array_equal(kernel(x[order]), whole[order])
    assert np.array_equal([kernel(row) for row in x], whole)


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_the_number_of_threads_does_not_show_in_the_result(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "GRAIN", 1)
    program = arm()
    rng = np.random.default_rng(7)
    t, q, u = rng.uniform(-3, 3, (101, 1)), rng.uniform(-3, 3, 3), rng.uniform(-3, 3, (101, 3))
    alone = compile_llvm(program, workers=1)(t, q, u)
    shared = compile_llvm(program, workers=workers)(t, q, u)
    assert all(np.array_equal(a, b) for a, b in zip(alone, shared, strict=True))


def test_threads_find_a_value_that_is_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "GRAIN", 1)
    u = np.zeros((50, 3))
    u[41, 1] = np.nan
    with pytest.raises(InputError, match="'u1', sample 41"):
        compile_llvm(arm(), workers=4)(0.0, np.zeros(3), u)


def test_a_kernel_may_be_called_from_many_threads_at_once() -> None:
    kernel = compile(long_chain(100, "shared"))
    x = np.random.default_rng(8).uniform(-2, 2, (64, 8))
    expected = [kernel(row) for row in x]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        singles = list(pool.map(kernel, x))
        batches = list(pool.map(lambda i: kernel(x[: i + 1]), range(64)))
    assert np.array_equal(singles, expected)
    assert all(np.array_equal(b, expected[: i + 1]) for i, b in enumerate(batches))


# long programs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stack", [0, writer.STACK])
@pytest.mark.parametrize("chunk", [1, 7, 50])
def test_where_a_program_is_cut_does_not_show_in_the_result(
    chunk: int, stack: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = long_chain(300)
    x = np.random.default_rng(9).uniform(-2, 2, (6, 8))
    whole = computed(program, Lanes(4, fma=True), [x])[0]
    monkeypatch.setattr(rows, "CHUNK", chunk)
    monkeypatch.setattr(writer, "STACK", stack)
    assert np.array_equal(computed(program, Lanes(4, fma=True), [x])[0], whole)
    library = Library(assemble(flat_text(program, Lanes(1, fma=True))))
    single = np.empty(4)
    FLAT(library.address("flat"))(x[2].ctypes.data, single.ctypes.data)
    assert np.array_equal(single, whole[2])


def test_products_used_once_are_fused_and_no_others() -> None:
    g = Graph()
    a, b, c = (g.input(n) for n in "abc")
    once, twice = a * b, b * c
    outputs = {"y": ((3,), [once + c, c - twice, twice - a])}
    program = lower("fusing", [Inputs("x", ("a", "b", "c"))], outputs, simplify=False)
    assert sorted(row.op for _, row in rows.fuse_products(program)) == ["mul", "product_plus", "sub", "sub"]


# trigonometry --------------------------------------------------------------------------------------------------------


def ulps(x: np.ndarray) -> float:
    """The largest error of sine and cosine at `x`, in units in the last place, against extended precision."""
    assert np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant + 8, "the oracle must be finer than float64"
    worst = 0.0
    for got, exact in zip(compile(trigonometry())(x[:, None]), (np.sin, np.cos), strict=True):
        value = exact(x.astype(np.longdouble))
        worst = max(worst, float(np.max(np.abs(got - value) / np.spacing(np.abs(value.astype(np.float64))))))
    return worst


@pytest.mark.parametrize("reach", [1e-300, 1e-8, 1.0, 10.0, 1e3, 1e6, BOUND, 1e12, 1e22, 1e300])
def test_sine_and_cosine_are_within_two_units_in_the_last_place(reach: float) -> None:
    assert ulps(np.random.default_rng(10).uniform(-reach, reach, 50_000)) <= TRIG_ULPS


def test_sine_and_cosine_are_accurate_next_to_their_zeros() -> None:
    k = np.concatenate([np.arange(1, 5000), np.random.default_rng(11).integers(1, int(BOUND / 1.6), 5000)])
    zeros = k * (math.pi / 2)
    for offset in range(-2, 3):
        x = zeros + offset * np.spacing(zeros)
        got = compile(trigonometry())(x[:, None])
        expected = [[math.sin(v) for v in x], [math.cos(v) for v in x]]  # correctly reduced by the C library
        assert np.all(np.abs(np.array(got) - expected) <= (TRIG_ULPS + 1) * np.spacing(np.abs(expected)))


def test_sine_is_odd_and_cosine_even_to_the_bit_and_the_bound_is_seamless() -> None:
    sine, cosine = compile(trigonometry())(np.array([[0.0], [-0.0]]))
    assert np.array_equal(np.signbit(sine), [False, True])
    assert cosine.tolist() == [1.0, 1.0]
    x = np.random.default_rng(13).uniform(0, 100, (1000, 1))
    assert np.array_equal(compile(trigonometry())(-x)[0], -compile(trigonometry())(x)[0])
    assert np.array_equal(compile(trigonometry())(-x)[1], compile(trigonometry())(x)[1])
    assert ulps(BOUND + np.arange(-500, 500) * np.spacing(BOUND)) <= TRIG_ULPS


# the way in from Python ----------------------------------------------------------------------------------------------


def test_without_the_compiled_entry_calls_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    q, u = np.array([0.5, -1.0, 0.25]), np.array([1.0, 2.0, -0.5])
    direct = compile(arm())(0.5, q, u)
    monkeypatch.setattr("kane.backends.llvm.context", lambda: None)
    for a, b in zip(compile(arm())(0.5, q, u), direct, strict=True):
        assert np.array_equal(a, b)


def test_a_batch_comes_in_by_compiled_code_as_it_does_by_python() -> None:
    rng = np.random.default_rng(14)
    t, q, u = rng.uniform(-3, 3, (6, 1)), rng.uniform(-3, 3, (6, 3)), rng.uniform(-3, 3, (6, 3))
    for form in ((t, q, u), (0.5, q, u), (t, q[0], u[0]), (t[0], q, u[1]), (t[:1], q[:1], u[:1]), (0.5, q[:0], u[:0])):
        kernel = compile(arm())
        first, second = kernel(*form), kernel(*form)  # the batch function is compiled on the first of these
        assert all(np.array_equal(a, b) and a.shape == b.shape for a, b in zip(first, second, strict=True))
        assert all(a.flags.owndata and a.dtype == np.float64 for a in second)


def test_a_program_too_wide_for_the_entry_is_called_the_other_way() -> None:
    g = Graph()
    n = INPUT_LIMIT + 1
    x = [g.input(f"x{i}") for i in range(n)]
    wide = lower("wide", [Inputs("x", tuple(f"x{i}" for i in range(n)))], {"y": ((2,), [x[0] + x[-1], x[1] * x[2]])})
    values = np.arange(float(n))
    assert compile(wide)(values).tolist() == [n - 1.0, 2.0]
    assert compile(wide)(np.stack([values, 2 * values])).tolist() == [[n - 1.0, 2.0], [2 * n - 2.0, 8.0]]
    values[n // 2] = np.nan
    with pytest.raises(InputError, match=f"'x{n // 2}', sample 1"):
        compile(wide)(np.stack([np.zeros(n), values]))


def test_wide_outputs_are_stored_in_their_places() -> None:
    g = Graph()
    a, b = g.input("a"), g.input("b")
    outer = lower(
        "outer", [Inputs("x", ("a", "b"))], {"y": ((9, 11), [a * i + b * j for i in range(9) for j in range(11)])}
    )
    x = np.array([[1.0, 100.0], [3.0, -5.0], [0.5, 0.25], [7.0, 0.0], [-2.0, 4.0]])
    i, j = np.meshgrid(np.arange(9), np.arange(11), indexing="ij")
    expected = x[:, :1, None] * i + x[:, 1:, None] * j
    assert np.array_equal(compile(outer)(x), expected)
    assert np.array_equal(compile(outer)(x[3]), expected[3])


def test_calls_leave_no_references_behind() -> None:
    kernel = compile(arm())
    q, u = np.zeros(3), np.zeros(3)
    kernel(0.5, q, u)
    watched = [q, u, np.dtype(np.float64), kernel._call]
    before = [sys.getrefcount(x) for x in watched]
    many = np.zeros((4, 3))
    assert kernel.batch_address
    for _ in range(1000):
        kernel(0.5, q, u)
        kernel(0.5, many, u)
    assert all(abs(sys.getrefcount(x) - b) < 10 for x, b in zip(watched, before, strict=True))


def test_the_call_outlives_the_kernel_it_was_taken_from() -> None:
    call = compile(arm())._call
    gc.collect()
    assert call(0.0, np.zeros(3), np.zeros(3))[1].shape == (3, 2)


def test_kernels_in_a_cycle_are_freed_without_harm() -> None:
    class Holder:
        pass

    gone = []
    for _ in range(5):
        holder = Holder()
        gone.append(weakref.ref(holder))
        holder.kernel = compile(arm())  # pyright: ignore[reportAttributeAccessIssue]
        holder.call = holder.kernel._call  # pyright: ignore[reportAttributeAccessIssue]
        holder.itself = holder  # pyright: ignore[reportAttributeAccessIssue]
        del holder
    gc.collect()
    assert all(reference() is None for reference in gone)
    assert compile(arm())(0.0, np.zeros(3), np.zeros(3))[2] == 0.0


# addresses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_the_flat_function_takes_all_inputs_and_gives_all_outputs_in_order(backend: str) -> None:
    kernel = compile(arm(), backend)
    inputs, out = np.array([0.5, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0]), np.empty(10)
    FLAT(kernel.address)(inputs.ctypes.data, out.ctypes.data)
    efforts, matrix, power = kernel(0.5, inputs[1:4], inputs[4:])
    assert np.array_equal(out, [*efforts, *matrix.ravel(), power])


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_the_batch_function_takes_a_pointer_and_a_stride_per_group(backend: str) -> None:
    kernel = compile(arm(), backend)
    table = np.random.default_rng(12).uniform(-1, 1, (5, 7))
    t, q, u = table[0, :1], table[:, 1:4], table[:, 4:]
    expected = kernel(t, q, u)
    outputs = [np.empty_like(x) for x in expected]
    function = native.BATCH_FUNCTION(kernel.batch_address)
    sources = (ctypes.c_void_p * 4)(t.ctypes.data, q.ctypes.data, None, u.ctypes.data)
    strides = (ctypes.c_int64 * 4)(0, 7, 0, 7)
    targets = (ctypes.c_void_p * 3)(*(x.ctypes.data for x in outputs))
    assert function(5, sources, strides, targets) == 0
    assert all(np.array_equal(a, b) for a, b in zip(outputs, expected, strict=True))
    u[3, 1] = np.inf
    assert function(5, sources, strides, targets) == 1
