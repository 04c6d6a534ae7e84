"""The programs of a model, called by name on arrays of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..formulation import Equations, formulate
from ..formulation.equations import Output
from ..graph import lower
from ..model import Mechanism

Array = np.ndarray[Any, np.dtype[np.float64]]


def equations_of(model: Mechanism | Equations) -> Equations:
    """The equations of a model, which may be given already."""
    return model if isinstance(model, Equations) else formulate(model)


@dataclass(frozen=True, slots=True)
class States:
    """States of a model: t (k, 1), q (k, n_q), u (k, n), and as many accelerations and efforts (k, n)."""

    t: Array
    q: Array
    u: Array
    udot: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.q)

    def groups(self) -> dict[str, Array]:
        """Inputs of programs, by name."""
        return {"t": self.t, "q": self.q, "u": self.u, "udot": self.udot, "tau": self.tau}


class Programs:
    """Calls programs of a model by name, compiling them when first asked for; `values` are those of its free
    parameters, in their order, None for those of the description."""

    def __init__(self, equations: Equations, backend: str = "llvm", values: Array | None = None):
        self.equations = equations
        self.backend = backend
        parameters = equations.mechanism.parameters
        self._values = np.array([parameters[p].value for p in equations.free]) if values is None else values
        self._kernels: dict[str, Kernel] = {}

    def __call__(self, name: str, states: States, **given: Array) -> Any:
        """The named outputs at the states; inputs in `given` take the place of theirs."""
        if name not in self._kernels:
            self._kernels[name] = compile(self.equations.program(name), self.backend)
        return self._run(self._kernels[name], states, given)

    def of(self, name: str, groups: tuple[str, ...], outputs: Mapping[str, Output], states: States) -> Any:
        """Any outputs over named groups of inputs, at the states; used once, so neither made short nor compiled."""
        if name not in self._kernels:
            inputs = self.equations.groups([*groups, "parameters"])
            self._kernels[name] = compile(lower(name, inputs, outputs, simplify=False), "numpy")
        return self._run(self._kernels[name], states, {})

    def _run(self, kernel: Kernel, states: States, given: Mapping[str, Array]) -> Any:
        known = {**states.groups(), "parameters": self._values}
        known.update(given)
        return kernel(*(known[g.name] for g in kernel.program.inputs if g.labels))
