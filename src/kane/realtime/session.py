"""What comes of a session of the loop that keeps time."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..boundary import refuse_odd
from ..simulate import Outcome, Transition
from ..writing import replacing
from .coupler import Coupler
from .memory import TickMemory
from .words import STOPPED

TOO_SLOW = 0.1
"""Share of ticks whose computation takes longer than a period where the model is told to be too slow."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How well a session kept time: ticks, those that began more than a period late, those whose computation took
    more than a period, those that were given up, seconds of the latest and longest, and what the system allowed; ticks
    that were worked out before they were due (`prepared`), those with transitions (`changes`), and how many of these
    had been foreseen; `origin` (ns) is when the first tick was due, by the clock that no one sets."""

    ticks: int
    late: int
    overruns: int
    skipped: int
    worst_late: float
    worst_computing: float
    scheduling: str
    prepared: int = 0
    changes: int = 0
    foreseen: int = 0
    origin: int = 0

    def __str__(self) -> str:
        return (
            f"{self.ticks} ticks, {self.late} late by more than a period, {self.overruns} overrun,"
            f" {self.skipped} skipped; latest {1e3 * self.worst_late:.3f} ms,"
            f" longest {1e6 * self.worst_computing:.0f} µs; {self.scheduling}"
        )


@dataclass(frozen=True, slots=True)
class Session:
    """What happened: times `t` (k,) s at the ends of ticks, states `q`, `u`, `work` (J) of all loads but gravity and of
    the device through the coupler; `position` and `velocity` of the device and `force` on it (k, axes), `place` of what
    it is coupled to; `observed` (J), what is left for motion and heat of the energy that there was and that the device
    and the model's own loads gave, and the least of it; `kinetic`, `potential` (J), of gravity and of springs;
    `computing` and `late` (s) of every tick; all transitions."""

    t: Any
    q: Any
    u: Any
    work: Any
    position: Any
    velocity: Any
    force: Any
    place: Any
    observed: Any
    kinetic: Any
    potential: Any
    computing: Any
    late: Any
    coupler: Coupler
    transitions: tuple[Transition, ...]
    timing: Timing
    outcome: Outcome
    least_observed: float

    def __repr__(self) -> str:
        return f"<Session: {self.outcome}>"

    @refuse_odd
    def save(self, path: str | Path) -> None:
        """Write all arrays to a file of NumPy, .npz; `Replay(np.load(path)["position"])` plays it again."""
        with replacing(path) as stream:
            np.savez(stream, **{f.name: getattr(self, f.name) for f in fields(self) if f.type == "Any"})


def collect(memory: TickMemory, coupler: Coupler, code: int, scheduling: str) -> Session:
    """The session whose loop came back with a code."""
    rows, columns = memory.rows(), memory.columns
    blocks = memory.coupling.constraints.layout.state
    y = rows[:, columns["y"]]
    timing = _timing(memory.array[0], scheduling)
    single = {n: rows[:, columns[n]][:, 0] for n in ("t", "observed", "kinetic", "potential", "computing", "late")}
    several = {n: rows[:, columns[n]] for n in ("position", "velocity", "force", "place")}
    return Session(
        q=y[:, blocks["q"].place],
        u=y[:, blocks["u"].place],
        work=y[:, blocks["work"].start],
        **single,
        **several,
        coupler=coupler,
        transitions=memory.run.transitions(),
        timing=timing,
        outcome=_outcome(memory, code, timing),
        least_observed=float(memory.array[0]["least_observed"]),
    )


def _timing(state: Any, scheduling: str) -> Timing:
    ticks, late, overruns, skipped = (int(state[name]) for name in ("tick", "late", "overruns", "skipped"))
    worst_late, worst_computing = (1e-9 * int(state[name]) for name in ("worst_late", "worst_computing"))
    seen = (int(state[name]) for name in ("prepared", "changes", "foreseen", "origin"))
    return Timing(ticks, late, overruns, skipped, worst_late, worst_computing, scheduling, *seen)


def _outcome(memory: TickMemory, code: int, timing: Timing) -> Outcome:
    from ..simulate.compiled import records

    state, t = memory.array[0], float(memory.loop.state["t"])
    reason, words = {
        records.REACHED: ("end", "reached"),
        STOPPED: ("interrupt", "stopped at"),
        records.NO_MODE: ("mode", "no way on at"),
        records.NOT_FINITE: ("not-finite", "a state that is not finite at"),
    }[code]
    parts = [f"{words} t = {t:.10g} s"]
    if reason == "mode":
        parts.append(memory.run.describe_fault(int(memory.loop.state["transition_fault"])))
    parts.append(str(timing))
    if timing.overruns > TOO_SLOW * timing.ticks:
        each = 1e3 * float(np.median(memory.rows()[:, memory.columns["computing"]]))
        period = 1e-6 * int(state["period"])
        parts.append(
            f"the model is too slow for the rate: a tick takes {each:.3g} ms of {period:.3g} ms, half of the time; fix:"
            " lower the rate, or take fewer steps in a tick"
        )
    for name, sentence in (
        ("bad", "{} positions of the device were not finite and left out"),
        ("silent", "the device was silent in {} ticks, in which the coupler let go"),
        ("lost", "the first {} transitions are not kept"),
    ):
        if state[name]:
            parts.append(sentence.format(int(state[name])))
    return Outcome(reason, t, "\n".join(parts))


__all__ = ["Session", "Timing", "collect"]
