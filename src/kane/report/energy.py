"""The energy balance along a motion: kinetic energy and potential of gravity against the work of everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..api import Array, Trajectory
from ..backends import compile


@dataclass(frozen=True, slots=True)
class Balance:
    """Kinetic energy, potential of gravity, and work of efforts and of all other loads, (k,) each, in J."""

    kinetic: Array
    potential: Array
    work: Array

    @property
    def error(self) -> float:
        """How far kinetic + potential − work strays from its start (J)."""
        values = self.kinetic + self.potential - self.work
        return float(np.max(np.abs(values - values[0])))


def balance(trajectory: Trajectory) -> Balance:
    """The energy balance along a motion."""
    model = trajectory.model
    equations = model.equations()
    outputs = {"potential": ((), [equations.gravity_potential])}
    kernel = compile(equations.lower_outputs("gravity_potential", ["t", "q"], outputs))
    given: dict[str, Any] = {"t": trajectory.t[:, None], "q": trajectory.q, "parameters": model.mechanism.free_values()}
    potential = kernel(*(given[g.name] for g in kernel.program.inputs))
    return Balance(trajectory.energy().kinetic, potential, trajectory.work)
