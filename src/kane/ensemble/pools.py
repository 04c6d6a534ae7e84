"""Pools of processes that lose one: whether a pool has, and how it is made to notice.

A process that is killed while it sends a result leaves half of it in the pipe. The thread of the pool then waits for
the other half, and its futures for the thread: forever, since this process could still write to the pipe. Ended and
with that pipe closed, a pool breaks as it is meant to (`BrokenProcessPool`).
"""

from __future__ import annotations

import contextlib
from concurrent.futures import Executor
from typing import Any


def is_broken(executor: Executor) -> bool:
    """Whether a pool has noticed that it lost a process; all its others have been ended then."""
    return bool(getattr(executor, "_broken", False))


def dead_processes(executor: Executor) -> frozenset[int]:
    """Processes of a pool that have ended, by their ids, as long as the pool has not noticed."""
    processes: Any = getattr(executor, "_processes", None)
    if not isinstance(processes, dict) or is_broken(executor):
        return frozenset()
    return frozenset(pid for pid, process in list(processes.items()) if not process.is_alive())


def end_processes(executor: Executor) -> None:
    """End all processes of a pool at once, so that it breaks, whatever they were doing."""
    for process in list((getattr(executor, "_processes", None) or {}).values()):
        process.kill()
        process.join()
    with contextlib.suppress(AttributeError, OSError):
        getattr(executor, "_result_queue")._writer.close()  # noqa: B009 - a name of the pool's own


__all__ = ["dead_processes", "end_processes", "is_broken"]
