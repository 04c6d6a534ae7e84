"""What an outcome says about the place where a motion stopped before its end: gimbal lock, a wheel that lies flat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..advice import terminal_event
from ..constraints.thresholds import NEAR_SINGULAR
from ..model import Rolling, locks
from ..simulate import Outcome, Statistics
from .answers import Answers
from .records import Array
from .run_values import units_of

FLAT = 1e-2
"""Angle (rad) between a wheel and its plane below which it lies flat, for a motion that has stopped there."""

LIFT = 1e-3
"""By how much (rad, m) coordinates are changed to see which one raises a wheel."""

SINGULAR = "constraint '.*?' cannot be continued there"
"""The words of an outcome that tell which constraint loses its rows."""

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
    fix = f"fix: {_remedy(answers, flat[0], outcome.t, q)}, or let what falls touch the ground by vertices (contacts)"
    found = re.search(SINGULAR, outcome.text)
    singular = f": {found[0]}" if found else ""
    text = (
        f"stopped at t = {outcome.t:.10g} s: {which} flat, where no point of the rim is the one that touches, and"
        f" rolling ends{singular}; the states up to there are kept; {statistics}\n    {fix}"
    )
    return replace(outcome, text=text)


def pole_sentences(answers: Answers, t: Array, q: Array, u: Array) -> Iterable[str]:
    """What an outcome says about wheels that have passed through lying flat: without spin nothing else tells."""
    for wheel in _wheels(answers) if np.all(np.isfinite(q)) else ():
        axis, normal = _axis_and_normal(answers, wheel, t, q)
        lift = np.cross(axis, normal)
        tilt = np.arcsin(np.minimum(1.0, np.linalg.norm(lift, axis=1)))
        both = tilt[1:] + tilt[:-1]
        opposite = (np.sum(lift[1:] * lift[:-1], axis=1) < 0.0) & (both < STEEP)
        for k in np.flatnonzero(opposite)[:MOST_LOOKS]:
            if _falls_straight(answers, wheel, t[k : k + 2], q[k : k + 2], u[k : k + 2]):
                share = tilt[k] / both[k]
                time, place = (1.0 - share) * t[k] + share * t[k + 1], (1.0 - share) * q[k] + share * q[k + 1]
                yield (
                    f"wheel {wheel.body!r} passed through lying flat at t = {time:.4g} s, where no wheel rolls on;"
                    f" fix: {_remedy(answers, wheel, float(time), place)}"
                )
                break


STEEP = 1.0
"""Sum of the tilts (rad) at two samples beyond which these are too far apart to tell."""

STRAIGHT = 0.1
"""Share of the rate of an axis that is around the pole, up to which it goes over it."""

MOST_LOOKS = 20  # pairs of samples of a wheel that whirls, of which none goes over the pole

SHORT = 1e-6  # s, to find the rate of an axis


def _falls_straight(answers: Answers, wheel: Rolling, t: Array, q: Array, u: Array) -> bool:
    """Whether a wheel's axis moves towards the normal of its plane or away from it, and not around it."""
    qdot = np.asarray(answers.ask("kinematics", t[:, None], None, q=q, u=u))
    ahead, _ = _axis_and_normal(answers, wheel, t, q + SHORT * qdot)
    axis, normal = _axis_and_normal(answers, wheel, t, q)
    rate, lift = ahead - axis, np.cross(axis, normal)
    around = np.abs(np.sum(rate * lift, axis=1)) / np.linalg.norm(lift, axis=1)
    return bool(np.all(around < STRAIGHT * np.linalg.norm(rate, axis=1)))


def _wheels(answers: Answers) -> list[Rolling]:
    return [record for c in answers.mechanism.constraints.values() if isinstance(record := c.record, Rolling)]


def _find_flat_wheels(answers: Answers, t: float, q: Array) -> list[Rolling]:
    """Wheels that roll and lie within FLAT of their planes."""
    wheels = _wheels(answers)
    if not wheels or not np.all(np.isfinite(q)):
        return []
    return [wheel for wheel in wheels if _tilt(answers, wheel, t, q) < FLAT]


def _tilt(answers: Answers, wheel: Rolling, t: float, q: Array) -> float:
    """The sine of the angle between a wheel and its plane."""
    (axis,), (normal,) = _axis_and_normal(answers, wheel, np.array([t]), q[None])
    return float(np.linalg.norm(np.cross(axis, normal)))


def _axis_and_normal(answers: Answers, wheel: Rolling, t: Array, q: Array) -> tuple[Array, Array]:
    """Unit vectors (k, 3) in N of a wheel's axis and of the normal of its plane, at times (k,) and places (k, n)."""
    from ..viewer.shapes import direction

    mechanism = answers.mechanism
    poses = np.asarray(answers.ask("poses", t[:, None], None, q=q)).reshape(len(t), -1, 12)
    turns: dict[Any, Array] = {"ground": np.broadcast_to(np.eye(3), (len(t), 3, 3))}
    turns |= {name: poses[:, i, :9].reshape(-1, 3, 3) for i, name in enumerate(mechanism.bodies)}
    axis, normal = direction(mechanism, wheel.axis), direction(mechanism, wheel.normal)
    return turns[wheel.body] @ axis, turns[wheel.on] @ normal


def _remedy(answers: Answers, wheel: Rolling, t: float, q: Array) -> str:
    """How to end a motion shortly before a wheel lies flat: by the angle that raises it most, where there is one."""
    mechanism = answers.mechanism
    tilts = [_tilt(answers, wheel, t, q + LIFT * unit) for unit in np.eye(len(q))]
    lifting = int(np.argmax(np.abs(np.array(tilts) - _tilt(answers, wheel, t, q))))
    name, angle = mechanism.coordinates[lifting], abs(float(np.degrees(q[lifting])))
    at = 90.0 * round(angle / 90.0)  # in degrees, where it lies flat
    if abs(angle - at) > np.degrees(FLAT) or units_of(mechanism, [name])[name] != "rad":
        return "end it before by a terminal event"
    fallen = f"abs({name}) - {at - EARLIER:.0f}*deg" if at > 0.0 else f"{EARLIER:.0f}*deg - abs({name})"
    return f"end it before, {terminal_event('fallen', fallen)}"


__all__ = ["FLAT", "name_stop", "pole_sentences"]
