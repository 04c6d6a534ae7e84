"""Programs written for others to read or compile: C, SymPy and LaTeX say what the interpreter computes."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from backends.programs import arm, edge_inputs, one_operation
from kane.backends import compile, to_c, to_latex, to_sympy
from kane.backends.symbolic import latex_name
from kane.errors import KaneError
from kane.graph import Graph, Inputs, Program, lower
from kane.graph.ops import TABLE

RELATIVE = 1e-13
"""For programs of some tens of well-conditioned operations."""

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1")


def built(folder: Path, name: str, header: str, source: str) -> ctypes.CDLL:
    """The library that the system's compiler makes of the pair, with every warning an error."""
    compiler = shutil.which("cc")
    assert compiler is not None, "these tests need a C compiler called cc"
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    target = folder / f"{name}.so"
    command = [compiler, *STRICT, "-fPIC", "-shared", "-o", str(target), str(folder / f"{name}.c"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(target))


def everything() -> Program:
    """One program with every operation, on three inputs between 0.1 and 0.9."""
    g = Graph()
    x, y, z = (g.input(n) for n in "xyz")
    values = [g.expr(g.build(op, *(e.id for e in (x, y, z)[: TABLE[op].arity]))) for op in TABLE]
    return lower("all operations", [Inputs("x", ("x", "y", "z"))], {"values": ((len(values),), values)}, simplify=False)


def test_the_exported_c_compiles_strictly_and_computes_the_same(tmp_path: Path) -> None:
    header, source = to_c(arm(), "arm_step")
    library = built(tmp_path, "arm_step", header, source)
    inputs, out = np.array([0.5, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0]), np.empty(10)
    library.arm_step(inputs.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
    efforts, matrix, power = compile(arm(), "interpret")(0.5, inputs[1:4], inputs[4:])
    np.testing.assert_allclose(out, [*efforts, *matrix.ravel(), power], rtol=RELATIVE)


def test_every_operation_compiles_strictly(tmp_path: Path) -> None:
    header, source = to_c(everything(), "all_of_them")
    library = built(tmp_path, "all_of_them", header, source)
    x, out = np.array([0.3, 0.7, 0.2]), np.empty(len(TABLE))
    library.all_of_them(x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_allclose(out, compile(everything(), "interpret")(x), rtol=RELATIVE)


def test_the_header_says_which_element_is_which() -> None:
    header, source = to_c(arm())
    assert "[4] u: u0" in header
    assert "[5] matrix: matrix[1, 0]" in header
    assert "#define ARM_INPUTS 7" in header
    assert "#define ARM_OUTPUTS 10" in header
    assert '#include "arm.h"' in source


def test_labels_and_notes_cannot_break_out_of_their_comments(tmp_path: Path) -> None:
    g = Graph()
    x = g.input("x*/abort;/*")
    y = x.sin()
    g.note([y], "ends here */ int\nx = 1; // \\")
    program = lower("evil */ name", [Inputs("x", ("x*/abort;/*",))], {"y": ((), [y])})
    header, source = to_c(program, "harmless")
    library = built(tmp_path, "harmless", header, source)
    value, out = ctypes.c_double(0.5), ctypes.c_double()
    library.harmless(ctypes.byref(value), ctypes.byref(out))
    assert out.value == pytest.approx(np.sin(0.5))


@pytest.mark.parametrize(
    ("name", "function"),
    [("6-dof arm", "program_6_dof_arm"), ("sin", "program_sin"), ("pow", "program_pow"), ("Ω", "program")],
)
def test_a_function_name_is_made_from_any_program_name(name: str, function: str) -> None:
    g = Graph()
    header, _ = to_c(lower(name, [Inputs("x", ("x",))], {"y": ((), [g.input("x") * 2.0])}))
    assert f"void {function}(const double *in, double *out);" in header


@pytest.mark.parametrize("name", ["two words", "1st", "double", "x;y", ""])
def test_a_name_that_c_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(KaneError, match="cannot name a function in C"):
        to_c(arm(), name)


@pytest.mark.parametrize("name", ["random", "index", "time", "pow", "read"])
def test_a_program_called_like_a_function_of_the_c_library_computes_what_it_says(name: str) -> None:
    g = Graph()
    program = lower(name, [Inputs("x", ("x",))], {"y": ((), [g.input("x") * 2.0])})
    assert compile(program, "c")([1.5]) == 3.0


def test_without_a_compiler_the_c_backend_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(KaneError, match=r"needs a C compiler and found none(.|\n)*backend='llvm'"):
        compile(arm(), "c")


@pytest.mark.parametrize("op", TABLE)
def test_sympy_means_the_same_by_every_operation(op: str) -> None:
    program = one_operation(op)
    exported = to_sympy(program)
    moderate = [row for row in edge_inputs(op) if np.all(np.abs(row) < 1e8) and np.all(np.abs(row) > 0.1)]
    for row in moderate[:40]:
        expected = TABLE[op].value(*row.tolist())
        if np.isfinite(expected):
            values = dict(zip(exported.symbols.values(), row.tolist(), strict=True))
            assert float(exported.inline()["value"].subs(values)) == pytest.approx(expected, rel=RELATIVE), op


def test_sympy_has_symbols_replacements_and_outputs_of_the_programs_shapes() -> None:
    exported = to_sympy(arm())
    assert list(exported.symbols) == ["t", "q0", "q1", "q2", "u0", "u1", "u2"]
    assert len(exported.replacements) == len(arm().rows)
    assert exported.outputs["matrix"].shape == (3, 2)
    values = dict(zip(exported.symbols.values(), [0.5, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0], strict=True))
    _, matrix, power = compile(arm(), "interpret")(0.5, [0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    inlined = exported.inline()
    np.testing.assert_allclose(np.array(inlined["matrix"].subs(values).tolist(), float), matrix, rtol=RELATIVE)
    assert float(inlined["power"].subs(values)) == pytest.approx(float(power), rel=RELATIVE)


def test_an_input_called_like_a_row_stays_apart_from_it() -> None:
    g = Graph()
    z1, x = g.input("z1"), g.input("x")
    exported = to_sympy(lower("names", [Inputs("x", ("z1", "x"))], {"y": ((), [x.sin() + z1])}))
    value = exported.inline()["y"].subs({exported.symbols["z1"]: 2.0, exported.symbols["x"]: 0.5})
    assert float(value) == pytest.approx(2.0 + np.sin(0.5))


def test_small_systems_are_printed_as_equations_and_long_ones_as_the_z_list() -> None:
    g = Graph()
    q1, u1 = g.input("q1"), g.input("u1")
    pendulum = lower("pendulum", [Inputs("x", ("q1", "u1"))], {"udot": ((1,), [-9.81 * q1.sin() - 0.5 * (u1 * u1)])})
    assert r"\dot{u}_{1} &= -9.81 \, \sin\left(q_{1}\right) - 0.5 \, u_{1}^{2}" in to_latex(pendulum)
    listed = to_latex(pendulum, inline=False)
    assert listed.count("&=") == len(pendulum.rows) + 1
    assert f"Z_{{{len(pendulum.rows)}}} &=" in listed


@pytest.mark.parametrize("op", TABLE)
@pytest.mark.parametrize("inline", [True, False])
def test_latex_is_balanced_for_every_operation(op: str, inline: bool) -> None:
    text = to_latex(one_operation(op), inline=inline)
    assert text.count("{") == text.count("}")
    assert text.count(r"\left") == text.count(r"\right")
    assert text.startswith("\\begin{align*}\n")
    assert text.endswith("\\end{align*}\n")


class Function:
    """A function of LaTeX, whose power stands behind its name."""

    def __init__(self, value: Callable[[float], float], n: int = 1):
        self.value, self.n = value, n

    def __pow__(self, n: int) -> Function:
        return Function(self.value, n)

    def __call__(self, x: float) -> float:
        return self.value(x) ** self.n


def read_latex(text: str, values: dict[str, float]) -> float:
    """The value of the right side of an equation."""
    known: dict[str, Any] = {"sin": Function(math.sin), "cos": Function(math.cos)}
    for k, name in enumerate(sorted(values, key=lambda n: -len(latex_name(n)))):
        text = re.sub(rf"(?<![A-Za-z\\_]){re.escape(latex_name(name))}(?![A-Za-z_])", f"X{k}X", text)
        known[f"X{k}X"] = values[name]
    text = text.replace(r"\left", "").replace(r"\right", "").replace(r"\,", "*").replace(r"\cdot", "*")
    text = re.sub(r"\\(sin|cos)\^\{(\d)\}", r"(\1**\2)", text)
    text = re.sub(r"\^\{(-?\d+)\}", r"**(\1)", re.sub(r"\\(sin|cos)", r"\1", text))
    while "frac" in text:
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
    return eval(text, {"__builtins__": {}}, known)


@pytest.mark.parametrize("model", ["cart-pole", "pendulum", "double-pendulum"])
@pytest.mark.parametrize("what", ["forward_dynamics", "inverse_dynamics", "generalized_inertia_forces", "energy"])
def test_latex_read_back_has_the_values_of_the_program(model: str, what: str) -> None:
    m = kane.load(model)
    e = m.equations()
    program = e.program(what)
    lines = e.to_latex(what, digits=16, inline=True).split("\n")[1:-2]
    labels = [label for g in program.inputs for label in g.labels]
    state = np.random.default_rng(3).uniform(0.2, 2.0, len(labels))
    values = dict(zip(labels, state.tolist(), strict=True))
    groups = np.split(state, np.cumsum([len(g) for g in program.inputs])[:-1])
    found = compile(program, "interpret")(*(g for g in groups if len(g)))
    exact = np.concatenate([np.ravel(x) for x in (found if isinstance(found, tuple) else (found,))])
    right = [line.removesuffix(r" \\").partition("&=")[2] for line in lines]
    assert [read_latex(text, values) for text in right] == pytest.approx(exact.tolist(), rel=1e-12)


def test_latex_names_outputs_by_the_speeds_and_has_products_in_the_order_of_a_textbook() -> None:
    """u = q̇ is the second speed of this model, v = ẋ its first; F* of Kane has a star, r below."""
    e = kane.load("cart-pole").equations()
    lefts = {
        "forward_dynamics": [r"\dot{v}", r"\dot{u}"],
        "inverse_dynamics": [r"\tau_{v}", r"\tau_{u}"],
        "kinematics": [r"\dot{x}", r"\dot{q}"],
        "generalized_inertia_forces": ["F_{1}^{*}", "F_{2}^{*}"],
    }
    for what, expected in lefts.items():
        assert [line.partition(" &=")[0] for line in e.to_latex(what).split("\n")[1:-2]] == expected
    g = Graph()
    l, q, u = g.input("l"), g.input("q"), g.input("u")
    groups = [Inputs("q", ("q",)), Inputs("u", ("u",)), Inputs("parameters", ("l",))]
    cases = {
        r"0.05 \, l^{2} \, \sin\left(q\right) \, u^{2}": u * l * q.sin() * 0.05 * u * l,
        r"-0.5 \, \cos^{2}\left(q\right) \, u": q.cos() * (-(u * 0.5)) * q.cos(),
        r"\frac{3 \, u}{l + q}": u * (1.0 / (l + q)) * 3.0,
    }
    for text, expression in cases.items():
        program = lower("products", groups, {"y": ((), [expression])}, simplify=False)
        assert to_latex(program, inline=True) == f"\\begin{{align*}}\ny &= {text}\n\\end{{align*}}\n"


def test_brackets_are_where_the_meaning_needs_them() -> None:
    g = Graph()
    a, b, c = (g.input(n) for n in "abc")
    cases = {
        r"a - \left(b - c\right)": (a - (b - c)),
        r"a \, \left(b + c\right)": a * (b + c),
        r"\left(a + b\right)^{2}": (a + b) * (a + b),
        r"\frac{a + b}{c}": (a + b) / c,
        r"\sqrt{a + b}": (a + b).sqrt(),
        r"a - \left(c - 2 \, b\right)": a - (-2.0 * b + c),
    }
    for text, expression in cases.items():
        program = lower("brackets", [Inputs("x", ("a", "b", "c"))], {"y": ((), [expression])}, simplify=False)
        assert to_latex(program) == f"\\begin{{align*}}\ny &= {text}\n\\end{{align*}}\n"


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("q1", "q_{1}"),
        ("theta", r"\theta"),
        ("omega_x", r"\omega_{x}"),
        ("udot2", r"\dot{u}_{2}"),
        ("q1'", r"\dot{q}_{1}"),
        ("phi_a''", r"\ddot{\phi}_{a}"),
        ("yaw'", r"\mathrm{yaw}'"),
        ("wheel_2'", r"\mathrm{wheel}_{2}'"),
        ("yawdot", r"\mathrm{yaw}'"),
        ("m_rod", r"m_{\mathrm{rod}}"),
        ("mass", r"\mathrm{mass}"),
        ("rod.q", r"\mathrm{rod.q}"),
        ("50%_{x}", r"\mathrm{50\%\_\{x\}}"),
    ],
)
def test_labels_become_symbols(label: str, shown: str) -> None:
    assert latex_name(label) == shown


def test_places_of_matrices_are_those_of_the_program_whatever_speeds_are_called() -> None:
    """The derivative by u is called udot_u, and so would be the element of udot along a speed u."""
    e = kane.load("cart-pole").equations()
    header, _ = e.to_c("jacobian", name="cart")
    macros = {name: int(number) for name, number in re.findall(r"#define CART_OUT_(\w+) (\d+)", header)}
    assert header.count("#define CART_OUT_udot_u ") == 1
    place = 0
    for output in e.program("jacobian").outputs:
        assert macros[output.name] == place and macros[f"{output.name}_SIZE"] == len(output.slots)
        assert macros.get(f"{output.name}_COLUMNS") == (output.shape[1] if len(output.shape) > 1 else None)
        place += len(output.slots)
    assert macros["udot_v"] == 0
