"""Properties of the whole system at a state: mass centre, inertia and angular momentum about the mass centre.

Both are summed from the mass centre of the system, not moved there from the origin of N: in orbit the origin is so far
away that moving them would leave no digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import Expr
from ..space.algebra import Triple, cross, minus, plus, scaled, similar, sum_of
from .inertia import Inertia

if TYPE_CHECKING:
    from .equations import Equations

Output = tuple[tuple[int, ...], list[Expr]]


def _center(equations: Equations) -> tuple[Expr, Triple]:
    """(m, r): total mass and position of the mass centre in N."""
    _, (m, *moment) = equations.mass_center
    return m, (moment[0] / m, moment[1] / m, moment[2] / m)


def system_inertia(equations: Equations) -> dict[str, Output]:
    """Total mass (kg), mass centre in N (m), and inertia about the mass centre in N (kg m²)."""
    kin, N, graph = equations.velocities, equations.mechanism.N, equations.graph
    m, r = _center(equations)
    total = Inertia.nothing(graph).I
    for body in equations.masses:
        R = kin.orientation(body.frame)
        here = Inertia(body.inertia.m, kin.turn(body.inertia.h, body.frame, N), similar(R, body.inertia.I))
        arm = minus(kin.position(body.ref), r)
        total = sum_of(total, here.shifted(arm).I)
    return {"mass": ((), [m]), "center": ((3,), list(r)), "inertia": ((3, 3), [e for row in total for e in row])}


def central_momentum(equations: Equations) -> dict[str, Output]:
    """Linear momentum (kg m/s), and angular momentum about the mass centre (kg m²/s), in N."""
    kin, N = equations.velocities, equations.mechanism.N
    m, r = _center(equations)
    linear = equations.momentum[0]
    v = scaled(1.0 / m, linear)
    total = kin.zero
    for body in equations.masses:
        p, H = body.inertia.momentum(kin.w(body.frame), kin.v(body.ref))
        arm = minus(kin.position(body.ref), r)
        p_N = kin.turn(p, body.frame, N)
        moving = minus(p_N, scaled(body.inertia.m, v))  # relative to the mass centre: what the whole has in common is 0
        total = plus(total, plus(kin.turn(H, body.frame, N), cross(arm, moving)))
        total = minus(total, cross(kin.turn(body.inertia.h, body.frame, N), v))
    return {"linear": ((3,), list(linear)), "angular": ((3,), list(total))}
