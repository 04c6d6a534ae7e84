"""Ensembles on one core: many motions of one model, beside motions alone, MuJoCo's rollout, SciPy and heyoka."""

# MuJoCo is a compiled module without type information.
# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import importlib.util
import itertools
import subprocess
import sys
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import scipy.integrate

import kane
from benchmarks.measure import Row, disagreement, duel, exactly, processor_seconds, spread
from peers.mujoco_arm import mujoco_arm
from peers.stanford import START, TREE_ORDER, paper_order

STEP, STEPS, ARMS = 1e-3, 500, 4096
FEW_STEPS, FEW_ARMS = 250, 128
PENDULUMS, LENGTH, RTOL = 100_000, 10.0, 1e-8  # members, s
FLIPPING = 16_384  # members with events
DRAWN = 100  # members that are compared with their motions alone
TWO_CORES = 120.0  # s of processor time that a million of them may take: a minute on two cores
RIDERS, RIDE, SHORT_RIDE = 512, 20.0, 2.0  # members, s, s
LOOPED = 8  # motions that SciPy computes one after the other
TAYLOR = 1024  # motions that heyoka computes, in as many lanes as the processor has
MILLION = 1_000_000
REPEATS = 5
ALONE = f"""
import numpy, kane
kane.load("pendulum").ensemble(0.2, q={{"q": numpy.linspace(-3, 3, {MILLION})}}, keep="tallies")
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024)
"""


def double_pendulums() -> list[Row]:
    """Double pendulums let go from anywhere; the row is of a million of them, from a tenth of that."""
    model = kane.load("double-pendulum")
    starts = {"q1": "uniform(-3, 3)", "q2": "uniform(-3, 3)"}
    model.ensemble(LENGTH, n=64, q=starts, rtol=RTOL)
    found: list[kane.Ensemble] = []
    taken = processor_seconds(lambda: found.append(model.ensemble(LENGTH, n=PENDULUMS, seed=1, q=starts, rtol=RTOL)))
    chosen = np.random.default_rng(0).choice(PENDULUMS, DRAWN, replace=False)
    ends = found[0].end_q
    assert ends is not None
    other = sum(not np.array_equal(found[0].member(int(i)).q[-1], ends[i]) for i in chosen)
    name = f"a million double pendulums, {LENGTH:g} s, rtol {RTOL:g}, processor time"
    return [
        Row(name, exactly(taken * MILLION / PENDULUMS), "s", TWO_CORES, "at most"),
        Row(f"{DRAWN} of them drawn, with other bits than alone", exactly(other), "", 0, "at most"),
    ]


def pendulums_with_events() -> list[Row]:
    """Double pendulums of which it is asked when their rods flip over, against the same ones without a question."""
    model, starts = kane.load("double-pendulum"), {"q1": "uniform(-3, 3)", "q2": "uniform(-3, 3)"}
    flips = {"upper": "q1**2 - pi**2", "lower": "(q1 + q2)**2 - pi**2"}

    def swing(**options: Any) -> kane.Ensemble:
        return model.ensemble(LENGTH, n=FLIPPING, seed=1, q=starts, rtol=RTOL, **options)

    swing(events=flips)  # compiled before it is measured
    swing()
    ratios = [processor_seconds(lambda: swing(events=flips)) / processor_seconds(swing) for _ in range(REPEATS)]
    return [Row("double pendulum, a member with two events against none", spread(ratios), "", 2.0, "at most")]


def rollout() -> list[Row]:
    """Stanford arms let fall, by classic Runge-Kutta of one step on both sides, on one core: so many that starting them
    is no part, and few."""
    return [
        _rollout("ensemble, one step of RK4, Stanford arm", ARMS, STEPS, 3),
        _rollout(f"the same, {FEW_ARMS} members of {FEW_STEPS} steps", FEW_ARMS, FEW_STEPS, 4 * REPEATS),
    ]


def _rollout(name: str, arms: int, steps: int, repeats: int) -> Row:
    model, arm = kane.load("stanford-arm"), mujoco_arm(STEP)
    q = START + np.random.default_rng(2).uniform(-0.1, 0.1, (arms, 6))
    state = np.zeros((arms, mujoco.mj_stateSize(arm.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1:7] = q[:, TREE_ORDER]
    end = steps * STEP

    def ours() -> kane.Ensemble:
        return model.ensemble(end, q=q, u=np.zeros((arms, 6)), method="rk4", step=STEP)

    def theirs() -> np.ndarray:
        return np.asarray(mujoco.rollout.rollout(arm.model, arm.data, state, nstep=steps)[0])

    last = theirs()[:, -1, 1:7]
    ends = ours().end_q
    assert ends is not None
    error = disagreement(ends, np.array([paper_order(row) for row in last]))
    return duel("MuJoCo rollout", ours, theirs, repeats).row(name, 40, error, arms * steps)


def bicycles() -> list[Row]:
    """A bicycle in an ensemble against the same motion alone; both with the constraints written out, and embedded at
    run time."""
    model = kane.load("whipple-bicycle")
    starts = {"uroll": "uniform(0.1, 0.8)"}
    rows: list[Row] = []
    for embed, length in itertools.product(("formulation", "run-time"), (RIDE, SHORT_RIDE)):

        def ride(count: int, embed: str = embed, length: float = length) -> kane.Ensemble:
            return model.ensemble(length, n=count, seed=3, u=starts, embed=embed)

        few = ride(16)
        ratios: list[float] = []
        for _ in range(REPEATS):
            alone = processor_seconds(lambda few=few: [few.member(i) for i in range(16)]) / 16
            ratios.append(processor_seconds(lambda ride=ride: ride(RIDERS)) / RIDERS / alone)
        name = f"bicycle, {length:g} s, member against motion alone, {embed}"
        rows.append(Row(name, spread(ratios), "", 0.25, "at most"))
    return rows


def contacts() -> list[Row]:
    """Members whose constraints come and go, against the same motions alone: some of few steps, some of many; those
    whose modes are written out go in SIMD lanes."""
    disks = {"parameters": {"phi": "uniform(0.05, 1.2)", "mu": "uniform(0.02, 0.9)"}}
    asked: dict[tuple[str, str], tuple[float, dict[str, Any], int, float]] = {
        ("disk-on-ramp", "run-time"): (0.2, disks, RIDERS, 0.15),
        ("disk-on-ramp", "formulation"): (0.2, disks, 4 * RIDERS, 0.1),
        ("bouncing-ball", "run-time"): (3.0, {"q": {"z": "uniform(0.5, 1.5)"}}, RIDERS, 0.15),
        ("bouncing-ball", "formulation"): (3.0, {"q": {"z": "uniform(0.5, 1.5)"}}, 4 * RIDERS, 0.1),
        ("shopping-cart", "run-time"): (5.0, {"u": {"u1": "uniform(0.5, 1.5)"}}, RIDERS, 0.3),
        ("shopping-cart", "formulation"): (5.0, {"u": {"u1": "uniform(0.5, 1.5)"}}, 4 * RIDERS, 0.15),
        ("braking-car", "run-time"): (1.0, {"u": {"u_root_vx": "uniform(5, 15)"}}, RIDERS // 4, 0.8),
    }
    rows: list[Row] = []
    for (name, embed), (length, drawn, count, most) in asked.items():
        move = functools.partial(kane.load(name).ensemble, length, seed=3, embed=embed, **drawn)
        few = move(n=16)
        move(n=count)  # what lanes need is compiled before it is measured
        ratios: list[float] = []
        for _ in range(REPEATS):
            alone = processor_seconds(lambda few=few: [few.member(i) for i in range(16)]) / 16
            ratios.append(processor_seconds(lambda move=move, count=count: move(n=count)) / count / alone)
        title = f"{name}, {length:g} s, member against motion alone, {embed}"
        rows.append(Row(title, spread(ratios), "", most, "at most"))
    return rows


def scipy_in_a_loop() -> list[Row]:
    """The same method at the same tolerance in SciPy, which calls our compiled accelerations."""
    model = kane.load("double-pendulum")
    q = np.random.default_rng(4).uniform(-1, 1, (LOOPED, 2))

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], model.forward_dynamics(y[:2], y[2:], np.zeros(2))])

    def theirs(rtol: float = RTOL) -> np.ndarray:
        runs = [
            scipy.integrate.solve_ivp(rates, (0, LENGTH), [*row, 0, 0], "DOP853", rtol=rtol, atol=1e-2 * rtol)
            for row in q
        ]
        return np.array([run.y[:2, -1] for run in runs])

    def ours(count: int = LOOPED, rtol: float = RTOL) -> np.ndarray:
        starts = np.tile(q, (count // LOOPED, 1))
        ends = model.ensemble(LENGTH, q=starts, u=np.zeros_like(starts), rtol=rtol).end_q
        assert ends is not None
        return ends

    exact = ours(rtol=1e-12)
    many = 64 * LOOPED
    times = duel("SciPy", lambda: ours(many), theirs, REPEATS)
    ratios = [64 * b / a for a, b in zip(times.ours, times.theirs, strict=True)]
    return [
        Row("ensemble of double pendulums, one motion", spread(ratios), "times faster", peer="SciPy"),
        Row("its error at rtol 1e-8, largest angle", exactly(float(np.abs(ours() - exact).max())), "rad"),
        Row("SciPy's error, the same", exactly(float(np.abs(theirs() - exact).max())), "rad"),
    ]


def heyoka_in_batches() -> list[Row]:
    """Taylor series in lanes by heyoka, at the largest tolerance that is as accurate as ours at 1e-8."""
    if importlib.util.find_spec("heyoka") is None:
        return []
    from peers.heyoka_pendulum import HeyokaPendulums  # an extra of benchmarks

    model = kane.load("double-pendulum")
    angles = np.random.default_rng(4).uniform(-1, 1, (TAYLOR, 2))  # of the rods from the vertical
    q = np.column_stack([angles[:, 0], angles[:, 1] - angles[:, 0]])
    exact = HeyokaPendulums(1e-16).run(angles, LENGTH)

    def ours() -> np.ndarray:
        ends = model.ensemble(LENGTH, q=q, u=np.zeros_like(q), rtol=RTOL).end_q
        assert ends is not None
        return np.cumsum(ends, axis=1)

    mine = float(np.abs(ours() - exact).max())
    for tolerance in 10.0 ** np.arange(-4.0, -14.0, -0.5):
        pendulums = HeyokaPendulums(tolerance)
        error = float(np.abs(pendulums.run(angles, LENGTH) - exact).max())
        if error <= mine:
            break
    else:
        raise AssertionError("heyoka is at no tolerance as accurate")
    ratios: list[float] = []
    for _ in range(REPEATS):
        taken = processor_seconds(ours)
        ratios.append(processor_seconds(lambda: pendulums.run(angles, LENGTH)) / taken)
    return [
        Row("ensemble of double pendulums, beside Taylor series", spread(ratios), "times faster", peer="heyoka"),
        Row("its error at rtol 1e-8 beside heyoka, largest angle", exactly(mine), "rad"),
        Row(f"heyoka's error, tolerance {tolerance:.1g}", exactly(error), "rad"),
    ]


def memory() -> list[Row]:
    """Memory of a process that computes a million members and keeps tallies."""
    child = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    return [Row("a million members, tallies alone", exactly(float(child.stdout)), "MB", 300, "at most")]
