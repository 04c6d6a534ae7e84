"""Many motions of one problem: members that differ in their start and in their free parameters.

Members of a block run in a compiled loop, LANES at a time where programs can be computed so (`compiled/members.py`),
one after the other where they cannot, where constraints come and go and with the implicit method
(`compiled/series.py`). Those that turn stiff are run again (`stiff_members`). What none of these can settle, a member
that fails, stalls or ends in a change in time, is run alone. So every member has the bits of its run alone, whatever
runs beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import Kernel
from ..backends.kernel import LANES
from ..errors import InputError, KaneError
from ..graph import Program
from .compiled import load_members_loop, load_search, records
from .discontinuities import COMPARISONS, Change, time_changes
from .integrate import MotionPrograms, owners, program_addresses
from .lane_embedding import LaneWorkspace, goes_in_lanes
from .memory import NEVER, LoopMemory
from .notice import announce_compilation
from .problem import MotionProblem, motion_programs, simulate
from .progress import EARLIEST, STALL
from .routine import Routine, address_of, aligned_zeros
from .settings import AUTO, IMPLICIT, METHODS, STEPPING, Settings
from .solution import REASONS, Array, Solution
from .start import Start, memory_of
from .stiff_members import StiffMembers

Wholes = NDArray[np.int64]

CHUNK = 2048
"""Attempted steps of all lanes, or of members one after the other, between looks at the keyboard."""

ENDS = (*REASONS, "refused", "lost")
"""Why a member ended, by the number that is kept of it: as a motion does, since it could not begin, or since whoever
computed it did."""

_WELL = ("end", "event")
"""Ends of which nothing needs to be said."""

_SETTLED = {code: ENDS.index(why) for code, why in zip((records.REACHED, records.EVENT), _WELL, strict=True)}


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
        lanes = _Lanes(self, chosen, [changes[i] for i in chosen])
        while not lanes.loop(lanes.memory, CHUNK):
            if look is not None:
                look(int(lanes.state["done"]))
        lanes.collect()
        if lanes.stiff.size:
            self._run_stiff(lanes, {int(i): changes[i] for i in lanes.stiff})

    def _run_stiff(self, lanes: _Lanes, changes: dict[int, tuple[Change, ...]]) -> None:
        """Run the members that the loop found to be stiff, each with the changes in time that it meets."""
        again = StiffMembers(self.problem, lanes.first.start, lanes.settings)
        for i, met in changes.items():
            reason = again.run(self.starts[i], np.concatenate([self.problem.tau, self.parameters[i]]), met)
            if reason in _WELL:
                self.found["reason"][i], self.unsettled[i] = ENDS.index(reason), False
                again.keep(self.found, i, self.keep)

    def _changes(self) -> list[tuple[Change, ...]]:
        """The changes in time that each member meets; time steps go over them."""
        stepping = self.settings.get("method") == STEPPING
        programs = [] if stepping else [p for p in self.problem.modes[0].programs if _compares(p)]
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


class _Lanes:
    """The memory of the compiled loop for some members of a block."""

    def __init__(self, block: _Block, chosen: Any, changes: Sequence[Sequence[Change]]):
        from .compiled.member_memory import LANE_MEMORY

        self.block, self.chosen = block, chosen
        whole = chosen.size == len(block.starts)
        self.found = block.found if whole else {k: _rows(v, chosen, block.keep, k) for k, v in block.found.items()}
        problem, n, events = block.problem, block.starts.shape[1], len(block.problem.events)
        programs = [motion_programs(problem, 0)]
        in_step = _goes_in_step(problem, block.settings, programs[0])
        programs += [motion_programs(problem, 0) for _ in range(LANES - 1 if in_step else 0)]
        held = np.empty((chosen.size, len(problem.tau) + block.parameters.shape[1]))
        held[:, : len(problem.tau)], held[:, len(problem.tau) :] = problem.tau, block.parameters[chosen]
        self.memory = np.zeros(1, dtype=LANE_MEMORY)
        self.state = self.memory[0]
        self.arrays: dict[str, Any] = {}
        usual: dict[str, Any] = {"method": AUTO, "rtol": 1e-8, "atol": 1e-10, "step": None, "max_step": np.inf}
        settings = Settings(**{**usual, "first_step": None, "max_steps": None, "chunk": None, **block.settings})
        self.settings, self.first = settings, self._first_lane(programs[0], settings, held[0])
        self.programs, self.lane_programs = programs, list[Any]()
        rows, p, width = len(self.first.arrays.get("k", ())), held.shape[1], self.first.start.width
        self._set_sizes(settings, rows=block.times.size, n=n, width=width, p=p)
        member = np.full(LANES, -1, dtype=np.int64)
        if in_step:
            self._in_step(member)
        self._remember()
        self._plan_changes(changes)
        templates = self._templates()
        self._hold(
            templates=templates.view(np.int64),  # as plain numbers: addresses of records take a hundred times as long
            records=templates.view(np.int64).copy(),
            member=member,
            t_new=aligned_zeros(LANES),
            h=aligned_zeros(LANES),
            time=aligned_zeros(LANES),
            proposed=np.zeros(LANES),
            clipped=np.zeros(LANES, dtype=np.int64),
            x=aligned_zeros(1 + n + p, LANES),
            y=aligned_zeros(n, LANES),
            y_new=aligned_zeros(n, LANES),
            k=aligned_zeros(rows, width, LANES),
            dense=aligned_zeros(*self.first.arrays["dense"].shape, LANES),
            g=aligned_zeros(records.EVENT_ROWS, events, LANES),
            side=aligned_zeros(events, LANES),
            misfits=aligned_zeros(records.SAMPLES + 2, LANES),
            error=aligned_zeros(n, LANES),
            sums=aligned_zeros(4, LANES),
            starts=block.starts[chosen],
            parameters=held,
            **self.found,
        )
        with announce_compilation("the integrator"):
            self.loop = load_members_loop(settings.method, in_step)

    def _set_sizes(self, settings: Settings, *, rows: int, **sizes: int) -> None:
        """Tell the loop how many there are of everything."""
        first = self.programs[0]
        sizes |= {
            "members": self.chosen.size,
            "events": len(self.block.problem.events),
            "requested": rows,
            "keeps": int(self.block.keep),
        }
        judged = EARLIEST if settings.step is None else STALL  # fixed steps do not slow down where a motion has a pole
        sizes |= {"words": records.MEMORY.itemsize // 8, "budget": min(settings.max_steps or judged, judged)}
        sizes["projects"] = int(first.project_error and first.project is not None)
        for name, size in sizes.items():
            self.state[name] = size

    def _remember(self) -> None:
        """Keep what programs of a lane remember from one call to the next, as it is before a member begins."""
        remembered = [[a for owner in owners(own) for a in owner.memories()] for own in self.programs]
        self.state["own"] = len(remembered[0])
        self.fresh = [[a.copy() for a in arrays] for arrays in remembered]
        pieces = [
            [(address_of(a), address_of(b), a.nbytes // 8) for a, b in zip(arrays, fresh, strict=True)]
            for arrays, fresh in zip(remembered, self.fresh, strict=True)
        ]
        self._hold(own_pieces=np.array(pieces, dtype=np.int64).reshape(len(pieces), -1, 3))

    def _plan_changes(self, changes: Sequence[Sequence[Change]]) -> None:
        """Tell the loop which changes in time each member meets."""
        most = max(map(len, changes))
        times = np.full((len(changes), most, 2), np.nan)
        for i, met in enumerate(changes):
            if met:
                times[i, : len(met)] = met
        self.state["changes"] = most
        self._hold(change_times=times, coming=np.zeros(LANES, dtype=np.int64))

    def _templates(self) -> Any:
        """The records of all lanes before a member begins."""
        templates, self.lane_arrays = self.first.copies(len(self.programs))
        for lane, own in zip(templates, self.programs, strict=True):
            watched = None if own.events is None else own.events.program
            for name, program in (("rhs", own.rhs), ("project", own.project), ("event", watched)):
                lane[f"{name}_memory"] = memory_of(program)
        return templates

    def _in_step(self, member: Any) -> None:
        """Have all lanes computed at once."""
        first, embedding = self.programs[0], self.block.problem.modes[0].embedding
        rhs, project = first.rhs, first.project
        if embedding is not None and goes_in_lanes(embedding):
            work = LaneWorkspace(embedding, [x.rhs for x in self.programs], [x.project for x in self.programs], member)
            rhs = work.rates if isinstance(rhs, Routine) else rhs
            project = work.projection if isinstance(project, Routine) else project
        watched = None if first.events is None else first.events.program
        if not isinstance(watched, Kernel) or not watched.lanes_address:
            watched = None
        for name, program in (("rhs", rhs), ("project", project), ("event", watched)):
            if program is not None:
                address = program.lanes_address if isinstance(program, Kernel) else program.address
                field = "event_program" if name == "event" else name
                self.state[field], self.state[f"{name}_memory"] = address, memory_of(program)
                self.lane_programs.append(program)
        if watched is not None:
            reads = _states_read(watched.program, self.block.starts.shape[1])
            self.state["read"] = reads.size
            self._hold(reads=reads)

    def _first_lane(self, programs: MotionPrograms, settings: Settings, held: Any) -> LoopMemory:
        """The memory of a lane, as of a motion alone that has been asked for the times of the block."""
        block = self.block
        if len(block.problem.modes) > 1:
            raise InputError("members of an ensemble have one mode")
        times, n = block.times, block.starts.shape[1]
        events = () if programs.events is None else programs.events.items
        width = max(n, programs.rhs.program.output_count) if isinstance(programs.rhs, Kernel) else n
        start = Start(block.starts[0].copy(), np.array(held), float(times[0]), float(times[-1]), times, width)
        addresses = program_addresses(programs, start)
        with announce_compilation("the integrator"):
            addresses["watch"] = load_search(bool(events))
        memory = LoopMemory(start, settings, tuple(events), addresses)
        memory.state["t_end"] = start.t1
        if programs.changing is not None:
            programs.changing.attach(memory.state)
            programs.changing.begin_at(start.t0)
        if settings.method != AUTO:  # what is found could only be said
            memory.state["stiff_due"] = NEVER
        memory.state["project_error"] = int(programs.project_error and addresses["project"] != 0)
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
        turns = block.problem.modes[0].changing is None and self.settings.method == AUTO
        self.stiff = chosen[codes == records.STIFF] if turns else chosen[:0]
        settled = np.isin(codes, list(_SETTLED)) & ~np.any(self.found["missed"] > 0, axis=1)
        block.unsettled[chosen[settled]] = False
        block.found["reason"][chosen[settled]] = [_SETTLED[c] for c in codes[settled].tolist()]
        if block.keep:
            for i, stored in zip(chosen.tolist(), self.found["stored"].tolist(), strict=True):
                block.found["out_y"][i, stored:] = np.nan


def _goes_in_step(problem: MotionProblem, settings: dict[str, Any], programs: MotionPrograms) -> bool:
    """Whether there are programs that compute all lanes at once, and a loop that asks for that."""
    mode = problem.modes[0]
    if mode.changing is not None or settings.get("method", AUTO) == IMPLICIT:
        return False
    embedded = mode.embedding is not None and goes_in_lanes(mode.embedding)
    used = [x for x in (programs.rhs, programs.project) if x is not None]
    return all(bool(x.lanes_address) if isinstance(x, Kernel) else embedded for x in used)


def _states_read(program: Program, states: int) -> Wholes:
    """The states that a program over [t, y, p] reads."""
    used = {slot for row in program.rows for slot in row.args} | {slot for o in program.outputs for slot in o.slots}
    return np.array([i for i in range(states) if 1 + i in used], dtype=np.int64)


def _rows(array: Any, chosen: Any, keep: bool, name: str) -> Any:
    """The rows of an array of members that are chosen, or what lanes write over."""
    return array[chosen] if name != "out_y" or keep else array


def _compares(program: Any) -> bool:
    """Whether a program reads t and compares."""
    reads_time = any(len(g) for g in program.inputs if g.name == "t")
    return reads_time and any(row.op in COMPARISONS for row in program.rows)


__all__ = ["ENDS", "Members", "run_members"]
