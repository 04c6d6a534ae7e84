"""What an outcome says about the place where a motion stopped before its end: gimbal lock, a wheel that lies flat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.thresholds import NEAR_SINGULAR
from ..model import Rolling, locks
from ..simulate import Outcome
from .answers import Answers
from .records import Array

FLAT = 1e-2
"""Angle (rad) between a wheel and its plane below which it lies flat, for a motion that has stopped there."""


def name_stop(answers: Answers, outcome: Outcome, t: float, q: Array) -> Outcome:
    """The outcome of a motion that ended at t in q, with gimbal lock or a flat wheel named where that is why."""
    if outcome.success or outcome.reason == "interrupt":
        return outcome
    near = locks(answers.mechanism, q, NEAR_SINGULAR)
    if near:
        return replace(outcome, text=f"{outcome.text}; {'; '.join(map(str, near))}; a spherical joint has no lock")
    flat = _flat_wheels(answers, t, q)
    if not flat:
        return outcome
    which = f"wheel {flat[0]!r} lies" if len(flat) == 1 else f"wheels {', '.join(map(repr, flat))} lie"
    text = (
        f"{outcome.text}; {which} flat, where no point of the rim is the one that touches, and rolling ends\n    fix:"
        " end it before, events={'fallen': {'expression': 'abs(roll) - 80*deg', 'terminal': True}}, or give what"
        " falls a contact with the ground"
    )
    return replace(outcome, text=text)


def _flat_wheels(answers: Answers, t: float, q: Array) -> list[str]:
    """Bodies that roll as wheels and lie within FLAT of their planes."""
    from ..viewer.shapes import direction

    mechanism = answers.mechanism
    wheels = [record for c in mechanism.constraints.values() if isinstance(record := c.record, Rolling)]
    if not wheels or not np.all(np.isfinite(q)):
        return []
    poses = np.asarray(answers.ask("poses", np.array([t]), None, q=q)).reshape(-1, 12)
    turns: dict[Any, Array] = {"ground": np.eye(3)}
    turns |= {name: pose[:9].reshape(3, 3) for name, pose in zip(mechanism.bodies, poses, strict=True)}
    found = list[str]()
    for wheel in wheels:
        axis, normal = turns[wheel.body] @ direction(mechanism, wheel.axis), direction(mechanism, wheel.normal)
        if np.linalg.norm(np.cross(axis, turns[wheel.on] @ normal)) < FLAT:
            found.append(str(wheel.body))
    return found


__all__ = ["FLAT", "name_stop"]
