"""Scalar expressions, what can be done with them, and the straight-line programs they become."""

from .graph import Expr, Graph
from .layout import Layout
from .passes import (
    Values,
    depends_on,
    evaluate,
    forward,
    gradient_rate,
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
    "gradient_rate",
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
