"""From a description to equations: Kane's method as a reverse sweep, composite bodies, the solve inside the program."""

from .equations import Equations, formulate

__all__ = ["Equations", "formulate"]
