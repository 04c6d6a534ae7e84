"""The nouns with their verbs: `Model`, `Equations`, `Trajectory`, `load` and `from_sympy`."""

from ..formulation import Equations
from .model import Model, load
from .records import Array, Energy, Momentum, Wrench
from .symbolic import SymPyModel, from_sympy
from .trajectory import Trajectory

__all__ = [
    "Array",
    "Energy",
    "Equations",
    "Model",
    "Momentum",
    "SymPyModel",
    "Trajectory",
    "Wrench",
    "from_sympy",
    "load",
]
