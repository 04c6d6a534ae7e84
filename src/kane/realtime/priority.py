"""What a loop that keeps time asks of the system: real-time scheduling of its thread, memory that stays in place, and
cores that do not sleep.

Scheduling ends with the thread. Memory is that of the whole process, so the last loop that ends gives it back: what is
allocated later would be locked too, page by page, used or not. A core that sleeps takes time to wake up, on a virtual
machine until its host has room for it again; cores stay awake as long as somebody holds Linux's wish for it open.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

FIFO_PRIORITY = 50
"""Above ordinary work, in the middle of the range: interrupts and the watchdogs of the system come first."""

WAKING_TIME = Path("/dev/cpu_dma_latency")
"""Where Linux is told how long (µs) a core may take to wake up; what is written holds until the file is closed."""

_AT_ONCE = bytes(4)  # 0 µs, as a 32-bit integer

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
    """Real-time scheduling of this thread, memory that stays and cores that are awake, while it lasts; yields what the
    system allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
        scheduling = f"SCHED_FIFO {FIFO_PRIORITY}"
    except (AttributeError, OSError) as error:
        scheduling = f"ordinary scheduling ({getattr(error, 'strerror', None) or 'no SCHED_FIFO here'})"
    with ExitStack() as stack:
        stack.callback(_MEMORY.unlock)
        memory = "memory locked" if _MEMORY.lock() else "memory not locked"
        cores = "cores awake" if _keep_awake(stack) else "cores may sleep"
        yield f"{scheduling}, {memory}, {cores}"


def _keep_awake(stack: ExitStack) -> bool:
    """Keep all cores awake as long as the stack lasts; whether the system allows that."""
    try:
        stack.enter_context(WAKING_TIME.open("wb", buffering=0)).write(_AT_ONCE)
    except OSError:
        return False
    return True
