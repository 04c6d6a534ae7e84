"""Pages: how near their motion is to a native run, how large they are, and what a step costs in WebAssembly."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import kane
import node
from benchmarks.measure import Row, exactly, spread

SECONDS, STEP = 2.0, 1e-3

MODELS = (
    "pendulum",
    "stanford-arm",
    "ur5",
    "rolling-disc",
    "whipple-bicycle",
    "four-bar",
    "stewart-platform",
    "stick-slip",
    "shopping-cart",
)

TIMED = "whipple-bicycle"
REPEATS = 7


def pages() -> list[Row]:
    """Agreement after 2 s and size of the largest page, over models without chaos; time of a step of the bicycle."""
    with tempfile.TemporaryDirectory() as folder:
        written = [(kane.load(name).page(Path(folder) / f"{name}.html", step=STEP), SECONDS) for name in MODELS]
        found = node.live_states(written)
        largest = max(path.stat().st_size for path, _ in written)
        index = MODELS.index(TIMED)
        ours = [node.live_states([written[index]])[0]["microseconds"] * 1e-6 for _ in range(REPEATS)]
    error = 0.0
    for name, state in zip(MODELS, found, strict=True):
        run = kane.load(name).simulate(SECONDS, method="rk4", step=STEP)
        for native, page in ((run.q[-1], state["q"]), (run.u[-1], state["u"])):
            error = max(error, float(np.abs(native - page).max() / max(1.0, np.abs(native).max())))
    model = kane.load(TIMED)
    model.simulate(SECONDS, method="rk4", step=STEP)
    theirs = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        model.simulate(SECONDS, method="rk4", step=STEP)
        theirs.append((time.perf_counter() - start) * STEP / SECONDS)
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return [
        Row(f"pages, {len(MODELS)} models, 2 s: difference from native runs", exactly(error), "", 1e-12, "at most"),
        Row("pages, the largest of them", exactly(largest / 1e6), "MB", 1.0, "at most"),
        Row(
            "pages, a step of the bicycle in WebAssembly",
            spread(ratios),
            "times the native one",
            None,
            "at most",
            "native run",
            spread(ours),
            spread(theirs),
            error,
        ),
    ]
