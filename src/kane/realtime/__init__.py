"""Real time: a model that is touched, at a fixed rate, through a virtual coupler.

>>> from kane.realtime import Coupler, Human, Touch, SimulatedDevice
>>> device = SimulatedDevice(mass=0.1, damping=2.0, human=Human("0.1*sin(t)", stiffness=100, damping=5))
>>> m = kane.load("pendulum")
>>> session = Touch(m, device, Coupler(("q",)), real_time=False).run(2.0)
>>> session.outcome.success, bool(session.least_observed > -1e-9)
(True, True)
"""

from .coupler import Coupler, explicit_mass, stiffness_limit
from .devices import Device, Human, Mailbox, Replay, SimulatedDevice
from .haply import HaplyLink
from .links import GamepadLink, UdpLink
from .session import Session, Timing
from .touch import Touch

__all__ = [
    "Coupler",
    "Device",
    "GamepadLink",
    "HaplyLink",
    "Human",
    "Mailbox",
    "Replay",
    "Session",
    "SimulatedDevice",
    "Timing",
    "Touch",
    "UdpLink",
    "explicit_mass",
    "stiffness_limit",
]
