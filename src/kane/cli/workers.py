"""Who computes the members of `kane sweep`: threads of this process, processes of this machine, a cluster of Dask."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from ..ensemble.pools import end_processes, is_broken
from ..errors import ExecutorError
from . import UsageError

REACHED_WITHIN = 10.0
"""Seconds within which a scheduler answers."""

NOTICED_WITHIN = 5.0
"""Seconds within which a pool notices that its processes have ended."""

WORKER_WITHIN = 30.0
"""Seconds within which a cluster has a worker."""


@contextlib.contextmanager
def workers_of(arguments: Namespace) -> Iterator[Executor | None]:
    """The executor that the command line asks for, while it is needed; None for the threads of this process."""
    if arguments.processes is not None and arguments.dask is not None:
        raise UsageError("--processes and --dask: one of them computes the members; leave out the other")
    if arguments.processes is not None:
        with _processes(arguments.processes) as pool:
            yield pool
    elif arguments.dask is not None:
        with _cluster(arguments.dask) as executor:
            yield executor
    else:
        yield None


@contextlib.contextmanager
def _processes(count: int) -> Iterator[Executor]:
    """So many processes. An interrupt ends them at once: what a store has is whole, and the rest is computed again."""
    if count < 1:
        raise UsageError(f"--processes {count}: give one at least")
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_ignore_interrupts)

    def end(signum: int, frame: Any) -> None:
        children, until = multiprocessing.active_children(), time.monotonic() + NOTICED_WITHIN
        end_processes(pool)
        while children and not is_broken(pool) and time.monotonic() < until:  # before its futures are cancelled
            time.sleep(0.01)
        raise KeyboardInterrupt

    handled = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, end) if handled else None
    try:
        with pool:
            yield pool
    finally:
        if handled:
            signal.signal(signal.SIGINT, before)


def _ignore_interrupts() -> None:
    """In a worker: an interrupt is for the process that started it, which then ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """A cluster whose scheduler is at an address such as tcp://host:8786, or has written this file (.json)."""
    from distributed import Client  # an extra

    where: dict[str, Any] = {"scheduler_file" if Path(address).is_file() else "address": address}
    fix = "fix: start one with `dask scheduler` and `dask worker ADDRESS`"
    try:
        client = Client(**where, timeout=REACHED_WITHIN, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ExecutorError(f"--dask {address}: no scheduler answers there ({error})\n    {fix}") from None
    with contextlib.closing(client):
        try:
            client.wait_for_workers(1, timeout=WORKER_WITHIN)
        except TimeoutError:
            raise ExecutorError(f"--dask {address}: has no worker within {WORKER_WITHIN:g} s\n    {fix}") from None
        yield client.get_executor()


__all__ = ["workers_of"]
