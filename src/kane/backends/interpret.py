"""The interpreter: plain Python over the rows, by the op table's own meaning. The oracle for all the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graph import Program
from ..graph.ops import TABLE
from .kernel import Floats, Kernel, NoAddress, all_finite


class InterpretedCode(NoAddress):
    """A program read row by row."""

    backend = "interpret"

    def __init__(self, program: Program):
        self._program = program
        self._slots = [s for o in program.outputs for s in o.slots]

    def evaluate_sample(self, inputs: Sequence[float]) -> list[float]:
        """All outputs of one sample, flat, from all its inputs, flat."""
        values = [*inputs, *self._program.constants]
        for row in self._program.rows:
            values.append(TABLE[row.op].value(*[values[a] for a in row.args]))
        return [values[s] for s in self._slots]

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        finite = all_finite(arrays)
        columns = [np.broadcast_to(a, (batch, a.shape[-1])).tolist() for a in arrays]
        flat = np.array(
            [self.evaluate_sample([x for c in columns for x in c[i]]) for i in range(batch if finite else 0)]
        )
        flat = flat.reshape(-1, len(self._slots))
        ends = np.cumsum([len(o.slots) for o in self._program.outputs])[:-1]
        return np.split(flat, ends, axis=1), finite


def compile_interpret(program: Program) -> Kernel:
    """The kernel that interprets `program`."""
    return Kernel(program, InterpretedCode.backend, InterpretedCode(program))
