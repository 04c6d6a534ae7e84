"""Closed loops through singular positions, a published stiff linkage, and random systems under constraints.

Options are those that come without being asked for, unless a row says otherwise. The peers of the parallelogram, which
lies flat twice a turn, are Pinocchio's proximal constrained dynamics, with stabilisation tuned by hand and without, and
MuJoCo's soft equality constraint as it comes, both by classic Runge-Kutta at a step of 1 ms.
"""

from __future__ import annotations

import numpy as np

import kane
from benchmarks.bicycle import Array, energy_span, reached
from benchmarks.measure import Row, disagreement, exactly, seconds
from cases.test_loops import SQUEEZER_END
from kane.errors import ModelError
from kane.model.mechanisms import n_four_bar
from laws.test_embedding import (
    LOOPS,
    State,
    add_edges,
    add_motion_rows,
    at_run_time,
    by_formulation,
    by_multipliers,
    clear,
    close_loop,
    configuration,
)
from laws.trees import AXES, KINDS, LOADS, MOUNTS, build, planned
from peers import parallelogram as peer

DURATION = 10.0  # s
STEP = 1e-3  # s, of the peers
SIZES = (2, 10, 40)  # four-bars in a row
SYSTEMS = 30  # random ones of each kind
MOST_BODIES, MOST_LOADS = 4, 3


def flat_parallelogram() -> list[Row]:
    """Gap of the loop and span of the energy over ten seconds.

    Peers have no targets; their error is how far from ours they end, relative to the largest angle.
    """
    run = kane.load("parallelogram").simulate((0.0, DURATION))
    flat = flat_positions(run.q[:, 0], 0.0)
    ours = f"parallelogram, {DURATION:g} s, {flat} times flat, nothing tuned, {reached(run)}"
    rows = [
        Row(f"{ours}: largest residual", exactly(float(np.abs(run.residuals.position).max())), "m", 1e-11, "at most"),
        Row(f"{ours}: span of the energy", exactly(energy_span(run)), "of the total", 1e-9, "at most"),
    ]
    steps = round(DURATION / STEP)
    for name, (q, u) in (
        ("Pinocchio, tuned", peer.PinocchioParallelogram.with_damping(peer.DAMPING).run(STEP, steps)),
        ("Pinocchio, without stabilisation", peer.PinocchioParallelogram.with_damping(0.0).run(STEP, steps)),
        ("MuJoCo, as it comes", peer.MujocoParallelogram.with_step(STEP).run(steps)),
    ):
        total = peer.energy(q, u)
        span = float(np.ptp(total) / np.abs(total).max())
        title, error = f"parallelogram, {(len(q) - 1) * STEP:g} s, by {name}", disagreement(q[-1], run.q[-1])
        rows.append(Row(f"{title}: gap of the loop", exactly(float(peer.gap(q).max())), "m", error=error))
        rows.append(Row(f"{title}: span of the energy", exactly(span), "of the total", error=error))
    return rows


def singular_four_bars() -> list[Row]:
    """Drift of the energy, singular positions that are announced, and time, of N four-bars in a row."""
    rows = []
    for size in SIZES:
        model = kane.Model.of(n_four_bar(size))
        model.simulate((0.0, 0.01))  # formulated and compiled
        runs: list[kane.Trajectory] = []
        time = seconds(lambda model=model, runs=runs: runs.append(model.simulate((0.0, DURATION))))
        run = runs[0]
        title, flat = f"{size} four-bars in a row, {DURATION:g} s", flat_positions(run.q[:, 0], np.pi / 2)
        rows += [
            Row(f"{title}: reached", exactly(float(run.t[-1])), "s", DURATION),
            Row(f"{title}: drift of the energy", exactly(energy_span(run)), "of the total", 1e-8, "at most"),
            Row(f"{title}: singular positions announced", exactly(len(run.singularities)), f"of {flat}", flat),
            Row(f"{title}: time", exactly(time), "s"),
        ]
    return rows


def flat_positions(angle: Array, flat: float) -> int:
    """How often an angle (k,) goes through `flat` or half a turn further, in rad."""
    half_turns = np.floor((angle - flat) / np.pi)
    return int(np.abs(np.diff(half_turns)).sum())


def squeezer() -> list[Row]:
    """Correct digits of the worst of the published angles of Andrews' squeezing mechanism at 0.03 s."""
    run = kane.load("andrews-squeezer").simulate((0.0, 0.03))
    digits = -np.log10(np.max(np.abs(run.q[-1] / SQUEEZER_END[:, 0] - 1.0)))
    name = f"andrews-squeezer at 0.03 s, nothing tuned, {reached(run)}: angles"
    return [Row(name, exactly(float(digits)), "correct digits", 8)]


def three_ways() -> list[Row]:
    """Accelerations of random systems by embedding at run time, embedding at formulation, and multipliers.

    The figure is the worst difference relative to the largest acceleration of a system, or to 1 if that is more.
    Systems whose rows leave it open what depends on what are left out, as are those whose rows contradict each other.
    """
    rows = []
    for kind in ("nonholonomic", "looped"):
        worst, count, seed = 0.0, 0, 0
        while count < SYSTEMS:
            rng = np.random.default_rng(seed)
            seed += 1
            model, q = random_system(rng, kind)
            if not len(model.speeds) or not clear(model, q):
                continue
            u, tau = rng.normal(size=(2, len(model.speeds)))
            try:
                q, u = model.project(q, u)
            except ModelError:
                continue
            state = State(0.0, q, u, tau)
            ways = [way(model, state) for way in (by_multipliers, at_run_time, by_formulation)]
            size = max(1.0, float(np.abs(ways[0]).max()))
            worst = max(worst, *(float(np.abs(way - ways[0]).max()) / size for way in ways[1:]))
            count += 1
        title = f"{count} random {kind} systems: run-time embedding, symbolic embedding, multipliers"
        rows.append(Row(title, exactly(worst), "worst difference", 1e-9, "at most"))
    return rows


def random_system(rng: np.random.Generator, kind: str) -> tuple[kane.Model, Array]:
    """A random tree under random constraints, and a configuration that satisfies them."""
    size = int(rng.integers(2, MOST_BODIES + 1))
    joints = [str(rng.choice(KINDS[1:])) for _ in range(size)]  # all but the weld
    axes = [AXES[int(rng.integers(len(AXES)))] for _ in joints]
    mounts = [MOUNTS[int(rng.integers(len(MOUNTS)))] for _ in joints]
    loads = [str(rng.choice(LOADS)) for _ in range(int(rng.integers(MOST_LOADS + 1)))]
    model = build(planned(rng, joints, axes, mounts, loads))
    q = configuration(model, rng)
    if kind == "looped":
        for k in range(int(rng.integers(1, 3))):
            close_loop(model, q, rng, str(rng.choice(LOOPS)), f"loop{k}")
    else:
        count = int(rng.integers(1, len(model.speeds) + 1))
        add_motion_rows(model, rng, count // 2)
        add_edges(model, rng, count - count // 2)
    return model, q
