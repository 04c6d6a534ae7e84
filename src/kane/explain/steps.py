"""The velocity of a mass centre step by step: from N outwards, each step along the axes that it is shortest in.

v = Σ (ω × p + ṗ) and a = Σ (α × p + ω × (ω × p) + 2 ω × ṗ + p̈) over the offsets p between the ground and the mass
centre, each in the frame that carries it: the two-point formulas of a textbook.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..model import Body
from ..space import Frame, Kinematics, Point
from ..space.algebra import Matrix, Triple, cross, is_zero, plus, scaled, times


class _Take(Protocol):
    def triple(self, xyz: Triple) -> Triple: ...


@dataclass(frozen=True, slots=True)
class Step:
    """What one offset adds to velocity and acceleration, along the axes of `frame`."""

    frame: Frame
    velocity: Triple
    acceleration: Triple


def along_steps(kin: Kinematics, body: Body, take: _Take) -> list[Step] | None:
    """The steps from the ground to a mass centre; None where the analyst set a velocity, or an offset moves along axes
    other than those that it is written in."""
    assert body.frame is not None and body.origin is not None
    steps: list[Step] = []
    point: Point | None = body.origin
    while point is not None:
        if point.v_NP is not None:
            return None
        if (inner := kin.inner(point)) is not None:
            p, rate, axes = kin.offset(point)
            carrier = kin.carrier(point)
            if axes is not carrier and not is_zero(rate):
                return None
            steps.append(_step(kin, carrier, p, rate))
        point = inner
    steps = steps[::-1]
    steps.append(_step(kin, body.frame, take.triple(body.center), kin.zero))
    return [s for s in steps if not (is_zero(s.velocity) and is_zero(s.acceleration))]


def _step(kin: Kinematics, carrier: Frame, p: Triple, rate: Triple) -> Step:
    w = kin.w(carrier)
    velocity = plus(cross(w, p), rate)
    acceleration = times(kin.U(carrier), p)
    if not is_zero(rate):
        acceleration = plus(acceleration, plus(scaled(2.0, cross(w, rate)), kin.rate(rate)))
    frame = _plain_frame(kin, carrier)
    return Step(frame, kin.turn(velocity, carrier, frame), kin.turn(acceleration, carrier, frame))


def _plain_frame(kin: Kinematics, frame: Frame) -> Frame:
    """The frame, or the one that it is parallel to for ever: a mount that turns nothing has no name of its own."""
    while frame.parent is not None and _is_unturned(kin.R(frame)):
        frame = frame.parent
    return frame


def _is_unturned(R: Matrix) -> bool:
    return all(R[i][j].number == (1.0 if i == j else 0.0) for i in range(3) for j in range(3))
