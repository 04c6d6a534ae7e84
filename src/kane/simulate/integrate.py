"""From a compiled right-hand side and a start to a Solution: checks, the chunked compiled loop, the outcome.

The right-hand side is a flat program (see docs/architecture.md) that reads [t, y (n), p (m)] and writes dy/dt (n),
possibly followed by more. The loop runs compiled; between chunks of it Python looks for an interrupt, grows the output
arrays, reports progress and calls a sampled control. Where the loop is cut does not change the result by a bit.
"""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from .changing import ChangingRun
from .compiled import load_loop, records
from .discontinuities import Change
from .notice import announce_compilation, warn_of_missed_crossings
from .progress import STALL, Look
from .settings import STEPPING, Settings
from .solution import Control, Crossings, Event, Events, HeldControl, Outcome, Solution, Statistics
from .start import Start, check_address, check_start, memory_of
from .tableaux import TABLEAUX, pack_rows

CHUNK_SECONDS = 0.1
"""Wall time between looks at the keyboard and the progress bar."""

FIRST_CHUNK = 64
"""Attempted steps in the first chunk, before anything is known about their cost."""

LARGEST_CHUNK = 1_000_000
"""Attempted steps in a chunk at most, however quick they are."""

FIRST_ROOM = 256
"""Rows of output to begin with; doubled whenever they are full."""


def integrate(
    rhs: Any,
    y0: Any,
    t: Any,
    *,
    parameters: Any = (),
    method: str = "dop853",
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
    `changing` is the run that has their programs; the first two events for each are its own.
    """
    settings = Settings(method, rtol, atol, step, max_step, first_step, max_steps, chunk)
    start = check_start(rhs, y0, t, parameters, extra_outputs)
    n = start.y0.size
    items = () if events is None else events.items
    watched = None if events is None else events.program
    programs = {
        "rhs": check_address("rhs", rhs, start, n),
        "rhs_memory": memory_of(rhs),
        "project": check_address("project_address", project_address, start, n, optional=True),
        "project_memory": memory_of(project_address),
        "jacobian": check_address("jacobian_address", jacobian_address, start, n * n, optional=True),
        "event_program": check_address("events", watched, start, len(items), optional=events is None),
        "event_memory": memory_of(watched),
    }
    with announce_compilation("the integrator"):
        loop, programs["watch"] = load_loop(method, bool(items))
    run = _Run(start, settings, items, programs, loop)
    run.state["project_error"] = int(project_error and programs["project"] != 0)
    run.changing = changing
    return run.solution(control, progress, explain, changes)


Explain = Callable[[Any, float, float], str]
"""The explanation why a motion cannot go on, from the inputs [t, y, p] at its last state, the step that was tried
last (s, negative backward) and the time it began at (s)."""


@dataclass(slots=True)
class _Cost:
    """Wall time and calls of the control, gathered while running."""

    began: float = field(default_factory=time.perf_counter)
    control_calls: int = 0
    control_seconds: float = 0.0


@functools.cache
def _tableau_arrays(name: str) -> dict[str, Any]:
    """The arrays of a tableau as the loop wants them; shared by all simulations, which only read them."""
    tableau = TABLEAUX[name]
    arrays: dict[str, Any] = {"c": np.array(tableau.c)}
    for matrix, rows in (("a", tableau.a), ("error", tableau.error), ("dense", tableau.dense)):
        start, column, value = pack_rows(rows)
        arrays[f"{matrix}_start"] = np.array(start, dtype=np.int64)
        arrays[f"{matrix}_column"] = np.array(column, dtype=np.int64)
        arrays[f"{matrix}_value"] = np.array(value, dtype=np.float64)
    return arrays


class _Run:
    """One simulation under way: the memory of the compiled loop and what Python does between its chunks."""

    def __init__(self, start: Start, settings: Settings, items: tuple[Event, ...], programs: dict[str, int], loop: Any):
        self.start = start
        self.settings = settings
        self.items = items
        self.loop = loop
        self.changing: ChangingRun | None = None
        self.memory = np.zeros(1, dtype=records.MEMORY)
        self.state = self.memory[0]
        self.arrays: dict[str, Any] = {}
        self.held_t: list[float] = []
        self.held_p: list[Any] = []
        self.cost = _Cost()
        self.look = Look(start.t0, start.t1)
        self.chunk = settings.chunk or FIRST_CHUNK
        for name, address in programs.items():
            self.state[name] = address
        self._motion_arrays()
        self._event_arrays()
        if settings.method == "radau":
            self._implicit_arrays()
        elif settings.method == STEPPING:
            self.state["fixed"] = 1
            self._hold(dense=np.zeros((3, start.y0.size)))
        else:
            self._explicit_arrays()

    def _hold(self, **arrays: Any) -> None:
        """Keep arrays alive and tell the loop where they are."""
        for name, array in arrays.items():
            self.arrays[name] = array
            self.state[name] = array.ctypes.data

    def _motion_arrays(self) -> None:
        start, settings, state = self.start, self.settings, self.state
        n = start.y0.size
        rows = max(FIRST_ROOM, start.times.size + 1)
        state["n"], state["width"] = n, start.width
        state["requested"], state["room"] = start.times.size, rows
        state["rtol"], state["max_step"] = settings.rtol, settings.max_step
        state["t"] = state["t_end"] = state["origin"] = start.t0
        state["t_last"] = start.t1
        state["sign"] = -1.0 if start.t1 < start.t0 else 1.0
        state["span"] = abs(start.t1 - start.t0)
        state["fixed_step"] = settings.step or 0.0
        state["h"] = settings.step or settings.first_step or 0.0
        state["error"], state["fresh"], state["stored"] = 1e-4, 1, 1
        state["next_time"] = min(1, start.times.size)
        self._hold(
            atol=settings.tolerances(n),
            x=np.concatenate([np.zeros(1 + n), start.parameters]),
            y=start.y0.copy(),
            y_new=np.zeros(n),
            saved=np.zeros(n),
            scratch=np.zeros(n),
            other=np.zeros(n),
            times=start.times,
            out_t=np.empty(rows),
            out_y=np.empty((rows, n)),
        )
        self.arrays["out_t"][0] = start.t0
        self.arrays["out_y"][0] = start.y0

    def _event_arrays(self) -> None:
        n, events = self.start.y0.size, len(self.items)
        splits = records.splits_for(n, events)
        found = records.most_crossings(splits) * events
        self.state["events"], self.state["event_room"] = events, 2 * found
        self.state["splits"], self.state["step_room"] = splits, found
        self._hold(
            directions=np.array([e.direction for e in self.items], dtype=np.int64),
            terminal=np.array([e.terminal for e in self.items], dtype=np.int64),
            g=np.zeros((3 * records.SAMPLES + 2, events)),
            search=np.zeros((records.DEPTH + 3, records.POINT)),
            g_point=np.zeros(events),
            g_sign=np.zeros(events, dtype=np.int64),
            fast=np.zeros(events, dtype=np.int64),
            unresolved=np.zeros(events, dtype=np.int64),
            found_at=np.empty(found),
            found=np.empty(found, dtype=np.int64),
            event_t=np.empty(2 * found),
            event_y=np.empty((2 * found, n)),
            event=np.empty(2 * found, dtype=np.int64),
        )

    def _explicit_arrays(self) -> None:
        tableau = TABLEAUX[self.settings.method]
        state = self.state
        state["stages"], state["rows"] = tableau.stages, len(tableau.a)
        state["fixed"], state["error_order"] = int(not tableau.adaptive), tableau.error_order
        state["error_rows"], state["dense_rows"] = len(tableau.error), len(tableau.dense)
        self._hold(**_tableau_arrays(tableau.name))
        self._hold(
            k=np.zeros((len(tableau.a), self.start.width)),
            dense=np.zeros((3 + len(tableau.dense), self.start.y0.size)),
        )
        state["f"] = state["k"]

    def _implicit_arrays(self) -> None:
        n, width = self.start.y0.size, self.start.width
        self.state["error_order"] = 3
        self._hold(
            f=np.zeros(width),
            k=np.zeros((3, width)),
            dense=np.zeros((3, n)),
            jacobian_matrix=np.zeros((n, n)),
            real_factors=np.zeros((n, n)),
            complex_factors=np.zeros((n, n), dtype=np.complex128),
            real_pivots=np.zeros(n, dtype=np.int64),
            complex_pivots=np.zeros(n, dtype=np.int64),
            z=np.zeros((3, n)),
            w=np.zeros((3, n)),
            residual=np.zeros((3, n)),
            complex_part=np.zeros(n, dtype=np.complex128),
        )

    def _grow(self) -> None:
        """Double whatever is nearly full."""

        def double(names: tuple[str, ...], used: int, size: str) -> None:
            for name in names:
                array = self.arrays[name]
                larger = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
                larger[:used] = array[:used]
                self._hold(**{name: larger})
            self.state[size] = self.arrays[names[0]].shape[0]

        state = self.state
        if state["requested"] == 0 and state["stored"] + 2 >= state["room"]:
            double(("out_t", "out_y"), int(state["stored"]), "room")
        if self.items and state["crossings"] + state["step_room"] > state["event_room"]:
            double(("event_t", "event_y", "event"), int(state["crossings"]), "event_room")
        if self.changing is not None:
            self.changing.grow(state)

    def solution(
        self,
        control: Control | None,
        progress: Callable[[float], object] | None,
        explain: Explain | None,
        changes: Sequence[Change] = (),
    ) -> Solution:
        """Run to the end, whatever end that is."""
        try:
            reason, why = self._motion(control, progress, changes)
        except KeyboardInterrupt:
            reason, why = "interrupt", ""
        if explain is not None and reason in _HELPLESS:
            why = explain(self._inputs(), float(self.state["sign"] * self.state["h"]), self.start.t0)
        return self._collect(reason, why)

    def _inputs(self) -> Any:
        """[t, y, p] at the present state."""
        return np.concatenate([[self.state["t"]], self.arrays["y"], self.arrays["x"][1 + self.start.y0.size :]])

    def _motion(
        self, control: Control | None, progress: Callable[[float], object] | None, changes: Sequence[Change]
    ) -> tuple[str, str]:
        """(reason, what is known about it) after running from the start."""
        start, state = self.start, self.state
        if self.changing is not None:
            self.changing.attach(state)
            fault = self.changing.start(self.memory)
            if fault:
                return "mode", self.changing.describe_fault(fault)
            self.arrays["out_y"][0] = self.arrays["y"]
        ahead = deque(changes)
        sample, due = 0, start.t0 if control is not None else start.t1
        while state["t"] != start.t1:
            if control is not None and state["t"] == due:
                fault = self._sample_control(control)
                if fault:
                    return "control", fault
                sample += 1
                due = start.t0 + float(state["sign"]) * sample * control.period
                past = float(state["sign"]) * (start.t1 - due) < 1e-9 * control.period
                due = start.t1 if past else due
                state["origin"], state["grid"] = state["t"], 0
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
                self._pass(change, due)
        if progress is not None:
            progress(1.0)
        return "end", ""

    def _lies_ahead(self, t: float, of: float) -> bool:
        """Whether t is later than `of` in the direction of the motion."""
        return float(self.state["sign"]) * (t - of) > 0.0

    def _pass(self, change: Change, due: float) -> None:
        """Go on just after a change, unless the motion is there already, or at `due` if that comes first."""
        state = self.state
        after = due if self._lies_ahead(change.after, due) else change.after
        if self._lies_ahead(after, float(state["t"])):
            state["t"] = state["origin"] = after
            state["grid"], state["fresh"] = 0, 1

    def _sample_control(self, control: Control) -> str:
        """Call the control at the present state and hold its result; returns what is wrong with it, if anything."""
        state = self.state
        began = time.perf_counter()
        t = float(state["t"])
        values = np.atleast_1d(np.array(control.function(t, self.arrays["y"].copy()), dtype=np.float64))
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
        if not np.all(np.isfinite(values)):
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
            budget = self._budget()
            if budget == 0:
                return "limit", ""
            began = time.perf_counter()
            code = self.loop(self.memory, budget)
            taken = time.perf_counter() - began
            if code == records.REACHED:
                return "end", ""
            if code == records.EVENT:
                return "event", ""
            if code == records.NOT_FINITE:
                return "not-finite", ""
            if code == records.SMALL_STEP:
                return "step", ""
            if code == records.NO_CONVERGENCE:
                return "convergence", ""
            if code == records.NO_MODE:
                assert self.changing is not None
                return "mode", self.changing.describe_fault(int(state["transition_fault"]))
            if code == records.FULL:
                self._grow()
            elif self.settings.chunk is None and not state["fresh"]:  # a leap ends a chunk early
                change = min(4.0, max(0.25, CHUNK_SECONDS / max(taken, 1e-9)))
                self.chunk = min(LARGEST_CHUNK, int(change * self.chunk) + 1)
            if progress is not None and state["span"] > 0:
                progress(abs(float(state["t"]) - self.start.t0) / float(state["span"]))

    def _budget(self) -> int:
        """How many steps may be attempted before the next look: to the limit, or to where progress is looked at."""
        most = self.look.due if self.settings.max_steps is None else self.settings.max_steps
        return max(0, min(self.chunk, most - self._attempts()))

    def _attempts(self) -> int:
        return int(self.state["steps"] + self.state["rejected"])

    def _is_stalled(self) -> bool:
        """Whether the motion advances no more. Who gives a number of steps, or a fixed step, decides when to stop."""
        state = self.state
        stalled = self.look.is_stalled(self._attempts(), int(state["rejected"]), float(state["t"]))
        return stalled and self.settings.max_steps is None and not state["fixed"]

    def _collect(self, reason: str, why: str) -> Solution:
        """Everything that was computed, as a Solution."""
        state, arrays = self.state, self.arrays
        t, rows = float(state["t"]), int(state["stored"])
        times, states = arrays["out_t"][:rows].copy(), arrays["out_y"][:rows].copy()
        if times[-1] != t:
            times = np.append(times, t)
            states = np.vstack([states, arrays["y"]])
        count = int(state["crossings"])
        which, event_t, event_y = (arrays[name][:count] for name in ("event", "event_t", "event_y"))
        crossings = tuple(
            Crossings(item, event_t[which == e].copy(), event_y[which == e].copy(), not arrays["unresolved"][e].item())
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
        missed = warn_of_missed_crossings(crossings[own:], arrays["unresolved"].tolist()[own:])
        remark = "" if self.changing is None else self.changing.remark()
        outcome = Outcome(reason, t, self._sentence(reason, why, t, statistics) + missed + remark)
        if self.changing is None:
            return Solution(times, states, outcome, crossings, statistics, held)
        transitions = self.changing.transitions()
        return Solution(times, states, outcome, crossings[own:], statistics, held, (), transitions)

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
            "stall": f"the last {STALL} steps advanced t by almost nothing; max_steps=... sets another limit",
        }
        because = f"; {why}" if why and reason in _HELPLESS else ""
        return f"stopped at t = {t:.10g} s: {explained[reason]}{because}; the states up to there are kept; {statistics}"


_HELPLESS = ("step", "not-finite", "convergence", "stall")
"""Reasons that lie in the motion itself."""

_COUNTERS: Sequence[str] = ("steps", "rejected", "evaluations", "event_evaluations", "jacobians", "factorizations")
