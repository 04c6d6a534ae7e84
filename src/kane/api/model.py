"""`Model`: a mechanism that answers and moves, and `load`, which makes one from a name or a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
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
from ..model import attitudes, load_mechanism, lock_problem, locks
from ..simulate import Control, Event, Events, integrate
from .answering import Answering
from .records import Array
from .trajectory import Trajectory

ControlLaw = str | Mapping[str, Any] | CompiledControl | Callable[..., Any]
_LOCKED = 1e-9  # |det Γ| of a gimbal that counts as locked in an initial state
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
    """The compiled programs of a simulation over [t, q, u, work, tau, parameters].

    `unit` makes quaternions unit after each step, where there are any; `law` gives tau of the compiled control law.
    """

    motion: Kernel
    unit: Kernel | None
    events: Events | None
    law: Kernel | None


class Model(Answering):
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
        rtol: float = 1e-8,
        atol: float = 1e-10,
        step: float | None = None,
        events: Mapping[str, Any] | None = None,
        progress: Callable[[float], object] | None = None,
        **options: Any,
    ) -> Trajectory:
        """The motion over `t` (s), a span (t0, t1) or an array of times, from q and u (default: the initial state).

        `tau` is a constant effort along each speed. `control` is the name of a control law of the model, a mapping from
        speed or joint to an expression in q, u, t and parameters, a law of `kane.planning` along a trajectory (all
        compiled in), or a Python function of (t, q, u) that gives tau, called every `control_period` seconds and held
        between. `events` maps a name to an expression watched for crossing zero, or to {expression, direction,
        terminal}. Methods: dop853, rk45 (adaptive), rk4 (fixed `step`), radau (stiff). The trajectory's `outcome` says
        how it ended.
        """
        q0, u0 = self._state(q, u)
        held = np.zeros(len(self.speeds)) if tau is None else self._vector(tau, self.speeds, "tau")
        law = None if control is None or callable(control) else self._law(control)
        watched = self._events(events)
        simulation = self._simulation(law, watched)
        sampled = None
        if callable(control):
            sampled = Control(_sampled(control, len(q0), len(u0), held), control_period)
        options.setdefault("project_address", simulation.unit)
        if method == "radau" and "jacobian_address" not in options and not self.recursive():
            options["jacobian_address"] = self._jacobian(law)
        weights = np.full(len(q0) + len(u0) + 1, float(atol))
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
        return Trajectory.of(self, solution, simulation.law, held)

    def _simulation(
        self, law: dict[Expr, Expr] | CompiledControl | None, watched: list[tuple[Event, Expr]]
    ) -> Simulation:
        """What a simulation runs, kept for the next one with the same law and events."""
        self._refresh()
        key = (tuple(law.items()) if isinstance(law, dict) else law, tuple(watched))
        if key not in self._simulations and self.recursive():
            if isinstance(law, CompiledControl):
                refuse_if_too_large(self, f"control {law!r}")
            else:
                found = large_motion(self.by_bodies(), law, [e for _, e in watched])
                events = None if found.events is None else Events(found.events, tuple(event for event, _ in watched))
                self._simulations[key] = Simulation(found.motion, found.unit, events, found.law)
        if key not in self._simulations:
            equations = self.equations()
            unit = unit_program(equations)
            self._simulations[key] = Simulation(
                compile(motion_program(equations, law)),
                None if unit is None else compile(unit),
                Events(compile(watch_program(equations, [e for _, e in watched])), tuple(event for event, _ in watched))
                if watched
                else None,
                None if law is None else compile(control_program(equations, law)),
            )
        return self._simulations[key]

    def _jacobian(self, law: dict[Expr, Expr] | CompiledControl | None) -> Kernel:
        """The exact Jacobian of the motion, for the implicit integrator."""
        key = ("jacobian", tuple(law.items()) if isinstance(law, dict) else law)
        if key not in self._jacobians:
            self._jacobians[key] = compile(jacobian_program(self.equations(), law))
        return self._jacobians[key]

    def _state(self, q: Any, u: Any) -> tuple[Array, Array]:
        q0, u0 = self.initial_state
        if q is not None:
            q0 = self._vector(q, self.coordinates, "q")
        if u is not None:
            u0 = self._vector(u, self.speeds, "u")
        q0 = self._unit(q0)
        at_lock = locks(self, q0, _LOCKED)
        if at_lock:
            raise ModelError([lock_problem(self, lock) for lock in at_lock])
        return q0, u0

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

    def _vector(self, value: Any, names: Sequence[str], what: str) -> Array:
        """An array of the right length, from an array or from a mapping name → value (others as they start)."""
        if isinstance(value, Mapping):
            start = dict(zip((*self.coordinates, *self.speeds), np.concatenate(self.initial_state), strict=True))
            row = dict.fromkeys(names, 0.0) if what == "tau" else {n: start[n] for n in names}
            for name, number in value.items():
                self.find("coordinate" if what == "q" else "speed", name, row, what)
                row[name] = number
            value = list(row.values())
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what} is not an array of numbers: {value!r}") from None
        if array.shape != (len(names),):
            raise InputError(
                f"{what} has shape {array.shape}; model '{self.name}' needs ({len(names)},): {', '.join(names)}"
            )
        if not np.all(np.isfinite(array)):
            bad = [n for n, x in zip(names, array, strict=True) if not np.isfinite(x)]
            raise InputError(f"{what} is not finite in {', '.join(bad)}: {value!r}; give finite numbers")
        return array

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
