"""Pages of a model: one that simulates by itself, and one that plays a motion."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..errors import InputError, WritingError
from ..formulation import scene_program
from ..large import refuse_if_too_large
from ..model import Mechanism
from ..page import Described, WrittenPage, live_page
from ..planning import ComputedTorque, GravityCompensation, Hold
from ..simulate import AUTO, Solution, simulate
from ..simulate.live import LawPrograms, live_motion
from ..writing import check_writable, write_text
from . import given
from .answers import Answers
from .limits import warn_start_outside
from .marks import WheelKernel, marked_places, marks_kernel, wheel_kernel
from .records import Array
from .simulation import ControlLaw, Setup, law_of, set_up

STEP, STEPPED = 1e-3, 5e-3
"""Length of a step of the simulation in a page (s), and where contacts are treated by time stepping."""

FRAMED = 4.0
"""Seconds of the motion that the camera of a page is placed for."""

PIECE, PIECE_STEPS, MOST_EVALUATIONS = 0.25, 2_000, 300_000
"""That motion is computed in pieces (s, steps), until it has taken so many evaluations of the motion and of events."""

MANY = 60
"""Constraints that come and go from which on they are treated by time stepping: by events it would take minutes."""

SUFFIXES = (".html", ".htm")

_TOUCH = 2 * math.pi
"""Least angular frequency of the coupler between pointer and body (rad/s), which holds where there is no weight."""

_SAG = 1 / 36
"""Part of the size of a mechanism by which its own weight on the coupler displaces it."""


def page(
    answers: Answers,
    path: str | Path,
    *,
    q: Any = None,
    u: Any = None,
    tau: Any = None,
    control: ControlLaw | None = None,
    contacts: str | None = None,
    step: float | None = None,
    parameters: Any = None,
) -> Path:
    """Write one HTML file in which the model moves and can be touched, without network: opened in a browser it
    simulates by itself, from q and u (default: the initial state), with Runge–Kutta steps of length `step` (s, default
    1e-3), or 5e-3 with `contacts="stepping"`, which is the default where very many constraints come and go.

    `tau` and `control` are as for `simulate`; a control that is a Python function cannot go along. Parameters that are
    kept free have sliders. A file of that name is replaced when all is written. Returns the path, which a notebook
    shows as the page.

    >>> kane.load("pendulum").page("pendulum.html").name
    'pendulum.html'
    """
    target = page_path(path)
    given_all: dict[str, Any] = {"q": q, "u": u, "tau": tau, "control": control, "contacts": contacts}
    write_text(target, simulated_page(answers, **given_all, step=step, parameters=parameters))
    return WrittenPage(target)


def simulated_page(
    answers: Answers,
    *,
    q: Any = None,
    u: Any = None,
    tau: Any = None,
    control: ControlLaw | None = None,
    contacts: str | None = None,
    step: float | None = None,
    parameters: Any = None,
) -> str:
    """The page in which the model moves, as HTML."""
    if callable(control):
        fix = "give a control law by its name or by expressions, which are compiled"
        raise InputError(f"a page cannot run a control that is a Python function\n    fix: {fix}")
    if answers.recursive():
        refuse_if_too_large(answers.mechanism, "a page")
    answers = answers.with_parameters(parameters)
    if contacts is None:
        contacts = "stepping" if len(answers.mechanism.changing) >= MANY else "events"
    stepping = contacts == "stepping"
    usual = STEPPED if stepping else STEP
    length = usual if step is None else given.number(answers.mechanism, "step", step)
    asked: dict[str, Any] = {"q": q, "u": u, "tau": tau, "control_period": 0.01, "contacts": contacts}
    asked |= {"method": AUTO if stepping else "rk4", "rtol": None, "atol": None, "step": length}
    asked |= {"embed": "run-time", "drift": "project"}

    def under(law: ControlLaw | None) -> Setup:
        return set_up(answers, FRAMED, **asked, control=law, events=None, options={})

    ready, scene = under(control), scene_kernel(answers)
    warn_start_outside(answers, ready.start[ready.problem.layout.state["q"].place])
    named, others = laws_of(answers.mechanism, control)

    def wheels_under(law: ControlLaw | None) -> WheelKernel | None:
        if stepping:  # which has impulses, and no accelerations that forces of the ground could be told from
            return None
        return wheel_kernel(answers, None if law is None else law_of(answers, law))

    def programs_under(law: ControlLaw | None) -> LawPrograms:
        found = wheels_under(law)
        return LawPrograms(under(law).problem, None if found is None else found.kernel)

    wheels = wheels_under(control)
    motion = live_motion(
        LawPrograms(ready.problem, None if wheels is None else wheels.kernel),
        ready.start,
        scene,
        step=length,
        frequency=coupler_frequency(answers),
        marks=marks_kernel(answers),
        laws={name: programs_under(law) for name, law in others.items()},
    )
    described = describe_page(answers, scene, *_first_seconds(ready, length))
    efforts = np.asarray(ready.problem.tau, dtype=np.float64).tolist()
    if wheels is None:
        return live_page(described, motion, marked_places(answers.mechanism), None, named, efforts)
    places = marked_places(answers.mechanism, wheels.marks.told)
    return live_page(described, motion, places, wheels.for_page(), named, efforts)


NO_LAW, HOLDING, GIVEN = "none", "hold", "as given"
"""What moving without a control law is called, where there are some; a law that stays at a place; any other."""


def laws_of(mechanism: Mechanism, control: ControlLaw | None) -> tuple[str, dict[str, ControlLaw | None]]:
    """(what the control law of a page is called, the others that it can be changed to)."""
    if control is None and not mechanism.controls:
        return "", {}
    stays = isinstance(control, (ComputedTorque, GravityCompensation)) and isinstance(control.trajectory, Hold)
    named = NO_LAW if control is None else control if isinstance(control, str) else HOLDING if stays else GIVEN
    others: dict[str, ControlLaw | None] = {name: name for name in mechanism.controls if name != named}
    return named, others if control is None else others | {NO_LAW: None}


def _first_seconds(ready: Setup, step: float) -> tuple[Array, Array, Array]:
    """(t, q, u) of the motion that the camera is placed for; less where much happens in it, or steps are short."""
    state = ready.problem.layout.state
    t, y, found, evaluations = 0.0, ready.start, list[Solution](), 0
    piece = min(PIECE, PIECE_STEPS * step)
    while t < FRAMED - 0.5 * piece and evaluations < MOST_EVALUATIONS:
        solution = simulate(ready.problem, y, (t, t + piece), **ready.settings)
        found.append(solution)
        evaluations += solution.statistics.evaluations + solution.statistics.event_evaluations
        t, y = float(solution.t[-1]), solution.y[-1]
        if not solution.outcome.success:
            break
    states = np.concatenate([s.y for s in found])
    return np.concatenate([s.t for s in found]), states[:, state["q"].place], states[:, state["u"].place]


def page_path(path: str | Path) -> Path:
    """Where a page goes to; refuses what is no name of a page or cannot be written."""
    target = Path(path)
    if target.suffix not in SUFFIXES:
        raise WritingError(f"{path}: is no name of a page\n    fix: end it in {' or '.join(SUFFIXES)}")
    check_writable(target)
    return target


def scene_kernel(answers: Answers) -> Kernel:
    """What pictures of a motion are drawn with, compiled."""
    return answers.make_once("scene", lambda: compile(scene_program(answers.fresh_equations())))


def describe_page(answers: Answers, scene: Kernel, t: Array, q: Array, u: Array) -> Described:
    """The mechanism, seen along a motion t (k,), q, u."""
    poses, _, _ = _evaluate(answers, scene, t, q, u)
    shaken = q[:1] + np.random.default_rng(0).uniform(-0.3, 0.3, (4, q.shape[1]))
    _, jacobians, _ = _evaluate(answers, scene, np.zeros(4), shaken, np.zeros((4, u.shape[1])))
    names = answers.equations().free
    values = dict(zip(names, answers.values.tolist(), strict=True))
    return Described(answers.mechanism, poses, jacobians, values)


def evaluate_marks(answers: Answers, t: Array, q: Array, u: Array) -> tuple[Array, Array, Array]:
    """(velocities of mass centres (k, bodies, 3), points of constraints (k, c, 3), forces of unit reactions of their
    rows (k, rows, 3)) along a motion."""
    found = _evaluate(answers, marks_kernel(answers), t, q, u)
    if len(marks_kernel(answers).program.outputs) > 1:
        return found[0], found[1], found[2]
    return found, np.zeros((len(t), 0, 3)), np.zeros((len(t), 0, 3))


def _evaluate(answers: Answers, scene: Kernel, t: Array, q: Array, u: Array) -> Any:
    count = len(t)
    groups = [t[:, None], q, u, np.zeros((count, 1)), np.zeros((count, u.shape[1]))]
    if len(answers.values):
        groups.append(np.tile(answers.values, (count, 1)))
    return scene(*[np.ascontiguousarray(g) for g in groups if g.shape[1]])


def coupler_frequency(answers: Answers) -> float:
    """Angular frequency (rad/s) of the coupler: its weight displaces a mechanism by a small part of its size."""
    from ..viewer.shapes import size

    weight = float(np.linalg.norm([answers.mechanism.number(g, "gravity") for g in answers.mechanism.gravity]))
    return max(_TOUCH, math.sqrt(weight / (_SAG * size(answers.mechanism))))


__all__ = [
    "coupler_frequency",
    "describe_page",
    "evaluate_marks",
    "laws_of",
    "page",
    "page_path",
    "scene_kernel",
]
