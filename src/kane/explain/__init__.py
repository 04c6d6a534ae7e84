"""Kane's method on a mechanism, step by step, to be read: derivation, and the ways to write it down."""

from .derivation import derive
from .explanation import Explanation
from .records import Derivation, VectorSum

__all__ = ["Derivation", "Explanation", "VectorSum", "derive"]
