"""Constraints embedded at run time: accelerations of a constrained system, and states moved onto its constraints.

In comes [t, q, u, work, tau, parameters] as every flat program of a motion has it, and the address of a record that
says which programs give the terms of the system. Out go, by the task in that record, [q̇, u̇, power], or the state
[q, u, work] that satisfies the constraints, or accelerations of many states. Everything is done in memory that was set
aside before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cfunc, types

from ...constraints.thresholds import EXACT, FIRM, MASS_SHARE, ROUGH, SINGULAR
from .call import call, compiled, program, reals, record_of, source_digest, wholes
from .linear import constrained
from .step import copied

STEPS, HALVINGS = 8, 6
"""Newton steps of a projection, and how often one of them is halved."""

TASKS = RATES, PROJECTION, SAMPLES = range(3)
"""What a record asks for: the rates of a state, the state on the constraints, accelerations of many states."""

PROGRAMS = ("terms", "places", "unit")
SIZES = ("task", "coordinates", "n", "rows", "holonomic", "inputs", "states", "generic", "stabilised", "driven", "rank")
ADDRESSES = (
    "out",  # outputs of terms: q̇, M, f, A, rate, b, phi, power
    "place",  # outputs of places: phi, G, T
    "x",  # (inputs,): the inputs of the programs, being changed
    "kept",  # (coordinates,): the best coordinates so far
    "shift",  # (coordinates,): where they are to be moved
    "y",  # (states,)
    "b",  # (rows,): right side of A x = b
    "zero",  # (n,)
    "step",  # (n,)
    "groups",  # (rows,) int64: rows of the same number compare by length
    "place_groups",  # (holonomic,) int64: the same for the rows of places
    "longest",  # (rows,): of each group
    "scale",  # (n,): units of the unknowns
    "w",  # (rows, padded(n + 1)): [A | −b] and what becomes of it
    "square",  # (padded(n + 1),): squared lengths of columns
    "summed",  # (n,): the same when last summed
    "order",  # (n,) int64: dependent unknowns, then independent ones
    "v",  # (rows,)
    "row",  # (padded(n + 1),)
    "x_dependent",  # (n, padded(n + 1)): D and E of x_D = D x_I + E
    "product",  # (n, padded(n + 1))
    "k",  # (n, padded(n + 1)): the reduced system
)
REALS = ("damping", "stiffness", "measure")

MEMORY = np.dtype([(name, "i8") for name in (*PROGRAMS, *SIZES, *ADDRESSES)] + [(name, "f8") for name in REALS])
"""The context of an embedding."""


record = record_of(MEMORY)
"""The record of type MEMORY at an address."""


@compiled
def mass_at(m):
    """Where M is among the outputs of terms; f, A, rate, b and phi follow it."""
    return m.out + 8 * m.coordinates


@compiled
def accelerate(m, source, target):
    """Set u̇ at the address `target` for the inputs at `source`; leaves the outputs of terms in m.out."""
    n, rows = m.n, m.rows
    call(m.terms, source, m.out)
    mass = mass_at(m)
    f = mass + 8 * n * n
    a = f + 8 * n
    rate, wanted = reals(a + 8 * rows * n), reals(a + 8 * rows * (n + 1))
    phi, b = reals(a + 8 * rows * (n + 2)), reals(m.b)
    for i in range(rows):
        b[i] = wanted[i]
    if m.stabilised:
        for i in range(rows):
            b[i] -= m.damping * rate[i] + m.stiffness * phi[i]
    constrained(m, rows, m.groups, a, m.b, mass, f, SINGULAR, 0.0, target)


@compiled
def closed(m):
    """Evaluate places at m.x; returns the largest position residual."""
    call(m.places, m.x, m.place)
    phi = reals(m.place)
    largest = 0.0
    for i in range(m.holonomic):
        size = abs(phi[i])
        if size > largest or size != size:
            largest = size
    return largest


@compiled
def made_unit(m):
    """Make the quaternions in m.x unit."""
    if m.unit != 0:
        call(m.unit, m.x, m.y)
        copied(m.states, m.y, m.x + 8)


@compiled
def aimed(m):
    """Set m.shift to the change of the coordinates that closes the residual to first order.

    G δ = −phi with least δᵀ M δ, then δq = T δ.
    """
    n, k = m.n, m.holonomic
    phi, b, step, shift = reals(m.place), reals(m.b), reals(m.step), reals(m.shift)
    for i in range(k):
        b[i] = -phi[i]
    constrained(m, k, m.place_groups, m.place + 8 * k, m.b, mass_at(m), m.zero, FIRM, MASS_SHARE, m.step)
    along = reals(m.place + 8 * k * (n + 1))
    for i in range(m.coordinates):
        total = 0.0
        for j in range(n):
            total += along[i * n + j] * step[j]
        shift[i] = total


@compiled
def tried(m, part):
    """The residual after the kept coordinates are moved by `part` of the shift, which are then in m.x."""
    q, kept, shift = reals(m.x + 8), reals(m.kept), reals(m.shift)
    for i in range(m.coordinates):
        q[i] = kept[i] + part * shift[i]
    made_unit(m)
    return closed(m)


@compiled
def close(m):
    """Move the coordinates in m.x onto the position constraints by Newton steps, in the metric of M at the start."""
    residual = closed(m)
    if residual <= EXACT:
        return
    call(m.terms, m.x, m.out)
    for _ in range(STEPS):
        aimed(m)
        copied(m.coordinates, m.x + 8, m.kept)
        part = 1.0
        after = tried(m, part)
        for _ in range(HALVINGS):
            if not (after >= residual and residual > ROUGH):
                break
            part *= 0.5
            after = tried(m, part)
        if after >= residual:
            copied(m.coordinates, m.kept, m.x + 8)
            return
        residual = after
        if not residual > EXACT:
            return


@compiled
def projected(m):
    """Move the state in m.x onto the constraints of position, then of motion."""
    made_unit(m)
    if m.holonomic > 0:
        close(m)
    if m.rows == 0:
        return
    n, rows = m.n, m.rows
    call(m.terms, m.x, m.out)
    mass = mass_at(m)
    a = mass + 8 * n * (n + 1)
    rate, b = reals(a + 8 * rows * n), reals(m.b)
    for i in range(rows):
        b[i] = -rate[i]
    constrained(m, rows, m.groups, a, m.b, mass, m.zero, FIRM, MASS_SHARE, m.step)
    u, step = reals(m.x + 8 * (1 + m.coordinates)), reals(m.step)
    for j in range(n):
        u[j] += step[j]


@compiled
def reaction_power(m, u, udot):
    """Power of the reactions, (M u̇ − f)·u = λ·A u: what drives a constraint that moves by itself."""
    n = m.n
    mass, f = reals(mass_at(m)), reals(mass_at(m) + 8 * n * n)
    speeds, rates = reals(u), reals(udot)
    power = 0.0
    for i in range(n):
        effort = -f[i]
        for j in range(n):
            effort += mass[i * n + j] * rates[j]
        power += effort * speeds[i]
    return power


@compiled
def rated(m, source, target):
    """Write [q̇, u̇, power] for the inputs at `source`."""
    first = target + 8 * m.coordinates
    accelerate(m, source, first)
    copied(m.coordinates, m.out, target)
    power = reals(mass_at(m) + 8 * (m.n * (m.n + 1) + m.rows * (m.n + 3)))[0]
    if m.driven:
        power += reaction_power(m, source + 8 * (1 + m.coordinates), first)
    reals(target)[m.states - 1] = power


@compiled
def sampled(m, samples, target):
    """Write u̇ for many rows of inputs, which speeds were independent, and how far from singular each is.

    `samples` is the address of [how many, address of the inputs, of `independent` (int64), of `measure`].
    """
    given = wholes(samples)
    free, size, order = wholes(given[2]), reals(given[3]), wholes(m.order)
    for i in range(given[0]):
        rated(m, given[1] + 8 * i * m.inputs, m.y)
        copied(m.n, m.y + 8 * m.coordinates, target + 8 * i * m.n)
        size[i] = m.measure
        for j in range(m.n):
            free[i * m.n + order[j]] = 0 if j < m.rank else 1


def _embedded(digest) -> Any:
    """The program of an embedding; `digest` ties its cached code to all the sources it is made of."""

    @cfunc(types.void(types.int64, types.int64, types.int64), **program)
    def embedded(context, source, target):
        """Do what the task in the record at `context` says. One program for all: most of it is the same for each."""
        m = record(context)
        if m.task == RATES:
            rated(m, source, target)
        elif m.task == SAMPLES:
            sampled(m, source, target)
        else:
            copied(m.inputs if digest else 0, source, m.x)
            projected(m)
            copied(m.states, m.x + 8, target)

    return embedded


embedded = _embedded(source_digest())
