"""A motion to be continued elsewhere: its memory and all code that it runs, for WebAssembly.

In comes a problem and a start, out goes a `LiveMotion`: modules, and an image of the memory of a run in which every
address of this process has become one of the image, and every address of a program its place in the table of functions.
The image is that of a native run at its start, so nothing about it is written down a second time.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backends import Kernel
from ..backends.wasm import FLAT, WasmModule, compile_wasm
from ..errors import InputError
from ..graph import Program
from .discontinuities import time_changes
from .integrate import prepare_run
from .memory import MemoryPiece
from .notice import announce_compilation
from .problem import Mode, MotionProblem, motion_programs
from .routine import Routine, address_of
from .settings import STEPPING, Settings
from .solution import Array
from .start import check_start
from .stepping import SteppingRun

STACK = 2**20
"""Bytes of stack for compiled code, from the address 0 on; the largest program of the built-in models takes 31 kB."""

PAGE = 2**16
"""Bytes of a page of WebAssembly's memory."""

LARGEST = 2**31
"""Bytes of memory that every browser gives to a module."""

LONGEST = 1e9
"""A live motion has no end, and this many seconds are none."""

READ = ("t", "fresh", "stored", "crossings", "stopped_by", "transitions", "transition_fault", "not_a_number", "steps")
READ += ("transition", "transition_memory")
"""Numbers of the record of the loop that whoever runs it reads or sets."""


@dataclass(frozen=True, slots=True)
class LiveCode:
    """A module with the function that it exports and its place in the table, which is its address."""

    name: str
    module: WasmModule = field(repr=False)
    export: str
    slot: int


@dataclass(frozen=True, slots=True)
class LiveMarks:
    """What computes velocities and forces of constraints (`formulation.marks_program`), by its place in the table, and
    what computes the reactions of all rows, 0 for nothing. `mirrored` are (from, to, bytes) to be copied before: the
    mode, since reactions have memory of their own and leave no trace in the motion. `ground` computes what the ground
    does to wheels (`formulation.wheel_marks`), 0 for nothing, and `rates` the rates of the state that it reads, 0 where
    it reads none."""

    slot: int
    reactions: int = 0
    mirrored: tuple[tuple[int, int, int], ...] = ()
    ground: int = 0
    rates: int = 0


@dataclass(frozen=True, slots=True)
class LawPrograms:
    """A problem under a control law, and what the ground does to wheels under it (`formulation.wheel_marks`)."""

    problem: MotionProblem
    ground: Kernel | None = None


@dataclass(frozen=True, slots=True)
class LiveMotion:
    """All that a motion needs to go on in WebAssembly.

    `image` goes to the address `image_at` of a memory of `pages`, which is zero from its end to `data_at`, where
    modules have data of their own; the stack begins at `image_at` and grows downward. `places` are addresses by name:
    of the record of the loop, of numbers in it, of the coupler and its numbers, of the state, the efforts and the
    parameters, of what the scene is written to. `elements` are the constraints that come and go. Steps are `step` (s)
    long. `laws` are other control laws by name, each with the codes that take the places of others under it. `program`
    is the one that the motion consists of. `stepping` says that contacts are treated by time stepping.
    """

    codes: tuple[LiveCode, ...]
    image: bytes = field(repr=False)
    image_at: int
    data_at: int
    pages: int
    places: Mapping[str, int]
    step: float
    program: Program
    elements: tuple[str, ...] = ()
    marks: LiveMarks | None = None
    laws: tuple[tuple[str, tuple[LiveCode, ...]], ...] = ()
    stepping: bool = False


def _bytes_of(array: Any) -> Any:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class _Image:
    """Arrays of this process, copied one after another, with addresses that hold in the copy."""

    def __init__(self, functions: Mapping[int, Callable[[int], WasmModule]], names: Mapping[int, str]):
        self._functions, self._names = functions, names
        self._pieces: list[MemoryPiece] = []
        self._slots: dict[int, int] = {}
        self._starts: list[int] = []
        self._empty: set[int] = set()
        self._known: list[tuple[int, int, int]] = []
        self.codes: list[LiveCode] = []
        self.end = STACK

    def add(self, pieces: Iterator[MemoryPiece]) -> None:
        self._pieces += pieces

    def lay_out(self) -> None:
        """Give each array its place: first those that hold anything, so that the rest need not be kept."""
        self._empty = {address_of(p.array) for p in self._pieces if not p.array.nbytes}
        held = {address_of(p.array): p for p in self._pieces if p.array.nbytes}
        self._pieces = sorted(held.values(), key=lambda p: not _bytes_of(p.array).any())
        for piece in self._pieces:
            self._known.append((address_of(piece.array), piece.array.nbytes, self.end))
            self.end += -(-piece.array.nbytes // 16) * 16
        self._known.sort()
        self._starts = [start for start, _, _ in self._known]

    def place(self, address: int) -> int:
        """Where what is at an address of this process is in the copy."""
        if address == 0:
            return 0
        if address in self._functions:
            return self._slot(address)
        found = bisect.bisect_right(self._starts, address) - 1
        if found >= 0:
            start, size, at = self._known[found]
            if address <= start + size:
                return at + address - start
        if address in self._empty:
            return 0
        raise AssertionError(f"the memory of a run names {address:#x}, which is none of its arrays or programs")

    def _slot(self, address: int) -> int:
        if address not in self._slots:
            slot = self._slots[address] = len(self._slots) + 1  # 0 is no function
            module = self._functions[address](self.end)
            self.end += -(-module.data_size // 16) * 16
            self.codes.append(LiveCode(self._names[address], module, module.exports[0], slot))
        return self._slots[address]

    @property
    def function_addresses(self) -> frozenset[int]:
        """Addresses, in this process, of the functions that are named in it."""
        return frozenset(self._slots)

    def content(self) -> bytes:
        """The copy, from STACK on, without the zeros at its end."""
        laid = sorted(self._known, key=lambda known: known[2])
        by_start = {address_of(p.array): p for p in self._pieces}
        made = bytearray()
        for start, _, at in laid:
            piece = by_start[start]
            words = _bytes_of(piece.array)
            if not words.any():
                continue  # all that is zero comes last
            words = words.copy()
            if piece.addresses:
                numbers = words.view(np.int64)
                for i in piece.addresses:
                    numbers[i] = self.place(int(numbers[i]))
            made += bytes(at - STACK - len(made)) + words.tobytes()
        return bytes(made).rstrip(b"\0")


def live_motion(
    moved: LawPrograms,
    start: Array,
    scene: Kernel,
    *,
    step: float,
    frequency: float,
    marks: Kernel | None = None,
    laws: Mapping[str, LawPrograms] | None = None,
) -> LiveMotion:
    """The motion of a problem of one mode, `moved` under a control law or none, from the state `start` = [q, u, work]
    at t = 0, by steps of one length `step` (s): of a Runge–Kutta method, or of time stepping where the problem asks for
    it. `scene` is the program of `formulation.scene_program`; a virtual coupler has the angular `frequency` (rad/s) and
    is critically damped. `marks` is the program of arrows, `laws` the same problem under other control laws."""
    problem, ground = moved.problem, moved.ground
    mode = problem.modes[0]
    _refuse(problem)
    with announce_compilation("the motion for the page"):
        from .compiled.portable import loop_module
    stepping = mode.changing is not None and mode.changing.stepping
    settings = Settings(STEPPING if stepping else "rk4", 1e-8, 1e-10, step, np.inf, None, None, None)
    programs = motion_programs(problem, 0)
    given = np.concatenate([problem.tau, problem.parameters])
    run = prepare_run(programs, check_start(programs.rhs, start, (0.0, LONGEST), given, 0), settings)
    run.memory.keep_few()  # else it would have room for the longest of motions, which goes along
    fault = run.begin()
    if fault:
        raise InputError(f"the motion cannot start: {fault}")
    if isinstance(run.changing, SteppingRun):
        run.changing.forget_impulses()
    functions, names = _functions(mode, scene, marks, ground)
    image = _Image(functions, names)
    image.add(run.memory.pieces())
    for owner in run.owners:
        image.add(owner.pieces())
    coupler, arrays = _coupler(problem, run.memory, scene, frequency)
    image.add(iter([MemoryPiece.of_record(coupler, _coupler_addresses()), *(MemoryPiece(a) for a in arrays.values())]))
    arrows = None if marks is None else _Arrows(problem, run, marks, ground)
    if arrows is not None:
        image.add(arrows.pieces())
    image.lay_out()
    data_at = image.end
    content = image.content()
    drawn = None if arrows is None else arrows.marks(image)
    others = tuple((name, _replacements(moved, other, image)) for name, other in (laws or {}).items())
    loop = "steps" if stepping else "touch"
    touch = loop_module(loop, image.end)
    codes = (LiveCode(loop, touch, loop, 0), *image.codes)
    places = _places(problem, run, coupler, arrays, image) | ({} if arrows is None else arrows.places(image))
    pages = -(-(image.end + touch.data_size) // PAGE)
    _refuse_memory(pages * PAGE)
    elements = () if mode.changing is None else tuple(e.name for e in mode.changing.elements)
    whole = _law_kernels(mode)[0].program
    return LiveMotion(codes, content, STACK, data_at, pages, places, step, whole, elements, drawn, others, stepping)


def _refuse_memory(size: int) -> None:
    """Refuse a motion that works in more memory (bytes) than there is."""
    if size > LARGEST:
        raise InputError(
            f"the motion would work in {size / 1e9:.1f} GB of memory, and a page has {LARGEST / 1e9:.1f} GB:"
            " there are too many constraints that come and go\n    fix: show a recorded motion of it, run.page(…)"
        )


class _Arrows:
    """What arrows are computed in, beside the motion, in memory of its own: what the program of the ground reads, a
    copy of the inputs, pulls at platforms, reactions of all rows and rates of the state, side by side."""

    def __init__(self, problem: MotionProblem, run: Any, marks: Kernel, ground: Kernel | None):
        mode, self._marks, self._ground = problem.modes[0], marks, ground
        self._written = np.zeros(marks.program.output_count)
        self._wheels = np.zeros(0 if ground is None else ground.program.output_count)
        self._given = np.array([1, address_of(run.memory.arrays["x"])], dtype=np.int64)
        self._routine: Routine | None = None
        self._rates: Routine | None = None
        self._mirrored: list[tuple[int, int, int]] = []
        self._x = address_of(run.memory.arrays["x"])
        self._mean_reactions = 0
        if isinstance(run.changing, SteppingRun):
            self._mean_reactions = run.changing.reactions_at
        elif run.changing is not None:
            assert mode.changing is not None
            twin = mode.changing.run()
            self._routine, self._rates = twin.reactions, twin.rates
            pairs = zip(run.changing.mode_memory(), twin.mode_memory(), strict=True)
            self._mirrored = [(start, end, size) for (start, size), (end, _) in pairs]
        elif mode.embedding is not None:
            self._routine = mode.embedding.workspace().sampled_multipliers
        inputs = problem.layout.inputs.size
        groups = {} if ground is None else {g.name: len(g) for g in ground.program.inputs}
        pulls = groups.get("parameters", 0) - problem.layout.inputs["parameters"].size if groups else 0
        rows = 0 if self._routine is None else self._routine.outputs
        sizes = (inputs, pulls, rows, 0 if self._rates is None else self._rates.outputs)
        self._pulls, self._reactions, self._rates_at = (8 * int(n) for n in np.cumsum(sizes)[:3])
        self._told = np.zeros(sum(sizes))

    def pieces(self) -> Iterator[MemoryPiece]:
        yield MemoryPiece(self._written)
        yield MemoryPiece(self._wheels)
        yield MemoryPiece(self._told)
        yield MemoryPiece(self._given, (1,))
        if self._routine is not None:
            yield from self._routine.owner.pieces()

    def marks(self, image: _Image) -> LiveMarks:
        """Where it is in the image, whose content has been made."""
        mirrored = tuple((image.place(start), image.place(end), size) for start, end, size in self._mirrored)
        programs = (self._marks, self._routine, self._ground, self._rates if self._ground is not None else None)
        slot, reactions, ground, rates = (0 if p is None else image.place(p.address) for p in programs)
        return LiveMarks(slot, reactions, mirrored, ground, rates)

    def places(self, image: _Image) -> dict[str, int]:
        told = image.place(address_of(self._told))
        found = {"marks": image.place(address_of(self._written)), "told": told, "reactions": told + self._reactions}
        found |= {"told.pulls": told + self._pulls, "told.rates": told + self._rates_at}
        if self._ground is not None:
            found["wheels"] = image.place(address_of(self._wheels))
        if self._routine is not None:
            source = self._x if self._mirrored else address_of(self._given)
            found |= {"reactions.source": image.place(source), "reactions.memory": image.place(self._routine.memory)}
        if self._rates is not None:
            found["rates.memory"] = image.place(self._rates.memory)
        if self._mean_reactions:
            found["reactions"] = image.place(self._mean_reactions)
        return found


def _law_kernels(mode: Mode) -> list[Kernel]:
    """The programs of a mode that a control law is part of, the one of the motion first."""
    found = [mode.motion, None if mode.embedding is None else mode.embedding.terms, mode.watch]
    if mode.changing is not None:
        c = mode.changing
        found = [c.terms, c.conditions, c.laws, mode.watch, *(k for _, *two in c.table for k in two)]
    return [k for k in found if k is not None]


def _replacements(moved: LawPrograms, other: LawPrograms, image: _Image) -> tuple[LiveCode, ...]:
    """The codes that take the places of others under another control law."""
    found: list[LiveCode] = []
    ours, theirs = (
        [*_law_kernels(p.problem.modes[0]), *([] if p.ground is None else [p.ground])] for p in (moved, other)
    )
    if len(ours) != len(theirs):
        raise InputError("a control law makes other programs of the motion, and a page cannot change between them")
    for ours_now, theirs_now in zip(ours, theirs, strict=True):
        if str(ours_now.program) != str(theirs_now.program) and ours_now.address in image.function_addresses:
            module = compile_wasm(theirs_now.program)
            found.append(LiveCode(theirs_now.program.name, module, FLAT, image.place(ours_now.address)))
    return tuple(found)


def _refuse(problem: MotionProblem) -> None:
    """Refuse what does not run there yet."""
    mode = problem.modes[0]
    if mode.efforts is not None or (mode.motion is not None and mode.motion.backend != "llvm"):
        raise InputError(
            "the model is too large to be written out as one program, and a page needs that"
            "\n    fix: show a recorded motion of it, run.view()"
        )


def _functions(
    mode: Mode, scene: Kernel, marks: Kernel | None, ground: Kernel | None
) -> tuple[dict[int, Callable[[int], WasmModule]], dict[int, str]]:
    """What makes the module of every function that memory may name, and what it is called, by its address here."""
    kernels: list[Kernel | None] = [mode.motion, mode.unit, mode.watch, scene, marks, ground]
    loops: dict[str, Any] = {}
    from .compiled.portable import loop_module

    stepping = mode.changing is not None and mode.changing.stepping
    if mode.watch is not None or (mode.changing is not None and not stepping):
        from .compiled.events import watch

        loops["watch"] = watch
    if mode.embedding is not None:
        from .compiled.embedded import embedding_program

        kernels += [mode.embedding.terms, mode.embedding.places, mode.embedding.unit]
        loops["embedding"] = embedding_program
    if mode.watches_multipliers or (marks is not None and mode.embedding is not None and mode.changing is None):
        from .compiled.multipliers import multiplier_program

        loops["multipliers"] = multiplier_program
    if mode.changing is not None:
        from .compiled.contact_programs import contact_program

        c = mode.changing
        kernels += [c.terms, c.laws, c.places, c.unit, c.conditions, c.coordinate_rates]
        kernels += [k for _, *two in c.table for k in two]
        loops["contacts"] = contact_program
    if mode.changing is not None and not stepping:
        from .compiled.changing import changing_program
        from .compiled.transitions import transition_program

        loops |= {"changing": changing_program, "transition": transition_program}
    found: dict[int, Callable[[int], WasmModule]] = {}
    names: dict[int, str] = {}
    for kernel in kernels:
        if kernel is not None:
            found[kernel.address] = lambda _, kernel=kernel: compile_wasm(kernel.program)
            names[kernel.address] = kernel.program.name
    for name, code in loops.items():
        found[code.address] = lambda at, name=name: loop_module(name, at)
        names[code.address] = name
    return found, names


def _coupler(problem: MotionProblem, memory: Any, scene: Kernel, frequency: float) -> tuple[Any, dict[str, Any]]:
    """The record of a coupler that holds nothing yet, and its arrays."""
    from .compiled.coupler import MEMORY

    layout, mode = problem.layout, problem.modes[0]
    stepping = mode.changing is not None and mode.changing.stepping  # which does not look for such times
    programs = () if stepping else [(p, problem.parameters) for p in mode.programs]
    changes = time_changes(programs, 0.0, LONGEST)
    record = np.zeros(1, dtype=MEMORY)
    n, width = layout.speeds, memory.start.width
    arrays = {
        "places": np.zeros(scene.program.output_count),
        "given": np.array(problem.tau, dtype=np.float64),
        "row": np.zeros((3, n)),
        "rates": np.zeros(width),
        "other": np.zeros(width),
        "changes": np.array(changes, dtype=np.float64).reshape(-1, 2),
    }
    for name, array in arrays.items():
        record[name] = address_of(array)
    record["n"], record["bodies"] = n, scene.program.outputs[0].shape[0]
    record["scene"] = scene.address
    record["tau"] = address_of(memory.arrays["x"]) + 8 * layout.inputs["tau"].start
    record["first"] = 8 * layout.state["u"].start
    record["frequency"], record["damping_ratio"] = frequency, 1.0
    record["ahead"], record["end"] = len(changes), LONGEST
    return record, arrays


def _coupler_addresses() -> tuple[str, ...]:
    return ("scene", "places", "tau", "given", "row", "rates", "other", "changes")


def _places(problem: MotionProblem, run: Any, coupler: Any, arrays: Mapping[str, Any], image: _Image) -> dict[str, int]:
    """Addresses in the image of what whoever runs it reads or sets."""
    layout, memory = problem.layout, run.memory
    loop, own = image.place(address_of(memory.array)), image.place(address_of(coupler))
    found = {"loop": loop, "coupler": own}
    found |= {name: loop + memory.array.dtype.fields[name][1] for name in READ}
    found |= {f"coupler.{name}": own + at for name, (_, at) in ((n, f[:2]) for n, f in coupler.dtype.fields.items())}
    found |= {name: image.place(address_of(memory.arrays[name])) for name in ("y", "out_t", "out_y")}
    found["scene"] = image.place(address_of(arrays["places"]))
    found["given"] = image.place(address_of(arrays["given"]))
    x = image.place(address_of(memory.arrays["x"]))
    found |= {"x": x}
    found |= {name: x + 8 * layout.inputs[name].start for name in ("tau", "parameters")}
    if run.changing is not None:
        found |= {f"changing.{n}": image.place(a) for n, a in run.changing.transition_addresses().items()}
    return found


__all__ = ["FLAT", "LawPrograms", "LiveCode", "LiveMarks", "LiveMotion", "live_motion"]
