"""What a loop that keeps time asks of the system: real-time scheduling of its thread, and memory that stays in place.

Scheduling ends with the thread. Memory is that of the whole process, so the last loop that ends gives it back: what is
allocated later would be locked too, page by page, used or not.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FIFO_PRIORITY = 50
"""Above ordinary work, in the middle of the range: interrupts and the watchdogs of the system come first."""

_ALL_PAGES = 1 | 2  # MCL_CURRENT | MCL_FUTURE of <sys/mman.h>


class _ProcessMemory:
    """The memory of this process, and how many loops want it locked."""

    def __init__(self) -> None:
        self._lock, self._users = threading.Lock(), 0

    def lock(self) -> bool:
        """Lock it for one more loop; whether the system allows that."""
        with self._lock:
            self._users += 1
            return _call("mlockall", _ALL_PAGES)

    def unlock(self) -> None:
        """Unlock it once no loop is left."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                _call("munlockall")


_MEMORY = _ProcessMemory()


def _call(name: str, *arguments: int) -> bool:
    """Whether a function of the C library is there and succeeds."""
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) == 0
    except AttributeError:
        return False


@contextmanager
def real_time_scheduling() -> Iterator[str]:
    """Real-time scheduling of this thread and memory that stays, while it lasts; yields what the system allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
        scheduling = f"SCHED_FIFO {FIFO_PRIORITY}"
    except (AttributeError, OSError) as error:
        scheduling = f"ordinary scheduling ({getattr(error, 'strerror', None) or 'no SCHED_FIFO here'})"
    locked = _MEMORY.lock()
    try:
        yield f"{scheduling}, {'memory locked' if locked else 'memory not locked'}"
    finally:
        _MEMORY.unlock()
