"""A Dask cluster on this machine: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
STARTING = 120.0  # s that a cluster may take to come up on a busy machine


@dataclass(frozen=True)
class Cluster:
    """The processes, and the client that knows them."""

    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]
    client: Any


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster that is gone at the end of the block; `folder` holds its files."""
    from distributed import Client

    file = folder / "scheduler.json"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}

    def start(which: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{which}", "--scheduler-file", str(file), *options]
        with (folder / f"{which}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)

    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")]
    client = None
    try:
        until = time.monotonic() + STARTING
        while not file.exists() or not file.stat().st_size:
            assert processes[0].poll() is None and time.monotonic() < until, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        processes += [start("worker", *options) for _ in range(workers)]
        client = Client(scheduler_file=str(file), timeout=STARTING)
        client.wait_for_workers(workers, timeout=STARTING)
        yield Cluster(processes[0], processes[1:], client)
    finally:
        if client is not None:
            with contextlib.suppress(Exception):
                client.close(timeout=2)
        for process in processes:
            process.kill()
            process.wait()
