"""A `MotionProblem`: what is simulated, in one frozen record, and its motion as a sequence of segments.

The state is y = [q, u, work], all programs read [t, q, u, work, tau, parameters] (`kane.graph.layout`). A mode is one
set of constraints with the programs of motion under it. Within a segment of a motion the mode is fixed; where an event
ends a segment and a switch is given for it, the state is moved onto the constraints of the next mode, from where the
motion goes on. A problem can be pickled: programs travel as what they were compiled from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..backends import Kernel
from ..errors import InputError
from ..graph import Program
from ..graph.layout import Layout
from .changing import GUARDS, ChangingSet
from .checkpoints import Checkpoints
from .discontinuities import time_changes
from .embedding import Embedding, Workspace
from .integrate import MotionPrograms, integrate
from .solution import (
    Array,
    Control,
    Crossings,
    Event,
    Events,
    HeldControl,
    Outcome,
    Segment,
    Solution,
    Statistics,
    Transition,
)
from .stepping import SteppingRun

MOST_SEGMENTS = 10_000
"""Segments of a motion at most: switches that follow each other without end are no motion."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A set of constraints, by name, and the programs of motion under it.

    - `motion` writes the rates of the state; None where the constraints are embedded at run time;
    - `embedding` has the constraints, None where there are none;
    - `project` says that drift off the constraints is taken out after each step;
    - `unit` writes the state with unit quaternions; None where there are none or projection does it;
    - `jacobian` writes ∂(rates)/∂y, for the implicit method; without it differences are taken;
    - `watch` writes what the events of the problem watch, one number each; it reads the multipliers of all rows too
      (`Layout.event_inputs`) where it watches them;
    - `efforts` writes what loads and a law exert, where `motion` has no rows of its own for that;
    - `changing` has the constraints that come and go besides, and the others with them: then it gives the motion.
    """

    constraints: tuple[str, ...] = ()
    motion: Kernel | None = None
    embedding: Embedding | None = None
    project: bool = False
    unit: Kernel | None = None
    jacobian: Kernel | None = None
    watch: Kernel | None = None
    efforts: Kernel | None = None
    changing: ChangingSet | None = None

    def __post_init__(self) -> None:
        if self.motion is None and self.embedding is None and self.changing is None:
            raise InputError("a mode has neither a motion nor an embedding: give the program that writes its rates")
        if self.project and self.embedding is None and self.changing is None:
            raise InputError("a mode is projected onto constraints that it does not have: give its embedding")

    @property
    def programs(self) -> tuple[Program, ...]:
        """All programs whose changes in time are changes of the motion, or of what is watched."""
        embedded = () if self.embedding is None else (self.embedding.terms, self.embedding.places)
        if self.changing is not None:
            embedded += (self.changing.terms, self.changing.places, self.changing.laws, self.changing.conditions)
        kernels = (self.motion, self.watch, self.efforts, *embedded)
        return tuple(kernel.program for kernel in kernels if kernel is not None)

    @property
    def watches_multipliers(self) -> bool:
        """Whether events read the multipliers of the constraints."""
        if self.watch is None or self.embedding is None:
            return False
        return self.watch.program.input_count > self.embedding.layout.inputs.size


@dataclass(frozen=True, slots=True)
class Switch:
    """Where the terminal event named `event` ends a segment in mode `start`, the motion goes on in mode `end`."""

    event: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MotionProblem:
    """What is simulated: modes, the first of which it starts in, constant efforts `tau` along the speeds, values of the
    free `parameters`, `events` that every mode watches, and switches between modes. `law` gives the efforts of a
    control law that is compiled into the motion, from t, q and u, for whoever wants to know them afterwards. `names`
    are those of coordinates and speeds, for words about the motion."""

    layout: Layout
    modes: tuple[Mode, ...]
    tau: tuple[float, ...]
    parameters: tuple[float, ...] = ()
    events: tuple[Event, ...] = ()
    switches: tuple[Switch, ...] = ()
    law: Kernel | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.modes:
            raise InputError("a problem has no mode: give one at least")
        for what, values, size in (
            ("tau", self.tau, self.layout.speeds),
            ("parameters", self.parameters, self.layout.parameters),
        ):
            if len(values) != size:
                raise InputError(f"{what} has {len(values)} entries; {size} are needed")
        for mode in self.modes:
            if (mode.watch is None) != (not self.events):
                raise InputError(f"{len(self.events)} events need a program that watches them in every mode")
        for switch in self.switches:
            known = {event.name for event in self.events if event.terminal}
            if switch.event not in known or not all(0 <= m < len(self.modes) for m in (switch.start, switch.end)):
                raise InputError(f"{switch} is not between modes of the problem at one of its terminal events")

    def next_mode(self, mode: int, cause: str) -> int | None:
        """The mode in which a motion goes on that an event has ended; None if it does not."""
        return next((s.end for s in self.switches if (s.start, s.event) == (mode, cause)), None)


@dataclass(frozen=True, slots=True)
class _RawSegment:
    """A segment as it was integrated."""

    mode: int
    solution: Solution


def simulate(
    problem: MotionProblem,
    start: Any,
    t: Any,
    *,
    control: Control | None = None,
    progress: Callable[[float], object] | None = None,
    max_steps: int | None = None,
    first_step: float | None = None,
    checkpoints: Checkpoints | None = None,
    **settings: Any,
) -> Solution:
    """The motion of a problem from the state `start` = [q, u, work] over `t` (s), (t0, t1) or an array of times.

    `settings` are those of `integrate`: method, rtol, atol, step, max_step, chunk. A sampled control starts anew with
    every segment. A problem that switches between modes is not kept by `checkpoints`.
    """
    if problem.switches and checkpoints is not None:
        raise InputError("a motion that switches between modes is not kept\n    fix: leave checkpoints out")
    y, whole, mode = np.array(start, dtype=np.float64), np.array(t, dtype=np.float64), 0
    times = whole
    parts: list[_RawSegment] = []
    while True:
        given = dict(settings, control=control, progress=progress, max_steps=max_steps, first_step=first_step)
        given["checkpoints"] = checkpoints
        solution = _integrate_mode(problem, mode, y, times, given)
        parts.append(_RawSegment(mode, solution))
        end = None
        if solution.outcome.reason == "event":
            end = problem.next_mode(mode, _cause(solution))
        left = _times_left(whole, solution.outcome.t)
        if end is None or left is None:
            return _join(problem, parts, whole)
        if len(parts) == MOST_SEGMENTS:
            stalled = f"stopped at t = {solution.outcome.t:.10g} s: {MOST_SEGMENTS} changes of constraints"
            parts[-1] = _RawSegment(mode, replace(solution, outcome=Outcome("stall", solution.outcome.t, stalled)))
            return _join(problem, parts, whole)
        mode, times, first_step = end, left, None
        if max_steps is not None:
            max_steps = max(1, max_steps - solution.statistics.steps - solution.statistics.rejected)
        y = _state_on(problem, problem.modes[mode], solution.y[-1], solution.outcome.t)


def _programs(mode: Mode) -> tuple[Any, Any, Any, Workspace | None]:
    """(rates, projection, watch) of a mode as this run calls them, and the workspace that they work in."""
    workspace = None
    if mode.embedding is not None:
        workspace = mode.embedding.workspace(mode.watch if mode.watches_multipliers else None)
    rates, project, watch = mode.motion, mode.unit, mode.watch
    if workspace is not None:
        rates = workspace.rates if rates is None else rates
        project = workspace.projection if mode.project else project
        watch = workspace.watch if mode.watches_multipliers else watch
    return rates, project, watch, workspace


def _integrate_mode(problem: MotionProblem, index: int, y: Array, t: Array, settings: dict[str, Any]) -> Solution:
    mode, programs = problem.modes[index], motion_programs(problem, index)
    stepping = mode.changing is not None and mode.changing.stepping
    return integrate(
        programs.rhs,
        y,
        t,
        parameters=np.concatenate([problem.tau, problem.parameters]),
        project_address=programs.project,
        project_error=programs.project_error,
        jacobian_address=programs.jacobian,
        events=programs.events,
        changing=programs.changing,
        names=problem.names,
        explain=mode.embedding.explain if mode.embedding is not None else None,
        changes=()
        if stepping
        else time_changes([(p, problem.parameters) for p in mode.programs], float(t[0]), float(t[-1])),
        **settings,
    )


def motion_programs(problem: MotionProblem, index: int) -> MotionPrograms:
    """What a run in a mode of a problem calls, with memory of its own."""
    mode = problem.modes[index]
    if mode.changing is not None:
        return _changing_programs(problem, mode, mode.changing)
    rates, project, watch, _ = _programs(mode)
    events = None if watch is None else Events(watch, problem.events)
    return MotionPrograms(rates, project, mode.embedding is not None, mode.jacobian, events)


def _changing_programs(problem: MotionProblem, mode: Mode, changing: ChangingSet) -> MotionPrograms:
    """Those of a motion under constraints that come and go."""
    if changing.stepping:
        steps = SteppingRun(changing)
        events = None if mode.watch is None else Events(mode.watch, problem.events)
        return MotionPrograms(steps.rates, changing.unit, events=events, changing=steps)
    run = changing.run(mode.watch)
    own = [Event(f"{e.name} {k}", direction=-1, terminal=True) for e in changing.elements for k in GUARDS]
    events = Events(run.watch, (*own, *problem.events))
    return MotionPrograms(run.rates, run.projection if mode.project else mode.unit, events=events, changing=run)


def _state_on(problem: MotionProblem, mode: Mode, y: Array, t: float) -> Array:
    """The state moved onto the constraints of a mode, where it is held on them."""
    if mode.embedding is None:
        return y
    return mode.embedding.workspace().projection(np.concatenate([[t], y, problem.tau, problem.parameters]))


def _cause(solution: Solution) -> str:
    """The event that ended a segment: the terminal one that crossed there."""
    end = solution.outcome.t
    return next(c.event.name for c in solution.events if c.event.terminal and len(c) and c.t[-1] == end)


def _times_left(times: Array, t: float) -> Array | None:
    """The span or the output times that lie beyond t, with t before them; None if there are none."""
    sign = 1.0 if times[-1] >= times[0] else -1.0
    beyond = times[sign * (times - t) > 0.0]
    if not beyond.size:
        return None
    if times.size > 2 and beyond.size == 1:
        # two numbers would be a span, of which every step is stored
        beyond = np.array([0.5 * (t + beyond[0]), beyond[0]])
    return np.concatenate([[t], beyond])


def _join(problem: MotionProblem, parts: Sequence[_RawSegment], times: Array) -> Solution:
    """The motion as a whole."""
    segments = tuple(
        Segment(p.mode, problem.modes[p.mode].constraints, p.solution.t, p.solution.y, p.solution.outcome)
        for p in parts
    )
    last = parts[-1].solution
    if len(parts) == 1:
        return replace(last, segments=segments if not last.transitions else _segments_between(last))
    transitions = tuple(
        Transition(p.solution.outcome.t, _cause(p.solution), problem.modes[after.mode].constraints)
        for p, after in pairwise(parts)
    )
    solutions = [p.solution for p in parts]
    crossings = [[s.events[e] for s in solutions] for e in range(len(problem.events))]
    events = tuple(
        Crossings(
            c[0].event, np.concatenate([x.t for x in c]), np.concatenate([x.y for x in c]), all(x.complete for x in c)
        )
        for c in crossings
    )
    rows = _rows(solutions, times)
    held = [s.held for s in solutions if s.held is not None]
    return Solution(
        np.concatenate([s.t[r] for s, r in zip(solutions, rows, strict=True)]),
        np.concatenate([s.y[r] for s, r in zip(solutions, rows, strict=True)]),
        last.outcome,
        events,
        _total([s.statistics for s in solutions]),
        HeldControl(np.concatenate([h.t for h in held]), np.concatenate([h.p for h in held])) if held else None,
        segments,
        transitions,
    )


def _segments_between(solution: Solution) -> tuple[Segment, ...]:
    """The parts of a motion between its transitions, the first of which is the choice of its first mode."""
    found: list[Segment] = []
    t, y, ends = solution.t, solution.y, [x.t for x in solution.transitions[1:]]
    places = [*np.searchsorted(t, ends).tolist(), len(t) - 1]
    row = 0
    for k, (transition, place) in enumerate(zip(solution.transitions, places, strict=True)):
        stop = max(row, place) + 1
        held = tuple([name for name, state in transition.mode.items() if state != "open"])
        outcome = solution.outcome
        if k < len(ends):
            outcome = Outcome("event", ends[k], f"t = {ends[k]:.10g} s: a change of constraints")
        found.append(Segment(k, held, t[row:stop], y[row:stop], outcome))
        row = min(stop, len(t) - 1)
    return tuple(found)


def _rows(solutions: Sequence[Solution], times: Array) -> list[Any]:
    """Which rows of each segment are those of the whole: each time once, unless a transition changes the state."""
    found: list[Any] = []
    for k, s in enumerate(solutions):
        wanted = np.isin(s.t, times) if times.size > 2 else np.ones(len(s.t), dtype=bool)
        if k > 0 and (times.size > 2 or np.array_equal(s.y[0], solutions[k - 1].y[-1])):
            wanted[0] = False
        found.append(wanted)
    found[-1][-1] = True
    return found


def _total(each: Sequence[Statistics]) -> Statistics:
    """What all segments cost together."""
    counts = {
        "steps": sum(s.steps for s in each),
        "rejected": sum(s.rejected for s in each),
        "evaluations": sum(s.evaluations for s in each),
        "event_evaluations": sum(s.event_evaluations for s in each),
        "jacobians": sum(s.jacobians for s in each),
        "factorizations": sum(s.factorizations for s in each),
        "control_calls": sum(s.control_calls for s in each),
    }
    residuals = [s.contact_residual for s in each if s.contact_residual is not None]
    return Statistics(
        **counts,
        contact_residual=max(residuals) if residuals else None,
        control_seconds=math.fsum(s.control_seconds for s in each),
        seconds=math.fsum(s.seconds for s in each),
    )
