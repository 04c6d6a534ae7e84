"""A rattleback spun both ways: one way it goes on, the other way it begins to rock, stops and turns round."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the spin both ways, and the rocking")
arguments = parser.parse_args()

stone = kane.load("rattleback")
print(stone)
print(stone.freedom())

t = np.linspace(0, 12, 1201)
wrong, right = (stone.simulate(t, u={"wz": spin}, rtol=1e-10, atol=1e-12) for spin in (-5.0, 5.0))
for run in (wrong, right):
    energy = run.energy().kinetic + run.energy().potential
    height = np.abs(stone.constraint_rows(run.q, run.u).phi).max()
    pressed = run.reactions().multiplier("table.normal").min()
    print(f"{run.u[0, 2]:+.2f} rad/s becomes {run.u[-1, 2]:+.2f}; energy within {np.ptp(energy) / energy[0]:.0e},")
    print(f"    off the table by {height:.0e} m, pressed to it by {pressed:.1f} N or more")
    assert np.ptp(energy) < 1e-9 * energy[0] and height < 1e-12
assert wrong.u[-1, 2] > 4 and right.u[:, 2].min() > 4

if arguments.plot:
    from kane.viewer import plots

    shown = [
        plots.Panel("spin, the wrong way", wrong.u[:, 2], "rad/s"),
        plots.Panel("spin, the right way", right.u[:, 2], "rad/s"),
        plots.Panel("rocking, the wrong way", wrong.u[:, 1], "rad/s"),
    ]
    plots.save(plots.panels(t, shown, title="A rattleback spun both ways"), arguments.plot)
