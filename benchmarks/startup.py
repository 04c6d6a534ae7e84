"""From the name of a model to its first efforts and accelerations, against SymPy, each in a fresh process.

A fresh process keeps both sides honest: nothing is left in memory from the last repeat. The process reports the time
between the end of its imports and its first results; the time of the whole process, imports included, is a row too.
"""

from __future__ import annotations

import compileall
import functools
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Duel, Row, disagreement, seconds

REPEATS = 5
ROOT = Path(__file__).parents[1]

PROBE = """
import json, time
import numpy as np
from peers.stanford import random_samples
{imports}
sample = random_samples(1)
q, u, udot, tau = sample.q[0], sample.u[0], sample.udot[0], sample.effort[0]
start = time.perf_counter()
arm = {arm}
efforts, accelerations = arm.inverse_dynamics(q, u, udot), arm.forward_dynamics(q, u, tau)
elapsed = time.perf_counter() - start
print(json.dumps([elapsed, list(efforts), list(accelerations)]))
"""
OURS = PROBE.format(imports="import kane.api, kane.backends.llvm", arm='kane.load("stanford-arm")')
THEIRS = PROBE.format(imports="from peers.sympy_arm import sympy_arm", arm="sympy_arm()")


@dataclass(frozen=True, slots=True)
class Start:
    """One fresh process: seconds after its imports, seconds in all, and its efforts and accelerations."""

    ready: float
    whole: float
    results: list[float]


@functools.cache
def translate_once() -> None:
    """Bytecode of kane's sources, as pip makes it of packages that it installs: SymPy's is there."""
    for folder in (ROOT / "src" / "kane", ROOT / "tests" / "peers"):
        compileall.compile_dir(folder, quiet=1)


def fresh_process(probe: str, cache: str) -> Start:
    """Run `probe` in a process of its own that keeps compiled code in the folder `cache`."""
    translate_once()
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"KANE_CACHE_DIR": cache, "PYTHONPATH": path}
    output: list[str] = []

    def run() -> None:
        done = subprocess.run([sys.executable, "-c", probe], env=environment, check=True, stdout=subprocess.PIPE)
        output.append(done.stdout.decode())

    whole = seconds(run)
    ready, efforts, accelerations = json.loads(output[0])
    return Start(ready, whole, efforts + accelerations)


def first_results() -> list[Row]:
    """Cold and from the disk cache, in turn with SymPy."""
    cold, warm, theirs = [], [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(fresh_process(OURS, cache))
            warm.append(fresh_process(OURS, cache))
            theirs.append(fresh_process(THEIRS, cache))
    error = disagreement(cold[0].results, theirs[0].results)
    sympy_ready = [start.ready for start in theirs]
    sympy_whole = [start.whole for start in theirs]
    peer, name = "SymPy KanesMethod, lambdify", "load, formulate, compile, first results"
    return [
        Duel(peer, [start.ready for start in cold], sympy_ready).row(f"{name}; cold", 5, error),
        Duel(peer, [start.ready for start in warm], sympy_ready).row(f"{name}; from the disk cache", 50, error),
        Duel(peer, [start.whole for start in cold], sympy_whole).row(
            f"{name}; cold, process and imports too", None, error
        ),
        Duel(peer, [start.whole for start in warm], sympy_whole).row(
            f"{name}; cached, process and imports too", None, error
        ),
    ]
