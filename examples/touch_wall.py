"""A wall in the hand: a probe is pushed against it, and dragged along it until friction lets go."""

import argparse
from pathlib import Path

import kane
from kane.realtime import Human, SimulatedDevice, Touch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="draw where the probe is, and what the hand feels")
arguments = parser.parse_args()

wall = kane.load(Path(__file__).parent / "models" / "wall.yaml")
into, along = "0.05 - 0.1*min(1, t)", "0.1*max(0, t - 2)"  # m, 5 cm into the wall, then along it
hand = Human((into, along, "0"), mass=0.3, damping=5.0, stiffness=200.0)
device = SimulatedDevice(mass=0.1, damping=3.0, human=hand)
loop = Touch(wall, device, ("x", "y", "z"), real_time=False)
session = loop.run(4.0)
print(session.outcome)
print(*session.transitions, sep="\n")

stiffness = loop.coupler.stiffnesses()[0]
pressed = 0.05 * 200.0 * stiffness / (200.0 + stiffness)  # hand and coupler are springs one after another
normal, friction = session.force[-1, 0], session.force[-1, 1]
print(f"the wall pushes with {normal:.3f} N, the springs of hand and coupler say {pressed:.3f} N")
print(f"it brakes with {-friction:.3f} N while the probe slips, {-friction / normal:.3f} of that")
assert abs(normal - pressed) < 1e-3 * pressed and abs(-friction / normal - wall.parameters["mu"].value) < 1e-3
assert session.q[:, 0].min() > -1e-9  # the probe never enters the wall
assert session.least_observed > -1e-6  # the hand never gets energy that it did not give

if arguments.plot:
    from kane.viewer import plots

    shown = [
        plots.Panel("device", 1e3 * session.position[:, 0], "mm"),
        plots.Panel("probe", 1e3 * session.q[:, 0], "mm"),
        plots.Panel("force of the wall", session.force[:, 0], "N"),
        plots.Panel("force along the wall", -session.force[:, 1], "N"),
    ]
    plots.save(plots.panels(session.t, shown, title="A wall, pushed at and then stroked"), arguments.plot)
