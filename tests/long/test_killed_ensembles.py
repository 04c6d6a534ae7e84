"""Ensembles that are killed at any moment go on to the same bytes: threads and processes, twenty times."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sampled import digest

SWEEP = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import kane
from sampled import draw

def sweep(executor):
    kane.load("double-pendulum").ensemble(
        np.linspace(0.0, 4.0, 9), n=2000, seed=3, q={"q1": draw}, events={"down": "q2"},
        parameters={"m1": "uniform(-0.05, 1)", "L2": np.linspace(0.5, 2.0, 2000)}, watch={"height": "-L2*cos(q1)"},
        store=sys.argv[1], resume=True, executor=executor, progress=lambda p: print(p, flush=True),
    )

if __name__ == "__main__":
    if sys.argv[2] == "threads":
        sweep(None)
    else:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            sweep(pool)
"""
TRIES = 20
TESTS = Path(__file__).parents[1]


@pytest.mark.long
def test_killed_at_any_moment_an_ensemble_ends_with_the_same_bytes(tmp_path: Path) -> None:
    script = tmp_path / "sweep.py"
    script.write_text(SWEEP)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}

    def start(folder: Path, how: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(script), str(folder), how]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, start_new_session=True)

    def finish(folder: Path) -> str:
        child = start(folder, "threads")
        child.communicate(timeout=300)
        assert child.returncode == 0
        return digest(folder)

    began = time.monotonic()
    expected = finish(tmp_path / "whole.zarr")
    whole, chance, unfinished = time.monotonic() - began, random.Random(), 0
    for attempt in range(TRIES):
        folder = tmp_path / f"{attempt}.zarr"
        for _ in range(2):
            child = start(folder, ("threads", "processes")[attempt % 2])
            assert child.stdout is not None
            if chance.random() < 0.8:
                child.stdout.readline()  # the first block: what follows is work
                time.sleep(chance.uniform(0.0, 0.1))
            else:
                time.sleep(chance.uniform(0.0, whole))
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
        unfinished += not (folder / "members.parquet").exists()
        assert finish(folder) == expected, attempt
    assert unfinished >= TRIES / 2
