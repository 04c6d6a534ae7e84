"""Wheels and where they lie flat: no point of a rim is the one that touches there, and rolling has no meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError, Problem
from ..model import Mechanism, Rolling
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


def refuse_flat_wheels(answers: Answers, t: Array, q: Array, parameters: Array | None = None) -> None:
    """Refuse positions (k, n) at times (k,) in which a wheel that rolls lies flat: its rows have a value there, but of
    no motion, since any point of the rim may be the one that touches."""
    rows = None
    if parameters is not None and parameters.size:
        rows = np.broadcast_to(parameters, (len(t), parameters.shape[-1]))
    for wheel in rolling_wheels(answers.mechanism) if np.all(np.isfinite(q)) else ():
        axis, normal = axis_and_normal(answers, wheel, t, q, rows)
        flat = np.flatnonzero(np.linalg.norm(np.cross(axis, normal), axis=1) < LYING)
        if flat.size:
            at = f" at state {flat[0]} of {len(t)}" if len(t) > 1 else ""
            what = f"wheel {wheel.body!r} lies flat{at}"
            because = "no point of its rim is the one that touches, and rolling has no meaning"
            fix = "start with the wheel raised, if only a little"
            raise ModelError(Problem(answers.mechanism.where("start"), what, because, fix))


def rolls(mechanism: Mechanism) -> int:
    """How many wheels roll at all times."""
    return len(rolling_wheels(mechanism))


def rolling_wheels(mechanism: Mechanism) -> list[Rim]:
    """Wheels that roll at all times."""
    records = [c.record for c in mechanism.constraints.values()]
    return [Rim(r.body, r.on, r.axis, r.normal) for r in records if isinstance(r, Rolling)]


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

    mechanism = answers.mechanism
    poses = np.asarray(answers.ask("poses", t[:, None], parameters, q=q)).reshape(len(t), -1, 12)
    turns: dict[Any, Array] = {"ground": np.broadcast_to(np.eye(3), (len(t), 3, 3))}
    turns |= {name: poses[:, i, :9].reshape(-1, 3, 3) for i, name in enumerate(mechanism.bodies)}
    axis, normal = direction(mechanism, wheel.axis), direction(mechanism, wheel.normal)
    return turns[wheel.body] @ axis, turns[wheel.on] @ normal


__all__ = ["Rim", "axis_and_normal", "refuse_flat_wheels", "rolling_wheels", "rolls", "tilt_of"]
