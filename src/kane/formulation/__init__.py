"""From a description to equations: Kane's method as a reverse sweep, composite bodies, the solve inside the program."""

from .equations import Equations, formulate
from .motion import control_program, motion_program, unit_program, watch_program

__all__ = ["Equations", "control_program", "formulate", "motion_program", "unit_program", "watch_program"]
