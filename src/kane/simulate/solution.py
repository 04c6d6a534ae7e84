"""What a simulation is asked for and what it gives: events, control, statistics, outcome, solution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import InputError, UnknownNameError

NAMED = 2  # constraints that are open and still named in a line
SHOWN = 10
"""Transitions that a table shows at its beginning, and at its end; times of an event that a line shows."""

Array = np.ndarray[Any, np.dtype[np.float64]]

REASONS = (
    "end",
    "event",
    "step",
    "not-finite",
    "control",
    "convergence",
    "mode",
    "stall",
    "limit",
    "interrupt",
    "flat",
)
"""Why a simulation is over: it reached the end of its span; a terminal event; the step became too small; a value was
not finite; the control gave a value that is not finite; the implicit iteration failed; very many steps advanced t
by almost nothing; the allowed number of steps was used up; the user interrupted it; a wheel that rolls has passed
through lying flat, after which the states are no motion of the model."""


@dataclass(frozen=True, slots=True)
class Event:
    """A function of t, y, p that is watched for crossing zero.

    `direction` +1 takes only crossings from negative to positive, -1 only the others, 0 both, as met in the direction
    of integration. A function that is zero at the start (to within rounding), or touches zero and turns back, has not
    crossed; one that reaches zero at the end (to within rounding) has. A `terminal` event stops the simulation there. A
    `quiet` one that changes too fast to be followed is not warned about: its crossings say that they are not complete.
    """

    name: str
    direction: int = 0
    terminal: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise InputError(
                f"event '{self.name}': direction {self.direction!r} is not one of -1 (falling), 0 (both), +1 (rising)"
            )


@dataclass(frozen=True, slots=True)
class Events:
    """A flat program over [t, y, p] with one output per event, as a kernel or its address, and what to watch for."""

    program: Any
    items: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(self.items))


@dataclass(frozen=True, slots=True)
class Control:
    """A Python function of (t, y) whose result is held between samples.

    It is called at t0, t0 + period, t0 + 2 period, ... (seconds); its result is written to p[start : start + length]
    and integration restarts there. `y` is a copy; the function may keep it.
    """

    function: Callable[[float, Array], Any]
    period: float
    start: int = 0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0):
            raise InputError(f"control: period {self.period!r} s is not a positive finite time; give seconds, say 0.01")
        if self.start < 0:
            raise InputError(f"control: start {self.start!r} is negative; it is the first entry of p that is held")


@dataclass(frozen=True, slots=True)
class Crossings:
    """All crossings of one event: `t` (k,) in seconds and the states `y` (k, n) there. Not `complete` where the event
    changed too fast in some step for all of them to be found, or stayed within rounding of zero somewhere."""

    event: Event
    t: Array
    y: Array
    complete: bool = True

    def __len__(self) -> int:
        return len(self.t)

    def __str__(self) -> str:
        times = [f"{t:.6g}" for t in self.t[:SHOWN].tolist()]
        if not times:
            said = "never"
        elif len(times) == len(self):
            said = f"at t = {', '.join(times)} s"
        else:
            said = f"{len(self)} times, at t = {', '.join(times)}, …, {self.t[-1]:.6g} s"
        ended = ", where the motion ended" if times and self.event.terminal else ""
        return f"{self.event.name}: {said}{ended}{'' if self.complete else '; some may be missing'}"


class WatchedEvents(tuple[Crossings, ...]):
    """The events of a motion in the order in which they were given, by that or by name; prints as a line for each."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        named = {found.event.name: found for found in self}
        if key not in named:
            raise UnknownNameError("event", key, named)
        return named[key]

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no events"


@dataclass(frozen=True, slots=True)
class HeldControl:
    """What a control gave: sample times `t` (k,) in seconds and the held values `p` (k, r)."""

    t: Array
    p: Array


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a simulation cost. Times are wall-clock seconds and take no part in comparison.

    `contact_residual` is the largest natural residual that the contact problem of a time step was left with, relative
    to the velocities in it; None without time stepping.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    event_evaluations: int = 0
    jacobians: int = 0
    factorizations: int = 0
    control_calls: int = 0
    contact_residual: float | None = None
    control_seconds: float = field(default=0.0, compare=False)
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        parts = [f"{self.rejected} rejected", f"{self.evaluations} evaluations"]
        if self.jacobians:
            parts += [f"{self.jacobians} Jacobians", f"{self.factorizations} factorizations"]
        text = f"{self.steps} step{'' if self.steps == 1 else 's'} ({', '.join(parts)})"
        if self.control_calls:
            share = 100.0 * self.control_seconds / self.seconds if self.seconds > 0.0 else 0.0
            text += (
                f"; {self.control_calls} calls of the Python control took {self.control_seconds:.3g} s"
                f" of {self.seconds:.3g} s ({share:.0f} %)"
            )
        return text


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why the simulation is over: `reason` is one of `REASONS`, `str(outcome)` says it, on one line, with a line for
    each thing more that a user has to know of the motion.

    `success` is true when the end of the span or a terminal event was reached. `t` is where the motion is, in seconds.
    """

    reason: str
    t: float
    text: str = field(compare=False)

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"an outcome has one of the reasons {REASONS}, not {self.reason!r}")

    @property
    def success(self) -> bool:
        return self.reason in ("end", "event")

    def add(self, *sentences: str) -> Outcome:
        """The same with more sentences, each on a line of its own."""
        return replace(self, text="\n".join((self.text, *sentences)))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a motion under one set of constraints: times `t` (k,) in seconds, states `y` (k, n) and how it ended.

    `mode` is the index of the set, `constraints` the names of the constraints in it. The first row is where it starts.
    """

    mode: int
    constraints: tuple[str, ...]
    t: Array
    y: Array
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Transition:
    """What lies between two segments of a motion: a change of the constraints that hold.

    `t` is its time (s), `cause` one of "impact", "release", "stick", "slip", "imposed", "freed", "touch", "impact
    without collision", or the name of the event that switched the constraints; `constraints` are the names of those
    that it is about. `mode` says what each changing constraint does afterwards: "open", "sticks" or "slips". `impulse`
    has the impulses (N s, N m s) along the rows of each constraint that took one, `energy_change` is what they did to
    the kinetic energy (J, negative is lost), and `u_before` and `u_after` are the speeds (n,). `possible` is how many
    different motions the laws of contact allowed from there: more than one is indeterminate, and one of them was taken.
    `slip` has the direction (2,), a unit vector along the slip rows of each constraint that slips, in which it does so;
    in time steps that at the end of the step, at a start from rest that of the first one. `law` is the law
    of impact by which the impulses are, "" without any: the one that was asked for, or what replaced it where that does
    not apply or would gain energy; ", equal restitution" is added where all contacts were given their least
    coefficient.
    """

    t: float
    cause: str
    constraints: tuple[str, ...]
    mode: Mapping[str, str] = field(default_factory=dict[str, str])
    impulse: Mapping[str, Array] = field(default_factory=dict[str, Array])
    energy_change: float = 0.0
    u_before: Array = field(default_factory=lambda: np.zeros(0))
    u_after: Array = field(default_factory=lambda: np.zeros(0))
    possible: int = 1
    slip: Mapping[str, Array] = field(default_factory=dict[str, Array])
    law: str = ""

    def __str__(self) -> str:
        about = f"{self.cause} of {', '.join(self.constraints)}" if self.constraints else self.cause
        if self.cause == "stick" and self.constraints and all(self.mode.get(c) == "slips" for c in self.constraints):
            about = f"{', '.join(self.constraints)} stopped and slips on another way"
        lost = f", energy {self.energy_change:+.6g} J" if self.energy_change else ""
        many = f", one of {self.possible} possible motions" if self.possible > 1 else ""
        return f"t = {self.t:.9g} s: {about}{lost}{many}"

    def modes_text(self) -> str:
        """What holds afterwards, in words: "floor sticks, wall open"; of more than two that are open only the number.

        >>> Transition(0, "start", (), {"a": "sticks", "b": "open", "c": "open", "d": "open"}).modes_text()
        'a sticks, 3 open'
        """
        loose = sum(state == "open" for state in self.mode.values())
        if loose <= NAMED:
            return ", ".join(f"{name} {state}" for name, state in self.mode.items())
        holding = [f"{name} {state}" for name, state in self.mode.items() if state != "open"]
        return ", ".join([*holding, f"{loose} open"])


_CHANGES = {"release": (("sticks", "slips"), "open"), "stick": (("slips",), "sticks"), "slip": (("sticks",), "slips")}
"""What a constraint did before and does after a transition of that cause."""


def changed_alike(cause: str, which: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """The constraints that a transition without impulses is about: `which` ended the mode `before`, if it is not "",
    and all others that did the same at that moment, as both wheels of an axle lift at once.

    >>> changed_alike("release", "left", {"left": "sticks", "right": "slips"}, {"left": "open", "right": "open"})
    ('left', 'right')
    """
    was, becomes = _CHANGES.get(cause, ((), ""))
    alike = {name for name, state in before.items() if which and state in was and after[name] == becomes}
    return tuple(name for name in after if name == which or name in alike)


class Transitions(tuple[Transition, ...]):
    """The transitions of a motion, the choice at its start first; prints as a table, of the first and the last ones
    where there are many."""

    __slots__ = ()

    def summary(self) -> str:
        """How many there were after the start, of which causes, and the last one."""
        found = self[1:]
        if not found:
            return "no transitions"
        counts = ", ".join(f"{n} {cause}" for cause, n in Counter(x.cause for x in found).most_common())
        return (
            f"{len(found)} transition{'' if len(found) == 1 else 's'} ({counts}), the last at t = {found[-1].t:.6g} s"
        )

    def __repr__(self) -> str:
        lines = [f"{x}: {x.modes_text()}" for x in self]
        left_out = len(lines) - 2 * SHOWN
        if left_out > 0:
            lines[SHOWN:-SHOWN] = [f"… {left_out} more"]
        return "\n".join(lines) or "no transitions"


@dataclass(frozen=True, slots=True)
class StepImpulses:
    """Impulses (N s, N m s) along the rows of all constraints in every step of a motion by time stepping, those that
    are not zero: of step i the `row` and `value` from `end`[i − 1] to `end`[i]."""

    rows: int
    end: Any
    row: Any
    value: Array

    def __len__(self) -> int:
        return len(self.end)

    def of_step(self, i: int) -> Array:
        """The impulses of step i, (rows,)."""
        found = np.zeros(self.rows)
        own = slice(int(self.end[i - 1]) if i else 0, int(self.end[i]))
        found[self.row[own]] = self.value[own]
        return found


@dataclass(frozen=True, slots=True)
class Solution:
    """A computed motion: times `t` (k,) in seconds and states `y` (k, n).

    The last row is where the motion stopped, also when that lies between requested times. `events` has one entry per
    event in the order they were given. `segments` are the parts of which the motion consists, each under one set of
    constraints, and `transitions` what lies between them, one less; a solution that was integrated from programs alone
    has none. `step_impulses` are those of time stepping, where every step is returned.
    """

    t: Array
    y: Array
    outcome: Outcome
    events: tuple[Crossings, ...]
    statistics: Statistics
    held: HeldControl | None = None
    segments: tuple[Segment, ...] = ()
    transitions: tuple[Transition, ...] = ()
    step_impulses: StepImpulses | None = None

    def __str__(self) -> str:
        return str(self.outcome)
