"""Many motions of one problem: members that differ in their start and in their free parameters.

Members of a block run in the compiled loop (`compiled/members.py`), LANES at a time where the motion is one program,
one after the other where it is not. What that loop cannot settle, a member that stalls, is stiff or meets a change in
time, is run alone. So every member has the bits of its run alone, whatever runs beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import Kernel
from ..backends.kernel import LANES
from ..errors import InputError, KaneError
from .compiled import load_loop, load_members_loop, records
from .discontinuities import COMPARISONS, time_changes
from .integrate import MotionPrograms, owners, program_addresses
from .memory import NEVER, LoopMemory
from .notice import announce_compilation
from .problem import MotionProblem, motion_programs, simulate
from .progress import STALL
from .routine import address_of
from .settings import AUTO, Settings
from .solution import REASONS, Array, Solution
from .start import Start
from .tableaux import TABLEAUX

Wholes = NDArray[np.int64]

CHUNK = 2048
"""Attempted steps of all lanes between looks at the keyboard."""

ENDS = (*REASONS, "refused")
"""Why a member ended, by the number that is kept of it: as a motion does, or since it could not begin."""

_SETTLED = {records.REACHED: ENDS.index("end"), records.EVENT: ENDS.index("event")}


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
        mode = problem.modes[0]
        plain = not problem.switches and mode.changing is None and settings.get("control") is None
        self.in_loop = bool(plain and settings.get("method", AUTO) in (AUTO, *TABLEAUX) and count)

    def run_loop(self, look: Callable[[int], object] | None) -> None:
        """Run all members that meet no change in time in the compiled loop."""
        chosen = np.flatnonzero(~self._meets_changes())
        if not chosen.size:
            return
        lanes = _Lanes(self, chosen)
        while not lanes.loop(lanes.memory, CHUNK):
            if look is not None:
                look(int(lanes.state["done"]))
        lanes.collect()

    def _meets_changes(self) -> Any:
        """Which members meet a change in time: (b,) of bool."""
        programs = self.problem.modes[0].programs
        t0, t1 = float(self.times[0]), float(self.times[-1])
        if not programs or not any(_compares(p) for p in programs):
            return np.zeros(len(self.starts), dtype=bool)
        return np.array([bool(time_changes([(p, v) for p in programs], t0, t1)) for v in self.parameters.tolist()])

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


class _Lanes:
    """The memory of the compiled loop for some members of a block."""

    def __init__(self, block: _Block, chosen: Any):
        from .compiled.members import LANE_MEMORY

        self.block, self.chosen = block, chosen
        whole = chosen.size == len(block.starts)
        self.found = block.found if whole else {k: _rows(v, chosen, block.keep, k) for k, v in block.found.items()}
        problem, n = block.problem, block.starts.shape[1]
        programs = [motion_programs(problem, 0) for _ in range(LANES)]
        held = np.empty((chosen.size, len(problem.tau) + block.parameters.shape[1]))
        held[:, : len(problem.tau)], held[:, len(problem.tau) :] = problem.tau, block.parameters[chosen]
        self.memory = np.zeros(1, dtype=LANE_MEMORY)
        self.state = self.memory[0]
        self.arrays: dict[str, Any] = {}
        usual: dict[str, Any] = {"method": AUTO, "rtol": 1e-8, "atol": 1e-10, "step": None, "max_step": np.inf}
        settings = Settings(**{**usual, "first_step": None, "max_steps": None, "chunk": None, **block.settings})
        self.lanes = [self._lane(own, settings, block, held[0]) for own in programs]
        self.programs = programs
        first = self.lanes[0]
        rows, p = len(first.arrays["k"]), held.shape[1]
        width = first.start.width
        rhs, project, projects = programs[0].rhs, programs[0].project, programs[0].project_error
        vector = isinstance(rhs, Kernel) and rhs.lanes_address
        self.state["n"], self.state["width"], self.state["p"] = n, width, p
        self.state["members"], self.state["requested"] = chosen.size, block.times.size
        self.state["keeps"], self.state["words"] = int(block.keep), records.MEMORY.itemsize // 8
        self.state["budget"] = min(settings.max_steps or STALL, STALL)
        self.state["vector"] = int(bool(vector))
        self.state["projects"] = int(bool(projects and project is not None))
        if vector:
            self.state["rhs"] = rhs.lanes_address
            if project is not None and not self.state["projects"]:
                self.state["project"] = project.lanes_address
        remembered = [[a for owner in owners(own) for a in owner.memories()] for own in programs]
        self.state["own"] = len(remembered[0])
        self.starts = [[a.copy() for a in arrays] for arrays in remembered]
        pieces = [
            [(address_of(a), address_of(b), a.size) for a, b in zip(arrays, starts, strict=True)]
            for arrays, starts in zip(remembered, self.starts, strict=True)
        ]
        self._hold(own_pieces=np.array(pieces, dtype=np.int64).reshape(LANES, -1, 3))
        templates = np.concatenate([lane.array for lane in self.lanes])
        self._hold(
            templates=templates,
            records=templates.copy(),
            member=np.full(LANES, -1, dtype=np.int64),
            t_new=np.zeros(LANES),
            h=np.zeros(LANES),
            time=np.zeros(LANES),
            proposed=np.zeros(LANES),
            clipped=np.zeros(LANES, dtype=np.int64),
            good=np.zeros(LANES, dtype=np.int64),
            x=np.zeros((1 + n + p, LANES)),
            y=np.zeros((n, LANES)),
            y_new=np.zeros((n, LANES)),
            k=np.zeros((rows, width, LANES)),
            error=np.zeros((n, LANES)),
            sums=np.zeros((4, LANES)),
            weights=np.zeros((4, LANES)),
            starts=block.starts[chosen],
            parameters=held,
            **self.found,
        )
        with announce_compilation("the integrator"):
            self.loop = load_members_loop()

    def _lane(self, programs: MotionPrograms, settings: Settings, block: _Block, held: Any) -> LoopMemory:
        """The memory of one lane, as of a motion alone that has been asked for the times of the block."""
        problem, times = block.problem, block.times
        events = () if programs.events is None else programs.events.items
        n = block.starts.shape[1]
        width = max(n, programs.rhs.program.output_count) if isinstance(programs.rhs, Kernel) else n
        start = Start(block.starts[0].copy(), np.array(held), float(times[0]), float(times[-1]), times, width)
        addresses = program_addresses(programs, start)
        _, addresses["watch"] = load_loop(settings.method, bool(events))
        memory = LoopMemory(start, settings, tuple(events), addresses)
        memory.state["t_end"] = start.t1
        if settings.method != AUTO:  # what is found could only be said
            memory.state["stiff_due"] = NEVER
        memory.state["project_error"] = int(programs.project_error and addresses["project"] != 0)
        if len(problem.modes) > 1:
            raise InputError("members of an ensemble have one mode")
        return memory

    def _hold(self, **arrays: Any) -> None:
        for name, array in arrays.items():
            assert array.flags.c_contiguous
            self.arrays[name] = array
            self.state[name] = address_of(array)

    def collect(self) -> None:
        """Give what came of the members to the block; those that the loop did not settle are left to it."""
        block, chosen = self.block, self.chosen
        if self.found is not block.found:
            for name, array in self.found.items():
                if name != "out_y" or block.keep:
                    block.found[name][chosen] = array
        codes = self.found["reason"]
        settled = np.isin(codes, list(_SETTLED)) & ~np.any(self.found["missed"] > 0, axis=1)
        block.unsettled[chosen[settled]] = False
        block.found["reason"][chosen[settled]] = [_SETTLED[c] for c in codes[settled].tolist()]
        if block.keep:
            for i, stored in zip(chosen.tolist(), self.found["stored"].tolist(), strict=True):
                block.found["out_y"][i, stored:] = np.nan


def _rows(array: Any, chosen: Any, keep: bool, name: str) -> Any:
    """The rows of an array of members that are chosen, or what lanes write over."""
    return array[chosen] if name != "out_y" or keep else array


def _compares(program: Any) -> bool:
    """Whether a program reads t and compares."""
    reads_time = any(len(g) for g in program.inputs if g.name == "t")
    return reads_time and any(row.op in COMPARISONS for row in program.rows)


__all__ = ["ENDS", "Members", "run_members"]
