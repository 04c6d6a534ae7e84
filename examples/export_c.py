"""A cart that balances a pole, in C and in C++: dynamics and control law exported, built by a plain call, compared."""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import kane
from kane.backends import compile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--folder", help="write the files here and keep them")
arguments = parser.parse_args()

MAIN = """
#include <stdio.h>

#include "cart.h"
#include "balance.h"

int main(void)
{
    double x[CART_INPUTS] = {0}, state[BALANCE_INPUTS] = {0}, efforts[BALANCE_OUTPUTS], rates[CART_OUTPUTS];
    const double h = 1e-3;
    x[CART_IN_q_q] = 0.1; /* the pole leans: coordinate q */
    for (int step = 0; step < 2000; step++) { /* two seconds, by the method of Euler and Cromer */
        for (int i = 0; i < CART_IN_tau; i++)
            state[i] = x[i]; /* x, q, v, u */
        balance(state, efforts);
        for (int i = 0; i < CART_IN_tau_SIZE; i++)
            x[CART_IN_tau + i] = efforts[BALANCE_OUT_tau + i];
        cart(x, rates);
        for (int i = 0; i < CART_OUT_udot_SIZE; i++)
            x[CART_IN_u + i] += h * rates[CART_OUT_udot + i];
        for (int i = 0; i < CART_IN_u_SIZE; i++)
            x[i] += h * x[CART_IN_u + i];
    }
    for (int i = 0; i < CART_IN_tau; i++)
        printf("%.17g ", x[i]);
    printf("\\n");
    return 0;
}
"""
# What is exported is C; C++ calls it through the same headers.
CALLS = {
    "cc": "cc -O2 main.c cart.c balance.c -o run -lm",
    "c++": "cc -O2 -c cart.c balance.c\nc++ -O2 main.cpp cart.o balance.o -o run -lm",
}

model = kane.load("cart-pole")
equations = model.equations()
programs = {"cart": equations.program("forward_dynamics"), "balance": equations.control("balance")}

law = compile(programs["balance"])  # the same in Python
q, u = np.array([0.0, 0.1]), np.zeros(2)
for _ in range(2000):
    u = u + 1e-3 * model.forward_dynamics(q, u, law(q, u))
    q = q + 1e-3 * u
print(f"Python: the pole leans by {q[1]:.2e} rad after 2 s")

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(arguments.folder or temporary)
    for name, program in programs.items():
        header, source = equations.to_c(program, name)
        (folder / f"{name}.h").write_text(header, encoding="utf-8")
        (folder / f"{name}.c").write_text(source, encoding="utf-8")
    for main in ("main.c", "main.cpp"):
        (folder / main).write_text(MAIN, encoding="utf-8")
    for compiler, call in CALLS.items():
        if shutil.which(compiler) is None or shutil.which("cc") is None:
            print(f"there is no {compiler} here; the files are complete")
            continue
        for line in call.splitlines():
            print(f"  {line}")
            subprocess.run(line.split(), cwd=folder, check=True)
        said = subprocess.run(["./run"], cwd=folder, capture_output=True, text=True, check=True).stdout
        found = np.array(said.split(), dtype=float)
        print(f"{compiler}: the pole leans by {found[1]:.2e} rad after 2 s")
        assert np.abs(found - [*q, *u]).max() < 1e-12
