"""A simulation put together: start, programs, events, control law and settings of a motion."""

# pyright: reportUnnecessaryIsInstance=false
# What callers give is judged, whatever its type was declared to be.

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..backends import Kernel, compile
from ..boundary import check_function, describe_value
from ..constraints.thresholds import TOUCHING
from ..errors import InputError, ModelError, Problem, suggestion
from ..formulation import (
    CompiledControl,
    control_program,
    jacobian_program,
    joint_symbols,
    motion_program,
    unit_program,
    watch_program,
)
from ..graph import Expr, Layout, depends_on
from ..large import large_motion, refuse_if_too_large
from ..model import Mechanism
from ..model.measures import MotionNames
from ..simulate import (
    AUTO,
    IMPACT_LAWS,
    STEPPING,
    ChangingSet,
    Control,
    Event,
    Mode,
    MotionProblem,
    Routine,
    Solution,
    simulate,
)
from ..simulate.checkpoints import Checkpoints
from . import given
from .answers import Answers, changing_set, embedding_of, law_key, stepping_set
from .constrained import first_step, is_singular
from .limits import effort_limits
from .limits import saturate as saturate_law
from .memory_needs import require_motion_memory
from .modes import mode_table
from .records import Array
from .starts import span, start_state
from .vehicles import judged_events, name_spins
from .watched import find_undetermined, read_events

ControlLaw = str | Mapping[str, Any] | CompiledControl | Callable[..., Any]
Law = dict[Expr, Expr] | CompiledControl
RTOL, RTOL_CONSTRAINED, RTOL_CHANGING = 1e-8, 1e-10, 1e-12
"""Relative tolerances of a simulation where none is given. Under constraints errors are judged after projection, and a
tighter one costs little. Where they change, an error moves all that follows."""
ENGINES = ("events", "stepping")
"""How constraints that come and go are treated: each change found and resolved, or steps of one length."""
CONTRADICTS = 1e-9
"""Rate (m/s, rad/s), absolute plus that share, by which rows that hold together may differ."""
_UNWEIGHED = 1e300  # absolute tolerance of the work integral: it must not steer the step size
_MEANT = {"coordinates": "q", "speed": "u", "speeds": "u", "efforts": "tau", "duration": "t", "time": "t", "dt": "step"}
"""What options of `simulate` are called elsewhere."""
_OPTIONS = ("max_step", "first_step", "max_steps", "chunk")


@dataclass(frozen=True, slots=True)
class Setup:
    """A simulation that is ready to run: what is simulated, the state [q, u, work] at its start, the times (s), a
    control in Python, settings of the integrator, and what is `told` of what it watches. Without such a control it can
    be pickled."""

    problem: MotionProblem
    start: Array
    times: Array
    control: Control | None
    settings: Mapping[str, Any]
    told: tuple[str, ...] = ()

    def run(
        self, progress: Callable[[float], object] | None = None, checkpoints: Checkpoints | None = None
    ) -> Solution:
        """The motion, kept while it is under way where `checkpoints` say so."""
        settings = dict(self.settings, control=self.control, progress=progress, checkpoints=checkpoints)
        return simulate(self.problem, self.start, self.times, **settings)


@dataclass(frozen=True, slots=True)
class Treatment:
    """How constraints are treated: embedded at run time or at formulation, drift taken out after each step or not, held
    back by Baumgarte's accelerations (damping ratio, frequency in rad/s) or not; the law of impacts of those that come
    and go, and whether these are treated by time stepping."""

    at_run_time: bool = False
    project: bool = False
    baumgarte: tuple[float, float] | None = None
    impact: str = "poisson"
    stepping: bool = False


def set_up(
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
    options: dict[str, Any],
    impact: str | None = None,
    contacts: str = "events",
    saturate: bool = False,
    more_events: Sequence[tuple[Event, Expr]] = (),
) -> Setup:
    """What a motion over t from a start takes, see `Model.simulate`; `more_events` are watched after all others."""
    _refuse_unknown(options)
    mechanism, times = answers.mechanism, span(t)
    require_motion_memory(mechanism, times.size)
    _check_control(control)
    with answers.cache.lock:  # what is given may be text, which becomes part of the graph of the description
        q0, u0 = start_state(answers, q, u, times)
        held = given.start(mechanism, "tau", tau)
        law = None if control is None or callable(control) else _law(mechanism, control)
        if saturate and not callable(control):
            law, held = saturate_law(law, mechanism, held)
        singular = is_singular(answers, q0, u0, float(times.flat[0]))
        stepping = _check_contacts(mechanism, contacts, method, step, events)
        impact = _impact_law(impact, stepping)
        _refuse_backward(mechanism, times)
        treatment = replace(_treatment(mechanism, embed, drift, singular), impact=impact, stepping=stepping)
        watched = [*read_events(mechanism, events), *judged_events(answers), *more_events]
        told = find_undetermined(answers, watched, float(times.flat[0]), (q0, u0), held)
        problem = _problem(answers, law, watched, treatment, held, method)
    sampled = None
    if callable(control):
        period = given.number(mechanism, "control_period", control_period)
        most = effort_limits(mechanism) if saturate else np.full(problem.layout.speeds, np.inf)
        sampled = Control(_efforts_of(control, problem.layout, held, most), period)
    changing = problem.modes[0].changing
    if changing is not None:
        inputs = np.concatenate([[times.flat[0]], q0, u0, [0.0], held, answers.values])
        refuse_penetration(mechanism, changing, inputs)
        refuse_contradiction(mechanism, changing, inputs)
    embedding = problem.modes[0].embedding
    if embedding is not None:
        embedding.refuse_massless(float(times.flat[0]), q0, u0, held, answers.values)
        if singular:
            options.setdefault("first_step", first_step(u0))
    usual = RTOL_CHANGING if mechanism.changing else RTOL_CONSTRAINED if mechanism.constraints else RTOL
    rtol = usual if rtol is None else given.number(mechanism, "rtol", rtol)
    state = problem.layout.state
    weights = np.full(state.size, 1e-2 * rtol if atol is None else given.number(mechanism, "atol", atol))
    weights[state["work"].place] = _UNWEIGHED
    settings = {"method": STEPPING if stepping else method, "rtol": rtol, "atol": weights, "step": step, **options}
    return Setup(problem, np.concatenate([q0, u0, [0.0]]), times, sampled, settings, told)


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    """Refuse options of `simulate` that there are not, with what was meant perhaps."""
    for name in options:
        if name not in _OPTIONS:
            named = [p for p in inspect.signature(set_up).parameters if p not in ("answers", "options", "more_events")]
            meant = _MEANT.get(name)
            fix = f"did you mean '{meant}'?" if meant else suggestion(name, [*named, *_OPTIONS])
            raise InputError(f"simulate has no option '{name}'\n    fix: {fix}")


def _check_control(control: Any) -> None:
    """Refuse a control that is none of the forms that there are, or a function that does not take (t, q, u)."""
    if control is None or isinstance(control, (str, Mapping, CompiledControl)):
        return
    if not callable(control):
        fix = "give a name, a mapping speed → expression, a law of kane.planning, or a function of (t, q, u)"
        raise InputError(f"control = {describe_value(control)} is no control\n    fix: {fix}")
    check_function("control", control, "(t, q, u)", 3)


def _problem(
    answers: Answers, law: Law | None, watched: list[tuple[Event, Expr]], treatment: Treatment, tau: Array, method: str
) -> MotionProblem:
    """What is simulated; its programs are kept for the next motion with the same law, events and treatment."""
    key = ("simulation", law_key(law), tuple(watched), treatment)
    recursive = answers.recursive()
    if recursive and isinstance(law, CompiledControl):
        refuse_if_too_large(answers.mechanism, f"control {law!r}")
        recursive = False
    if recursive and depends_on([e for _, e in watched], joint_symbols(answers.mechanism).values()):
        refuse_if_too_large(answers.mechanism, "events of reactions")
        recursive = False
    if recursive and answers.mechanism.changing:
        refuse_if_too_large(answers.mechanism, "what comes and goes")
        recursive = False
    mode, efforts = answers.make_once(
        key,
        lambda: _recursive_mode(answers, law, watched) if recursive else _mode(answers, law, watched, treatment),
    )
    if method == "radau" and mode.motion is not None and not recursive:
        mode = replace(mode, jacobian=_jacobian(answers, law))
    mechanism = answers.mechanism
    layout = Layout(len(mechanism.coordinates), len(mechanism.speeds), len(answers.values))
    return MotionProblem(
        layout,
        (mode,),
        tuple(tau.tolist()),
        tuple(answers.values.tolist()),
        tuple(event for event, _ in watched),
        law=efforts,
        names=(*mechanism.coordinates, *name_spins(mechanism), "work"),
    )


def _recursive_mode(answers: Answers, law: Any, watched: list[tuple[Event, Expr]]) -> tuple[Mode, Kernel | None]:
    """The mode of a large tree, and the efforts of its law."""
    found = large_motion(answers.by_bodies(), law, [e for _, e in watched])
    return Mode(motion=found.motion, unit=found.unit, watch=found.events, efforts=found.efforts), found.law


def _mode(
    answers: Answers, law: Law | None, watched: list[tuple[Event, Expr]], treatment: Treatment
) -> tuple[Mode, Kernel | None]:
    """The mode of a mechanism with all its constraints, and the efforts of its law."""
    fresh, constraints = answers.fresh_equations, answers.mechanism.constraints
    if answers.mechanism.changing:
        whole = answers.all_rows_held()
        unit = None if treatment.project else unit_program(fresh())
        mode = Mode(
            tuple(constraints),
            unit=None if unit is None else compile(unit),
            project=treatment.project,
            watch=compile(watch_program(whole.fresh_equations(), [e for _, e in watched], law)) if watched else None,
            changing=stepping_set(answers, law, treatment.impact)
            if treatment.stepping
            else replace(
                changing_set(answers, law, treatment.impact),
                table=() if treatment.at_run_time else mode_table(answers, law),
            ),
        )
        return mode, None if law is None else compile(control_program(fresh(), law))
    embedding = embedding_of(answers, law, baumgarte=treatment.baumgarte) if constraints else None
    unit = None if treatment.project else unit_program(fresh())
    mode = Mode(
        tuple(constraints),
        None if treatment.at_run_time else compile(motion_program(fresh(), law)),
        embedding,
        treatment.project,
        None if unit is None else compile(unit),
        watch=compile(watch_program(fresh(), [e for _, e in watched], law)) if watched else None,
    )
    return mode, None if law is None else compile(control_program(fresh(), law))


def _treatment(mechanism: Mechanism, embed: str, drift: str | tuple[float, float], singular: bool) -> Treatment:
    """How constraints are treated, from what a user asks for and whether the start is singular: there the pivots of the
    formulation are zero."""
    if embed not in ("run-time", "formulation"):
        raise InputError(f"embed = {embed!r}: constraints are embedded at 'run-time' or at 'formulation'")
    if not isinstance(drift, str) and not (isinstance(drift, tuple | list) and len(drift) == 2):
        raise InputError(
            f"drift = {describe_value(drift)}: give 'project', 'none', or (damping ratio, frequency in rad/s)"
        )
    if isinstance(drift, str) and drift not in ("project", "none"):
        raise InputError(f"drift = {drift!r}: give 'project', 'none', or (damping ratio, frequency in rad/s)")
    if not isinstance(drift, str) and embed == "formulation":
        raise InputError("Baumgarte's accelerations are added at run time: leave out embed='formulation'")
    if mechanism.changing:
        return Treatment(embed == "run-time", drift == "project", None)
    if not mechanism.constraints:
        return Treatment()
    return Treatment(embed == "run-time" or singular, drift == "project", None if isinstance(drift, str) else drift)


def _check_contacts(
    mechanism: Mechanism, contacts: Any, method: str, step: Any, events: Mapping[str, Any] | None
) -> bool:
    """Whether contacts are treated by time stepping; what does not go with it is refused."""
    if contacts not in ENGINES:
        near = suggestion(str(contacts), list(ENGINES))
        raise InputError(f"contacts = {describe_value(contacts)}: there are {', '.join(ENGINES)}\n    fix: {near}")
    if contacts == ENGINES[0]:
        return False
    if not mechanism.changing:
        raise InputError("contacts = 'stepping': the model has nothing that comes and goes\n    fix: leave it out")
    if step is None:
        raise InputError("contacts = 'stepping' has steps of one length\n    fix: give step=..., in seconds, say 1e-3")
    if method != AUTO:
        raise InputError(f"method = {method!r}: contacts = 'stepping' has none\n    fix: leave the method out")
    rows = {name for c in mechanism.changing.values() for name in c.row_names()} | set(mechanism.row_names)
    rows |= set(joint_symbols(mechanism))
    for name, value in (events or {}).items():
        watched = cast("Mapping[str, Any]", value).get("expression") if isinstance(value, Mapping) else value
        if isinstance(watched, str) and any(row in watched for row in rows):
            raise InputError(
                f"event '{name}': contacts = 'stepping' has impulses of steps, no reactions that events could watch"
                "\n    fix: watch coordinates or speeds, or leave contacts='stepping' out"
            )
    return True


def _impact_law(impact: Any, stepping: bool) -> str:
    """The law of impacts; refuses one that there is not."""
    if impact is None:
        return "newton" if stepping else "poisson"
    if stepping and impact != "newton":
        raise InputError(
            f"impact = {describe_value(impact)}: contacts = 'stepping' has 'newton' alone, as Moreau states it"
            "\n    fix: leave impact out"
        )
    if impact not in IMPACT_LAWS:
        near = suggestion(str(impact), list(IMPACT_LAWS))
        raise InputError(f"impact = {describe_value(impact)}: there are {', '.join(IMPACT_LAWS)}\n    fix: {near}")
    return impact


def _refuse_backward(mechanism: Mechanism, times: Array) -> None:
    """Refuse times that fall: impacts and friction cannot be undone."""
    if mechanism.changing and times.flat[-1] < times.flat[0]:
        raise InputError("time runs backward, but impacts cannot be undone\n    fix: give increasing times")


def refuse_penetration(mechanism: Mechanism, changing: ChangingSet, inputs: Array) -> None:
    """Refuse a start in which bodies are inside each other."""
    phi = changing.layout.terms.split(Routine(changing.terms.address, changing.layout.terms.size)(inputs))["phi"]
    for element, row in zip(changing.elements, changing.first_rows, strict=True):
        gap = float(phi[row])
        if element.type == "contact" and element.held and not gap >= -TOUCHING:
            unit = _gap_unit(mechanism, element.name)
            what = f"the gap is {gap:.6g}{f' {unit}' if unit else ''} at the start"
            what = what if gap == gap else "the gap has no value at the start"
            because, fix = "bodies do not penetrate each other", "start with a gap ≥ 0"
            if mechanism.changing[element.name].kind == "stop" and gap < 0.0:
                what = f"the start is {-gap:.6g} beyond it"
                because, fix = "a stop is not passed", "start inside its range, or take the stop away"
            raise ModelError(Problem(mechanism.where(f"'{element.name}'"), what, because, fix))


def _gap_unit(mechanism: Mechanism, name: str) -> str:
    """The unit of a gap, by that of the reaction which closes it; none where an equation was written."""
    return {"N": "m", "N m": "rad"}.get(mechanism.changing[name].rows[0].unit, "")


def refuse_contradiction(mechanism: Mechanism, changing: ChangingSet, inputs: Array) -> None:
    """Refuse a start in which what is switched on asks for rates that no speeds have."""
    switched = [
        (e, first)
        for e, first in zip(changing.elements, changing.first_rows, strict=True)
        if e.type == "switched" and e.held
    ]
    if not switched:
        return
    terms = changing.layout.terms.split(Routine(changing.terms.address, changing.layout.terms.size)(inputs))
    held = [*range(changing.permanent), *(row for e, first in switched for row in range(first, first + e.rows))]
    A, rate = terms["A"][held], terms["rate"][held]
    left: Array = np.asarray(rate - A @ np.linalg.lstsq(A, rate, rcond=None)[0], dtype=np.float64)
    if float(np.abs(left).max()) <= CONTRADICTS * (1.0 + float(np.abs(rate).max())):
        return
    off = {row for row, size in zip(held, np.abs(left), strict=True) if size > CONTRADICTS}
    involved = [f"'{e.name}'" for e, first in switched if off & set(range(first, first + e.rows))]
    what = f"no speeds satisfy what is held at the start: rates differ by {2 * float(np.abs(left).max()):.3g}"
    because, fix = "constraints that hold together agree", "let one of them hold later: held: false, and give when"
    raise ModelError(Problem(mechanism.where(", ".join(involved)), what, because, fix))


def _jacobian(answers: Answers, law: Law | None) -> Kernel:
    """The exact Jacobian of the motion, for the implicit integrator."""
    return answers.make_once(
        ("jacobian", law_key(law)), lambda: compile(jacobian_program(answers.fresh_equations(), law))
    )


def _law(mechanism: Mechanism, control: str | Mapping[str, Any] | CompiledControl) -> Law:
    if isinstance(control, CompiledControl):
        return control
    if isinstance(control, str):
        given.require_known(mechanism, "control", control, mechanism.controls, "control")
        return dict(mechanism.controls[control].efforts)
    return mechanism.read_law(control, "control", MotionNames(mechanism))


def law_of(answers: Answers, control: str | Mapping[str, Any] | CompiledControl | Callable[..., Any]) -> Law:
    """A control law that is compiled, as programs take it."""
    _check_control(control)
    with answers.cache.lock:  # texts become part of the graph of the description
        return _law(answers.mechanism, cast("str | Mapping[str, Any] | CompiledControl", control))


def feedback_law(answers: Answers, control: ControlLaw | None) -> Law | None:
    """A control law that can be differentiated: by name, as expressions, or one that builds its own efforts."""
    if control is None:
        return None
    _check_control(control)
    if callable(control) and not isinstance(control, CompiledControl):
        raise InputError(
            "a control in Python cannot be differentiated\n"
            "    fix: give its efforts as expressions, control={'u1': '-2*q1 - u1'}, or a law of kane.planning"
        )
    return law_of(answers, control)


def _efforts_of(
    control: Callable[..., Any], layout: Layout, held: Array, most: Array
) -> Callable[[float, Array], Array]:
    """The efforts of a control law in Python and those `held` beside it, each sum at `most` so large, from the time and
    the state of the integrator."""
    q, u, n = layout.state["q"].place, layout.state["u"].place, layout.speeds
    limited = bool(np.isfinite(most).any())

    def efforts(t: float, y: Array) -> Array:
        asked = control(t, y[q], y[u])
        try:
            tau = np.asarray(asked, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"the control gave {describe_value(asked)} at t = {t:g} s; it must give tau, numbers"
            ) from None
        if tau.shape != (n,):
            raise InputError(f"the control gave shape {tau.shape} at t = {t:g} s; it must give tau of shape ({n},)")
        return np.clip(tau + held, -most, most) if limited else tau + held

    return efforts


__all__ = [
    "ControlLaw",
    "Setup",
    "feedback_law",
    "set_up",
]
