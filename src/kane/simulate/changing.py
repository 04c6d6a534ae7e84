"""Constraints that come and go: what holds now is a mode, and where a mode ends the next one is chosen.

A `ChangingSet` is what does not change in a run: programs that give mass matrix, efforts and rows of all constraints,
and what kind each changing constraint is of. A `ChangingRun` is the memory of one run, in which the compiled loop works
(`compiled.changing`, `compiled.transitions`); it remembers every transition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends import Kernel
from ..errors import InputError
from ..graph.layout import Layout
from .contacts import LAWS as IMPACT_WORDS
from .memory import MemoryPiece, put_back
from .notice import announce_compilation
from .routine import Routine, address_of
from .solution import Array, StepImpulses, Transition, changed_alike

TYPES = ("contact", "one-way", "friction", "switched")
STATES = ("open", "sticks", "slips")
MODE_STATES = ("open", "sticks", "slips forward", "slips backward")
"""What an element does in a mode that is written out."""

CAUSES = ("start", "impact", "release", "stick", "slip", "imposed", "freed", "touch", "impact without collision")
FAULTS = (
    "",
    "the constraints change again and again at one instant",
    "no set of constraints is consistent with Coulomb friction, nor is there an impulse that makes one so",
    "the mass matrix is singular",
    "the impact could not be resolved",
    "the contact problem of a step could not be solved",
    "no set of contacts was found in which all push within their cones of friction",
    "a contact comes into force where its bodies are inside each other",
    "a condition is not a number",
)
LAWS = ("restitution", "static", "kinetic", "bound", "duration")
"""The numbers of the law of each changing constraint, in the order in which `ChangingSet.laws` writes them."""

IMPACT_LAWS = ("poisson", "newton", "stronge", "sequential", "plastic")
"""Names of the laws of impact, in the order of the compiled constants."""

RECORDED = ("at", "energy", "impulses", "speeds", "directions")
RECORDED += ("cause", "which", "choices", "laws_used", "states_after")
"""Arrays of the memory of a run with one row for each transition."""

CHANGED = ("rank", "unknowns", "count", "same_time", "possible", "law_used", "guarded", "last_t", "residual")
CHANGED += ("warm", "laid", "laid_rows", "loaded")
"""Numbers of its record that change; the others are sizes and addresses."""

GUARDS = ("normal", "friction", "condition")
"""Functions of a changing constraint that are watched: each falls through zero where its mode ends."""

NAMED = 6
"""Constraints that a fault names at most."""

FIRST_ROOM = 64
"""Transitions that there is room for to begin with; doubled whenever they are full."""


@dataclass(frozen=True, slots=True)
class ChangingElement:
    """A changing constraint: its name, which of `TYPES` it is of, how many rows it has, what of a law it has, and
    whether it is in force at the start."""

    name: str
    type: str
    rows: int
    when: bool = False
    until: bool = False
    duration: bool = False
    held: bool = True


@dataclass(frozen=True, slots=True)
class ChangingSet:
    """The constraints of a system, those that come and go among them, compiled.

    - `terms`, `places`, `unit` as for `Embedding`, for the rows of all constraints: `permanent` ones, then those of the
      `elements` one after another;
    - `laws` writes `LAWS` of every element, (elements, 5);
      `fixed_laws` says that they are numbers;
    - `conditions` writes when and until of every element, (elements, 2), from `Layout.event_inputs`; None where no
      element has one;
    - for time stepping (`stepping`) `coordinate_rates` writes q̇, (coordinates,), `terms` may leave out b of changing
      rows, `steady` says that mass and forces are numbers, and `idle` that no load does work but tau;
    - `table` has the modes that are written out: the number of each (`mode_number`), the program of its rates, and the
      one that writes reactions, rates and residuals of all rows, and what rates are sums of. Other modes are embedded
      at run time.
    """

    layout: Layout
    permanent: int
    elements: tuple[ChangingElement, ...]
    terms: Kernel
    laws: Kernel
    places: Kernel | None = None
    unit: Kernel | None = None
    conditions: Kernel | None = None
    fixed_laws: bool = False
    impact: str = "poisson"
    coordinate_rates: Kernel | None = None
    steady: bool = False
    idle: bool = False
    table: tuple[tuple[int, Kernel, Kernel], ...] = ()

    def __post_init__(self) -> None:
        if self.impact not in IMPACT_LAWS:
            raise InputError(f"impact = {self.impact!r}: there are {', '.join(IMPACT_LAWS)}")
        rows = self.permanent + sum(e.rows for e in self.elements)
        if rows != self.layout.rows:
            raise InputError(f"{rows} rows of constraints where the layout has {self.layout.rows}")

    @property
    def stepping(self) -> bool:
        """Whether motions go by time stepping."""
        return self.coordinate_rates is not None

    @property
    def first_rows(self) -> tuple[int, ...]:
        """The first row of each element."""
        found, row = [], self.permanent
        for element in self.elements:
            found.append(row)
            row += element.rows
        return tuple(found)

    def run(self, watch: Kernel | None = None) -> ChangingRun:
        """The memory of one run; `watch` is the program of the user's events, over `Layout.event_inputs`."""
        return ChangingRun(self, watch)


def mode_number(states: Sequence[str]) -> int:
    """The number of a mode in a table, from what its elements do: "open", "sticks", "slips forward" or "slips
    backward"."""
    number = 0
    for state in states:
        number = 4 * number + MODE_STATES.index(state)
    return number


class ChangingRun:
    """One run under changing constraints: programs that work in its memory, and its transitions so far."""

    def __init__(self, constraints: ChangingSet, watch: Kernel | None = None):
        with announce_compilation("constraints that come and go"):
            from .compiled import changing_record
            from .compiled.contact_programs import contact_program
            from .compiled.impact import impact_size

        self.constraints = constraints
        self._names = tuple(e.name for e in constraints.elements)
        self._record = np.zeros(1, dtype=changing_record.MEMORY)
        self._arrays: dict[str, Any] = {}
        self._watched = 0 if watch is None else watch.program.output_count
        layout, elements = constraints.layout, constraints.elements
        asking = [k for k in (constraints.conditions, watch) if k is not None]
        k = len(elements)
        values: dict[str, Any] = {
            "coordinates": layout.coordinates,
            "n": layout.speeds,
            "rows": layout.rows,
            "permanent": constraints.permanent,
            "elements": k,
            "holonomic": len(layout.positions),
            "inputs": layout.inputs.size,
            "states": layout.state.size,
            "watched": self._watched,
            "asks_reactions": int(any(k.program.input_count > layout.inputs.size for k in asking)),
            "fixed_laws": int(constraints.fixed_laws),
            "impact_law": IMPACT_LAWS.index(constraints.impact),
            "q_start": 8 * layout.inputs["q"].start,
            "u_start": 8 * layout.inputs["u"].start,
            "room": FIRST_ROOM,
            "law_used": -1,
            "solver": contact_program.address,
        }
        programs = {name: getattr(constraints, name) for name in ("terms", "places", "unit", "laws", "conditions")}
        programs["watch"] = watch
        for name, kernel in programs.items():
            values[name] = 0 if kernel is None else kernel.address
        for name, value in values.items():
            self._record[name] = value
        self._kept = tuple(programs.values())
        self._make_shared()
        self._forgotten = frozenset((*self._arrays, "solver_work", "around"))
        self._make_own(impact_size(k + 1, layout.rows))
        self._load_programs()
        self._hold_initial()

    def _load_programs(self) -> None:
        """The programs of the modes, which work in the memory of this run."""
        with announce_compilation("constraints that come and go"):
            from .compiled import changing, transitions

        self._code, self._transition = changing.changing_program, transitions.transition_program
        self._tasks = np.empty((len(changing.TASKS), 2), dtype=np.int64)
        self._tasks[:, 0] = changing.TASKS
        self._tasks[:, 1] = address_of(self._record)

    def _hold(self, **arrays: Any) -> None:
        for name, array in arrays.items():
            self._arrays[name] = array
            self._record[name] = address_of(array)

    def _make_shared(self) -> None:
        constraints = self.constraints
        layout, elements = constraints.layout, constraints.elements
        place_of = np.full(layout.rows + 1, -1, dtype=np.int64)
        place_of[list(layout.positions)] = np.arange(len(layout.positions))
        numbers: dict[str, list[int]] = {
            "type": [TYPES.index(e.type) for e in elements],
            "first": list(constraints.first_rows),
            "length": [e.rows for e in elements],
            "has_when": [int(e.when) for e in elements],
            "has_until": [int(e.until) for e in elements],
            "has_duration": [int(e.duration) for e in elements],
        }
        if constraints.table:
            table = np.zeros((2, 4 ** len(elements)), dtype=np.int64)
            for number, rates, ends in constraints.table:
                table[:, number] = rates.address, ends.address
            self._hold(table=table)
        self._hold(place_of=place_of, **{name: np.array([*v, 0], dtype=np.int64) for name, v in numbers.items()})

    def _make_own(self, solver: int) -> None:
        from .compiled.lanes import padded_size

        layout, k = self.constraints.layout, len(self.constraints.elements)
        n, rows, room = layout.speeds, layout.rows, FIRST_ROOM
        terms, places = np.zeros(layout.terms.size), np.zeros(layout.places.size)
        self._hold(qdot=terms, place_phi=places)
        names = {"M": "mass", "f": "f", "A": "a", "rate": "rate", "b": "wanted", "phi": "phi", "power": "power"}
        for block, name in names.items():
            self._record[name] = address_of(terms) + 8 * layout.terms[block].start
        for block, name in {"G": "place_rows", "T": "along"}.items():
            self._record[name] = address_of(places) + 8 * layout.places[block].start
        inputs = layout.inputs.size + rows
        sizes: dict[str, tuple[int, ...]] = {
            "law": (k, len(LAWS)),
            "condition": (k, 2),
            "x": (inputs,),
            "x_watch": (inputs,),
            "y": (layout.state.size,),
            "kept": (layout.coordinates,),
            "chol": (n, n),
            "basis": (n, n),
            "span": (rows, n),
            "held": (rows, n),
            "floor": (k, len(GUARDS)),
            "columns": (rows, n),
            "rows_z": (rows, n),
            "reduced": (n + 1, padded_size(n)),
            "eliminated": (n, padded_size(n)),
            "direction": (k, 2),
            "imposed": (k,),
            "balance": (k, k),
            "normal_near": (k,),
            "lands": (k,),
            "falls": (k,),
            "slack": (k,),
            "ends": (4, rows),
            "slip": (2,),
            "solver_work": (solver,),
            "around": (3, layout.state.size + len(GUARDS) * k + self._watched),
            "solver_mu": (k + 1,),
            "solver_e": (k + 1,),
            "at": (room,),
            "energy": (room,),
            "impulses": (room, rows),
            "speeds": (room, 2, n),
            "directions": (room, k, 2),
        }
        sizes |= dict.fromkeys(
            ("beta", "z_free", "z_loose", "z", "z_other", "step", "shifted", "before", "given"), (n,)
        )
        sizes |= dict.fromkeys(("k", "null", "solver_w"), (rows, rows))
        vectors = ("drift", "held_drift", "aim", "left", "right", "solution", "swap", "near", "weight")
        vectors += ("scale", "reaction", "offset", "impulse")
        sizes |= dict.fromkeys((*vectors, "motion", "solver_b", "solver_r", "solver_v"), (rows,))
        self._hold(**{name: np.zeros(tuple(max(1, s) for s in shape)) for name, shape in sizes.items()})
        wholes: dict[str, tuple[int, ...]] = {
            "place_group": (len(layout.positions) + 1,),
            "cause": (room,),
            "which": (room,),
            "choices": (room,),
            "laws_used": (room, 2),
            "states_after": (room, k),
        }
        flags = ("state", "present", "young", "shared", "grazes", "barred", "pressing", "pressing_at")
        wholes |= dict.fromkeys(flags, (k + 1,)) | dict.fromkeys(("order", "start", "block"), (n,))
        wholes |= dict.fromkeys(("solver_first", "solver_rows", "solver_type", "solver_element"), (k + 1,))
        wholes |= dict.fromkeys(
            ("unknown", "owner", "tier", "pivot_row", "pivot_column", "rate_rows", "solver_row"), (rows + 1,)
        )
        self._hold(**{name: np.zeros(shape, dtype=np.int64) for name, shape in wholes.items()})

    def _hold_initial(self) -> None:
        """Which element each row with a residual is of, and what holds before the first choice."""
        constraints = self.constraints
        self._arrays["order"][:] = np.arange(constraints.layout.speeds)
        group = self._arrays["place_group"]
        for place, row in enumerate(constraints.layout.positions):
            group[place] = -1
            for e, (first, element) in enumerate(zip(constraints.first_rows, constraints.elements, strict=True)):
                if first <= row < first + element.rows:
                    group[place] = e
        for e, element in enumerate(constraints.elements):
            self._arrays["present"][e] = int(element.held)
            self._arrays["state"][e] = int(element.held and element.type in ("switched", "friction"))

    @property
    def address(self) -> int:
        """Where the record of this run is."""
        return address_of(self._record)

    def _routine(self, task: int, outputs: int) -> Routine:
        return Routine(self._code.address, outputs, address_of(self._tasks) + task * self._tasks.strides[0], self)

    @property
    def rates(self) -> Routine:
        """[q̇, u̇, power] of a state in the present mode."""
        return self._routine(0, self.constraints.layout.state.size)

    @property
    def projection(self) -> Routine:
        """The state moved onto the constraints of the present mode."""
        return self._routine(1, self.constraints.layout.state.size)

    @property
    def watch(self) -> Routine:
        """Functions of each changing constraint which fall through zero where the mode ends, then the user's."""
        return self._routine(2, len(GUARDS) * len(self.constraints.elements) + self._watched)

    @property
    def reactions(self) -> Routine:
        """λ of all rows in the present mode."""
        return self._routine(3, self.constraints.layout.rows)

    def enter(self, mode: Mapping[str, str], slip: Mapping[str, Array], x: Array) -> None:
        """Be in a mode, as after a transition, to ask about states with inputs such as x in it. Its slips that have no
        speed begin there."""
        for i, element in enumerate(self.constraints.elements):
            self._arrays["state"][i] = STATES.index(mode[element.name])
            self._arrays["young"][i] = element.name in slip  # until it is seen to have a speed
            if element.name in slip:
                self._arrays["direction"][i] = slip[element.name]
        laws = Routine(self.constraints.laws.address, len(LAWS) * len(self.constraints.elements))
        self._arrays["law"][:] = laws(x).reshape(-1, len(LAWS))

    def attach(self, state: Any) -> None:
        """Tell a loop, by the record of its memory, whom to ask where a mode ends."""
        state["transition"] = self._transition.address
        state["transition_memory"] = address_of(self._record)
        state["transition_events"] = len(GUARDS) * len(self.constraints.elements)
        state["transition_room"] = int(self._record[0]["room"])

    def begin_at(self, t: float) -> None:
        """Be before the choice of the first mode, at the time t (s)."""
        self._arrays["imposed"][:] = t

    def start(self, memory: Any) -> int:
        """Choose the first mode; what comes of it, an index of `FAULTS`."""
        self.begin_at(float(memory[0]["t"]))
        return int(self._transition.ctypes(address_of(memory), address_of(self._record), 1))

    def last_before_jump(self, memory: Any, after: float) -> float:
        """The last time (s), from that of a loop on to `after`, at which motion and reactions are still those before a
        jump in between: a sample may fall into the roundings of the time of the jump."""
        self._record["jump_t"] = after
        self._transition.ctypes(address_of(memory), address_of(self._record), 4)
        return float(self._record[0]["jump_t"])

    def jump(self, memory: Any, t: float) -> int:
        """Choose the mode anew where loads or laws have just jumped in time, if it cannot go on; what comes of it, an
        index of `FAULTS`. The last time (s) before the jump is t: states after it are those of the new mode."""
        count = int(self._record[0]["count"])
        fault = int(self._transition.ctypes(address_of(memory), address_of(self._record), 3))
        self._arrays["at"][count : int(self._record[0]["count"])] = t
        return fault

    def grow(self, state: Any) -> None:
        """Make room for more transitions where they are full."""
        record = self._record[0]
        if record["count"] < record["room"]:
            return
        self._enlarge()
        state["transition_room"] = int(self._record[0]["room"])

    def _enlarge(self) -> None:
        """Double the room for transitions."""
        for name in RECORDED:
            array = self._arrays[name]
            larger = np.zeros((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
            larger[: array.shape[0]] = array
            self._hold(**{name: larger})
        self._record["room"] = 2 * int(self._record[0]["room"])

    def contents(self) -> dict[str, Any]:
        """What this run remembers, by name."""
        count = int(self._record[0]["count"])
        kept = {n: a[:count] if n in RECORDED else a for n, a in self._arrays.items() if n not in self._forgotten}
        return {n: a.copy() for n, a in kept.items()} | {n: np.array(self._record[0][n]) for n in CHANGED}

    def restore(self, contents: Mapping[str, Any]) -> None:
        """Remember what was kept of a run like this one."""
        count = int(contents["count"])
        while self._record[0]["room"] <= count:
            self._enlarge()
        for name, array in self._arrays.items():
            if name not in self._forgotten:
                put_back(array[:count] if name in RECORDED else array, contents[name])
        for name in CHANGED:
            self._record[name] = contents[name]

    def memories(self) -> tuple[Any, ...]:
        """The arrays in which calls leave something for later ones; transitions so far are no part of that."""
        shared = self._forgotten - {"solver_work", "around"}
        return self._record, *(a for name, a in self._arrays.items() if name not in shared and name not in RECORDED)

    def pieces(self) -> Iterator[MemoryPiece]:
        """All of this memory, for a copy of it elsewhere."""
        yield from self._constraint_pieces()
        yield MemoryPiece(self._tasks, tuple(range(1, self._tasks.size, 2)))

    def _constraint_pieces(self) -> Iterator[MemoryPiece]:
        """The record of the constraints and its arrays."""
        from .compiled import changing_record

        fields = (*changing_record.PROGRAMS, *changing_record.SHARED, *changing_record.OWN)
        yield MemoryPiece.of_record(self._record, fields)
        for name, array in self._arrays.items():
            yield MemoryPiece(array, tuple(range(array.size)) if name == "table" else ())

    def transition_addresses(self) -> dict[str, int]:
        """Addresses of what tells the mode and the transitions so far."""
        names = ("at", "cause", "which", "state", "states_after", "imposed")
        found = {name: address_of(self._arrays[name]) for name in names}
        found["count"] = address_of(self._record["count"])
        return found

    def mode_memory(self) -> tuple[tuple[int, int], ...]:
        """(address, bytes) of all that says which mode this run is in, for another run of the same set to be in it."""
        arrays = (self._arrays[name] for name in ("state", "present", "young", "direction", "law"))
        return tuple((address_of(array), array.nbytes) for array in arrays)

    def describe_fault(self, fault: int) -> str:
        """Why there is no mode to go on with."""
        record = self._record[0]
        told = ""
        if FAULTS[fault].startswith(("no set of constraints", "the impact", "the contact")):
            told = f" (residual {float(record['residual']):.1e})"
            held = [name for name, state in self.mode.items() if state != "open"]
            if held:
                named = ", ".join(f"'{name}'" for name in held[:NAMED])
                told += f" with {named}{' and others' if len(held) > NAMED else ''} in force: do they agree?"
        elif FAULTS[fault].startswith(("no set of contacts", "a contact", "a condition")):
            told = f": '{self.constraints.elements[int(record['culprit'])].name}'"
        return f"{FAULTS[fault]}{told}"

    @property
    def contact_residual(self) -> float | None:
        """How well the contact problems of time steps are solved; None where there are no such steps."""
        return None

    def step_impulses(self) -> StepImpulses | None:
        """Impulses of time steps; None where there are no such steps."""
        return None

    def remark(self) -> str:
        """What a user has to know of how well contact problems are solved, to be added to the outcome."""
        return ""

    @property
    def mode(self) -> dict[str, str]:
        """What each changing constraint does now."""
        return self._mode(self._arrays["state"][: len(self._names)].tolist())

    def _mode(self, states: Sequence[int]) -> dict[str, str]:
        return dict(zip(self._names, map(STATES.__getitem__, states), strict=True))

    def transitions(self) -> tuple[Transition, ...]:
        """All transitions so far, the choice of the first mode before them."""
        count, names = int(self._record[0]["count"]), self._names
        kept = {name: self._arrays[name][:count].copy() for name in RECORDED}
        elements, first = self.constraints.elements, self.constraints.first_rows
        owner = np.repeat(np.arange(len(elements)), [e.rows for e in elements])
        struck = list[list[int]]([[] for _ in range(count)])
        slipping = list[list[int]]([[] for _ in range(count)])
        for i, row in np.argwhere(kept["impulses"][:, self.constraints.permanent :]).tolist():
            if not struck[i] or struck[i][-1] != owner[row]:
                struck[i].append(int(owner[row]))
        for i, e in np.argwhere(kept["states_after"] == STATES.index("slips")).tolist():
            slipping[i].append(e)
        found: list[Transition] = []
        told = ("at", "cause", "which", "energy", "choices", "states_after")
        rows = zip(*(kept[name].tolist() for name in told), kept["speeds"], strict=True)
        before: dict[str, str] = {}
        for i, (t, cause, which, energy, choices, states, speeds) in enumerate(rows):
            impulse, directions = kept["impulses"], kept["directions"]
            about, mode = names[which] if which >= 0 else "", self._mode(states)
            found.append(
                Transition(
                    t,
                    CAUSES[cause],
                    tuple(names[e] for e in struck[i]) or changed_alike(CAUSES[cause], about, before, mode),
                    mode,
                    {names[e]: impulse[i, first[e] : first[e] + elements[e].rows] for e in struck[i]},
                    energy,
                    speeds[0],
                    speeds[1],
                    max(1, choices),
                    {names[e]: directions[i, e] for e in slipping[i]},
                    _law_text(*kept["laws_used"][i].tolist()),
                )
            )
            before = mode
        return tuple(found)


def _law_text(law: int, guarded: int) -> str:
    """A law of impact in words; nothing for none."""
    return f"{IMPACT_WORDS[law]}{', equal restitution' if guarded else ''}" if law >= 0 else ""


__all__ = [
    "CAUSES",
    "FAULTS",
    "IMPACT_LAWS",
    "MODE_STATES",
    "ChangingElement",
    "ChangingRun",
    "ChangingSet",
    "mode_number",
]
