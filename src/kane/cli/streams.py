"""Standard output and standard error that may be missing, closed or full, and interrupts that must not get lost."""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import visible

_AGAIN = 0.02
"""Seconds after which a lost interrupt is raised again: the callback that swallowed it has returned by then."""


def prepare() -> None:
    """Replace standard streams that are missing or closed, and let the others show what letters they can."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None or getattr(stream, "closed", False):
            discard(name)
        elif hasattr(stream, "reconfigure"):  # a terminal without the letters of mathematics still shows the figures
            stream.reconfigure(errors="replace")


def discard(name: str) -> None:
    """Let what is written to a standard stream from now on go nowhere."""
    setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - until the interpreter ends


def say(text: str) -> None:
    """A word about the work, on standard error if it takes one."""
    with contextlib.suppress(OSError, ValueError):
        print(visible(text), file=sys.stderr)


@contextmanager
def insistent_interrupts() -> Iterator[None]:
    """Within the block an interrupt that Python drops, since it came within a callback of a library, comes again."""
    report = sys.unraisablehook

    def hook(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(_AGAIN, _thread.interrupt_main).start()
        else:
            report(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = report
