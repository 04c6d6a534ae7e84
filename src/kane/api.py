"""The nouns with their verbs: `Model`, `Trajectory`, and `load`.

A `Model` is a description (`Mechanism`) that can be asked: efforts, accelerations, mass matrix, energy, momentum,
simulation. What it needs is formulated and compiled when first asked for and kept until the description changes.

Units are SI, angles radians. Arrays q, u, udot and tau are (n,) or (batch, n), ordered as `coordinates` and `speeds`;
tau acts along the speeds: tau · u is power.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import formulation
from .analysis import BaseParameters, CheckReport, base_parameters, check, check_trajectory
from .analysis.large import check_large_trajectory
from .backends import (  # the verb of the pipeline is called compile
    Kernel,
    SymPyProgram,
    compile,
    remembered,
    to_c,
    to_latex,
    to_sympy,
)
from .errors import InputError, ModelError, Problem
from .formulation import (
    CompiledControl,
    control_program,
    external_program,
    jacobian_program,
    motion_program,
    place_of,
    place_program,
    regressor_program,
    unit_program,
    watch_program,
)
from .graph import Expr, Program, hoist
from .large import LargeAnswers, by_recursion, large_motion, refuse_if_too_large
from .model import Mechanism, attitudes, load_mechanism, lock_problem, locks
from .simulate import Control, Event, Events, Outcome, Solution, Statistics, integrate

Array = np.ndarray[Any, np.dtype[np.float64]]
ControlLaw = str | Mapping[str, Any] | CompiledControl | Callable[..., Any]
_LOCKED = 1e-9  # |det Γ| of a gimbal that counts as locked in an initial state
_NEAR_LOCK = 1e-3  # |det Γ| below which lock explains why a motion stopped
_SPLINE = 5  # degree of the curves that integrate loads along a motion
_UNWEIGHED = 1e300  # absolute tolerance of the work integral: it must not steer the step size


class Energy(NamedTuple):
    """Kinetic and potential energy (J)."""

    kinetic: Any
    potential: Any


class Momentum(NamedTuple):
    """Linear momentum (kg m/s) and angular momentum (kg m²/s), components in N."""

    linear: Any
    angular: Any


class Wrench(NamedTuple):
    """A resultant force (N) and moment (N m), components in N."""

    force: Any
    moment: Any


def load(source: str | Path, *, free: Iterable[str] | str = (), **options: Any) -> Model:
    """The model of a built-in name, a .yaml model file or a .urdf; parameters in `free` (or "all") stay inputs.

    A .urdf takes the options of `UrdfOptions`: base ("fixed" or "floating"), gravity, mimic, damping, friction,
    packages, strict, right_angle.
    """
    model = load_mechanism(source, into=Model, **options)
    if free:
        model.keep_free(free)
    return model


class Equations(formulation.Equations):
    """Equations of motion that can be written for other tools; `what` is a name of `SIGNATURES`."""

    def to_c(self, what: str = "forward_dynamics", name: str | None = None) -> tuple[str, str]:
        """(header, source) in C99 without dependencies."""
        return to_c(self.program(what), name)

    def to_latex(self, what: str = "inverse_dynamics", **options: Any) -> str:
        """An align* environment: the equations of small systems, the Z list of larger ones."""
        return to_latex(self.program(what), **options)

    def to_sympy(self, what: str = "inverse_dynamics") -> SymPyProgram:
        """Symbols, replacements and outputs in SymPy."""
        return to_sympy(self.program(what))


class Model(Mechanism):
    """A mechanism that can be asked for its motion."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._answers: dict[str, _Answer | _LargeAnswer] = {}
        self._simulations: dict[Any, _Simulation] = {}
        self._jacobians: dict[Any, Kernel] = {}
        self._equations: Equations | None = None
        self._large: LargeAnswers | None = None
        self._answered = -1

    # equations ---------------------------------------------------------------------------------------------------

    def equations(self, free: Iterable[str] | str = ()) -> Equations:
        """The equations of motion; parameters in `free`, or declared free, are kept as inputs."""
        if free:
            return Equations(self, free)
        self._refresh()
        if self._equations is None:
            self._equations = Equations(self)
        return self._equations

    def _refresh(self) -> None:
        """Forget what was computed for an earlier state of the description."""
        if self._answered != self.revision:
            self._answers, self._simulations, self._jacobians = {}, {}, {}
            self._equations, self._large, self._answered = None, None, self.revision

    def keep_free(self, names: Iterable[str] | str = "all") -> None:
        """Keep parameters as inputs of the programs: they can then be changed without compiling again."""
        for name in list(self.parameters) if names == "all" else list(names):
            record = self.find("parameter", name, self.parameters, "free parameters")
            self.parameters[name] = replace(record, free=True)
        self.revision += 1

    def set_parameters(self, **values: float) -> None:
        """Give parameters new values. Free ones take effect at once, fixed ones with the next compilation."""
        for name, value in values.items():
            record = self.find("parameter", name, self.parameters, "parameters")
            number = self.number(self.scalar(value, f"parameter '{name}'"), f"parameter '{name}'")
            self.parameters[name] = replace(record, value=number)
            if not record.free:
                self.revision += 1
        for answer in self._answers.values():
            answer.parameters_changed(self.free_values())
        if self._large is not None:  # its constants are numbers
            self._large, self._simulations = None, {}

    def free_values(self) -> Array:
        """Values of the free parameters, in the order of the programs' inputs."""
        return np.array([p.value for p in self.parameters.values() if p.free], dtype=float)

    def _answer(self, name: str) -> _Answer | _LargeAnswer:
        self._refresh()
        answer = self._answers.get(name)
        if answer is None:
            if by_recursion(self):
                answer = self._answers[name] = _LargeAnswer(self, name)
            else:
                answer = self._answers[name] = _Answer(self._program(name), self.free_values())
        return answer

    def _by_bodies(self) -> LargeAnswers:
        """Answers by recursion over the bodies, as large trees are computed."""
        self._refresh()
        if self._large is None:
            self._large = LargeAnswers(self)
        return self._large

    def _program(self, name: str) -> Program:
        """A program of the equations; that of an unchanged model file may be known from an earlier run."""
        if self._equations is not None or self.signature is None:
            return self.equations().program(name)
        return remembered((self.signature, name), lambda: self.equations().program(name))

    # answers -----------------------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Efforts tau (N m, N) along the speeds that produce udot in the state q, u."""
        if self._answered == self.revision and parameters is None:
            answer = self._answers.get("inverse_dynamics")
            if answer is not None and answer.direct is not None:
                return answer.direct(q, u, udot)
        return self._answer("inverse_dynamics")(t, (q, u, udot), parameters)

    def forward_dynamics(self, q: Any, u: Any, tau: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Accelerations udot that the efforts tau along the speeds produce in the state q, u."""
        if self._answered == self.revision and parameters is None:
            answer = self._answers.get("forward_dynamics")
            if answer is not None and answer.direct is not None:
                return answer.direct(q, u, tau)
        return self._answer("forward_dynamics")(t, (q, u, tau), parameters)

    def mass_matrix(self, q: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """M(q), (n, n) or (batch, n, n): kinetic energy is ½ uᵀ M u where speeds are linear in the rates alone."""
        return self._answer("mass_matrix")(t, (q,), parameters)

    def bias(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Efforts at udot = 0: M udot + bias = tau."""
        return self._answer("bias")(t, (q, u), parameters)

    def qdot(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Rates of the coordinates in the state q, u: W u + X."""
        return self._answer("kinematics")(t, (q, u), parameters)

    def energy(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Energy:
        """Kinetic and potential energy (J); potential of gravity and springs, zero height at the origin of N."""
        kinetic, potential = self._answer("energy")(t, (q, u), parameters)
        return Energy(kinetic, potential)

    def momentum(self, q: Any, u: Any, *, about: Sequence[float] | str = (0.0, 0.0, 0.0), t: Any = 0.0) -> Momentum:
        """Linear momentum, and angular momentum about a point fixed in N at `about` (m), components in N.

        With about="center" the angular momentum is about the mass centre, without loss of digits far from the origin.
        """
        if isinstance(about, str):
            if about != "center":
                raise InputError(f"momentum about '{about}': give a point (x, y, z) in N, or 'center'")
            return Momentum(*self._answer("central_momentum")(t, (q, u), None))
        linear, angular = self._answer("momentum")(t, (q, u), None)
        return Momentum(linear, angular - np.cross(np.asarray(about, dtype=float), linear))

    def inertia(self, q: Any, *, about: Sequence[float] | None = None, t: Any = 0.0) -> Array:
        """Inertia of the whole system (kg m²), (…, 3, 3), components in N, about its mass centre or the point `about`
        (m, fixed in N)."""
        mass, center, central = self._answer("inertia")(t, (q,), None)
        if about is None:
            return central
        arm = np.asarray(center) - np.asarray(about, dtype=float)
        square = (arm**2).sum(axis=-1)[..., None, None] * np.eye(3)
        return central + np.asarray(mass)[..., None, None] * (square - arm[..., :, None] * arm[..., None, :])

    @property
    def mass(self) -> float:
        """Total mass (kg), at the present values of the parameters."""
        return sum(self.number(body.mass, f"body '{body.name}'") for body in self.bodies.values())

    def mass_center(self, q: Any, *, t: Any = 0.0) -> Array:
        """Position of the system's mass centre in N (m)."""
        moment = self._answer("mass_center")(t, (q,), None)
        return moment[..., 1:] / moment[..., :1]

    def poses(self, q: Any, *, t: Any = 0.0) -> Array:
        """For each body, in order, R_NB by rows (9) and the position of its origin in N (3): (bodies, 12)."""
        return self._answer("poses")(t, (q,), None)

    def external_loads(self, q: Any, u: Any, *, tau: Any = None, t: Any = 0.0) -> Wrench:
        """What acts on the whole from outside: resultant force, and moment about the origin of N, components in N.

        Gravity, loads, and tau along the speeds of free joints. They are the rates of the momenta; what acts between
        bodies cancels. Every joint to the ground has to be free: others react.
        """
        self._refresh()
        if "external_loads" not in self._answers:
            refuse_if_too_large(self, "external loads")
            self._answers["external_loads"] = _Answer(external_program(self.equations()), self.free_values())
        held = np.zeros(len(self.speeds)) if tau is None else tau
        return Wrench(*self._answers["external_loads"](t, (q, u, held), None))

    def regressor(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0) -> Array:
        """Y, (…, n, 10 bodies), with tau = Y π: π are m, hx, hy, hz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz of each body in
        order, about its origin and in its frame. Loads other than gravity take no part."""
        self._refresh()
        if "regressor" not in self._answers:
            refuse_if_too_large(self, "regressor")
            self._answers["regressor"] = _Answer(regressor_program(self.equations()), self.free_values())
        return self._answers["regressor"](t, (q, u, udot), None)

    def base_parameters(self) -> BaseParameters:
        """The combinations of inertial parameters that efforts depend on."""
        return base_parameters(self)

    def check(self, samples: int = 5, seed: int = 0) -> CheckReport:
        """The model held against the laws of mechanics and an independent second route."""
        refuse_if_too_large(self, "check")
        return check(self, samples=samples, seed=seed)

    def at(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> PlaceAnswers:
        """Kinematics of a point of a body (m, in the body's frame): pose, velocity, acceleration, Jacobian."""
        self._refresh()
        return PlaceAnswers(self, body, tuple(float(x) for x in point))

    def place_kernel(self, what: str, body: str, point: tuple[float, ...]) -> _Answer | _LargeAnswer:
        """The compiled program of a quantity of a place, kept with the others."""
        self._refresh()
        key = f"{what} of {body} at {point}"
        if key not in self._answers:
            equations = self.equations()
            program = place_program(equations, what, place_of(equations, body, point))
            self._answers[key] = _Answer(program, self.free_values())
        return self._answers[key]

    @property
    def initial_state(self) -> tuple[Array, Array]:
        """(q, u) as the model states them; zero, or rest, where it does not."""
        q = [c.initial for c in self.coordinate_records.values()]
        u = [s.initial for s in self.speed_records.values()]
        return np.array(q, dtype=float), np.array(u, dtype=float)

    # simulation --------------------------------------------------------------------------------------------------

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
        if method == "radau" and "jacobian_address" not in options and not by_recursion(self):
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
    ) -> _Simulation:
        """What a simulation runs, kept for the next one with the same law and events."""
        self._refresh()
        key = (tuple(law.items()) if isinstance(law, dict) else law, tuple(watched))
        if key not in self._simulations and by_recursion(self):
            if isinstance(law, CompiledControl):
                refuse_if_too_large(self, f"control {law!r}")
            else:
                found = large_motion(self._by_bodies(), law, [e for _, e in watched])
                events = None if found.events is None else Events(found.events, tuple(event for event, _ in watched))
                self._simulations[key] = _Simulation(found.motion, found.unit, events, found.law)
        if key not in self._simulations:
            equations = self.equations()
            unit = unit_program(equations)
            self._simulations[key] = _Simulation(
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


@dataclass(frozen=True, slots=True)
class PlaceAnswers:
    """What can be asked of a point of a body. Components in N; ω before v; arrays as for the model."""

    model: Model
    body: str
    point: tuple[float, ...]

    def pose(self, q: Any, *, t: Any = 0.0) -> tuple[Array, Array]:
        """(R_NB, p): orientation (…, 3, 3) and position (…, 3) (m)."""
        flat = self._answer("pose", t, (q,))
        return flat[..., :9].reshape(*flat.shape[:-1], 3, 3), flat[..., 9:]

    def velocity(self, q: Any, u: Any, *, t: Any = 0.0) -> Array:
        """ω (rad/s) and v (m/s), (…, 6)."""
        return self._answer("velocity", t, (q, u))

    def acceleration(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0) -> Array:
        """α (rad/s²) and a (m/s²), (…, 6)."""
        return self._answer("acceleration", t, (q, u, udot))

    def jacobian(self, q: Any, *, t: Any = 0.0) -> Array:
        """J (…, 6, n): ω and v per unit of each speed."""
        return self._answer("jacobian", t, (q,))

    def jacobian_rate(self, q: Any, u: Any, *, t: Any = 0.0) -> Array:
        """dJ/dt (…, 6, n)."""
        return self._answer("jacobian_rate", t, (q, u))

    def _answer(self, what: str, t: Any, arrays: tuple[Any, ...]) -> Any:
        return self.model.place_kernel(what, self.body, self.point)(t, arrays, None)


class _Answer:
    """One compiled program of a model. Work on free parameters alone is done once and kept."""

    def __init__(self, program: Program, values: Array):
        self.program = program
        self.takes_time = any(g.name == "t" for g in program.inputs)
        self.takes_parameters = any(g.name == "parameters" for g in program.inputs)
        self._whole: Kernel | None = None
        self._values = values
        self._hoisted: Array | None = None
        if self.takes_parameters:
            prelude, body = hoist(program, "parameters")
            self._prelude: Kernel | None = compile(prelude) if prelude.outputs[0].slots else None
            self._kernel = compile(body)
        else:
            self._prelude = None
            self._kernel = compile(program)
        simple = not self.takes_time and not self.takes_parameters
        self.direct: Kernel | None = self._kernel if simple else None

    def parameters_changed(self, values: Array) -> None:
        self._values, self._hoisted = values, None

    def __call__(self, t: Any, arrays: tuple[Any, ...], parameters: Any) -> Any:
        groups = (t, *arrays) if self.takes_time else arrays
        if not self.takes_parameters:
            if parameters is not None:
                raise InputError(
                    "no parameter of this model is free: declare some with keep_free(...) or load(free=...)"
                )
            return self._kernel(*groups)
        if parameters is not None:
            if self._whole is None:
                self._whole = compile(self.program)
            return self._whole(*groups, parameters)
        if self._prelude is None:
            return self._kernel(*groups, self._values)
        if self._hoisted is None:
            self._hoisted = np.asarray(self._prelude(self._values))
        return self._kernel(*groups, self._values, self._hoisted)


class _LargeAnswer:
    """One answer of a large tree, by recursion over its bodies; with other parameters than its own, written out."""

    def __init__(self, model: Model, name: str):
        self._model, self._name = model, name
        self._written_out: _Answer | None = None
        self.direct = model._by_bodies().direct(name)

    def parameters_changed(self, values: Array) -> None:
        self._written_out = self.direct = None

    def __call__(self, t: Any, arrays: tuple[Any, ...], parameters: Any) -> Any:
        model = self._model
        if parameters is None:
            return model._by_bodies().answer(self._name, t, arrays, model.free_values())
        if self._written_out is None:
            refuse_if_too_large(model, f"{self._name} with parameters=…; set_parameters(…)")
            self._written_out = _Answer(model.equations().program(self._name), model.free_values())
        return self._written_out(t, arrays, parameters)


@dataclass(frozen=True, slots=True)
class _Simulation:
    """The compiled programs of a simulation over [t, q, u, work, tau, parameters].

    `unit` makes quaternions unit after each step, where there are any; `law` gives tau of the compiled control law.
    """

    motion: Kernel
    unit: Kernel | None
    events: Events | None
    law: Kernel | None


def _sampled(control: Callable[..., Any], n_q: int, n_u: int, held: Array) -> Callable[[float, Array], Array]:
    def efforts(t: float, y: Array) -> Array:
        tau = np.asarray(control(t, y[:n_q], y[n_q : n_q + n_u]), dtype=float)
        if tau.shape != (n_u,):
            raise InputError(f"the control gave shape {tau.shape} at t = {t:g} s; it must give tau of shape ({n_u},)")
        return tau + held

    return efforts


def _explained(model: Model, outcome: Outcome, q: Array) -> Outcome:
    """The outcome, with gimbal lock named where that is why the motion stopped."""
    if outcome.success or outcome.reason == "interrupt":
        return outcome
    near = locks(model, q, _NEAR_LOCK)
    if not near:
        return outcome
    text = f"{outcome.text}; {'; '.join(map(str, near))}; a spherical joint has no lock"
    return replace(outcome, text=text)


@dataclass(frozen=True)
class Trajectory:
    """A motion: times t (k,), coordinates q (k, n), speeds u (k, n), efforts tau (k, n), work done by loads (k,), and
    how it ended."""

    model: Model = field(repr=False)
    t: Array
    q: Array
    u: Array
    tau: Array
    work: Array
    outcome: Outcome
    statistics: Statistics
    events: tuple[Any, ...] = ()

    @staticmethod
    def of(model: Model, solution: Solution, law: Kernel | None, held: Array) -> Trajectory:
        n_q, n_u = len(model.coordinates), len(model.speeds)
        q, u = solution.y[:, :n_q], solution.y[:, n_q : n_q + n_u]
        tau = np.tile(held, (len(solution.t), 1))
        if law is not None:
            values = (model.free_values(),) if any(g.name == "parameters" for g in law.program.inputs) else ()
            tau = tau + law(solution.t[:, None], q, u, *values)
        elif solution.held is not None and len(solution.held.t):
            last = np.searchsorted(solution.held.t, solution.t, side="right") - 1
            tau = solution.held.p[np.clip(last, 0, None)]
        work = solution.y[:, n_q + n_u]
        outcome = _explained(model, solution.outcome, q[-1])
        return Trajectory(model, solution.t, q, u, tau, work, outcome, solution.statistics, solution.events)

    def energy(self) -> Energy:
        """Kinetic and potential energy (J) along the motion."""
        return self.model.energy(self.q, self.u, t=self.t[:, None])

    def impulse(self) -> Momentum:
        """Impulse (N s) and angular impulse about the origin (N m s) of the external loads since the start, (k, 3).

        Momentum minus impulse stays constant. Integrated along the times of the trajectory by quintic splines, six of
        them or more, so it is as exact as these are dense: let times fall where loads jump.
        """
        from scipy.interpolate import make_interp_spline  # slow to import

        if len(self.t) < _SPLINE + 1:
            raise InputError(f"{len(self.t)} times: an impulse needs {_SPLINE + 1} or more along the motion")
        loads = self.model.external_loads(self.q, self.u, tau=self.tau, t=self.t[:, None])
        curves = (make_interp_spline(self.t, values, k=_SPLINE).antiderivative() for values in loads)
        return Momentum(*(curve(self.t) - curve(self.t[0]) for curve in curves))

    def acceleration(self) -> Array:
        """udot along the motion, (k, n)."""
        return self.model.forward_dynamics(self.q, self.u, self.tau, t=self.t[:, None])

    def check(self) -> CheckReport:
        """The motion held against the balance of energy and the equations it must satisfy."""
        if by_recursion(self.model):
            return check_large_trajectory(self, self.model._by_bodies())
        return check_trajectory(self)

    def plot(self, path: str | None = None) -> Any:
        """A figure of the coordinates over time (matplotlib), written to `path` if given."""
        from .viewer import plots  # matplotlib is an extra and slow to import

        figure = plots.motion(self.model, self.t, self.q)
        if path is not None:
            plots.save(figure, path)
        return figure

    def view(self, *, port: int = 0, open_browser: bool = True) -> None:
        """Play the motion in a browser, from a server on this machine only, until its window or Ctrl-C ends it."""
        from .viewer import view  # viser is an extra and slow to import

        view(self, port=port, open_browser=open_browser)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<Trajectory of '{self.model.name}', {len(self)} times: {self.outcome}>"
