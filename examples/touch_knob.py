"""A knob with detents in the hand: turned over some notches, held there, and turned back to its stop."""

import argparse
import math
from pathlib import Path

import numpy as np

import kane
from kane.realtime import Human, SimulatedDevice, Touch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw the angle of the knob and the torque that the hand feels")
arguments = parser.parse_args()

knob = kane.load(Path(__file__).parent / "models" / "knob.yaml")
p = {name: record.value for name, record in knob.parameters.items()}
hand = Human("1.7*min(1, t) - 5*max(0, min(1, t - 2))", mass=5e-5, damping=2e-3, stiffness=0.3)  # rad, of t
device = SimulatedDevice(mass=2e-5, damping=2e-3, human=hand)
session = Touch(knob, device, ("angle",), real_time=False).run(4.0)
print(session.outcome)

angle, notch = session.q[:, 0], 2 * math.pi / p["n"]
turning = session.t < 1.2
passed = np.flatnonzero(np.diff(np.round(angle[turning] / notch)) > 0)
felt = -session.force[turning, 0]
print(f"{len(passed)} notches of {math.degrees(notch):.0f}° on the way, felt with up to {felt.max():.4f} N m")
print(f"it rests at {math.degrees(angle[1900]):.2f}° and then at its stop, {math.degrees(angle[-1]):.2f}°")
assert len(passed) == round(angle[1900] / notch) == 3
assert 0.9 * p["T"] < felt.max() < 1.5 * (p["T"] + p["Tf"])  # a notch and the bearing; the rest is inertia
assert abs(angle[-1] + p["end"]) < 1e-9 and session.least_observed > -1e-6

if arguments.plot:
    from kane.viewer import plots

    shown = [
        plots.Panel("angle of the knob", np.degrees(angle), "°"),
        plots.Panel("angle of the device", np.degrees(session.position[:, 0]), "°"),
        plots.Panel("torque that the hand feels", 1e3 * session.force[:, 0], "mN m"),
    ]
    plots.save(plots.panels(session.t, shown, title="A knob with detents, turned by hand"), arguments.plot)
