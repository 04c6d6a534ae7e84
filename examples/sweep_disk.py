"""A disk let go on ramps of all slopes and frictions: it rolls where the closed form says so, else it slides."""

import argparse

import numpy as np

import kane

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the map")
parser.add_argument("--members", type=int, default=144, help="how many, a square number (default 144)")
arguments = parser.parse_args()

disk = kane.load("disk-on-ramp")
m, r, J = (disk.parameters[name].value for name in ("m", "r", "J"))
side = int(arguments.members**0.5)
slopes, frictions = np.linspace(0.05, 1.2, side), np.linspace(0.02, 0.9, side)
phi, mu = (x.ravel() for x in np.meshgrid(slopes, frictions))
found = disk.ensemble(0.2, parameters={"phi": phi, "mu": mu}, u={"v": 0.0, "w": 0.0}, watch={"slip": "abs(v - r*w)"})
assert found.success.all()

slip = found.high["slip"]  # m/s, of the point that touches
critical = np.tan(phi) / (1 + m * r**2 / J)
rolls = slip < 1e-9
assert np.array_equal(rolls, mu > critical)
print(f"{len(found)} ramps: {np.count_nonzero(rolls)} disks roll, {np.count_nonzero(~rolls)} slide,")
print("each as tan(phi) / (1 + m r²/J) says")

# Sliding, it gains g (sin phi - mu cos phi) t along the ramp and mu g cos(phi) m r t / J of spin.
g, t = disk.parameters["g"].value, found.end_t
expected = g * (np.sin(phi) - mu * np.cos(phi) * (1 + m * r**2 / J)) * t
print(f"slip differs from its closed form by {np.abs(slip - expected)[~rolls].max():.1e} m/s at most")
assert np.allclose(slip[~rolls], expected[~rolls], atol=1e-9)

if arguments.plot:
    from kane.viewer import ensembles, plots

    curve = (slopes, np.minimum(np.tan(slopes) / (1 + m * r**2 / J), frictions[-1]))
    shown = np.where(rolls, np.nan, slip).reshape(side, side)
    labels = ("slope  (rad)", "coefficient of friction", "slip after 0.2 s  (m/s)")
    title = "A disk on a ramp: white where it rolls"
    plots.save(ensembles.map_over(slopes, frictions, shown, labels, title, closed_form=curve), arguments.plot)
