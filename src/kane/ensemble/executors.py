"""Blocks that are computed by an executor of concurrent.futures: processes of this machine, or workers of a cluster.

The work travels as bytes with each block, and a worker unpacks and compiles it once. What a worker's own code raises
comes back as a value; so all that a future raises is about the executor. A worker that is killed loses the blocks under
way, in a pool of processes those of its neighbours too: they are computed again one by one in a process of their own,
and a block that ends that process as well is lost.
"""

from __future__ import annotations

import functools
import multiprocessing
import pickle
import time
import traceback
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from typing import Any

from ..errors import ExecutorError, InputError, KaneError, WritingError
from .blocks import MemberBlock, Span, Work
from .pools import dead_processes, end_processes, is_broken
from .store import Store

WAITING = 2
"""Blocks that wait for each worker, so that none is idle while results are taken in."""

UNKNOWN = 16
"""Workers that are assumed of an executor that does not say how many it has."""

LOOK_EVERY = 1.0
"""Seconds between looks at an executor whose blocks are waited for."""

PATIENCE = 60.0
"""Seconds for which a cluster may be without workers, or its scheduler without an answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What a worker's code raised: whether it is the user's to fix, whether it is about writing, and its text."""

    known: bool
    writing: bool
    text: str

    def error(self) -> Exception:
        """The fault as an error."""
        if self.writing:
            return WritingError(self.text)
        return KaneError(self.text) if self.known else RuntimeError(f"in a worker:\n{self.text}")


def pack(work: Work, store: Store | None) -> bytes:
    """What a worker needs, as bytes; refuses what does not pickle, by its name."""
    try:
        return pickle.dumps((work.lighten(), store), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        for name, value in work.parts():
            try:
                pickle.dumps(value)
            except Exception:
                raise InputError(
                    f"{name}: {value!r} does not pickle, so that no other process can have it\n"
                    f"    fix: define it at the top level of a module that workers can import (no lambda, no function"
                    f" within a function), or leave out executor: threads share it"
                ) from error
        raise


@functools.lru_cache(maxsize=2)
def _unpack(payload: bytes) -> tuple[Work, Store | None]:
    """The work as this process has it: formulated and compiled once, then kept."""
    return pickle.loads(payload)


def compute_block(payload: bytes, span: Span, given: Any) -> MemberBlock | Fault:
    """A block, computed in this process and written to the store if there is one."""
    try:
        try:
            work, store = _unpack(payload)
        except (AttributeError, ImportError, pickle.UnpicklingError) as error:
            return Fault(
                True,
                False,
                f"a worker cannot take the work apart: {error}\n    fix: define functions in a module that workers can"
                " import, and give all the same version of kane",
            )
        return finish_block(work, store, span, given=given)
    except Exception as error:
        known = isinstance(error, KaneError)
        return Fault(known, isinstance(error, WritingError), str(error) if known else traceback.format_exc())


def finish_block(
    work: Work, store: Store | None, span: Span, look: Callable[[int], object] | None = None, given: Any = None
) -> MemberBlock:
    """A block, written to the store if there is one; motions that are in the store do not travel."""
    block = work.run(span.first, span.last, look, given)
    return block if store is None else store.write(span.index, block)


class Pool:
    """An executor at work: blocks go in, and come out computed or lost."""

    def __init__(self, executor: Executor, work: Work, store: Store | None):
        if not isinstance(executor, Executor) and not callable(getattr(executor, "submit", None)):
            raise InputError(
                f"executor = {executor!r} is no executor\n    fix: give one of concurrent.futures, or of a cluster"
            )
        self.work, self.store = work, store
        self.shares = isinstance(executor, ThreadPoolExecutor)
        self.payload = b"" if self.shares else pack(work, store)
        self.executor = executor
        self.most = most_under_way(executor)
        self._own: ProcessPoolExecutor | None = None  # in the place of a pool that broke
        self._alone: ProcessPoolExecutor | None = None
        self._of: dict[Future[Any], Executor] = {}
        self._lost = False

    def submit(self, span: Span) -> Future[MemberBlock | Fault]:
        """A block under way."""
        given = None if self.shares else self.work.given_to(span.first, span.last)
        for _ in range(3):
            try:
                if self.shares:
                    future: Future[Any] = self.executor.submit(finish_block, self.work, self.store, span)
                else:
                    future = self.executor.submit(compute_block, self.payload, span, given)
                break
            except BrokenExecutor as error:
                self._replace(self.executor, error)
            except Exception as error:
                raise self._name_loss(error) from error
        else:
            raise self._name_loss(RuntimeError("it breaks as soon as it is made"))
        self._of[future] = self.executor
        return future

    def result(self, span: Span, future: Future[MemberBlock | Fault]) -> MemberBlock:
        """What came of a block."""
        executor = self._of.pop(future)
        try:
            found = self._wait_for(future, executor)
        except ExecutorError:
            raise
        except CancelledError as error:
            raise self._name_loss(error) from error
        except BrokenExecutor as error:
            self._replace(executor, error)
            found = self._compute_alone(span)
        except Exception:
            if self.shares:
                raise
            found = self._compute_alone(span)
        if isinstance(found, Fault):
            raise found.error()
        return found

    def _wait_for(self, future: Future[Any], executor: Executor) -> Any:
        """What a future gives; looks now and then whether there is anybody left who could give it."""
        looking = _Watch(executor)
        while True:
            try:
                return future.result(LOOK_EVERY)
            except TimeoutError:
                if future.done():
                    raise
            why = looking.look()
            if why and not future.done():
                raise self._name_loss(RuntimeError(why))

    def close(self) -> None:
        """End what was started here; the executor that was given is its owner's."""
        running = [x for x, executor in self._of.items() if is_broken(executor) or not x.cancel()]
        watches = {executor: _Watch(executor) for executor in self._of.values()}
        if self.store is not None and not self._lost:  # nobody is to write to the store any more
            while running := [x for x in running if not x.done() and not is_broken(self._of[x])]:
                wait(running, LOOK_EVERY)
                if any(watch.look() for watch in watches.values()):
                    break
        for pool in (self._own, self._alone):
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def _replace(self, broken: Executor, error: BaseException) -> None:
        """A pool of processes in the place of one that broke."""
        if broken is not self.executor:
            return
        if not isinstance(broken, ProcessPoolExecutor):
            raise self._name_loss(error) from error
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)
        begin, given = getattr(broken, "_initializer", None), getattr(broken, "_initargs", ())
        self._own = ProcessPoolExecutor(capacity(broken), _context(broken), begin, given)
        self.executor = self._own

    def _compute_alone(self, span: Span) -> MemberBlock | Fault:
        """A block that a worker did not survive, in a process of its own."""
        if self._alone is None:
            self._alone = ProcessPoolExecutor(1, mp_context=_context(self.executor))
        try:
            given = self.work.given_to(span.first, span.last)
            return self._wait_for(self._alone.submit(compute_block, self.payload, span, given), self._alone)
        except BrokenExecutor:
            self._alone.shutdown(wait=False, cancel_futures=True)
            self._alone = None
            why = "its worker ended, and another process that computed its block ended too (killed, or out of memory)"
            lost = self.work.lose(span.first, span.last, why)
            return lost if self.store is None else self.store.write(span.index, lost)

    def _name_loss(self, error: BaseException) -> ExecutorError:
        self._lost = True
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        kept = "what is in the store" if self.store is not None else "nothing: there is no store"
        return ExecutorError(
            f"executor {type(self.executor).__name__}: takes no work any more, or has dropped some ({what})\n"
            f"    kept: {kept}\n    fix: start it again; with store=… and resume=True the ensemble goes on"
        )


def capacity(executor: Executor) -> int:
    """How many blocks an executor computes at a time, as far as it says so."""
    for name in ("_max_workers", "num_workers"):  # of concurrent.futures, and of mpi4py.futures
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    client: Any = getattr(executor, "_client", None)  # of Dask
    if client is not None and hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    return UNKNOWN


def most_under_way(executor: Executor) -> int:
    """How many blocks an executor is given before one is taken in."""
    return max(2, (1 + WAITING) * capacity(executor))


class _Watch:
    """Whether there is anybody left to compute what an executor was given, from one look to the next."""

    def __init__(self, executor: Executor):
        self.executor = executor
        self.client: Any = getattr(executor, "_client", None)  # of Dask
        self.workers_seen = time.monotonic()
        self.dead: frozenset[int] = frozenset()

    def look(self) -> str:
        """Why nobody is; empty where somebody may be. A pool that has lost a process without noticing breaks here."""
        if self.client is None:
            dead = dead_processes(self.executor)
            if dead & self.dead:  # a pool that is well notices within one look
                end_processes(self.executor)
            self.dead = dead
            return ""
        try:
            workers = self.client.sync(self.client.scheduler.ncores, callback_timeout=PATIENCE)
        except Exception as error:
            return f"its scheduler does not answer: {error or type(error).__name__}"
        if workers:
            self.workers_seen = time.monotonic()
        elif time.monotonic() - self.workers_seen > PATIENCE:
            return f"it has had no workers for {PATIENCE:g} s"
        return ""


def _context(executor: Executor) -> Any:
    """How processes are started: as the user's are, or anew."""
    found = getattr(executor, "_mp_context", None)
    return multiprocessing.get_context("spawn") if found is None else found


__all__ = ["Fault", "Pool", "capacity", "compute_block", "finish_block", "most_under_way", "pack"]
