"""The contact problem u = W r + b of what touches: rows of changing constraints laid out for the solver of `coulomb`.

Where there are more contacts in a plane than needed their normal reactions are not determined. Then they are those of
contacts of equal stiffness, in every mode and in every problem: what could be added to them and would balance itself
has no part in them. Such sets v, with Σ v_i n_i = 0 for the normal rows n_i, are added to a matrix as v vᵀ, which gives
the condition v · r = 0 and changes nothing else, since v · u = 0 by itself.
"""

from __future__ import annotations

import math

from .call import part, reals, solve_by, wholes
from .changing_record import BOUND, CONTACT, FRICTION, KINETIC, LAWS, OPEN, SLIPS, STATIC, STICKS, SWITCHED
from .contacts import BOUND as BOUNDED
from .contacts import CONE, FREE, NORMAL
from .elimination import eliminate, substitute_back
from .mass_metric import add_multiple, inner
from .slips import slip_rows
from .step import copy_numbers

SOFT = 1e-3
"""Stiffness by which self-balanced sets of normal reactions are kept out of a contact problem, relative to the
mobilities: small, so that what opens in the problem opens without it."""


@part
def add_to_problem(c, count, size, i, rows, kind):
    """Add `rows` rows of element i to the contact problem as a contact of this kind; returns the next (count, size)."""
    wholes(c.solver_first)[count] = size
    wholes(c.solver_rows)[count] = rows
    wholes(c.solver_type)[count] = kind
    wholes(c.solver_element)[count] = i
    for r in range(rows):
        wholes(c.solver_row)[size + r] = wholes(c.first)[i] + r
        copy_numbers(c.n, c.rows_z + 8 * (wholes(c.first)[i] + r) * c.n, c.columns + 8 * (size + r) * c.n)
    return count + 1, size + rows


@part
def attach_friction(c, target, i, friction, direction):
    """Add friction of this size along −direction, at an address, of element i to the column at `target`."""
    at, slips = slip_rows(c, i)
    for s in range(slips):
        add_multiple(c.n, target, -friction * reals(direction)[s], c.rows_z + 8 * (at + s) * c.n)


@part
def add_choice(c, count, size, i):
    """Add to the contact problem in accelerations what element i leaves to choose; known friction goes to c.z_other."""
    state, kind, law = wholes(c.state)[i], wholes(c.type)[i], reals(c.law + 8 * i * LAWS)
    slips = slip_rows(c, i)[1]
    if state == OPEN:
        return count, size
    if kind == SWITCHED:
        return add_to_problem(c, count, size, i, wholes(c.length)[i], FREE)
    if state == STICKS and kind == FRICTION:
        reals(c.solver_mu)[count] = law[STATIC] * law[BOUND]
        return add_to_problem(c, count, size, i, slips, BOUNDED)
    if state == STICKS:
        reals(c.solver_mu)[count] = law[STATIC]
        return add_to_problem(c, count, size, i, 1 + slips, CONE if slips > 0 else NORMAL)
    if kind == FRICTION:
        attach_friction(c, c.z_other, i, law[KINETIC] * law[BOUND], c.direction + 16 * i)
        return count, size
    count, size = add_to_problem(c, count, size, i, 1, NORMAL)
    attach_friction(c, c.columns + 8 * (size - 1) * c.n, i, law[KINETIC], c.direction + 16 * i)
    return count, size


@part
def set_matrix(c, size):
    """W of the contact problem: what a unit of each reaction does to each row."""
    w, row = reals(c.solver_w), wholes(c.solver_row)
    for i in range(size):
        for j in range(size):
            w[i * size + j] = inner(c.n, c.rows_z + 8 * row[i] * c.n, c.columns + 8 * j * c.n)


@part
def solve_problem(c, task, count, size, given):
    """Solve the contact problem from the reactions in c.solver_r, or resolve the impact, with the accelerations or
    velocities at the address `given`."""
    contacts = (c.solver_first, c.solver_rows, c.solver_type, c.solver_mu, c.solver_e)
    c.residual = solve_by(c.solver, task, count, *contacts, size, c.solver_w, given, c.solver_r, c.solver_work)


@part
def find_balance(c, count):
    """How many self-balanced sets of the normal reactions there are whose rows are the first `count` in c.pressing;
    they are written to c.balance, orthonormal where reactions are measured by the lengths of their rows. What a system
    was solved in is lost."""
    n, row, gram, unit = c.n, wholes(c.pressing), reals(c.k), reals(c.scale)
    for i in range(count):
        one = c.rows_z + 8 * row[i] * n
        length = math.sqrt(inner(n, one, one))
        unit[i] = 1.0 / length if length > 0.0 else 0.0
        reals(c.right)[i] = 0.0
        for j in range(count):
            gram[i * count + j] = inner(n, one, c.rows_z + 8 * row[j] * n)
    rank = eliminate(c, count, c.k, c.right)
    for e in range(count - rank):
        found = c.balance + 8 * e * count
        substitute_back(c, count, rank, c.k, c.right, e, found)
        for _ in range(2):
            for other in range(e):
                before = c.balance + 8 * other * count
                add_multiple(count, found, -inner(count, found, before), before)
        add_multiple(count, found, 1.0 / math.sqrt(inner(count, found, found)) - 1.0, found)
    for e in range(count - rank):
        for i in range(count):
            found = reals(c.balance + 8 * e * count)
            found[i] = found[i] / unit[i] if unit[i] > 0.0 else 0.0
    return count - rank


@part
def add_balance(c, count, sets, size, matrix, stiffness):
    """Add what keeps self-balanced sets of normal reactions out to a matrix (size, size), in which these are the
    unknowns of the first `count` numbers in c.pressing_at."""
    at, a = wholes(c.pressing_at), reals(matrix)
    for e in range(sets):
        v = reals(c.balance + 8 * e * count)
        for i in range(count):
            for j in range(count):
                a[at[i] * size + at[j]] += stiffness * v[i] * v[j]


@part
def balance_problem(c, count, size):
    """Keep self-balanced sets of normal reactions out of the contact problem; returns how many there are."""
    found = 0
    for k in range(count):
        i, first = wholes(c.solver_element)[k], wholes(c.solver_first)[k]
        if wholes(c.type)[i] == CONTACT:
            wholes(c.pressing)[found], wholes(c.pressing_at)[found] = wholes(c.solver_row)[first], first
            found += 1
    sets = find_balance(c, found)
    add_balance(c, found, sets, size, c.solver_w, SOFT)
    return sets


@part
def set_motions(c, size, given):
    """u = W r + b of the contact problem to c.solver_v, with b at the address `given`."""
    w, b, r, u = reals(c.solver_w), reals(given), reals(c.solver_r), reals(c.solver_v)
    for s in range(size):
        total = b[s]
        for j in range(size):
            total += w[s * size + j] * r[j]
        u[s] = total


@part
def begins_to_slip(c):
    """Whether some slip in a plane begins in this mode, and follows from a contact problem."""
    found = False
    for i in range(c.elements):
        found = found or (wholes(c.young)[i] == 1 and wholes(c.state)[i] == SLIPS)
    return found
