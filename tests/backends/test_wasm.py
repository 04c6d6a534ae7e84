"""WebAssembly modules of programs compute what the interpreter does, and functions of the host's Math are accurate."""

from __future__ import annotations

import base64
import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import kane
import node
from backends.programs import EXACT, edge_inputs, one_operation
from kane.backends import compile
from kane.backends.interpret import InterpretedCode
from kane.backends.llvm.machine import host
from kane.backends.wasm import LIBRARY, compile_wasm, link
from kane.errors import KaneError
from kane.graph import Graph, Inputs, Program, lower

ULPS = 2.5
"""Of sine and cosine, also where this machine does not fuse: two roundings of the reduction, one of the polynomial."""

LIBRARY_ULPS = 2.0
"""Of V8's functions, which are those of fdlibm, below one each, and the rounding of what they are compared with."""

RUN = """
import { readFileSync } from "node:fs";
const { code, inputs, outputs } = JSON.parse(readFileSync(process.argv[2]));
const memory = new WebAssembly.Memory({ initial: 64 });
const env = {
  __linear_memory: memory,
  __indirect_function_table: new WebAssembly.Table({ element: "anyfunc", initial: 1 }),
  __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, 1 << 21),
  exp2: (x) => 2 ** x,
};
for (const f of ["sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "pow"]) env[f] = Math[f];
const { instance } = await WebAssembly.instantiate(Buffer.from(code, "base64"), { env });
const all = [];
for (const row of inputs) {
  new Float64Array(memory.buffer, 1 << 21, row.length).set(row);
  const out = (1 << 21) + 8 * row.length;
  instance.exports.flat(1 << 21, out, 0n);
  all.push(Array.from(new BigUint64Array(memory.buffer, out, outputs), (x) => x.toString()));
}
console.log(JSON.stringify(all));
"""


def run_module(program: Program, inputs: np.ndarray, folder: Path) -> np.ndarray:
    """Outputs (k, outputs) of rows of inputs, by Node."""
    script, data = folder / "run.mjs", folder / "data.json"
    script.write_text(RUN)
    code = base64.b64encode(compile_wasm(program).code).decode()
    data.write_text(json.dumps({"code": code, "inputs": inputs.tolist(), "outputs": program.output_count}))
    rows = json.loads(node.run(script, data))
    return np.array([[int(x) for x in row] for row in rows], dtype=np.uint64).view(np.float64)


def one_row(op: str, arity: int) -> Program:
    g = Graph()
    names = tuple("xy"[:arity])
    xs = [g.input(n) for n in names]
    made = xs[0] ** 0.37 if op == "pow" else getattr(xs[0], op)(*xs[1:])
    return lower(op, [Inputs("x", names)], {"y": ((1,), [made])})


def fusion_cases() -> np.ndarray:
    """x, y, z of all sizes, z that cancels the product to its last digits, ties, products next to half a unit of z, and
    what is too large or too small."""
    rng = np.random.default_rng(11)
    x, y, z = (
        rng.uniform(1, 2, 3000) * np.exp2(rng.integers(-40, 40, 3000)) * rng.choice([-1, 1], 3000) for _ in "xyz"
    )
    z[::3] = -(x[::3] * y[::3]) * (1 + rng.integers(-3, 4, 1000) * 2.0**-52)
    z[1::5] = np.round(z[1::5] * 4) / 4
    x[2::7], y[2::7] = np.round(x[2::7]), np.round(y[2::7]) + 2.0**-30
    odd = [(0.0, 3.0, 4.0), (-0.0, 1.0, -0.0), (1e200, 1e200, 1.0), (1e308, 1.0, 1e292), (1e-200, 1e-200, 1.0)]
    near = rng.uniform(1, 2, 3000)
    half = np.stack([near, rng.choice([-1, 1], 3000) / near, rng.integers(2**52, 2**53, 3000) * 2.0], axis=1)
    half[::2, 2] = 2.0 ** rng.integers(50, 58, 1500)  # below which a unit is half as large
    return np.concatenate([np.stack([x, y, z], axis=1), half, odd])


@pytest.mark.skipif(not host().fma, reason="this processor rounds products and sums one by one, and so do pages")
def test_products_and_sums_are_rounded_once(tmp_path: Path) -> None:
    g = Graph()
    x, y, z = (g.input(name) for name in "xyz")
    program = lower("fused", [Inputs("v", ("x", "y", "z"))], {"r": ((1,), [x * y + z])})
    cases = fusion_cases()
    found = run_module(program, cases, tmp_path)[:, 0]
    assert found.tobytes() == compile(program)(cases)[:, 0].tobytes(), "as natively"
    for (a, b, c), value in zip(cases.tolist(), found.tolist(), strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if abs(exact) < 2**1000:
            assert value == float(exact)


def test_sine_and_cosine_are_accurate(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    near = np.pi / 2 * np.arange(1, 400)
    x = np.concatenate(
        [rng.uniform(-10, 10, 400), near, np.nextafter(near, 0), rng.uniform(-1e6, 1e6, 300), [1e9, -3e12]]
    )
    for op, exact in (("sin", mpmath.sin), ("cos", mpmath.cos)):
        found = run_module(one_row(op, 1), x[:, None], tmp_path)[:, 0]
        with mpmath.workdps(60):
            errors = [abs(mpmath.mpf(float(f)) - exact(mpmath.mpf(float(v)))) for f, v in zip(found, x, strict=True)]
            ulps = [float(e / math.ulp(f)) for e, f in zip(errors, found, strict=True)]
        assert max(ulps) <= ULPS


@pytest.mark.parametrize(
    ("op", "low", "high"),
    [("tan", -1.5, 1.5), ("asin", -1, 1), ("acos", -1, 1), ("exp", -30, 30), ("log", 1e-6, 50), ("pow", 1e-6, 40)],
)
def test_functions_of_the_host_are_accurate(op: str, low: float, high: float, tmp_path: Path) -> None:
    x = np.random.default_rng(5).uniform(low, high, 500)
    found = run_module(one_row(op, 1), x[:, None], tmp_path)[:, 0]
    exact = {"pow": lambda v: mpmath.power(v, mpmath.mpf(0.37))}.get(op) or getattr(mpmath, op)
    with mpmath.workdps(40):
        ulps = [
            float(abs(mpmath.mpf(float(f)) - exact(mpmath.mpf(float(v)))) / math.ulp(f))
            for f, v in zip(found, x, strict=True)
        ]
    assert max(ulps) <= LIBRARY_ULPS


def test_every_function_that_programs_may_call_is_given(tmp_path: Path) -> None:
    assert {"sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "pow"} <= set(LIBRARY)
    x = np.random.default_rng(7).uniform(-2, 2, (200, 2))
    found = run_module(one_row("atan2", 2), x, tmp_path)[:, 0]
    assert np.abs(found - np.arctan2(x[:, 0], x[:, 1])).max() <= 1e-15


@pytest.mark.parametrize("op", EXACT)
def test_exact_operations_give_the_bits_of_the_interpreter(op: str, tmp_path: Path) -> None:
    program, x = one_operation(op), edge_inputs(op)
    exact = np.array([InterpretedCode(program).evaluate_sample(row.tolist())[0] for row in x])
    found = run_module(program, x, tmp_path)[:, 0]
    assert np.array_equal(found, exact, equal_nan=True)
    told = ~np.isnan(exact)
    assert np.array_equal(np.signbit(found[told]), np.signbit(exact[told]))


@pytest.mark.parametrize("name", ["puma-560", "stewart-platform", "whipple-bicycle"])
def test_long_programs_agree_with_native_ones(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    program = m.equations().program("inverse_dynamics")
    rng = np.random.default_rng(11)
    groups = [rng.uniform(-1, 1, (20, len(g))) for g in program.inputs]
    exact = compile(program)(*groups)
    found = run_module(program, np.concatenate(groups, axis=1), tmp_path)
    assert np.abs(found - exact).max() <= 1e-13 * np.abs(exact).max()  # some hundred roundings


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(KaneError, match="no WebAssembly object"):
        link(b"\x7fELF0000", ("flat",))
