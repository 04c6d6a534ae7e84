"""The NumPy backend: each row is one ufunc over the whole batch. Nothing is generated, nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Program
from .kernel import Floats, Kernel, NoAddress, all_finite


def _truth(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: np.where(ufunc(x, y), 1.0, 0.0)


UFUNCS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "sign": lambda x: np.where(np.abs(x) > 0.0, np.copysign(1.0, x), x),
    "min": lambda x, y: np.where(y < x, y, x),
    "max": lambda x, y: np.where(x < y, y, x),
    "less": _truth(np.less),
    "less_equal": _truth(np.less_equal),
    "equal": _truth(np.equal),
    "select": lambda c, x, y: np.where(c != 0.0, x, y),
}
"""How each operation is done on arrays."""


class UfuncCode(NoAddress):
    """A program as a loop of ufuncs over columns of samples."""

    backend = "numpy"

    def __init__(self, program: Program):
        self._program = program

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        program = self._program
        values: list[Any] = [a[..., k] for a in arrays for k in range(a.shape[-1])]
        values += [np.float64(c) for c in program.constants]
        with np.errstate(all="ignore"):  # a pole gives inf or nan here as in machine code, without a warning
            for row in program.rows:
                values.append(UFUNCS[row.op](*[values[a] for a in row.args]))
        results = []
        for out in program.outputs:
            result = np.empty((batch, len(out.slots)))
            for k, slot in enumerate(out.slots):
                result[:, k] = values[slot]
            results.append(result)
        return results, all_finite(arrays)


def compile_numpy(program: Program) -> Kernel:
    """The kernel that runs `program` by ufuncs."""
    return Kernel(program, UfuncCode.backend, UfuncCode(program))
