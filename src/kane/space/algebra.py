"""Three-component algebra over scalars: tuples of three, matrices as three rows.

Products with the number 0 or 1 vanish in the graph, so nothing here but `dot` asks what is sparse.
"""

from __future__ import annotations

from ..graph import Expr
from ..graph.graph import ZERO

Scalar = Expr
Triple = tuple[Expr, Expr, Expr]
Matrix = tuple[Triple, Triple, Triple]


def plus(a: Triple, b: Triple) -> Triple:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Triple, b: Triple) -> Triple:
    """a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scaled(k: Expr | float, a: Triple) -> Triple:
    """k a."""
    return (k * a[0], k * a[1], k * a[2])


def dot(a: Triple, b: Triple) -> Expr:
    """a · b. Products with 0 are left out, two of three where vectors lie along axes: most sums are made here."""
    (ax, ay, az), (bx, by, bz) = a, b
    total = ax * bx if ax.id != ZERO and bx.id != ZERO else None
    if ay.id != ZERO and by.id != ZERO:
        total = ay * by if total is None else total + ay * by
    if az.id != ZERO and bz.id != ZERO:
        total = az * bz if total is None else total + az * bz
    if total is None:
        return ax if ax.id == ZERO else bx  # which is 0
    return total


def cross(a: Triple, b: Triple) -> Triple:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def transpose(m: Matrix) -> Matrix:
    """mᵀ."""
    (a, b, c), (d, e, f), (g, h, i) = m
    return ((a, d, g), (b, e, h), (c, f, i))


def times(m: Matrix, v: Triple) -> Triple:
    """m v."""
    return (dot(m[0], v), dot(m[1], v), dot(m[2], v))


def transpose_times(m: Matrix, v: Triple) -> Triple:
    """mᵀ v."""
    return times(transpose(m), v)


def product(a: Matrix, b: Matrix) -> Matrix:
    """a b."""
    x, y, z = transpose(b)
    p, q, r = a
    return (
        (dot(p, x), dot(p, y), dot(p, z)),
        (dot(q, x), dot(q, y), dot(q, z)),
        (dot(r, x), dot(r, y), dot(r, z)),
    )


def sum_of(a: Matrix, b: Matrix) -> Matrix:
    """a + b."""
    return (plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2]))


def rotate_tensor(R: Matrix, m: Matrix) -> Matrix:
    """R m Rᵀ of a symmetric m: six entries computed, three mirrored."""
    half = tuple(times(R, column) for column in m)  # (R m)ᵀ by columns of the symmetric m, one row each
    rows = transpose(half)  # type: ignore[arg-type]
    xx, yy, zz = dot(rows[0], R[0]), dot(rows[1], R[1]), dot(rows[2], R[2])
    xy, xz, yz = dot(rows[0], R[1]), dot(rows[0], R[2]), dot(rows[1], R[2])
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def parallel_axis_term(p: Triple, h: Triple) -> Matrix:
    """−(p̃ h̃ + h̃ p̃) = 2 (p·h) 1 − p hᵀ − h pᵀ: what moving a first moment h by p adds to an inertia, symmetric."""
    a, b, c = p[0] * h[0], p[1] * h[1], p[2] * h[2]
    xy = -(p[0] * h[1] + p[1] * h[0])
    xz = -(p[0] * h[2] + p[2] * h[0])
    yz = -(p[1] * h[2] + p[2] * h[1])
    return ((2.0 * (b + c), xy, xz), (xy, 2.0 * (a + c), yz), (xz, yz, 2.0 * (a + b)))


def is_zero(a: Triple) -> bool:
    """Whether all three components are the number 0."""
    return all(x.is_zero for x in a)
