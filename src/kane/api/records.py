"""What a model answers with, where that is more than one array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class Energy(NamedTuple):
    """Kinetic and potential energy (J)."""

    kinetic: Any
    potential: Any


class Momentum(NamedTuple):
    """Linear momentum (kg m/s) and angular momentum (kg m²/s), components in N."""

    linear: Any
    angular: Any


class ConstraintRows(NamedTuple):
    """The rows of constraints at a state: A, the rate A u + c, b of A udot = b, residuals phi of configurations."""

    A: Any
    rate: Any
    b: Any
    phi: Any


class Residuals(NamedTuple):
    """How far off its constraints a motion is: rows by name, residuals of configurations (k, m) and rates A u + c
    (k, m)."""

    rows: tuple[str, ...]
    position: Any
    velocity: Any


class Wrench(NamedTuple):
    """A resultant force (N) and moment (N m), components in N."""

    force: Any
    moment: Any
