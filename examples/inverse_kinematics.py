"""Inverse kinematics of a UR5: one pose, all the poses of a circle, and what a target out of reach is answered."""

import numpy as np

import kane
from kane.planning import Circle, FrameLimits, InverseKinematics, Turn, travel

arm = kane.load("ur5")
search = InverseKinematics(arm, "flange")

# One pose: the tool points down (a turn by 180° about x), 0.3 m above the table.
down = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
target = np.concatenate([np.ravel(down), [0.45, 0.1, 0.3]])
found = search.solve_one(target)
print(f"one pose: {found}")
print("  q (deg): " + " ".join(f"{x:.2f}" for x in np.rad2deg(found.q)))

# A circle of 0.1 m radius, as fast as 0.5 m/s and 2 m/s² allow, found pose after pose from its neighbour.
circle = Circle(start=(0.55, 0.0, 0.3), center=(0.45, 0.0, 0.3), normal=(0.0, 0.0, 1.0), turn=Turn(down))
motion = travel(circle, law="cycloid", within=FrameLimits(velocity=0.5, acceleration=2.0))
t = np.linspace(0.0, motion.duration, 1000)
frame = motion.at(t)
path = search.follow(frame.poses)
print(f"circle in {motion.duration:.3f} s: {path}")

# Rates from the exact Jacobian and its rate, so that the efforts need no differences.
u, udot = search.rates(path.q, frame.twist, frame.twist_rate)
tau = arm.inverse_dynamics(path.q, u, udot)
print("  largest efforts (N m): " + " ".join(f"{x:.2f}" for x in np.abs(tau).max(axis=0)))

# Out of reach: no exception, an answer that says how far away it ended.
print(f"two metres away: {search.solve_one(np.concatenate([np.ravel(down), [2.0, 0.0, 0.3]]))}")
