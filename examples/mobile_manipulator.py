"""The three motions of Tanner & Kyriakopoulos (2001): straight ahead, a spinning link, a circle; which of them tip."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw a motion, its forces and its tip-over measure")
parser.add_argument("--motion", choices=("straight", "spin", "circle"), default="circle", help="which one is drawn")
arguments = parser.parse_args()

robot = kane.load("tanner-mobile-manipulator")
print(robot)
still = {"ux": 0, "uy": 0, "utheta": 0}
motions = {
    "straight": ("Straight ahead, links aligned", 5.0, {"phi": 0}, {**still, "ux": 1.0}),
    "spin": ("The first link spins at 3 rad/s, the second is passive", 3.0, {"phi": 0}, {**still, "uq1": 3.0}),
    "circle": ("On a circle, the arm passive", 10.0, None, None),
}
for name, (title, duration, q, u) in motions.items():
    run = robot.simulate(np.linspace(0, duration, 401), q=q, u=u, rtol=1e-12)
    kinetic, tip = run.energy().kinetic, run.tipover()
    print(f"{title}: kinetic energy within {np.ptp(kinetic) / kinetic[0]:.0e}, {str(tip).splitlines()[0]}")
    assert np.ptp(kinetic) < 1e-11 * kinetic[0]
    assert (tip.alpha.min() > 0) == (name == "straight")
    if arguments.plot and name == arguments.motion:
        from kane.viewer import plots, vehicles

        plots.save(vehicles.overview(run, title=title), arguments.plot)
