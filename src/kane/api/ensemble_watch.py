"""Quantities that are watched along the members of an ensemble, from their states.

They are read as what events watch, and see what events of a motion alone do: the efforts of the control law, reactions
of constraints by the names of their rows, and what the ground does to a vehicle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from ..backends import Kernel, compile
from ..boundary import describe_value
from ..ensemble.blocks import LOOKS
from ..errors import InputError
from ..formulation import watch_program
from ..graph import Expr, depends_on
from ..model import Mechanism
from ..simulate import Members
from .answers import Answers, embedding_of
from .records import Array
from .vehicles import refuse_planar_watch
from .watched import effort_symbols, force_symbols, watch_expression

SMOOTH = 0.5
"""Second differences beside an extreme in parts of that at it, or the other way round, from which on a parabola is put
through it: of a swing that takes six looks or more. At an impact, where a quantity or its rate jumps, they differ by
more."""

Efforts = Callable[[Any, Array, Array, Array], Array]
"""Efforts (r, n) of some samples, from their places (member b, time k) as b K + k, t (r,), states and parameters."""


def read_watch(mechanism: Mechanism, watch: Any, everything: bool) -> dict[str, Expr]:
    """The quantities that are watched, name → expression; coordinates and speeds among them with `everything`."""
    if watch is not None and not isinstance(watch, Mapping):
        raise InputError(f"watch = {describe_value(watch)}\n    fix: give a mapping name → expression")
    names = mechanism.names()
    states = (*mechanism.coordinates, *mechanism.speeds) if everything else ()
    found = {name: names[name] for name in states}
    for name, expression in cast("Mapping[str, Any]", watch or {}).items():
        expr = watch_expression(mechanism, expression, f"watch / {name}")
        if mechanism.changing and depends_on([expr], force_symbols(mechanism).values()):
            raise InputError(
                f"watch / {name}: what comes and goes has reactions of its own in each mode\n"
                f"    fix: watch it by events={{'{name}': …}}"
            )
        found[name] = expr
    refuse_planar_watch(mechanism, list(found.values()))
    return found


def reads_efforts(mechanism: Mechanism, exprs: list[Expr]) -> bool:
    """Whether some quantities depend on efforts: these themselves, reactions, and what the ground does."""
    return depends_on(exprs, [*effort_symbols(mechanism).values(), *force_symbols(mechanism).values()])


def look_times(times: Array) -> Array:
    """Times (s) at which watched quantities are looked at along a duration."""
    return np.linspace(float(times[0]), float(times[-1]), LOOKS + 1)


def extremes(values: Array) -> tuple[Array, Array]:
    """The least and the largest (b, w) of values (b, k, w) that are numbers; nan where none is."""
    with np.errstate(invalid="ignore"):
        low: Array = np.fmin.reduce(values, axis=1)
        high: Array = np.fmax.reduce(values, axis=1)
    return low, high


def extremes_between(values: Array) -> tuple[Array, Array]:
    """The same of what has these values at equal distances of time, with what is between them."""
    return -_largest_between(-values), _largest_between(values)


def _largest_between(values: Array) -> Array:
    """The largest of values (b, k, w) at equal distances, or the top of the parabola through it and those beside it
    where second differences show that the quantity is smooth there."""
    top = np.argmax(np.where(np.isnan(values), -np.inf, values), axis=1)
    largest = np.take_along_axis(values, top[:, None], axis=1)[:, 0]
    beyond = np.full((len(values), 2, values.shape[2]), np.nan)
    five = top[:, None] + np.arange(5)[:, None]  # (b, 5, w), of which the one in the middle is the largest
    near = np.take_along_axis(np.concatenate([beyond, values, beyond], axis=1), five, axis=1)
    bend = near[:, :-2] - 2.0 * near[:, 1:-1] + near[:, 2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        beside = bend[:, [0, 2]] / bend[:, 1:2]  # nan at the ends of a motion
        alike = (beside >= SMOOTH) & (beside <= 1.0 / SMOOTH)
        smooth = (bend[:, 1] < 0.0) & alike.any(axis=1) & (alike | np.isnan(beside)).all(axis=1)
        rise = -((near[:, 3] - near[:, 1]) ** 2) / (8.0 * bend[:, 1])
    found: Array = np.where(smooth, largest + rise, largest)
    return found


def watch_motions(
    answers: Answers, watch: Mapping[str, Expr], times: Array, members: Members, parameters: Array, efforts: Efforts
) -> Array:
    """Values of the watched quantities, (b, k, w), nan beyond the end of a motion; where no states at the times are
    kept, at the end of each motion alone, behind a nan."""
    outputs, moments = members.outputs, np.broadcast_to(times, (len(members.t), times.size))
    if outputs is None:
        outputs = np.stack([np.full_like(members.y, np.nan), members.y], axis=1)
        moments = np.stack([members.t, members.t], axis=1)
    b, k, _ = outputs.shape
    if not watch or not b:
        return np.empty((b, k, len(watch)))
    kernel = answers.make_once(("watched", tuple(watch.items())), lambda: _compile(answers, watch))
    rows = outputs.reshape(b * k, -1)
    good = np.flatnonzero(np.isfinite(rows).all(axis=1))
    values = np.full((b * k, len(watch)), np.nan)
    if good.size:
        t, held = moments.reshape(-1)[good], parameters[good // k]
        tau = None
        if reads_efforts(answers.mechanism, list(watch.values())):
            tau = efforts(good, t, rows[good], held)
        values[good] = evaluate_program(kernel, answers, held, t, rows[good], tau)
    return values.reshape(b, k, -1)


def _compile(answers: Answers, watch: Mapping[str, Expr]) -> Kernel:
    return compile(watch_program(answers.fresh_equations(), list(watch.values())))


def evaluate_program(
    kernel: Kernel, answers: Answers, parameters: Array, t: Any = None, states: Any = None, tau: Any = None
) -> Array:
    """What a program over [t, q, u, work, tau, parameters] and, where it reads them, multipliers gives for b samples,
    (b, outputs); all but parameters are zero by default."""
    b, mechanism = len(parameters), answers.mechanism
    nq, nu = len(mechanism.coordinates), len(mechanism.speeds)
    if states is None:
        t, states = np.zeros(b), np.zeros((b, nq + nu + 1))
    q, u = states[:, :nq], states[:, nq : nq + nu]
    known = {"t": np.asarray(t)[:, None], "q": q, "u": u, "work": states[:, nq + nu :]}
    known |= {"tau": np.zeros((b, nu)) if tau is None else tau, "parameters": parameters}
    if any(g.name == "multipliers" for g in kernel.program.inputs):
        embedding = answers.make_once("embedding", lambda: embedding_of(answers))
        known["multipliers"] = embedding.multipliers(t, q, u, known["tau"], parameters)
    groups = [known[g.name] for g in kernel.program.inputs if g.labels]
    return np.asarray(kernel(*groups))


__all__ = [
    "evaluate_program",
    "extremes",
    "extremes_between",
    "look_times",
    "read_watch",
    "reads_efforts",
    "watch_motions",
]
