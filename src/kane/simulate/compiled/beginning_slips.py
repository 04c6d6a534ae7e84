"""Slips in a plane that begin: contacts of one body, or of bodies that hold each other, begin to slip together.

A slip from rest has no direction yet. While it begins, its friction opposes w = v + τ a, the velocity that it will have
a moment τ later: along its acceleration at first, along its velocity in the end. The contacts that begin to slip, with
all others, are then one contact problem, so that their directions are those of one motion, and friction is a smooth
function of the state: it relaxes with 1 / τ, where that of a slip of speed v relaxes with μ g / v.
"""

from __future__ import annotations

import math

from ...constraints.thresholds import FULL_SLIP
from .call import part, reals, wholes
from .changing_record import BOUND, CONTACT, FRICTION, KINETIC, LAWS, SLIPS
from .contact_programs import SOLVE
from .contacts import CONE, NORMAL
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
from .slips import slip_direction, slip_rows
from .step import copy_numbers

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
    copy_numbers(n, c.z_loose, c.z)
    add_multiple(n, c.z, 1.0, c.z_other)
    for s in range(size):
        reaction[row[s]] = r[s]
        add_multiple(n, c.z, r[s], c.columns + 8 * s * n)


@part
def mobility(c, row):
    """What a unit of the reaction of a row does to its acceleration, its permanent constraints held (1/kg, 1/kg m²)."""
    y = c.rows_z + 8 * row * c.n
    return inner(c.n, y, y)


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
