"""The Stanford arm under feedback: Fig. 3 of Kane & Levinson (1983), and the checks that the paper makes."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw Fig. 3")
arguments = parser.parse_args()

arm = kane.load("stanford-arm")
t = np.linspace(0, 10, 101)
trajectory = arm.simulate(t, control="feedback", rtol=1e-11, atol=1e-13)
print(trajectory.outcome)
print("q at the end:", np.round(trajectory.q[-1], 4))

# Without the torque at the waist nothing turns the arm about the vertical: H·n2 stays what it was, zero.
free = arm.simulate(t, control="feedback-free-base", rtol=1e-11, atol=1e-13)
vertical = arm.momentum(free.q, free.u).angular[:, 1]
print(f"H·n2 stays below {np.abs(vertical).max():.0e} kg m²/s")
assert np.abs(vertical).max() < 1e-9

# The circle: inverse dynamics along the simulated motion gives the efforts of the control law.
given_back = arm.inverse_dynamics(trajectory.q, trajectory.u, trajectory.acceleration())
print(f"efforts given back within {np.abs(given_back - trajectory.tau).max():.0e} N m")
assert np.abs(given_back - trajectory.tau).max() < 1e-9

if arguments.plot:
    from kane.viewer import plots

    targets = {f"q{i}": np.pi / 3 for i in range(1, 6)} | {"q6": 0.1}
    plots.save(plots.motion(arm.mechanism, trajectory.t, trajectory.q, targets=targets), arguments.plot)
