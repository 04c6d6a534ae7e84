"""Motions with known answers, as kernels over [t, y, p]."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from kane import backends
from kane.backends import Kernel
from kane.graph import Expr, Graph, Inputs, lower

Function = Callable[[Expr, list[Expr], list[Expr]], Sequence[Expr | float]]


def flat(function: Function, n: int, m: int = 0) -> Kernel:
    """The kernel of function(t, y, p) with n states and m parameters."""
    graph = Graph()
    y, p = [f"y{i}" for i in range(n)], [f"p{i}" for i in range(m)]
    values = function(graph.input("t"), [graph.input(s) for s in y], [graph.input(s) for s in p])
    exprs = [graph.lift(v) for v in values]
    groups = (Inputs("t", ("t",)), Inputs("y", tuple(y)), Inputs("p", tuple(p)))
    return backends.compile(lower("flat", groups, {"out": ((len(exprs),), exprs)}))


@functools.cache
def oscillator() -> Kernel:
    """y = (cos t, -sin t) from (1, 0)."""
    return flat(lambda t, y, p: [y[1], -y[0]], 2)


@functools.cache
def logistic() -> Kernel:
    """y = 1 / (1 + exp(-t)) from 1/2 at t = 0."""
    return flat(lambda t, y, p: [y[0] * (1.0 - y[0])], 1)


@functools.cache
def driven() -> Kernel:
    """y' = -2 t y^2, whose solution is 1 / (1 + t^2): depends on the time as well."""
    return flat(lambda t, y, p: [-2.0 * t * y[0] * y[0]], 1)


@functools.cache
def kepler() -> Kernel:
    """A planet about a sun of unit attraction."""

    def rhs(t, y, p):
        cube = (y[0] * y[0] + y[1] * y[1]).sqrt() ** 3
        return [y[2], y[3], -y[0] / cube, -y[1] / cube]

    return flat(rhs, 4)


@functools.cache
def arenstorf() -> Kernel:
    """The restricted three-body problem of Earth and Moon in the rotating frame [HNW93, II.0]."""
    mu = 0.012277471

    def rhs(t, y, p):
        near = ((y[0] + mu) ** 2 + y[1] ** 2).sqrt() ** 3
        far = ((y[0] - (1.0 - mu)) ** 2 + y[1] ** 2).sqrt() ** 3
        ax = y[0] + 2.0 * y[3] - (1.0 - mu) * (y[0] + mu) / near - mu * (y[0] - (1.0 - mu)) / far
        ay = y[1] - 2.0 * y[2] - (1.0 - mu) * y[1] / near - mu * y[1] / far
        return [y[2], y[3], ax, ay]

    return flat(rhs, 4)


ARENSTORF_START = (0.994, 0.0, 0.0, -2.00158510637908252240537862224)
ARENSTORF_PERIOD = 17.0652165601579625588917206249


@functools.cache
def double_pendulum() -> Kernel:
    """Two unit point masses on unit rods, angles from the vertical, g = 9.81; y = (a, b, a', b')."""

    def rhs(t, y, p):
        a, b, u, v = y
        g = 9.81
        s, c = (a - b).sin(), (a - b).cos()
        m = 2.0 - c * c
        first = (-s * (v * v + c * u * u) - 2.0 * g * a.sin() + g * c * b.sin()) / m
        second = (s * (2.0 * u * u + c * v * v) + 2.0 * g * c * a.sin() - 2.0 * g * b.sin()) / m
        return [u, v, first, second]

    return flat(rhs, 4)


def double_pendulum_energy(y) -> float:
    a, b, u, v = y
    kinetic = u * u + 0.5 * v * v + u * v * math.cos(a - b)
    return kinetic - 9.81 * (2.0 * math.cos(a) + math.cos(b))


@functools.cache
def van_der_pol() -> Kernel:
    """y'' = p (1 - y^2) y' - y."""
    return flat(lambda t, y, p: [y[1], p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]], 2, 1)


@functools.cache
def robertson() -> Kernel:
    """Three reactions with rates 0.04, 1e4, 3e7."""

    def rhs(t, y, p):
        a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
        return [b - a, a - b - c, c]

    return flat(rhs, 3)


@functools.cache
def falling() -> Kernel:
    """A ball in free fall with g = 10: y = (height, velocity)."""
    return flat(lambda t, y, p: [y[1], -10.0], 2)


@functools.cache
def held_rate() -> Kernel:
    """y' = -y + p: relaxes to the held input."""
    return flat(lambda t, y, p: [p[0] - y[0]], 1, 1)
