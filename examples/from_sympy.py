"""An existing SymPy script at machine speed: a pendulum of four links on a cart, as SymPy ships it."""

from time import perf_counter

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics.models import n_link_pendulum_on_cart

import kane

method = n_link_pendulum_on_cart(4, cart_force=False)
q, u = method.q.flat(), method.u.flat()
values = {s: 1.0 for s in method.mass_matrix.free_symbols | method.forcing.free_symbols if s.name != "t"}
values[sp.Symbol("g")] = 9.81
q0, u0 = np.full(5, 0.1), np.zeros(5)

start = perf_counter()
matrices = [m.xreplace(values) for m in (method.mass_matrix_full, method.forcing_full)]
evaluate = sp.lambdify([q, u], matrices, cse=True)
print(f"lambdify              {perf_counter() - start:8.3f} s")


def rates(t: float, x: np.ndarray) -> np.ndarray:
    """The time derivative of x = [q, u]."""
    M, f = evaluate(x[:5], x[5:])
    return np.linalg.solve(M, f).ravel()


start = perf_counter()
before = solve_ivp(rates, (0, 2), [*q0, *u0], method="DOP853", rtol=1e-10, atol=1e-12)
print(f"scipy, 2 s of motion  {perf_counter() - start:8.3f} s")

start = perf_counter()
model = kane.from_sympy(method, values=values)
model.forward_dynamics(q0, u0, 0 * u0)
print(f"from_sympy, compiled  {perf_counter() - start:8.3f} s")

after = model.simulate((0, 2), q=q0, u=u0, rtol=1e-10, atol=1e-12)
start = perf_counter()
after = model.simulate((0, 2), q=q0, u=u0, rtol=1e-10, atol=1e-12)
print(f"kane, 2 s of motion   {perf_counter() - start:8.3f} s")

difference = np.abs(after.q[-1] - before.y[:5, -1]).max()
print(f"the two end {difference:.0e} rad or m apart")
assert difference < 1e-6
