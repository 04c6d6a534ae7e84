"""The nouns with their verbs: `Model`, `Equations`, `Trajectory`, and `load`."""

from .equations import Equations
from .model import Model, load
from .records import Array, Energy, Momentum, Wrench
from .trajectory import Trajectory

__all__ = ["Array", "Energy", "Equations", "Model", "Momentum", "Trajectory", "Wrench", "load"]
