"""Rotations: the matrix R_PC that turns components in C into components in P, and the angular velocity of C in P.

About an axis, by Euler angles in every body- and space-fixed sequence of two or three axes, by a quaternion
(`wxyz`), by direction cosines. Angles in radians, right-handed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from ..errors import ExpressionError
from ..graph import Expr, Graph
from ..graph.rules import ONE, ZERO
from .algebra import Matrix, Triple, dot, product, scaled, transpose, transpose_times

UNIT_TOLERANCE = 1e-6  # an axis is a unit vector to the digits people write
_ALONG: dict[tuple[float | None, ...], tuple[int, float]] = {
    tuple(s if j == k else 0.0 for j in range(3)): (k, s) for k in range(3) for s in (1.0, -1.0)
}
AXES = {"x": 0, "y": 1, "z": 2, "1": 0, "2": 1, "3": 2}


def triple(graph: Graph, values: Sequence[Expr | float]) -> Triple:
    """Three scalars of `graph`."""
    x, y, z = values
    lift = graph.lift
    return (lift(x), lift(y), lift(z))


def zeros(graph: Graph) -> Triple:
    """The vector 0."""
    zero = graph.expr(ZERO)
    return (zero, zero, zero)


def identity(graph: Graph) -> Matrix:
    """The matrix 1."""
    one, zero = graph.expr(ONE), graph.expr(ZERO)
    return ((one, zero, zero), (zero, one, zero), (zero, zero, one))


def unit(graph: Graph, axis: int) -> Triple:
    """The unit vector along axis 0, 1 or 2."""
    return identity(graph)[axis]


def axis(graph: Graph, given: str | Sequence[Expr | float]) -> Triple:
    """A unit vector: 'x', 'y', 'z' or three components, which are checked where they are numbers."""
    if isinstance(given, str):
        if given not in AXES:
            raise ExpressionError(f"'{given}' is not an axis: write x, y, z or three components")
        return unit(graph, AXES[given])
    e = triple(graph, given)
    numbers = [c.number for c in e if c.number is not None]
    length = math.hypot(*numbers)
    if len(numbers) == 3 and abs(length - 1.0) > UNIT_TOLERANCE:
        raise ExpressionError(
            f"the axis {numbers} has length {length:g}: an axis is a unit vector, divide by its length"
        )
    return e


def simple(axis: int, angle: Expr) -> Matrix:
    """Rotation by `angle` about coordinate axis 0, 1 or 2."""
    c, s = angle.cos(), angle.sin()
    return simple_of(axis, c, s, -s)


def simple_of(axis: int, c: Expr, s: Expr, minus_s: Expr) -> Matrix:
    """The rotation about a coordinate axis by the angle of this cosine and this sine, the latter with both signs."""
    zero, one = c.graph.expr(ZERO), c.graph.expr(ONE)
    if axis == 0:
        return ((one, zero, zero), (zero, c, minus_s), (zero, s, c))
    if axis == 1:
        return ((c, zero, s), (zero, one, zero), (minus_s, zero, c))
    return ((c, minus_s, zero), (s, c, zero), (zero, zero, one))


def along_axis(e: Triple) -> bool:
    """Whether a vector is x, y or z, or the opposite of one of them."""
    return (e[0].number, e[1].number, e[2].number) in _ALONG


def about(axis: Triple, angle: Expr) -> Matrix:
    """Rotation by `angle` about a unit vector: Rodrigues' formula, R = c 1 + s ẽ + (1 − c) e eᵀ."""
    along = _ALONG.get((axis[0].number, axis[1].number, axis[2].number))
    if along is not None:
        k, sign = along
        return simple(k, angle if sign > 0 else -angle)
    c, s = angle.cos(), angle.sin()
    x, y, z = axis
    a, b, d = scaled(1.0 - c, axis)
    sz, sy, sx = s * z, s * y, s * x
    ax, ab, ad, bb, bd, dd = x * a, x * b, x * d, y * b, y * d, z * d  # (1 − c) e eᵀ
    return (
        (c + ax, ab - sz, ad + sy),
        (ab + sz, c + bb, bd - sx),
        (ad - sy, bd + sx, c + dd),
    )


@cache
def parse_sequence(sequence: str) -> tuple[bool, tuple[int, ...]]:
    """(body-fixed?, axes) of "body 321", "space 123", "xyz" (body-fixed); two or three axes, no axis twice in a row."""
    words = sequence.lower().split()
    kind = words[0] if len(words) == 2 and words[0] in ("body", "space") else "body"
    letters = words[-1] if words else ""
    axes = tuple(AXES.get(c, -1) for c in letters)
    if (
        len(words) > 2
        or (len(words) == 2 and words[0] not in ("body", "space"))
        or not 1 <= len(axes) <= 3
        or -1 in axes
        or any(a == b for a, b in pairwise(axes))
    ):
        raise ExpressionError(
            f"'{sequence}' is not an Euler sequence: write 'body' or 'space' and one to three axes out of 1 2 3 "
            "or x y z, no axis twice in a row, as in 'body 321' or 'space xyz'"
        )
    return kind == "body", axes


def euler(sequence: str, angles: Sequence[Expr], steps: dict[int, Matrix] | None = None) -> Matrix:
    """Rotation by successive angles about the axes of `sequence`. Rotations about the single axes are taken out of
    `steps`, by their places in the sequence, where they have been made, and added where they are not."""
    body, axes = parse_sequence(sequence)
    if len(angles) != len(axes):
        raise ExpressionError(f"'{sequence}' takes {len(axes)} angles, {len(angles)} are given")
    known = {} if steps is None else steps
    R, *others = [_step(known, k, axes, angles) for k in range(len(axes))]
    for step in others:
        R = product(R, step) if body else product(step, R)
    return R


def _step(known: dict[int, Matrix], k: int, axes: Sequence[int], angles: Sequence[Expr]) -> Matrix:
    """The rotation about one axis of a sequence, made once."""
    if k not in known:
        known[k] = simple(axes[k], angles[k])
    return known[k]


def euler_partials(sequence: str, angles: Sequence[Expr], steps: dict[int, Matrix] | None = None) -> tuple[Triple, ...]:
    """Γ by columns: ω of C in P, in C, is Σ Γ_i · rate of angle i [STON08, joint partials]. `steps` is as for `euler`:
    given to both, it holds the sines and cosines that they share."""
    body, axes = parse_sequence(sequence)
    known, count = {} if steps is None else steps, range(len(axes))
    columns = []
    for i in count:
        e = unit(angles[0].graph, axes[i])
        for j in count[i + 1 :] if body else reversed(count[:i]):
            e = transpose_times(_step(known, j, axes, angles), e)
        columns.append(e)
    return tuple(columns)


def quaternion(wxyz: Sequence[Expr]) -> Matrix:
    """Rotation by the unit quaternion w + x i + y j + z k."""
    w, x, y, z = wxyz
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz, wx, wy, wz = x * y, x * z, y * z, w * x, w * y, w * z
    return (
        (1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)),
        (2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)),
        (2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)),
    )


def quaternion_rates(wxyz: Sequence[Expr], w_PC: Triple) -> tuple[Expr, Expr, Expr, Expr]:
    """Rates of the quaternion for ω of C in P with components in C: ½ e ⊗ (0, ω)."""
    w, x, y, z = wxyz
    p, q, r = (0.5 * k for k in w_PC)
    return (-x * p - y * q - z * r, w * p + y * r - z * q, w * q + z * p - x * r, w * r + x * q - y * p)


def from_matrix(rates: Matrix, R: Matrix) -> Triple:
    """ω of C in P, in C, from R_PC and its rate: the axial part of Rᵀ Ṙ."""
    columns, moved = transpose(R), transpose(rates)
    return (dot(columns[2], moved[1]), dot(columns[0], moved[2]), dot(columns[1], moved[0]))


def is_rotation(R: Sequence[Sequence[float]], tolerance: float = 1e-9) -> bool:
    """Whether a matrix of numbers is orthonormal and right-handed."""
    (a, b, c), (d, e, f), (g, h, i) = R
    lengths = (a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i)
    across = (a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i)
    if not (max(lengths) - 1.0 <= tolerance and 1.0 - min(lengths) <= tolerance and max(map(abs, across)) <= tolerance):
        return False
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0
