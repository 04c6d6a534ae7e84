"""The loops that run without Python: compiled by numba on first use and kept on disk (`store.py`).

Importing a module of this package imports numba, which takes a while; `kane.simulate` does so only when a simulation
starts.
"""

from __future__ import annotations

import functools
from typing import Any


def load_loop(method: str, events: bool) -> tuple[Any, int]:
    """(the loop of the method, the address of the search for crossings or 0 without events).

    Whatever of it is on disk is loaded, and what has never been needed before is compiled now, nothing else.
    """
    return _motion_loop(method), load_search(events)


@functools.cache
def _motion_loop(method: str) -> Any:
    """The loop of a method."""
    from .step import ARGUMENTS

    if method == "radau":
        from .radau import radau_loop as loop
    elif method == "stepping":
        from .stepping import stepping_loop as loop
    else:
        from .explicit import explicit_loop as loop
    if not loop.signatures:
        loop.compile(ARGUMENTS)
    return loop


def load_search(events: bool) -> int:
    """The address of the search for crossings, 0 without events."""
    if not events:
        return 0
    from .events import watch

    return watch.address


def load_members_loop(method: str, in_step: bool) -> Any:
    """The loop of many members: in step, or one after the other."""
    from .member_memory import ARGUMENTS

    if in_step:
        from .members import members_loop as loop
    elif method == "radau":
        from .series import implicit_series_loop as loop
    elif method == "stepping":
        from .stepping_series import stepping_series_loop as loop
    else:
        from .series import series_loop as loop
    if not loop.signatures:
        loop.compile(ARGUMENTS)
    return loop
