"""A pendulum described in Python: its equation, its motion, and its period beside the exact one."""

import argparse

import numpy as np
from scipy.special import ellipk

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the motion")
arguments = parser.parse_args()

m = kane.Model("pendulum", gravity=[0, "-g", 0])
m.parameter("g", 9.81)
m.parameter("L", 0.8)
m.body("bob", mass=0.3, center=[0, "-L", 0])
m.joint("pivot", "revolute", "ground", "bob", axis="z", coordinates=["q"], speeds=["u"])

print(m)
print(m.equations().program("forward_dynamics"))

amplitude = 2.0  # rad; far from small
trajectory = m.simulate(
    (0, 10), q=[amplitude], rtol=1e-10, atol=1e-12, events={"lowest point": {"expression": "q", "direction": -1}}
)
crossings = trajectory.events[0].t
period = np.diff(crossings).mean()
exact = 4 * np.sqrt(0.8 / 9.81) * ellipk(np.sin(amplitude / 2) ** 2)
print(f"period {period:.9f} s, exact {exact:.9f} s")
assert abs(period - exact) < 1e-7

if arguments.plot:
    trajectory.plot(arguments.plot)
