"""Efforts along the speeds as sums of products, as explanations write them: parameters by their symbols, powers
collected, factors in textbook order, terms by the speeds."""

from __future__ import annotations

from ..formulation import Equations
from .algebra import Sum, symbol_sum
from .derivation import symbols_of_inputs
from .notation import LATEX, MATHML, TEXT, write_sum
from .reading import LONG, Reader, TooLong


def write_efforts(equations: Equations, form: str) -> list[str] | None:
    """tau of inverse dynamics as one equation for each speed, in "text", "latex" or "mathml"; with the numbers of the
    equations where one is too long with symbols, None where it is too long with these too."""
    notation = {"text": TEXT, "latex": LATEX, "mathml": MATHML}[form]
    symbols = symbols_of_inputs(equations.mechanism)
    sums = _read_efforts(equations)
    if sums is None:  # and longer with symbols
        return None
    sums = _read_efforts(Equations(equations.mechanism, "all")) or sums
    sign = {"text": " = ", "latex": " &= ", "mathml": "<mo>=</mo>"}[form]
    efforts = [symbol_sum(symbols[f"tau_{name}"]) for name in equations.mechanism.speeds]
    return [f"{write_sum(e, notation)}{sign}{write_sum(s, notation)}" for e, s in zip(efforts, sums, strict=True)]


def _read_efforts(equations: Equations) -> list[Sum] | None:
    reader = Reader(equations.graph, symbols_of_inputs(equations.mechanism), naming=False)
    try:
        sums = [reader.read(e) for e in equations.inverse_dynamics]
    except TooLong:
        return None
    return None if any(total.size > LONG for total in sums) else sums


__all__ = ["write_efforts"]
