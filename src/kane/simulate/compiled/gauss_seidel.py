"""Projected Gauss–Seidel: the contacts one after another, each solved exactly while the others hold still.

Where bodies have more contacts than hold them, W is singular, and what the contacts ask for can be inconsistent: no
sweep makes it less, and r drifts steadily along a null direction of W until some contact opens or slips, maybe in
thousands of sweeps. Such a drift is recognised, and r leaps to where the first contact is at the end of its law.
"""

from __future__ import annotations

import math

import numpy as np

from .call import part, reals, stay_separate, wholes
from .cones import solve_contact
from .contacts import BOUND, CONE, FREE, TIGHT, evaluate
from .step import copy_numbers

LOOK = np.int64(4)
"""Sweeps between two evaluations of the residual, which costs about half a sweep."""

ROUND = np.int64(15)
"""Sweeps before the one that shows how r drifts."""

STEADY = 0.1
"""Share of a drift by which it may differ from that of the round before."""

INSIDE = 1e-9
"""Share of the radius of a disc by which friction has to be inside, to leave it further on."""

FARTHEST = 1e12
"""Sweeps that a leap takes at most."""


@part
def sweep_contacts(m, sweeps):
    """Sweep over all contacts so often, or until the natural residual needs no more; it is returned."""
    for count in range(1, sweeps + 1):
        for i in range(m.k):
            solve_contact(m, i)
        m.sweeps += 1
        if count % LOOK == 0 and evaluate(m) <= TIGHT:
            break
    return evaluate(m)


@part
def sweep_round(m):
    """Some sweeps, what the last of them changes in m.step; returns the natural residual."""
    stay_separate()
    sweep_contacts(m, ROUND)
    copy_numbers(m.n, m.r, m.step)
    sweep_contacts(m, np.int64(1))
    r, step = reals(m.r), reals(m.step)
    for j in range(m.n):
        step[j] = r[j] - step[j]
    return m.residual


@part
def disc_reach(m, at, tangents, radius, growth, most):
    """The largest share, `most` if it is less, with which r_t + share · step stays in a disc whose radius grows; that
    of a disc on whose rim it is already does not count."""
    r, step = reals(m.r), reals(m.step)
    a, b, c = -growth * growth, -radius * growth, -radius * radius
    for j in range(at, at + tangents):
        a += step[j] * step[j]
        b += r[j] * step[j]
        c += r[j] * r[j]
    if c >= -INSIDE * radius * radius or (a * most + 2.0 * b) * most + c <= 0.0:
        return most
    root = b + math.sqrt(max(0.0, b * b - a * c))
    return min(most, -c / root) if root > 0.0 else most


@part
def drift_reach(m):
    """How many times m.step may be added to r until a contact is at the end of its law."""
    first, rows, kinds, bound = wholes(m.first), wholes(m.rows), wholes(m.kinds), reals(m.bound)
    r, step, most = reals(m.r), reals(m.step), FARTHEST
    for i in range(m.k):
        at = first[i]
        if kinds[i] == FREE:
            continue
        if kinds[i] == BOUND:
            most = disc_reach(m, at, rows[i], bound[i], 0.0, most)
            continue
        if step[at] < 0.0 and r[at] > 0.0:
            most = min(most, -r[at] / step[at])
        if kinds[i] == CONE and r[at] > 0.0:
            most = disc_reach(m, at + 1, rows[i] - 1, bound[i] * r[at], bound[i] * step[at], most)
    return most


@part
def leap(m):
    """Add the drift in m.step to r as often as contacts allow it, if it is that of the round before, m.start; whether
    it was added."""
    stay_separate()
    r, step, before = reals(m.r), reals(m.step), reals(m.start)
    size, change = 0.0, 0.0
    for j in range(m.n):
        size += step[j] * step[j]
        change += (step[j] - before[j]) * (step[j] - before[j])
    if change >= STEADY * STEADY * size:
        return False
    share = drift_reach(m)
    if not (share > 1.0 and share < FARTHEST):
        return False
    for j in range(m.n):
        r[j] += share * step[j]
    evaluate(m)
    return True
