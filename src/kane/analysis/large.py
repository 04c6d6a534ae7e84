"""The motion of a large tree checked by the laws of mechanics, by its own answers: nothing is written out.

The rows are those of `check_trajectory`. Rates of momentum are differences along the motion, not derivatives, so a
component counts as conserved by a coarser measure.
"""

from __future__ import annotations

import numpy as np

from ..large import LargeAnswers
from ..model.attitude import quaternion_places
from .check import AGREEMENT
from .programs import Array
from .report import CheckReport, CheckRow
from .trajectory import Motion, conservation_rows

DIFFERENCE = 1e-6  # s over which a difference is taken: its error, and that of rounding, is some 1e-10 of the whole
CONSERVED = 1e-7  # rate of a component of momentum, relative to how large momenta and rates get, that counts as zero


def check_large_trajectory(motion: Motion, answers: LargeAnswers, tolerance: float = 1e-6) -> CheckReport:
    """What has to hold along a motion; `tolerance` is what the integrator may add up to, relative."""
    mechanism = answers.mechanism
    name, about = mechanism.name, f"{len(motion.t)} times from {motion.t[0]:g} to {motion.t[-1]:g} s"
    finite = all(bool(np.isfinite(x).all()) for x in (motion.q, motion.u, motion.tau, motion.work))
    first = CheckRow("states", "all states are finite", 0.0 if finite else np.inf, 0.0)
    if not finite:
        return CheckReport(name, about, (first,))
    free = np.array([p.value for p in mechanism.parameters.values() if p.free], dtype=float)

    def ask(what: str, *arrays: Array) -> Array:
        return answers.answer(what, motion.t[:, None], arrays, free)

    udot = ask("forward_dynamics", motion.q, motion.u, motion.tau)
    tau, bias = ask("inverse_dynamics", motion.q, motion.u, udot), ask("bias", motion.q, motion.u)
    scale = 1.0 + float(np.abs(tau).max()) + float(np.abs(bias).max())
    gap = float(np.abs(tau - motion.tau).max()) / scale
    rows = [first, _quaternions(motion, answers, tolerance)]
    rows.append(CheckRow("circle", "inverse dynamics of the motion gives τ back", gap, AGREEMENT))
    rows.append(_energy(motion, answers, tolerance))
    rows += _momentum(motion, answers, ask("kinematics", motion.q, motion.u), udot, tolerance)
    return CheckReport(name, about, tuple(rows))


def _quaternions(motion: Motion, answers: LargeAnswers, tolerance: float) -> CheckRow:
    statement, found = "quaternions are unit", quaternion_places(answers.mechanism)
    if not found:
        return CheckRow("quaternions", statement, None, tolerance, "there are none")
    norms = [np.linalg.norm(motion.q[:, indices], axis=1) for indices in found.values()]
    return CheckRow("quaternions", statement, float(np.abs(np.array(norms) - 1.0).max()), tolerance)


def _energy(motion: Motion, answers: LargeAnswers, tolerance: float) -> CheckRow:
    totals = answers.totals(motion.q, motion.u)
    T, V = totals.kinetic, totals.gravity_potential
    balance = T + V - motion.work
    scale = max(float(np.ptp(x)) for x in (T, V, motion.work)) + float(np.abs(T).max())
    value = float(np.abs(balance - balance[0]).max()) / max(scale, np.finfo(float).tiny)
    return CheckRow("energy", "T + V of gravity − work of τ and loads is constant", value, tolerance)


def _momentum(motion: Motion, answers: LargeAnswers, qdot: Array, udot: Array, tolerance: float) -> list[CheckRow]:
    """One row for each component of momentum about the origin whose rate vanishes along the motion."""

    def at(shift: float) -> Array:
        totals = answers.totals(motion.q + shift * qdot, motion.u + shift * udot)
        return np.concatenate([totals.linear, totals.angular], axis=1)

    there, change = at(0.0), (at(DIFFERENCE) - at(-DIFFERENCE)) / (2.0 * DIFFERENCE)
    return conservation_rows(there, change, CONSERVED, tolerance)


__all__ = ["check_large_trajectory"]
