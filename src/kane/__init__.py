"""Equations of motion of mechanisms by Kane's method: described in words, run at machine speed.

>>> import kane
>>> m = kane.load("pendulum")
>>> m.speeds
('u',)
"""

from .api import Energy, Equations, Model, Momentum, Trajectory, from_sympy, load
from .errors import InputError, KaneError, ModelError
from .model import (
    Belt,
    ConfigurationEquations,
    Distance,
    Effort,
    Force,
    Gear,
    JointSpring,
    KnifeEdge,
    Loop,
    MagneticTorque,
    MotionEquations,
    PointGravity,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointVelocity,
    Rack,
    Rolling,
    RollingEllipsoid,
    RollingOnSphere,
    RollingSphere,
    Spring,
    Stop,
    Thruster,
    Torque,
)

__version__ = "0.1.0"
__all__ = [
    "Belt",
    "ConfigurationEquations",
    "Distance",
    "Effort",
    "Energy",
    "Equations",
    "Force",
    "Gear",
    "InputError",
    "JointSpring",
    "KaneError",
    "KnifeEdge",
    "Loop",
    "MagneticTorque",
    "Model",
    "ModelError",
    "Momentum",
    "MotionEquations",
    "PointGravity",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointVelocity",
    "Rack",
    "Rolling",
    "RollingEllipsoid",
    "RollingOnSphere",
    "RollingSphere",
    "Spring",
    "Stop",
    "Thruster",
    "Torque",
    "Trajectory",
    "from_sympy",
    "load",
]
