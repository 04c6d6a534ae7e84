"""Inertial parameters and friction from measured efforts: least squares, and the rigid bodies that are nearest to them.

Efforts are linear in the parameters, tau = Y π. What of π is felt, the base parameters, follows by weighted least
squares with its covariance. Parameters of each body are then those of a rigid body: its pseudo-inertia
J = [[½ tr(I) 1 − I, h], [hᵀ, m]] is positive definite [WKS18], which J = L Lᵀ keeps by itself; friction is never
negative. What efforts do not tell stays near what the description says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .programs import Array

ITERATIONS = 200
"""Steps of the search at most; some tens are usual."""

SETTLED = 1e-10
"""Relative decrease of the cost in a step below which the search is over."""

THIN = 1e-6
"""Smallest eigenvalue of a pseudo-inertia at the start, as a share of its trace: a plate or a rod gets that much."""

_TRIANGLE = tuple((i, j) for i in range(4) for j in range(i + 1))


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """`values` of the columns that were asked for with their standard `deviation`, the standard deviation of each
    effort, `noise` (n,), and the largest and smallest influence of a column in `condition`."""

    values: Array
    deviation: Array
    noise: Array
    condition: float


def fit_efforts(Y: Array, tau: Array, noise: Array | None = None, friction: Sequence[int] = ()) -> LeastSquares:
    """tau (k, n) by the columns of Y (k, n, b), each effort weighed by its noise; without it, by what is left of it.

    Values of the columns of `friction` are not negative; deviations are those of free ones.
    """
    k, n, b = Y.shape
    weights = np.ones(n) if noise is None else 1.0 / noise
    if noise is None:
        values = solve_bounded(Y.reshape(-1, b), tau.reshape(-1), friction)
        left = np.sqrt(((tau - Y @ values) ** 2).sum(axis=0) / max(1.0, k - b / n))
        weights = 1.0 / np.maximum(left, 1e-12 * max(1.0, float(np.abs(tau).max())))
    A = (Y * weights[:, None]).reshape(-1, b)
    values = solve_bounded(A, (tau * weights).reshape(-1), friction)
    lengths = np.linalg.norm(A, axis=0)
    scaled = A / lengths
    deviation = np.sqrt(np.diag(np.linalg.inv(scaled.T @ scaled))) / lengths
    return LeastSquares(values, np.asarray(deviation), 1.0 / weights, float(np.linalg.cond(scaled)))


def solve_bounded(A: Array, right: Array, positive: Sequence[int]) -> Array:
    """x that makes |A x − right| least, where x of the columns `positive` is not negative.

    What the other columns can explain is taken out, A = Q R; what is left depends on the bounded ones alone.
    """
    x = np.asarray(np.linalg.lstsq(A, right, rcond=None)[0], dtype=np.float64)
    bounded = list(positive)
    if not bounded or x[bounded].min() >= 0.0:
        return x
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs] # slow to import

    free = np.delete(np.arange(A.shape[1]), bounded)
    Q, R = np.linalg.qr(A[:, free])
    x[bounded] = cast("Any", optimize).nnls(*(part - Q @ (Q.T @ part) for part in (A[:, bounded], right)))[0]
    x[free] = np.linalg.solve(R, Q.T @ (right - A[:, bounded] @ x[bounded]))
    return x


def pseudo_inertia(parameters: Array) -> Array:
    """J, (4, 4), of a body with the ten parameters m, h, Ixx, Iyy, Izz, Ixy, Ixz, Iyz about its origin."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = parameters
    half = 0.5 * (xx + yy + zz)
    return np.array([[half - xx, -xy, -xz, hx], [-xy, half - yy, -yz, hy], [-xz, -yz, half - zz, hz], [hx, hy, hz, m]])


def parameters_of(J: Array) -> Array:
    """The ten parameters of a body of pseudo-inertia J; linear in J."""
    x, y, z = J[0, 0], J[1, 1], J[2, 2]
    return np.array([J[3, 3], *J[3, :3], y + z, x + z, x + y, -J[0, 1], -J[0, 2], -J[1, 2]])


def nearest_bodies(Y: Array, tau: Array, noise: Array, given: Array, bodies: int, trust: float) -> Array:
    """Parameters π, ten of each of so many bodies and then those of friction, that explain tau (k, n) by Y (k, n, p)
    best among those of rigid bodies; `trust` is the relative standard deviation of the `given` ones. Bodies without
    mass keep it."""
    p = Y.shape[2]
    A = (Y / noise[:, None]).reshape(-1, p)
    prior = 1.0 / _scales(given, bodies, trust)
    normal = A.T @ A + np.diag(prior**2)
    right = A.T @ (tau / noise).reshape(-1) + prior**2 * given
    start = [_thicken(pseudo_inertia(given[10 * b : 10 * b + 10])) for b in range(bodies)]
    factors = [_entries(np.asarray(np.linalg.cholesky(J), dtype=np.float64)) for J in start]
    x = np.concatenate([*factors, np.sqrt(np.maximum(given[10 * bodies :], 1e-6))])
    constant = float(((tau / noise) ** 2).sum() + (prior**2 * given**2).sum())

    def cost(x: Array) -> float:
        π = _unpack(x, bodies)
        return float(π @ normal @ π - 2.0 * right @ π) + constant

    damping, best = 1e-3, cost(x)
    for _ in range(ITERATIONS):
        D = _slopes(x, bodies)
        gradient, curvature = D.T @ (normal @ _unpack(x, bodies) - right), D.T @ normal @ D
        damped = curvature + damping * np.diag(np.diag(curvature) + 1e-30)
        step = np.asarray(np.linalg.solve(damped, -gradient), dtype=np.float64)
        trial = cost(x + step)
        if trial <= best:
            settled = best - trial < SETTLED * max(best, 1.0)
            x, best, damping = x + step, trial, max(1e-12, 0.2 * damping)
            if settled:
                break
        else:
            damping *= 5.0
            if damping > 1e12:
                break
    return _unpack(x, bodies)


def _scales(given: Array, bodies: int, trust: float) -> Array:
    """Standard deviations of what is given: of each body by its mass and its radius of gyration, of friction by the
    largest there is."""
    found = np.empty(len(given))
    for b in range(bodies):
        own = given[10 * b : 10 * b + 10]
        m = max(float(own[0]), 1e-9)
        radius = max(float(np.sqrt(max(own[4:7].sum() / (2.0 * m), 0.0))), 1e-6)
        found[10 * b : 10 * b + 10] = trust * m * np.array([1.0, *3 * [radius], *6 * [radius**2]])
    friction = given[10 * bodies :]
    found[10 * bodies :] = 100.0 * max(1.0, float(np.abs(friction).max(initial=0.0)))
    return found


def _thicken(J: Array) -> Array:
    """J with eigenvalues that are positive."""
    values, vectors = np.linalg.eigh(J)
    return (vectors * np.maximum(values, THIN * max(float(np.trace(J)), 1e-12))) @ vectors.T


def _entries(L: Array) -> Array:
    return np.array([L[i, j] for i, j in _TRIANGLE])


def _triangle(entries: Array) -> Array:
    L = np.zeros((4, 4))
    for value, (i, j) in zip(entries, _TRIANGLE, strict=True):
        L[i, j] = value
    return L


def _unpack(x: Array, bodies: int) -> Array:
    """π of the unknowns: entries of L of each body, roots of the parameters of friction."""
    found = [parameters_of(L @ L.T) for L in (_triangle(x[10 * b : 10 * b + 10]) for b in range(bodies))]
    return np.concatenate([*found, x[10 * bodies :] ** 2])


def _slopes(x: Array, bodies: int) -> Array:
    """∂π/∂x."""
    D = np.zeros((len(x), len(x)))
    for b in range(bodies):
        L = _triangle(x[10 * b : 10 * b + 10])
        for c, (i, j) in enumerate(_TRIANGLE):
            turned = np.zeros((4, 4))
            turned[i] = L[:, j]
            D[10 * b : 10 * b + 10, 10 * b + c] = parameters_of(turned + turned.T)
    rest = np.arange(10 * bodies, len(x))
    D[rest, rest] = 2.0 * x[rest]
    return D


__all__ = ["LeastSquares", "fit_efforts", "nearest_bodies", "parameters_of", "pseudo_inertia", "solve_bounded"]
