"""Planar linkages in random tilted planes, closed by spatial joints, move as the planar ones do."""

from __future__ import annotations

from functools import cache

import numpy as np

from cases.test_rows_met_anyway import AGREEMENT, LENGTHS, Array, linkage, off, turn
from kane import Model
from long.block import Disagreement
from long.tries import draws

MOTION = 1e-7  # of q after a quarter of a second at the default tolerances of 1e-8


def _modes(model: Model, q: Array, u: Array) -> Array:
    """Eigenvalues in a fixed order, real and imaginary parts side by side."""
    return np.sort_complex(model.linearize(q, u).eigenvalues).view(np.float64)


@cache
def planar(kind: str) -> Model:
    """The linkage in the plane of x and y."""
    return linkage(kind, np.eye(3), planar=True)


def search(number: int) -> str:
    """One linkage in one plane: projection, accelerations, freedom, modes and a motion."""
    rng = draws("linkages", number)
    kind = list(LENGTHS)[number % len(LENGTHS)]
    plane, tilted = planar(kind), linkage(kind, turn(rng))
    first, speed, efforts = plane.speeds[0], float(rng.normal()), rng.normal(size=3)
    q, u = plane.project(u={first: speed}, hold=[first])
    there = tilted.project(u={first: speed}, hold=[first])
    found = {
        "project, q": off(there[0], q),
        "project, u": off(there[1], u),
        "forward_dynamics": off(tilted.forward_dynamics(q, u, efforts), plane.forward_dynamics(q, u, efforts)),
        "linearize": off(*(_modes(m, q, u) for m in (tilted, plane))),
    }
    bad = {what: size for what, size in found.items() if not size <= 10 * AGREEMENT}
    one, two = (m.simulate((0, 0.25), q=q, u=u) for m in (plane, tilted))
    if not (two.outcome.success and off(two.q[-1], one.q[-1]) <= MOTION):
        bad[f"simulate ({two.outcome})"] = off(two.q[-1], one.q[-1])
    if tilted.freedom(q).degrees != 1:
        bad["degrees of freedom"] = tilted.freedom(q).degrees
    if bad:
        raise Disagreement(f"{kind}: {bad}")
    return f"{kind}: as in its plane"
