"""Equations of motion of mechanisms by Kane's method: described in words, run at machine speed.

>>> import kane
>>> m = kane.load("pendulum")
>>> m.speeds
('u',)
"""

from .api import Energy, Equations, Model, Momentum, Trajectory, from_sympy, load
from .errors import InputError, KaneError, ModelError

__version__ = "0.1.0"
__all__ = [
    "Energy",
    "Equations",
    "InputError",
    "KaneError",
    "Model",
    "ModelError",
    "Momentum",
    "Trajectory",
    "from_sympy",
    "load",
]
