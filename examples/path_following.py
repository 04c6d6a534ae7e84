"""A robot follows a figure of eight by computed torque, as fast as the friction of its wheels allows.

Errors of place and heading correct the speeds that the path asks for, and the closed form of the model says which
torques of the two wheels accelerate the robot accordingly.
"""

import numpy as np

import kane

WIDTH, HEIGHT = 3.0, 1.5  # m
AHEAD, ACROSS, TURN, SPEEDS = 2.0, 6.0, 4.0, 12.0  # gains: 1/s, 1/m², 1/m, 1/s

m = kane.Model("diff drive", gravity=(0, 0, -9.81))
m.body("base", mass=25, center=(-0.06, 0, 0.05), inertia={"xx": 0.7, "yy": 0.9, "zz": 1.3})
caster = {"caster": {"at": (-0.25, 0, -0.07), "radius": 0.05, "ball": True}}
drives = {"type": "diff_drive", "wheel_radius": 0.12, "track_width": 0.5, "wheel_mass": 1.5}
m.vehicle("base", caster, drive=drives, friction=0.6, coordinates=["x", "y", "yaw"], speeds=["v", "vy", "yaw_rate"])
form = m.closed_form(speeds=["v", "yaw_rate"], inputs=["left", "right"])
MOVES, DRIVES = ([m.speeds.index(n) for n in names] for names in (("v", "yaw_rate"), ("u_left", "u_right")))


def path(t, lap):
    """Place (m), heading, speed, yaw rate and the accelerations of both that the path asks for at the time t (s)."""
    w, turn = 2 * np.pi / lap, np.pi / 2 * np.arange(4)  # sine, and its three derivatives
    x = [WIDTH * w**k * np.sin(w * t + turn[k]) for k in range(4)]
    y = [HEIGHT / 2 * (2 * w) ** k * np.sin(2 * w * t + turn[k]) for k in range(4)]
    p, d, dd, ddd = (np.array(pair) for pair in zip(x, y, strict=True))
    v, turning, faster = np.hypot(*d), d[0] * dd[1] - d[1] * dd[0], (d * dd).sum(axis=0) / np.hypot(*d)
    bending = (d[0] * ddd[1] - d[1] * ddd[0]) / v**2 - 2 * turning * faster / v**3
    return p, np.arctan2(d[1], d[0]), np.array([v, turning / v**2]), np.array([faster, bending])


def drive(lap):
    """Half a lap, from a start 20 mm beside the path."""

    def law(t, q, u):
        p, heading, (v, rate), udot = path(t, lap)
        c, s, (dx, dy) = np.cos(q[2]), np.sin(q[2]), p - q[:2]
        off = (heading - q[2] + np.pi) % (2 * np.pi) - np.pi
        turn = rate + v * (ACROSS * (c * dy - s * dx) + TURN * np.sin(off))
        aim = np.array([v * np.cos(off) + AHEAD * (c * dx + s * dy), turn])
        reduced = form.reduce(q, u[MOVES])
        tau = np.zeros(len(u))
        tau[DRIVES] = np.linalg.solve(reduced.B, reduced.M @ (udot + SPEEDS * (aim - u[MOVES])) + reduced.F)
        return tau

    p, heading, (v, rate), _ = path(0.0, lap)
    start = {"q": {"x": p[0], "y": p[1] - 0.02, "yaw": heading}, "u": {"v": v, "yaw_rate": rate}}
    return m.simulate(np.linspace(0, lap / 2, 101), **start, control=law, control_period=0.02)


low, high = 3.0, 20.0
while high - low > 0.05:
    lap = (low + high) / 2
    low, high = (low, lap) if drive(lap).ground().margin[:, :2].min() > 0 else (lap, high)
run = drive(high)
error = np.hypot(*(run.q[:, :2].T - path(run.t, high)[0]))
print(f"a lap of {high:.2f} s needs friction {run.ground().friction[:, :2].max():.3f}; {1e3 * error[-1]:.1f} mm off")
assert error[-1] < 2e-3 and "would slip" in str(drive(0.9 * high).outcome)
