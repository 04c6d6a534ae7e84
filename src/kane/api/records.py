"""What a model answers with, where that is more than one array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class Energy(NamedTuple):
    """`kinetic` and `potential` energy (J), numbers or (batch,), and their sum, `total`.

    >>> kane.load("pendulum").energy([0], [2.0]).kinetic
    2.0
    """

    kinetic: Any
    potential: Any

    @property
    def total(self) -> Any:
        """Kinetic and potential energy together (J).

        >>> kane.load("pendulum").energy([0], [2.0]).total
        -7.8100000000000005
        """
        return self.kinetic + self.potential


class Momentum(NamedTuple):
    """`linear` momentum (kg m/s) and `angular` momentum (kg m²/s), (…, 3) each, components in N.

    >>> kane.load("pendulum").momentum([0], [2.0]).linear.tolist()
    [2.0, 0.0, 0.0]
    """

    linear: Any
    angular: Any


class ConstraintRows(NamedTuple):
    """The rows of constraints at a state: `A` (…, m, n), the `rate` A u + c (…, m), `b` (…, m) of A udot = b, and the
    residuals `phi` (…, m) of configurations (m, rad).

    >>> m = kane.load("four-bar")
    >>> m.constraint_rows(*m.project()).phi.shape
    (5,)
    """

    A: Any
    rate: Any
    b: Any
    phi: Any


class Residuals(NamedTuple):
    """How far off its constraints a motion is: `rows` by name, residuals of configurations, `position` (k, m), and
    rates A u + c, `velocity` (k, m).

    >>> kane.load("pendulum").simulate(1).residuals.rows
    ()
    """

    rows: tuple[str, ...]
    position: Any
    velocity: Any


class Wrench(NamedTuple):
    """A resultant `force` (N) and `moment` (N m), (…, 3) each, components in N.

    >>> m = kane.load("free-body")
    >>> m.external_loads(*m.initial_state).force.tolist()
    [0.0, 0.0, 0.0]
    """

    force: Any
    moment: Any
