"""Equations of motion of mechanisms by Kane's method: described in words, run at machine speed.

>>> import kane
>>> m = kane.load("pendulum")
>>> m.speeds
('u',)

Names are looked up when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import (
        ClosedForm,
        Energy,
        Ensemble,
        Equations,
        Explanation,
        Identification,
        Model,
        Momentum,
        SafetyFilter,
        SpeedSuggestions,
        Trajectory,
        from_sympy,
        identify,
        load,
    )
    from .catalogue import models
    from .errors import InputError, KaneError, ModelError, SingularError, WritingError
    from .model import (
        Backlash,
        Belt,
        Brake,
        Clutch,
        ConfigurationEquations,
        Distance,
        Drive,
        Effort,
        Force,
        Friction,
        Gear,
        HardStop,
        JointSpring,
        KnifeEdge,
        Latch,
        Loop,
        MagneticTorque,
        MotionEquations,
        PointGravity,
        PointOnCurve,
        PointOnLine,
        PointOnPlane,
        PointVelocity,
        Rack,
        Ratchet,
        RoadWheel,
        Rolling,
        RollingEllipsoid,
        RollingOnSphere,
        RollingSphere,
        Rope,
        Spring,
        Stop,
        Thruster,
        Torque,
        convex_hull,
    )

__version__ = "0.1.0"
__all__ = [
    "Backlash",
    "Belt",
    "Brake",
    "ClosedForm",
    "Clutch",
    "ConfigurationEquations",
    "Distance",
    "Drive",
    "Effort",
    "Energy",
    "Ensemble",
    "Equations",
    "Explanation",
    "Force",
    "Friction",
    "Gear",
    "HardStop",
    "Identification",
    "InputError",
    "JointSpring",
    "KaneError",
    "KnifeEdge",
    "Latch",
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
    "Ratchet",
    "RoadWheel",
    "Rolling",
    "RollingEllipsoid",
    "RollingOnSphere",
    "RollingSphere",
    "Rope",
    "SafetyFilter",
    "SingularError",
    "SpeedSuggestions",
    "Spring",
    "Stop",
    "Thruster",
    "Torque",
    "Trajectory",
    "WritingError",
    "convex_hull",
    "from_sympy",
    "identify",
    "load",
    "models",
]
_HOMES = {
    ".api": (
        "ClosedForm",
        "Energy",
        "Ensemble",
        "Equations",
        "Explanation",
        "Identification",
        "Model",
        "Momentum",
        "SafetyFilter",
        "SpeedSuggestions",
        "Trajectory",
        "from_sympy",
        "identify",
        "load",
    ),
    ".catalogue": ("models",),
    ".errors": ("InputError", "KaneError", "ModelError", "SingularError", "WritingError"),
}
"""Where names are found that are not records of constraints and loads, which are in `kane.model`."""


_DRAWN = ("choice", "normal", "uniform")
"""Distributions, which are looked for here and are in `kane.ensemble`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(_unknown(name), name=name)
    home = next((home for home, names in _HOMES.items() if name in names), ".model")
    globals()[name] = value = getattr(importlib.import_module(home, __name__), name)
    return value


def _unknown(name: str) -> str:
    """What is said of a name that the package does not have."""
    text = f"module 'kane' has no attribute '{name}'"
    if name.startswith("_"):  # asked for by tools, not by people
        return text
    if name.isidentifier() and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return f"{text} until it is imported\n    fix: import kane.{name}"
    if name in _DRAWN:
        return f"{text}\n    fix: from kane.ensemble import {name}, or write it as text: '{name}(…)'"
    import difflib  # only where something is wrong

    alike = {known.casefold(): known for known in __all__}
    close = difflib.get_close_matches(name.casefold(), alike, n=1)
    return f"{text}; did you mean '{alike[close[0]]}'?" if close else f"{text}; dir(kane) lists what it has"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
