"""Mass, first moment and inertia of a rigid body about a reference point, and what can be moved between bodies.

`Inertia` holds m (kg), h = m c (kg m) and I (kg m²) about a point O fixed in the body, components in the body's frame.
These ten numbers add, shift and turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..graph import Expr, Graph
from ..space.algebra import (
    Matrix,
    Triple,
    cross,
    dot,
    is_zero,
    minus,
    parallel_axis_term,
    plus,
    rotate_tensor,
    scaled,
    sum_of,
    times,
)


@dataclass(frozen=True, slots=True)
class Inertia:
    """m, h and I about a reference point, in a frame."""

    m: Expr
    h: Triple
    I: Matrix

    @staticmethod
    def nothing(graph: Graph) -> Inertia:
        zero = graph.const(0.0)
        none = (zero, zero, zero)
        return Inertia(zero, none, (none, none, none))

    @staticmethod
    def of(m: Expr, c: Triple, central: Matrix) -> Inertia:
        """Of a body with mass centre at c from the reference point and the given central inertia."""
        return Inertia(m, scaled(m, c), sum_of(central, parallel_axis_term(scaled(0.5 * m, c), c)))

    @property
    def is_nothing(self) -> bool:
        return self.m.is_zero and is_zero(self.h) and all(is_zero(row) for row in self.I)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, plus(self.h, other.h), sum_of(self.I, other.I))

    def __sub__(self, other: Inertia) -> Inertia:
        rows = tuple(minus(a, b) for a, b in zip(self.I, other.I, strict=True))
        return Inertia(self.m - other.m, minus(self.h, other.h), rows)  # type: ignore[arg-type]

    def rotate(self, R: Matrix) -> Inertia:
        """With components in P, given R_PC from the present frame C."""
        return Inertia(self.m, times(R, self.h), rotate_tensor(R, self.I))

    def shift(self, p: Triple) -> Inertia:
        """About a point O such that the present reference point lies at p from O."""
        mp = scaled(self.m, p)
        moved = sum_of(parallel_axis_term(p, self.h), parallel_axis_term(scaled(0.5, mp), p))
        return Inertia(self.m, plus(self.h, mp), sum_of(self.I, moved))

    def momentum(self, w: Triple, v: Triple) -> tuple[Triple, Triple]:
        """(p, H): linear momentum, and angular momentum about the reference point, for ω and its velocity v."""
        return plus(scaled(self.m, v), cross(w, self.h)), plus(times(self.I, w), cross(self.h, v))

    def kinetic_energy(self, w: Triple, v: Triple) -> Expr:
        """½ m v² + v · (ω × h) + ½ ω · I ω"""
        spin = 0.5 * dot(w, times(self.I, w))
        return 0.5 * self.m * dot(v, v) + dot(v, cross(w, self.h)) + spin

    def loads(self, w: Triple, alpha: Triple, U: Matrix, a: Triple) -> tuple[Triple, Triple]:
        """(F, N): force and moment about the reference point that give the body its acceleration.

        F = m a + U h,   N = I α + ω × I ω + h × a,   with the products of ω read from U = α̃ + ω̃ ω̃.
        """
        F = plus(scaled(self.m, a), times(U, self.h))
        return F, plus(self._inertia_torque(w, alpha, U), cross(self.h, a))

    def _inertia_torque(self, w: Triple, alpha: Triple, U: Matrix) -> Triple:
        (Ixx, Ixy, Ixz), (_, Iyy, Iyz), (_, _, Izz) = self.I
        yz, xz, xy = w[1] * w[2], w[0] * w[2], w[0] * w[1]
        return (
            Ixx * alpha[0] + (Izz - Iyy) * yz + Ixz * U[1][0] - Ixy * U[2][0] + Iyz * (U[1][1] - U[2][2]),
            Iyy * alpha[1] + (Ixx - Izz) * xz + Ixy * U[2][1] - Iyz * U[0][1] + Ixz * (U[2][2] - U[0][0]),
            Izz * alpha[2] + (Iyy - Ixx) * xy + Iyz * U[0][2] - Ixz * U[1][2] + Ixy * (U[0][0] - U[1][1]),
        )


def part_without_effect_on_revolute(body: Inertia, axis: Triple, *, outermost: bool = False) -> Inertia:
    """The part of `body` that a revolute joint about `axis` through the reference point does not respond to.

    Mass on the axis, and an inertia a (1 − e eᵀ): both stay as they are when the body turns, so they may as well be
    fixed in the parent (base inertial parameters). `a` is chosen so that one transverse moment of the rest vanishes: of
    an outermost body that about the axis along which h lies, since no other term has the angular acceleration about it.
    """
    e = axis
    along = dot(body.h, e)
    across = [j for j in (1, 0, 2) if abs(e[j].number or 0.0) < 0.5] or [1]
    k = min(across, key=lambda j: outermost and body.h[j].is_zero)
    transverse = body.I[k][k]  # exact where e is a coordinate axis; otherwise any choice is valid
    graph = body.m.graph
    one = graph.const(1.0)
    rows = []
    for i in range(3):
        row = [transverse * ((one if i == j else graph.const(0.0)) - e[i] * e[j]) for j in range(3)]
        rows.append((row[0], row[1], row[2]))
    return Inertia(body.m, scaled(along, e), (rows[0], rows[1], rows[2]))
