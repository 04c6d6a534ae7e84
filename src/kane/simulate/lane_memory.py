"""The memory of the compiled loop of many members (`compiled/member_memory.py`): programs, lanes, and what members are
put in.

Making it takes a millisecond, most of a small block. It is kept for the next block of the same kind: a member that
begins puts back what a lane was before its first one.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ..backends import Kernel
from ..backends.kernel import LANES
from ..errors import InputError
from ..graph import Program
from .compiled import load_members_loop, load_search, records
from .discontinuities import Change
from .integrate import MotionPrograms, owners, program_addresses
from .lane_embedding import goes_in_lanes, lanes_of_embedding
from .lane_modes import has_mode_lanes, lanes_of_modes
from .memory import NEVER, LoopMemory
from .notice import announce_compilation
from .problem import Mode, MotionProblem, motion_programs
from .progress import EARLIEST, STALL
from .routine import LanePrograms, Routine, address_of, aligned_zeros
from .settings import AUTO, IMPLICIT, STEPPING, Settings
from .solution import Array
from .start import Start, memory_of

KINDS = 4
"""Kinds of members whose memory is kept; for large systems it is some megabytes for each thread."""


@contextmanager
def borrow_memory(
    problem: MotionProblem, settings: Settings, times: Array, starts: Array, held: Array, keep: bool
) -> Iterator[LaneMemory]:
    """Memory for members of a problem, with inputs `held` (b, p) behind their states, in which nobody else works
    meanwhile. Work that does not come to its end leaves it to nobody."""
    spare = _spare_memory(_kind(problem, settings, times, keep))
    try:
        memory = spare.pop()
    except IndexError:
        memory = LaneMemory(problem, settings, times, starts[0], held[0], keep)
    yield memory
    memory.forget_members()
    spare.append(memory)


def _kind(problem: MotionProblem, settings: Settings, times: Array, keep: bool) -> tuple[Any, ...]:
    """What the memory of members depends on, but for their number and their numbers."""
    sizes = len(problem.tau), len(problem.parameters)
    how = replace(settings, atol=tuple(np.ravel(settings.atol).tolist()))
    return problem.modes, problem.events, sizes, how, times.tobytes(), keep


@functools.lru_cache(maxsize=KINDS)
def _spare_memory(kind: tuple[Any, ...]) -> deque[LaneMemory]:
    """Memory of a kind in which nobody works."""
    return deque()


class LaneMemory:
    """The record of the loop, `array` as the loop takes it, its arrays, and the programs that lanes call."""

    def __init__(self, problem: MotionProblem, settings: Settings, times: Array, start: Array, held: Array, keep: bool):
        from .compiled.member_memory import LANE_MEMORY

        programs = [motion_programs(problem, 0)]
        in_step = _goes_in_step(problem, settings, programs[0])
        programs += [motion_programs(problem, 0) for _ in range(LANES - 1 if in_step else 0)]
        for own in programs:
            if own.changing is not None:
                own.changing.begin_at(float(times[0]))
        self.settings, self.programs, self.lane_programs = settings, programs, list[Any]()
        self.array = np.zeros(1, dtype=LANE_MEMORY)
        self.state = self.array[0]
        self.arrays: dict[str, Any] = {}
        self.of_members: dict[str, Any] = {}
        self.first = _first_lane(problem, programs[0], settings, times, start, held)
        events = len(problem.events)
        self._set_sizes(requested=times.size, n=start.size, p=held.size, events=events, keeps=int(keep))
        self._hold(member=np.full(LANES, -1, dtype=np.int64), asked=np.zeros(1, dtype=np.int64))
        if in_step:
            self._in_step(problem)
        self._remember()
        self._hold_lanes(events)
        with announce_compilation("the integrator of ensembles"):
            self.loop = load_members_loop(settings.method, in_step)

    def _set_sizes(self, **sizes: int) -> None:
        """Tell the loop how many there are of everything."""
        first, settings = self.programs[0], self.settings
        judged = EARLIEST if settings.step is None else STALL  # fixed steps do not slow down where a motion has a pole
        sizes |= {"words": records.MEMORY.itemsize // 8, "budget": min(settings.max_steps or judged, judged)}
        sizes |= {"width": self.first.start.width, "projects": int(first.project_error and first.project is not None)}
        for name, size in sizes.items():
            self.state[name] = size

    def _hold_lanes(self, events: int) -> None:
        """Hold what lanes work in."""
        n, p, width, first = int(self.state["n"]), int(self.state["p"]), int(self.state["width"]), self.first.arrays
        templates = self._templates()
        self._hold(
            templates=templates.view(np.int64),  # as plain numbers: addresses of records take a hundred times as long
            records=templates.view(np.int64).copy(),
            t_new=aligned_zeros(LANES),
            h=aligned_zeros(LANES),
            time=aligned_zeros(LANES),
            proposed=np.zeros(LANES),
            clipped=np.zeros(LANES, dtype=np.int64),
            coming=np.zeros(LANES, dtype=np.int64),
            x=aligned_zeros(1 + n + p, LANES),
            y=aligned_zeros(n, LANES),
            y_new=aligned_zeros(n, LANES),
            k=aligned_zeros(len(first.get("k", ())), width, LANES),
            dense=aligned_zeros(*first["dense"].shape, LANES),
            g=aligned_zeros(records.EVENT_ROWS, events, LANES),
            side=aligned_zeros(events, LANES),
            misfits=aligned_zeros(records.SAMPLES + 2, LANES),
            error=aligned_zeros(n, LANES),
            sums=aligned_zeros(4, LANES),
        )

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

    def _templates(self) -> Any:
        """The records of all lanes before a member begins."""
        templates, self.lane_arrays = self.first.copies(len(self.programs))
        for lane, own in zip(templates, self.programs, strict=True):
            watched = None if own.events is None else own.events.program
            for name, program in (("rhs", own.rhs), ("project", own.project), ("event", watched)):
                lane[f"{name}_memory"] = memory_of(program)
            if own.changing is not None:
                own.changing.attach(lane)
        return templates

    def _in_step(self, problem: MotionProblem) -> None:
        """Have all lanes computed at once."""
        first = self.programs[0]
        rhs, project, work = first.rhs, first.project, self._work(problem.modes[0])
        if work is not None:
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
            reads = _states_read(watched.program, int(self.state["n"]))
            self.state["read"] = reads.size
            self._hold(reads=reads)

    def _work(self, mode: Mode) -> LanePrograms | None:
        """What computes constraints of all lanes at once; None where they are written out, or there are none."""
        asked, embedding = self.arrays["asked"], mode.embedding
        if mode.changing is not None:
            return lanes_of_modes(mode.changing, [x.changing for x in self.programs if x.changing is not None], asked)
        if embedding is None or not goes_in_lanes(embedding):
            return None
        return lanes_of_embedding(embedding, [x.rhs for x in self.programs], [x.project for x in self.programs], asked)

    def put_members(
        self, starts: Array, held: Array, changes: Sequence[Sequence[Change]], found: Mapping[str, Any]
    ) -> None:
        """Put in members at their starts (b, n), with the inputs `held` (b, p) and the changes in time that each meets;
        what comes of them goes to the arrays `found`."""
        most = max(map(len, changes))
        times = np.full((len(changes), most, 2), np.nan)
        for i, met in enumerate(changes):
            if met:
                times[i, : len(met)] = met
        self.state["members"], self.state["changes"] = len(starts), most
        self.state["next"] = self.state["done"] = 0
        self.arrays["member"][:] = -1
        self.of_members = {"starts": starts, "parameters": held, "change_times": times, **found}
        for name, array in self.of_members.items():
            assert array.flags.c_contiguous
            self.state[name] = address_of(array)

    def forget_members(self) -> None:
        """Let go of what members were put in with."""
        self.of_members = {}

    def _hold(self, **arrays: Any) -> None:
        for name, array in arrays.items():
            assert array.flags.c_contiguous
            self.arrays[name] = array
            self.state[name] = address_of(array)


def _first_lane(
    problem: MotionProblem, programs: MotionPrograms, settings: Settings, times: Array, y0: Array, held: Array
) -> LoopMemory:
    """The memory of a lane, as of a motion alone that has been asked for the times of the block."""
    if len(problem.modes) > 1:
        raise InputError("members of an ensemble have one mode")
    events = () if programs.events is None else programs.events.items
    width = max(y0.size, programs.rhs.program.output_count) if isinstance(programs.rhs, Kernel) else y0.size
    start = Start(y0.copy(), held.copy(), float(times[0]), float(times[-1]), times, width)
    addresses = program_addresses(programs, start)
    with announce_compilation("the search for events"):
        addresses["watch"] = load_search(bool(events))
    memory = LoopMemory(start, settings, tuple(events), addresses)
    memory.state["t_end"] = start.t1
    if programs.changing is not None:
        programs.changing.attach(memory.state)
    if settings.method != AUTO:  # what is found could only be said
        memory.state["stiff_due"] = NEVER
    memory.state["project_error"] = int(programs.project_error and addresses["project"] != 0)
    return memory


def _goes_in_step(problem: MotionProblem, settings: Settings, programs: MotionPrograms) -> bool:
    """Whether there are programs that compute all lanes at once, and a loop that asks for that."""
    mode = problem.modes[0]
    if settings.method in (IMPLICIT, STEPPING):
        return False
    if mode.changing is not None:
        embedded = has_mode_lanes(mode.changing)
    else:
        embedded = mode.embedding is not None and goes_in_lanes(mode.embedding)
    used = [x for x in (programs.rhs, programs.project) if x is not None]
    return all(bool(x.lanes_address) if isinstance(x, Kernel) else embedded for x in used)


def _states_read(program: Program, states: int) -> Any:
    """The states that a program over [t, y, p] reads."""
    used = {slot for row in program.rows for slot in row.args} | {slot for o in program.outputs for slot in o.slots}
    return np.array([i for i in range(states) if 1 + i in used], dtype=np.int64)


__all__ = ["LaneMemory", "borrow_memory"]
