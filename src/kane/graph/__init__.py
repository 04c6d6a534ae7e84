"""Scalar expressions, what can be done with them, and the straight-line programs they become."""

from .graph import Expr, Graph
from .layout import Layout
from .passes import (
    Values,
    depends_on,
    evaluate,
    forward,
    linear_coefficients,
    reachable,
    reverse,
    substitute,
    time_derivative,
)
from .program import STAGES, Inputs, Outputs, Program, ProgramRow, hoist, lower, verify
from .text import parse

__all__ = [
    "STAGES",
    "Expr",
    "Graph",
    "Inputs",
    "Layout",
    "Outputs",
    "Program",
    "ProgramRow",
    "Values",
    "depends_on",
    "evaluate",
    "forward",
    "hoist",
    "linear_coefficients",
    "lower",
    "parse",
    "reachable",
    "reverse",
    "substitute",
    "time_derivative",
    "verify",
]
