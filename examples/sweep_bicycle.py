"""The Whipple bicycle, hands off: how many riders fall within 20 s, and a map over speed and disturbance."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the map")
parser.add_argument("--members", type=int, default=64, help="riders, and a map of about as many (default 64)")
arguments = parser.parse_args()

bicycle = kane.load("whipple-bicycle")
fall = {"fell": {"expression": "roll**2 - 1", "terminal": True}}  # leaning by a radian

# Riders of all masses, who are pushed a little, at 4.6 m/s: between weave and capsize speed a bicycle balances itself.
riders = bicycle.ensemble(
    20.0,
    n=arguments.members,
    seed=1,
    parameters={"mB": "normal(85, 12)", "zB": "normal(-0.9, 0.05)", "xB": "normal(0.3, 0.03)"},
    u={"ux": 4.6, "uroll": "normal(0, 1.2)", "urear": -4.6 / 0.3, "ufront": -4.6 / 0.35},
    events=fall,
    rtol=1e-8,
)
print(f"{len(riders)} riders at 4.6 m/s: {riders.share('fell'):.1%} fall within 20 s")
hard = np.abs(riders.to_table()["start_uroll"])  # to the left or to the right, a bicycle is the same
for least in (1.0, 2.0):
    pushed = hard >= least
    print(f"of those pushed by {least:g} rad/s and more: {np.mean(riders.crossings['fell'][pushed] > 0):.1%}")

side = max(6, int(arguments.members**0.5))
speeds, pushes = np.linspace(2.0, 7.0, side), np.linspace(0.1, 3.0, side)
v, push = (x.ravel() for x in np.meshgrid(speeds, pushes))
over = bicycle.ensemble(
    20.0, u={"ux": v, "uroll": push, "urear": -v / 0.3, "ufront": -v / 0.35}, events=fall, rtol=1e-8
)
fell = over.crossings["fell"] > 0
weave, capsize = 4.292, 6.024  # m/s, of the linear equations: a small push is forgotten in between
calm = push == pushes[0]
assert not fell[calm & (v > weave + 0.2) & (v < capsize)].any()
assert fell[calm & (v < 3.1)].all()
print(f"of {len(over)} speeds and pushes {np.count_nonzero(fell)} end in a fall")

if arguments.plot:
    from kane.viewer import ensembles, plots

    shown = np.where(fell, over.end_t, np.nan).reshape(side, side)
    lines = {"weave_speed": ([weave] * 2, pushes[[0, -1]]), "capsize_speed": ([capsize] * 2, pushes[[0, -1]])}
    labels = ("speed  (m/s)", "roll rate at the start  (rad/s)", "time until it falls  (s)")
    title = "Whipple bicycle, hands off: white where it does not fall within 20 s"
    plots.save(ensembles.map_over(speeds, pushes, shown, labels, title, **lines), arguments.plot)
