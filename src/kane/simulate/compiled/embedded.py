"""Constraints embedded at run time: accelerations of a constrained system, and states moved onto its constraints.

In comes [t, q, u, work, tau, parameters] as every flat program of a motion has it, and the address of a record that
says which programs give the terms of the system. Out go, by the task in that record, [q̇, u̇, power], or the state [q,
u, work] that satisfies the constraints, or accelerations of many states. Everything is done in the memory that the
record names, which belongs to one run; what is where in it is defined by `kane.graph.layout` and filled in by
`kane.simulate.embedding`.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ...constraints.thresholds import EXACT, FIRM, MASS_SHARE, ROUGH, SINGULAR
from .call import call, part, reals, record_of, wholes
from .linear import solve_constrained
from .step import copy_numbers
from .store import program

STEPS, HALVINGS = 8, 6
"""Newton steps of a projection, and how often one of them is halved."""

TASKS = RATES, PROJECTION, SAMPLES, WATCH, SAMPLE_MULTIPLIERS, MULTIPLIERS = range(6)
"""What a record asks for: the rates of a state, the state on the constraints, accelerations of many states; from the
program of `multipliers`, functions that events watch, multipliers of many states, and the same from given rows."""

PROGRAMS = ("terms", "places", "unit", "watch", "embedding")
SIZES = (
    "task",
    "coordinates",
    "n",
    "rows",
    "holonomic",
    "inputs",
    "states",
    "generic",
    "stabilised",
    "driven",
    "q_start",  # bytes from the inputs to q
    "u_start",  # bytes from the inputs to u
    "rank",  # of the rows, as last found
)
SHARED = (
    "groups",  # (rows,) int64: rows of the same number compare by length
    "place_groups",  # (holonomic,) int64: the same for the rows of places
    "sizes",  # (rows,): of the rows of each group, if nothing cancelled; 0 if unknown
    "place_sizes",  # (holonomic,): the same for the rows of places
    "weight",  # (rows,): least Σ (weight λ)² where multipliers are not determined
)
"""Addresses of what all runs read and none writes."""
OWN = (
    "qdot",  # outputs of terms, which begin here
    "mass",
    "f",
    "a",
    "rate",
    "wanted",  # b as terms gives it
    "phi",
    "power",
    "place_phi",  # outputs of places, which begin here
    "place_rows",
    "along",
    "x",  # (inputs + rows,): the inputs of the programs, being changed, and multipliers behind them
    "kept",  # (coordinates,): the best coordinates so far
    "shift",  # (coordinates,): where they are to be moved
    "y",  # (states,)
    "b",  # (rows,): right side of A x = b
    "zero",  # (n,)
    "step",  # (n,)
    "longest",  # (rows,): of each group
    "scale",  # (n,): units of the unknowns
    "w",  # (rows, padded_size(n + 1)): [A | −b] and what becomes of it
    "square",  # (padded_size(n + 1),): squared lengths of columns
    "summed",  # (n,): the same when last summed
    "order",  # (n,) int64: dependent unknowns, then independent ones
    "v",  # (min(rows, n) + 1, rows): vectors of the reflections
    "shares",  # (min(rows, n) + 1,): what multiplies them
    "swaps",  # (min(rows, n) + 1,) int64: rows exchanged before
    "null",  # (rows, rows): directions in which multipliers are not determined
    "row",  # (padded_size(n + 1),)
    "x_dependent",  # (n, padded_size(n + 1)): D and E of x_D = D x_I + E
    "product",  # (n, padded_size(n + 1))
    "k",  # (n, padded_size(n + 1)): the reduced system
)
"""Addresses of what one run writes."""
REALS = ("damping", "stiffness", "measure")

WHOLE = (*PROGRAMS, *SIZES, "rates", *SHARED, *OWN)
MEMORY = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])
"""The record of a task; `rates` is the address of that of the task RATES of the same run."""

OWN_FIELDS = slice(len(WHOLE) - len(OWN), len(WHOLE))
"""Where the addresses of a run's own memory are among the numbers of a record."""


record = record_of(MEMORY)
"""The record of type MEMORY at an address."""


@part
def accelerate(m, source, target):
    """Set u̇ at the address `target` for the inputs at `source`; leaves the outputs of terms where they are."""
    rows = m.rows
    call(m.terms, source, m.qdot)
    rate, wanted, phi, b = reals(m.rate), reals(m.wanted), reals(m.phi), reals(m.b)
    for i in range(rows):
        b[i] = wanted[i]
    if m.stabilised:
        for i in range(rows):
            b[i] -= m.damping * rate[i] + m.stiffness * phi[i]
    solve_constrained(m, rows, m.groups, m.sizes, m.a, m.b, m.mass, m.f, SINGULAR, 0.0, target)


@part
def position_residual(m):
    """Evaluate places at m.x; returns the largest position residual."""
    call(m.places, m.x, m.place_phi)
    phi = reals(m.place_phi)
    largest = 0.0
    for i in range(m.holonomic):
        size = abs(phi[i])
        if size > largest or size != size:
            largest = size
    return largest


@part
def normalize_quaternions(m):
    """Make the quaternions in m.x unit."""
    if m.unit != 0:
        call(m.unit, m.x, m.y)
        copy_numbers(m.states, m.y, m.x + m.q_start)


@part
def newton_step(m):
    """Set m.shift to the change of the coordinates that closes the residual to first order.

    G δ = −phi with least δᵀ M δ, then δq = T δ.
    """
    n, k = m.n, m.holonomic
    phi, b, step, shift, along = reals(m.place_phi), reals(m.b), reals(m.step), reals(m.shift), reals(m.along)
    for i in range(k):
        b[i] = -phi[i]
    solve_constrained(m, k, m.place_groups, m.place_sizes, m.place_rows, m.b, m.mass, m.zero, FIRM, MASS_SHARE, m.step)
    for i in range(m.coordinates):
        total = 0.0
        for j in range(n):
            total += along[i * n + j] * step[j]
        shift[i] = total


@part
def residual_after(m, share):
    """The residual after the kept coordinates are moved by a share of the shift, which are then in m.x."""
    q, kept, shift = reals(m.x + m.q_start), reals(m.kept), reals(m.shift)
    for i in range(m.coordinates):
        q[i] = kept[i] + share * shift[i]
    normalize_quaternions(m)
    return position_residual(m)


@part
def close_position(m):
    """Move the coordinates in m.x onto the position constraints by Newton steps, in the metric of M at the start."""
    residual = position_residual(m)
    if residual <= EXACT:
        return
    call(m.terms, m.x, m.qdot)
    for _ in range(STEPS):
        newton_step(m)
        copy_numbers(m.coordinates, m.x + m.q_start, m.kept)
        share = 1.0
        after = residual_after(m, share)
        for _ in range(HALVINGS):
            if not (after >= residual and residual > ROUGH):
                break
            share *= 0.5
            after = residual_after(m, share)
        if after >= residual:
            copy_numbers(m.coordinates, m.kept, m.x + m.q_start)
            return
        residual = after
        if not residual > EXACT:
            return


@part
def project_state(m):
    """Move the state in m.x onto the constraints of position, then of motion."""
    normalize_quaternions(m)
    if m.holonomic > 0:
        close_position(m)
    if m.rows == 0:
        return
    n, rows = m.n, m.rows
    call(m.terms, m.x, m.qdot)
    rate, b = reals(m.rate), reals(m.b)
    for i in range(rows):
        b[i] = -rate[i]
    solve_constrained(m, rows, m.groups, m.sizes, m.a, m.b, m.mass, m.zero, FIRM, MASS_SHARE, m.step)
    u, step = reals(m.x + m.u_start), reals(m.step)
    for j in range(n):
        u[j] += step[j]


@part
def reaction_power(m, u, udot):
    """Power of the reactions, (M u̇ − f)·u = λ·A u: what drives a constraint that moves by itself."""
    n = m.n
    mass, f = reals(m.mass), reals(m.f)
    speeds, rates = reals(u), reals(udot)
    power = 0.0
    for i in range(n):
        effort = -f[i]
        for j in range(n):
            effort += mass[i * n + j] * rates[j]
        power += effort * speeds[i]
    return power


@part
def write_rates(m, source, target):
    """Write [q̇, u̇, power] for the inputs at `source`."""
    first = target + 8 * m.coordinates
    accelerate(m, source, first)
    copy_numbers(m.coordinates, m.qdot, target)
    power = reals(m.power)[0]
    if m.driven:
        power += reaction_power(m, source + m.u_start, first)
    reals(target)[m.states - 1] = power


@part
def evaluate_samples(m, samples, target):
    """Write u̇ for many rows of inputs, which speeds were independent, how far from singular each is, and the rank.

    `samples` is the address of [how many, address of the inputs, of `independent` (int64), of `measure`, of `rank`
    (int64)].
    """
    given = wholes(samples)
    free, size, ranks, order = wholes(given[2]), reals(given[3]), wholes(given[4]), wholes(m.order)
    for i in range(given[0]):
        write_rates(m, given[1] + 8 * i * m.inputs, m.y)
        copy_numbers(m.n, m.y + 8 * m.coordinates, target + 8 * i * m.n)
        size[i] = m.measure
        ranks[i] = m.rank
        for j in range(m.n):
            free[i * m.n + order[j]] = 0 if j < m.rank else 1


@program(types.void(types.int64, types.int64, types.int64))
def embedding_program(source, target, memory):
    """Do what the task in the record at `memory` says. One program for all: most of it is the same for each."""
    m = record(memory)
    if m.task == RATES:
        write_rates(m, source, target)
    elif m.task == SAMPLES:
        evaluate_samples(m, source, target)
    else:
        copy_numbers(m.inputs, source, m.x)
        project_state(m)
        copy_numbers(m.states, m.x + m.q_start, target)
