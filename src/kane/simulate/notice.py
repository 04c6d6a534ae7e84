"""Words to a person: before compiling keeps them waiting, and where crossings of events may be missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..advice import Option
from ..errors import warn
from .checkpoints import defer_interrupts
from .solution import Crossings


@contextmanager
def announce_compilation(what: str) -> Iterator[None]:
    """Where numba has to compile something in this block, say on a terminal that `what` is being compiled.

    Compiled code is kept on disk, so this is said once per installation. Standard error that goes to a file or a pipe
    gets nothing, and a process without one is not disturbed. An interrupt (Ctrl-C) waits until the block is done: numba
    that is imported or compiles by half is of no use to the rest of the process. A second one does not wait.
    """
    with defer_interrupts() as interrupted, _tell_compilation(what):
        yield
    if interrupted():
        raise KeyboardInterrupt


@contextmanager
def _tell_compilation(what: str) -> Iterator[None]:
    """Say on a terminal that `what` is being compiled, if it is in this block."""
    if not on_terminal():
        yield
        return
    from numba.core import event

    class Notice(event.Listener):
        told = False

        def on_start(self, event: object) -> None:
            if not self.told:
                print(f"compiling {what}, once per installation: this takes some seconds ...", file=sys.stderr)
            self.told = True

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Notice()):
        yield


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
