"""Kane's method on a mechanism, step by step, to be read: derivation, and the ways to write it down."""

from .derivation import derive
from .efforts import write_efforts
from .explanation import Explanation
from .records import Derivation, VectorSum
from .sections import MANY

__all__ = ["MANY", "Derivation", "Explanation", "VectorSum", "derive", "write_efforts"]
