"""How far an ensemble is: members done, how many per second, what is left, failures so far; and where that is shown."""

from __future__ import annotations

import importlib
import logging
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from ..boundary import check_function
from ..simulate.notice import on_terminal

WINDOW = 20.0
"""Seconds, at least, over which the rate is taken; blocks of several workers come in bursts."""

LOG_EVERY = 10.0
"""Seconds between lines of a log."""

LOG = logging.getLogger("kane.ensemble")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ensemble is: members that are done, of how many, those of them that failed, how many are done per
    second of late, and how many seconds the others will take at that rate; nan while workers still start."""

    done: int
    count: int
    failed: int
    rate: float
    left: float

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        done = f"{self.done} of {self.count} members{failed}"
        return f"{done}, {self.rate:.3g} per second, {_duration(self.left)} left" if isfinite(self.rate) else done


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class MemberRate:
    """The rate of `count` members, from when they were done; threads may restart it while others ask. It is taken
    after `first` blocks: in the first one of each, other processes start and compile, and they come in a burst."""

    def __init__(self, count: int, first: int = 0):
        self.count, self.first = count, first
        self.seen: deque[tuple[float, int]] = deque([(time.perf_counter(), 0)])  # times and members done, of late

    def progress(self, done: int, failed: int) -> Progress:
        """How far the ensemble is with so many members done."""
        if self.first > 0:
            self.first -= 1
            self.seen = deque([(time.perf_counter(), done)])
            return Progress(done, self.count, failed, nan, nan)
        now, seen = time.perf_counter(), self.seen
        while len(seen) > 1 and now - seen[1][0] >= WINDOW:  # so that what a store had is soon forgotten
            seen.popleft()
        rate = (done - seen[0][1]) / max(now - seen[0][0], 1e-9)
        seen.append((now, done))
        return Progress(done, self.count, failed, rate, (self.count - done) / max(rate, 1e-9))

    def restart(self) -> None:
        """Take the rate from now on: the time before went into compiling, which is over."""
        self.seen = deque([(time.perf_counter(), self.seen[-1][1])])


class ProgressLine:
    """One line that changes, in a notebook and on a terminal; elsewhere a line now and then in the log `kane.ensemble`,
    of level INFO."""

    def __init__(self) -> None:
        self.said = time.perf_counter()
        self.handle: Any = None
        self.width = 0

    def __call__(self, progress: Progress) -> None:
        text = str(progress)
        if _in_notebook():
            self._show_in_notebook(text)
        elif on_terminal():
            print(f"\r{text:<{self.width}}", end="", file=sys.stderr, flush=True)
            self.width = len(text)
        elif time.perf_counter() - self.said >= LOG_EVERY or progress.done == progress.count:
            self.said = time.perf_counter()
            LOG.info(text)

    def close(self) -> None:
        """Leave the line."""
        if self.width:
            print(file=sys.stderr)

    def _show_in_notebook(self, text: str) -> None:
        bundle = {"text/plain": text}
        if self.handle is None:
            display = importlib.import_module("IPython.display").display  # which whoever has a notebook has
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def teller(progress: bool | Callable[[Progress], object] | None) -> Callable[[Progress], object] | None:
    """What is called with each `Progress`: as was given, or a line where True was."""
    if progress is None or isinstance(progress, bool):
        return ProgressLine() if progress else None
    check_function("progress", progress, "a Progress", 1)
    return progress


__all__ = ["LOG", "LOG_EVERY", "MemberRate", "Progress", "ProgressLine", "teller"]
