"""Projected Gauss–Seidel: the contacts one after another, each solved exactly while the others hold still."""

from __future__ import annotations

import numpy as np

from .call import part
from .cones import solve_contact
from .contacts import TIGHT, evaluate

LOOK = np.int64(4)
"""Sweeps between two evaluations of the residual, which costs about half a sweep."""


@part
def sweep_contacts(m, sweeps):
    """Sweep over all contacts so often, or until the natural residual needs no more; it is returned."""
    for count in range(1, sweeps + 1):
        for i in range(m.k):
            solve_contact(m, i)
        m.sweeps += 1
        if count % LOOK == 0 and evaluate(m) <= TIGHT:
            break
    return evaluate(m)
