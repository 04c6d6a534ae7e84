"""Words to a person: before compiling keeps them waiting, and where crossings of events may be missing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache

from ..advice import Option
from ..errors import warn
from .checkpoints import defer_interrupts
from .solution import Crossings

PATIENCE = 2.0
"""How long (s) compiling may take before those are told too who do not sit at a terminal: a notebook, a log."""


@contextmanager
def announce_compilation(what: str) -> Iterator[None]:
    """Where numba has to compile something in this block, say on standard error that `what` is being compiled.

    Compiled code is kept on disk, so this is said once per installation, and of one thing once in a process: on a
    terminal at once, in a notebook, a file or a pipe where it takes longer than PATIENCE. A process without standard
    error is not disturbed. An interrupt (Ctrl-C) waits until the block is done: numba that is imported or compiles by
    half is of no use to the rest of the process. A second one does not wait.
    """
    with defer_interrupts() as interrupted, _tell_compilation(what):
        yield
    if interrupted():
        raise KeyboardInterrupt


@contextmanager
def _tell_compilation(what: str) -> Iterator[None]:
    """Say once that `what` is being compiled, if it is in this block."""
    from numba.core import event

    later = threading.Timer(PATIENCE, _tell, [what])
    later.daemon = True

    class Notice(event.Listener):
        begun = False

        def on_start(self, event: object) -> None:
            if not self.begun:
                _tell(what) if on_terminal() else later.start()
            self.begun = True

        def on_end(self, event: object) -> None:
            pass

    try:
        with event.install_listener("numba:compile", Notice()):
            yield
    finally:
        later.cancel()


@contextmanager
def after_compilation(call: Callable[[], object]) -> Iterator[None]:
    """In this block `call` whenever numba has compiled something, in any thread of this process."""
    with defer_interrupts() as interrupted:
        from numba.core import event
    if interrupted():
        raise KeyboardInterrupt

    class CompilationEnd(event.Listener):
        def on_start(self, event: object) -> None:
            pass

        def on_end(self, event: object) -> None:
            call()

    with event.install_listener("numba:compile", CompilationEnd()):
        yield


_ONE_AT_A_TIME = threading.Lock()


def _tell(what: str) -> None:
    """Say that `what` is being compiled, unless that was said; threads that compile hear of one another's work."""
    with _ONE_AT_A_TIME:
        _tell_once(what)


@cache
def _tell_once(what: str) -> None:
    """Say that `what` is being compiled, where there is a standard error that takes it."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # a full disk; closed
            print(f"compiling {what}, once per installation: this takes seconds to a minute ...", file=sys.stderr)


def warn_of_missed_crossings(
    crossings: Sequence[Crossings], fast: Sequence[int], doubtful: Sequence[int], first: Sequence[float]
) -> str:
    """What to add to an outcome where crossings of events may be missing, which is also a warning.

    For each event: in how many steps it changed too `fast`; at how many places it is `doubtful`, since it lingers at
    zero, the `first` of them at this t (s).
    """
    missed: list[str] = []
    bound = Option("max_step")
    for c, steps, places, t in zip(crossings, fast, doubtful, first, strict=True):
        if steps and not c.event.quiet:
            missed.append(
                f"event '{c.event.name}' changes too fast to be followed in {int(steps)} step{'s' * (steps != 1)}:"
                f" crossings may be missing; fix: bound steps by {bound}, or watch something slower"
            )
        if places and not c.event.quiet:
            again = f" and at {int(places) - 1} more place{'s' * (places != 2)}" if places > 1 else ""
            missed.append(
                f"event '{c.event.name}' stays within rounding of zero near t = {t:.9g} s{again}: crossings may be"
                f" missing there; fix: bound steps by {bound}, or watch something that passes zero steeply"
            )
    if missed:
        warn("\n".join(missed), RuntimeWarning)
    return "\n".join(missed)


def on_terminal() -> bool:
    """Whether standard error is there, open, and a terminal."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
