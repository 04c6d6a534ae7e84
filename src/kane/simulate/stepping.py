"""Time stepping as the second engine for constraints that come and go: the memory of one run (`compiled.stepping`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .changing import CHANGED as CHANGED_BY_CONSTRAINTS
from .changing import FIRST_ROOM, ChangingRun, ChangingSet
from .memory import MemoryPiece, fields_of, piece_of, put_back
from .notice import announce_compilation
from .routine import Routine, address_of
from .solution import StepImpulses

CHANGED = (
    "current",
    "contacts",
    "size",
    "solved",
    "rough",
    "kept_steps",
    "hits",
    "share",
    "last_h",
    "worst",
    "worst_t",
)
"""Numbers of the record of the steps that change; the others are sizes and addresses."""

CHANGED_ARRAYS = ("state", "present", "young", "grazes", "barred", "direction", "imposed", "offset", "lands")
CHANGED_OWN = ("impulse", "ahead")
"""Arrays that a step changes and the next one reads, besides those that grow: of the constraints, and of the steps."""

KEPT = {"hit_end": "kept_steps", "hit_row": "hits", "hit_impulse": "hits"}
"""Arrays that grow, with the number that says how much of each is used."""


class SteppingRun(ChangingRun):
    """One run by steps of one length: what `ChangingRun` has, and the memory of the steps."""

    def __init__(self, constraints: ChangingSet):
        with announce_compilation("time stepping"):
            from .compiled.stepping_motion import STEPPING

        super().__init__(constraints)
        layout, elements = constraints.layout, constraints.elements
        assert constraints.coordinate_rates is not None
        self._steps = np.zeros(1, dtype=STEPPING)
        self._own: dict[str, Any] = {}
        n, rows, k = layout.speeds, layout.rows, len(elements)
        values = {
            "changing": address_of(self._record),
            "rates": constraints.coordinate_rates.address,
            "steady": int(constraints.steady),
            "terms": layout.terms.size,
            "switches": int(any(e.type == "switched" or e.when or e.until or e.duration for e in elements)),
            "idle": int(constraints.idle),
            "tau_start": 8 * layout.inputs["tau"].start,
        }
        for name, value in values.items():
            self._steps[name] = value
        sizes: dict[str, tuple[int, ...]] = {"kept": (layout.terms.size,), "qdot": (layout.coordinates,)}
        sizes |= dict.fromkeys(("accelerations", "midway", "free", "after", "moving", "guess", "change", "shift"), (n,))
        sizes |= dict.fromkeys(("free_rate", "final_rate", "impulse"), (rows,)) | {"ahead": (k,)}
        wholes: dict[str, tuple[int, ...]] = {"touched": (n,)}
        wholes |= dict.fromkeys(("entered", "kept_state"), (k,)) | {"entries": (rows,), "entry": (rows, n)}
        for shapes, kind in ((sizes, np.float64), (wholes, np.int64)):
            for name, shape in shapes.items():
                self._hold_own(name, np.zeros(shape, dtype=kind))
        self._make_room(FIRST_ROOM, rows + FIRST_ROOM)
        self.make_room_for(4 * k + FIRST_ROOM)

    def make_room_for(self, transitions: int) -> None:
        """Make room for more than so many transitions."""
        while self._record[0]["room"] <= transitions:
            self._enlarge()

    def _load_programs(self) -> None:
        """Nothing: the loop has it all."""

    @property
    def rates(self) -> Routine:
        """A program for the record of the loop, which never calls it, and this run as the owner of its memory."""
        rates = self.constraints.coordinate_rates
        assert rates is not None
        return Routine(rates.address, self.constraints.layout.state.size, 0, self)

    def _hold_own(self, name: str, array: Any) -> None:
        self._own[name] = array
        self._steps[name] = address_of(array)

    def _make_room(self, steps: int, hits: int) -> None:
        """Room for impulses of so many steps, and so many of them; what is there stays."""
        for name, size in (("hit_end", steps), ("hit_row", hits), ("hit_impulse", hits)):
            array = np.zeros(size, dtype=np.float64 if name == "hit_impulse" else np.int64)
            used = int(self._steps[0][KEPT[name]])
            array[:used] = self._own[name][:used] if used else 0
            self._hold_own(name, array)
        self._steps["step_room"], self._steps["hit_room"] = steps, hits

    def attach(self, state: Any) -> None:
        """Tell the loop, by the record of its memory, where the memory of the steps is. Impulses are kept where every
        step is."""
        self._steps["keeps"] = int(state["requested"] == 0)
        state["transition"], state["transition_memory"] = self.rates.address, address_of(self._steps)
        state["transition_events"], state["transition_room"] = 0, int(self._record[0]["room"])

    def forget_impulses(self) -> None:
        """Keep the impulses of no step: for whoever looks at the last one alone."""
        self._steps["keeps"] = 0

    def pieces(self) -> Iterator[MemoryPiece]:
        """All of this memory, for a copy of it elsewhere."""
        from .compiled import stepping_motion

        yield from self._constraint_pieces()
        yield MemoryPiece.of_record(self._steps, (*stepping_motion.PROGRAMS, *stepping_motion.OWN))
        for array in self._own.values():
            yield MemoryPiece(array)

    @property
    def reactions_at(self) -> int:
        """Where the mean reactions of the last step are written to (`compiled.stepping_coupler`)."""
        return address_of(self._arrays["reaction"])

    def jump(self, memory: Any, t: float) -> int:
        """Nothing: every step chooses its mode anew."""
        return 0

    def start(self, memory: Any) -> int:
        """Nothing but the time: the loop begins by itself."""
        self._arrays["imposed"][:] = memory[0]["t"]
        return 0

    def contents(self) -> dict[str, Any]:
        """What this run remembers, by name."""
        used = {name: int(self._steps[0][count]) for name, count in KEPT.items()}
        own = {f"step_{name}": array[: used.get(name)].copy() for name, array in self._own.items()}
        return super().contents() | own | {f"step_{name}": np.array(self._steps[0][name]) for name in CHANGED}

    def restore(self, contents: Mapping[str, Any]) -> None:
        """Remember what was kept of a run like this one."""
        super().restore(contents)
        used = {name: int(contents[f"step_{count}"]) for name, count in KEPT.items()}
        self._make_room(
            2 * used["hit_end"] + FIRST_ROOM, 2 * used["hit_row"] + self.constraints.layout.rows + FIRST_ROOM
        )
        for name, array in self._own.items():
            put_back(array[: used.get(name)], contents[f"step_{name}"])
        for name in CHANGED:
            self._steps[name] = contents[f"step_{name}"]

    def changed_pieces(self) -> list[tuple[int, int]]:
        """Where all is that a step changes and the next one reads, addresses and lengths in words; impulses and
        transitions that are kept are left out."""
        numbers = [*fields_of(self._record, CHANGED_BY_CONSTRAINTS), *fields_of(self._steps, CHANGED)]
        arrays = [*(self._arrays[name] for name in CHANGED_ARRAYS), *(self._own[name] for name in CHANGED_OWN)]
        return [*numbers, *(piece_of(array) for array in arrays)]

    def memories(self) -> tuple[Any, ...]:
        """The arrays in which steps leave something for later ones; impulses that are kept are no part of that."""
        return *super().memories(), self._steps, *(a for name, a in self._own.items() if name not in KEPT)

    def grow(self, state: Any) -> None:
        """Make room for more transitions where what one step may bring does not fit in."""
        record = self._record[0]
        if record["count"] + 2 * len(self.constraints.elements) >= record["room"]:
            self._enlarge()
            state["transition_room"] = int(record["room"])
        steps, rows = self._steps[0], self.constraints.layout.rows
        if steps["keeps"] and (steps["kept_steps"] >= steps["step_room"] or steps["hits"] + rows > steps["hit_room"]):
            self._make_room(2 * int(steps["kept_steps"]) + FIRST_ROOM, 2 * int(steps["hits"]) + rows + FIRST_ROOM)

    def step_impulses(self) -> StepImpulses | None:
        """The impulses of all steps; None where they are not kept."""
        if not self._steps[0]["keeps"]:
            return None
        end, row, value = (self._own[name][: int(self._steps[0][count])].copy() for name, count in KEPT.items())
        return StepImpulses(self.constraints.layout.rows, end, row, value)

    @property
    def contact_residual(self) -> float:
        """The largest natural residual that the contact problem of a step was left with."""
        return float(self._steps[0]["worst"])

    def remark(self) -> str:
        """How many steps have a contact problem that was not solved to the last, and how far off the worst one is."""
        steps = self._steps[0]
        if not steps["rough"]:
            return ""
        return (
            f"the contact problems of {int(steps['rough'])} steps are solved roughly, to {self.contact_residual:.1e} "
            f"of their velocities at worst, at t = {float(steps['worst_t']):.4g} s"
        )


__all__ = ["SteppingRun"]
