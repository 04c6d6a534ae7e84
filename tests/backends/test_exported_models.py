"""Models exported: C and C++ built by plain compiler calls, and SymPy run in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.backends import compile
from kane.backends.symbolic import python_names, to_sympy_text
from kane.cli import main
from kane.graph import Graph, Inputs, Program, lower

EXACT = ("-O2", "-ffp-contract=off")
"""Flags under which C has to do what the interpreter does, operation by operation."""

DIGITS = 1e-13
"""Of SymPy's lambdify, which sums in another order."""

MAIN = """
#include <stdio.h>
#include "step.h"
int main(void)
{
    double in[STEP_INPUTS], out[STEP_OUTPUTS];
    for (int i = 0; i < STEP_INPUTS; i++)
        if (scanf("%lf", &in[i]) != 1) return 1;
    step(in, out);
    for (int i = 0; i < STEP_OUTPUTS; i++) printf("%.17g\\n", out[i]);
    printf("%d %d\\n", WHERE, SIZE);
    return 0;
}
"""


def programs() -> dict[str, tuple[Program, str]]:
    """Every kind of program, with the macro of its last output."""
    arm, cart = kane.load("stanford-arm").equations(), kane.load("cart-pole", free="all").equations()
    return {
        "forward": (arm.program("forward_dynamics"), "udot"),
        "jacobian": (kane.load("double-pendulum").equations().program("jacobian"), "udot_tau"),
        "regressor": (kane.load("double-pendulum").equations().program("regressor"), "Y"),
        "control": (cart.control("balance"), "tau"),
        "constraints": (kane.load("four-bar").equations().program("constraints"), "phi"),
    }


def inputs_of(program: Program) -> np.ndarray:
    return np.random.default_rng(5).uniform(0.2, 0.9, program.input_count)


def interpreted(program: Program, x: np.ndarray) -> np.ndarray:
    """All outputs in their order, by the interpreter."""
    groups = np.split(x, np.cumsum([len(g) for g in program.inputs])[:-1])
    found = compile(program, "interpret")(*(g if len(g) else np.zeros(0) for g in groups))
    return np.concatenate([np.ravel(part) for part in (found if isinstance(found, tuple) else (found,))])


@pytest.mark.parametrize("name", list(programs()))
@pytest.mark.parametrize("compiler", ["cc", "c++"])
def test_exported_code_computes_what_the_interpreter_does_to_the_bit(name: str, compiler: str, tmp_path: Path) -> None:
    program, last = programs()[name]
    header, source = kane.load("pendulum").equations().to_c(program, "step")
    (tmp_path / "step.h").write_text(header)
    (tmp_path / "step.c").write_text(source)
    main_file = tmp_path / ("main.c" if compiler == "cc" else "main.cpp")
    main_file.write_text(MAIN.replace("WHERE", f"STEP_OUT_{last}").replace("SIZE", f"STEP_OUT_{last}_SIZE"))
    subprocess.run(["cc", *EXACT, "-Wall", "-Werror", "-c", "step.c"], cwd=tmp_path, check=True)
    subprocess.run([compiler, *EXACT, "-Wall", "-Werror", main_file.name, "step.o", "-lm"], cwd=tmp_path, check=True)
    x = inputs_of(program)
    given = " ".join(map(repr, x.tolist()))
    said = subprocess.run(["./a.out"], cwd=tmp_path, input=given, capture_output=True, text=True, check=True).stdout
    *numbers, where, size = said.split()
    assert [float(n) for n in numbers] == interpreted(program, x).tolist()
    assert int(where) + int(size) == program.output_count


def test_the_jacobian_is_the_slope_of_the_accelerations() -> None:
    m = kane.load("double-pendulum")
    q, u, tau = np.array([0.3, -0.4]), np.array([0.5, 0.6]), np.array([0.1, -0.2])
    udot, by_q, by_u, by_tau = compile(m.equations().program("jacobian"))(q, u, tau)
    np.testing.assert_allclose(udot, m.forward_dynamics(q, u, tau), rtol=1e-12)
    h = 1e-6
    for found, k in ((by_q, 0), (by_u, 1), (by_tau, 2)):
        states = [q, u, tau]
        for i in range(2):
            up, down = (
                [x + sign * h * (np.arange(2) == i) * (j == k) for j, x in enumerate(states)] for sign in (1, -1)
            )
            slope = (m.forward_dynamics(*up) - m.forward_dynamics(*down)) / (2 * h)
            np.testing.assert_allclose(found[:, i], slope, atol=1e-7)


def test_the_regressor_times_the_parameters_is_the_effort() -> None:
    m = kane.load("double-pendulum")
    q, u, udot = [0.3, -0.4], [0.5, 0.6], [0.7, 0.8]
    exported = compile(m.equations().program("regressor"))(q, u, udot)
    np.testing.assert_allclose(exported, m.regressor(q, u, udot), rtol=1e-12)


RUN = """
import json, sys
space = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), space)
sp = space["sp"]
flat = [x for value in space["outputs"].values() for x in (sp.flatten(value) if hasattr(value, "shape") else [value])]
f = sp.lambdify(list(space["inputs"].values()), flat, cse=lambda _: (space["replacements"], flat))
print(json.dumps([float(x) for x in f(*json.loads(sys.argv[2]))]))
"""


@pytest.mark.parametrize("name", list(programs()))
def test_sympy_text_is_python_that_runs_and_computes_the_same(name: str, tmp_path: Path) -> None:
    program, _ = programs()[name]
    (tmp_path / "exported.py").write_text(to_sympy_text(program))
    x = inputs_of(program)
    command = [sys.executable, "-c", RUN, str(tmp_path / "exported.py"), str(x.tolist())]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    expected = interpreted(program, x)
    np.testing.assert_allclose(np.array(eval(said)), expected, rtol=DIGITS, atol=DIGITS * np.abs(expected).max())


def test_the_shell_writes_python_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "arm.py"
    assert main(["derive", "rolling-disc", "--format", "sympy", "--what", "forward_dynamics", "-o", str(path)]) == 0
    x = inputs_of(kane.load("rolling-disc").equations().program("forward_dynamics"))
    done = subprocess.run([sys.executable, "-c", RUN, str(path), str(x.tolist())], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_of_any_kind_become_names_of_python() -> None:
    assert python_names(["q1'", "pin.x", "lambda", "1st", "q1_dot", "z3"], {"z3"}) == [
        "q1_dot",
        "pin_x",
        "lambda_",
        "_1st",
        "q1_dot_",
        "z3_",
    ]
    g = Graph()
    evil = 'x";abort;"'
    program = lower('a "name"\n\\', [Inputs("x", (evil,))], {"y": ((), [g.input(evil).sin()])})
    space: dict[str, object] = {}
    exec(to_sympy_text(program), space)
    assert "outputs" in space


def test_a_control_law_is_exported_by_name_only() -> None:
    with pytest.raises(kane.KaneError, match="no control law 'balnce': there are balance"):
        kane.load("cart-pole").equations().control("balnce")
    assert main(["derive", "cart-pole", "--what", "control"]) == 0  # the only one
    assert main(["derive", "cart-pole", "--what", "control", "--control", "balnce"]) == 2
    assert main(["derive", "cart-pole", "--control", "balance"]) == 2


def test_places_of_arrays_have_the_names_of_bodies_speeds_and_parameters() -> None:
    m = kane.load("double-pendulum")
    q, u, udot = np.random.default_rng(0).normal(size=(3, 2))

    def values(what: str, *inputs: np.ndarray) -> tuple[dict[str, int], np.ndarray]:
        header, _ = m.equations().to_c(what, name="f")
        places = {name: int(place) for name, place in re.findall(r"#define F_OUT_(\w+) (\d+)\n", header)}
        found = compile(m.equations().program(what), "c")(*inputs)
        return places, np.concatenate([np.ravel(x) for x in (found if isinstance(found, tuple) else (found,))])

    at, poses = values("poses", q)
    R, p = m.at("lower").pose(q)
    first = at["poses_lower"]
    assert poses[first + at["poses_COLUMN_R10"]] == pytest.approx(R[1, 0], rel=1e-14)
    assert poses[first + at["poses_COLUMN_y"]] == pytest.approx(p[1], rel=1e-14)
    at, Y = values("regressor", q, u, udot)
    turning = Y[at["Y_u2"] + at["Y_COLUMN_Izz_lower"]]  # the angular acceleration of the lower link
    assert turning == pytest.approx(udot.sum(), rel=1e-14)
    at, partial = values("partial_velocities", q)
    assert partial[at["angular_lower"] + 2 * at["angular_COLUMNS"] + at["angular_COLUMN_u1"]] == 1.0
    at, M = values("mass_matrix", q)
    assert M[at["M_u1"] + at["M_COLUMN_u2"]] == pytest.approx(m.mass_matrix(q)[0, 1], rel=1e-14)
