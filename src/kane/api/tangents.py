"""First order of equations of motion and of control laws: what programs compute of it, and a loop that is closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.steady import Steady
from ..errors import InputError
from ..formulation.linear import control_tangent_program, tangent_program
from ..graph import Program
from ..large import refuse_if_too_large
from .answers import Answers, ProgramAnswer, law_key
from .records import Array

_FORCE = 1  # place of the efforts among what a tangent program gives: q', F, …
_LATER = (0.37, 1.0, 7.1)  # s after a state of rest at which efforts are the same
_SAME = 1e-9  # share by which they may differ


def tangents_of(answers: Answers) -> ProgramAnswer:
    """The compiled tangent program."""

    def make_program() -> Program:
        refuse_if_too_large(answers.mechanism, "linearization")
        return answers.load_or_make("tangents", lambda: tangent_program(answers.fresh_equations()))

    return answers.compile_once("tangents", make_program)


def tangent_of(answers: Answers, law: Any = None) -> Callable[..., Sequence[Array]]:
    """The tangent of equations F = tau; with a control law that is closed in, F less its efforts."""
    answer = tangents_of(answers)

    def tangent(t: float, *arrays: Array) -> Sequence[Array]:
        return answer(t, tuple(a for a in arrays if a.shape[-1]), answers.values)

    return tangent if law is None else _close_loop(answers, law, tangent)


def efforts_of(answers: Answers, law: Any) -> Callable[..., tuple[Array, Array, Array]]:
    """Efforts of a control law and their Jacobians by q and u, at samples (k, …)."""
    program = answers.compile_once(
        ("control tangent", law_key(law)), lambda: control_tangent_program(answers.fresh_equations(), law)
    )

    def feedback(t: Array, q: Array, u: Array, values: Array) -> tuple[Array, Array, Array]:
        k, n_q, n = len(q), q.shape[1], u.shape[1]
        unit = np.tile(np.eye(n_q + n), (k, 1))
        each = [np.repeat(x, n_q + n, axis=0) for x in (t[:, None], q, u)]
        more = values if values.ndim == 1 else np.repeat(values, n_q + n, axis=0)
        still = np.zeros((len(unit), n))
        tau, change = program(each[0], (each[1], each[2], unit[:, :n_q], unit[:, n_q:], still), more)
        slopes = np.asarray(change).reshape(k, n_q + n, n).transpose(0, 2, 1)
        return np.asarray(tau).reshape(k, n_q + n, n)[:, 0], slopes[:, :, :n_q], slopes[:, :, n_q:]

    return feedback


def _close_loop(answers: Answers, law: Any, tangent: Callable[..., Sequence[Array]]) -> Callable[..., Sequence[Array]]:
    efforts = efforts_of(answers, law)

    def tangent_under_law(t: float, q: Array, u: Array, *rest: Array) -> Sequence[Array]:
        found = list(tangent(t, q, u, *rest))
        tau, by_q, by_u = (x[0] for x in efforts(np.array([float(t)]), q[None], u[None], answers.values))
        along_q, along_u = rest[-3], rest[-2]
        found[_FORCE] = found[_FORCE] - tau
        place = len(found) // 2 + _FORCE
        found[place] = found[place] - along_q @ by_q.T - along_u @ by_u.T
        return found

    return tangent_under_law


def refuse_efforts_in_time(answers: Answers, law: Any, found: Steady) -> None:
    """Refuse a control law whose efforts change with time at a state of rest: what balances does not stay."""
    times = found.at.t + np.array([0.0, *_LATER])
    q, u = (np.tile(x, (len(times), 1)) for x in (found.q, found.u))
    tau = efforts_of(answers, law)(times, q, u, answers.values)[0]
    change = np.abs(tau - tau[0]).max(axis=0)
    worst = int(np.argmax(change))
    if change[worst] > _SAME * (1.0 + np.abs(tau).max()):
        raise InputError(
            f"the control law changes with time along '{found.speeds[worst]}', by {change[worst]:.3g} within seconds: "
            "nothing stays at rest under it\n"
            "    fix: give a law of the state alone, or look for rest without it and linearize at a time t"
        )


__all__ = ["efforts_of", "refuse_efforts_in_time", "tangent_of", "tangents_of"]
