"""Loads: one frozen record per kind, and what they do to bodies, as forces, torques and efforts."""

from .actions import Action, BuiltLoad, EffortAction, ForceAction, GivenActions, Load, TorqueAction, point_of
from .forces import Effort, Force, Thruster, Torque
from .space import MagneticTorque, PointGravity
from .springs import JointSpring, Spring, Stop

__all__ = [
    "Action",
    "BuiltLoad",
    "Effort",
    "EffortAction",
    "Force",
    "ForceAction",
    "GivenActions",
    "JointSpring",
    "Load",
    "MagneticTorque",
    "PointGravity",
    "Spring",
    "Stop",
    "Thruster",
    "Torque",
    "TorqueAction",
    "point_of",
]
