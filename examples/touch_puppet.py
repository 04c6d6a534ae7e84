"""A puppet from a URDF in the hand: its right hand is lifted and led round a circle, the rest of it follows."""

import argparse
from pathlib import Path

import numpy as np

import kane
from kane.realtime import Human, SimulatedDevice, Touch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw where the hand is led, and what it weighs")
arguments = parser.parse_args()

puppet = kane.load(Path(__file__).parent / "models" / "puppet.urdf")
print(puppet)
raised = "min(1, t)"
circle = (f"0.16*{raised} + 0.06*sin(4*t)", "-0.1", f"-0.6 + 0.2*{raised} - 0.06*cos(4*t)")  # m, where it is led
device = SimulatedDevice(mass=0.1, damping=2.0, human=Human(circle, mass=0.2, damping=4.0, stiffness=60.0))
session = Touch(puppet, device, tuple(f"r.right_hand.{axis}" for axis in "xyz"), real_time=False).run(6.0)
print(session.outcome)

settled = session.t > 3.0
off = np.linalg.norm(session.place - session.position, axis=1)[settled].max()
weight = -session.force[settled, 2].mean()
print(f"its hand stays within {1e3 * off:.1f} mm of the device; on the average {weight:.2f} N of the puppet hang on it")
assert off < 5e-3 and 0.2 < weight < 9.81 * puppet.mass
assert session.least_observed > -1e-6  # the hand never gets energy that it did not give

if arguments.plot:
    from kane.viewer import plots

    shown = [
        plots.Panel("hand, forward", 1e3 * session.place[:, 0], "mm"),
        plots.Panel("hand, up", 1e3 * session.place[:, 2], "mm"),
        plots.Panel("force down", -session.force[:, 2], "N"),
        plots.Panel("knee", np.degrees(session.q[:, puppet.coordinates.index("q_left_knee")]), "°"),
    ]
    plots.save(plots.panels(session.t, shown, title="A puppet led by its hand"), arguments.plot)
