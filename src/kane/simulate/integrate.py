"""From a compiled right-hand side and a start to a Solution: checks, the chunked compiled loop, the outcome.

The right-hand side is a flat program (see docs/architecture.md) that reads [t, y (n), p (m)] and writes dy/dt (n),
possibly followed by more. The loop runs compiled; between chunks of it Python looks for an interrupt, grows the output
arrays, reports progress and calls a sampled control. Where the loop is cut does not change the result by a bit.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..advice import Option
from ..errors import InputError
from .changing import ChangingRun
from .checkpoints import Checkpoints, defer_interrupts
from .compiled import load_loop, records
from .discontinuities import Change
from .memory import Beginning, LoopMemory
from .notice import announce_compilation, warn_of_missed_crossings
from .progress import Look
from .routine import Routine
from .settings import STEPPING, Settings
from .solution import Control, Crossings, Event, Events, HeldControl, Outcome, Solution, Statistics
from .start import Start, check_address, check_start, memory_of
from .stiffness import MethodChoice

CHUNK_SECONDS = 0.1
"""Wall time between looks at the keyboard and the progress bar."""

FIRST_CHUNK = 64
"""Attempted steps in the first chunk, before anything is known about their cost."""

LARGEST_CHUNK = 1_000_000
"""Attempted steps in a chunk at most, however quick they are."""


def integrate(
    rhs: Any,
    y0: Any,
    t: Any,
    *,
    parameters: Any = (),
    method: str = "auto",
    rtol: float = 1e-8,
    atol: Any = 1e-10,
    step: float | None = None,
    max_step: float = math.inf,
    first_step: float | None = None,
    events: Events | None = None,
    project_address: Any = None,
    project_error: bool = False,
    jacobian_address: Any = None,
    extra_outputs: int = 0,
    control: Control | None = None,
    progress: Callable[[float], object] | None = None,
    max_steps: int | None = None,
    chunk: int | None = None,
    explain: Explain | None = None,
    changes: Sequence[Change] = (),
    changing: ChangingRun | None = None,
    checkpoints: Checkpoints | None = None,
    names: Sequence[str] = (),
) -> Solution:
    """The motion dy/dt = rhs(t, y, p) from y0, (n,), over `t`.

    Programs are kernels, routines (with memory of their own, which this run must have to itself) or addresses of flat
    programs over [t, y, p]:

    - `rhs` writes dy/dt (n), then possibly more numbers, which are ignored; how many more, a kernel knows, and for a
      mere address `extra_outputs` says it;
    - `project_address` writes a state (n) that replaces the result of every step (a quaternion made unit, say); with
      `project_error` the error of an explicit step is judged by what projection leaves of it;
    - `jacobian_address` writes d rhs_i / d y_j, (n, n) row by row, for radau; without it differences are taken;
    - `events` names a program with one output per event.

    `t` is (t0, t1), and every step is returned, or an array of more than two times, strictly increasing or strictly
    decreasing, at which the motion is returned; seconds. The error per step is held below
    atol + rtol |y| in the root mean square over the components; `atol` is a number or (n,). `step` is the fixed step of
    rk4; where it does not divide the span the last step is shorter. `first_step` and `max_step` bound the others.
    `parameters` is p, (m,); a `control` overwrites a part of it at every sample.

    `progress` is called with the fraction done, now and then. An interrupt (Ctrl-C) ends the simulation and keeps what
    was computed. `max_steps` ends it after that many attempted steps; without it a motion that advances no more in
    very many steps ends by itself. `chunk` fixes how many steps run between looks at the keyboard, for tests.
    Where a motion cannot go on, `explain` is asked what it is that stops it. At each of `changes`, in the order in
    which they are met, a step ends just before and the next begins just after it. Of constraints that come and go,
    `changing` is the run that has their programs; the first two events for each are its own. With `checkpoints` the
    run is kept while it is under way, and goes on from what was kept of it. `names` are those of the states, for words.
    """
    settings = Settings(method, rtol, atol, step, max_step, first_step, max_steps, chunk)
    programs = MotionPrograms(rhs, project_address, project_error, jacobian_address, events, changing)
    run = prepare_run(programs, check_start(rhs, y0, t, parameters, extra_outputs), settings)
    run.checkpoints, run.names = checkpoints, names
    return run.solution(control, progress, explain, changes)


class MotionPrograms(NamedTuple):
    """What a motion calls: see `integrate`."""

    rhs: Any
    project: Any = None
    project_error: bool = False
    jacobian: Any = None
    events: Events | None = None
    changing: ChangingRun | None = None


def prepare_run(given: MotionPrograms, start: Start, settings: Settings) -> _Run:
    """The run of a motion, with its memory as it is at the start."""
    items = () if given.events is None else given.events.items
    programs = program_addresses(given, start)
    with announce_compilation("the integrator with events" if items else "the integrator"):
        loop, programs["watch"] = load_loop(settings.method, bool(items))
    run = _Run(start, settings, items, programs, loop)
    run.owners = owners(given)
    run.state["project_error"] = int(given.project_error and programs["project"] != 0)
    run.changing = given.changing
    return run


def program_addresses(given: MotionPrograms, start: Start) -> dict[str, int]:
    """Addresses of the programs and of the memory they work in, by their names in the record of a loop."""
    n, events = start.y0.size, given.events
    watched = None if events is None else events.program
    count = 0 if events is None else len(events.items)
    return {
        "rhs": check_address("rhs", given.rhs, start, n),
        "rhs_memory": memory_of(given.rhs),
        "project": check_address("project_address", given.project, start, n, optional=True),
        "project_memory": memory_of(given.project),
        "jacobian": check_address("jacobian_address", given.jacobian, start, n * n, optional=True),
        "event_program": check_address("events", watched, start, count, optional=events is None),
        "event_memory": memory_of(watched),
    }


Explain = Callable[[Any, float, float], str]
"""The explanation why a motion cannot go on, from the inputs [t, y, p] at its last state, the step that was tried
last (s, negative backward) and the time it began at (s)."""


@dataclass(slots=True)
class _Cost:
    """Wall time and calls of the control, gathered while running."""

    began: float = field(default_factory=time.perf_counter)
    control_calls: int = 0
    control_seconds: float = 0.0


@dataclass(slots=True)
class _Schedule:
    """What is to come: samples of the control so far and the time (s) of the next, changes in time that lie ahead."""

    sample: int
    due: float
    ahead: deque[Change]


class _Run:
    """One simulation under way: the memory of the compiled loop and what Python does between its chunks."""

    def __init__(self, start: Start, settings: Settings, items: tuple[Event, ...], programs: dict[str, int], loop: Any):
        self.start = start
        self.settings = settings
        self.items = items
        self.names: Sequence[str] = ()
        self.changing: ChangingRun | None = None
        self.checkpoints: Checkpoints | None = None
        self.owners: tuple[Any, ...] = ()
        self.memory = LoopMemory(start, settings, items, programs)
        self.state, self.arrays = self.memory.state, self.memory.arrays
        self.method = MethodChoice(self.memory, settings, loop)
        self.schedule = _Schedule(0, start.t1, deque())
        self.interrupted: Callable[[], bool] = lambda: False
        self.held_t: list[float] = []
        self.held_p: list[Any] = []
        self.cost = _Cost()
        self.look = Look(start.t0, start.t1)
        self.chunk = settings.chunk or FIRST_CHUNK

    def solution(
        self,
        control: Control | None,
        progress: Callable[[float], object] | None,
        explain: Explain | None,
        changes: Sequence[Change] = (),
    ) -> Solution:
        """Run to the end, whatever end that is."""
        try:
            reason, why = self._motion_with_checkpoints(control, progress, changes)
        except KeyboardInterrupt:
            reason, why = "interrupt", ""
        if explain is not None and reason in _HELPLESS:
            why = explain(self._inputs(), float(self.state["sign"] * self.state["h"]), self.start.t0)
        return self._collect(reason, why)

    def _motion_with_checkpoints(
        self, control: Control | None, progress: Callable[[float], object] | None, changes: Sequence[Change]
    ) -> tuple[str, str]:
        """As `_motion`; an interrupt waits until nothing is half done where the run is kept, and this moment is."""
        if self.checkpoints is None:
            return self._motion(control, progress, changes)
        with defer_interrupts() as self.interrupted:
            reason, why = self._motion(control, progress, changes)
            if reason == "interrupt":
                self._keep(now=True)
        return reason, why

    def _keep(self, *, now: bool = False) -> None:
        """Keep this moment, if that is due; the loop is about to go on."""
        if self.checkpoints is not None and self.state["t"] != self.state["t_end"]:
            self.checkpoints.look(self._contents, lambda: self._collect("interrupt", "", whole=False), now=now)

    def _contents(self) -> dict[str, Any]:
        """Everything that this run remembers, by name."""
        schedule, look, cost = self.schedule, self.look, self.cost
        found = {f"loop.{name}": value for name, value in self.memory.contents().items()}
        for i, owner in enumerate(self.owners):
            found |= {f"program{i}.{name}": value for name, value in owner.contents().items()}
        ahead = np.array([*schedule.ahead], dtype=np.float64).reshape(-1, 2)
        found |= {"due": np.array([schedule.due]), "ahead": ahead, "look": np.array(look.contents())}
        found |= {"samples": np.array([schedule.sample, cost.control_calls])}
        return found | {"held_t": np.array(self.held_t), "held_p": np.array(self.held_p, dtype=np.float64)}

    def _restore(self, found: dict[str, Any]) -> None:
        """Remember what was kept of this run."""
        parts: dict[str, dict[str, Any]] = {}
        for name, value in found.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = value
        try:
            for i, owner in enumerate(self.owners):
                owner.restore(parts[f"program{i}"])
            if self.changing is not None:
                self.changing.attach(self.state)
            if parts["loop"]["implicit"]:
                self.method.restore()
            self.memory.restore(parts["loop"])
            ahead = deque(Change(*map(float, pair)) for pair in found["ahead"])
            sample, self.cost.control_calls = map(int, found["samples"])
            self.schedule = _Schedule(sample, float(found["due"][0]), ahead)
            self.look.restore(found["look"].tolist())
            self.held_t, self.held_p = found["held_t"].tolist(), [*found["held_p"]]
        except (KeyError, IndexError, TypeError, ValueError):
            raise InputError("what was kept of the run is damaged\n    fix: begin anew") from None

    def _inputs(self) -> Any:
        """[t, y, p] at the present state."""
        return np.concatenate([[self.state["t"]], self.arrays["y"], self.arrays["x"][1 + self.start.y0.size :]])

    def run_again(self, beginning: Beginning, y0: Any, parameters: Any, changes: Sequence[Change]) -> str:
        """Run to the end from another state with other parameters, having been at the `beginning`; why it ended. Its
        states and crossings are in the memory then."""
        self.memory.begin_again(beginning, y0, parameters)
        self.method.begin_again()
        self.look = Look(self.start.t0, self.start.t1)
        return self._motion(None, None, changes)[0]

    def begin(self) -> str:
        """Be at the start of a motion without control; what is wrong there, if anything."""
        return self._begin(None, ())

    def _begin(self, control: Control | None, changes: Sequence[Change]) -> str:
        """Be at the start, or where the run was kept last; what is wrong there, if anything."""
        kept = None if self.checkpoints is None else self.checkpoints.begin()
        if kept is not None:
            self._restore(kept)
            return ""
        self.schedule = _Schedule(0, self.start.t0 if control is not None else self.start.t1, deque(changes))
        if self.changing is not None:
            self.changing.attach(self.state)
            fault = self.changing.start(self.memory.array)
            if fault:
                return self.changing.describe_fault(fault)
            self.arrays["out_y"][0] = self.arrays["y"]
        return ""

    def _motion(
        self, control: Control | None, progress: Callable[[float], object] | None, changes: Sequence[Change]
    ) -> tuple[str, str]:
        """(reason, what is known about it) after running from the start."""
        start, state = self.start, self.state
        fault = self._begin(control, changes)
        if fault:
            return "mode", fault
        plan = self.schedule
        if start.t0 == start.t1 and self.settings.method == STEPPING:  # whose loop chooses the mode at the start
            return self._advance(progress)
        while state["t"] != start.t1:
            if control is not None and state["t"] == plan.due:
                fault = self._sample_control(control)
                if fault:
                    return "control", fault
                if state["t"] != start.t0:
                    fault = self._jump(math.nextafter(float(state["t"]), start.t0))
                    if fault:
                        return "mode", fault
                plan.sample += 1
                due = start.t0 + float(state["sign"]) * plan.sample * control.period
                past = float(state["sign"]) * (start.t1 - due) < 1e-9 * control.period
                plan.due = start.t1 if past else due
                state["origin"], state["grid"] = state["t"], 0
            ahead, due = plan.ahead, plan.due
            change = ahead[0] if ahead and self._lies_ahead(due, ahead[0].before) else None
            state["t_end"] = due
            if change is not None and self._lies_ahead(change.before, float(state["t"])):
                state["t_end"] = change.before
            if change is None or state["t_end"] != due:
                reason, why = self._advance(progress)
                if reason != "end":
                    return reason, why
            if change is not None:
                ahead.popleft()
                if self._lies_ahead(change.after, due) and due != start.t1:  # a sample of the control lies within it
                    ahead.appendleft(Change(due, change.after))
                fault = self._pass(change, due)
                if fault:
                    return "mode", fault
        with suppress(KeyboardInterrupt):  # too late
            if progress is not None:
                progress(1.0)
        return "end", ""

    def _lies_ahead(self, t: float, of: float) -> bool:
        """Whether t is later than `of` in the direction of the motion."""
        return float(self.state["sign"]) * (t - of) > 0.0

    def _pass(self, change: Change, due: float) -> str:
        """Go on just after a change, unless the motion is there already, or at `due` if that comes first; says why
        there is no mode to go on with, if there is none."""
        state = self.state
        after = due if self._lies_ahead(change.after, due) else change.after
        if not self._lies_ahead(after, float(state["t"])):
            return ""
        last = after if self.changing is None else self.changing.last_before_jump(self.memory.array, after)
        state["t"] = state["origin"] = after
        state["grid"], state["fresh"] = 0, 1
        return self._jump(last)

    def _jump(self, t: float) -> str:
        """Choose the mode anew after a jump of loads or laws in time, whose last time before it is t (s); says why
        there is none, if so."""
        if self.changing is None:
            return ""
        self.memory.grow()
        self.changing.grow(self.state)
        fault = self.changing.jump(self.memory.array, t)
        return self.changing.describe_fault(fault) if fault else ""

    def _sample_control(self, control: Control) -> str:
        """Call the control at the present state and hold its result; returns what is wrong with it, if anything."""
        state = self.state
        began = time.perf_counter()
        t = float(state["t"])
        values = np.array(control.function(t, self.arrays["y"].copy()), dtype=np.float64, ndmin=1)
        self.cost.control_seconds += time.perf_counter() - began
        self.cost.control_calls += 1
        room = self.start.parameters.size - control.start
        expected = self.held_p[0].size if self.held_p else None
        if values.ndim != 1 or values.size > room or (expected is not None and values.size != expected):
            raise InputError(
                f"control at t = {t:g} s returned shape {values.shape}; it fills p from entry {control.start} on,"
                f" where there is room for {room}"
                + ("" if expected is None else f", and gave {expected} values before")
            )
        if not np.isfinite(values).all():
            return f"the control returned {values.tolist()}, which is not finite"
        place = 1 + self.start.y0.size + control.start
        self.arrays["x"][place : place + values.size] = values
        self.held_t.append(t)
        self.held_p.append(values)
        state["fresh"] = 1
        return ""

    def _advance(self, progress: Callable[[float], object] | None) -> tuple[str, str]:
        """Run the compiled loop, chunk after chunk, until t_end or until something stops it."""
        state = self.state
        while True:
            if self._is_stalled():
                return "stall", ""
            self.method.review()
            budget = self._budget()
            if budget == 0:
                return "limit", ""
            began = time.perf_counter()
            code = self.method.loop(self.memory.array, budget)
            taken = time.perf_counter() - began
            if code in _FAILURES and self.method.retreat():
                continue
            if code in _REASONS:
                return _REASONS[code], ""
            if code == records.NO_MODE:
                assert self.changing is not None
                return "mode", self.changing.describe_fault(int(state["transition_fault"]))
            if code == records.STIFF:
                self.method.meet_stiffness()
            elif code == records.FULL:
                self.memory.grow()
                if self.changing is not None:
                    self.changing.grow(state)
            elif self.settings.chunk is None and not state["fresh"]:  # a leap ends a chunk early
                change = min(4.0, max(0.25, CHUNK_SECONDS / max(taken, 1e-9)))
                self.chunk = min(LARGEST_CHUNK, int(change * self.chunk) + 1)
            if self._is_interrupted(progress):
                return "interrupt", ""
            self._keep()

    def _is_interrupted(self, progress: Callable[[float], object] | None) -> bool:
        """Report the progress; whether that, or the keyboard, asks to stop where nothing is half done."""
        try:
            if progress is not None and self.state["span"] > 0:
                progress(abs(float(self.state["t"]) - self.start.t0) / float(self.state["span"]))
        except KeyboardInterrupt:
            return True
        return self.interrupted()

    def _budget(self) -> int:
        """How many steps may be attempted before the next look: to the limit, or to where progress is looked at."""
        most = self.look.due if self.settings.max_steps is None else self.settings.max_steps
        return max(0, min(self.chunk, min(most, self.method.due) - self._attempts()))

    def _attempts(self) -> int:
        return int(self.state["steps"] + self.state["rejected"])

    def _is_stalled(self) -> bool:
        """Whether the motion advances no more. Who gives a number of steps, or a fixed step, decides when to stop."""
        state = self.state
        stalled = self.look.is_stalled(self._attempts(), int(state["rejected"]), float(state["t"]), self.arrays["y"])
        return stalled and self.settings.max_steps is None and not state["fixed"]

    def _collect(self, reason: str, why: str, *, whole: bool = True) -> Solution:
        """Everything that was computed, as a Solution; not `whole` without the present state where none was asked
        for."""
        state, arrays = self.state, self.arrays
        t, rows = float(state["t"]), int(state["stored"])
        times, states = arrays["out_t"][:rows], arrays["out_y"][:rows]
        if not whole or 2 * rows < int(state["room"]):  # the run goes on, or most of the memory is free
            times, states = times.copy(), states.copy()
        if whole and times[-1] != t:
            times = np.append(times, t)
            states = np.vstack([states, arrays["y"]])
        count = int(state["crossings"])
        which, event_t, event_y = (arrays[name][:count] for name in ("event", "event_t", "event_y"))
        crossings = tuple(
            Crossings(
                item,
                event_t[which == e].copy(),
                event_y[which == e].copy(),
                not (arrays["unresolved"][e].item() or arrays["doubtful"][e].item()),
            )
            for e, item in enumerate(self.items)
        )
        statistics = Statistics(
            **{name: int(state[name]) for name in _COUNTERS},
            control_calls=self.cost.control_calls,
            contact_residual=None if self.changing is None else self.changing.contact_residual,
            control_seconds=self.cost.control_seconds,
            seconds=time.perf_counter() - self.cost.began,
        )
        held = HeldControl(np.array(self.held_t), np.array(self.held_p)) if self.held_t else None
        own = int(state["transition_events"])
        counts = (arrays[name].tolist()[own:] for name in ("unresolved", "doubtful", "doubtful_t"))
        missed = warn_of_missed_crossings(crossings[own:], *counts) if whole else ""
        stiff = self.method.remark(self.names, reason in ("end", "event"))
        remarks = (missed, stiff, "" if self.changing is None else self.changing.remark())
        outcome = Outcome(reason, t, self._sentence(reason, why, t, statistics)).add(*filter(None, remarks))
        if self.changing is None:
            return Solution(times, states, outcome, crossings, statistics, held)
        transitions = self.changing.transitions()
        impulses = self.changing.step_impulses()
        return Solution(times, states, outcome, crossings[own:], statistics, held, (), transitions, impulses)

    def _sentence(self, reason: str, why: str, t: float, statistics: Statistics) -> str:
        state = self.state
        if reason == "end":
            return f"reached t = {t:.10g} s in {statistics}"
        if reason == "event":
            event = self.items[int(state["stopped_by"])]
            return f"stopped at t = {t:.10g} s: event '{event.name}', after {statistics}"
        if reason == "interrupt":
            return f"interrupted at t = {t:.10g} s; the states up to there are kept; {statistics}"
        small = f"the step size fell below {float(state['h']):.1e} s"
        explained = {
            "step": f"{small}, and still projection onto the constraints makes the state jump"
            if state["jumped"]
            else f"{small}, the motion is probably singular there",
            "not-finite": f"event '{self.items[int(state['not_a_number']) - 1].name}' is not a number"
            if state["not_a_number"]
            else "the state became not finite",
            "control": why,
            "mode": why,
            "convergence": "the implicit equations could not be solved with any step",
            "limit": f"the allowed {self.settings.max_steps} steps are used up",
            "stall": f"many steps advanced t by almost nothing; {Option('max_steps')} sets another limit",
        }
        because = f"; {why}" if why and reason in _HELPLESS else ""
        return f"stopped at t = {t:.10g} s: {explained[reason]}{because}; the states up to there are kept; {statistics}"


def owners(given: MotionPrograms) -> tuple[Any, ...]:
    """Those whose memory the programs of a motion work in, each once."""
    programs = (given.rhs, given.project, None if given.events is None else given.events.program)
    found = {id(p.owner): p.owner for p in programs if isinstance(p, Routine) and p.owner is not None}
    return tuple(found.values())


_REASONS = {
    records.REACHED: "end",
    records.EVENT: "event",
    records.NOT_FINITE: "not-finite",
    records.SMALL_STEP: "step",
    records.NO_CONVERGENCE: "convergence",
}
"""Why a motion is over, by why its loop returned."""

_FAILURES = (records.NOT_FINITE, records.SMALL_STEP, records.NO_CONVERGENCE)
"""Ends of the loop at which another method may go on."""

_HELPLESS = ("step", "not-finite", "convergence", "stall")
"""Reasons that lie in the motion itself."""

_COUNTERS: Sequence[str] = ("steps", "rejected", "evaluations", "event_evaluations", "jacobians", "factorizations")
