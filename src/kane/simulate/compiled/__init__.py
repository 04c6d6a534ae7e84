"""The loops that run without Python: compiled by numba on first use and kept on disk (`store.py`).

Importing a module of this package imports numba, which takes a while; `kane.simulate` does so only when a simulation
starts.
"""

from __future__ import annotations

from typing import Any


def load_loop(method: str, events: bool) -> tuple[Any, int]:
    """(the loop of the method, the address of the search for crossings or 0 without events).

    Whatever of it is on disk is loaded, and what has never been needed before is compiled now, nothing else.
    """
    from .step import ARGUMENTS

    if method == "radau":
        from .radau import radau_loop as loop
    elif method == "stepping":
        from .stepping import stepping_loop as loop
    else:
        from .explicit import explicit_loop as loop
    if not loop.signatures:
        loop.compile(ARGUMENTS)
    if not events:
        return loop, 0
    from .events import watch

    return loop, watch.address


def load_members_loop() -> Any:
    """The loop of many members."""
    from .members import ARGUMENTS, members_loop

    if not members_loop.signatures:
        members_loop.compile(ARGUMENTS)
    return members_loop
