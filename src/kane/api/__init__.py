"""The nouns with their verbs: `Model`, `Equations`, `Trajectory`, `load` and `from_sympy`."""

from ..analysis import SpeedSuggestions
from ..explain import Explanation
from ..formulation import Equations
from .closed_form import ClosedForm
from .ensembles import Ensemble
from .identification import Identification, identify
from .model import Model, load
from .records import Array, Energy, Momentum, Wrench
from .safety import SafetyFilter
from .symbolic import SymPyModel, from_sympy
from .trajectory import Trajectory

__all__ = [
    "Array",
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
    "SymPyModel",
    "Trajectory",
    "Wrench",
    "from_sympy",
    "identify",
    "load",
]
