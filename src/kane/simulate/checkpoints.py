"""Runs that are kept while they are under way: a file from which the same run goes on, to the same bits.

The file has everything that the loop, the programs of constraints and Python between them remember, and the motion so
far. It is written whole or not at all, now and then, between chunks of the loop; whatever ends the process, the file is
one of those moments. What the run is of, its `identity`, is in it by name: a file of another run is refused.
"""

from __future__ import annotations

import json
import signal
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, WritingError, warn
from ..writing import replacing

FORMAT = 1
"""Number of what is in the file; another one cannot be read."""

SECONDS = 1.0
"""Wall time between two moments that are kept, at least."""

SHARE = 0.05
"""Part of the wall time that keeping may take: a file that takes long to write is written less often."""


@dataclass(slots=True)
class Pace:
    """When something that takes its time is `due` again: after SECONDS, and after so long that it takes its SHARE."""

    due: float = field(default_factory=lambda: time.perf_counter() + SECONDS)

    def take(self, work: Callable[[], object]) -> None:
        """Do it, and see how long it took."""
        began = time.perf_counter()
        try:
            work()
        finally:
            now = time.perf_counter()
            self.due = now + max(SECONDS, (now - began) / SHARE)


@dataclass(slots=True)
class Checkpoints:
    """Where a run is kept and what it is of.

    `identity` are facts by name. `show` is called with what was computed so far, at its own pace, to put it where a
    person can read it. `tell` is called with a sentence where a run goes on from what was kept, and where a moment
    cannot be kept, which without it is a warning; the run goes on. `kept_t` is the time (s) of the last moment that was
    kept, None for none.
    """

    path: Path
    identity: Mapping[str, str]
    show: Callable[[Any], object] | None = None
    tell: Callable[[str], object] | None = None
    kept_t: float | None = None
    _file: Pace = field(default_factory=Pace)
    _part: Pace = field(default_factory=Pace)
    _told: bool = False

    def begin(self) -> dict[str, Any] | None:
        """What was kept of this run, None if there is nothing; and the clock starts."""
        found = self._read()
        self._file, self._part = Pace(), Pace()
        return found

    def look(self, contents: Callable[[], dict[str, Any]], solution: Callable[[], Any], *, now: bool = False) -> None:
        """Keep this moment if that is due, or `now`; `solution` is what was computed so far."""
        clock = time.perf_counter()
        if now or clock >= self._file.due:
            self._file.take(lambda: self._try(lambda: self._write(contents())))
        if self.show is not None and (now or clock >= self._part.due):
            show = self.show
            self._part.take(lambda: self._try(lambda: show(solution())))

    def remove(self) -> None:
        """Take the file away: the run is over."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _try(self, write: Callable[[], object]) -> None:
        """Write, and where that fails tell it once; what was written before is still there."""
        try:
            write()
        except WritingError as error:
            if not self._told:
                upto = "nothing is kept yet" if self.kept_t is None else f"kept up to t = {self.kept_t:.10g} s"
                sentence = f"{error}\n    the run goes on; {upto}"
                if self.tell is None:
                    warn(sentence, RuntimeWarning)
                else:
                    self.tell(sentence)
            self._told = True

    def _write(self, contents: dict[str, Any]) -> None:
        about = {"format": FORMAT, "identity": dict(self.identity)}
        text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        with replacing(self.path) as stream:
            np.savez(stream, about=text, **contents)
        self.kept_t = float(contents["loop.t"])

    def _read(self) -> dict[str, Any] | None:
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                found: dict[str, Any] = dict(file.items())
            about = json.loads(found.pop("about").tobytes())
            float(found["loop.t"])
            number, identity = about["format"], {str(k): str(v) for k, v in about["identity"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{self.path}: is no run that could be gone on with: {error}\n"
                "    fix: begin anew, by taking the file away"
            ) from None
        if number != FORMAT:
            raise InputError(f"{self.path}: was kept by another version\n    fix: begin anew, by taking the file away")
        self._refuse_other(identity)
        self.kept_t = float(found["loop.t"])
        if self.tell is not None:
            self.tell(f"{self.path}: the run goes on from t = {self.kept_t:.10g} s")
        return found

    def _refuse_other(self, identity: Mapping[str, str]) -> None:
        """Refuse a file of another run, with what is different."""
        names = [n for n in dict.fromkeys((*self.identity, *identity)) if self.identity.get(n) != identity.get(n)]
        if not names:
            return
        there = "; ".join(f"{n}: {identity.get(n, 'none')} there, {self.identity.get(n, 'none')} here" for n in names)
        raise InputError(
            f"{self.path}: is kept of another run ({there})\n"
            "    because runs are not mixed\n"
            "    fix: go on with that run as it was, choose another file, or take this one away to begin anew"
        )


@contextmanager
def defer_interrupts() -> Iterator[Callable[[], bool]]:
    """Within the block the first interrupt (Ctrl-C) is only noted, which the function tells; a second one interrupts.

    Without effect beside the main thread, or where somebody else minds interrupts.
    """
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    count = 0

    def note(number: int, frame: Any) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: count > 0
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


__all__ = ["Checkpoints", "defer_interrupts"]
