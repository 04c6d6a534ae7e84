"""Geometry of rolling: where a wheel, a ball or an ellipsoid touches a plane or a ball, in closed form.

Each function returns a `Contact`: the arm from the rolling body's centre to the place of contact, the directions of the
rows, and the height of the body over the surface. The rate of the height is the velocity of the material point at the
contact along the normal, since the place of contact moves along the surface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...graph import Expr
from ...space import Frame, Point, Vector, position, rotations
from ...space.algebra import Triple, cross, is_zero, minus, scaled, transpose_times
from ..joints import Revolute
from ..loads.actions import point_of
from ..records import Body

_SAME = 1e-12  # components of two unit vectors that are one, up to rounding of what was typed


@dataclass(frozen=True, slots=True)
class Contact:
    """`center` of the rolling body, `arm` (m) from there to the place of contact, directions of the rows by their
    labels, the last being the normal, and `height` (m) above the surface. `rising` (m/s) is the rate of the height that
    is due to t alone, where there is one: that of a surface which moves in its body."""

    center: Point
    arm: Vector
    directions: tuple[tuple[str, Vector], ...]
    height: Expr
    rising: Expr | None = None


def wheel_on_plane(
    center: Point, axis: Vector, radius: Expr, crown: Expr, plane: Point, normal: Vector, either_side: bool
) -> Contact:
    """A wheel of outer `radius` about `axis`, its rim a circle of radius `crown` in cross-section (0: a knife edge).
    Unless on `either_side`, leaning more than 90° leaves the contact at the place of the rim that it had upright.

    With s = |axis × n|: heading h = axis × n / s, contact at (radius − crown) axis × h − crown n from the centre,
    height n · (C − plane) − (radius − crown) s − crown.
    """
    n = normal.express(axis.frame)
    s, heading, e1 = _heading(axis.cross(n))
    e2 = n.cross(e1)
    inner = radius - crown
    arm = axis.cross(heading if either_side else e1) * inner - n * crown
    height = normal.dot(position(center, plane)) - inner * s - crown
    return Contact(center, arm, (("longitudinal", e1), ("lateral", e2), ("normal", n)), height)


def ball_on_plane(
    center: Point, radius: Expr, plane: Point, normal: Vector, directions: Sequence[tuple[str, Vector]]
) -> Contact:
    """A ball: contact at −radius n from its centre."""
    height = normal.dot(position(center, plane)) - radius
    return Contact(center, normal * (-radius), (*directions, ("normal", normal)), height)


def ball_on_ball(
    center: Point, radius: Expr, other: Point, other_radius: Expr, triad: Sequence[tuple[str, Vector]], inside: bool
) -> Contact:
    """A ball on another one, or inside it.

    With n from the other's centre to the ball's: contact at −radius n from its centre, or +radius n inside. `triad` is
    right-handed and fixed in the other body, its last vector k where the ball is usually found; turned by the smallest
    rotation from k to n its first two are tangents, everywhere but at n = −k:
    t = c − (c · n) (k + n) / (1 + k · n).
    """
    (c_label, c), (d_label, d), (_, k) = triad
    line = position(center, other).express(k.frame)
    length = line.magnitude()
    n = line * (1.0 / length)
    share = (k + n) * (1.0 / (1.0 + k.dot(n)))
    tangents = [(label, x - share * x.dot(n)) for label, x in ((c_label, c), (d_label, d))]
    if inside:
        return Contact(center, n * radius, (*tangents, ("normal", -n)), other_radius - radius - length)
    return Contact(center, n * (-radius), (*tangents, ("normal", n)), length - other_radius - radius)


def ellipsoid_on_plane(
    center: Point,
    axes: tuple[Vector, Vector, Vector],
    semi_axes: Triple,
    plane: Point,
    normal: Vector,
    directions: Sequence[tuple[str, Vector]],
) -> Contact:
    """An ellipsoid with `semi_axes` a, b, c along `axes`, unit vectors of its body.

    With n's components along them, w = √(a²nx² + b²ny² + c²nz²): contact at −(a²nx, b²ny, c²nz) / w, height
    n · (C − plane) − w.
    """
    frame = axes[0].frame
    n = normal.express(frame)
    parts = [(size * size, axis, axis.dot(n)) for size, axis in zip(semi_axes, axes, strict=True)]
    total = parts[0][0] * parts[0][2] * parts[0][2]
    for square, _, share in parts[1:]:
        total = total + square * share * share
    w = total.sqrt()
    arm = frame.vector(0, 0, 0)
    for square, axis, share in parts:
        arm = arm - axis * (square * share / w)
    height = normal.dot(position(center, plane)) - w
    return Contact(center, arm, (*directions, ("normal", normal)), height)


def _heading(vector: Vector) -> tuple[Expr, Vector, Vector]:
    """(length, direction, direction of a row along it) of a vector.

    Along a coordinate axis these are |x| and the sign of x. Where x is ± cos of a lean, the row keeps the direction
    that it has at lean 0, also past 90°: no sign is left in it.
    """
    parts = [k for k, x in enumerate(vector.xyz) if not x.is_zero]
    if len(parts) != 1:
        length = vector.magnitude()
        e = vector * (1.0 / length)
        return length, e, e
    x = vector.xyz[parts[0]]
    unit, graph = Vector(vector.frame, rotations.unit(x.graph, parts[0])), x.graph
    sign = -1.0 if graph.ops[x.id] == "neg" else 1.0
    e = unit * x.sign()
    return x.abs(), e, unit * sign if graph.ops[(sign * x).id] == "cos" else e


def _outermost(axis: Vector) -> Vector:
    """The same vector in the frame nearest to the root in which its components are the same numbers at all times; of
    frames that are fixed in each other, the outer ones are no better."""
    best = axis
    while (outer := axis.frame.parent) is not None:
        w, axis = axis.frame.w_PF, axis.express(outer)
        if any(x.number is None for x in axis.xyz):
            break
        if w is None or not is_zero(w):
            best = axis
    return best


@dataclass(frozen=True, slots=True)
class Hub:
    """The middle of a wheel, its axis, and a frame that has the wheel's angular velocity."""

    center: Point
    axis: Vector
    turning: Frame


def hub(body: Body, center: Triple, axis: Triple, name: str) -> Hub:
    """A wheel written where its own angle does not appear, if it turns about `axis` in a revolute joint: its axis in a
    frame in which it rests, its centre, if it is on the axle, as a point of the carrier.

    The frame that turns with the wheel has its ω, ω_P + u e, and axes that rest in the carrier.
    """
    joint = body.joint
    assert body.frame is not None and body.origin is not None
    own = Hub(point_of(body, center, name), _outermost(Vector(body.frame, axis)), body.frame)
    if joint is None or not isinstance(joint.type, Revolute) or joint.frame is None or joint.frame.parent is None:
        return own
    base: Frame = joint.frame.parent
    axle = joint.type.axis
    in_joint = transpose_times(joint.child_mount, axis)
    if not any(_are_equal(in_joint, scaled(sign, axle)) for sign in (1.0, -1.0)):
        return own
    rests = _outermost(Vector(base, in_joint))
    turning = base.orient_new(f"{name}.turning", rotations.identity(base.graph), scaled(joint.rates[0], axle))
    offset = transpose_times(joint.child_mount, minus(center, joint.child_at))
    zero = scaled(0.0, offset)
    if not _are_equal(cross(offset, axle), zero):
        return Hub(own.center, rests, turning)
    pin = body.origin.parent
    assert pin is not None and pin.parent is not None
    return Hub(pin.parent.locate_new(name, Vector(base, offset), zero), rests, turning)


def _are_equal(a: Triple, b: Triple) -> bool:
    """Whether two vectors are one, for every value of the parameters."""
    gaps = minus(a, b)
    return all(g.number is not None and abs(g.number) <= _SAME for g in gaps)
