"""Blocks of members: how large they are, and how they are computed by threads or by any executor, in order.

Blocks are the unit of everything that is shared: work, results, checkpoints. Their size depends on the number of
members alone, so that results do not depend on who computes them.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..simulate import Members
from .tallies import Tally

LARGEST, SMALLEST = 4096, 64
"""Members of a block."""


@dataclass(frozen=True, slots=True)
class Block:
    """What came of the members from `first` on: their ends, and tallies of watched quantities over time.

    `low` and `high` (b, w) are the extremes of the watched quantities over the times of output.
    """

    first: int
    members: Members
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    tallies: tuple[Tally, ...]


class Work(Protocol):
    """What computes the members first … last − 1; what `look` raises ends it."""

    def run(self, first: int, last: int, look: Callable[[int], object] | None = None) -> Block: ...


def block_size(count: int) -> int:
    """Members of a block of an ensemble of so many."""
    wanted = count // 16 // SMALLEST * SMALLEST
    return min(LARGEST, max(SMALLEST, wanted))


def gather_blocks(
    work: Work, count: int, executor: Executor | None, progress: Callable[[int], object] | None
) -> Iterator[Block]:
    """Blocks of `count` members in their order, computed by the threads of this process or by an executor.

    `progress` is told how many members are done. Whoever stops asking ends the work.
    """
    size = block_size(count)
    spans = [(first, min(first + size, count)) for first in range(0, count, size)]
    if executor is None:
        return _by_threads(work, spans, progress)
    return _by_executor(work, spans, executor, progress)


class _Ended(Exception):
    """Raised within the work of a thread that nobody waits for any more."""


def _by_threads(work: Work, spans: list[tuple[int, int]], progress: Callable[[int], object] | None) -> Iterator[Block]:
    ended = threading.Event()

    def look(_: int) -> None:
        if ended.is_set():
            raise _Ended

    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from _in_order(lambda a, b: pool.submit(work.run, a, b, look), spans, 2 * workers, progress)
        finally:
            ended.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _by_executor(
    work: Work, spans: list[tuple[int, int]], executor: Executor, progress: Callable[[int], object] | None
) -> Iterator[Block]:
    workers = getattr(executor, "_max_workers", None) or 8
    yield from _in_order(lambda a, b: executor.submit(work.run, a, b), spans, 4 * workers, progress)


def _in_order(
    submit: Callable[[int, int], Future[Block]],
    spans: list[tuple[int, int]],
    most: int,
    progress: Callable[[int], object] | None,
) -> Iterator[Block]:
    """Results in the order of the spans, with at most so many under way."""
    waiting: deque[tuple[Future[Block], int]] = deque()
    left = deque(spans)
    try:
        while waiting or left:
            while left and len(waiting) < most:
                first, last = left.popleft()
                waiting.append((submit(first, last), last))
            future, last = waiting.popleft()
            yield future.result()
            if progress is not None:
                progress(last)
    finally:
        for future, _ in waiting:
            future.cancel()


__all__ = ["Block", "Work", "block_size", "gather_blocks"]
