"""A straight line with the arm of Thomas & Tesar: example 2 of Angeles, Ma & Rojas (1989), joint angles and efforts."""

import argparse

import numpy as np

import kane
from kane.planning import InverseKinematics, Line, Turn, travel

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw Figs. 7 and 8: joint trajectories and driving torques")
arguments = parser.parse_args()

# The wrist is not spherical: the joint angles along the line have to be found numerically. The orientation is that of
# the table's start angles, kept all the way; y goes from 0 to 0.5 m within 1 s, at rest at both ends.
arm = kane.load("thomas-tesar-arm")
start, _ = arm.initial_state
R, _ = arm.at("link6").pose(start)
line = Line((1.33, 0.0, 1.80), (1.33, 0.5, 1.80), Turn(tuple(map(tuple, R.tolist()))))
motion = travel(line, law="3-4-5", duration=1.0)

t = np.linspace(0.0, motion.duration, 201)
frame = motion.at(t)
search = InverseKinematics(arm, "link6")
path = search.follow(frame.poses, start)
u, udot = search.rates(path.q, frame.twist, frame.twist_rate)
tau = np.round(arm.inverse_dynamics(path.q, u, udot), 9) + 0.0  # link 6 needs none but for rounding

print(path)
print(" t (s)    y (m)" + "".join(f"{f'q{i} (deg)':>11}" for i in range(1, 7)))
for k in range(0, 201, 40):
    print(f"{t[k]:6.2f} {frame.p[k, 1]:8.4f}" + "".join(f"{x:11.3f}" for x in np.rad2deg(path.q[k]).round(9) + 0.0))
print(" t (s)" + " " * 9 + "".join(f"{f'τ{i} (N m)':>11}" for i in range(1, 7)))
for k in range(0, 201, 40):
    print(f"{t[k]:6.2f}" + " " * 9 + "".join(f"{x:11.3f}" for x in tau[k]))

if arguments.plot:
    from kane.viewer.plots import Panel, panels, save

    shown = [Panel(f"$q_{i + 1}$", path.q[:, i], "rad") for i in range(6)]
    shown += [Panel(f"$\\tau_{i + 1}$", tau[:, i], "N m") for i in range(6)]
    save(panels(t, shown, "Thomas & Tesar's arm along a straight line"), arguments.plot)
