"""Blocks in their order, computed by the threads of this process or by an executor, or read from a store.

Only some are under way at a time. Whoever stops asking ends the work.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, Protocol

from ..simulate import ENDS
from .blocks import MemberBlock, Span, Work, spans_of
from .executors import Pool, capacity, finish_block, most_under_way
from .store import Store


def gather_blocks(
    work: Work, count: int, executor: Executor | None, store: Store | None = None
) -> Generator[MemberBlock]:
    """Blocks of `count` members in their order; those that the store has are read, the others computed."""
    workers: _Workers
    if executor is not None:
        workers = Pool(executor, work, store)
    else:
        cores = _cores()
        workers = _Threads(work, store, cores) if cores > 1 else _ThisThread(work, store)
    try:
        yield from _in_order(workers, spans_of(count), store)
    finally:
        workers.close()


def blocks_at_a_time(executor: Executor | None) -> tuple[int, int]:
    """(blocks in work on this machine, blocks under way or waiting to be taken in), as far as it can be said."""
    if executor is None:
        cores = _cores()
        return cores, _Threads.AHEAD * cores if cores > 1 else 1
    if isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor):
        return capacity(executor), most_under_way(executor)
    return 0, 2  # other machines have memory of their own


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Workers(Protocol):
    most: int

    def submit(self, span: Span) -> Future[Any]: ...
    def result(self, span: Span, future: Future[Any]) -> MemberBlock: ...
    def close(self) -> None: ...


class _Ended(Exception):
    """Raised within the work of a thread that nobody waits for any more."""


class _Threads:
    """The threads of this process, one for each of its cores; so many blocks for each are AHEAD of who takes them."""

    AHEAD = 2

    def __init__(self, work: Work, store: Store | None, cores: int):
        self.work, self.store = work, store
        self.most = self.AHEAD * cores
        self.pool = ThreadPoolExecutor(cores)
        self.ended = threading.Event()

    def submit(self, span: Span) -> Future[MemberBlock]:
        return self.pool.submit(finish_block, self.work, self.store, span, self._look)

    def result(self, span: Span, future: Future[MemberBlock]) -> MemberBlock:
        return future.result()

    def close(self) -> None:
        self.ended.set()
        self.pool.shutdown(wait=True, cancel_futures=True)

    def _look(self, _: int) -> None:
        if self.ended.is_set():
            raise _Ended


class _ThisThread:
    """The thread that asks for blocks, where there is one core: others would only take turns with it."""

    most = 1

    def __init__(self, work: Work, store: Store | None):
        self.work, self.store = work, store

    def submit(self, span: Span) -> Future[MemberBlock]:
        done: Future[MemberBlock] = Future()
        done.set_result(finish_block(self.work, self.store, span))
        return done

    def result(self, span: Span, future: Future[MemberBlock]) -> MemberBlock:
        return future.result()

    def close(self) -> None:
        pass


def _in_order(workers: _Workers, spans: Iterator[Span], store: Store | None) -> Generator[MemberBlock]:
    """Results in the order of the spans, with at most so many under way."""
    finished = store.blocks_there() if store is not None else frozenset[int]()
    waiting: deque[tuple[Span, Future[Any] | None]] = deque()
    following = next(spans, None)
    active = 0
    while waiting or following is not None:
        while following is not None and active < workers.most:
            span, following = following, next(spans, None)
            computed = span.index not in finished
            waiting.append((span, workers.submit(span) if computed else None))
            active += computed
        span, future = waiting.popleft()
        block = None if future is not None or store is None else _kept_block(store, span)
        if block is None:
            active -= future is not None
            block = workers.result(span, workers.submit(span) if future is None else future)
        yield block


def _kept_block(store: Store, span: Span) -> MemberBlock | None:
    """A block of the store; None where it is damaged, or was lost with its worker: it is tried again."""
    block = store.read(span.index)
    return None if block is not None and ENDS.index("lost") in block.members.reason else block


__all__ = ["blocks_at_a_time", "gather_blocks"]
