"""A mobile manipulator whose arm spins while its base drives on a circle: where it tips over within 3 s, as a map."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the map")
parser.add_argument("--members", type=int, default=64, help="how many, a square number (default 64)")
arguments = parser.parse_args()

robot = kane.load("tanner-mobile-manipulator")
side = int(arguments.members**0.5)
spins, speeds = np.linspace(0.0, 2.0, side), np.linspace(0.0, 1.5, side)
spin, speed = (x.ravel() for x in np.meshgrid(spins, speeds))
found = robot.ensemble(
    3.0,
    q={"phi": 0.5},  # steered
    u={"utheta": speed, "uq1": spin},
    events={"tip": {"expression": "tipover", "terminal": True}},
    rtol=1e-9,
)
tips = found.crossings["tip"] > 0
print(found)
print(f"{np.count_nonzero(tips)} of {len(found)} tip over, the earliest after {np.nanmin(found.first['tip']):.3f} s")
assert not tips[(spin == 0.0) & (speed == 0.0)].any()  # at rest, its links aligned

# Every event is where the tip-over measure of the motion alone vanishes.
some = int(np.flatnonzero(tips)[0])
alone = found.member(some)
print(f"member {some} alone: measure {abs(alone.tipover().alpha[-1]):.1e} N rad at {alone.t[-1]:.6f} s")
assert alone.t[-1] == found.end_t[some]

if arguments.plot:
    from kane.viewer import ensembles, plots

    shown = np.where(tips, found.first["tip"], np.nan).reshape(side, side)
    labels = ("spin of the arm at the start  (rad/s)", "yaw rate of the base  (rad/s)", "time until it tips over  (s)")
    title = "Mobile manipulator: white where it does not tip over within 3 s"
    plots.save(ensembles.map_over(spins, speeds, shown, labels, title), arguments.plot)
