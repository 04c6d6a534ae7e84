"""What an outcome says about the place where a motion stopped before its end: gimbal lock, a wheel that lies flat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.thresholds import NEAR_SINGULAR
from ..model import Rolling, locks
from ..simulate import Outcome, Statistics
from .answers import Answers
from .records import Array

FLAT = 1e-2
"""Angle (rad) between a wheel and its plane below which it lies flat, for a motion that has stopped there."""

LIFT = 1e-3
"""By how much (rad, m) coordinates are changed to see which one raises a wheel."""

EARLIER = 10.0
"""How long (degrees) before it lies flat a fall is over."""


def name_stop(answers: Answers, outcome: Outcome, q: Array, statistics: Statistics) -> Outcome:
    """The outcome of a motion that ended in q, with gimbal lock or a flat wheel as the reason where that is why."""
    if outcome.success or outcome.reason == "interrupt":
        return outcome
    near = locks(answers.mechanism, q, NEAR_SINGULAR)
    if near:
        return replace(outcome, text=f"{outcome.text}; {'; '.join(map(str, near))}; a spherical joint has no lock")
    flat = _find_flat_wheels(answers, outcome.t, q)
    if not flat:
        return outcome
    which = f"wheel {flat[0].body!r} lies" if len(flat) == 1 else f"wheels {', '.join(repr(x.body) for x in flat)} lie"
    text = (
        f"stopped at t = {outcome.t:.10g} s: {which} flat, where no point of the rim is the one that touches, and"
        f" rolling ends; the states up to there are kept; {statistics}\n    fix: end it before,"
        f" events={{'fallen': {{'expression': {_fallen(answers, flat[0], outcome.t, q)!r}, 'terminal': True}}}},"
        " or give what falls a contact with the ground"
    )
    return replace(outcome, text=text)


def _find_flat_wheels(answers: Answers, t: float, q: Array) -> list[Rolling]:
    """Wheels that roll and lie within FLAT of their planes."""
    wheels = [record for c in answers.mechanism.constraints.values() if isinstance(record := c.record, Rolling)]
    if not wheels or not np.all(np.isfinite(q)):
        return []
    return [wheel for wheel in wheels if _tilt(answers, wheel, t, q) < FLAT]


def _tilt(answers: Answers, wheel: Rolling, t: float, q: Array) -> float:
    """The sine of the angle between a wheel and its plane."""
    from ..viewer.shapes import direction

    mechanism = answers.mechanism
    poses = np.asarray(answers.ask("poses", np.array([t]), None, q=q)).reshape(-1, 12)
    turns: dict[Any, Array] = {"ground": np.eye(3)}
    turns |= {name: pose[:9].reshape(3, 3) for name, pose in zip(mechanism.bodies, poses, strict=True)}
    axis, normal = turns[wheel.body] @ direction(mechanism, wheel.axis), direction(mechanism, wheel.normal)
    return float(np.linalg.norm(np.cross(axis, turns[wheel.on] @ normal)))


def _fallen(answers: Answers, wheel: Rolling, t: float, q: Array) -> str:
    """An expression that grows through zero shortly before a wheel lies flat: of the coordinate that raises it most."""
    tilts = [_tilt(answers, wheel, t, q + LIFT * unit) for unit in np.eye(len(q))]
    lifting = int(np.argmax(np.abs(np.array(tilts) - _tilt(answers, wheel, t, q))))
    turned = np.degrees(abs(q[lifting])) % 180.0  # it lies flat again half a turn on
    return f"abs({answers.mechanism.coordinates[lifting]}) - {min(turned, 180.0 - turned) - EARLIER:.0f}*deg"


__all__ = ["FLAT", "name_stop"]
