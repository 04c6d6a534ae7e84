"""What the choice of generalized speeds is worth: a body in three gimbal angles, u = q̇ beside u = ω · b."""

import numpy as np

import kane


def gyro(name: str, speeds: dict[str, str] | None = None) -> kane.Model:
    """A rigid body on three gimbal angles; `speeds` are chosen, or the rates of the angles."""
    m = kane.Model(name)
    m.body("B", mass=2.0, inertia={"xx": 0.3, "yy": 0.2, "zz": 0.4})
    m.joint("gimbal", "gimbal", "ground", "B", sequence="body 123", coordinates=["q1", "q2", "q3"])
    if speeds:
        m.set_speeds(speeds)
    return m


rates = gyro("rates of the angles")
omega = gyro("angular velocity", {"u1": "w.B.x", "u2": "w.B.y", "u3": "w.B.z"})

for m in (rates, omega):
    count = m.equations().count("inverse_dynamics")
    print(f"{m.name:22} {count['mul']:3} multiplications, {count['add']:3} additions")

# The same motion, started with the same angular velocity.
q = np.array([0.3, 0.4, 0.5])
spin = np.array([0.7, -0.2, 1.1])
W = np.array([omega.qdot(q, e) for e in np.eye(3)]).T  # q̇ = W u
first = rates.simulate(np.linspace(0, 5, 11), q=q, u=W @ spin, rtol=1e-11, atol=1e-13)
second = omega.simulate(np.linspace(0, 5, 11), q=q, u=spin, rtol=1e-11, atol=1e-13)
print(f"the same motion within {np.abs(first.q - second.q).max():.0e} rad")
assert np.abs(first.q - second.q).max() < 1e-8
