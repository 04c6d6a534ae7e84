"""A bare clock: a loop that does nothing but sleep from one moment to the next, on the core of another loop.

It has a higher priority than the loop beside it, so that it is late only where the machine is: a virtual core that gets
no time of its host, or a kernel that is busy. What of a loop is late at other times is its own fault. Linux tells how
long the host kept a core from running, as far as the host tells it: the steal time of /proc/stat, in steps of 10 ms.

A clock alone can do more than sleep: watch the clock for most of every tick, so that nothing has to wake it up.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

PERIOD = 250_000
"""ns, a part of a tick of the loop beside it: whatever keeps that waiting for a millisecond, this one has met."""

AWAY = 500_000
"""ns that the bare clock is late by where the machine was away."""

MONOTONIC, ABSOLUTE, PRIORITY = 1, 1, 51
TIMER_SLACK, LOCK_ALL = 29, 3
"""Of prctl, and of mlockall: what is there and what will be."""

GAP = 100_000
"""ns, from which on lateness counts as time that the machine was away."""

_library = ctypes.CDLL(None)
_clock, _sleep = _library.clock_gettime, _library.clock_nanosleep
_clock.argtypes, _clock.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_int
_sleep.argtypes, _sleep.restype = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int


@njit(nogil=True)
def _keep_time(origin: int, period: int, watched: int, moment: Any, stop: Any, late: Any) -> int:
    """Wake up every period after `origin` (ns), or earlier and watch the clock for the last part, until asked to stop;
    note by how much too late. How often."""
    address = moment.ctypes.data
    for tick in range(late.size):
        if stop[0]:
            return tick
        due = origin + (tick + 1) * period
        moment[0], moment[1] = (due - watched) // 1_000_000_000, (due - watched) % 1_000_000_000
        _sleep(MONOTONIC, ABSOLUTE, address, 0)
        time = 0
        while time < due:
            _clock(MONOTONIC, address)
            time = moment[0] * 1_000_000_000 + moment[1]
        late[tick] = time - due
    return late.size


class BareClock:
    """What a bare clock noted: when it was due and by how much it was late (ns), and what the host `stole` of its core
    meanwhile (s), as far as it tells."""

    def __init__(self) -> None:
        self.due = self.late = np.zeros(0, dtype=np.int64)
        self.stolen = 0.0

    @property
    def time_away(self) -> float:
        """Seconds in all that it could not run where it was due: of ticks that wait for the same gap, the first."""
        first = np.concatenate([[True], self.late[1:] > self.late[:-1]])
        return 1e-9 * float(np.sum(self.late[first & (self.late > GAP)]))

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
    _keep_time(0, PERIOD, 0, np.zeros(2, dtype=np.int64), np.ones(1, dtype=np.int64), late)  # compiles it
    core, before = max(allowed), steal_time(max(allowed))
    os.sched_setaffinity(0, {core})
    origin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def work() -> None:
        _ask_for_priority()
        count = _keep_time(origin, PERIOD, 0, np.zeros(2, dtype=np.int64), stop, late)
        found.due, found.late = origin + PERIOD * np.arange(1, count + 1), late[:count]

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield found
    finally:
        stop[0] = 1
        thread.join()
        found.stolen = steal_time(core) - before
        os.sched_setaffinity(0, allowed)


def watching_clocks(seconds: float, period: int, watched: int) -> list[BareClock]:
    """Clocks of one period (ns), one on each core at the same time, that watch the last part (ns) of every tick, with
    locked memory and the least slack."""
    cores = sorted(os.sched_getaffinity(0))
    _library.mlockall(LOCK_ALL)
    _library.prctl(TIMER_SLACK, 1, 0, 0, 0)
    never, count = np.zeros(1, dtype=np.int64), round(seconds * 1e9 / period)
    _keep_time(0, period, 0, np.zeros(2, dtype=np.int64), np.ones(1, dtype=np.int64), never)  # compiles it
    origin = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 20 * period
    found = [BareClock() for _ in cores]

    def work(clock: BareClock, core: int) -> None:
        os.sched_setaffinity(0, {core})
        _ask_for_priority()
        clock.late, before = np.zeros(count, dtype=np.int64), steal_time(core)
        _keep_time(origin, period, watched, np.zeros(2, dtype=np.int64), never, clock.late)
        clock.due, clock.stolen = origin + period * np.arange(1, count + 1), steal_time(core) - before

    threads = [threading.Thread(target=work, args=pair) for pair in zip(found, cores, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _ask_for_priority() -> None:
    with suppress(OSError):  # all are ordinary then
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


def steal_time(core: int) -> float:
    """Seconds that the host has kept a core from running so far, as far as it tells; 0 where Linux is not asked."""
    with suppress(OSError, IndexError):
        for line in Path("/proc/stat").read_text().splitlines():
            name, *fields = line.split()
            if name == f"cpu{core}":
                return int(fields[7]) / os.sysconf("SC_CLK_TCK")
    return 0.0
