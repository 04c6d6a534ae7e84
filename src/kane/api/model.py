"""`Model`: a mechanism that answers and moves, and `load`, which makes one from a name or a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..constraints.thresholds import REDUNDANT
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
from ..model import attitudes, load_mechanism, lock_problem, locks
from ..simulate import Control, Embedding, Event, Events, integrate
from .constrained import Astray, held_names
from .linear import Linearizing
from .records import Array
from .trajectory import Trajectory

ControlLaw = str | Mapping[str, Any] | CompiledControl | Callable[..., Any]
RTOL, RTOL_CONSTRAINED = 1e-8, 1e-10
"""Relative tolerances of a simulation where none is given. Under constraints errors are judged after projection, and a
tighter one costs little."""
_UNWEIGHED = 1e300  # absolute tolerance of the work integral: it must not steer the step size


def load(source: str | Path, *, free: Iterable[str] | str = (), **options: Any) -> Model:
    """The model of a built-in name, a .yaml model file or a .urdf; parameters in `free` (or "all") stay inputs.

    A .urdf takes the options of `UrdfOptions`: base ("fixed" or "floating"), gravity, mimic, damping, friction,
    packages, strict, right_angle.
    """
    model = load_mechanism(source, into=Model, **options)
    if free:
        model.keep_free(free)
    return model


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


class Model(Linearizing):
    """A mechanism that can be asked for its motion."""

    def simulate(
        self,
        t: Any,
        *,
        q: Any = None,
        u: Any = None,
        tau: Any = None,
        control: ControlLaw | None = None,
        control_period: float = 0.01,
        method: str = "dop853",
        rtol: float | None = None,
        atol: float | None = None,
        step: float | None = None,
        embed: str = "run-time",
        drift: str | tuple[float, float] = "project",
        events: Mapping[str, Any] | None = None,
        progress: Callable[[float], object] | None = None,
        **options: Any,
    ) -> Trajectory:
        """The motion over `t` (s), a span (t0, t1) or an array of times, from q and u (default: the initial state).

        `tau` is a constant effort along each speed. `control` is the name of a control law of the model, a mapping from
        speed or joint to an expression in q, u, t and parameters, a law of `kane.planning` along a trajectory (all
        compiled in), or a Python function of (t, q, u) that gives tau, called every `control_period` seconds and held
        between. `events` maps a name to an expression watched for crossing zero, or to {expression, direction,
        terminal}. A start that violates constraints is moved onto them, names given in mappings staying as they are.
        `embed` says where constraints are embedded: at "run-time", independent speeds chosen anew all the time, or at
        "formulation", chosen once, which is faster (from a singular position it is "run-time" always). `drift` off the
        constraints is taken out after each step ("project"), held back by accelerations (Baumgarte's: (damping ratio,
        frequency in rad/s)), or left ("none"). Methods: dop853, rk45 (adaptive), rk4 (fixed `step`), radau (stiff). The
        trajectory's `outcome` says how it ended. `rtol` defaults to 1e-8, with constraints to 1e-10, `atol` to a
        hundredth of that.
        """
        q0, u0 = self._state(q, u, t)
        held = np.zeros(len(self.speeds)) if tau is None else self._vector(tau, self.speeds, "tau")
        law = None if control is None or callable(control) else self._law(control)
        watched = self._events(events)
        singular = self._singular(q0, u0, float(np.ravel(t)[0]))
        simulation = self._simulation(law, watched, self._embedding_wanted(embed, drift, singular))
        sampled = None
        if callable(control):
            sampled = Control(_sampled(control, len(q0), len(u0), held), control_period)
        options.setdefault("project_address", simulation.project)
        options.setdefault("project_error", simulation.embedding is not None)
        if simulation.embedding is not None:
            simulation.embedding.refuse_massless(float(np.ravel(t)[0]), q0, u0, held, self.free_values())
            options.setdefault("explain", simulation.embedding.explain)
            if singular:
                options.setdefault("first_step", self._first_step(u0))
        if method == "radau" and "jacobian_address" not in options and simulation.written_out:
            options["jacobian_address"] = self._jacobian(law)
        rtol = (RTOL_CONSTRAINED if self.constraints else RTOL) if rtol is None else rtol
        weights = np.full(len(q0) + len(u0) + 1, float(1e-2 * rtol if atol is None else atol))
        weights[-1] = _UNWEIGHED
        solution = integrate(
            simulation.motion,
            np.concatenate([q0, u0, [0.0]]),
            t,
            parameters=np.concatenate([held, self.free_values()]),
            method=method,
            rtol=rtol,
            atol=weights,
            step=step,
            events=simulation.events,
            control=sampled,
            progress=progress,
            **options,
        )
        return Trajectory.of(self, solution, simulation.law, held, simulation.embedding)

    def _simulation(
        self,
        law: dict[Expr, Expr] | CompiledControl | None,
        watched: list[tuple[Event, Expr]],
        wanted: tuple[bool, bool, tuple[float, float] | None],
    ) -> Simulation:
        """What a simulation runs, kept for the next one with the same law, events and treatment of constraints."""
        self._refresh()
        key = (tuple(law.items()) if isinstance(law, dict) else law, tuple(watched), wanted)
        if key not in self._simulations and self.recursive():
            if isinstance(law, CompiledControl):
                refuse_if_too_large(self, f"control {law!r}")
            else:
                found = large_motion(self.by_bodies(), law, [e for _, e in watched])
                events = None if found.events is None else Events(found.events, tuple(event for event, _ in watched))
                self._simulations[key] = Simulation(found.motion, found.unit, events, found.law, False)
        if key not in self._simulations:
            equations = self.equations()
            at_run_time, project, baumgarte = wanted
            embedding = self.embedding(law, baumgarte=baumgarte) if self.constraints else None
            unit = None if embedding is not None and project else unit_program(equations)
            self._simulations[key] = Simulation(
                embedding.rhs if embedding is not None and at_run_time else compile(motion_program(equations, law)),
                embedding.project if embedding is not None and project else None if unit is None else compile(unit),
                Events(compile(watch_program(equations, [e for _, e in watched])), tuple(event for event, _ in watched))
                if watched
                else None,
                None if law is None else compile(control_program(equations, law)),
                embedding is None or not at_run_time,
                embedding,
            )
        return self._simulations[key]

    def _embedding_wanted(
        self, embed: str, drift: str | tuple[float, float], singular: bool
    ) -> tuple[bool, bool, tuple[float, float] | None]:
        """(at run time, projected, Baumgarte's constants) from what a user asks for and whether the start is singular:
        there the pivots of the formulation are zero."""
        if embed not in ("run-time", "formulation"):
            raise InputError(f"embed = {embed!r}: constraints are embedded at 'run-time' or at 'formulation'")
        if isinstance(drift, str) and drift not in ("project", "none"):
            raise InputError(f"drift = {drift!r}: give 'project', 'none', or (damping ratio, frequency in rad/s)")
        if not isinstance(drift, str) and embed == "formulation":
            raise InputError("Baumgarte's accelerations are added at run time: leave out embed='formulation'")
        if not self.constraints:
            return (False, False, None)
        return (embed == "run-time" or singular, drift == "project", None if isinstance(drift, str) else drift)

    def _jacobian(self, law: dict[Expr, Expr] | CompiledControl | None) -> Kernel:
        """The exact Jacobian of the motion, for the implicit integrator."""
        key = ("jacobian", tuple(law.items()) if isinstance(law, dict) else law)
        if key not in self._jacobians:
            self._jacobians[key] = compile(jacobian_program(self.equations(), law))
        return self._jacobians[key]

    def _state(self, q: Any, u: Any, t: Any) -> tuple[Array, Array]:
        q0, u0 = self._given(q, u)
        q0 = self._unit(q0)
        if self.constraints:
            given = held_names(q, u)
            # speeds that the model starts with are meant; coordinates may be guesses, such as the height of a wheel
            wanted = [*given, *(s.name for s in self.speed_records.values() if u is None and s.initial)]
            q0, u0 = self._consistent(q0, u0, float(np.asarray(t, dtype=float).flat[0]), wanted, given)
        at_lock = locks(self, q0, REDUNDANT)
        if at_lock:
            raise ModelError([lock_problem(self, lock) for lock in at_lock])
        return q0, u0

    def _consistent(self, q: Array, u: Array, t: float, *choices: list[str]) -> tuple[Array, Array]:
        """The start moved onto the constraints; of the `choices` of names that stay the first that is possible."""
        for held in choices:
            if held:
                try:
                    return self.project(q, u, t=t, hold=held)
                except Astray:
                    raise
                except ModelError:
                    pass  # they cannot all stay: a guess like any other
        return self.project(q, u, t=t)

    def _unit(self, q: Array) -> Array:
        """q with unit quaternions; those that are far from unit are refused, those that are near with a warning."""
        unit = q.copy()
        for attitude in attitudes(self, dict(zip(self.coordinates, q.tolist(), strict=True))):
            if attitude.refused:
                raise ModelError(attitude.problem(self))
            if attitude.doubtful:
                warnings.warn(str(attitude.problem(self)), stacklevel=4)
            unit[[self.coordinates.index(name) for name in attitude.names]] = attitude.unit
        return unit

    def _law(self, control: str | Mapping[str, Any] | CompiledControl) -> dict[Expr, Expr] | CompiledControl:
        if isinstance(control, CompiledControl):
            return control
        if isinstance(control, str):
            return dict(self.find("control", control, self.controls, "control").efforts)
        law: dict[Expr, Expr] = {}
        for name, value in control.items():
            law[self.effort_variable(name, f"control / {name}")] = self.scalar(value, f"control / {name}")
        return law

    def _events(self, events: Mapping[str, Any] | None) -> list[tuple[Event, Expr]]:
        found = []
        for name, spec in (events or {}).items():
            spec = dict(spec) if isinstance(spec, Mapping) else {"expression": spec}
            expression = spec.pop("expression", None)
            unknown = set(spec) - {"direction", "terminal"}
            if expression is None or unknown:
                raise ModelError(
                    Problem(
                        self.where(f"event '{name}'"),
                        f"cannot be made of {sorted(spec)}" if unknown else "has no expression",
                        mend="give an expression, or {expression, direction, terminal}",
                    )
                )
            found.append((Event(name, **spec), self.scalar(expression, f"event '{name}'")))
        return found


def _sampled(control: Callable[..., Any], n_q: int, n_u: int, held: Array) -> Callable[[float, Array], Array]:
    def efforts(t: float, y: Array) -> Array:
        tau = np.asarray(control(t, y[:n_q], y[n_q : n_q + n_u]), dtype=float)
        if tau.shape != (n_u,):
            raise InputError(f"the control gave shape {tau.shape} at t = {t:g} s; it must give tau of shape ({n_u},)")
        return tau + held

    return efforts
