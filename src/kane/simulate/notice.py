"""A word to a person at a terminal before compiling keeps them waiting."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def announce_compilation(what: str) -> Iterator[None]:
    """Where numba has to compile something in this block, say on a terminal that `what` is being compiled.

    Compiled code is kept on disk, so this is said once per installation. Standard error that goes to a file or a pipe
    gets nothing, and a process without one is not disturbed.
    """
    if not _on_terminal():
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


def _on_terminal() -> bool:
    """Whether standard error is there, open, and a terminal."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
