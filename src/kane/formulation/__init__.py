"""From a description to equations: Kane's method as a reverse sweep, composite bodies, the solve inside the program."""

from .equations import Equations, formulate
from .motion import control_program, motion_program, unit_program, watch_program
from .places import Place, place_of, place_program
from .regressor import regressor_program

__all__ = [
    "Equations",
    "Place",
    "control_program",
    "formulate",
    "motion_program",
    "place_of",
    "place_program",
    "regressor_program",
    "unit_program",
    "watch_program",
]
