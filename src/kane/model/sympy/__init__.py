"""Descriptions that were written with SymPy: a `KanesMethod`, a `System` or a `LagrangesMethod` as a mechanism.

SymPy itself is imported only where something is read: it is an extra.
"""

from .building import SymPySource, declare
from .reading import Description, read

__all__ = ["Description", "SymPySource", "declare", "read"]
