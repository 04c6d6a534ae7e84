"""Accelerations and reactions in the mode that holds now.

With M = L Lᵀ everything is done in z = Lᵀ u̇, where rows are y = L⁻¹ a: permanent rows are an orthonormal basis,
changing rows are freed of it, and what is left is a small system for the reactions of the mode. A slipping contact has
one unknown, its normal reaction: its friction −μ λ d goes along with it. Friction of contacts that stick is shared by
what each can take, where it is not determined. A mode that is written out has programs of its own, used instead.
"""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import LEAST_SHARE, LITTLE_FRICTION
from .call import call, part, reals, wholes
from .changing_record import BOUND, CONTACT, ENDS, FRICTION, KINETIC, LAWS, MOTION, OPEN, SLIPS, STATES, STATIC, STICKS
from .elimination import move_to_least, solve_least
from .mass_metric import add_multiple, along_basis, factor_mass, fill, free_of_basis, from_z, inner, span_rows, to_z
from .slips import slip_direction, slip_rows
from .step import copy_numbers


@part
def evaluate(c, source):
    """Terms at the inputs at `source`, and all that follows from them but the mode; False where M is singular."""
    n = c.n
    call(c.terms, source, c.qdot)
    if not c.fixed_laws:
        call(c.laws, source, c.law)
    if not factor_mass(c):
        return False
    wanted, drift = reals(c.wanted), reals(c.drift)
    for i in range(c.permanent):
        to_z(c, c.a + 8 * i * n, c.rows_z + 8 * i * n)
    copy_numbers(c.permanent * n, c.rows_z, c.span)
    copy_numbers(c.permanent, c.wanted, c.aim)
    count = span_rows(c, c.permanent)
    c.rank = count
    to_z(c, c.f, c.z_free)
    along_basis(c, count, c.z_other)
    copy_numbers(n, c.z_free, c.z)
    free_of_basis(c, count, c.z)
    add_multiple(n, c.z, 1.0, c.z_other)
    for i in range(c.permanent, c.rows):
        y = c.rows_z + 8 * i * n
        to_z(c, c.a + 8 * i * n, y)
        drift[i] = inner(n, y, c.z) - wanted[i]
        free_of_basis(c, count, y)
    return True


@part
def set_unknowns(c):
    """The reactions that are unknown in this mode, what a unit of each does, and what known friction does to c.z."""
    n = c.n
    state, kind, unknown = wholes(c.state), wholes(c.type), wholes(c.unknown)
    law, slip, reaction = reals(c.law), reals(c.slip), reals(c.reaction)
    fill(c.rows, 0.0, c.reaction)
    count = 0
    for i in range(c.elements):
        if state[i] == OPEN:
            continue
        first, length = wholes(c.first)[i], wholes(c.length)[i]
        at, slips = slip_rows(c, i)
        if kind[i] == FRICTION and state[i] == SLIPS:
            slip_direction(c, i)
            for s in range(slips):
                reaction[at + s] = -law[i * LAWS + KINETIC] * law[i * LAWS + BOUND] * slip[s]
                add_multiple(n, c.z, reaction[at + s], c.rows_z + 8 * (at + s) * n)
            continue
        held = length
        if kind[i] == CONTACT:
            held = 1 + (slips if state[i] == STICKS else 0)
        for r in range(held):
            unknown[count] = first + r
            column = c.columns + 8 * count * n
            copy_numbers(n, c.rows_z + 8 * (first + r) * n, column)
            if state[i] == SLIPS:
                slip_direction(c, i)
                for s in range(slips):
                    add_multiple(n, column, -law[i * LAWS + KINETIC] * slip[s], c.rows_z + 8 * (at + s) * n)
            count += 1
    c.unknowns = count


@part
def weigh_friction(c, size, most):
    """Weights by which friction is shared among contacts that stick, where it is not determined: as little as can be,
    and in proportion to what each can take, μ times its normal reaction in c.solution, `most` being the largest. With
    most = 0 the normal reactions are not known yet."""
    unknown, x, weight, unit, law = (
        wholes(c.unknown),
        reals(c.solution),
        reals(c.weight),
        reals(c.scale),
        reals(c.law),
    )
    fill(size, 1.0, c.weight)
    at = 0
    for i in range(c.elements):
        if wholes(c.state)[i] != STICKS or wholes(c.type)[i] != CONTACT or slip_rows(c, i)[1] == 0:
            continue
        while unknown[at] != wholes(c.first)[i]:
            at += 1
        share = law[i * LAWS + STATIC] * max(x[at] / most, LEAST_SHARE) if most > 0.0 else 1.0
        for s in range(at + 1, at + wholes(c.length)[i]):
            weight[s] = LITTLE_FRICTION / share * (unit[s] / unit[at]) ** 2


@part
def share_friction(c, size, rank):
    """Share what is not determined of the friction of contacts that stick: contacts that unload must not seem to slip
    where others hold."""
    unit, x, most = reals(c.scale), reals(c.solution), 0.0
    for i in range(c.elements):
        if wholes(c.state)[i] != OPEN and wholes(c.type)[i] == CONTACT:
            for j in range(size):
                if wholes(c.unknown)[j] == wholes(c.first)[i]:
                    most = max(most, x[j])
    if not most > 0.0:
        return
    weigh_friction(c, size, most)
    for j in range(size):
        x[j] = x[j] / unit[j] if unit[j] > 0.0 else 0.0
    move_to_least(c, size, rank, c.k, c.right, c.solution)
    for j in range(size):
        x[j] *= unit[j]


@part
def solve_mode(c):
    """Reactions of the mode into c.reaction, and accelerations into c.z."""
    n, law = c.n, reals(c.law)
    set_unknowns(c)
    size = c.unknowns
    unknown, k, right, x = wholes(c.unknown), reals(c.k), reals(c.right), reals(c.solution)
    scale, reaction, slip, drift = reals(c.scale), reals(c.reaction), reals(c.slip), reals(c.drift)
    if size == 0:
        return
    for i in range(size):
        row = c.rows_z + 8 * unknown[i] * n
        length = math.sqrt(inner(n, row, row))
        scale[i] = 1.0 / length if length > 0.0 else 0.0
        known = drift[unknown[i]]
        for j in range(c.permanent, c.rows):
            if reaction[j] != 0.0:
                known += reaction[j] * inner(n, row, c.rows_z + 8 * j * n)
        right[i] = -known
        for j in range(size):
            k[i * size + j] = inner(n, row, c.columns + 8 * j * n)
    weigh_friction(c, size, 0.0)
    rank = solve_least(c, size, c.k, c.right, c.solution)
    if rank < size:
        share_friction(c, size, rank)
    for j in range(size):
        add_multiple(n, c.z, x[j], c.columns + 8 * j * n)
        reaction[unknown[j]] = x[j]
    for i in range(c.elements):
        if wholes(c.state)[i] == SLIPS and wholes(c.type)[i] == CONTACT:
            at, slips = slip_rows(c, i)
            slip_direction(c, i)
            for s in range(slips):
                reaction[at + s] = -law[i * LAWS + KINETIC] * slip[s] * reaction[wholes(c.first)[i]]


@part
def mode_index(c):
    """The number of the mode in the table: four states for each element, a slip forward or backward being two."""
    index = np.int64(0)
    state = wholes(c.state)
    for i in range(c.elements):
        digit = state[i]
        if digit == SLIPS and reals(c.direction)[2 * i] < 0.0:
            digit += 1
        index = STATES * index + digit
    return index


@part
def mode_program(c, which):
    """The address of a program of this mode, rates (0) or ends (1); 0 where it is not written out."""
    if c.table == 0:
        return np.int64(0)
    return wholes(c.table)[which * STATES**c.elements + mode_index(c)]


@part
def read_ends(c, source):
    """Reactions, rates and residuals of all rows in this mode, from its program where there is one; False where the
    mass matrix is singular."""
    address = mode_program(c, ENDS)
    if address == 0:
        if not evaluate(c, source):
            return False
        solve_mode(c)
        return True
    call(address, source, c.ends)
    copy_numbers(c.rows, c.ends, c.reaction)
    copy_numbers(c.rows, c.ends + 8 * c.rows, c.rate)
    copy_numbers(c.rows, c.ends + 16 * c.rows, c.phi)
    if not c.fixed_laws:
        call(c.laws, source, c.law)
    return True


@part
def permanent_reactions(c):
    """Reactions of the permanent rows behind those of the mode, into c.reaction: what is left of M u̇ − f."""
    n, size = c.n, c.permanent
    k, right, scale, reaction = reals(c.k), reals(c.right), reals(c.scale), reals(c.reaction)
    copy_numbers(n, c.z, c.z_other)
    add_multiple(n, c.z_other, -1.0, c.z_free)
    for j in range(size, c.rows):
        if reaction[j] != 0.0:
            to_z(c, c.a + 8 * j * n, c.step)
            add_multiple(n, c.z_other, -reaction[j], c.step)
    for i in range(size):
        row = c.rows_z + 8 * i * n
        right[i] = inner(n, row, c.z_other)
        length = math.sqrt(inner(n, row, row))
        scale[i] = 1.0 / length if length > 0.0 else 0.0
        for j in range(size):
            k[i * size + j] = inner(n, row, c.rows_z + 8 * j * n)
    fill(size, 1.0, c.weight)
    solve_least(c, size, c.k, c.right, c.solution)
    copy_numbers(size, c.solution, c.reaction)


@part
def write_rates(c, source, target):
    """Write [q̇, u̇, power] for the inputs at `source`; the power is that of loads and changing reactions."""
    address = mode_program(c, MOTION)
    if address != 0:
        call(address, source, target)
        return
    if not evaluate(c, source):
        fill(c.states, math.nan, target)
        return
    solve_mode(c)
    copy_numbers(c.coordinates, c.qdot, target)
    from_z(c, c.z, target + 8 * c.coordinates)
    changing = c.rows - c.permanent
    reals(target)[c.states - 1] = reals(c.power)[0] + inner(
        changing, c.reaction + 8 * c.permanent, c.rate + 8 * c.permanent
    )


@part
def write_reactions(c, source, target):
    """Write the reactions of all rows in this mode, nan where the mass matrix is singular."""
    if not read_ends(c, source):
        fill(c.rows, math.nan, target)
        return
    if c.permanent > 0 and mode_program(c, ENDS) == 0:
        permanent_reactions(c)
    copy_numbers(c.rows, c.reaction, target)
