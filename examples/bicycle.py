"""The Whipple bicycle: eigenvalues of straight running over its speed, and a steady turn, hands off."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the eigenvalues over the speed")
arguments = parser.parse_args()

bicycle = kane.load("whipple-bicycle")
LATERAL = ["roll", "steer", "uroll", "usteer"]


def eigenvalues(v: float) -> np.ndarray:
    """Of roll and steer, running straight on at v (m/s); the wheels' speeds follow from the constraints."""
    linear = bicycle.linearize(u={"ux": v, "uroll": 0.0}, independent=LATERAL)
    return linear.without(name for name in linear.states if name not in LATERAL).eigenvalues


print("v (m/s)   eigenvalues (1/s)")
for v in range(0, 11, 2):
    print(f"{v:7d}   " + "  ".join(f"{x.real:8.4f}{x.imag:+8.4f}i" for x in eigenvalues(v)))

# Hands off, a bicycle that leans turns steadily at one speed only; Newton's method finds speed and steer angle.
turn = bicycle.trim(q={"roll": 0.1})
print(f"\nleaning by 0.1 rad, hands off: {turn['ux']:.4f} m/s, steer {turn['steer']:.5f} rad,", end=" ")
print(f"radius {turn['ux'] / turn['uyaw']:.2f} m")

if arguments.plot:
    from kane.viewer.plots import eigenvalues_over, save

    speeds = np.linspace(0.0, 10.0, 401)
    found = np.array([eigenvalues(v) for v in speeds])
    marks = {"weave": 4.292, "capsize": 6.024}
    title = "Whipple bicycle, straight running: stable between weave and capsize speed"
    save(eigenvalues_over(speeds, found, "v  (m/s)", title=title, marks=marks), arguments.plot)
