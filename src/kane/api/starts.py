"""Where a motion starts: the state a caller gives, with unit quaternions, on the constraints, not in gimbal lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..advice import Option
from ..boundary import describe_value
from ..constraints.thresholds import REDUNDANT, SATISFIED, TOUCHING
from ..errors import InputError, KaneError, ModelError, warn
from ..model import Mechanism, attitudes, lock_problem, locks
from . import given
from .answers import Answers
from .constrained import consistent_speeds, constraint_rows
from .flat_wheels import refuse_fallen_wheels
from .records import Array
from .start_choices import consistent_start, held_names, refuse_held_start, usual_speeds


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
        refuse_fallen_wheels(answers, np.array([begin]), q0[None])
        refuse_held_start(answers, q0, u0, begin)
    if wheels_may_slide(mechanism) and (u is None or isinstance(u, Mapping)):
        begin = float(np.asarray(t, dtype=float).flat[0])
        u0 = _roll(answers, q0, u0, begin, [*held_names(u), *usual_speeds(mechanism, u)])
    at_lock = locks(mechanism, q0, REDUNDANT)
    if at_lock:
        raise ModelError([lock_problem(mechanism, lock) for lock in at_lock])
    return q0, u0


def told_start(answers: Answers, q: Any, u: Any, t: Any) -> tuple[Array, Array]:
    """As `start_state`, with a warning of what there is to tell of it."""
    found = start_state(answers, q, u, t)
    for sentence in start_sentences(answers, q, u, np.concatenate(found), t):
        warn(sentence)
    return found


def start_sentences(answers: Answers, q: Any, u: Any, state: Array, t: Any) -> Iterable[str]:
    """What there is to tell of a start, whose state [q, u, ...] was made of q and u: that at the position q the same
    speeds make much more or less motion than where the model starts, as those of a sleigh along fixed axes do that was
    turned about."""
    mechanism = answers.mechanism
    if q is None or not mechanism.constraints or not (u is None or isinstance(u, Mapping)):
        return
    n, begin = len(mechanism.coordinates), float(np.asarray(t, dtype=float).flat[0])
    start = state[:n], state[n : n + len(mechanism.speeds)]
    try:
        usual = start_state(answers, None, u, t)
    except ModelError:  # the speeds belong to the position that was given
        return
    masses = [np.atleast_2d(answers.ask("mass_matrix", begin, None, q=at)) for at, _ in (start, usual)]
    here, there = (0.5 * float(v @ M @ v) for M, (_, v) in zip(masses, (start, usual), strict=True))
    if not there > 0.0 or there / STRANGE <= here <= there * STRANGE:
        return
    change = (start[1] - usual[1]) * np.sqrt(np.abs(np.diag(masses[0])))
    order = np.argsort(-np.abs(change)).tolist()[:_TOLD]
    told = [i for i in order if abs(change[i]) > _FELT * np.abs(change).max()]
    changed = ", ".join(f"{mechanism.speeds[i]} {start[1][i]:.4g} instead of {usual[1][i]:.4g}" for i in told)
    much = f"{here / there:.3g} times the kinetic energy" if here > there else "hardly any of the kinetic energy"
    yield (
        f"at this position the start has {much} that the same speeds have where the model starts: {changed}; "
        f"if that is not meant, give speeds that suit the position, {Option('u')}"
    )


def moved_speeds(answers: Answers) -> dict[str, float]:
    """The speeds that the motion starts with, by name, where the model states others, off its constraints; empty where
    it states these. Which change is the least depends on the speeds that describe the motion: whoever chooses others
    keeps the motion by stating these first."""
    mechanism = answers.mechanism
    u = given.start(mechanism, "u", None)
    if not (mechanism.constraints and np.any(u)):
        return {}
    try:
        _, moved = start_state(answers, None, None, 0.0)
    except KaneError:  # of a description that is not complete yet, or has no start: told when it is asked for
        return {}
    if np.all(np.abs(moved - u) <= SATISFIED * (1.0 + np.abs(u).max())):
        return {}
    return dict(zip(mechanism.speeds, moved.tolist(), strict=True))


STRANGE = 25.0
"""How many times the kinetic energy a start may have, or how small a part, without being told: five times the speed."""

_TOLD, _FELT = 4, 0.1  # speeds that are named, and the share of the largest change from which on they are


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
        if times < 0.0:
            raise InputError(f"t = {times:g} s is no duration\n    fix: backward from now is (0, {times:g})")
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


__all__ = [
    "moved_speeds",
    "rolling_answers",
    "span",
    "start_sentences",
    "start_state",
    "told_start",
    "touching_wheels",
    "wheels_may_slide",
]
