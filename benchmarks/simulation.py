"""Simulation of the Stanford arm at a fixed step against MuJoCo: classic Runge-Kutta on both sides, no efforts."""

from __future__ import annotations

import numpy as np

import kane
from benchmarks.measure import Row, disagreement, duel
from peers.mujoco_arm import mujoco_arm
from peers.stanford import START

STEP = 1e-3  # s
LENGTH = 10.0  # s, for timing
COMPARED = 1.0  # s, for agreement: later the falling arm amplifies rounding errors
REPEATS = 11


def runge_kutta_steps() -> list[Row]:
    """The same steps from the same state; MuJoCo's loop over steps is in C and keeps only the last state."""
    model, arm, rest = kane.load("stanford-arm"), mujoco_arm(STEP), np.zeros(6)
    steps = round(LENGTH / STEP)

    def simulate(end: float) -> kane.Trajectory:
        return model.simulate(t=(0, end), q=START, u=rest, method="rk4", step=STEP)

    last = simulate(COMPARED)
    error = disagreement(
        np.concatenate([last.q[-1], last.u[-1]]), np.concatenate(arm.run(START, rest, round(COMPARED / STEP)))
    )
    times = duel("MuJoCo", lambda: simulate(LENGTH), lambda: arm.run(START, rest, steps), REPEATS)
    return [times.row("simulation, one step of RK4", 10, error, steps)]
