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


class _PatientStream:
    """A stream that writes to nowhere once its reader has left: `kane simulate ... -o run.csv | head` has seen enough,
    and its files are still to be written."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._lose_reader()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._lose_reader()

    def _lose_reader(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())  # what is still in its buffer goes there too
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def patient_output() -> Iterator[None]:
    """Within the block nothing stops because nobody reads standard output any more."""
    stream = sys.stdout
    sys.stdout = _PatientStream(stream)
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = stream


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
