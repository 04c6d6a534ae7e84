"""Members are the same bits whoever computes them, and a worker that dies takes nobody with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import kane
from dask_cluster import dask_cluster
from kane.ensemble import block_size, executors
from kane.ensemble.pools import is_broken
from kane.errors import ExecutorError, InputError
from sampled import DEADLY, KILLED, digest, draw, kill_once, kill_unless_told

TIMES = np.linspace(0.0, 1.0, 5)
COUNT = 1100  # 18 blocks


def motions(executor: Executor | None, q: Any = "uniform(-1, 1)", **options: Any) -> Any:
    """Pendulums that differ in angle, length and speed; some lengths are negative, which is refused."""
    lengths = np.linspace(-0.1, 2.0, COUNT)
    return kane.load("pendulum").ensemble(
        TIMES,
        seed=3,
        q={"q": q},
        u={"u": "normal(0, 1)"},
        parameters={"L": lengths, "m": "uniform(-0.05, 1)"},
        watch={"height": "-L*cos(q)"},
        events={"down": "q"},
        executor=executor,
        **options,
    )


def assert_same(a: Any, b: Any) -> None:
    """All that two ensembles know is the same, to the bit."""
    assert np.array_equal(a.reasons, b.reasons)
    assert dict(a.messages) == dict(b.messages)
    for name in ("end_t", "end_q", "end_u", "q", "u"):
        assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True), name
    for name in ("first", "crossings", "low", "high", "end"):
        for key, values in getattr(a, name).items():
            assert np.array_equal(values, getattr(b, name)[key], equal_nan=True), (name, key)
    for key, tally in a.tallies.items():
        for field in tally.__slots__:
            assert np.array_equal(getattr(tally, field), getattr(b.tallies[key], field)), (key, field)
    for field in a.joint.__slots__:
        assert np.array_equal(getattr(a.joint, field), getattr(b.joint, field)), field


@pytest.mark.parametrize("how", ["spawn", "forkserver"])
def test_processes_give_the_bits_of_threads(how: str) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(how)) as pool:
        found = motions(pool, draw)
    assert_same(found, motions(None, draw))
    assert 0 < np.count_nonzero(found.reasons == "refused") < COUNT / 4
    refused = int(np.flatnonzero(found.reasons == "refused")[0])
    assert found.messages[refused].startswith(f"member {refused}: ")


def test_one_core_gives_the_bits_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    many = motions(None, draw)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert_same(motions(None, draw), many)


def test_a_dask_cluster_gives_the_bits_of_threads(tmp_path: Path) -> None:
    with dask_cluster(tmp_path) as cluster:
        found = motions(cluster.client.get_executor(), draw)
    assert_same(found, motions(None, draw))


class Recording(Executor):
    """An executor that computes nothing before it is asked for a result, and knows how many blocks wait."""

    num_workers = 2

    def __init__(self) -> None:
        self.waiting, self.most, self.payloads = 0, 0, set[bytes]()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        self.payloads.add(args[0])
        outer = self

        class Late(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                outer.waiting -= 1
                return fn(*args, **kwargs)

        return Late()


def test_few_blocks_are_under_way_and_the_work_is_the_same_bytes_for_all() -> None:
    executor = Recording()
    assert_same(motions(executor), motions(None))
    assert executor.most == 3 * executor.num_workers < COUNT // block_size(COUNT)
    (payload,) = executor.payloads
    given = np.linspace(-0.1, 2.0, COUNT)[100:102].tobytes()
    assert given not in payload  # lengths travel with their blocks


def test_a_worker_that_is_killed_once_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KILLED, str(tmp_path / "killed"))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = motions(pool, kill_once)
    assert (tmp_path / "killed").exists()
    assert_same(found, motions(None, draw))


def test_a_worker_that_is_killed_while_it_sends_a_result_is_no_hang(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(os.getpid).result()  # so that there are processes

        def kill(progress: Any) -> None:
            if progress.done < COUNT / 8 and not is_broken(pool):
                queue: Any = pool._result_queue
                queue._writer._send(b"\0\0\x10\0half")  # of a message of 4096 bytes
                os.kill(next(iter(pool._processes)), signal.SIGKILL)

        found = motions(pool, draw, store=tmp_path / "runs.zarr", progress=kill)
        assert is_broken(pool)
    motions(None, draw, store=tmp_path / "whole.zarr")
    assert found.reasons.tolist().count("lost") == 0
    assert digest(tmp_path / "runs.zarr") == digest(tmp_path / "whole.zarr")


def test_members_that_kill_every_worker_are_lost_all_others_complete_and_a_store_tries_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, expected = tmp_path / "runs.zarr", motions(None, draw)
    size = block_size(COUNT)
    deadly = {i // size for i in np.flatnonzero(expected.numbers["q"] > DEADLY).tolist()}
    assert 0 < len(deadly) < 4
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = motions(pool, kill_unless_told, store=store)
    lost = np.isin(np.arange(COUNT) // size, list(deadly))
    assert np.array_equal(found.reasons == "lost", lost) and f"{np.count_nonzero(lost)} lost" in str(found)
    assert all("its worker ended" in found.messages[i] for i in np.flatnonzero(lost).tolist())
    assert not found.success[lost].any()
    assert np.array_equal(found.reasons[~lost], expected.reasons[~lost])
    assert np.array_equal(found.end_q[~lost], expected.end_q[~lost], equal_nan=True)
    assert pq.read_table(store / "members.parquet")["reason"].to_pylist() == found.reasons.tolist()
    monkeypatch.setenv(KILLED, str(tmp_path))  # which stands for memory that is there again
    assert_same(motions(None, kill_unless_told, store=store, resume=True), motions(None, draw))
    motions(None, kill_unless_told, store=tmp_path / "whole.zarr")
    assert digest(store) == digest(tmp_path / "whole.zarr")


def test_a_function_that_does_not_pickle_is_named_before_anything_starts() -> None:
    executor = Recording()
    with pytest.raises(InputError, match=r"(?s)^q q: .*lambda.* does not pickle.*fix: define it at the top level"):
        motions(executor, lambda generator: generator.random())
    assert executor.most == 0
    with ThreadPoolExecutor(2) as pool:  # threads share it
        assert len(motions(pool, lambda generator: generator.random())) == COUNT


def test_an_executor_that_takes_no_work_is_named() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ExecutorError, match=r"(?s)ThreadPoolExecutor: takes no work any more.*fix: start it again"):
        motions(pool)
    with pytest.raises(InputError, match="is no executor"):
        motions(3)  # pyright: ignore[reportArgumentType]


def test_a_cluster_that_loses_a_worker_completes_and_one_that_loses_all_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 2.0)
    store = tmp_path / "runs.zarr"
    with dask_cluster(tmp_path) as cluster:

        def kill(which: int) -> Callable[[Any], object]:
            return lambda progress: cluster.workers[which].kill() if progress.done > COUNT / 8 else None

        whole = motions(cluster.client.get_executor(), draw, progress=kill(0))
        assert_same(whole, motions(None, draw))
        assert cluster.workers[0].wait() < 0 and cluster.workers[1].poll() is None
        with pytest.raises(ExecutorError, match=r"(?s)no workers for 2 s.*kept: what is in the store.*resume=True"):
            motions(cluster.client.get_executor(), draw, store=store, progress=kill(1))
    assert_same(motions(None, draw, store=store, resume=True), whole)


def test_a_scheduler_that_does_not_answer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 2.0)
    with dask_cluster(tmp_path) as cluster:

        def stop(progress: Any) -> None:
            cluster.scheduler.send_signal(signal.SIGSTOP)

        with pytest.raises(ExecutorError, match=r"(?s)its scheduler does not answer.*kept: nothing"):
            motions(cluster.client.get_executor(), draw, progress=stop)
        cluster.scheduler.send_signal(signal.SIGCONT)


def test_a_cluster_whose_scheduler_dies_is_named_and_the_store_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "runs.zarr"
    with dask_cluster(tmp_path) as cluster:
        seen: list[int] = []

        def kill(progress: Any) -> None:
            seen.append(progress.done)
            if len(seen) == 2:
                cluster.scheduler.kill()

        import dask.config

        with (
            dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
            pytest.raises(ExecutorError, match=r"(?s)kept: what is in the store.*resume=True"),
        ):
            motions(cluster.client.get_executor(), draw, store=store, progress=kill)
    assert len(seen) >= 2
    assert_same(motions(None, draw, store=store, resume=True), motions(None, draw))
