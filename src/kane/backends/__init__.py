"""Programs made to run, and to be read elsewhere: interpreter, LLVM, NumPy, C, SymPy, LaTeX."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import KaneError
from ..graph import Program
from .c import compile_c, to_c
from .interpret import compile_interpret
from .kernel import Kernel
from .library import load_or_make
from .symbolic import SymPyProgram, to_latex, to_sympy, to_sympy_text
from .ufuncs import compile_numpy

__all__ = [
    "BACKENDS",
    "Kernel",
    "SymPyProgram",
    "compile",
    "load_or_make",
    "to_c",
    "to_latex",
    "to_sympy",
    "to_sympy_text",
]


def _compile_llvm(program: Program) -> Kernel:
    from .llvm import compile_llvm  # LLVM takes a tenth of a second to import; models can be read without it

    return compile_llvm(program)


BACKENDS: dict[str, Callable[[Program], Kernel]] = {
    "llvm": _compile_llvm,
    "interpret": compile_interpret,
    "numpy": compile_numpy,
    "c": compile_c,
}
"""What makes a program run, by name."""


def compile(program: Program, backend: str = "llvm") -> Kernel:
    """The kernel of `program`: call it with one array per group of inputs, shape (n,) or (batch, n)."""
    if backend not in BACKENDS:
        raise KaneError(f"there is no backend '{backend}'\n    fix: choose one of {', '.join(BACKENDS)}")
    return BACKENDS[backend](program)
