"""What an outcome says about the place where a motion stopped before its end: gimbal lock, a wheel that lies flat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..advice import terminal_event
from ..constraints.thresholds import NEAR_SINGULAR
from ..graph import Expr
from ..model import BodyContact, Mechanism, locks
from ..model.constraints.wheel_contact import WheelContact
from ..simulate import Event, Outcome
from .answers import Answers
from .flat_wheels import Rim, axis_and_normal, rolling_wheels, tilt_of
from .records import Array
from .run_values import units_of

FLAT = 1e-2
"""Angle (rad) between a wheel and its plane below which it lies flat, for a motion that has stopped there."""

ROUND = ("disc", "cylinder")
"""Shapes that touch a plane with their rims."""

NEARLY = 0.1
"""Angle (rad) between a wheel and its plane below which it may come to lie flat: a motion that gets there is judged."""

LIFT = 1e-3
"""By how much (rad, m) coordinates are changed to see which one raises a wheel."""

SINGULAR = "constraint '.*?' cannot be continued there"
"""The words of an outcome that tell which constraint loses its rows."""

KEPT = r"the states up to there are kept; \d+ steps? \([^)]*\)"
"""The words of an outcome that tell what a motion has cost."""

EARLIER = 10.0
"""How long (degrees) before it lies flat a fall is over."""


def name_stop(answers: Answers, outcome: Outcome, q: Array) -> Outcome:
    """The outcome of a motion that ended in q, with gimbal lock or a flat wheel as the reason where that is why."""
    if outcome.success or outcome.reason == "interrupt":
        return outcome
    near = locks(answers.mechanism, q, NEAR_SINGULAR)
    if near:
        return outcome.add(f"{'; '.join(map(str, near))}; a spherical joint has no lock")
    flat = _find_flat_rims(answers, outcome.t, q)
    if not flat:
        return outcome
    rolling = [rim for rim in flat if not rim.contact]
    return replace(outcome, text=_words_of_stop(answers, rolling or flat, outcome, q))


def _words_of_stop(answers: Answers, flat: list[Rim], outcome: Outcome, q: Array) -> str:
    """Why a motion ends where some rims lie flat, all of wheels that roll or all of contacts."""
    before = _remedy(answers, flat[0], outcome.t, q)
    cost = re.search(KEPT, outcome.text)
    kept = cost[0] if cost else "the states up to there are kept"
    bodies = list(dict.fromkeys(rim.body for rim in flat))
    which = f"{bodies[0]!r} lies" if len(bodies) == 1 else f"{', '.join(map(repr, bodies))} lie"
    if flat[0].contact:
        return (
            f"stopped at t = {outcome.t:.10g} s: {which} flat, where no point of the rim is the one that touches, and"
            f" contact {flat[0].contact!r} has no value; {kept}\n    fix: let it touch by vertices around its rim"
            f" (docs/contact.md), or {before}"
        )
    found = re.search(SINGULAR, outcome.text)
    singular = f": {found[0]}" if found else ""
    return (
        f"stopped at t = {outcome.t:.10g} s: wheel{'s' * (len(bodies) > 1)} {which} flat, where no point of the rim is"
        f" the one that touches, and rolling ends{singular}; {kept}\n    fix: {before}, or let what falls touch the"
        " ground by vertices (contacts)"
    )


def judge_poles(answers: Answers, outcome: Outcome, t: Array, q: Array, u: Array) -> Outcome:
    """The outcome of a motion over times t (k,), which is no success if a wheel that rolls has passed through lying
    flat: what comes after is no motion of this model, though no equation stops it there."""
    found = list(_passages(answers, t, q, u))
    if not found:
        return outcome
    told = [text for text, _ in found]
    if "fix:" not in outcome.text:  # else the outcome has one already, of the same kind
        told[-1] += f"; fix: {found[0][1]}"
    return replace(outcome, reason="flat" if outcome.success else outcome.reason).add(*told)


def flat_events(mechanism: Mechanism) -> list[tuple[Event, Expr]]:
    """Quiet events, one for each wheel that rolls: where it comes to lie within NEARLY of its plane."""
    from ..viewer.shapes import direction

    found: list[tuple[Event, Expr]] = []
    for wheel in rolling_wheels(mechanism):
        body, on = (
            mechanism.bodies[wheel.body],
            mechanism.ground if wheel.on == "ground" else mechanism.bodies[wheel.on],
        )
        assert body.frame is not None and on.frame is not None
        along = on.frame.vector(*direction(mechanism, wheel.normal).tolist())
        cosine = body.frame.vector(*direction(mechanism, wheel.axis).tolist()).dot(along)
        found.append((Event(f"{wheel.body} is flat", quiet=True), 1.0 - NEARLY**2 - cosine * cosine))
    return found


def may_pass_poles(answers: Answers, t: Array, q: Array, parameters: Array) -> Any:
    """Which motions (b,) may have passed through lying flat with a wheel, to be judged one by one: places (b, k, n) at
    times (k,), with values of the free parameters (b, p)."""
    found: Any = np.zeros(len(q), dtype=bool)
    seen: Any = np.isfinite(q).all(axis=2)
    places = np.where(seen[:, :, None], q, q[:, :1])
    rows = np.repeat(parameters, len(t), axis=0) if parameters.size else None
    times = np.tile(t, len(q))
    for wheel in rolling_wheels(answers.mechanism) if q.size else ():
        axis, normal = axis_and_normal(answers, wheel, times, places.reshape(len(times), -1), rows)
        lift = np.cross(axis, normal).reshape(len(q), len(t), 3)
        found |= (_pass_between(lift) & seen[:, 1:]).any(axis=1)
    return found


def _pass_between(lift: Array) -> Any:
    """Between which samples a wheel may have passed its pole; `lift` (…, k, 3) is axis × normal."""
    tilt = np.arcsin(np.minimum(1.0, np.linalg.norm(lift, axis=-1)))
    both = tilt[..., 1:] + tilt[..., :-1]
    return (np.sum(lift[..., 1:, :] * lift[..., :-1, :], axis=-1) < 0.0) & (both < STEEP)


def _passages(answers: Answers, t: Array, q: Array, u: Array) -> Iterable[tuple[str, str]]:
    """Wheels that have passed through lying flat, in words, and what would help: without spin nothing else tells."""
    for wheel in rolling_wheels(answers.mechanism) if np.all(np.isfinite(q)) else ():
        axis, normal = axis_and_normal(answers, wheel, t, q)
        lift = np.cross(axis, normal)
        tilt = np.arcsin(np.minimum(1.0, np.linalg.norm(lift, axis=1)))
        both = tilt[1:] + tilt[:-1]
        for k in np.flatnonzero(_pass_between(lift))[:MOST_LOOKS]:
            if _falls_straight(answers, wheel, t[k : k + 2], q[k : k + 2], u[k : k + 2]):
                share = tilt[k] / both[k]
                time, place = (1.0 - share) * t[k] + share * t[k + 1], (1.0 - share) * q[k] + share * q[k + 1]
                yield (
                    f"wheel {wheel.body!r} passed through lying flat at t = {time:.4g} s, where no wheel rolls on",
                    _remedy(answers, wheel, float(time), place),
                )
                break


STEEP = 1.0
"""Sum of the tilts (rad) at two samples beyond which these are too far apart to tell."""

STRAIGHT = 0.1
"""Share of the rate of an axis that is around the pole, up to which it goes over it."""

MOST_LOOKS = 20  # pairs of samples of a wheel that whirls, of which none goes over the pole

SHORT = 1e-6  # s, to find the rate of an axis


def _falls_straight(answers: Answers, wheel: Rim, t: Array, q: Array, u: Array) -> bool:
    """Whether a wheel's axis moves towards the normal of its plane or away from it, and not around it."""
    qdot = np.asarray(answers.ask("kinematics", t[:, None], None, q=q, u=u))
    ahead, _ = axis_and_normal(answers, wheel, t, q + SHORT * qdot)
    axis, normal = axis_and_normal(answers, wheel, t, q)
    rate, lift = ahead - axis, np.cross(axis, normal)
    around = np.abs(np.sum(rate * lift, axis=1)) / np.linalg.norm(lift, axis=1)
    return bool(np.all(around < STRAIGHT * np.linalg.norm(rate, axis=1)))


def _contact_rims(mechanism: Mechanism) -> list[Rim]:
    """Rims of discs, cylinders and wheels that touch planes by contacts."""
    found: list[Rim] = []
    for given, record in {c.given: c.record for c in mechanism.changing.values()}.items():
        if isinstance(record, WheelContact) and not record.ball:
            found.append(Rim(record.body, "ground", record.axis, "z", given))
        elif isinstance(record, BodyContact) and record.normal is not None:
            axes = _round_axes(mechanism, record)
            found += [Rim(record.first, record.second, axis, record.normal, given) for axis in axes]
    return found


def _round_axes(mechanism: Mechanism, contact: BodyContact) -> list[Any]:
    """Axes of the discs and cylinders with which a body touches, in the body."""
    shape: Any = contact.shape
    if shape is not None:
        return [shape.axis] if shape.word in ROUND else []
    from ..viewer.shapes import turn_points

    drawn = [x for x in mechanism.bodies[str(contact.first)].shapes if x.kind in ROUND]
    return [tuple(turn_points(x, np.eye(3)["xyz".index(x.axis)]).tolist()) for x in drawn]


def _find_flat_rims(answers: Answers, t: float, q: Array) -> list[Rim]:
    """Rims that touch or roll and lie within FLAT of their planes."""
    rims = [*rolling_wheels(answers.mechanism), *_contact_rims(answers.mechanism)]
    if not rims or not np.all(np.isfinite(q)):
        return []
    return [rim for rim in rims if tilt_of(answers, rim, t, q) < FLAT]


def _remedy(answers: Answers, wheel: Rim, t: float, q: Array) -> str:
    """How to end a motion shortly before a wheel lies flat: by the angle that raises it most, where there is one."""
    mechanism = answers.mechanism
    tilts = [tilt_of(answers, wheel, t, q + LIFT * unit) for unit in np.eye(len(q))]
    lifting = int(np.argmax(np.abs(np.array(tilts) - tilt_of(answers, wheel, t, q))))
    name, angle = mechanism.coordinates[lifting], abs(float(np.degrees(q[lifting])))
    at = 90.0 * round(angle / 90.0)  # in degrees, where it lies flat
    near = abs(angle - at)
    at = at if at <= 180.0 else at % 180.0  # the first time
    if near > 0.5 * EARLIER or units_of(mechanism, [name])[name] != "rad":
        height = f", say on the height r.{wheel.body}.z" if str(wheel.body).isidentifier() else ""
        return f"end it before by a terminal event{height}"
    fallen = f"abs({name}) - {at - EARLIER:.0f}*deg" if at > 0.0 else f"{EARLIER:.0f}*deg - abs({name})"
    return f"end it before, {terminal_event('fallen', fallen)}"


__all__ = ["FLAT", "flat_events", "judge_poles", "may_pass_poles", "name_stop"]
