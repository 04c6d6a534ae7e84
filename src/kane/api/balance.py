"""The energy balance along a motion: kinetic energy and potential of gravity against the work of everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import compile
from .records import Array

if TYPE_CHECKING:
    from .trajectory import Trajectory

ROUNDING = 1e-12
"""Share of the kinetic energy that parts at rest may have."""


@dataclass(frozen=True, slots=True)
class EnergyBalance:
    """Kinetic energy, potential of gravity, and work of efforts and of all other loads, (k,) each, in J.

    `driven` says that parts move at u = 0, as those of prescribed joints do: what moves them does work too, which is
    not counted, and the total changes by it.

    >>> run = kane.load("double-pendulum").simulate(1, control={"u1": "-u1"}, rtol=1e-10)
    >>> run.balance().error < 1e-7
    True
    """

    kinetic: Array
    potential: Array
    work: Array
    driven: bool = False

    @property
    def total(self) -> Array:
        """Kinetic + potential − work (J), which does not change along a motion that is not `driven`.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1], tau=[2.0])
        >>> bool(np.ptp(run.balance().total) < 1e-6)
        True
        """
        return self.kinetic + self.potential - self.work

    @property
    def error(self) -> float:
        """How far the total strays from its start (J).

        >>> kane.load("pendulum").simulate(1).balance().error < 1e-6
        True
        """
        values = self.total
        return float(np.max(np.abs(values - values[0])))


def balance(run: Trajectory) -> EnergyBalance:
    """The energy balance along a motion."""
    model = run.model
    equations = model.equations()
    outputs = {"potential": ((), [equations.gravity_potential])}
    kernel = compile(equations.lower_outputs("gravity_potential", ["t", "q"], outputs))
    inputs: dict[str, Any] = {"t": run.t[:, None], "q": run.q, "parameters": model.mechanism.free_values()}
    potential = kernel(*(inputs[g.name] for g in kernel.program.inputs))
    kinetic = run.energy().kinetic
    at_rest = model.energy(run.q, np.zeros_like(run.u), t=run.t[:, None]).kinetic
    driven = bool(np.any(at_rest > ROUNDING * np.max(kinetic, initial=0.0)))
    return EnergyBalance(kinetic, potential, run.work, driven)
