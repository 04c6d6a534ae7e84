"""`Trajectory`: a motion and how it ended, with what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..analysis import CheckReport, check_stepped, check_trajectory
from ..analysis.large import check_large_trajectory
from ..analysis.singular import Singularity, find_singular
from ..boundary import refuse_odd
from ..constraints.thresholds import NEAR_SINGULAR
from ..errors import InputError, visible
from ..simulate import (
    Embedding,
    MotionProblem,
    Outcome,
    Segment,
    Solution,
    Statistics,
    StepImpulses,
    Transitions,
    WatchedEvents,
)
from .answers import Answers, embedding_of
from .balance import EnergyBalance, balance
from .changing_reactions import reactions_in_modes
from .constrained import constraint_rows, freedom
from .lifting import judge_contacts
from .limits import bounded_efforts, limit_sentences
from .mode_answers import answer_in_modes, changing_motion
from .pulling import pull_sentences
from .reactions import Reactions
from .recordings import recording, show_trajectory, write_recording
from .records import Array, Energy, Momentum, Residuals
from .run_files import load_run, save_run
from .run_pictures import curves, film
from .run_values import EffortLaw, column, evaluate, resample, to_pandas, to_xarray
from .saturation import Saturation, find_saturation, saturation_sentences
from .stepped import in_steps, stepped_motion
from .stops import judge_poles, name_stop
from .vehicles import (
    Crossing,
    GroundForces,
    Interaction,
    TipOver,
    ground_forces,
    interaction,
    judge,
    split_events,
    tip_over,
)

if TYPE_CHECKING:
    from .model import Model

_SPLINE = 5  # degree of the curves that integrate loads along a motion


@dataclass(frozen=True)
class Trajectory:
    """A motion: times `t` (k,) in s, coordinates `q` (k, n_q), speeds `u` (k, n), efforts `tau` (k, n) along them,
    `work` (k,) done by all loads but gravity (J), and the `outcome`: how it ended.

    `statistics` say what it cost, `events` where watched expressions crossed zero, `singularities` which singular
    positions of constraints it passed. `segments` are its parts under one set of constraints each, `transitions` what
    lies between them; `ground_crossings` are, by vehicle, the times at which it would have to be pulled down, would
    slip or tip over; `saturation` says which efforts were at their limits, and when; `step_impulses` are those of time
    stepping, where every step was asked for; `law` gives efforts between samples, where it was compiled. It answers
    with the model that it was simulated with.

    >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
    >>> run.t.tolist(), run.q.shape, run.outcome.success
    ([0.0, 0.5, 1.0], (3, 1), True)
    """

    answers: Answers = field(repr=False)
    t: Array
    q: Array
    u: Array
    tau: Array
    work: Array
    outcome: Outcome
    statistics: Statistics
    events: WatchedEvents = field(default_factory=WatchedEvents)
    singularities: tuple[Singularity, ...] = ()
    segments: tuple[Segment, ...] = ()
    transitions: Transitions = field(default_factory=Transitions)
    ground_crossings: Mapping[str, tuple[Crossing, ...]] = field(
        default_factory=dict[str, tuple[Crossing, ...]], repr=False
    )
    step_impulses: StepImpulses | None = field(default=None, repr=False)
    saturation: tuple[Saturation, ...] = ()
    law: EffortLaw | None = field(default=None, repr=False)

    @property
    def model(self) -> Model:
        """The model as it was when this motion was computed.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run.model.name
        'pendulum'
        """
        from .model import Model  # which imports this module

        return Model.of(self.answers)

    @cached_property
    def residuals(self) -> Residuals:
        """How far off its constraints the motion is, row by row: of configurations (m, rad) and of rates.

        >>> run = kane.load("four-bar").simulate(0.1)
        >>> bool(abs(run.residuals.position).max() < 1e-9)
        True
        """
        if not self.answers.mechanism.constraints:
            return Residuals((), np.zeros((len(self), 0)), np.zeros((len(self), 0)))
        rows = constraint_rows(self.answers, self.q, self.u, t=self.t)
        return Residuals(self.answers.mechanism.row_names, rows.phi, rows.rate)

    @cached_property
    def multipliers(self) -> Array:
        """λ of the rows of constraints along the motion, (k, m), in the order of the model's `row_names`, then those of
        constraints that come and go (`Mechanism.all_row_names`): N, N m, or what makes λ times the rate of the row a
        power. As in `Reactions.multipliers`, without the joints.

        >>> run = kane.load("four-bar").simulate([0, 0.05, 0.1])
        >>> run.multipliers.shape
        (3, 5)
        """
        answers = self.answers
        if answers.mechanism.changing:
            return self._in_modes[1]
        if not answers.mechanism.constraints:
            return np.zeros((len(self), 0))
        embedding = answers.make_once("embedding", lambda: embedding_of(answers))
        return embedding.multipliers(self.t, self.q, self.u, self.tau, answers.values)

    def energy(self) -> Energy:
        """Kinetic and potential energy (J) along the motion, the potential being that of gravity, springs and stops.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> bool(np.ptp(run.energy().total) < 1e-6)
        True
        """
        return self.model.energy(self.q, self.u, t=self.t)

    def balance(self) -> EnergyBalance:
        """Kinetic energy, potential of gravity alone, and `work`, that of efforts and of all other loads, springs among
        them: its `total` does not change along a motion, unless it is `driven` by prescribed joints.

        >>> run = kane.load("double-pendulum").simulate(1, tau=[1.0, 0.0], rtol=1e-10)
        >>> run.balance().error < 1e-6
        True
        """
        return balance(self)

    @refuse_odd
    def momentum(self, about: Sequence[float] | str = (0.0, 0.0, 0.0)) -> Momentum:
        """Momentum (kg m/s) and angular momentum (kg m²/s) along the motion, (k, 3) each, components in N.

        The angular momentum is about the origin of N, another point fixed in N (m), or the mass centre
        (about="center"). Unlike `m.momentum(run.q, run.u)` it knows the times, on which prescribed motions depend.

        >>> run = kane.load("stoneking-five-body").simulate(1, rtol=1e-12)
        >>> bool(np.ptp(run.momentum(about="center").angular, axis=0).max() < 1e-9)
        True
        """
        return self.model.momentum(self.q, self.u, about=about, t=self.t)

    def impulse(self) -> Momentum:
        """Impulse (N s) and angular impulse about the origin (N m s) of the external loads since the start, (k, 3).

        Momentum minus impulse stays constant. Integrated along the times of the trajectory by quintic splines, six of
        them or more, so it is as exact as these are dense: let times fall where loads jump.

        >>> run = kane.load("free-body").simulate(np.linspace(0, 1, 11))
        >>> run.impulse().linear[-1].tolist()
        [0.0, 0.0, 0.0]
        """
        from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs] # slow to import

        if len(self.t) < _SPLINE + 1:
            raise InputError(f"{len(self.t)} times: an impulse needs {_SPLINE + 1} or more along the motion")
        loads = self.model.external_loads(self.q, self.u, tau=self.tau, t=self.t)
        spline: Any = cast("Any", interpolate).make_interp_spline  # scipy has no types
        curves = (spline(self.t, values, k=_SPLINE).antiderivative() for values in loads)
        return Momentum(*(curve(self.t) - curve(self.t[0]) for curve in curves))

    def acceleration(self) -> Array:
        """udot along the motion, (k, n).

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run.acceleration().shape
        (3, 1)
        """
        if self.answers.mechanism.changing:
            return self._in_modes[0]
        return self.model.forward_dynamics(self.q, self.u, self.tau, t=self.t)

    @cached_property
    def _in_modes(self) -> tuple[Array, Array]:
        """(udot (k, n), λ of all rows (k, m)) under constraints that come and go, each in the mode of its time."""
        return answer_in_modes(self)

    @refuse_odd
    def reactions(self, **options: Any) -> Reactions:
        """Forces and moments in joints and of constraints along the motion, (k, 3) each; options of Model.reactions.

        Where constraints come and go, those that hold at a time act with what they give then, friction of what slips
        included, and what does not hold has zeros; impulses of impacts are in `transitions`. Options are then frame,
        on, and method "auxiliary" or "multipliers".

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run.reactions()["pivot"].force.shape
        (3, 3)
        """
        if self.answers.mechanism.changing:
            return reactions_in_modes(self, **options)
        return self.model.reactions(self.q, self.u, self.tau, t=self.t, **options)

    @refuse_odd
    def ground(self, vehicle: str | None = None) -> GroundForces:
        """Forces of the ground on the wheels of a vehicle along the motion, (k, w) each (N): the only vehicle, or the
        one of that name.

        >>> run = kane.load("tanner-mobile-manipulator").simulate([0, 0.5, 1])
        >>> forces = run.ground()
        >>> forces.wheels, forces.normal.shape
        (('front', 'left', 'right'), (3, 3))
        """
        return ground_forces(self, vehicle)

    @refuse_odd
    def tipover(self, vehicle: str | None = None) -> TipOver:
        """How near a vehicle is to tipping over along the motion: `alpha` (k,) (N rad), positive while it is stable.

        >>> run = kane.load("tanner-mobile-manipulator").simulate([0, 0.5, 1])
        >>> run.tipover().per_edge.shape
        (3, 3)
        """
        return tip_over(self, vehicle)

    @refuse_odd
    def interaction(self, mount: str) -> Interaction:
        """Force (N) and torque (N m) that what a joint carries exerts on the body that carries it, about the joint's
        point, in that body's axes: what an arm does to its platform. (k, 3) each.

        >>> run = kane.load("tanner-mobile-manipulator").simulate([0, 0.5, 1])
        >>> run.interaction("mount").force.shape
        (3, 3)
        """
        return interaction(self, mount)

    @refuse_odd
    def check(self, tolerance: float = 1e-6) -> CheckReport:
        """Check of the motion against the balance of energy and the equations it must satisfy; `tolerance` is what the
        integrator may add up to, relative.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run.check().passed
        True
        """
        if self.answers.recursive():
            return check_large_trajectory(self, self.answers.by_bodies(), tolerance)
        if in_steps(self):
            return check_stepped(self, self.answers.equations(), stepped_motion(self), tolerance, self.answers.values)
        changing = changing_motion(self) if self.answers.mechanism.changing else None
        values = self.answers.values
        return check_trajectory(self, self.answers.equations(), tolerance, changing=changing, values=values)

    @refuse_odd
    def plot(self, path: str | Path | None = None, what: str | Sequence[str | Sequence[str]] = "coordinates") -> Any:
        """A figure of `what` over time (matplotlib), written to `path` (.png, .svg, .pdf) if given: coordinates,
        speeds, accelerations, attitude (of bodies on free and spherical joints), efforts, reactions, energy, a column
        (q1, tau_u1) or an expression, one or several of them; those of a list within the list share a panel. What is
        zero throughout is left out, and named.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> figure = run.plot("motion.png", ["coordinates", "speeds", "m*L**2*u**2/2"])
        """
        return curves(self, what, path)

    @refuse_odd
    def animate(self, path: str | Path, *, frames_per_second: float = 25.0, speed: float = 1.0) -> Path:
        """Write a film of the motion, .gif, or .mp4 where ffmpeg is installed, played `speed` times as fast as it is;
        returns its path.

        >>> run = kane.load("pendulum").simulate(0.2)
        >>> run.animate("swing.gif").name
        'swing.gif'
        """
        return film(self, path, frames_per_second, speed)

    @refuse_odd
    def plot_modes(self, path: str | None = None) -> Any:
        """A figure of what comes and goes over time: which constraint is open, holds or sticks, slips, and where it
        was struck (matplotlib), written to `path` if given.

        >>> run = kane.load("bouncing-ball").simulate(2)
        >>> figure = run.plot_modes("modes.png")
        """
        from ..viewer import plots  # matplotlib is an extra and slow to import

        if not self.transitions:
            raise InputError(f"model '{self.answers.mechanism.name}' has nothing that comes and goes: no modes to plot")
        figure = plots.modes(self.transitions, float(self.t[-1]))
        if path is not None:
            plots.save(figure, path)
        return figure

    @refuse_odd
    def view(self, *, port: int = 0, open_browser: bool = True) -> None:
        """Play the motion in a browser, from a server on this machine only, until its window or Ctrl-C ends it.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run.view()  # doctest: +SKIP
        """
        from ..page.serving import show_page  # servers are slow to import

        show_page(recording(self), port=port, open_browser=open_browser)

    @refuse_odd
    def page(self, path: str | Path) -> Path:
        """Write one HTML file that plays the motion, without network; returns its path.

        >>> run = kane.load("pendulum").simulate(1)
        >>> run.page("swing.html").name
        'swing.html'
        """
        return write_recording(self, path)

    @refuse_odd
    def save(self, path: str | Path) -> Path:
        """Write the motion as .npz or .parquet with all that is known of it, its model as text too, or as a .csv table
        with the rest beside it (swing.run.json); `load` gives it back to the bit. Returns the path.

        >>> kane.load("pendulum").simulate(1).save("swing.npz").name
        'swing.npz'
        """
        return save_run(self, path)

    @classmethod
    @refuse_odd
    def load(cls, path: str | Path, *, model: Model | None = None) -> Trajectory:
        """The motion that `save` wrote, which answers as before. `model` is needed where the file has none: a table
        alone, or a model with types of your own.

        >>> path = kane.load("pendulum").simulate(1).save("swing.npz")
        >>> kane.Trajectory.load(path).check().passed
        True
        """
        return cls(**load_run(path, model))

    @refuse_odd
    def __getitem__(self, name: str) -> Array:
        """A column (k,) by its name: t, a coordinate, a speed, its rate (u1'), an effort (tau_u1), work, a row of a
        constraint (its λ).

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run["q"].shape, run["tau_u"].tolist()
        ((3,), [0.0, 0.0, 0.0])
        """
        return column(self, name)

    @refuse_odd
    def evaluate(self, expression: str) -> Array:
        """An expression along the motion, (k,), in t, coordinates, their rates (q1'), speeds, accelerations (u1'),
        efforts (tau_u1), work, parameters, and what events may name: rows of constraints, forces of the ground.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> bool(np.ptp(run.evaluate("m*L**2*u**2/2 - m*g*L*cos(q)")) < 1e-6)
        True
        """
        return evaluate(self, expression)

    @refuse_odd
    def resample(self, times: Any) -> Trajectory:
        """The motion at other times (s) of its span, an array or how many at equal distances: cubics between samples,
        with the rates that the equations of motion give there.

        >>> run = kane.load("pendulum").simulate(1)
        >>> run.resample(11).t.round(3).tolist()
        [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
        """
        return resample(self, times)

    @refuse_odd
    def to_pandas(self) -> Any:
        """A DataFrame of pandas over t: coordinates, speeds, efforts, work; units are in its `attrs`.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> list(run.to_pandas().columns)
        ['q', 'u', 'tau_u', 'work']
        """
        return to_pandas(self)

    @refuse_odd
    def to_xarray(self) -> Any:
        """A Dataset of xarray over t: coordinates, speeds, efforts and work, each with its unit.

        >>> run = kane.load("pendulum").simulate([0, 0.5, 1])
        >>> run.to_xarray()["u"].attrs["units"]
        'rad/s'
        """
        return to_xarray(self)

    def __len__(self) -> int:
        return len(self.t)

    def _repr_html_(self) -> str:
        return show_trajectory(self)

    def __repr__(self) -> str:
        return f"<Trajectory of '{visible(self.answers.mechanism.name)}', {len(self)} times: {self.outcome}>"


def present(
    answers: Answers,
    problem: MotionProblem,
    solution: Solution,
    *,
    saturate: bool = False,
    told: Iterable[str] = (),
    asked: bool = False,
) -> Trajectory:
    """The trajectory of what was simulated, efforts of its control being held within their limits if `saturate`; with
    what is to be `told` of its start. Its states are at times that were `asked` for, or are all steps."""
    run = present_so_far(answers, problem, solution)
    outcome = name_stop(answers, solution.outcome, run.q[-1])
    embedding = problem.modes[0].embedding
    passed = () if embedding is None else _singular_positions(answers, embedding, run.t, run.q, run.u)
    if len(run.transitions) > 1:
        outcome = outcome.add(run.transitions.summary())
    if passed:
        outcome = outcome.add(_announcement(passed))
    if answers.mechanism.changing:
        judgement = judge_contacts(run)
    else:
        judgement = judge(answers, split_events(solution.events)[1], run.t, run.q, run.u, run.tau)
    limited = find_saturation(run, problem, solution)
    driven = problem.law is not None or solution.held is not None or any(problem.tau)
    none = saturate and driven and bool(bounded_efforts(answers.mechanism))
    beyond = [*limit_sentences(run, asked=asked), *saturation_sentences(limited, none=none)]
    outcome = outcome.add(*told, *judgement, *pull_sentences(run), *beyond)
    outcome = judge_poles(answers, outcome, run.t, run.q, run.u)
    crossed = judgement.crossings
    return replace(run, outcome=outcome, singularities=passed, ground_crossings=crossed, saturation=limited)


def present_so_far(answers: Answers, problem: MotionProblem, solution: Solution) -> Trajectory:
    """The trajectory of what has been simulated so far, without anything that is said about it as a whole."""
    q, u, work = problem.layout.state.split(solution.y).values()
    law = None if problem.law is None else EffortLaw.of(answers, problem.law, np.asarray(problem.tau))
    tau = np.tile(problem.tau, (len(solution.t), 1))
    if law is not None:
        tau = law(solution.t, q, u)
    elif solution.held is not None and len(solution.held.t):
        last = np.searchsorted(solution.held.t, solution.t, side="right") - 1
        tau = solution.held.p[np.clip(last, 0, None)]
    events, _ = split_events(solution.events)
    return Trajectory(
        answers,
        solution.t,
        q,
        u,
        tau,
        work,
        solution.outcome,
        solution.statistics,
        WatchedEvents(events),
        segments=solution.segments,
        transitions=Transitions(solution.transitions),
        step_impulses=solution.step_impulses,
        law=law,
    )


def _singular_positions(
    answers: Answers, embedding: Embedding, t: Array, q: Array, u: Array
) -> tuple[Singularity, ...]:
    """Singular positions of the constraints along a motion."""
    if len(t) < 2 or not (np.all(np.isfinite(q)) and np.all(np.isfinite(u))):
        return ()
    workspace, inputs = embedding.workspace(), embedding.layout.inputs

    def measure(times: Array, places: Array) -> Array:
        x = np.zeros((len(times), inputs.size))
        x[:, inputs["t"].start], x[:, inputs["q"].place] = times, places
        x[:, inputs["parameters"].place] = answers.values
        return workspace.accelerations(x).nearness

    found = find_singular(measure, t, q, np.atleast_2d(answers.ask("kinematics", t, None, q=q, u=u)))
    return tuple(
        Singularity(at, size, freedom(answers, place, t=at, within=NEAR_SINGULAR).degrees) for at, place, size in found
    )


def _announcement(passed: tuple[Singularity, ...]) -> str:
    shown = ", ".join(f"{s.t:.6g}" for s in passed[:3]) + (", …" if len(passed) > 3 else "")
    plural = "" if len(passed) == 1 else "s"
    return f"passes {len(passed)} singular position{plural} of the constraints (t = {shown} s)"


__all__ = ["Trajectory", "present"]
