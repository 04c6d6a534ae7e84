"""`kane sweep` with stores, by threads, processes and clusters: the same bytes, interrupted or not."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dask_cluster import dask_cluster
from kane.cli import FAILED, FINE, INTERRUPTED, main, workers
from sampled import digest

LINE = ["sweep", "pendulum", "-n", "200", "--seed", "1", "--q", "q=uniform(-1,1)", "--time", "1", "--samples", "5"]


def test_a_store_is_written_gone_on_with_and_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [*LINE, "--out", str(tmp_path / "runs.zarr")]
    assert main([*line, "--plot", str(tmp_path / "scatter.png")]) == FINE
    assert (tmp_path / "scatter.png").exists() and (tmp_path / "runs.zarr" / "members.parquet").exists()
    before = digest(tmp_path / "runs.zarr")
    assert main(line) == FAILED
    assert "resume" in capsys.readouterr().err
    assert main([*line, "--resume"]) == FINE
    assert digest(tmp_path / "runs.zarr") == before


def test_processes_and_a_cluster_write_the_bytes_of_threads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--out", str(tmp_path / "threads.zarr")]) == FINE
    assert main([*LINE, "--out", str(tmp_path / "processes.zarr"), "--processes", "2"]) == FINE
    with dask_cluster(tmp_path) as cluster:
        address = cluster.client.scheduler_info()["address"]
        assert main([*LINE, "--out", str(tmp_path / "cluster.zarr"), "--dask", address]) == FINE
        capsys.readouterr()
        file = str(tmp_path / "scheduler.json")
        assert main([*LINE, "--out", str(tmp_path / "cluster.zarr"), "--dask", file]) == FAILED
        assert "fix: go on with --resume" in capsys.readouterr().err
    expected = digest(tmp_path / "threads.zarr")
    assert digest(tmp_path / "processes.zarr") == expected == digest(tmp_path / "cluster.zarr")


def test_a_scheduler_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "REACHED_WITHIN", 1.0)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        assert main([*LINE, "--dask", address]) == FAILED
        assert f"--dask {address}: no scheduler answers there" in (said := capsys.readouterr().err)
        assert "fix: start one with `dask scheduler`" in said


LONG = ["sweep", "double-pendulum", "-n", "20000", "--q", "q1=uniform(1,3)", "--time", "40", "--samples", "0"]


@pytest.mark.parametrize(
    ("how", "group"),
    [
        pytest.param([], False, id="threads"),
        pytest.param(["--processes", "2"], True, id="group of processes"),
        pytest.param([], True, id="group of threads", marks=pytest.mark.long),
        pytest.param(["--processes", "2"], False, id="processes", marks=pytest.mark.long),
    ],
)
def test_an_interrupt_keeps_what_is_done_and_says_the_command_that_goes_on(
    tmp_path: Path, how: list[str], group: bool
) -> None:
    store = tmp_path / "runs.zarr"
    command = [sys.executable, "-m", "kane", *LONG, "--out", str(store), *how]
    child = subprocess.Popen(
        command, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 300
    while not list(store.glob("blocks/*")) and child.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    (os.killpg if group else os.kill)(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=300)
    assert child.returncode == INTERRUPTED, said
    assert "members are done" in said and "Traceback" not in said
    told = shlex.split(said.partition("to the same bytes: ")[2].splitlines()[0])
    assert told == ["kane", *command[3:], "--resume"]
    assert list(store.glob("blocks/*")) and not (store / "members.parquet").exists()
