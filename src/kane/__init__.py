"""Equations of motion of mechanisms by Kane's method: described in words, run at machine speed.

>>> import kane
>>> m = kane.load("pendulum")
>>> m.speeds
('u',)

Names are looked up when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import Energy, Equations, Model, Momentum, Trajectory, from_sympy, load
    from .errors import InputError, KaneError, ModelError, SingularError
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
    "SingularError",
    "Spring",
    "Stop",
    "Thruster",
    "Torque",
    "Trajectory",
    "from_sympy",
    "load",
]
_HOMES = {
    ".errors": ("InputError", "KaneError", "ModelError", "SingularError"),
    ".model": (
        "Belt",
        "ConfigurationEquations",
        "Distance",
        "Effort",
        "Force",
        "Gear",
        "JointSpring",
        "KnifeEdge",
        "Loop",
        "MagneticTorque",
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
    ),
}
"""Where names are found that are not in `kane.api`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kane' has no attribute '{name}'")
    home = next((home for home, names in _HOMES.items() if name in names), ".api")
    globals()[name] = value = getattr(importlib.import_module(home, __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
