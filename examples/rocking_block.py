"""A block that rocks from corner to corner until it stands: infinitely many impacts in a finite time."""

import argparse
import math

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw which corner the block stands on, over time")
arguments = parser.parse_args()

block = kane.load("rocking-block")
run = block.simulate(9.0)
print(run.outcome)
print(run.transitions)

b, h = (block.parameters[name].value for name in ("b", "h"))
housner = 1 - 1.5 * math.sin(math.atan2(b, h)) ** 2
impacts = [x for x in run.transitions if x.cause == "impact"]
ratio = impacts[0].u_after[2] / impacts[0].u_before[2]
print(f"of its angular velocity an impact leaves {ratio:.12f}; Housner: {housner:.12f}")
print(run.check())
assert abs(ratio - housner) < 1e-9 and run.check().passed
assert set(run.transitions[-1].mode.values()) == {"sticks"}

if arguments.plot:
    run.plot_modes(arguments.plot)
