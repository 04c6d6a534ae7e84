"""The fastest slew of an arm that does not tip its vehicle over, and what happens when it is slewed faster still."""

import numpy as np

import kane

TURN = 2.4  # rad, from pointing astern
SMOOTH = "turn*(10*(t/T)**3 - 15*(t/T)**4 + 6*(t/T)**5)"  # at rest at both ends


def robot(contact: str) -> kane.Model:
    """A parked platform on three wheels with a boom that swings about the vertical in the time T."""
    m = kane.Model("crane", gravity=(0, 0, -9.81))
    m.parameter("T", 2.0, free=True)
    m.parameter("turn", TURN)
    m.body("platform", mass=60, inertia={"xx": 2, "yy": 2, "zz": 4})
    places = {"front": (0.45, 0), "left": (-0.3, 0.4), "right": (-0.3, -0.4)}
    wheels = {name: {"at": (x, y, 0), "radius": 0.15, "mass": 2} for name, (x, y) in places.items()}
    m.vehicle("platform", wheels, root="free", friction=5.0, contact=contact)
    m.constrain("brakes", kane.MotionEquations([f"u_{name} = 0" for name in places]))
    m.body("boom", mass=12, center=(-0.5, 0, 0.2), inertia={"xx": 0.1, "yy": 0.8, "zz": 0.8})
    m.joint("slew", "revolute", "platform", "boom", axis="z", at=(0, 0, 0.3), prescribed=[SMOOTH])
    return m


model = robot("bilateral")


def margin(T: float) -> float:
    """The least tip-over measure (N rad) while the boom slews in the time T."""
    return float(model.simulate(np.linspace(0, T, 61), parameters={"T": T}).tipover().alpha.min())


low, high = 0.3, 4.0
assert margin(low) < 0 < margin(high)
while high - low > 1e-4:
    middle = (low + high) / 2
    low, high = (middle, high) if margin(middle) < 0 else (low, middle)
print(f"the boom may slew through {np.degrees(TURN):.0f}° in {high:.4f} s")

lifting = robot("unilateral")
for T in (1.01 * high, 0.97 * high):
    run = lifting.simulate(T, parameters={"T": T})
    lifted = [str(c) for c in run.ground().crossings if c.to == "open"]
    print(f"in {T:.4f} s: {lifted[0] if lifted else 'all wheels stay down'}")
    assert bool(lifted) == (high > T)
