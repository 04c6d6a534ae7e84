"""The Stanford arm of Kane & Levinson [KL83], all of the paper: efforts of Fig. 1, motion of Fig. 3, and its checks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..api import Array, Model, Trajectory, load
from ..markup import paragraph, table, verdict
from ..viewer import plots
from .motions import cycloid
from .page import Section, figure
from .writer import SAMPLES, Written, write

TARGET = {"q1": np.pi / 3, "q2": np.pi / 3, "q3": np.pi / 3, "q4": np.pi / 3, "q5": np.pi / 3, "q6": 0.1}
"""Where the arm goes within ten seconds, in [KL83, Eq. 127] and under feedback (rad, m)."""

TOLERANCES: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}
MOMENTUM_LIMIT = 1e-9
"""H·n2 in the paper's run without the torque at the waist stays below this (kg m²/s) [KL83, Sec. 4]."""

CIRCLE_LIMIT = 1e-9
"""Efforts given back by inverse dynamics, relative to the largest; far above rounding."""

SAME_LIMIT = 1e-8
"""Coordinates (rad, m) of the same motion in two sets of speeds, both integrated with `TOLERANCES`."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What the main job found: key figures by name, the report, and whether all is as it should be."""

    figures: dict[str, Any]
    written: Written
    passed: bool


def demonstrate(path: Path, progress: Callable[[float], object] | None = None) -> Demonstration:
    """Derive, count, drive, simulate and check the arm; write the report to `path`."""
    tell = progress or (lambda _: None)
    began = time.perf_counter()
    arm = load("stanford-arm")
    equations = arm.equations()
    counts = {name: equations.count(name) for name in ("inverse_dynamics", "forward_dynamics")}
    derived = time.perf_counter() - began
    motion = cycloid(arm, TARGET)
    tau = arm.inverse_dynamics(motion.q, motion.u, motion.udot)
    tell(0.1)
    times = np.linspace(0.0, 10.0, SAMPLES)
    feedback = arm.simulate(times, control="feedback", **TOLERANCES)
    tell(0.3)
    free = arm.simulate(times, control="feedback-free-base", **TOLERANCES)
    momentum = arm.momentum(free.q, free.u).angular[:, 1]
    circle = float(np.max(np.abs(_recompute_efforts(feedback) - feedback.tau)) / np.max(np.abs(feedback.tau)))
    other = load("stanford-arm-kane").simulate(times, control="feedback", **TOLERANCES)
    same = float(np.max(np.abs(other.q - feedback.q)))
    tell(0.45)
    section = _section(free, momentum, circle, same)
    written = write(
        arm,
        path,
        trajectory=feedback,
        control="feedback",
        motion=motion,
        extra=(section,),
        title="Stanford arm",
        progress=lambda fraction: tell(0.45 + 0.55 * fraction),
    )
    figures = {
        "operations": counts,
        "derived_in_seconds": derived,
        "largest_efforts": dict(zip(arm.speeds, np.max(np.abs(tau), axis=0).tolist(), strict=True)),
        "simulation": str(feedback.outcome),
        "final_coordinates": dict(zip(arm.coordinates, feedback.q[-1].tolist(), strict=True)),
        "angular_momentum_change": float(np.max(np.abs(momentum))),
        "circle_relative_error": circle,
        "speeds_of_the_paper_difference": same,
        "checks_passed": written.passed,
    }
    kept = figures["angular_momentum_change"] <= MOMENTUM_LIMIT and circle <= CIRCLE_LIMIT and same <= SAME_LIMIT
    return Demonstration(figures, written, bool(kept and written.passed))


def _recompute_efforts(trajectory: Trajectory) -> Array:
    model: Model = trajectory.model
    return model.inverse_dynamics(trajectory.q, trajectory.u, trajectory.acceleration())


def _section(free: Trajectory, momentum: Array, circle: float, same: float) -> Section:
    """The checks that the paper itself makes."""
    largest = float(np.max(np.abs(momentum)))
    rows = (
        ("constant of motion", "H·n2 with no torque at the waist stays zero (kg m²/s)", largest, MOMENTUM_LIMIT),
        ("circle", "inverse dynamics of the simulation gives the control efforts, relative", circle, CIRCLE_LIMIT),
        ("choice of speeds", "the paper's speeds and u = q̇ give the same motion (rad, m)", same, SAME_LIMIT),
    )
    shown = [(a, verdict(v <= limit), b, f"{v:.1e}", f"{limit:.0e}") for a, b, v, limit in rows]
    body = paragraph(
        "Kane & Levinson check their program by a constant of motion and by closing the circle from simulation back to "
        "inverse dynamics. Both, and the same motion in the generalized speeds of the paper:"
    )
    body += table(("check", "", "", "missed by", "limit"), shown, words=3)
    drawn = plots.residual(free.t, momentum, "H·n₂ with no torque at the waist  (kg m²/s)")
    return Section("The checks of the paper", body + figure(plots.svg(drawn, "angular momentum")))
