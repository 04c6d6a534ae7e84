"""A robot follows a figure of eight by computed torque, as fast as the friction of its wheels allows.

The path is given over time; its lap time is what friction limits. The law is the textbook one: errors of place and
heading correct the speeds that the path asks for, and the model says which torques of the two wheels accelerate the
robot accordingly.
"""

from collections.abc import Callable

import numpy as np

import kane

WIDTH, HEIGHT = 3.0, 1.5  # m, of the figure
AHEAD, ACROSS, TURN, SPEEDS = 2.0, 6.0, 4.0, 12.0  # gains: 1/s, 1/m², 1/m, 1/s
PERIOD = 0.02  # s, of the controller

m = kane.Model("diff drive", gravity=(0, 0, -9.81))
m.body("base", mass=25, center=(-0.06, 0, 0.05), inertia={"xx": 0.7, "yy": 0.9, "zz": 1.3})
wheel = {"radius": 0.12, "mass": 1.5}
wheels = {"left": {"at": (0, 0.25, 0), **wheel}, "right": {"at": (0, -0.25, 0), **wheel}}
wheels["caster"] = {"at": (-0.25, 0, -0.07), "radius": 0.05, "ball": True}
m.vehicle("base", wheels, coordinates=["x", "y", "yaw"], speeds=["v", "vy", "yaw_rate"], friction=0.6)
DRIVES = [m.speeds.index("u_left"), m.speeds.index("u_right")]
MOVES = [m.speeds.index("v"), m.speeds.index("yaw_rate")]
EFFORTS = np.zeros((3, len(m.speeds)))  # none, one on the left wheel, one on the right
EFFORTS[1, DRIVES[0]] = EFFORTS[2, DRIVES[1]] = 1.0


def path(s: np.ndarray | float, lap: float) -> np.ndarray:
    """Place, velocity, acceleration and jerk along the path at the time s: rows x and y (m), lap time in s."""
    w = 2 * np.pi / lap
    a = w * np.asarray(s, dtype=float)
    x = [WIDTH * np.sin(a), w * WIDTH * np.cos(a), -(w**2) * WIDTH * np.sin(a), -(w**3) * WIDTH * np.cos(a)]
    b, h = 2 * a, HEIGHT / 2
    y = [h * np.sin(b), 2 * w * h * np.cos(b), -4 * w**2 * h * np.sin(b), -8 * w**3 * h * np.cos(b)]
    return np.array([x, y])


def wanted(s: float, lap: float) -> tuple[np.ndarray, float, float, float, float, float]:
    """Place, heading, speed, yaw rate and the accelerations of both that the path asks for."""
    p, d, dd, ddd = path(s, lap).T
    v, turning = float(np.hypot(*d)), float(d[0] * dd[1] - d[1] * dd[0])
    faster = float(d @ dd) / v
    bending = float(d[0] * ddd[1] - d[1] * ddd[0]) / v**2 - 2 * turning * faster / v**3
    return p, float(np.arctan2(d[1], d[0])), v, turning / v**2, faster, bending


def controller(lap: float) -> Callable[[float, np.ndarray, np.ndarray], np.ndarray]:
    """Torques of the wheels, from the state."""

    def law(t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        p, heading, v, rate, faster, bending = wanted(t, lap)
        c, s = np.cos(q[2]), np.sin(q[2])
        ahead, left = c * (p[0] - q[0]) + s * (p[1] - q[1]), -s * (p[0] - q[0]) + c * (p[1] - q[1])
        off = (heading - q[2] + np.pi) % (2 * np.pi) - np.pi
        speeds = np.array([v * np.cos(off) + AHEAD * ahead, rate + v * (ACROSS * left + TURN * np.sin(off))])
        udot = np.array([faster, bending]) + SPEEDS * (speeds - u[MOVES])
        free, by_left, by_right = m.forward_dynamics(np.tile(q, (3, 1)), np.tile(u, (3, 1)), EFFORTS)[:, MOVES]
        tau = np.zeros(len(u))
        tau[DRIVES] = np.linalg.solve(np.stack([by_left - free, by_right - free], axis=1), udot - free)
        return tau

    return law


def drive(lap: float) -> kane.Trajectory:
    """Half a lap, which the other half repeats on the other side, from a start on the path."""
    p, heading, v, rate, _, _ = wanted(0.0, lap)
    return m.simulate(
        np.linspace(0, lap / 2, 101),
        q={"x": p[0], "y": p[1] - 0.02, "yaw": heading},
        u={"v": v, "yaw_rate": rate},
        control=controller(lap),
        control_period=PERIOD,
    )


low, high = 3.0, 20.0
while high - low > 0.05:
    lap = (low + high) / 2
    low, high = (low, lap) if drive(lap).ground().margin[:, :2].min() > 0 else (lap, high)
run = drive(high)
error = np.hypot(*(run.q[:, :2] - path(run.t, high)[:, 0].T).T)
print(f"a lap of {high:.2f} s needs friction {run.ground().friction[:, :2].max():.3f} of 0.6")
print(f"20 mm beside the path at the start, {1e3 * error[-1]:.1f} mm at the end")
assert error[-1] < 2e-3 and run.ground().margin[:, :2].min() > 0
assert "would slip" in str(drive(0.9 * high).outcome)
