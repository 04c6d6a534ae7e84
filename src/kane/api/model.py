"""`Model`: a mechanism that you describe and ask, and `load`, which makes one from a name or a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from ..analysis import BaseParameters, CheckReport, SpeedSuggestions, base_parameters, check
from ..boundary import FAULTS, check_choice, check_function, odd_argument, refuse_odd
from ..constraints.projection import InconsistentRows
from ..errors import InputError, ModelError, SingularError, WritingError
from ..explain import write_efforts
from ..formulation import Equations
from ..large import refuse_if_too_large
from ..model import (
    Body,
    BuiltChanging,
    BuiltConstraint,
    BuiltLoad,
    Joint,
    Mechanism,
    NamedControl,
    Parameter,
    load_mechanism,
    to_urdf,
    write_mechanism,
)
from ..model.files.loading import SUFFIXES, URDF
from ..model.symbols import Quantity
from ..writing import write_text
from . import closed_form as closed
from . import constrained, ensembles, explaining, given, linear, pages, reactions, safety, whole
from . import modes as mode_machine
from .answers import Answers, free_parameters
from .directed_events import tell_beyond_at_start
from .kept_runs import Keep, checkpoints_of
from .limits import warn_of_idle_limits
from .places import PlaceAnswers
from .recordings import show_model
from .records import Array, Energy
from .simulation import ControlLaw, set_up
from .starts import moved_speeds, start_sentences
from .trajectory import Trajectory, present

P = ParamSpec("P")
R = TypeVar("R")


def load(source: str | Path, *, free: Iterable[str] | str = (), **options: Any) -> Model:
    """The model of a built-in name, a .yaml model file or a .urdf; parameters in `free` (or "all") stay inputs.

    A .urdf takes the options of `UrdfOptions`: base ("fixed" or "floating"), gravity, mimic, damping, friction,
    packages, strict, shapes, right_angle; a .xacro takes its arguments too, mappings={"mass": 2}.

    >>> kane.load("pendulum")
    <Model 'pendulum': 1 bodies, 1 joints, 1 coordinates, 1 speeds>
    """
    try:
        model = Model.of(load_mechanism(source, **options))
    except FAULTS as error:
        raise odd_argument("load", (source,), options, error) from error
    if not isinstance(free, tuple) or free:
        model.keep_free(free)
    return model


def _forward_description(method: Callable[Concatenate[Mechanism, P], R]) -> Callable[Concatenate[Model, P], R]:
    """A method of a model that adds to its description: that of its mechanism."""

    def forward(self: Model, *args: P.args, **options: P.kwargs) -> R:
        try:
            return method(self._own_mechanism(), *args, **options)  # pyright: ignore[reportPrivateUsage]
        except FAULTS as error:
            raise odd_argument(f"Model.{method.__name__}", args, options, error, method) from error

    return _copy_signature(forward, method)


def _forward_motion(method: Callable[Concatenate[Mechanism, P], R]) -> Callable[Concatenate[Model, P], R]:
    """A method of a model that describes the same motion anew: that of its mechanism, with the speeds that it starts
    with."""

    def forward(self: Model, *args: P.args, **options: P.kwargs) -> R:
        self.set_initial(moved_speeds(self._answers))  # pyright: ignore[reportPrivateUsage]
        return describe(self, *args, **options)

    describe = _forward_description(method)
    return _copy_signature(forward, method)


def _forward_question(question: Callable[Concatenate[Answers, P], R]) -> Callable[Concatenate[Model, P], R]:
    """A method of a model that asks a question of its answers."""

    def forward(self: Model, *args: P.args, **options: P.kwargs) -> R:
        try:
            return question(self._answers, *args, **options)  # pyright: ignore[reportPrivateUsage]
        except FAULTS as error:
            raise odd_argument(f"Model.{question.__name__}", args, options, error, question) from error

    return _copy_signature(forward, question)


def _copy_signature(forward: Callable[..., Any], original: Callable[..., Any]) -> Any:
    """`forward` with name, signature and docstring of what it stands for."""
    made = wraps(original)(forward)
    signature = inspect.signature(original)
    first, *rest = signature.parameters.values()
    own = inspect.Parameter("self", first.kind)
    made.__signature__ = signature.replace(parameters=[own, *rest])  # type: ignore[attr-defined]
    return made


class Model:
    """A mechanism that you describe and ask.

    You describe it with
        `parameter`, `body`, `particle`, `joint`, `dh`, `vehicle`, `reaction_wheel`, `coordinate`,
        `frame`, `point`: its parts;
        `load`, `constrain`, `contact`, `control`, `limit`: what acts on them, what holds them and when,
        drives and their limits;
        `set_speeds`, `suggest_speeds`, `set_gravity`, `set_initial`, `set_parameters`, `keep_free`:
        choices and values.
    What you described is in
        `mechanism`, `name`, `parameters`, `bodies`, `joints`, `loads`, `constraints`, `changing`, `row_names`,
        `controls`, `gravity`, `coordinates`, `speeds`, `initial_state`, `mass`;
        `save` and `to_urdf` write it to files, `of` makes a model of a mechanism.
    You ask it for
        `equations`, `closed_form`: expressions, programs, operation counts, C, LaTeX and SymPy;
        `explain`: Kane's method step by step, to be read;
        `inverse_dynamics`, `forward_dynamics`, `mass_matrix`, `bias`, `qdot`, `energy`, `momentum`, `inertia`,
        `mass_center`, `poses`, `at`, `external_loads`, `regressor`: numbers at states, one or a batch;
        `constraint_rows`, `freedom`, `project`, `drive_efforts`, `reactions`, `modes`, `safety_filter`: what
        constraints, joints and the ground do;
        `linearize`, `equilibrium`, `trim`, `base_parameters`, `check`: properties of the model;
        `simulate`, `ensemble`: its motion, and many of them; `page`: a file in which it moves and can be touched.

    What is needed is formulated and compiled when first asked for, and kept until the description changes. Units are
    SI, angles radians; q, u, udot and tau are arrays (n,) or (batch, n) in the order of `coordinates` and `speeds`, or
    mappings name → value; tau acts along the speeds: tau · u is power. `t` is a number (s) or one per sample;
    `parameters` are values of free parameters, by name or in their order. Gravity (m/s²) has components in N.

    >>> m = kane.Model("pendulum", gravity=(0, 0, -9.81))
    >>> rod = m.body("rod", mass=2, center=(0, 0, -0.5), inertia={"xx": 1 / 6, "yy": 1 / 6})
    >>> hinge = m.joint("hinge", "revolute", "ground", "rod", axis="y", coordinates=["q"], speeds=["u"])
    >>> m.forward_dynamics(q=[0.0], u=[0.0], tau=[2.0]).round(6).tolist()
    [3.0]
    """

    def __init__(self, name: str = "model", *, gravity: Sequence[Quantity] = (0.0, 0.0, 0.0), about: str = ""):
        self._answers = Answers(Mechanism(name, gravity=gravity, about=about))
        self._shared = False

    @classmethod
    def of(cls, description: Mechanism | Answers) -> Self:
        """The model of a description, which stays as it is: what is added later is added to a copy.

        >>> from kane.model import load_mechanism
        >>> kane.Model.of(load_mechanism("pendulum")).speeds
        ('u',)
        """
        model = cls.__new__(cls)
        model._answers = description if isinstance(description, Answers) else Answers(description)
        model._shared = True
        return model

    # describing --------------------------------------------------------------------------------------------------

    parameter = _forward_description(Mechanism.parameter)
    body = _forward_description(Mechanism.body)
    particle = _forward_description(Mechanism.particle)
    joint = _forward_description(Mechanism.joint)
    dh = _forward_description(Mechanism.dh)
    reaction_wheel = _forward_description(Mechanism.reaction_wheel)
    vehicle = _forward_description(Mechanism.vehicle)
    coordinate = _forward_description(Mechanism.coordinate)
    frame = _forward_description(Mechanism.frame)
    point = _forward_description(Mechanism.point)
    load = _forward_description(Mechanism.load)
    constrain = _forward_description(Mechanism.constrain)
    contact = _forward_description(Mechanism.contact)
    control = _forward_description(Mechanism.control)
    limit = _forward_description(Mechanism.limit)
    set_speeds = _forward_motion(Mechanism.set_speeds)
    set_gravity = _forward_description(Mechanism.set_gravity)
    set_initial = _forward_description(Mechanism.set_initial)

    # what is described -------------------------------------------------------------------------------------------

    @property
    def mechanism(self) -> Mechanism:
        """The description itself: records of all parts, and expressions over them.

        >>> m = kane.load("pendulum")
        >>> m.mechanism.joints["pivot"].type.kind
        'revolute'
        """
        return self._answers.mechanism

    def _own_mechanism(self) -> Mechanism:
        """The description, to be changed: one of its own where a trajectory or a copy still needs the present one."""
        if self._shared:
            self._answers = self._answers.of(self.mechanism.twin())
            self._shared = False
        return self.mechanism

    @refuse_odd
    def keep_free(self, names: Iterable[str] | str = "all") -> None:
        """Keep parameters as inputs of the programs: they can then be changed without compiling again.

        >>> m = kane.load("pendulum")
        >>> m.keep_free(["L"])
        >>> m.forward_dynamics({"q": "90*deg"}, [0], [0], parameters={"L": 2}).round(6).tolist()
        [-4.905]
        """
        free_parameters(self._own_mechanism(), names)

    @refuse_odd
    def set_parameters(self, values: Mapping[str, Quantity] | tuple[()] = (), /, **more: Quantity) -> None:
        """Give parameters new values (SI) by name, in a mapping or as options; they pass the same checks as when they
        were declared. Free ones take effect at once, fixed ones with the next compilation.

        >>> m = kane.load("pendulum")
        >>> m.set_parameters({"L": "2*L"}, m=3)
        >>> m.mass_matrix([0]).tolist()
        [[12.0]]
        """
        mechanism = self.mechanism.twin()
        try:
            fixed = mechanism.set_parameters(dict(values, **more))
        except ModelError as error:
            raise ModelError([given.with_parameters(problem) for problem in error.problems]) from None
        if fixed:
            self._answers = self._answers.of(mechanism)
        else:
            self._answers = self._answers.twin(mechanism)
        self._shared = False

    @property
    def name(self) -> str:
        """What the model is called.

        >>> kane.load("pendulum").name
        'pendulum'
        """
        return self.mechanism.name

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Parameters by name, with their values (SI).

        >>> {name: p.value for name, p in kane.load("pendulum").parameters.items()}
        {'g': 9.81, 'L': 1.0, 'm': 1.0}
        """
        return self.mechanism.parameters

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies by name, the ground not among them.

        >>> list(kane.load("double-pendulum").bodies)
        ['upper', 'lower']
        """
        return self.mechanism.bodies

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Joints by name.

        >>> list(kane.load("double-pendulum").joints)
        ['shoulder', 'elbow']
        """
        return self.mechanism.joints

    @property
    def loads(self) -> Mapping[str, BuiltLoad]:
        """Loads by name.

        >>> list(kane.load("andrews-squeezer").loads)
        ['spring', 'motor']
        """
        return self.mechanism.loads

    @property
    def constraints(self) -> Mapping[str, BuiltConstraint]:
        """Constraints by name, with their rows.

        >>> list(kane.load("four-bar").constraints)
        ['pin']
        """
        return self.mechanism.constraints

    @property
    def changing(self) -> Mapping[str, BuiltChanging]:
        """What comes and goes: contacts, stops, friction, latches and switched constraints, by the names of their
        elements.

        >>> m = kane.load("pendulum")
        >>> ends = m.constrain("end", kane.HardStop("q", lower=-1, upper=1))
        >>> list(m.changing)
        ['end.lower', 'end.upper']
        """
        return self.mechanism.changing

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of all scalar constraints, in the order of the rows of A.

        >>> kane.load("four-bar").row_names
        ('pin.x', 'pin.y', 'pin.z', 'pin.rx', 'pin.ry')
        """
        return self.mechanism.row_names

    @property
    def controls(self) -> Mapping[str, NamedControl]:
        """Control laws by name.

        >>> list(kane.load("cart-pole").controls)
        ['balance']
        """
        return self.mechanism.controls

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Acceleration of gravity (m/s²), components in N, at the present values of the parameters.

        >>> kane.load("pendulum").gravity
        (0.0, -9.81, 0.0)
        """
        x, y, z = (self.mechanism.number(e, "gravity") for e in self.mechanism.gravity)
        return x, y, z

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of q.

        >>> kane.load("double-pendulum").coordinates
        ('q1', 'q2')
        """
        return self.mechanism.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the speeds, in the order of u.

        >>> kane.load("double-pendulum").speeds
        ('u1', 'u2')
        """
        return self.mechanism.speeds

    @property
    def initial_state(self) -> tuple[Array, Array]:
        """(q, u) as the model states them; zero, or rest, where it does not.

        >>> q, u = kane.load("pendulum").initial_state
        >>> q.round(6).tolist(), u.tolist()
        ([1.047198], [0.0])
        """
        return given.initial(self.mechanism, "q"), given.initial(self.mechanism, "u")

    @property
    def mass(self) -> float:
        """Total mass (kg), at the present values of the parameters.

        >>> kane.load("double-pendulum").mass
        2.0
        """
        mechanism = self.mechanism
        return sum(mechanism.number(body.mass, f"body '{body.name}'") for body in mechanism.bodies.values())

    @refuse_odd
    def save(self, path: str | Path) -> None:
        """Write the description as a .yaml model file, which `kane.load` reads; a file of that name is replaced when
        all is written.

        >>> kane.load("pendulum").save("mine.yaml")
        >>> kane.load("mine.yaml").coordinates
        ('q',)
        """
        _write(path, write_mechanism(self.mechanism), SUFFIXES)

    @refuse_odd
    def to_urdf(self, path: str | Path | None = None) -> str:
        """The description as the text of a URDF robot, written to the .urdf file `path` too if one is given. Refuses
        what URDF cannot say. Lengths are metres, angles radians.

        >>> print(kane.load("double-pendulum").to_urdf("arm.urdf"))
        <?xml version="1.0"...
        """
        text = to_urdf(self.mechanism)
        if path is not None:
            _write(path, text, (URDF,))
        return text

    # what is asked: equations ------------------------------------------------------------------------------------

    @refuse_odd
    def equations(self, free: Iterable[str] | str = ()) -> Equations:
        """The equations of motion; parameters in `free`, or declared free, are kept as inputs.

        >>> kane.load("pendulum").equations().count("forward_dynamics")["mul"]
        1
        """
        self._shared = True
        found = self._answers.formulate(self.mechanism, free) if free else self._answers.equations()
        found.writer = write_efforts
        return found

    explain = _forward_question(explaining.explain)

    @refuse_odd
    def suggest_speeds(
        self,
        *,
        apply: bool = False,
        tries: int | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> SpeedSuggestions:
        """What choices of generalized speeds cost, by the rules of Mitiguy & Kane: ω along the axes of a body or of
        what carries it, absolute rates instead of relative ones, velocities of points. Each is formulated and counted.

        With `apply` the model takes the cheapest: initial state and motion stay the same, and control laws keep their
        meaning. At most `tries` choices are measured, by default 200, or fewer for large models;
        `progress` is told the part that is done.

        >>> m = kane.load("double-pendulum")
        >>> print(m.suggest_speeds(apply=True))
        speeds                  defined as      u': mul + add  q': mul + add  in all
        absolute rate of lower  u2 = w.lower.z        13 + 10          0 + 1      24
        as described: u = q'                          14 + 12          0 + 0      26
        4 choices measured, 2 of which repeat the speeds of others or do not determine the rates
        >>> m.qdot([0, 0], [1.0, 3.0]).tolist()
        [1.0, 2.0]
        """
        found = explaining.suggest(self._answers, tries, progress)
        if apply and found.best is not found.present:
            self.set_speeds(found.best.definitions)
        return found

    # what is asked: states ---------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Efforts tau (N m, N) along the speeds that produce udot in the state q, u.

        >>> m = kane.load("pendulum")
        >>> m.inverse_dynamics([0.0], [0.0], [3.0]).tolist()
        [3.0]
        >>> m.inverse_dynamics({"q": "90*deg"}, [0.0], [0.0]).round(6).tolist()
        [9.81]
        """
        answers = self._answers
        if parameters is None and answers.direct_revision == answers.mechanism.revision:
            direct = answers.direct.get("inverse_dynamics")
            if direct is not None:
                try:
                    return direct(q, u, udot)
                except InputError:
                    pass  # given by name, or a fault for which the error below is better
        return answers.shortcut("inverse_dynamics", t, parameters, q=q, u=u, udot=udot)

    def forward_dynamics(self, q: Any, u: Any, tau: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Accelerations udot that the efforts tau along the speeds produce in the state q, u.

        >>> m = kane.load("pendulum")
        >>> m.forward_dynamics([[0.0], [0.5]], [[0.0], [0.0]], [[2.0], [0.0]]).round(6).tolist()
        [[2.0], [-4.703165]]
        """
        answers = self._answers
        if parameters is None and answers.direct_revision == answers.mechanism.revision:
            direct = answers.direct.get("forward_dynamics")
            if direct is not None:
                try:
                    return direct(q, u, tau)
                except InputError:
                    pass  # given by name, or a fault for which the error below is better
        return answers.shortcut("forward_dynamics", t, parameters, q=q, u=u, tau=tau)

    @refuse_odd
    def mass_matrix(self, q: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """M(q), (n, n) or (batch, n, n): kinetic energy is ½ uᵀ M u where speeds are linear in the rates alone.

        >>> m = kane.load("double-pendulum")
        >>> m.mass_matrix([0, 0]).tolist()
        [[5.0, 2.0], [2.0, 1.0]]
        """
        return self._answers.ask("mass_matrix", t, parameters, q=q)

    @refuse_odd
    def bias(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Efforts at udot = 0: M udot + bias = tau.

        >>> m = kane.load("pendulum")
        >>> m.bias({"q": "90*deg"}, [0]).round(6).tolist()
        [9.81]
        """
        return self._answers.ask("bias", t, parameters, q=q, u=u)

    @refuse_odd
    def qdot(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Rates of the coordinates in the state q, u: W u + X.

        >>> m = kane.load("double-pendulum")
        >>> m.qdot([0, 0], [1.0, 2.0]).tolist()
        [1.0, 2.0]
        """
        return self._answers.ask("kinematics", t, parameters, q=q, u=u)

    @refuse_odd
    def energy(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Energy:
        """Kinetic and potential energy (J); potential of gravity and springs, zero height at the origin of N.

        >>> m = kane.load("pendulum")
        >>> m.energy([0], [2.0])
        Energy(kinetic=2.0, potential=-9.81)
        """
        kinetic, potential = self._answers.ask("energy", t, parameters, q=q, u=u)
        return Energy(*(float(e) if np.ndim(e) == 0 else e for e in (kinetic, potential)))

    def base_parameters(self, *, friction: bool = False) -> BaseParameters:
        """The combinations of inertial parameters that efforts depend on, and with `friction` those of the joints.

        >>> kane.load("pendulum").base_parameters().names
        ('Izz.bob', 'hx.bob', 'hy.bob')
        """
        check_choice("friction", friction)
        return base_parameters(self._answers.equations(), friction=friction)

    @refuse_odd
    def check(self, samples: int = 5, seed: int = 0) -> CheckReport:
        """Check of the model against the laws of mechanics and an independent second route.

        >>> kane.load("pendulum").check().passed
        True
        """
        refuse_if_too_large(self.mechanism, "check")
        try:
            return check(self._answers.equations(), samples=samples, seed=seed)
        except InconsistentRows as error:
            raise constrained.refuse_open_constraints(self.mechanism, error) from None
        except np.linalg.LinAlgError as error:
            raise SingularError(
                f"{self.mechanism.where('check')}: {error}\n"
                "    because at some state the speeds do not determine the motion, or move no mass\n"
                "    fix: choose speeds that tell every motion apart, and give every body that moves mass and inertia"
            ) from None

    @refuse_odd
    def at(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> PlaceAnswers:
        """Kinematics of a point of a body (m, in the body's frame): pose, velocity, acceleration, Jacobian.

        >>> tip = kane.load("double-pendulum").at("lower", (0, -1, 0))
        >>> tip.velocity([0, 0], [1.0, 0.0]).tolist()
        [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]
        """
        self.mechanism.find_body(body, f"place on '{body}'")
        self._shared = True
        return PlaceAnswers(self._answers, body, tuple(given.triple("point", point).tolist()))

    momentum = _forward_question(whole.momentum)
    inertia = _forward_question(whole.inertia)
    mass_center = _forward_question(whole.mass_center)
    poses = _forward_question(whole.poses)
    external_loads = _forward_question(whole.external_loads)
    regressor = _forward_question(whole.regressor)

    # what is asked: constraints, motion near a state, motion -----------------------------------------------------

    constraint_rows = _forward_question(constrained.constraint_rows)
    freedom = _forward_question(constrained.freedom)
    project = _forward_question(constrained.project)
    drive_efforts = _forward_question(constrained.drive_efforts)
    modes = _forward_question(mode_machine.modes)
    reactions = _forward_question(reactions.reactions)
    closed_form = _forward_question(closed.closed_form)
    safety_filter = _forward_question(safety.safety_filter)
    linearize = _forward_question(linear.linearize)
    equilibrium = _forward_question(linear.equilibrium)
    trim = _forward_question(linear.trim)
    page = _forward_question(pages.page)
    ensemble = _forward_question(ensembles.ensemble)

    def simulate(
        self,
        t: Any,
        *,
        q: Any = None,
        u: Any = None,
        tau: Any = None,
        control: ControlLaw | None = None,
        control_period: float = 0.01,
        method: str = "auto",
        rtol: float | None = None,
        atol: float | None = None,
        step: float | None = None,
        embed: str = "run-time",
        drift: str | tuple[float, float] = "project",
        impact: str | None = None,
        contacts: str = "events",
        saturate: bool = False,
        events: Mapping[str, Any] | None = None,
        parameters: Any = None,
        progress: Callable[[float], object] | None = None,
        keep: str | Path | Keep | None = None,
        **options: Any,
    ) -> Trajectory:
        """The motion over `t` (s), a duration, a span (t0, t1) or an array of times, from q and u (default: the initial
        state).

        `tau` is a constant effort along each speed. `control` is the name of a control law of the model, a mapping from
        speed or joint to an expression in q, u, t and parameters, a law of `kane.planning` along a trajectory (all
        compiled in), or a Python function of (t, q, u) that gives tau, called every `control_period` seconds and held
        between. `events` maps a name to an expression watched for crossing zero, or to {expression, direction,
        terminal}; a row of a constraint ("front.normal") stands for its multiplier λ, tau_u1 for the effort along u1. A
        start that violates constraints is moved onto them, names given in mappings staying as they are. `embed` says
        where constraints are embedded: at "run-time", independent speeds chosen anew all the time, or at "formulation",
        chosen once, which is faster (from a singular position it is "run-time" always). `drift` off the constraints is
        taken out after each step ("project"), held back by accelerations (Baumgarte's: (damping ratio, frequency in
        rad/s)), or left ("none"). Where constraints come and go, `contacts` says how: each change found and resolved
        ("events"), with `impact` one of poisson (the default), newton, stronge, sequential, plastic; or in steps of
        length `step` ("stepping", for many contacts), with Newton's law of impact. Methods: auto (dop853, and radau
        where the motion is stiff, which the outcome says), dop853, rk45, rk23 (adaptive), rk4 (fixed `step`), radau
        (implicit). The trajectory's `outcome` says how it ended. `rtol` defaults to 1e-8, with constraints to 1e-10,
        `atol` to a hundredth of that. In the file `keep` a long run is kept while it is under way: after an interrupt,
        or the end of the process, the same call goes on from there and ends with the same bits. With `saturate` the
        efforts of tau and of a control together stay within the limits of the model.

        >>> m = kane.load("pendulum")
        >>> run = m.simulate(10, q={"q": "10*deg"})
        >>> run.outcome.success, float(run.t[-1])
        (True, 10.0)
        """
        check_function("progress", progress, "the part that is done", 1)
        answers = self._answers.with_parameters(parameters)
        asked: dict[str, Any] = {
            "q": q,
            "u": u,
            "tau": tau,
            "control": control,
            "control_period": control_period,
            "method": method,
        }
        asked |= {"rtol": rtol, "atol": atol, "step": step, "embed": embed, "drift": drift}
        asked |= {"impact": impact, "contacts": contacts, "events": events, "saturate": saturate}
        try:
            ready = set_up(answers, t, **asked, options=options)
            checkpoints = checkpoints_of(keep, answers, ready)
        except FAULTS as error:
            raise odd_argument("simulate", (t,), asked | options | {"keep": keep}, error) from error
        if saturate:
            warn_of_idle_limits(answers.mechanism)
        self._shared = True
        solution = ready.run(progress, checkpoints)
        if checkpoints is not None and solution.outcome.reason != "interrupt" and not isinstance(keep, Keep):
            checkpoints.remove()
        told = (*ready.told, *start_sentences(answers, q, u, ready.start, ready.times))
        run = present(answers, ready.problem, solution, saturate=saturate, told=told, asked=ready.times.size > 2)
        return tell_beyond_at_start(run, events)

    def __copy__(self) -> Self:
        """A model that changes without this one noticing."""
        self._shared = True
        return type(self).of(self._answers)

    def __repr__(self) -> str:
        return repr(self.mechanism)

    def _repr_html_(self) -> str:
        return show_model(self._answers)


def _write(path: str | Path, text: str, suffixes: Sequence[str]) -> None:
    """Write a file that `load` can read again: by its ending it knows what is in it."""
    if Path(path).suffix not in suffixes:
        raise WritingError(f"{path}: is no name of such a file\n    fix: end it in {' or '.join(suffixes)}")
    write_text(path, text)


__all__ = ["Model", "load"]
