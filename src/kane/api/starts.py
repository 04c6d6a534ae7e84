"""Where a motion starts: the state a caller gives, with unit quaternions, on the constraints, not in gimbal lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..boundary import describe_value
from ..constraints.thresholds import REDUNDANT, TOUCHING
from ..errors import InputError, ModelError, warn
from ..model import Mechanism, attitudes, lock_problem, locks
from . import given
from .answers import Answers
from .constrained import (
    consistent_speeds,
    consistent_start,
    constraint_rows,
    held_names,
    refuse_held_start,
    usual_speeds,
)
from .records import Array


def start_state(answers: Answers, q: Any, u: Any, t: Any) -> tuple[Array, Array]:
    """(q, u) of a start; names given in mappings stay as they are, as far as the constraints allow."""
    mechanism = answers.mechanism
    q0 = _unit(mechanism, given.start(mechanism, "q", q))
    u0 = given.start(mechanism, "u", u)
    if mechanism.constraints:
        named = held_names(q, u)
        # speeds that the model starts with are meant; coordinates may be guesses, such as the height of a wheel
        begin = float(np.asarray(t, dtype=float).flat[0])
        q0, u0 = consistent_start(answers, q0, u0, begin, named, usual_speeds(mechanism, u))
        refuse_held_start(answers, q0, u0, begin)
    if wheels_may_slide(mechanism) and (u is None or isinstance(u, Mapping)):
        begin = float(np.asarray(t, dtype=float).flat[0])
        u0 = _roll(answers, q0, u0, begin, [*held_names(u), *usual_speeds(mechanism, u)])
    at_lock = locks(mechanism, q0, REDUNDANT)
    if at_lock:
        raise ModelError([lock_problem(mechanism, lock) for lock in at_lock])
    return q0, u0


def _roll(answers: Answers, q: Array, u: Array, t: float, named: Sequence[str]) -> Array:
    """Speeds at which wheels that touch the ground roll, of vehicles whose wheels may slide. What was given stays, also
    where it makes them slide from the start."""
    own = answers.values if answers.values.size else None
    touching = touching_wheels(answers, q[None], u[None], t, own)[0]
    rolling = rolling_answers(answers, touching)
    try:
        return consistent_speeds(rolling, q, u, t, [i for i, s in enumerate(answers.mechanism.speeds) if s in named])
    except ModelError:
        return u


def touching_wheels(answers: Answers, q: Array, u: Array, t: float, values: Any) -> list[tuple[str, ...]]:
    """Names of the wheels that may slide and touch the ground, in each of k states, with free parameters (p,) or
    (k, p)."""
    mechanism = answers.mechanism
    phi = constraint_rows(answers.all_rows_held(), q, u, t=t, parameters=values).phi
    rows = list(mechanism.all_row_names)
    wheels = [w.name for v in mechanism.vehicles.values() if v.unilateral for w in v.wheels]
    gaps = phi[:, [rows.index(mechanism.changing[name].row_names()[0]) for name in wheels]]
    return [tuple([name for name, gap in zip(wheels, state, strict=True) if gap <= TOUCHING]) for state in gaps]


def rolling_answers(answers: Answers, touching: tuple[str, ...]) -> Answers:
    """Those of the vehicle whose wheels that touch roll, and nothing else that comes and goes holds."""
    return answers.variant(("rolling", touching), lambda mechanism: mechanism.hold_only(touching))


def wheels_may_slide(mechanism: Mechanism) -> bool:
    """Whether a vehicle has wheels that may slide or lift."""
    return any(v.unilateral for v in mechanism.vehicles.values())


def span(t: Any) -> Array:
    """Times (s) of a motion from a length, (t0, t1) or an array of times: 10 means (0, 10)."""
    try:
        times = np.array(t, dtype=float)
    except (TypeError, ValueError, OverflowError):
        times = np.empty(0)
    if times.ndim == 0:
        times = np.array([0.0, float(times)])
    if times.ndim != 1 or times.size < 2 or not np.all(np.isfinite(times)):
        raise InputError(f"t = {describe_value(t)}: give a duration, (t0, t1) or an array of times, finite, in seconds")
    return times


def _unit(mechanism: Mechanism, q: Array) -> Array:
    """q with unit quaternions; those that are far from unit are refused, those that are near with a warning."""
    unit = q.copy()
    for attitude in attitudes(mechanism, dict(zip(mechanism.coordinates, q.tolist(), strict=True))):
        if attitude.refused:
            raise ModelError(attitude.problem(mechanism))
        if attitude.doubtful:
            warn(str(attitude.problem(mechanism)))
        unit[[mechanism.coordinates.index(name) for name in attitude.names]] = attitude.unit
    return unit


__all__ = ["rolling_answers", "span", "start_state", "touching_wheels", "wheels_may_slide"]
