"""Efforts along the speeds as sums of products: powers collected, factors in textbook order, terms by the speeds."""

from __future__ import annotations

from ..formulation import Equations
from .algebra import symbol_sum
from .derivation import symbols_of_inputs
from .notation import LATEX, MATHML, TEXT, write_sum
from .reading import LONG, Reader, TooLong


def write_efforts(equations: Equations, form: str) -> list[str] | None:
    """tau of inverse dynamics as one equation for each speed, in "text", "latex" or "mathml"; None where one is too
    long to be read from end to end."""
    notation = {"text": TEXT, "latex": LATEX, "mathml": MATHML}[form]
    symbols = symbols_of_inputs(equations.mechanism)
    reader = Reader(equations.graph, symbols, naming=False)
    try:
        sums = [reader.read(e) for e in equations.inverse_dynamics]
    except TooLong:
        return None
    if any(total.size > LONG for total in sums):
        return None
    sign = {"text": " = ", "latex": " &= ", "mathml": "<mo>=</mo>"}[form]
    efforts = [symbol_sum(symbols[f"tau_{name}"]) for name in equations.mechanism.speeds]
    return [f"{write_sum(e, notation)}{sign}{write_sum(s, notation)}" for e, s in zip(efforts, sums, strict=True)]


__all__ = ["write_efforts"]
