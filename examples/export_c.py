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

int main(void) {
    double x[CART_INPUTS] = {0}, state[BALANCE_INPUTS], rates[CART_OUTPUTS];
    x[CART_IN_q_q] = 0.1; /* the pole leans: coordinate q */
    for (int step = 0; step < 2000; step++) { /* two seconds, by the method of Euler and Cromer */
        for (int i = 0; i < BALANCE_INPUTS; i++) state[i] = x[i]; /* x, q, v, u */
        balance(state, x + CART_IN_tau);
        cart(x, rates);
        for (int i = 0; i < CART_OUT_udot_SIZE; i++) x[CART_IN_u + i] += 1e-3 * rates[CART_OUT_udot + i];
        for (int i = 0; i < CART_IN_u_SIZE; i++) x[i] += 1e-3 * x[CART_IN_u + i];
    }
    for (int i = 0; i < CART_IN_tau; i++) printf("%.17g ", x[i]);
    return 0;
}
"""
CALLS = {"cc": ["cc -O2 main.c cart.c balance.c -o run -lm"]}
CALLS["c++"] = ["cc -O2 -c cart.c balance.c", "c++ -O2 main.cpp cart.o balance.o -o run -lm"]  # by the same headers

equations = (model := kane.load("cart-pole")).equations()
programs = {"cart": equations.program("forward_dynamics"), "balance": equations.control("balance")}
law, q, u = compile(programs["balance"]), np.array([0.0, 0.1]), np.zeros(2)  # the same in Python
for _ in range(2000):
    u = u + 1e-3 * model.forward_dynamics(q, u, law(q, u))
    q = q + 1e-3 * u
print(f"Python: the pole leans by {q[1]:.6e} rad after 2 s")

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(arguments.folder or temporary)
    texts = {"main.c": MAIN, "main.cpp": MAIN}
    for name, program in programs.items():
        texts[f"{name}.h"], texts[f"{name}.c"] = equations.to_c(program, name)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for compiler in (c for c in CALLS if shutil.which(c)):
        for line in CALLS[compiler]:
            subprocess.run(line.split(), cwd=folder, check=True)
        found = np.array(subprocess.check_output([folder / "run"]).split(), dtype=float)
        print(*CALLS[compiler], f"the pole leans by {found[1]:.6e} rad after 2 s", sep="\n")
        assert np.abs(found - [*q, *u]).max() < 1e-12
