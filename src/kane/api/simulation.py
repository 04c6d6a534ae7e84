"""A simulation put together: start, programs, events, control law and options of a motion, and its trajectory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..errors import InputError, ModelError, Problem
from ..formulation import (
    CompiledControl,
    control_program,
    jacobian_program,
    motion_program,
    unit_program,
    watch_program,
)
from ..graph import Expr
from ..large import large_motion, refuse_if_too_large
from ..model import Mechanism
from ..model.mechanism import suggestion
from ..simulate import Control, Embedding, Event, Events, Solution, integrate
from . import given
from .answers import Answers, embedding_of
from .constrained import first_step, is_singular
from .records import Array
from .starts import span, start_state

ControlLaw = str | Mapping[str, Any] | CompiledControl | Callable[..., Any]
Law = dict[Expr, Expr] | CompiledControl
RTOL, RTOL_CONSTRAINED = 1e-8, 1e-10
"""Relative tolerances of a simulation where none is given. Under constraints errors are judged after projection, and a
tighter one costs little."""
_UNWEIGHED = 1e300  # absolute tolerance of the work integral: it must not steer the step size
_OPTIONS = ("max_step", "first_step", "max_steps", "chunk", "project_address", "project_error", "jacobian_address")


@dataclass(frozen=True, slots=True)
class Simulation:
    """The compiled programs of a simulation over [t, q, u, work, tau, parameters], or their addresses.

    `project` makes quaternions unit after each step, where there are any, and moves the state onto constraints; `law`
    gives tau of the compiled control law. `written_out` says that the motion is one program, which has a Jacobian;
    `embedding` is kept alive with the addresses it gave.
    """

    motion: Kernel | int
    project: Kernel | int | None
    events: Events | None
    law: Kernel | None
    written_out: bool = True
    embedding: Embedding | None = None


@dataclass(frozen=True, slots=True)
class Motion:
    """What came out of a simulation: its solution, the compiled control law, the constant efforts and the embedding."""

    solution: Solution
    law: Kernel | None
    held: Array
    embedding: Embedding | None


def simulate(
    answers: Answers,
    t: Any,
    *,
    q: Any,
    u: Any,
    tau: Any,
    control: ControlLaw | None,
    control_period: float,
    method: str,
    rtol: float | None,
    atol: float | None,
    step: float | None,
    embed: str,
    drift: str | tuple[float, float],
    events: Mapping[str, Any] | None,
    progress: Callable[[float], object] | None,
    options: dict[str, Any],
) -> Motion:
    """The motion over t from a start, see `Model.simulate`."""
    _refuse_unknown(options)
    mechanism, times = answers.mechanism, span(t)
    q0, u0 = start_state(answers, q, u, times)
    held = given.start(mechanism, "tau", tau)
    law = None if control is None or callable(control) else _law(mechanism, control)
    watched = _events(mechanism, events)
    singular = is_singular(answers, q0, u0, float(times.flat[0]))
    simulation = _simulation(answers, law, watched, _embedding_wanted(mechanism, embed, drift, singular))
    sampled = None
    if callable(control):
        sampled = Control(_sampled(control, len(q0), len(u0), held), control_period)
    options.setdefault("project_address", simulation.project)
    options.setdefault("project_error", simulation.embedding is not None)
    if simulation.embedding is not None:
        simulation.embedding.refuse_massless(float(times.flat[0]), q0, u0, held, answers.values)
        options.setdefault("explain", simulation.embedding.explain)
        if singular:
            options.setdefault("first_step", first_step(u0))
    if method == "radau" and "jacobian_address" not in options and simulation.written_out:
        options["jacobian_address"] = _jacobian(answers, law)
    rtol = (RTOL_CONSTRAINED if mechanism.constraints else RTOL) if rtol is None else rtol
    weights = np.full(len(q0) + len(u0) + 1, float(1e-2 * rtol if atol is None else atol))
    weights[-1] = _UNWEIGHED
    solution = integrate(
        simulation.motion,
        np.concatenate([q0, u0, [0.0]]),
        times,
        parameters=np.concatenate([held, answers.values]),
        method=method,
        rtol=rtol,
        atol=weights,
        step=step,
        events=simulation.events,
        control=sampled,
        progress=progress,
        **options,
    )
    return Motion(solution, simulation.law, held, simulation.embedding)


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    """Refuse options of `simulate` that there are not, with what was meant perhaps."""
    for name in options:
        if name not in _OPTIONS:
            named = [p for p in inspect.signature(simulate).parameters if p not in ("answers", "options")]
            raise InputError(f"simulate has no option '{name}'\n    to mend: {suggestion(name, [*named, *_OPTIONS])}")


def _key(law: Law | None) -> Any:
    return tuple(law.items()) if isinstance(law, dict) else law


def _simulation(
    answers: Answers,
    law: Law | None,
    watched: list[tuple[Event, Expr]],
    wanted: tuple[bool, bool, tuple[float, float] | None],
) -> Simulation:
    """What a simulation runs, kept for the next one with the same law, events and treatment of constraints."""
    key = ("simulation", _key(law), tuple(watched), wanted)
    if answers.recursive() and isinstance(law, CompiledControl):
        refuse_if_too_large(answers.mechanism, f"control {law!r}")
    elif answers.recursive():
        return answers.kept(key, lambda: _large_simulation(answers, law, watched))
    return answers.kept(key, lambda: _written_out_simulation(answers, law, watched, wanted))


def _large_simulation(answers: Answers, law: Any, watched: list[tuple[Event, Expr]]) -> Simulation:
    found = large_motion(answers.by_bodies(), law, [e for _, e in watched])
    events = None if found.events is None else Events(found.events, tuple(event for event, _ in watched))
    return Simulation(found.motion, found.unit, events, found.law, False)


def _written_out_simulation(
    answers: Answers,
    law: Law | None,
    watched: list[tuple[Event, Expr]],
    wanted: tuple[bool, bool, tuple[float, float] | None],
) -> Simulation:
    equations = answers.equations()
    at_run_time, project, baumgarte = wanted
    embedding = embedding_of(answers, law, baumgarte=baumgarte) if answers.mechanism.constraints else None
    unit = None if embedding is not None and project else unit_program(equations)
    return Simulation(
        embedding.rhs if embedding is not None and at_run_time else compile(motion_program(equations, law)),
        embedding.project if embedding is not None and project else None if unit is None else compile(unit),
        Events(compile(watch_program(equations, [e for _, e in watched])), tuple(event for event, _ in watched))
        if watched
        else None,
        None if law is None else compile(control_program(equations, law)),
        embedding is None or not at_run_time,
        embedding,
    )


def _embedding_wanted(
    mechanism: Mechanism, embed: str, drift: str | tuple[float, float], singular: bool
) -> tuple[bool, bool, tuple[float, float] | None]:
    """(at run time, projected, Baumgarte's constants) from what a user asks for and whether the start is singular:
    there the pivots of the formulation are zero."""
    if embed not in ("run-time", "formulation"):
        raise InputError(f"embed = {embed!r}: constraints are embedded at 'run-time' or at 'formulation'")
    if isinstance(drift, str) and drift not in ("project", "none"):
        raise InputError(f"drift = {drift!r}: give 'project', 'none', or (damping ratio, frequency in rad/s)")
    if not isinstance(drift, str) and embed == "formulation":
        raise InputError("Baumgarte's accelerations are added at run time: leave out embed='formulation'")
    if not mechanism.constraints:
        return (False, False, None)
    return (embed == "run-time" or singular, drift == "project", None if isinstance(drift, str) else drift)


def _jacobian(answers: Answers, law: Law | None) -> Kernel:
    """The exact Jacobian of the motion, for the implicit integrator."""
    return answers.kept(("jacobian", _key(law)), lambda: compile(jacobian_program(answers.equations(), law)))


def _law(mechanism: Mechanism, control: str | Mapping[str, Any] | CompiledControl) -> Law:
    if isinstance(control, CompiledControl):
        return control
    if isinstance(control, str):
        given.known(mechanism, "control", control, mechanism.controls, "control")
        return dict(mechanism.controls[control].efforts)
    law: dict[Expr, Expr] = {}
    for name, value in control.items():
        law[mechanism.effort_variable(name, f"control / {name}")] = mechanism.scalar(value, f"control / {name}")
    return law


def _events(mechanism: Mechanism, events: Mapping[str, Any] | None) -> list[tuple[Event, Expr]]:
    found = []
    for name, spec in (events or {}).items():
        spec = dict(spec) if isinstance(spec, Mapping) else {"expression": spec}
        expression = spec.pop("expression", None)
        unknown = set(spec) - {"direction", "terminal"}
        if expression is None or unknown:
            raise ModelError(
                Problem(
                    mechanism.where(f"event '{name}'"),
                    f"cannot be made of {sorted(spec)}" if unknown else "has no expression",
                    mend="give an expression, or {expression, direction, terminal}",
                )
            )
        found.append((Event(name, **spec), mechanism.scalar(expression, f"event '{name}'")))
    return found


def _sampled(control: Callable[..., Any], n_q: int, n_u: int, held: Array) -> Callable[[float, Array], Array]:
    def efforts(t: float, y: Array) -> Array:
        tau = np.asarray(control(t, y[:n_q], y[n_q : n_q + n_u]), dtype=float)
        if tau.shape != (n_u,):
            raise InputError(f"the control gave shape {tau.shape} at t = {t:g} s; it must give tau of shape ({n_u},)")
        return tau + held

    return efforts


__all__ = ["ControlLaw", "Motion", "Simulation", "simulate"]
