"""Accelerations and reactions in the mode that holds now.

With M = L Lᵀ everything is done in z = Lᵀ u̇, where rows are y = L⁻¹ a: permanent rows are an orthonormal basis,
changing rows are freed of it, and what is left is a small system for the reactions of the mode. A slipping contact has
one unknown, its normal reaction: its friction −μ λ d goes along with it. Friction of contacts that stick is shared by
what each can take, where it is not determined. Where slips in a plane begin a contact problem takes the place of the
system (`beginning_slips`). A mode that is written out has programs of its own, used instead.
"""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import AT_REST, REDUNDANT
from .beginning_slips import solve_beginning
from .call import call, part, reals, wholes
from .changing_record import (
    BOUND,
    CONTACT,
    ENDS,
    FRICTION,
    KINETIC,
    LAWS,
    MOTION,
    OF_FORCES,
    OF_NOTHING,
    OPEN,
    SLIPS,
    STATES,
    THEN_NORMAL,
)
from .elimination import solve_least
from .friction_shares import keep_normals, mixes_friction, set_friction, share_friction, weigh_friction
from .mass_metric import (
    add_multiple,
    along_basis,
    along_speeds,
    factor_mass,
    fill,
    free_of_basis,
    from_z,
    inner,
    span_rows,
    to_z,
)
from .mode_problem import add_balance, begins_to_slip, find_balance
from .shared_friction import clear_sharing, keep_within_cones, mark_sharing
from .slips import slip_direction, slip_rows, slip_speed
from .step import copy_numbers


@part
def acts(c, i):
    """Whether element i exerts any reaction in this mode."""
    if wholes(c.type)[i] == FRICTION and wholes(c.state)[i] == SLIPS:
        return reals(c.law)[i * LAWS + KINETIC] * reals(c.law)[i * LAWS + BOUND] != 0.0
    return wholes(c.state)[i] != OPEN


@part
def free_row(c, count, y):
    """Take out of the row y what lies along the permanent rows. One that says nothing beside them cannot act: what
    rounding leaves of it must not hold anything."""
    n = c.n
    before = inner(n, y, y)
    free_of_basis(c, count, y)
    if inner(n, y, y) <= REDUNDANT * REDUNDANT * before:
        fill(n, 0.0, y)


@part
def evaluate(c, source):
    """Terms at the inputs at `source`, and all that follows from them but the mode; False where M is singular."""
    return evaluate_rows(c, source, True)


@part
def evaluate_rows(c, source, whole):
    """The same, but unless the `whole` is wanted without rows that exert nothing in this mode."""
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
    for e in range(c.elements):
        if whole or acts(c, e):
            for i in range(wholes(c.first)[e], wholes(c.first)[e] + wholes(c.length)[e]):
                y = c.rows_z + 8 * i * n
                to_z(c, c.a + 8 * i * n, y)
                drift[i] = inner(n, y, c.z) - wanted[i]
                if count > 0:
                    free_row(c, count, y)
    copy_numbers(n, c.z, c.z_loose)
    return True


@part
def add_unknown(c, count, i, row):
    """Add the reaction of a row of element i to the unknowns; returns how many there are then."""
    n = c.n
    wholes(c.unknown)[count], wholes(c.owner)[count] = row, i
    copy_numbers(n, c.rows_z + 8 * row * n, c.held + 8 * count * n)
    copy_numbers(n, c.rows_z + 8 * row * n, c.columns + 8 * count * n)
    reals(c.held_drift)[count] = reals(c.drift)[row]
    return count + 1


@part
def add_slipping(c, count, i):
    """Add the normal reaction of the slipping contact i to the unknowns, with the friction that goes along with it."""
    n, friction = c.n, reals(c.law)[i * LAWS + KINETIC]
    at, slips = slip_rows(c, i)
    slip_direction(c, i)
    count = add_unknown(c, count, i, wholes(c.first)[i])
    for s in range(slips):
        along = -friction * reals(c.slip)[s]
        add_multiple(n, c.columns + 8 * (count - 1) * n, along, c.rows_z + 8 * (at + s) * n)
    return count


@part
def add_known_friction(c, i):
    """Let the dry friction i, which slips, act on c.z."""
    at, slips = slip_rows(c, i)
    law, reaction = reals(c.law + 8 * i * LAWS), reals(c.reaction)
    slip_direction(c, i)
    for s in range(slips):
        reaction[at + s] = -law[KINETIC] * law[BOUND] * reals(c.slip)[s]
        add_multiple(c.n, c.z, reaction[at + s], c.rows_z + 8 * (at + s) * c.n)


@part
def set_unknowns(c, all_stick):
    """The reactions that are unknown in this mode, or if what slips in it stuck, what a unit of each does, and what
    known friction does to c.z."""
    state, kind = wholes(c.state), wholes(c.type)
    fill(c.rows, 0.0, c.reaction)
    copy_numbers(c.n, c.z_loose, c.z)
    count = 0
    for i in range(c.elements):
        if not acts(c, i):
            continue
        if state[i] == SLIPS and kind[i] == FRICTION:
            add_known_friction(c, i)
            continue
        if state[i] == SLIPS and not all_stick:
            count = add_slipping(c, count, i)
            continue
        held = wholes(c.length)[i]
        if kind[i] == CONTACT:
            held = 1 + slip_rows(c, i)[1]
        for r in range(held):
            count = add_unknown(c, count, i, wholes(c.first)[i] + r)
    c.unknowns = count


@part
def set_system(c, size):
    """The system for the unknowns: what each row of theirs misses, and what a unit of each does to it."""
    n = c.n
    k, right, scale, reaction = reals(c.k), reals(c.right), reals(c.scale), reals(c.reaction)
    for i in range(size):
        row = c.held + 8 * i * n
        length = math.sqrt(inner(n, row, row))
        scale[i] = 1.0 / length if length > 0.0 else 0.0
        known = reals(c.held_drift)[i]
        for j in range(c.permanent, c.rows):
            if reaction[j] != 0.0:
                known += reaction[j] * inner(n, row, c.rows_z + 8 * j * n)
        right[i] = -known
        for j in range(size):
            k[i * size + j] = inner(n, row, c.columns + 8 * j * n)


@part
def list_normals(c):
    """Rows of the normal reactions of contacts among the unknowns, and where they are; returns how many."""
    found = 0
    for j in range(c.unknowns):
        i = wholes(c.owner)[j]
        if wholes(c.type)[i] == CONTACT and wholes(c.unknown)[j] == wholes(c.first)[i]:
            wholes(c.pressing)[found], wholes(c.pressing_at)[found] = wholes(c.first)[i], j
            found += 1
    return found


@part
def prepare_system(c, sets):
    """Set the system for the unknowns, with so many self-balanced sets of normal reactions, in c.balance, kept out."""
    size = c.unknowns
    set_system(c, size)
    if sets > 0:
        add_balance(c, list_normals(c), sets, size, c.k, 1.0)
    fill(size, 0.0, c.near)
    weigh_friction(c, size, 0.0)


@part
def solve_as_stuck(c, sets):
    """Normal reactions to c.normal_near, as they would be if nothing slipped: where they are not determined, friction
    must not choose them."""
    unknown, normal = wholes(c.unknown), reals(c.normal_near)
    set_unknowns(c, True)
    prepare_system(c, sets)
    solve_least(c, c.unknowns, c.k, c.right, c.solution)
    for j in range(c.unknowns):
        if unknown[j] == wholes(c.first)[wholes(c.owner)[j]]:
            normal[wholes(c.owner)[j]] = reals(c.solution)[j]


@part
def find_reactions(c):
    """Solve for the unknowns of the mode; returns how many there are."""
    set_unknowns(c, False)
    clear_sharing(c)
    size = c.unknowns
    if size == 0:
        return size
    prepare_system(c, 0)
    rank = solve_least(c, size, c.k, c.right, c.solution)
    if rank == size:
        return size
    sets = find_balance(c, list_normals(c))
    prepare_system(c, sets)
    rank = solve_least(c, size, c.k, c.right, c.solution)
    if rank < size:
        mark_sharing(c, size, rank)
        mixed = mixes_friction(c)
        if mixed:
            solve_as_stuck(c, sets)
            set_unknowns(c, False)
            prepare_system(c, sets)
            keep_normals(c, size)
            solve_least(c, size, c.k, c.right, c.solution)
        share_friction(c, size, rank, mixed)
    return size


@part
def solve_mode(c):
    """Reactions of the mode into c.reaction, and accelerations into c.z."""
    if begins_to_slip(c):
        clear_sharing(c)
        solve_beginning(c)
    else:
        for j in range(find_reactions(c)):
            add_multiple(c.n, c.z, reals(c.solution)[j], c.columns + 8 * j * c.n)
            reals(c.reaction)[wholes(c.unknown)[j]] = reals(c.solution)[j]
    set_friction(c)


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
def read_ends(c, source, needed):
    """What is `needed` of all rows in this mode: nothing, rates and residuals, or reactions too; from its program where
    there is one. False where the mass matrix is singular."""
    address = mode_program(c, ENDS)
    if needed == OF_FORCES and address == 0:
        if not evaluate_rows(c, source, False):
            return False
        solve_mode(c)
        return True
    if needed != OF_NOTHING and address == 0:
        call(c.terms, source, c.qdot)
    elif needed != OF_NOTHING:
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
    for j in range(size):
        reals(c.weight)[j], wholes(c.tier)[j], reals(c.near)[j] = 1.0, THEN_NORMAL, 0.0
    solve_least(c, size, c.k, c.right, c.solution)
    copy_numbers(size, c.solution, c.reaction)


@part
def reaction_power(c, speeds):
    """Power of all reactions along the speeds at an address, u · (M u̇ − f): along A u, not along the rate A u + c,
    since what moves by itself, a belt or a driven constraint, works too."""
    copy_numbers(c.n, c.z, c.z_other)
    add_multiple(c.n, c.z_other, -1.0, c.z_free)
    return along_speeds(c, speeds, c.z_other)


@part
def write_rates(c, source, target):
    """Write [q̇, u̇, power] for the inputs at `source`; the power is that of loads and of all reactions."""
    address = mode_program(c, MOTION)
    if address != 0:
        call(address, source, target)
        return
    if not evaluate_rows(c, source, False):
        fill(c.states, math.nan, target)
        return
    solve_mode(c)
    copy_numbers(c.coordinates, c.qdot, target)
    from_z(c, c.z, target + 8 * c.coordinates)
    power = reals(c.power)[0] + reaction_power(c, source + c.u_start)
    reals(target)[c.states - 1] = power


@part
def rest_slips(c):
    """Let slips that have begun count as such while they have no speed: contacts may yield while others keep their body
    at rest."""
    for i in range(c.elements):
        if not wholes(c.young)[i]:
            continue
        at_rest = wholes(c.state)[i] == SLIPS and slip_rows(c, i)[1] == 2 and slip_speed(c, i) <= AT_REST
        friction = reals(c.law)[i * LAWS + KINETIC]
        wholes(c.young)[i] = 1 if at_rest and wholes(c.type)[i] == CONTACT and friction > 0.0 else 0


@part
def write_reactions(c, source, target):
    """Write the reactions of all rows in this mode, nan where the mass matrix is singular. Not for a loop, whose slips
    begin where it says."""
    if mode_program(c, ENDS) != 0:
        read_ends(c, source, OF_FORCES)
    elif evaluate(c, source):
        rest_slips(c)
        c.warm, c.loaded = 0, 0.0
        solve_mode(c)
        keep_within_cones(c)
        if c.permanent > 0:
            permanent_reactions(c)
    else:
        fill(c.rows, math.nan, c.reaction)
    copy_numbers(c.rows, c.reaction, target)
