"""A four-bar through its flat position again and again: with one degree of freedom more there, and nothing tuned."""

import argparse

import numpy as np
from scipy.integrate import solve_ivp

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--plot", metavar="FILE", help="draw the rate of the crank, the loop's gap and the change of energy"
)
arguments = parser.parse_args()

m = kane.load("parallelogram")
print(m)
print("at the start:", m.freedom())
print("flat:        ", m.freedom([0.0, 0.0, 0.0]))

run = m.simulate((0, 10), rtol=1e-10, atol=1e-12, events={"flat": {"expression": "sin(crank)"}})
gap = np.linalg.norm(m.constraint_rows(run.q, run.u).phi[:, :3], axis=1)
energy = run.energy().kinetic + run.energy().potential
print(f"{len(run.events[0].t)} times flat in 10 s, gap at most {gap.max():.0e} m, energy {energy[0]:.3f} J")
print(f"energy stays within {np.ptp(energy) / energy[0]:.0e} of itself")
assert gap.max() < 1e-11
assert np.ptp(energy) < 1e-9 * energy[0]

# Crank and rocker turn alike and carry the coupler without turning it: one pendulum.
a, b, rho, g = (m.parameters[name].value for name in ("a", "b", "rho", "g"))
inertia, weight = rho * (2 * a**3 / 3 + b * a**2), g * rho * (a * a + a * b)
start = [run.q[0, 0], run.u[0, 0]]
pendulum = solve_ivp(
    lambda t, y: [y[1], -weight / inertia * np.cos(y[0])], (0, 10), start, method="DOP853", rtol=1e-13, atol=1e-13
)
print(f"crank {run.q[-1, 0]:.7f} rad at the end, the pendulum {pendulum.y[0, -1]:.7f} rad")
assert abs(run.q[-1, 0] - pendulum.y[0, -1]) < 1e-6

if arguments.plot:
    from kane.viewer import plots

    shown = [
        plots.Panel("rate of the crank", run.u[:, 0], "rad/s"),
        plots.Panel("gap of the loop", gap, "m"),
        plots.Panel("energy, change", energy - energy[0], "J"),
    ]
    plots.save(plots.panels(run.t, shown, title="A parallelogram through its flat position"), arguments.plot)
