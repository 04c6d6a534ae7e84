"""Pages: how near their motion is to a native run, how large they are, and what a step costs in WebAssembly."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import kane
import node
from benchmarks.measure import Row, exactly, spread
from browser import FLAGS, chromium

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

BODIES, WATCHED = 20, 4.0
"""Bodies of the chain whose page is drawn, and for how long (s) frames are counted."""


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


def drawing() -> list[Row]:
    """Frames per second of a page with many bodies where the processor draws, and what a frame costs it; the second
    says more on a machine that others use too. Nothing where there is no browser."""
    if chromium() is None:
        return []
    rates, costs, clocks = list[float](), list[float](), list[float]()
    read = "(() => { const p = document.querySelector('kane-page');"
    read += " return [p.drawing.frames, p.state.t, performance.now() / 1000]; })()"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = _chain(BODIES).page(Path(folder) / "chain.html")
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1000, "height": 640})
        page.goto(path.as_uri())
        page.wait_for_selector("kane-page[ready]", timeout=60_000)
        page.wait_for_timeout(2000)
        for _ in range(REPEATS):
            before, used = page.evaluate(read), processor_seconds()
            page.wait_for_timeout(1000 * WATCHED)
            after, spent = page.evaluate(read), processor_seconds() - used
            frames, seconds = after[0] - before[0], after[2] - before[2]
            rates.append(frames / seconds)
            costs.append(1000 * spent / max(1, frames))
            clocks.append((after[1] - before[1]) / seconds)
        browser.close()
    return [
        Row(f"page of {BODIES} bodies drawn by software: frames per second", spread(rates), "", 15.0, "at least"),
        Row(
            f"page of {BODIES} bodies drawn by software: processor time of a frame",
            spread(costs),
            "ms",
            None,
            "at most",
        ),
        Row(f"page of {BODIES} bodies: time of the motion over the clock's", spread(clocks), "", 0.98, "at least"),
    ]


def _chain(count: int) -> kane.Model:
    """A chain of bodies on hinges that cross each other."""
    m, last = kane.Model("chain", gravity=(0, 0, -9.81)), "ground"
    for i in range(count):
        name = f"b{i}"
        m.body(name, mass=1, center=(0, 0, -0.1), inertia={"xx": 0.01, "yy": 0.01, "zz": 0.01})
        m.joint(f"j{i}", "revolute", last, name, axis="xy"[i % 2], at=(0, 0, -0.2 if i else 0))
        last = name
    return m


def processor_seconds() -> float:
    """What all processes that this one has started, and theirs, have used of the processor so far (s); Linux."""
    found: dict[int, tuple[int, float]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        found[int(stat.parent.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    total, own = 0.0, os.getpid()
    for process in found:
        above = process
        while above in found and above != own:
            above = found[above][0]
        total += found[process][1] if above == own and process != own else 0.0
    return total
