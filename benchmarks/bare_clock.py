"""A bare clock: a loop that does nothing but sleep from one moment to the next, on the core of another loop.

It has a higher priority than the loop beside it, so that it is late only where the machine is: a virtual core that gets
no time of its host, or a kernel that is busy. What of a loop is late at other times is its own fault.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numba import njit

PERIOD = 250_000
"""ns, a part of a tick of the loop beside it: whatever keeps that waiting for a millisecond, this one has met."""

AWAY = 500_000
"""ns that the bare clock is late by where the machine was away."""

MONOTONIC, ABSOLUTE, PRIORITY = 1, 1, 51

_library = ctypes.CDLL(None)
_clock, _sleep = _library.clock_gettime, _library.clock_nanosleep
_clock.argtypes, _clock.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_int
_sleep.argtypes, _sleep.restype = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int


@njit(nogil=True)
def _keep_time(origin: int, moment: Any, stop: Any, late: Any) -> int:
    """Wake up every period after `origin` (ns) until asked to stop, and note by how much too late; how often."""
    address = moment.ctypes.data
    for tick in range(late.size):
        if stop[0]:
            return tick
        due = origin + (tick + 1) * PERIOD
        moment[0], moment[1] = due // 1_000_000_000, due % 1_000_000_000
        _sleep(MONOTONIC, ABSOLUTE, address, 0)
        _clock(MONOTONIC, address)
        late[tick] = moment[0] * 1_000_000_000 + moment[1] - due
    return late.size


class BareClock:
    """What a bare clock noted: when it was due and by how much it was late (ns)."""

    def __init__(self) -> None:
        self.due = self.late = np.zeros(0, dtype=np.int64)

    def late_ticks(self, period: int) -> int:
        """How many ticks of a longer period (ns) began more than that late."""
        return int(np.sum(self.late[:: period // PERIOD] > period))

    def away(self, start: Any, end: Any) -> Any:
        """Whether the machine was away at some time between `start` and `end` (ns), for each of them."""
        begins = self.due[self.late > AWAY]
        ends = begins + self.late[self.late > AWAY]
        first = np.searchsorted(np.maximum.accumulate(ends), start)  # the first that ends after the start
        return np.array([i < len(begins) and begins[i] <= e for i, e in zip(first, end, strict=True)], dtype=bool)


@contextmanager
def bare_clock(seconds: float) -> Iterator[BareClock]:
    """A bare clock on one core, to which this thread and those that it starts keep too, as long as it runs."""
    allowed, found = os.sched_getaffinity(0), BareClock()
    stop, late = np.zeros(1, dtype=np.int64), np.zeros(round(seconds * 1e9 / PERIOD), dtype=np.int64)
    _keep_time(0, np.zeros(2, dtype=np.int64), np.ones(1, dtype=np.int64), late)  # compiles it
    os.sched_setaffinity(0, {max(allowed)})
    origin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def work() -> None:
        with suppress(OSError):  # both are ordinary then
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        count = _keep_time(origin, np.zeros(2, dtype=np.int64), stop, late)
        found.due, found.late = origin + PERIOD * np.arange(1, count + 1), late[:count]

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield found
    finally:
        stop[0] = 1
        thread.join()
        os.sched_setaffinity(0, allowed)
