"""Steering of vehicles: the angles φ_j(φ) of wheels by the laws of the field or by expressions, and what is refused.

The steering angle φ is one coordinate with its own effort. `parallel` gives every wheel that angle; `ackermann` points
the axles of all steered wheels at one centre on the line of the unsteered ones; `articulated` turns the frame that
carries them about a pivot. A law has a finite value and no jump within the range of φ, and axles of wheels that do
not slip meet in one point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, evaluate, forward
from .builder import Builder
from .constraints import ConfigurationEquations
from .records import Body, Shape
from .road_wheels import BuiltWheel, RoadWheel
from .symbols import Quantity

if TYPE_CHECKING:
    from .mechanism import Mechanism

ARTICULATED = "articulated"
LAWS = ("ackermann", "parallel", ARTICULATED)
RANGE = math.pi / 3
"""Steering angles (rad) to either side in which a law is judged where no limit is given."""

_TURN = (0.31, -0.17)  # of the angles that are possible: where wheels must leave a motion
_MISS = 1e-9  # m by which the axles of wheels may miss one common point
_SAMPLES = 241  # angles at which a law is looked at
_HALVINGS = 40  # until the place of a jump is known to rounding
_JUMP = 0.5  # rad by which a law may differ from what its derivative says between two of them
_STEM = 0.08  # radius of a fork, in radii of its wheel, as it is drawn


class SteeringLaw:
    """Steering angles of a vehicle's wheels. `angle` is the vehicle's own; `limit` (rad) is how far it goes."""

    def __init__(self, m: Mechanism, platform: Body, wheels: Mapping[str, RoadWheel], angle: Expr | None, limit: float):
        self.m, self.platform, self.angle, self.limit = m, platform, angle, limit
        straight = [
            w for w in wheels.values() if w.at is not None and w.steering is None and w.trail is None and not w.ball
        ]
        steered = [w for w in wheels.values() if w.at is not None and w.steering is not None]
        self.rear, self.front = (self._mean(group) for group in (straight, steered))

    def _mean(self, wheels: Sequence[RoadWheel]) -> Expr:
        total = self.m.graph.const(0.0)
        for wheel in wheels:
            assert wheel.at is not None
            total = total + self.m.scalar(wheel.at[0], "wheel / at")
        return total * (1.0 / max(len(wheels), 1))

    def angle_of(self, build: Builder, wheel: RoadWheel) -> Expr:
        """φ_j(φ): "parallel" is φ; "ackermann" points every axle at one centre on the line of the unsteered axle."""
        if wheel.steering not in LAWS:
            assert wheel.steering is not None
            law = build.scalar(wheel.steering, "steering")
            self._refuse_pole(build, law)
            return law
        if self.angle is None:
            raise build.refuse(
                f"'{wheel.steering}' needs the vehicle's steering angle", fix="add steering: phi to the vehicle"
            )
        if wheel.steering == "parallel":
            return self.angle
        assert wheel.at is not None
        x, y, _ = build.fixed_triple(wheel.at, "at")
        s, c = self.angle.sin(), self.angle.cos()
        return ((x - self.rear) * s).atan2((self.front - self.rear) * c - y * s)

    def _refuse_pole(self, build: Builder, law: Expr) -> None:
        """Refuse a law that has no value, or jumps, at an angle within the range."""
        if self.angle is None or law.number is not None:
            return
        m, phi = self.m, self.angle
        pair = [law, *forward([law], {phi: 1.0})]
        used = m.inputs_of(pair)
        values = {"t": 0.0, **{name: m.parameters[name].value for name in used if name in m.parameters}}
        values |= {name: m.coordinate_records[name].initial for name in used if name in m.coordinate_records}

        def at(angle: float) -> Sample:
            try:
                value, slope = evaluate(pair, {**values, repr(phi): angle})
            except (ExpressionError, ZeroDivisionError, OverflowError, ValueError):
                return math.nan, math.nan
            return value, slope

        pole = _find_jump(at, -self.limit, self.limit)
        if pole is not None:
            before, after = (at(pole + side * 1e-6)[0] for side in (-1.0, 1.0))
            what = f"the law has a pole at {phi!r} = {pole:.6g} rad ({math.degrees(pole):.4g}°): "
            what += f"it goes from {before:.6g} to {after:.6g} rad there"
            because = f"a wheel turns without a jump while steering goes to {self.limit:.6g} rad on either side"
            fix = f"use steering: ackermann, which has none, or a smaller range: steering_limit: {0.95 * abs(pole):.3g}"
            raise build.refuse(what, because, fix, "steering")


Sample = tuple[float, float]  # value and slope of a law


def _find_jump(at: Callable[[float], Sample], low: float, high: float) -> float | None:
    """The first angle at which a law has no value or jumps."""
    angles = np.linspace(low, high, _SAMPLES).tolist()
    known = at(low)
    for a, b in pairwise(angles):
        here = at(b)
        found = _jump_between(at, (a, known), (b, here), _HALVINGS)
        if found is not None:
            return found
        known = here
    return None


def _jump_between(
    at: Callable[[float], Sample], left: tuple[float, Sample], right: tuple[float, Sample], depth: int
) -> float | None:
    """Where between two angles a law has no value, or differs from what its slopes say however near one looks."""
    (a, (fa, da)), (b, (fb, db)) = left, right
    for angle, sample in (left, right):
        if not all(map(math.isfinite, sample)):
            return angle
    if abs(fb - fa - 0.5 * (da + db) * (b - a)) <= _JUMP:
        return None
    c = 0.5 * (a + b)
    if depth == 0:
        return c
    middle = c, at(c)
    found = _jump_between(at, left, middle, depth - 1)
    return _jump_between(at, middle, right, depth - 1) if found is None else found


def speed_of(m: Mechanism, angle: str) -> list[str] | None:
    """The name of a steering rate, uphi for phi; None, for one of the package's own, where it is taken."""
    return None if f"u{angle}" in m.known_names else [f"u{angle}"]


def stem(m: Mechanism, wheel: RoadWheel) -> Shape:
    """What a fork looks like: an upright rod, as long as its wheel's radius."""
    radius: Any = wheel.radius
    length = m.number(radius, "radius")
    return Shape("cylinder", (_STEM * length, length))


def column_name(vehicle: str) -> str:
    """The name of a vehicle's steering column, where it has one."""
    return f"{vehicle}_steering"


def steering_angle(
    build: Builder, body: Body, wheels: Mapping[str, RoadWheel], steering: str | None, inertia: Quantity
) -> Expr | None:
    """The steering angle of the vehicle. Where no wheel's fork turns by just that angle, a column without mass does,
    which may have an inertia (kg m²) about z."""
    if steering is None:
        return None
    m, name = build.mechanism, build.name
    if steering in m.coordinate_records:
        return m.coordinate_records[steering].symbol
    if any(wheel.steering == steering for wheel in wheels.values()):
        return None  # that fork's joint has the coordinate; others come after it
    spin = build.positive(inertia, "steering_inertia", "≥ 0")
    disc = {"xx": 0.5 * spin, "yy": 0.5 * spin, "zz": spin}
    column = m.body(column_name(name), inertia=disc, shapes=[stem(m, next(iter(wheels.values())))])
    speeds = speed_of(m, steering)
    joint = m.joint(column.name, "revolute", body, column, axis="z", coordinates=[steering], speeds=speeds)
    return joint.coordinates[0].symbol


# axles that leave a motion -------------------------------------------------------------------------------------------


def refuse_locked(m: Mechanism, wheels: Sequence[BuiltWheel], law: SteeringLaw, where: str) -> None:
    """Refuse fixed and steered wheels whose axles do not meet in one point, so that nothing can turn."""
    rows: dict[str, tuple[Expr, Expr, Expr]] = {}
    for wheel in wheels:
        record = wheel.record
        if record.at is None or record.on is not None or record.trail is not None or record.roller is not None:
            continue
        if record.ball or "lateral" not in record.rows or record.steering == ARTICULATED:
            continue
        x, y, _ = m.fixed_triple(record.at, f"wheel '{wheel.name}' / at")
        angle = m.graph.const(0.0) if wheel.carrier is law.platform else _angle_in(m, wheel)
        s, c = angle.sin(), angle.cos()
        rows[wheel.name] = (-s, c, x * c + y * s)
    used = m.inputs_of([e for row in rows.values() for e in row])
    values = {"t": 0.0, **{name: m.parameters[name].value for name in used if name in m.parameters}}
    for turn in (min(t, law.limit) if t > 0 else max(t, -law.limit) for t in _TURN):
        at = {**values, **{name: turn for name in used if name in m.coordinate_records}}
        found: list[list[float]] = []
        for name, row in rows.items():
            found.append([float(x) for x in evaluate(list(row), at)])
            if np.linalg.svd(np.array(found), compute_uv=False)[2:].sum() > _MISS:
                raise ModelError(_lock_problem(m, where, name, found, law, turn))


def _lock_problem(
    m: Mechanism, where: str, name: str, rows: list[list[float]], law: SteeringLaw, turn: float
) -> Problem:
    """The refusal of the wheel of the last row: how far its axle is from where the others meet."""
    steered = "" if law.angle is None else f" at {law.angle!r} = {turn:g} rad"
    *others, (a, b, d) = rows
    null = np.linalg.svd(np.array(others))[2][-1]  # the motion (vx, vy, yaw rate) that the others leave
    slip = abs(float(np.dot(null, (a, b, d))))
    turning = abs(float(null[2]))
    gap = (
        f"misses the centre of the others by {slip / turning:.6g} m" if turning > _MISS else "is not parallel to theirs"
    )
    what = f"{name}.lateral leaves no motion{steered}: its axle {gap}"
    because = "the axles of wheels that do not slip meet in one point, or are parallel"
    fix = "let it slip (rows: [longitudinal]), trail, or steer it by a law such as ackermann"
    return Problem(m.where(where), what, because, fix)


def _angle_in(m: Mechanism, wheel: BuiltWheel) -> Expr:
    """The angle of a steered wheel's fork, from its steering law where it follows one."""
    tied = m.constraints.get(wheel.carrier.name)
    joint = wheel.carrier.joint
    assert joint is not None
    own = joint.coordinates[0].symbol
    if tied is None or not isinstance(tied.record, ConfigurationEquations):
        return own
    equation: Any = tied.record.equations
    first = equation[0] if isinstance(equation, (list, tuple)) else equation
    return own - first if isinstance(first, Expr) else own


__all__ = [
    "ARTICULATED",
    "LAWS",
    "RANGE",
    "SteeringLaw",
    "column_name",
    "refuse_locked",
    "speed_of",
    "steering_angle",
    "stem",
]
