"""Friction in the mode that holds now: how it is shared where it is not determined, and what follows of it in slips."""

from __future__ import annotations

from ...constraints.thresholds import LEAST_SHARE
from .call import part, reals, wholes
from .changing_record import (
    CONTACT,
    FRICTION_FIRST,
    KINETIC,
    LAWS,
    OPEN,
    SLIPS,
    STATIC,
    STICKS,
    THEN_NORMAL,
)
from .elimination import move_to_least
from .mass_metric import fill
from .slips import slip_direction, slip_rows


@part
def share_of(c, i, normal, most):
    """What the contact i with this normal reaction can take of the friction that contacts share, `most` being the
    largest normal reaction."""
    friction = reals(c.law)[i * LAWS + (STATIC if wholes(c.state)[i] == STICKS else KINETIC)]
    return friction * max(normal / most, LEAST_SHARE)


@part
def weigh_friction(c, size, most):
    """Weights by which friction is shared among contacts, where it is not determined: as little as can be, and in
    proportion to what each can take, μ times its normal reaction in c.solution, `most` being the largest. With most = 0
    the normal reactions are not known yet."""
    unknown, x, weight, unit = wholes(c.unknown), reals(c.solution), reals(c.weight), reals(c.scale)
    fill(size, 1.0, c.weight)
    normal = 0
    for j in range(size):
        i = wholes(c.owner)[j]
        wholes(c.tier)[j] = THEN_NORMAL
        if wholes(c.type)[i] != CONTACT:
            continue
        if unknown[j] == wholes(c.first)[i]:
            normal = j
            continue
        share = share_of(c, i, x[normal], most) if most > 0.0 else 1.0
        weight[j] = (unit[j] / unit[normal]) ** 2 / share
        wholes(c.tier)[j] = FRICTION_FIRST


@part
def keep_normals(c, size):
    """Let normal reactions be as near as can be to those in c.normal_near, before friction is least."""
    unit, tier = reals(c.scale), wholes(c.tier)
    for j in range(size):
        i = wholes(c.owner)[j]
        tier[j] = 1 - tier[j]
        if wholes(c.unknown)[j] == wholes(c.first)[i] and unit[j] > 0.0:
            reals(c.near)[j] = reals(c.normal_near)[i] / unit[j]


@part
def share_friction(c, size, rank, kept):
    """Share what is not determined of the friction of contacts: contacts that unload must not seem to slip where others
    hold. If `kept`, normal reactions come first."""
    unit, x, most = reals(c.scale), reals(c.solution), 0.0
    for j in range(size):
        i = wholes(c.owner)[j]
        if wholes(c.type)[i] == CONTACT and wholes(c.unknown)[j] == wholes(c.first)[i]:
            most = max(most, x[j])
    if not most > 0.0:
        return
    weigh_friction(c, size, most)
    if kept:
        keep_normals(c, size)
    for j in range(size):
        x[j] = x[j] / unit[j] if unit[j] > 0.0 else 0.0
    move_to_least(c, size, rank, c.k, c.right, c.solution)
    for j in range(size):
        x[j] *= unit[j]


@part
def mixes_friction(c):
    """Whether friction of some contacts follows from their normal reactions while that of others is unknown."""
    follows, unknown = False, False
    for i in range(c.elements):
        if wholes(c.type)[i] == CONTACT and wholes(c.state)[i] != OPEN and slip_rows(c, i)[1] > 0:
            slips = wholes(c.state)[i] == SLIPS
            follows = follows or slips
            unknown = unknown or not slips
    return follows and unknown


@part
def set_friction(c):
    """Friction of the contacts that slip, from their normal reactions; that of slips which begin is known."""
    reaction, law = reals(c.reaction), reals(c.law)
    for i in range(c.elements):
        if wholes(c.state)[i] != SLIPS or wholes(c.type)[i] != CONTACT or wholes(c.young)[i]:
            continue
        at, slips = slip_rows(c, i)
        slip_direction(c, i)
        friction = law[i * LAWS + KINETIC] * reaction[wholes(c.first)[i]]
        for s in range(slips):
            reaction[at + s] = -friction * reals(c.slip)[s]
