"""A disk let go on a ramp: the coefficient of friction above which it rolls, found by bisection on the modes."""

import math

import kane

disk = kane.load("disk-on-ramp", free=["mu"])
p = {name: record.value for name, record in disk.parameters.items()}


def rolls(mu: float) -> bool:
    """Whether the disk rolls from the start."""
    return disk.simulate(0.01, parameters={"mu": mu}).transitions[0].mode["ramp"] == "sticks"


low, high = 0.0, 1.0
while high - low > 1e-10:
    middle = (low + high) / 2
    low, high = (low, middle) if rolls(middle) else (middle, high)
expected = math.tan(p["phi"]) / (1 + p["m"] * p["r"] ** 2 / p["J"])
print(f"it rolls above mu = {high:.9f}; tan(phi)/(1 + m r²/J) = {expected:.9f}")
assert abs(high - expected) < 1e-9

thrown = kane.load("disk-on-ramp")
thrown.set_parameters(phi=0, mu=0.25)
run = thrown.simulate(3.0, u={"v": 2.0, "w": -40.0})  # with back spin, on level ground
print(run.transitions)
print(f"thrown with 2 m/s and back spin it comes back with {run.u[-1, 0]:.6f} m/s, rolling")
