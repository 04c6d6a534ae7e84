"""Equations of motion that can be written for other tools."""

from __future__ import annotations

from typing import Any

from .. import formulation
from ..backends import SymPyProgram, to_c, to_latex, to_sympy


class Equations(formulation.Equations):
    """Equations of motion that can be written for other tools; `what` is a name of `SIGNATURES`."""

    def to_c(self, what: str = "forward_dynamics", name: str | None = None) -> tuple[str, str]:
        """(header, source) in C99 without dependencies."""
        return to_c(self.program(what), name)

    def to_latex(self, what: str = "inverse_dynamics", **options: Any) -> str:
        """An align* environment: the equations of small systems, the Z list of larger ones."""
        return to_latex(self.program(what), **options)

    def to_sympy(self, what: str = "inverse_dynamics") -> SymPyProgram:
        """Symbols, replacements and outputs in SymPy."""
        return to_sympy(self.program(what))
