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

__version__ = "0.1.0"
__all__ = [
    "Energy",
    "Equations",
    "InputError",
    "KaneError",
    "Model",
    "ModelError",
    "Momentum",
    "SingularError",
    "Trajectory",
    "from_sympy",
    "load",
]
_ERRORS = ("InputError", "KaneError", "ModelError", "SingularError")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kane' has no attribute '{name}'")
    module = importlib.import_module(".errors" if name in _ERRORS else ".api", __name__)
    globals()[name] = value = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
