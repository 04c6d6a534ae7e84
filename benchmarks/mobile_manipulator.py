"""The mobile manipulator of Tanner & Kyriakopoulos [TK01]: seven motions of an independent computation, operations
beside the paper's bounds, and what a motion and one evaluation of everything a safety filter needs cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import kane
from benchmarks.measure import REPEATS, Row, Spread, exactly, spread
from cases import test_mobile_manipulator_operations as operations_cases
from cases import test_vehicles as cases
from kane.analysis import mobile_table

NAME = "tanner-mobile-manipulator"
BATCH = 4096  # states of one evaluation of the filter
DIFFERENCES = ("coordinates", "forces", "measure", "crossings", "kinetic energy")
CIRCLE = "3a circular motion, passive arm, steering free"


def motions() -> list[Row]:
    """Largest differences over all seven motions, on a planar and on a free root, and the sign of the measure."""
    worst: dict[str, float] = dict.fromkeys(DIFFERENCES, 0.0)
    alike = True
    for root in ("planar", "free"):
        for name, motion in cases.MOTIONS.items():
            run = cases.simulated(root, name)
            ground, tip = run.ground(), run.tipover()
            for what, value in _differences(run, ground, tip, motion).items():
                worst[what] = max(worst[what], value)
            alike &= bool(np.all(np.sign(tip.alpha) == np.sign(ground.normal.min(axis=1))))
    limits = (1e-10, "m, rad"), (1e-8, "N"), (1e-7, "N rad"), (1e-9, "s"), (1e-11, "relative")
    rows = [
        Row(f"{NAME}, seven motions, two roots: {what}", exactly(worst[what]), unit, limit, "at most")
        for what, (limit, unit) in zip(worst, limits, strict=True)
    ]
    name = f"{NAME}: sign of the measure is that of the least normal force at every sample"
    return [*rows, Row(name, exactly(float(alike)), "true", 1.0)]


def _differences(run: kane.Trajectory, ground: Any, tip: Any, motion: Any) -> dict[str, float]:
    """How far a motion is from that of the reference."""
    own = {c: run.q[:, k] for k, c in enumerate(run.model.coordinates)}
    pairs = zip(motion["coordinates"], np.array(motion["q"]).T, strict=True)
    coordinates = max(float(np.abs(own[c] - q).max()) for c, q in pairs if c in own)
    forces = 0.0
    for k, wheel in enumerate("012"):
        told = motion["ground_on_wheels"][wheel]
        for what, key in (("longitudinal", "longitudinal"), ("lateral", "lateral_min_norm"), ("normal", "normal")):
            forces = max(forces, float(np.abs(getattr(ground, what)[:, k] - told[key]).max()))
    told = [crossing["t"] for crossing in motion["zero_crossings"]]
    kinetic = run.energy().kinetic
    return {
        "coordinates": coordinates,
        "forces": forces,
        "measure": float(np.abs(tip.per_edge - motion["tip_over"]["alpha_per_edge"]).max()),
        "crossings": float(np.abs(np.array([float(c) for c in tip.crossings]) - told).max(initial=0.0)),
        "kinetic energy": float(np.ptp(kinetic) / kinetic[0]),
    }


def thresholds() -> list[Row]:
    """Where the measure vanishes, by bisection, against closed forms in which wheels have inertia, relative."""
    rows = []
    for name, case in cases.THRESHOLDS.items():
        found, limit = case()
        off = exactly(abs(found / limit - 1.0))
        rows.append(Row(f"threshold of tip-over, {name}: off its closed form", off, "relative", 1e-9, "at most"))
    return rows


def operations() -> list[Row]:
    """The example with every number free, and the least factor to the paper's bound over m = 1 … 10, w = 3 … 6."""
    models = {
        "as it is built in, its parameters free": kane.load(NAME),
        "every number free, speeds along the platform's axes": operations_cases.example("body"),
        "every number free, speeds along the ground's axes": operations_cases.example("parent"),
    }
    rows = list[Row]()
    for words, model in models.items():
        count = model.equations(free="all").count("forward_dynamics")
        name = f"{NAME}, accelerations, {words}"
        rows.append(Row(name, exactly(count["mul"]), "multiplications", 150, "at most"))
        rows.append(Row(name, exactly(count["add"]), "additions", 120, "at most"))
    table = mobile_table()
    for part in ("mass_matrix", "bias", "reduced_M", "reduced_F", "forward_dynamics"):
        least = min(row.factor(part) for row in table.rows)
        target = 5.0 if part in ("mass_matrix", "bias") else None
        words = f"m = 1 … 10 links, w = 3 … 6 wheels, {part.replace('_', ' ')}: fewer operations than [TK01]"
        rows.append(Row(words, exactly(least), "times", target))
    return rows


def safety_filter() -> list[Row]:
    """Ground forces, margins of friction and the measure in one evaluation, in a batch, planar and free root."""
    rows = []
    for root in ("planar", "free"):
        m = cases.tanner(root)
        run = m.simulate(np.linspace(0, 1, 65), q={"phi": 0.4})
        picks = np.arange(BATCH) % len(run.t)
        q, u, tau = run.q[picks], run.u[picks], run.tau[picks]
        ask = m.safety_filter()
        ground = run.ground()
        found = ask(q, u, tau)
        error = float(np.abs(found.normal[: len(run.t)] - ground.normal).max() / ground.normal.max())
        each = _process_times(lambda ask=ask, q=q, u=u, tau=tau: ask(q, u, tau), BATCH)
        target = 1.0 if root == "planar" else None
        name = f"{NAME}, {root} root: forces, friction margins and tip-over of one state in a batch"
        rows.append(Row(name, each, "µs", target, "at most", error=error))
    return rows


def motion_time() -> list[Row]:
    """Ten seconds of motion 3a at rtol 1e-10, wheels and edges watched all the time."""
    m, told = cases.tanner("planar"), cases.MOTIONS[CIRCLE]
    rows = []
    for embed in ("run-time", "formulation"):
        run = m.simulate(10.0, rtol=1e-10, embed=embed)
        crossings = [crossing["t"] for crossing in told["zero_crossings"]]
        error = float(np.abs(np.array([float(c) for c in run.tipover().crossings]) - crossings).max())
        millis = _process_times(lambda embed=embed: m.simulate(10.0, rtol=1e-10, embed=embed), 1000)
        name = f"{NAME}: 10 s of motion 3a at rtol 1e-10, embedded at {embed.replace('-', ' ')}"
        rows.append(Row(name, millis, "ms", 10.0 if embed == "run-time" else None, "at most", error=error))
    return rows


def _process_times(task: Callable[[], object], share: int) -> Spread:
    """µs of processor time of a task, divided by `share`."""
    task()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        task()
        times.append(1e6 * (time.process_time() - start) / share)
    return spread(times)
