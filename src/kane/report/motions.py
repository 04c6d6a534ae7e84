"""Motions that are given, not simulated: a cycloid between two configurations, or splines through samples.

A `Motion` has times t (k,), coordinates q (k, n_q), speeds u (k, n) and accelerations udot (k, n): what inverse
dynamics takes. Speeds follow from the rates by solving q̇ = W u + X, whatever speeds the model has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..api import Array, Model
from ..errors import InputError

_DIFFERENCE = 1e-3  # s; the fourth-order difference of an analytic W(q) is then exact to about 1e-12


@dataclass(frozen=True, slots=True)
class Motion:
    """t (k,) in s, q (k, n_q), u (k, n), udot (k, n), and a sentence about where it comes from."""

    t: Array
    q: Array
    u: Array
    udot: Array
    about: str = ""


def cycloid(
    model: Model, to: Mapping[str, float], *, duration: float = 10.0, samples: int = 201, start: Array | None = None
) -> Motion:
    """From the initial coordinates, or those in `start`, to those in `to`, at rest at both ends, within `duration`
    seconds.

    q = q(0) + (q(T) − q(0)) (t − T/2π sin 2πt/T) / T  [KL83, Eq. 127]. Coordinates not in `to` stay where they are.
    """
    if not duration > 0 or samples < 2:
        raise InputError(f"a motion of {samples} samples in {duration:g} s: give two or more in a positive time")
    start = model.initial_state[0] if start is None else start
    end = start.copy()
    for name, value in to.items():
        model.mechanism.find("coordinate", name, model.mechanism.coordinate_records, "target of the motion")
        end[model.coordinates.index(name)] = value
    t = np.linspace(0.0, duration, samples)
    phase = 2 * np.pi * t / duration
    way = (end - start)[None, :] / duration
    q = start + way * (t - duration / (2 * np.pi) * np.sin(phase))[:, None]
    qdot = way * (1 - np.cos(phase))[:, None]
    qddot = way * (2 * np.pi / duration * np.sin(phase))[:, None]
    about = f"A cycloid from the start, at rest at both ends, within {duration:g} s [KL83, Eq. 127]."
    return replace(motion_along(model, t, q, qdot, qddot), about=about)


def motion_through(model: Model, t: Array, q: Array, u: Array | None = None) -> Motion:
    """The motion along quintic splines through samples of q, and of u where they are known; t increasing, k ≥ 6."""
    from scipy.interpolate import make_interp_spline

    if len(t) < 6:
        raise InputError(f"{len(t)} samples: accelerations by quintic splines need six or more; give u and u'")
    if u is not None:
        return Motion(t, q, u, make_interp_spline(t, u, k=5).derivative()(t))
    curve = make_interp_spline(t, q, k=5)
    return motion_along(model, t, q, curve.derivative(1)(t), curve.derivative(2)(t))


def motion_along(model: Model, t: Array, q: Array, qdot: Array, qddot: Array) -> Motion:
    """The speeds and accelerations of a motion q(t) with its rates.

    From q̇ = W u + X: u by least squares, then W u̇ = q̈ − d/dt (W u + X) at fixed u, the last by differences along the
    motion.
    """
    W, X = _kinematics(model, t, q)
    u = _solve_speeds(W, qdot - X)

    def at(step: float) -> Any:
        moved = q + step * qdot + 0.5 * step * step * qddot
        return model.qdot(moved, u, t=(t + step)[:, None])

    h = _DIFFERENCE
    remainder = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    return Motion(t, q, u, _solve_speeds(W, qddot - remainder))


def _kinematics(model: Model, t: Array, q: Array) -> tuple[Array, Array]:
    """W (k, n_q, n) and X (k, n_q) of q̇ = W u + X at each time."""
    n = len(model.speeds)
    X = model.qdot(q, np.zeros((len(t), n)), t=t[:, None])
    W = np.empty((len(t), q.shape[1], n))
    for j in range(n):
        unit = np.zeros((len(t), n))
        unit[:, j] = 1.0
        W[:, :, j] = model.qdot(q, unit, t=t[:, None]) - X
    return W, X


def _solve_speeds(W: Array, right: Array) -> Array:
    """u of W u = right at each time; least squares where there are more coordinates than speeds."""
    if W.shape[1] == W.shape[2]:
        solved: Array = np.linalg.solve(W, right[:, :, None]).astype(np.float64)
        return solved[:, :, 0]
    return np.einsum("kij,kj->ki", np.linalg.pinv(W), right)
