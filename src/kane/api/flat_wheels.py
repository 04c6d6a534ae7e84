"""Wheels and where they lie flat: no point of a rim is the one that touches there, and rolling has no meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.thresholds import SATISFIED
from ..errors import ModelError, Problem
from ..model import Mechanism, Rolling
from ..model.fields import ORIGIN
from .answers import Answers
from .records import Array

LYING = 1e-6
"""Angle (rad) between a wheel and its plane below which a motion cannot start: rows have lost all but six digits."""


@dataclass(frozen=True, slots=True)
class Rim:
    """A round edge that touches a plane: of a body, about an axis in it, on a body with a normal; `contact` is the name
    of what comes and goes, none of a wheel that rolls."""

    body: Any
    on: Any
    axis: Any
    normal: Any
    contact: str = ""
    center: Any = ORIGIN
    at: Any = ORIGIN


def refuse_fallen_wheels(answers: Answers, t: Array, q: Array, parameters: Array | None = None) -> None:
    """Refuse positions (k, n) at times (k,) in which a wheel that rolls lies flat, where any point of its rim may be
    the one that touches, or has its centre on the other side of its plane, through which no wheel falls: its rows have
    values there, but of no motion."""
    rows = None
    if parameters is not None and parameters.size:
        rows = np.broadcast_to(parameters, (len(t), parameters.shape[-1]))
    for wheel in rolling_wheels(answers.mechanism) if np.all(np.isfinite(q)) else ():
        axis, normal = axis_and_normal(answers, wheel, t, q, rows)
        flat = np.flatnonzero(np.linalg.norm(np.cross(axis, normal), axis=1) < LYING)
        if flat.size:
            because = "no point of its rim is the one that touches, and rolling has no meaning"
            raise _fallen(answers, wheel, "lies flat", int(flat[0]), len(t), because)
        below = np.flatnonzero(_height(answers, wheel, t, q, normal, rows) < -SATISFIED)
        if below.size:
            because = "a wheel rolls on the side of its plane to which the normal points"
            raise _fallen(answers, wheel, "is below the plane that it rolls on", int(below[0]), len(t), because)


def _fallen(answers: Answers, wheel: Rim, how: str, state: int, states: int, because: str) -> ModelError:
    at = f" at state {state} of {states}" if states > 1 else ""
    fix = "start with the wheel raised, if only a little"
    return ModelError(Problem(answers.mechanism.where("start"), f"wheel {wheel.body!r} {how}{at}", because, fix))


def rolls(mechanism: Mechanism) -> int:
    """How many wheels roll at all times."""
    return len(rolling_wheels(mechanism))


def rolling_wheels(mechanism: Mechanism) -> list[Rim]:
    """Wheels that roll at all times."""
    records = [c.record for c in mechanism.constraints.values()]
    wheels = [r for r in records if isinstance(r, Rolling)]
    return [Rim(r.body, r.on, r.axis, r.normal, center=r.center, at=r.at) for r in wheels]


def tilt_of(answers: Answers, wheel: Rim, t: float, q: Array) -> float:
    """The sine of the angle between a wheel and its plane."""
    (axis,), (normal,) = axis_and_normal(answers, wheel, np.array([t]), q[None])
    return float(np.linalg.norm(np.cross(axis, normal)))


def axis_and_normal(
    answers: Answers, wheel: Rim, t: Array, q: Array, parameters: Array | None = None
) -> tuple[Array, Array]:
    """Unit vectors (k, 3) in N of a wheel's axis and of the normal of its plane, at times (k,) and places (k, n), with
    values (k, p) of the free parameters if not those of the model."""
    from ..viewer.shapes import direction

    mechanism, poses = answers.mechanism, _poses(answers, t, q, parameters)
    axis, normal = direction(mechanism, wheel.axis), direction(mechanism, wheel.normal)
    return poses[wheel.body][0] @ axis, poses[wheel.on][0] @ normal


def _height(answers: Answers, wheel: Rim, t: Array, q: Array, normal: Array, parameters: Array | None) -> Array:
    """Of a wheel's centre over its plane (m), (k,); `normal` (k, 3) is in N."""
    poses, m = _poses(answers, t, q, parameters), answers.mechanism
    (R, p), (R_on, p_on) = poses[wheel.body], poses[wheel.on]
    center, at = (m.numbers(m.triple(point, "wheel"), "wheel") for point in (wheel.center, wheel.at))
    return np.sum((p + R @ center - p_on - R_on @ at) * normal, axis=1)


def _poses(answers: Answers, t: Array, q: Array, parameters: Array | None) -> dict[Any, tuple[Array, Array]]:
    """Orientations (k, 3, 3) and places (k, 3) of the bodies, and of the ground."""
    found = np.asarray(answers.ask("poses", t[:, None], parameters, q=q)).reshape(len(t), -1, 12)
    ground = np.broadcast_to(np.eye(3), (len(t), 3, 3)), np.zeros((len(t), 3))
    bodies = {
        name: (found[:, i, :9].reshape(-1, 3, 3), found[:, i, 9:]) for i, name in enumerate(answers.mechanism.bodies)
    }
    return {"ground": ground, **bodies}


__all__ = ["Rim", "axis_and_normal", "refuse_fallen_wheels", "rolling_wheels", "rolls", "tilt_of"]
