"""Files of a run that is under way, beside the one that it will write: motion.csv.part, and motion.csv.resume.

The part has the rows that the whole file will begin with, complete lines only. The other is what `simulate` goes on
from. Both are written whole or not at all, and are gone when the run is over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..api import Trajectory
from ..api.kept_runs import Keep
from ..errors import WritingError
from ..writing import check_writable
from .files import transitions_path, write_motion, write_transitions
from .streams import say

PART, RESUME = ".part", ".resume"
"""Endings behind the name of the file that a run will write."""


@dataclass(slots=True)
class PartialRun:
    """What is beside the `output` of a run while it is under way, and how it is kept."""

    output: Path
    keep: Keep = field(init=False)

    def __post_init__(self) -> None:
        self.keep = Keep(_with_ending(self.output, RESUME), self._show, say)

    @classmethod
    def open(cls, output: Path, *, anew: bool = False) -> PartialRun | None:
        """The files of a run; None where there is no place for them. With `anew` those of an earlier one are gone."""
        run = cls(output)
        try:
            check_writable(run.keep.path)
        except WritingError as error:
            say(f"the run is not kept while it is under way: {error}")
            return None
        if anew:
            run.remove()
        return run

    def _show(self, trajectory: Trajectory) -> None:
        """Write what there is so far."""
        write_motion(self.output, trajectory, PART)
        if trajectory.transitions:
            write_transitions(_with_ending(transitions_path(self.output), PART), trajectory)

    @contextlib.contextmanager
    def mind_interrupts(self) -> Iterator[None]:
        """Say what is kept where an interrupt or a full disk ends the block: all is computed, and not yet written."""
        try:
            yield
        except KeyboardInterrupt:
            self.announce_interrupt()
            raise
        except WritingError:
            if self._kept_t() is not None:
                say(f"kept up to t = {self._kept_t():.10g} s: the same command goes on from there, with room again")
            raise

    def announce_interrupt(self, trajectory: Trajectory | None = None) -> None:
        """Where an interrupted run is, and how it goes on; where nothing is kept, the trajectory is written."""
        kept = self._kept_t()
        part = _with_ending(self.output, PART)
        if kept is None:  # interrupted before anything was kept, and at once again, or no room
            if trajectory is not None:
                self._show(trajectory)
                say(f"interrupted: {part} has what was computed; the same command begins anew")
            return
        say(
            f"interrupted: {part} has what was computed, kept up to t = {kept:.10g} s\n"
            "    the same command goes on from there, to the same bytes; with --anew it begins anew"
        )

    def _kept_t(self) -> float | None:
        """The time (s) up to which the run is kept; None where it is not."""
        return None if self.keep.checkpoints is None else self.keep.checkpoints.kept_t

    def remove(self) -> None:
        """Take the files away."""
        beside = (_with_ending(self.output, PART), _with_ending(transitions_path(self.output), PART))
        for path in (*beside, self.keep.path):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _with_ending(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


__all__ = ["PartialRun"]
