"""Slips in a plane that begin: contacts of one body, or of bodies that hold each other, begin to slip together.

A slip from rest has no direction yet. While it begins, its friction opposes w = v + τ a, the velocity that it will have
a moment τ later: along its acceleration at first, along its velocity in the end. The contacts that begin to slip, with
all others, are then one contact problem, so that their directions are those of one motion, and friction is a smooth
function of the state: it relaxes with 1 / τ, where that of a slip of speed v relaxes with μ g / v. What is not
determined of the friction of contacts that stick meanwhile is shared as in every other mode (`friction_shares`).
"""

from __future__ import annotations

import math

from ...constraints.thresholds import FULL_SLIP, SOLVED
from .call import part, reals, wholes
from .changing_record import (
    BOUND,
    CONTACT,
    FRICTION,
    FRICTION_FIRST,
    KINETIC,
    LAWS,
    SLIPS,
    STICKS,
    THEN_NORMAL,
)
from .contact_programs import SOLVE
from .contacts import CONE, FREE, NORMAL
from .elimination import solve_least
from .friction_shares import share_of
from .mass_metric import add_multiple, fill, inner
from .mode_problem import (
    add_choice,
    add_to_problem,
    attach_friction,
    balance_problem,
    set_matrix,
    set_motions,
    solve_problem,
)
from .shared_friction import capacity, way_to_cone
from .slips import slip_direction, slip_rows
from .step import copy_numbers
from .touch import largest_normal

AHEAD = 1e-5
"""τ (s): how far ahead the velocity is taken that friction of a slip opposes while it begins. What is off is a turn of
the direction within this time; an explicit method follows 1 / τ in steps of some τ."""


@part
def add_law(c, count, size, i):
    """Add element i to the contact problem of a mode in which slips begin; known friction goes to c.z_other."""
    state, kind, law = wholes(c.state)[i], wholes(c.type)[i], reals(c.law + 8 * i * LAWS)
    if state != SLIPS:
        return add_choice(c, count, size, i)
    if kind != CONTACT:
        slip_direction(c, i)
        attach_friction(c, c.z_other, i, law[KINETIC] * law[BOUND], c.slip)
        return count, size
    if wholes(c.young)[i]:
        reals(c.solver_mu)[count] = law[KINETIC]
        return add_to_problem(c, count, size, i, 1 + slip_rows(c, i)[1], CONE)
    slip_direction(c, i)
    count, size = add_to_problem(c, count, size, i, 1, NORMAL)
    attach_friction(c, c.columns + 8 * (size - 1) * c.n, i, law[KINETIC], c.slip)
    return count, size


@part
def set_ahead(c, count, size):
    """b of that problem: accelerations without its reactions and, of slips that begin, their velocity over τ."""
    row, b = wholes(c.solver_row), reals(c.solver_b)
    for k in range(count):
        i, first = wholes(c.solver_element)[k], wholes(c.solver_first)[k]
        young = wholes(c.young)[i] == 1 and wholes(c.state)[i] == SLIPS
        for s in range(first, first + wholes(c.solver_rows)[k]):
            b[s] = reals(c.drift)[row[s]] + inner(c.n, c.rows_z + 8 * row[s] * c.n, c.z_other)
            if young and s > first:
                b[s] += reals(c.rate)[row[s]] / AHEAD


@part
def take_motions(c, count):
    """Accelerations of the rows to c.motion: of slips that begin without what is ahead."""
    row, u, motion = wholes(c.solver_row), reals(c.solver_v), reals(c.motion)
    for k in range(count):
        i, first = wholes(c.solver_element)[k], wholes(c.solver_first)[k]
        young = wholes(c.young)[i] == 1 and wholes(c.state)[i] == SLIPS
        for s in range(first, first + wholes(c.solver_rows)[k]):
            motion[row[s]] = u[s]
            if young and s > first:
                motion[row[s]] -= reals(c.rate)[row[s]] / AHEAD


@part
def take_dry_friction(c):
    """Dry friction that slips to c.reaction."""
    for i in range(c.elements):
        if wholes(c.type)[i] == FRICTION and wholes(c.state)[i] == SLIPS:
            at, slips = slip_rows(c, i)
            slip_direction(c, i)
            for s in range(slips):
                bound = reals(c.law)[i * LAWS + KINETIC] * reals(c.law)[i * LAWS + BOUND]
                reals(c.reaction)[at + s] = -bound * reals(c.slip)[s]


@part
def mobility(c, row):
    """What a unit of the reaction of a row does to its acceleration, its permanent constraints held (1/kg, 1/kg m²)."""
    y = c.rows_z + 8 * row * c.n
    return inner(c.n, y, y)


@part
def excess(c, row):
    """Reaction (N, N m) that a row would need beyond what it has, not to move as it does where slips begin."""
    moved = mobility(c, row)
    return reals(c.motion)[row] / moved if moved > 0.0 else 0.0


@part
def friction_excess(c, i):
    """The same of the slip rows of element i, which sticks."""
    at, slips = slip_rows(c, i)
    one, two = excess(c, at), excess(c, at + 1) if slips == 2 else 0.0
    return math.sqrt(one * one + two * two)


@part
def held_rows(c, k):
    """(first, end) of the rows of contact k of the problem that hold, but for normal reactions: of friction that moves
    in it nothing is left open."""
    i, first = wholes(c.solver_element)[k], wholes(c.solver_first)[k]
    kind, end = wholes(c.solver_type)[k], first + wholes(c.solver_rows)[k]
    if kind == FREE:
        return first, end
    holds = kind != NORMAL and wholes(c.state)[i] == STICKS and friction_excess(c, i) <= SOLVED * capacity(c, i)
    if not holds:
        return end, end
    return (first + 1 if kind == CONE else first), end


@part
def set_held_system(c, count):
    """The system for the reactions that hold in the problem, but for normal ones: what they do together is what those
    in c.reaction do. Returns how many there are."""
    n, unknown, k, weight, scale = c.n, wholes(c.unknown), reals(c.k), reals(c.weight), reals(c.scale)
    size, most = 0, largest_normal(c)
    for p in range(count):
        i, (first, end) = wholes(c.solver_element)[p], held_rows(c, p)
        normal, friction = wholes(c.first)[i], wholes(c.solver_type)[p] == CONE
        for s in range(first, end):
            row = wholes(c.solver_row)[s]
            unknown[size], wholes(c.tier)[size], weight[size] = row, THEN_NORMAL, 1.0
            scale[size] = 1.0 / math.sqrt(mobility(c, row)) if mobility(c, row) > 0.0 else 0.0
            if friction:
                wholes(c.tier)[size] = FRICTION_FIRST
                pressed = share_of(c, i, reals(c.reaction)[normal], most)
                weight[size] = scale[size] * scale[size] * mobility(c, normal) / pressed
            size += 1
    for a in range(size):
        total = 0.0
        for b in range(size):
            k[a * size + b] = inner(n, c.rows_z + 8 * unknown[a] * n, c.rows_z + 8 * unknown[b] * n)
            total += k[a * size + b] * reals(c.reaction)[unknown[b]]
        reals(c.right)[a] = total
    fill(size, 0.0, c.near)
    return size


@part
def share_held_friction(c, count):
    """Share what the problem leaves open of the friction in c.reaction, by what each contact can take; no further than
    to the first cone, since the solver's own reactions are within all of them."""
    reaction, r, way = reals(c.reaction), reals(c.solver_r), 0.0
    size = set_held_system(c, count)
    if size == 0 or solve_least(c, size, c.k, c.right, c.solution) == size:
        return
    for j in range(size):
        reaction[wholes(c.unknown)[j]] = reals(c.solution)[j]
    for k in range(count):
        first, end = held_rows(c, k)
        if end > first and wholes(c.solver_type)[k] != FREE:
            way = max(way, way_to_cone(c, wholes(c.solver_element)[k], c.solver_r + 8 * first))
    for k in range(count):
        first, end = held_rows(c, k)
        for s in range(first, end):
            row = wholes(c.solver_row)[s]
            reaction[row] += way * (r[s] - reaction[row])
            r[s] = reaction[row]


@part
def solve_beginning(c):
    """Reactions of a mode in which slips begin into c.reaction, accelerations into c.z, those of rows into c.motion."""
    n, row, r, reaction = c.n, wholes(c.solver_row), reals(c.solver_r), reals(c.reaction)
    fill(n, 0.0, c.z_other)
    count, size = 0, 0
    for i in range(c.elements):
        count, size = add_law(c, count, size, i)
    set_matrix(c, size)
    balance_problem(c, count, size)
    set_ahead(c, count, size)
    if c.warm != size:
        fill(size, 0.0, c.solver_r)
    solve_problem(c, SOLVE, count, size, c.solver_b)
    c.warm = size
    set_motions(c, size, c.solver_b)
    fill(c.rows, 0.0, c.reaction)
    fill(c.rows, 0.0, c.motion)
    take_motions(c, count)
    take_dry_friction(c)
    for s in range(size):
        reaction[row[s]] = r[s]
    share_held_friction(c, count)
    copy_numbers(n, c.z_loose, c.z)
    add_multiple(n, c.z, 1.0, c.z_other)
    for s in range(size):
        add_multiple(n, c.z, r[s], c.columns + 8 * s * n)


@part
def full_speed(c, i):
    """Speed (m/s) up to which the slip of the contact i begins: what its friction alone would make of it within τ."""
    at, slips = slip_rows(c, i)
    moved = 0.0
    for s in range(at, at + slips):
        moved = max(moved, mobility(c, s))
    friction = reals(c.law)[i * LAWS + KINETIC] * reals(c.reaction)[wholes(c.first)[i]]
    return max(FULL_SLIP, AHEAD * friction * moved)


@part
def speeds_up(c, i):
    """Acceleration (m/s²) of a slip that begins along what its friction opposes: below zero it slows down."""
    at = slip_rows(c, i)[0]
    rate, a = reals(c.rate), reals(c.motion)
    one, two = a[at] + rate[at] / AHEAD, a[at + 1] + rate[at + 1] / AHEAD
    size = math.sqrt(one * one + two * two)
    return (a[at] * one + a[at + 1] * two) / size if size > 0.0 else 0.0
