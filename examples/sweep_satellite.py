"""A satellite slews by its reaction wheels, open loop: where it points if inertias and wheels are other ones."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the pointing error over what is wrong")
parser.add_argument("--members", type=int, default=256, help="how many (default 256)")
arguments = parser.parse_args()

TURN, TIME, IZZ, WHEEL = (
    1.2,
    60.0,
    30.0,
    0.02,
)  # rad about z within s; kg m² of the satellite with its wheels, of a wheel
craft = kane.Model("satellite")
for name, value in {"Ixx": 24, "Iyy": 26, "Izz": IZZ - WHEEL, "Ixz": 0, "Iyz": 0, "gain": 1, "bias": 0}.items():
    craft.parameter(name, value)
inertia = {"xx": "Ixx", "yy": "Iyy", "zz": "Izz", "xz": "Ixz", "yz": "Iyz"}
craft.body("bus", mass=100, inertia=inertia)
craft.joint("attitude", "spherical", "ground", "bus", coordinates=["qw", "qx", "qy", "qz"], speeds=["wx", "wy", "wz"])
craft.reaction_wheel("wheel", "bus", "z", WHEEL, speed="n")

# The smooth turn takes the body's Izz times its acceleration; the wheel turns the other way.
acceleration = f"{TURN} * (60*(t/{TIME}) - 180*(t/{TIME})**2 + 120*(t/{TIME})**3) / {TIME}**2"
wheel = {"n": f"-gain * {IZZ - WHEEL} * ({acceleration}) + bias"}
along = f"qw*cos({TURN / 2}) + qz*sin({TURN / 2})"  # the cosine of half the angle by which it is off
found = craft.ensemble(
    TIME,
    n=arguments.members,
    seed=1,
    sampling="latin",
    parameters={
        "Izz": f"normal({IZZ - WHEEL}, 0.3)",
        "Ixz": "normal(0, 0.3)",
        "Iyz": "normal(0, 0.3)",
        "gain": "normal(1, 0.005)",
        "bias": "normal(0, 1e-4)",
    },
    control=wheel,
    watch={"off": f"2*asin(sqrt(max(0, 1 - ({along})**2)))"},
)
error = np.degrees(found.high["off"])  # watched at the end alone
print(
    f"{len(found)} satellites: off by {np.median(error):.3f}°, one in 20 by more than {np.quantile(error, 0.95):.3f}°"
)
print("rank correlation: " + ", ".join(f"{name} {x:+.2f}" for name, (x, _) in found.sensitivity("end_qz").items()))
qw, _, _, qz, _ = craft.simulate(TIME, control=wheel).q[-1]
assert abs(2 * np.arctan2(qz, qw) - TURN) < 1e-7  # with what was thought it points there

if arguments.plot:
    found.plot(arguments.plot, "scatter", "high_off")
