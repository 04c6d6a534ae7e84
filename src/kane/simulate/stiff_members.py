"""Members of an ensemble that turn stiff: one after the other, in memory that is made once for all of them.

The loop of many members (`members`) leaves those alone for which stability keeps explicit steps short. Each is run here
from its start as it is run alone, by turns explicit and implicit (`stiffness`), but for what a motion alone makes anew
each time: checks, programs and their memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .discontinuities import Change
from .integrate import owners, prepare_run
from .problem import MotionProblem, motion_programs
from .settings import Settings
from .start import Start


class StiffMembers:
    """A run that begins again with each member; `start` is that of any of them."""

    def __init__(self, problem: MotionProblem, start: Start, settings: Settings):
        programs = motion_programs(problem, 0)
        self._run = prepare_run(programs, start, settings)
        self._beginning = self._run.memory.beginning()
        self._remembered = [array for owner in owners(programs) for array in owner.memories()]
        self._fresh = [array.copy() for array in self._remembered]
        self._events = len(problem.events)

    def run(self, y0: Any, held: Any, changes: Sequence[Change]) -> str:
        """Run a member from the state y0 with the inputs `held` behind it; why it ended, "" where crossings may be
        missing, of which only a motion alone tells."""
        for array, fresh in zip(self._remembered, self._fresh, strict=True):
            array[...] = fresh
        reason = self._run.run_again(self._beginning, y0, held, changes)
        arrays = self._run.arrays
        return "" if np.any(arrays["unresolved"]) or np.any(arrays["doubtful"]) else reason

    def keep(self, found: dict[str, Any], i: int, rows: bool) -> None:
        """Keep what came of the last member as that of the member i; its states at times of output if `rows`."""
        state, arrays = self._run.state, self._run.arrays
        found["end_t"][i], found["end_y"][i] = state["t"], arrays["y"]
        found["attempts"][i] = state["steps"], state["rejected"]
        count = int(state["crossings"])
        for e in range(self._events):
            times = arrays["event_t"][:count][arrays["event"][:count] == e]
            found["crossings"][i, e] = times.size
            found["first"][i, e] = times[0] if times.size else np.nan
        if rows:
            stored = int(state["stored"])
            found["out_y"][i, :stored], found["out_y"][i, stored:] = arrays["out_y"][:stored], np.nan
