"""Efforts of the Stanford arm along a cycloidal motion: Fig. 1 of Kane & Levinson (1983)."""

import argparse

import numpy as np

import kane
from kane.report import cycloid

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw Fig. 1")
arguments = parser.parse_args()

arm = kane.load("stanford-arm")
target = {"q1": np.pi / 3, "q2": np.pi / 3, "q3": np.pi / 3, "q4": np.pi / 3, "q5": np.pi / 3, "q6": 0.1}
motion = cycloid(arm, target, duration=10.0, samples=201)
tau = arm.inverse_dynamics(motion.q, motion.u, motion.udot)

# The paper's torques 2 to 5 and its force act from the outer body on the inner one: minus the efforts along the speeds.
names, signs = ("τ₁", "τ₂", "τ₃", "τ₄", "τ₅", "σ"), np.array([1, -1, -1, -1, -1, -1])
print("t (s)   " + "".join(f"{n:>12}" for n in names))
for k in range(0, 201, 40):
    print(f"{motion.t[k]:5.1f}   " + "".join(f"{x:12.5f}" for x in tau[k] * signs))

if arguments.plot:
    from kane.viewer import plots

    figure = plots.efforts(
        arm.mechanism, motion.t, tau, labels=names, signs=signs, title="Control torques and control force"
    )
    plots.save(figure, arguments.plot)
