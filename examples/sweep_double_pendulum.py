"""The double pendulum let go from rest at all angles: when does a rod first flip over? Drawn as a map."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the map")
parser.add_argument("--members", type=int, default=400, help="how many starts, a square number (default 400)")
arguments = parser.parse_args()

side = int(arguments.members**0.5)
angles = (np.arange(side) + 0.5) / side * 2 * np.pi - np.pi  # of the rods from the vertical
upper, lower = (x.ravel() for x in np.meshgrid(angles, angles))
pendulum = kane.load("double-pendulum")
found = pendulum.ensemble(
    10.0,
    q={"q1": upper, "q2": lower - upper},  # q2 is the angle between the rods
    u={"u1": 0.0, "u2": 0.0},
    events={
        "upper": {"expression": "q1**2 - pi**2", "terminal": True},
        "lower": {"expression": "(q1 + q2)**2 - pi**2", "terminal": True},
    },
    rtol=1e-8,
)
flip = np.fmin(found.first["upper"], found.first["lower"])
print(
    f"{len(found)} starts: {np.mean(np.isfinite(flip)):.1%} flip within 10 s, the first after {np.nanmin(flip):.3f} s"
)

# With equal rods and masses the lower one cannot be upright with less energy than 3 cos(upper) + cos(lower) = 2 has.
safe = 3 * np.cos(upper) + np.cos(lower) > 2
assert not np.isfinite(flip[safe]).any()
print(f"{np.count_nonzero(safe)} starts have too little energy to flip, and none of them does")

if arguments.plot:
    from kane.viewer import ensembles, plots

    around = np.linspace(-np.pi, np.pi, 401)  # the lower rod, of the curve that no start inside can leave
    edge = np.arccos((2 - np.cos(around)) / 3)
    curve = (np.concatenate([edge, -edge[::-1]]), np.concatenate([around, around[::-1]]))
    labels = (
        "upper rod from the vertical  (rad)",
        "lower rod from the vertical  (rad)",
        "log₁₀ of the time to flip  (s)",
    )
    picture = ensembles.map_over(
        angles,
        angles,
        np.log10(flip).reshape(side, side),
        labels,
        title="Double pendulum let go from rest: the time until a rod flips over",
        cannot_flip=curve,
    )
    plots.save(picture, arguments.plot)
