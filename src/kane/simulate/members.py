"""Many motions of one problem: members that differ in their start and in their free parameters.

Members of a block run in a compiled loop, LANES at a time where programs can be computed so (`compiled/members.py`),
modes that are written out among them; one after the other where they cannot, by time steps and with the implicit method
(`compiled/series.py`). Those that turn stiff are run again (`stiff_members`). What none of these can settle, a member
that fails, stalls or ends in a change in time, is run alone. So every member has the bits of its run alone, whatever
runs beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends.kernel import LANES
from ..errors import KaneError
from ..graph import Program
from .compiled import records
from .discontinuities import COMPARISONS, Change, time_changes
from .lane_memory import KINDS, borrow_memory
from .problem import Mode, MotionProblem, simulate
from .settings import AUTO, METHODS, STEPPING, Settings
from .solution import REASONS, Array, Solution
from .stiff_members import StiffMembers

Wholes = NDArray[np.int64]

CHUNK = 2048
"""Attempted steps of all lanes, or of members one after the other, between looks at the keyboard."""

ENDS = (*REASONS, "refused", "lost")
"""Why a member ended, by the number that is kept of it: as a motion does, since it could not begin, or since whoever
computed it did."""

_WELL = ("end", "event")
"""Ends of which nothing needs to be said."""


@dataclass(frozen=True, slots=True)
class Members:
    """What came of the members of a block, in their order.

    `reason` (b,) is a place in ENDS, `t` (b,) and `y` (b, n) are the last state, `outputs` (b, k, n) those at the
    times that were asked for, nan beyond the last, None where none are kept. `first` (b, e) has the time of the first
    crossing of each event (s, nan for none), `crossings` (b, e) their number. `steps` (b,) were taken. `messages` says,
    by the place of a member, why one failed.
    """

    reason: Wholes
    t: Array
    y: Array
    outputs: Array | None
    first: Array
    crossings: Wholes
    steps: Wholes
    messages: dict[int, str]


def run_members(
    problem: MotionProblem,
    starts: Array,
    parameters: Array,
    times: Array,
    settings: dict[str, Any],
    *,
    keep: bool,
    look: Callable[[int], object] | None = None,
) -> Members:
    """Motions of a problem from `starts` (b, n) with `parameters` (b, p) of their own, over `times` (s).

    `keep` keeps the states at `times`. `settings` are those of `integrate`. `look` is called now and then with how many
    members are done; what it raises ends the work.
    """
    block = _Block(problem, starts, parameters, times, settings, keep)
    if block.in_loop:
        block.run_loop(look)
    for i in np.flatnonzero(block.unsettled):
        block.run_alone(int(i))
        if look is not None:
            look(int(block.unsettled.size - np.count_nonzero(block.unsettled)))
    return block.members()


class _Block:
    """Members under way, and what is known of each."""

    def __init__(
        self,
        problem: MotionProblem,
        starts: Array,
        parameters: Array,
        times: Array,
        settings: dict[str, Any],
        keep: bool,
    ):
        self.problem, self.settings, self.keep = problem, settings, keep
        self.starts = np.ascontiguousarray(starts, dtype=np.float64)
        self.parameters = np.ascontiguousarray(parameters, dtype=np.float64)
        self.times = np.ascontiguousarray(times, dtype=np.float64)
        count, n, events = len(self.starts), self.starts.shape[1], len(problem.events)
        rows = self.times.size
        self.found: dict[str, Any] = {
            "reason": np.zeros(count, dtype=np.int64),
            "stored": np.zeros(count, dtype=np.int64),
            "end_t": np.full(count, self.times[0]),
            "end_y": self.starts.copy(),
            "attempts": np.zeros((count, 2), dtype=np.int64),
            "evaluations": np.zeros(count, dtype=np.int64),
            "stopped_by": np.zeros(count, dtype=np.int64),
            "first": np.full((count, events), np.nan),
            "crossings": np.zeros((count, events), dtype=np.int64),
            "missed": np.zeros((count, events), dtype=np.int64),
            "out_y": np.full((count, rows, n), np.nan) if keep else np.empty((LANES, rows, n)),
        }
        self.messages: dict[int, str] = {}
        self.unsettled = np.ones(count, dtype=bool)
        plain = not problem.switches and settings.get("control") is None
        self.in_loop = bool(plain and settings.get("method", AUTO) in (*METHODS, STEPPING) and count)

    def run_loop(self, look: Callable[[int], object] | None) -> None:
        """Run in the compiled loop all members but those that meet a change where they end."""
        changes = self._changes()
        chosen = np.flatnonzero([all(self._lies_within(c) for c in met) for met in changes])
        if not chosen.size:
            return
        whole = chosen.size == len(self.starts)
        found = self.found if whole else {k: _rows(v, chosen, self.keep, k) for k, v in self.found.items()}
        settings, starts, held = self._settings(), self.starts[chosen], self._constant_inputs(chosen)
        with borrow_memory(self.problem, settings, self.times, starts, held, self.keep) as memory:
            memory.put_members(starts, held, [changes[i] for i in chosen], found)
            while not memory.loop(memory.array, CHUNK):
                if look is not None:
                    look(int(memory.state["done"]))
        stiff = self._collect(chosen, found, settings)
        if stiff.size:
            again = StiffMembers(self.problem, memory.first.start, settings)
            for i in stiff.tolist():
                self._run_stiff(again, i, changes[i])

    def _settings(self) -> Settings:
        usual: dict[str, Any] = {"method": AUTO, "rtol": 1e-8, "atol": 1e-10, "step": None, "max_step": np.inf}
        return Settings(**{**usual, "first_step": None, "max_steps": None, "chunk": None, **self.settings})

    def _constant_inputs(self, chosen: Any) -> Array:
        """Inputs of programs behind the states of some members: efforts and parameters, (b, p)."""
        tau = len(self.problem.tau)
        held = np.empty((chosen.size, tau + self.parameters.shape[1]))
        held[:, :tau], held[:, tau:] = self.problem.tau, self.parameters[chosen]
        return held

    def _collect(self, chosen: Any, found: dict[str, Any], settings: Settings) -> Any:
        """Take in what came of the members that were chosen for the loop; the places of those that are stiff. Others
        that it did not settle are left for a run alone."""
        if found is not self.found:
            for name, array in found.items():
                if name != "out_y" or self.keep:
                    self.found[name][chosen] = array
        codes = found["reason"].copy()
        settled = ~np.any(found["missed"] > 0, axis=1)
        settled &= (codes == records.REACHED) | (codes == records.EVENT)
        ends = np.where(codes == records.REACHED, *(ENDS.index(why) for why in _WELL))
        self.unsettled[chosen[settled]] = False
        self.found["reason"][chosen[settled]] = ends[settled]
        if self.keep:
            for i, stored in zip(chosen.tolist(), found["stored"].tolist(), strict=True):
                self.found["out_y"][i, stored:] = np.nan
        turns = self.problem.modes[0].changing is None and settings.method == AUTO
        return chosen[codes == records.STIFF] if turns else chosen[:0]

    def _run_stiff(self, again: StiffMembers, i: int, changes: tuple[Change, ...]) -> None:
        """Run a member that the loop found to be stiff."""
        reason = again.run(self.starts[i], self._constant_inputs(np.array([i]))[0], changes)
        if reason in _WELL:
            self.found["reason"][i], self.unsettled[i] = ENDS.index(reason), False
            again.keep(self.found, i, self.keep)

    def _changes(self) -> list[tuple[Change, ...]]:
        """The changes in time that each member meets; time steps go over them."""
        stepping = self.settings.get("method") == STEPPING
        programs = () if stepping else _comparing_programs(self.problem.modes[0])
        t0, t1 = float(self.times[0]), float(self.times[-1])
        known: dict[tuple[float, ...], tuple[Change, ...]] = {}
        found: list[tuple[Change, ...]] = []
        for values in map(tuple, self.parameters.tolist() if programs else [()] * len(self.starts)):
            if values not in known:
                known[values] = time_changes([(p, values) for p in programs], t0, t1)
            found.append(known[values])
        return found

    def _lies_within(self, change: Change) -> bool:
        """Whether a motion goes on after a change."""
        span = float(self.times[-1] - self.times[0])
        return span * (float(self.times[-1]) - change.after) > 0.0

    def run_alone(self, i: int) -> None:
        """Run one member by itself."""
        self.unsettled[i] = False
        times = self.times if self.times.size > 2 else self.times[[0, -1]]
        problem = replace(self.problem, parameters=tuple(self.parameters[i].tolist()))
        try:
            self._keep(i, simulate(problem, self.starts[i], times, **self.settings))
        except KaneError as error:
            self.found["reason"][i] = ENDS.index("refused")
            self.messages[i] = str(error)

    def _keep(self, i: int, solution: Solution) -> None:
        """Keep what came of a member that ran alone."""
        found, outcome = self.found, solution.outcome
        found["reason"][i] = ENDS.index(outcome.reason)
        found["end_t"][i], found["end_y"][i] = outcome.t, solution.y[-1]
        found["attempts"][i] = solution.statistics.steps, solution.statistics.rejected
        for e, crossings in enumerate(solution.events):
            found["crossings"][i, e] = len(crossings)
            found["first"][i, e] = crossings.t[0] if len(crossings) else np.nan
        if self.keep:
            rows = np.searchsorted(solution.t, self.times)
            inside = rows < len(solution.t)
            inside[inside] &= solution.t[rows[inside]] == self.times[inside]
            found["out_y"][i] = np.nan
            found["out_y"][i, inside] = solution.y[rows[inside]]
        if not outcome.success:
            self.messages[i] = str(outcome)

    def members(self) -> Members:
        """What came of all of them."""
        f = self.found
        return Members(
            f["reason"],
            f["end_t"],
            f["end_y"],
            f["out_y"] if self.keep else None,
            f["first"],
            f["crossings"],
            f["attempts"][:, 0],
            dict(sorted(self.messages.items())),
        )


def _rows(array: Any, chosen: Any, keep: bool, name: str) -> Any:
    """The rows of an array of members that are chosen, or what lanes write over."""
    return array[chosen] if name != "out_y" or keep else array


@functools.lru_cache(maxsize=KINDS)
def _comparing_programs(mode: Mode) -> tuple[Program, ...]:
    """The programs of a mode that read t and compare."""
    return tuple(program for program in mode.programs if _compares(program))


def _compares(program: Any) -> bool:
    """Whether a program reads t and compares."""
    reads_time = any(len(g) for g in program.inputs if g.name == "t")
    return reads_time and any(row.op in COMPARISONS for row in program.rows)


__all__ = ["ENDS", "Members", "run_members"]
