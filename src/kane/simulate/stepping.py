"""Time stepping as the second engine for constraints that come and go: the memory of one run (`compiled.stepping`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .changing import FIRST_ROOM, ChangingRun, ChangingSet
from .memory import put_back
from .notice import announce_compilation
from .routine import address_of

CHANGED = ("current", "contacts", "size", "solved", "share", "last_h")
"""Numbers of the record of the steps that change; the others are sizes and addresses."""


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
        }
        for name, value in values.items():
            self._steps[name] = value
        sizes: dict[str, tuple[int, ...]] = {"kept": (layout.terms.size,), "qdot": (layout.coordinates,)}
        sizes |= dict.fromkeys(("accelerations", "midway", "free", "after", "moving", "guess", "change"), (n,))
        sizes |= dict.fromkeys(("free_rate", "final_rate", "impulse"), (rows,)) | {"ahead": (k,)}
        wholes: dict[str, tuple[int, ...]] = {"touched": (n,)}
        wholes |= dict.fromkeys(("entered", "kept_state"), (k,)) | {"entries": (rows,), "entry": (rows, n)}
        for shapes, kind in ((sizes, np.float64), (wholes, np.int64)):
            for name, shape in shapes.items():
                self._own[name] = np.zeros(shape, dtype=kind)
                self._steps[name] = address_of(self._own[name])
        while self._record[0]["room"] <= 4 * k + FIRST_ROOM:
            self._enlarge()

    def attach(self, state: Any) -> None:
        """Tell the loop, by the record of its memory, where the memory of the steps is."""
        state["transition"], state["transition_memory"] = 1, address_of(self._steps)
        state["transition_events"], state["transition_room"] = 0, int(self._record[0]["room"])

    def jump(self, memory: Any, t: float) -> int:
        """Nothing: every step chooses its mode anew."""
        return 0

    def start(self, memory: Any) -> int:
        """Nothing: the loop begins by itself."""
        return 0

    def contents(self) -> dict[str, Any]:
        """What this run remembers, by name."""
        own = {f"step_{name}": array.copy() for name, array in self._own.items()}
        return super().contents() | own | {f"step_{name}": np.array(self._steps[0][name]) for name in CHANGED}

    def restore(self, contents: Mapping[str, Any]) -> None:
        """Remember what was kept of a run like this one."""
        super().restore(contents)
        for name, array in self._own.items():
            put_back(array, contents[f"step_{name}"])
        for name in CHANGED:
            self._steps[name] = contents[f"step_{name}"]

    def grow(self, state: Any) -> None:
        """Make room for more transitions where what one step may bring does not fit in."""
        record = self._record[0]
        if record["count"] + 2 * len(self.constraints.elements) >= record["room"]:
            self._enlarge()
            state["transition_room"] = int(record["room"])

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
            f"; the contact problems of {int(steps['rough'])} steps are solved roughly, to {self.contact_residual:.1e} "
            f"of their velocities at worst, at t = {float(steps['worst_t']):.4g} s"
        )


__all__ = ["SteppingRun"]
