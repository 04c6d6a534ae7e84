"""Pages of a model: one that simulates by itself, and one that plays a motion."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import Kernel, compile
from ..errors import InputError, WritingError
from ..formulation import scene_program
from ..large import refuse_if_too_large
from ..page import Described, live_page, recorded_page
from ..simulate import Solution, simulate
from ..simulate.live import live_motion
from ..writing import check_writable, write_text
from . import given
from .answers import Answers
from .records import Array
from .simulation import ControlLaw, Setup, set_up

if TYPE_CHECKING:
    from .trajectory import Trajectory

STEP = 1e-3
"""Length of a step of the simulation in a page (s)."""

FRAMED = 4.0
"""Seconds of the motion that the camera of a page is placed for."""

PIECE, MOST_EVALUATIONS = 0.25, 300_000
"""That motion is computed in pieces (s), until it has taken so many evaluations of the motion and of events."""

FRAMES_PER_SECOND, MOST_FRAMES = 60, 3600
"""Frames of a recorded page; a longer motion gets fewer per second."""

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
    step: float = STEP,
    parameters: Any = None,
) -> Path:
    """Write one HTML file in which the model moves and can be touched, without network: opened in a browser it
    simulates by itself, from q and u (default: the initial state), with Runge–Kutta steps of length `step` (s).

    `tau` and `control` are as for `simulate`; a control that is a Python function cannot go along. Parameters that are
    kept free have sliders. A file of that name is replaced when all is written. Returns the path.

    >>> kane.load("pendulum").page("pendulum.html").name
    'pendulum.html'
    """
    target = _page_path(path)
    if callable(control):
        fix = "give a control law by its name or by expressions, which are compiled"
        raise InputError(f"a page cannot run a control that is a Python function\n    fix: {fix}")
    if answers.recursive():
        refuse_if_too_large(answers.mechanism, "a page")
    answers = answers.with_parameters(parameters)
    length = given.number(answers.mechanism, "step", step)
    asked: dict[str, Any] = {"q": q, "u": u, "tau": tau, "control": control, "control_period": 0.01}
    asked |= {"method": "rk4", "rtol": None, "atol": None, "step": length, "embed": "run-time", "drift": "project"}
    ready = set_up(answers, FRAMED, **asked, events=None, options={})
    scene = scene_kernel(answers)
    motion = live_motion(ready.problem, ready.start, scene, step=length, frequency=coupler_frequency(answers))
    described = describe_page(answers, scene, *_first_seconds(ready))
    write_text(target, live_page(described, motion))
    return target


def _first_seconds(ready: Setup) -> tuple[Array, Array, Array]:
    """(t, q, u) of the motion that the camera is placed for; less where much happens in it."""
    state = ready.problem.layout.state
    t, y, found, evaluations = 0.0, ready.start, list[Solution](), 0
    while t < FRAMED - 0.5 * PIECE and evaluations < MOST_EVALUATIONS:
        solution = simulate(ready.problem, y, (t, t + PIECE), **ready.settings)
        found.append(solution)
        evaluations += solution.statistics.evaluations + solution.statistics.event_evaluations
        t, y = float(solution.t[-1]), solution.y[-1]
        if not solution.outcome.success:
            break
    states = np.concatenate([s.y for s in found])
    return np.concatenate([s.t for s in found]), states[:, state["q"].place], states[:, state["u"].place]


def write_recording(trajectory: Trajectory, path: str | Path) -> Path:
    """Write a page that plays a motion."""
    target = _page_path(path)
    answers = trajectory.model._answers  # pyright: ignore[reportPrivateUsage]
    t, q, u = trajectory.t, trajectory.q, trajectory.u
    if t[-1] < t[0]:
        t, q, u = t[::-1], q[::-1], u[::-1]
    count = int(min(MOST_FRAMES, max(2, round((t[-1] - t[0]) * FRAMES_PER_SECOND) + 1)))
    times: Array = np.linspace(float(t[0]), float(t[-1]), count)
    shown_q, shown_u = _interpolate(times, t, q), _interpolate(times, t, u)
    described = describe_page(answers, scene_kernel(answers), times, shown_q, shown_u)
    write_text(target, recorded_page(described, times, shown_q, shown_u, described.poses, trajectory.transitions))
    return target


def _interpolate(times: Array, t: Array, columns: Array) -> Array:
    """Columns (k, n) at `times`, linear between those at t (k,)."""
    found = np.empty((len(times), columns.shape[1]))
    for i in range(columns.shape[1]):
        found[:, i] = np.interp(times, t, columns[:, i])
    return found


def _page_path(path: str | Path) -> Path:
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


def _evaluate(answers: Answers, scene: Kernel, t: Array, q: Array, u: Array) -> tuple[Array, Array, Array]:
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


__all__ = ["coupler_frequency", "describe_page", "page", "scene_kernel", "write_recording"]
