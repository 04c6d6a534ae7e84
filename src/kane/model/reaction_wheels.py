"""Wheels that are all spin, and liquid that sloshes.

Wheels are massless bodies with one moment of inertia, J e eᵀ, on a revolute joint about e: what is left of a symmetric
wheel once its mass and its inertia across e are counted with the body that carries it. A slosh pendulum is a body and a
joint under a convenient name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, Problem
from ..graph import Expr
from ..graph.rules import ONE
from ..space.algebra import Triple
from .drawn_shapes import DrawnShape, make_shapes
from .fields import ORIGIN
from .joints import Revolute
from .loads import JointSpring
from .records import Body, Joint, ReactionWheel
from .symbols import KnownRotation, Quantity

if TYPE_CHECKING:
    from .mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class ReactionWheelOptions:
    """Where a wheel is drawn (m, in its carrier's frame) and how; names of its coordinate and speed."""

    _: KW_ONLY
    at: Sequence[Quantity] = ORIGIN
    coordinate: str | None = None
    speed: str | None = None
    shapes: Sequence[DrawnShape] = ()


def add_reaction_wheel(
    m: Mechanism,
    name: str,
    body: Body | str,
    axis: str | Sequence[Quantity],
    inertia: Quantity,
    options: ReactionWheelOptions,
) -> ReactionWheel:
    """See `Mechanism.reaction_wheel`."""
    where = f"wheel '{name}'"
    m.new_name(name, "wheel", m.reaction_wheels)
    carrier = m.find_body(body, where)
    _check_carrier(m, carrier, where)
    e = m.axis(axis, f"{where} / axis")
    J = m.scalar(inertia, f"{where} / inertia")
    check_spin_inertia(m, J, f"{where} / inertia")
    if name in m.bodies:
        m.new_name(name, "body", m.bodies)
    zero, none = m.zero, m.zeros
    spun = Body(name, zero, none, (none, none, (zero, zero, J)), make_shapes(m, options.shapes, where), checked=False)
    m.bodies[name] = spun
    try:
        joint = m.joint(
            name,
            Revolute(m.unturned[2]),
            carrier,
            spun,
            at=options.at,
            rotation=_mount_along(m, e, where),
            coordinates=None if options.coordinate is None else [options.coordinate],
            speeds=None if options.speed is None else [options.speed],
        )
    except ModelError:
        del m.bodies[name]
        raise
    m.reaction_wheels[name] = ReactionWheel(name, carrier, e, J, spun, joint)
    return m.reaction_wheels[name]


def check_spin_inertia(m: Mechanism, J: Expr, where: str) -> None:
    """Refuse a wheel whose inertia about its axis is not more than zero."""
    m.constant([J], where)
    moment = m.number(J, where)
    if moment <= 0:
        raise ModelError(
            Problem(
                m.where(where),
                f"inertia {moment:g} kg m²",
                "a wheel stores angular momentum by its inertia",
                "give an inertia > 0 about its axis",
            )
        )


def _check_carrier(m: Mechanism, carrier: Body, where: str) -> None:
    if (wheel := m.reaction_wheels.get(carrier.name)) is not None and wheel.body is carrier:
        raise ModelError(
            Problem(
                m.where(where),
                f"it is mounted on wheel '{carrier.name}'",
                "a wheel is carried by a body that has mass and inertia of its own",
                "make the carrier a body with a revolute joint",
            )
        )


def _mount_along(m: Mechanism, e: Triple, where: str) -> KnownRotation | None:
    """An orientation whose third column is the unit vector e; wheels along one axis have the same.

    The angle of a wheel has no influence, so the two other columns need no exact arithmetic.
    """
    if e[2].id == ONE:
        return None
    key = e[0].id, e[1].id, e[2].id
    if (known := m.axis_mounts.get(key)) is not None:
        return known
    numbers = [n for c in e if (n := c.number) is not None]
    if len(numbers) < 3:
        matrix = m.fixed_rotation(_with_z_along(m, e, where), f"{where} / axis")
    else:
        const = m.graph.const
        (a, b, _), (c, d, _), (f, g, _) = _rows_with_z_along(numbers, -1.0 if numbers[2] < 0 else 1.0)
        matrix = (const(a), const(b), e[0]), (const(c), const(d), e[1]), (const(f), const(g), e[2])
    known = m.axis_mounts[key] = KnownRotation(matrix, fixed=True)
    return known


def _with_z_along(m: Mechanism, e: Triple, where: str) -> KnownRotation | None:
    """An orientation whose third column is the unit vector e, exact where e is a coordinate axis."""
    if e[2].id == ONE:
        return None
    x, y, z = _rows_with_z_along(e, _side(m, e, where))
    return KnownRotation((x, y, z))


def _side(m: Mechanism, e: Triple, where: str) -> float:
    """The sign of e_z at the parameters' defaults."""
    return -1.0 if m.number(e[2], where) < 0 else 1.0


def _rows_with_z_along(e: Sequence[Any], s: float) -> tuple[tuple[Any, Any, Any], ...]:
    """The rows of that orientation, of numbers or expressions: two columns orthogonal to e without a square root.

    They are singular only where e_z is −s, and s is the sign of e_z at the parameters' defaults, so that e may depend
    on parameters.
    """
    x, y, z = e
    a = -1.0 / (s + z)
    xa, ya = x * a, y * a
    b = x * ya
    return ((1.0 + s * (x * xa), b, x), (s * b, s + y * ya, y), (-s * x, -y, z))


@dataclass(frozen=True, slots=True)
class SloshOptions:
    """Where a slosh pendulum hangs (m) and along what, in its carrier's frame; its damping (N m s/rad); its shapes."""

    _: KW_ONLY
    at: Sequence[Quantity] = ORIGIN
    axis: str | Sequence[Quantity] = "z"
    damping: Quantity = 0.0
    shapes: Sequence[DrawnShape] = ()


def add_slosh(
    m: Mechanism, name: str, body: Body | str, mass: Quantity, length: Quantity, options: SloshOptions
) -> Joint:
    """See `Mechanism.slosh`."""
    where = f"slosh '{name}'"
    carrier = m.find_body(body, where)
    e = m.axis(options.axis, f"{where} / axis")
    arm = m.scalar(length, f"{where} / length")
    check_pendulum(m, arm, where)
    zero = m.graph.const(0.0)
    m.body(name, mass=mass, center=(zero, zero, -arm), shapes=options.shapes)
    joint = m.joint(name, "universal", carrier, name, at=options.at, rotation=_with_z_along(m, e, where))
    d = m.scalar(options.damping, f"{where} / damping")
    if not d.is_zero:
        for index in range(2):
            m.load(f"{name} damping {index + 1}", JointSpring(joint, damping=d, index=index))
    m.pendulums[name] = arm
    return joint


def check_pendulum(m: Mechanism, length: Expr, where: str) -> None:
    """Refuse a slosh pendulum whose length is not more than zero."""
    if not m.number(length, f"{where} / length") > 0:
        raise ModelError(Problem(m.where(where), f"length {length!r}", "a pendulum has a length", "give it > 0"))
