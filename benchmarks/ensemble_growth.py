"""How ensembles grow beyond one process: what a block costs its worker, its store and whoever gathers it.

N members in B blocks by W workers take

    T = max((N c + B a) / W, N e + B d, N s / R)

with c a member and a a block in a worker, its chunks written; e a member and d a block where blocks are gathered, its
rows of the table written; s the bytes of a member and R what the store takes per second. More than
(b c + a) / (b e + d) workers are of no use for blocks of b members. c, a, e and d are processor time, measured here
from few blocks, and compared with a run of 10⁴ small ones by two processes.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import kane
from benchmarks.measure import Row, exactly, processor_seconds, seconds
from kane.api.ensemble_store import open_store
from kane.ensemble import blocks
from kane.ensemble.executors import finish_block
from kane.ensemble.folder import LocalFolder

SMALL, LARGE = 64, blocks.LARGEST
"""Members of the blocks from which costs are measured."""

FEW = {SMALL: (40, 240), LARGE: (8, 104)}  # blocks of each size from which the cost of gathering is told
TRIES = 3  # runs of each, of which the quickest counts: whatever else the machine does only adds to processor time
WRITTEN = 64  # files of 4 MB from which it is told what a store takes
MANY = 10_000  # small blocks of the run that the costs are compared with
HOUR, BILLION = 3600.0, 10**9
PENDULUM: dict[str, Any] = {"model": "pendulum", "t": 0.05, "q": {"q": "uniform(-1, 1)"}}
EXAMPLES: dict[str, dict[str, Any]] = {
    "double pendulum, 10 s": {"model": "double-pendulum", "t": 10.0, "q": {"q1": "uniform(-3, 3)"}},
    "bicycle, 20 s": {
        "model": "whipple-bicycle",
        "t": 20.0,
        "u": {"uroll": "uniform(0.1, 0.8)"},
        "embed": "formulation",
    },
}


@dataclass(frozen=True, slots=True)
class Costs:
    """Processor time (s) of a member and of a block in a worker, and of both where they are gathered; bytes stored of a
    member."""

    member: float
    block: float
    gathered_member: float
    gathered_block: float
    stored: float

    def work(self, members: float, count: float) -> float:
        """Processor time (s) of all workers."""
        return members * self.member + count * self.block

    def workers_within(self, duration: float) -> float:
        """Workers that compute 10⁹ members within so many seconds."""
        return self.work(BILLION, BILLION / LARGE) / duration

    def gathering(self, members: float, count: float) -> float:
        """Processor time (s) of whoever gathers."""
        return members * self.gathered_member + count * self.gathered_block

    @property
    def most_workers(self) -> float:
        """Workers beyond which gathering is all that blocks wait for."""
        return self.work(LARGE, 1) / self.gathering(LARGE, 1)


@contextmanager
def _blocks_of(size: int) -> Iterator[None]:
    """Within, blocks have so many members."""
    before = blocks.LARGEST, blocks.SMALLEST
    blocks.LARGEST = blocks.SMALLEST = size
    try:
        yield
    finally:
        blocks.LARGEST, blocks.SMALLEST = before


def _run(
    asked: dict[str, Any], members: int, size: int, store: Path, executor: Executor | None = None
) -> kane.Ensemble:
    shutil.rmtree(store, ignore_errors=True)
    rest = {name: value for name, value in asked.items() if name not in ("model", "t")}
    with _blocks_of(size):
        return kane.load(asked["model"]).ensemble(
            asked["t"], n=members, seed=1, keep="ends", store=store, executor=executor, **rest
        )


def _worker_seconds(asked: dict[str, Any], store: Path, size: int, count: int) -> float:
    """Processor time (s) of a block of so many members, computed and written, in the mean over `count` of them."""
    shutil.rmtree(store, ignore_errors=True)
    work = _run(asked, SMALL, SMALL, store).work
    work = replace(work, plan=replace(work.plan, count=size * (count + 1)))
    shutil.rmtree(store)
    with _blocks_of(size):
        kept = open_store(store, work, "ends", False)
        first, *others = blocks.spans_of(work.plan.count)
    finish_block(work, kept, first)
    return processor_seconds(lambda: [finish_block(work, kept, span) for span in others]) / count


def _costs(asked: dict[str, Any], store: Path) -> Costs:
    """Costs from small and large blocks in this process, and from blocks that another process computes."""
    large, small = _worker_seconds(asked, store, LARGE, 2), _worker_seconds(asked, store, SMALL, 100)
    stored = sum(p.stat().st_size for p in (store / "end_q" / "c" / "1").rglob("*")) / SMALL
    member = (large - small) / (LARGE - SMALL)
    block, row = _gathering_costs(store)
    return Costs(member, max(small - SMALL * member, 0.0), row, block, stored)


def _gathering_costs(store: Path) -> tuple[float, float]:
    """Processor time (s) of a block and of a member where they are gathered, while another process computes them."""
    found: dict[int, float] = {}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        _run(PENDULUM, 2 * SMALL, SMALL, store, pool)
        for size, counts in FEW.items():
            few, more = (
                min(processor_seconds(lambda n=n, s=size: _run(PENDULUM, n * s, s, store, pool)) for _ in range(TRIES))
                for n in counts
            )
            found[size] = (more - few) / (counts[1] - counts[0])
    row = max(found[LARGE] - found[SMALL], 0.0) / (LARGE - SMALL)
    return max(found[SMALL] - SMALL * row, 0.0), row


def _store_rate(folder: Path) -> float:
    """Bytes that a store takes per second, written through to the disk."""
    store, data = LocalFolder(str(folder)), os.urandom(1 << 22)

    def write() -> None:
        for k in range(WRITTEN):
            store.put(f"c/{k}", data)
        os.sync()

    return WRITTEN * len(data) / seconds(write)


def small_blocks() -> list[Row]:
    """10⁴ small blocks by two processes, against what the costs say."""
    with _all_cores(), tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.zarr"
        costs = _costs(PENDULUM, store)
        start, _ = _by_two(store, 2)
        workers, parent = _by_two(store, MANY)
        work = (workers - start) / costs.work(MANY * SMALL, MANY)
        gathering = parent / costs.gathering(MANY * SMALL, MANY)
        rate = _store_rate(Path(folder) / "bytes")
    return [
        Row("ensemble, a block in its worker, beside its members", exactly(1e3 * costs.block), "ms"),
        Row("ensemble, a block where it is gathered, beside its members", exactly(1e3 * costs.gathered_block), "ms"),
        Row("ensemble, a member where it is gathered", exactly(1e6 * costs.gathered_member), "µs"),
        Row("ensemble, what a store on this disk takes", exactly(1e-6 * rate), "MB/s"),
        Row(f"{MANY} small blocks, 2 processes: work, against the model", exactly(work), ""),
        Row(f"{MANY} small blocks, gathering, against the model", exactly(gathering), ""),
    ]


def _by_two(store: Path, count: int) -> tuple[float, float]:
    """Processor time (s) of two workers, with their start, and of this process, for so many small blocks."""
    before = _children()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        parent = processor_seconds(lambda: _run(PENDULUM, count * SMALL, SMALL, store, pool))
    return _children() - before, parent


def processes() -> list[Row]:
    """The same ensemble by one process and by two, wall time; and what a thousand million members would need."""
    rows: list[Row] = []
    with _all_cores(), tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.zarr"
        double = EXAMPLES["double pendulum, 10 s"]
        times: dict[int, float] = {}
        for count in (1, 2):
            with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
                _run(double, 2 * SMALL, SMALL, store, pool)
                times[count] = seconds(lambda pool=pool: _run(double, 16 * 1024, 1024, store, pool))
        rows += [Row(f"16384 double pendulums, {count} processes", exactly(times[count]), "s") for count in times]
        rows.append(Row("16384 double pendulums, 2 processes against 1", exactly(times[1] / times[2]), "times faster"))
        for name, asked in EXAMPLES.items():
            costs = _costs(asked, store)
            rate = BILLION * costs.stored / HOUR
            rows += [
                Row(f"{name}, a member", exactly(1e6 * costs.member), "µs"),
                Row(f"{name}, 10⁹ members within an hour", exactly(costs.workers_within(HOUR)), "workers"),
                Row(f"{name}, more are of no use beyond", exactly(costs.most_workers), "workers"),
                Row(f"{name}, states at the end, written within that hour", exactly(rate / 1e6), "MB/s"),
            ]
    return rows


@contextmanager
def _all_cores() -> Iterator[None]:
    """Within, this process and those that it starts may use all cores."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _children() -> float:
    """Processor time (s) of processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
