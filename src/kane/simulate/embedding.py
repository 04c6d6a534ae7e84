"""Constraints embedded at run time: from the terms of a system to programs that an integrator can call.

In come compiled programs that give mass matrix, efforts and constraint rows of a system with all its speeds; out come
flat programs that give the rates of the state, its projection onto the constraints, and the multipliers of the rows.
Independent speeds are chosen anew at every evaluation, by a pivoted QR of the rows [GIL03, Eqs. 44-45], so that no
choice made at the start can become a bad one, and rows that follow from others are recognised wherever that is so.

An `Embedding` never changes; what is worked in is a `Workspace`, which every run and every question makes for itself.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..backends import Kernel
from ..constraints.diagnosis import ConstraintPrograms, Names, explain_stop, find_massless
from ..errors import InputError, ModelError, Problem
from ..graph.layout import Layout
from .memory import MemoryPiece, put_back
from .notice import announce_compilation
from .routine import Routine, address_of

Array = np.ndarray[Any, np.dtype[np.float64]]


class Accelerations(NamedTuple):
    """Of k states: u̇ (k, n), which speeds were taken as independent (k, n), nearness to a singular position (k,) and
    the rank of the rows (k,).

    The nearness is |R_rr| / |R_11| of the pivoted QR of the rows: 1 for rows at right angles, 0 where constraints that
    are independent elsewhere depend on each other.
    """

    udot: Array
    independent: Any
    nearness: Array
    rank: Any


@dataclass(frozen=True, slots=True)
class Embedding:
    """The motion of a constrained system, compiled.

    All programs read [t, q, u, work, tau, parameters] (`Layout`):

    - `terms` and `places` write what `Layout.terms` and `Layout.places` say; `places` is None if no row has a position;
    - `unit` writes the state [q, u, work] with unit quaternions; None if there are none.

    Rates are [q̇, u̇, power]; u̇ is nan where the constrained mass matrix is singular. Projection moves a state to
    where phi = 0 and A u + c = 0, by steps that are least in the metric of M; work stays. With `baumgarte` = (damping
    ratio, frequency in rad/s) the accelerations also pull errors of the constraints back, b − 2 ζ ω rate − ω² phi.
    `rank` is the rank that the rows have in general, to which nearness to a singular position is referred; as many as
    rows and speeds allow if None. Rows that compare by length, those of one constraint in one unit, have the same name
    in `groups`: the shorter a row is relative to the longest of its group, the less it determines; without groups all
    rows compare. A group of rows that are rounding errors relative to their `sizes`, what they would be if nothing
    cancelled, has no effect. Where rows are redundant λ is what makes Σ (weight λ)² least; all `weights` are 1 if None.
    With `driven` the power of the reactions, which is not zero where c is not, is added to that of the loads. `names`
    are those of rows and speeds, for messages about what stops a motion.
    """

    layout: Layout
    terms: Kernel
    places: Kernel | None = None
    unit: Kernel | None = None
    baumgarte: tuple[float, float] | None = None
    rank: int | None = None
    groups: tuple[Hashable, ...] | None = None
    weights: tuple[float, ...] | None = None
    sizes: tuple[float, ...] | None = None
    driven: bool = False
    names: Names | None = None
    plan: WorkPlan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_programs(self)
        programs = {"terms": self.terms, "places": self.places, "unit": self.unit}
        plan = _plan(self.layout, programs, self.groups, self.weights, self.sizes)
        damping, stiffness = _gains(self.baumgarte)
        plan.records["damping"], plan.records["stiffness"] = damping, stiffness
        plan.records["stabilised"], plan.records["driven"] = int(self.baumgarte is not None), int(self.driven)
        if self.rank is not None:
            plan.records["generic"] = self.rank
        object.__setattr__(self, "plan", plan)

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels as what it was made of; addresses are found anew on arrival."""
        given = (self.terms, self.places, self.unit, self.baumgarte, self.rank, self.groups, self.weights, self.sizes)
        return Embedding, (self.layout, *given, self.driven, self.names)

    def workspace(self, watch: Kernel | None = None) -> Workspace:
        """Memory for one run, or one thread at a time; `watch` is the program of events that watch multipliers, which
        reads `Layout.event_inputs`."""
        return Workspace(self, watch)

    def accelerations(self, t: Any, q: Any, u: Any, tau: Any, parameters: Any = ()) -> Accelerations:
        """Accelerations of k states: t (k,), q (k, coordinates), u and tau (k, n), parameters (k, …) or (…) for all."""
        return self.workspace().accelerations(self._inputs(t, q, u, tau, parameters))

    def multipliers(self, t: Any, q: Any, u: Any, tau: Any, parameters: Any = ()) -> Array:
        """λ (k, rows) of M u̇ = f + Aᵀ λ in k states, given as for `accelerations`; nan where there is no u̇."""
        return self.workspace().multipliers(self._inputs(t, q, u, tau, parameters))

    def _inputs(self, t: Any, q: Any, u: Any, tau: Any, parameters: Any) -> Array:
        """The inputs of all programs, (k, inputs)."""
        layout = self.layout
        times = np.asarray(t, dtype=np.float64).reshape(-1)
        count = len(times)
        x = np.empty((count, layout.inputs.size))
        given = {"t": times[:, None], "q": q, "u": u, "work": 0.0, "tau": tau, "parameters": parameters}
        for name, block in layout.inputs.items():
            if not block.size:
                continue
            values = np.asarray(given[name], dtype=np.float64)
            try:
                x[:, block.place] = values
            except ValueError:
                raise InputError(f"{name} has shape {values.shape}; ({count}, {block.size}) is needed") from None
        return x

    def explain(self, x: Any, step: float, began: float) -> str:
        """What keeps a motion that began at a time (s) from going on from the inputs x, where a step (s) was tried;
        "" if nothing is found in the constraints."""
        return explain_stop(self._system(), x, step, began, self._names())

    def refuse_massless(self, t: float, q: Any, u: Any, tau: Any, parameters: Any) -> None:
        """Refuse, by name, a speed that moves no mass and that the constraints leave free in this state."""
        udot = self.accelerations([t], q, u, tau, parameters).udot
        if np.all(np.isfinite(udot)):
            return
        found = find_massless(self._system().at(np.concatenate([[t], q, u, [0.0], tau, parameters])))
        if found is not None:
            names = self._names()
            raise ModelError(Problem(f"{names.where} / speed '{names.speeds[found.speed]}'", *found.problem))

    def _names(self) -> Names:
        rows, speeds = range(self.layout.rows), range(self.layout.speeds)
        return self.names or Names("system", [str(i) for i in rows], [str(i) for i in speeds])

    def _system(self) -> ConstraintPrograms:
        generic = int(self.plan.records[0]["generic"])
        return ConstraintPrograms(
            self.layout, Routine(self.terms.address, self.layout.terms.size), self.workspace().rates, generic
        )


class _Memory:
    """What one run of the compiled program works in: a copy of a plan."""

    __slots__ = ("_address", "_buffer", "_numbers", "_plan")

    def __init__(self, plan: WorkPlan, watch: int = 0):
        self._plan = plan
        self._buffer = plan.buffer.copy()
        # as plain numbers: field by field a copy would take ten times as long
        self._numbers = plan.records.view(np.int64).reshape(len(plan.records), -1).copy()
        self._numbers[:, plan.own] += address_of(self._buffer)
        self._address = address_of(self._numbers)
        self._numbers[:, plan.links] = (watch, self._address + _RATES * self._numbers.strides[0])

    def routine(self, task: int, outputs: int) -> Routine:
        """The program of a task, which works here."""
        return Routine(self._code(task).address, outputs, self._address + task * self._numbers.strides[0], self)

    def contents(self) -> dict[str, Any]:
        """What earlier calls have left here."""
        return {"buffer": self._buffer.copy(), "rank": self._numbers[:, self._plan.rank].copy()}

    def restore(self, contents: Mapping[str, Any]) -> None:
        """Be as earlier calls have left another run like this one."""
        put_back(self._buffer, contents["buffer"])
        put_back(self._numbers[:, self._plan.rank], contents["rank"])

    def memories(self) -> tuple[Any, ...]:
        """The arrays in which calls leave something for later ones."""
        return self._buffer, self._numbers

    def pieces(self) -> Iterator[MemoryPiece]:
        """All of this memory, for a copy of it elsewhere."""
        from .compiled import embedded

        fields = (*embedded.PROGRAMS, "rates", *embedded.SHARED, *embedded.OWN)
        yield MemoryPiece.of_record(self._numbers.view(embedded.MEMORY).reshape(-1), fields)
        yield MemoryPiece(self._buffer)
        for array in self._plan.held:
            yield MemoryPiece(array)

    def run(self, task: int, source: Any, target: Any) -> None:
        """Run a task on what is in one array and write to another."""
        memory = self._address + task * self._numbers.strides[0]
        self._code(task).ctypes(address_of(source), address_of(target), memory)

    def _code(self, task: int) -> Any:
        return self._plan.code if task < _WATCH else _multiplier_program()


class Workspace:
    """The memory of one run of an embedding, and the programs that work in it.

    Calls of these must not overlap: whoever runs in parallel makes a workspace each.
    """

    __slots__ = ("_embedding", "_memory", "_watch")

    def __init__(self, embedding: Embedding, watch: Kernel | None = None):
        self._embedding, self._watch = embedding, watch
        if watch is not None:
            _check("watch", watch, embedding.layout.event_inputs.size, watch.program.output_count)
        self._memory = _Memory(embedding.plan, 0 if watch is None else watch.address)

    @property
    def rates(self) -> Routine:
        """[q̇, u̇, power] of a state."""
        return self._memory.routine(_RATES, self._embedding.layout.state.size)

    @property
    def projection(self) -> Routine:
        """The state [q, u, work] moved onto the constraints."""
        return self._memory.routine(_PROJECTION, self._embedding.layout.state.size)

    @property
    def watch(self) -> Routine:
        """Functions of the inputs and the multipliers that events watch."""
        assert self._watch is not None
        return self._memory.routine(_WATCH, self._watch.program.output_count)

    @property
    def sampled_multipliers(self) -> Routine:
        """λ, (k, rows), of inputs x: it reads [k, the address of x (k, inputs)]."""
        return self._memory.routine(_SAMPLE_MULTIPLIERS, self._embedding.layout.rows)

    def accelerations(self, x: Array) -> Accelerations:
        """Accelerations for rows of inputs x (k, inputs)."""
        count, n = len(x), self._embedding.layout.speeds
        x = np.ascontiguousarray(x)
        udot, nearness = np.empty((count, n)), np.empty(count)
        independent, rank = np.zeros((count, n), dtype=np.int64), np.zeros(count, dtype=np.int64)
        given = np.array([count, *map(address_of, (x, independent, nearness, rank))], dtype=np.int64)
        self._memory.run(_SAMPLES, given, udot)
        return Accelerations(udot, independent.astype(bool), nearness, rank)

    def multipliers(self, x: Array) -> Array:
        """λ for rows of inputs x (k, inputs)."""
        x, values = np.ascontiguousarray(x), np.empty((len(x), self._embedding.layout.rows))
        given = np.array([len(x), address_of(x)], dtype=np.int64)
        self._memory.run(_SAMPLE_MULTIPLIERS, given, values)
        return values


def multipliers_of(
    A: Array, g: Array, mass: Array, groups: Sequence[Hashable], sizes: Sequence[float] | None = None
) -> tuple[Array, Any]:
    """(λ (k, rows) of Aᵀ λ = g, the rank of the rows (k,)) for k samples: A (k, rows, n), g (k, n), `mass` (k, n) the
    diagonal of M, by which speeds are measured; `groups` and `sizes` of the rows as in `Embedding`. Where rows are
    redundant Σ λ² is least. Rank −1: not numbers."""
    count, rows, n = A.shape
    layout = Layout(0, n, 0, rows)
    memory = _Memory(_plan(layout, {}, tuple(groups), None, sizes))
    values, rank = np.empty((count, rows)), np.empty(count, dtype=np.int64)
    arrays = [np.ascontiguousarray(x, dtype=np.float64) for x in (A, mass, g)]
    given = np.array([count, *map(address_of, (*arrays, rank))], dtype=np.int64)
    memory.run(_MULTIPLIERS, given, values)
    return values, rank


_RATES, _PROJECTION, _SAMPLES, _WATCH, _SAMPLE_MULTIPLIERS, _MULTIPLIERS = range(6)
"""Tasks of the compiled program, in the order of `compiled.embedded.TASKS`."""


def _multiplier_program() -> Any:
    with announce_compilation("the multipliers of constraints"):
        from .compiled.multipliers import multiplier_program  # only whoever wants multipliers pays for it

    return multiplier_program


class WorkPlan(NamedTuple):
    """What workspaces are copied from: one record per task, in which addresses of a run's own memory count from 0, and
    that memory as a run begins with it. `own` are the numbers of a record that are such addresses, `links` those of
    `watch` and `rates`, `rank` what it is called. `held` keeps alive what all runs read."""

    code: Any
    records: Any
    buffer: Array
    own: slice
    links: list[int]
    rank: int
    held: tuple[Any, ...]


def _plan(
    layout: Layout,
    programs: Mapping[str, Kernel | None],
    groups: Sequence[Hashable] | None,
    weights: Sequence[float] | None,
    sizes: Sequence[float] | None,
) -> WorkPlan:
    with announce_compilation("the treatment of constraints"):
        from .compiled import embedded  # numba is slow to import: only a simulation pays for it

    n, rows = layout.speeds, layout.rows
    numbered, place_groups = _numbered_groups(layout, groups)
    all_sizes = _checked_sizes(rows, sizes)
    shared = {
        "groups": np.array([*numbered, 0], dtype=np.int64),
        "place_groups": np.array([*place_groups, 0], dtype=np.int64),
        "sizes": _group_sizes(numbered, all_sizes),
        "place_sizes": _group_sizes(place_groups, [all_sizes[i] for i in layout.positions]),
        "weight": np.array([*_checked_weights(rows, weights), 1.0]),
    }
    values: dict[str, Any] = {
        "task": embedded.TASKS,
        "coordinates": layout.coordinates,
        "n": n,
        "rows": rows,
        "holonomic": len(layout.positions),
        "inputs": layout.inputs.size,
        "states": layout.state.size,
        "generic": min(rows, n),
        "q_start": 8 * layout.inputs["q"].start,
        "u_start": 8 * layout.inputs["u"].start,
        "embedding": embedded.embedding_program.address,
        **{name: 0 if kernel is None else kernel.address for name, kernel in programs.items()},
        **{name: address_of(array) for name, array in shared.items()},
    }
    starts, size = _own_memory(layout)
    records = np.zeros(len(embedded.TASKS), dtype=embedded.MEMORY)
    for name, value in (values | starts).items():
        records[name] = value
    buffer = np.zeros(size)
    buffer.view(np.int64)[starts["order"] // 8 :][:n] = range(n)
    links = [embedded.WHOLE.index(name) for name in ("watch", "rates")]
    rank = embedded.WHOLE.index("rank")
    held = tuple(shared.values())
    return WorkPlan(embedded.embedding_program, records, buffer, embedded.OWN_FIELDS, links, rank, held)


def _own_memory(layout: Layout) -> tuple[dict[str, int], int]:
    """(where each array of a run's memory begins, in bytes, how many numbers there are in all)."""
    from .compiled.lanes import padded_size

    n, rows = layout.speeds, layout.rows
    most, width = min(rows, n) + 1, padded_size(n + 1)
    starts: dict[str, int] = {}
    at = 0
    for blocks, names in ((layout.terms, _TERMS), (layout.places, _PLACES)):
        starts |= {name: 8 * (at + blocks[block].start) for name, block in names.items()}
        at += blocks.size
    sizes = {
        "x": layout.inputs.size + rows,
        "kept": layout.coordinates,
        "shift": layout.coordinates,
        "y": layout.state.size,
        "b": rows,
        "zero": n,
        "step": n,
        "longest": rows,
        "scale": n,
        "w": rows * width,
        "square": width,
        "summed": n,
        "order": n,
        "v": most * rows,
        "shares": most,
        "swaps": most,
        "null": rows * rows,
        "row": width,
        "x_dependent": n * width,
        "product": n * width,
        "k": n * width,
    }
    for name, size in sizes.items():
        starts[name] = 8 * at
        at += size
    return starts, at + 1


_TERMS = {
    "qdot": "qdot",
    "mass": "M",
    "f": "f",
    "a": "A",
    "rate": "rate",
    "wanted": "b",
    "phi": "phi",
    "power": "power",
}
_PLACES = {"place_phi": "phi", "place_rows": "G", "along": "T"}
"""Names in the record of compiled code → blocks of what `terms` and `places` write."""


def _numbered_groups(layout: Layout, groups: Sequence[Hashable] | None) -> tuple[list[int], list[int]]:
    """The group of each row of terms and of places, numbered from 0."""
    if groups is None:
        return [0] * layout.rows, [0] * len(layout.positions)
    if len(groups) != layout.rows:
        raise InputError(f"groups has {len(groups)} entries; one for each of the {layout.rows} rows is needed")
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    numbered = [number[g] for g in groups]
    places = [numbered[i] for i in layout.positions]
    again = {group: i for i, group in enumerate(dict.fromkeys(places))}
    return numbered, [again[g] for g in places]


def _checked_weights(rows: int, weights: Sequence[float] | None) -> Sequence[float]:
    if weights is None:
        return [1.0] * rows
    if len(weights) != rows or not all(math.isfinite(w) and w > 0.0 for w in weights):
        raise InputError(f"weights = {weights!r}: give one positive number for each of the {rows} rows")
    return weights


def _checked_sizes(rows: int, sizes: Sequence[float] | None) -> Sequence[float]:
    if sizes is None:
        return [0.0] * rows
    if len(sizes) != rows or not all(x >= 0.0 for x in sizes):
        raise InputError(
            f"sizes = {sizes!r}: give one number for each of the {rows} rows, 0 if unknown, inf if it says nothing"
        )
    return sizes


def _group_sizes(groups: Sequence[int], sizes: Sequence[float]) -> Array:
    """The largest size in each group, by its number; as many numbers as there are rows, and one."""
    found = np.zeros(len(groups) + 1)
    np.maximum.at(found, list(groups), list(sizes))
    return found


def _check_programs(embedding: Embedding) -> None:
    layout = embedding.layout
    if any(not 0 <= row < layout.rows for row in layout.positions):
        raise InputError(f"positions are about {len(layout.positions)} rows, but there are {layout.rows} in all")
    if bool(layout.positions) != (embedding.places is not None):
        raise InputError(f"places must be given for the {len(layout.positions)} rows with a position, and only then")
    inputs = layout.inputs.size
    _check("terms", embedding.terms, inputs, layout.terms.size)
    if embedding.places is not None:
        _check("places", embedding.places, inputs, layout.places.size)
    if embedding.unit is not None:
        _check("unit", embedding.unit, inputs, layout.state.size)


def _check(name: str, kernel: Kernel, inputs: int, outputs: int) -> None:
    program = kernel.program
    if program.input_count != inputs:
        raise InputError(
            f"{name}: program '{program.name}' reads {program.input_count} numbers, {inputs} are in the layout;"
            f" programs of an embedding read [t, q, u, work, tau, parameters], those of events λ too"
        )
    if program.output_count != outputs:
        raise InputError(
            f"{name}: program '{program.name}' writes {program.output_count} numbers, {outputs} are needed for these"
            f" coordinates, speeds and rows"
        )


def _gains(baumgarte: tuple[float, float] | None) -> tuple[float, float]:
    """(2 ζ ω in 1/s, ω² in 1/s²)."""
    if baumgarte is None:
        return 0.0, 0.0
    ratio, frequency = baumgarte
    if not (math.isfinite(ratio) and math.isfinite(frequency) and ratio >= 0 and frequency > 0):
        raise InputError(
            f"baumgarte = ({ratio!r}, {frequency!r}): give a damping ratio of 0 or more and a positive frequency in"
            f" rad/s, say (1, 20)"
        )
    return 2.0 * ratio * frequency, frequency * frequency
