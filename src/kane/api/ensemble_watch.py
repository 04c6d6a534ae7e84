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
from ..errors import InputError
from ..formulation import watch_program
from ..graph import Expr, depends_on
from ..model import Mechanism
from ..simulate import Members
from .answers import Answers, embedding_of
from .records import Array
from .simulation import effort_symbols, watch_expression
from .vehicles import refuse_planar_watch

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
        if mechanism.changing and reads_efforts(mechanism, [expr]):
            raise InputError(
                f"watch / {name}: what comes and goes has reactions of its own in each mode\n"
                f"    fix: watch it by events={{'{name}': …}}"
            )
        found[name] = expr
    refuse_planar_watch(mechanism, list(found.values()))
    return found


def reads_efforts(mechanism: Mechanism, exprs: list[Expr]) -> bool:
    """Whether some quantities depend on efforts: reactions, and what the ground does."""
    return depends_on(exprs, effort_symbols(mechanism).values())


def watch_motions(
    answers: Answers, watch: Mapping[str, Expr], times: Array, members: Members, parameters: Array, efforts: Efforts
) -> Array:
    """Values of the watched quantities, (b, k, w), nan beyond the end of a motion."""
    outputs = members.outputs
    if outputs is None:
        outputs = np.stack([np.full_like(members.y, np.nan), members.y], axis=1)
    b, k, _ = outputs.shape
    if not watch or not b:
        return np.empty((b, k, len(watch)))
    kernel = answers.make_once(("watched", tuple(watch.items())), lambda: _compile(answers, watch))
    rows = outputs.reshape(b * k, -1)
    good = np.flatnonzero(np.isfinite(rows).all(axis=1))
    values = np.full((b * k, len(watch)), np.nan)
    if good.size:
        t, held = np.tile(times[-k:], b)[good], np.repeat(parameters, k, axis=0)[good]
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


__all__ = ["evaluate_program", "read_watch", "reads_efforts", "watch_motions"]
