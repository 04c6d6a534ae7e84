"""The state moved onto the rows of the mode that holds now, by steps that are least in the metric of the mass."""

from __future__ import annotations

from ...constraints.thresholds import CANCELLED, ROUGH
from .call import call, part, reals, wholes
from .changing_record import CONTACT, FRICTION, LAWS, OPEN, SLIPS, STATIC, STICKS
from .linear import padded_length
from .mass_metric import add_multiple, along_basis, factor_mass, fill, from_z, span_rows, to_z
from .recombination import add_equation, recombine
from .slips import rate_rounding
from .step import EPS, copy_numbers

ALMOST_MET = 1e-6
"""A rate of this part of what it is the sum of leaves nothing but rounding when it has been taken away once."""

NEWTON_STEPS = 8
"""Newton steps of a projection of positions."""


@part
def holds_place(c, i):
    """Whether the residual of row i is kept in this mode."""
    if wholes(c.place_of)[i] < 0:
        return False
    if i < c.permanent:
        return True
    group = wholes(c.place_group)
    e = group[wholes(c.place_of)[i]]
    return wholes(c.state)[e] != OPEN


@part
def holds_rate(c, i, e):
    """Whether row i, of element e, keeps its rate in this mode."""
    state, kind = wholes(c.state)[e], wholes(c.type)[e]
    if wholes(c.grazes)[e]:
        return i == wholes(c.first)[e]
    if state == OPEN or (kind == FRICTION and state == SLIPS):
        return False
    if kind == CONTACT and i > wholes(c.first)[e]:
        return state == STICKS and reals(c.law)[e * LAWS + STATIC] > 0.0
    return True


@part
def place_residual(c):
    """Evaluate places at c.x; the largest residual that is kept."""
    call(c.places, c.x, c.place_phi)
    phi, offset, at = reals(c.place_phi), reals(c.offset), wholes(c.place_of)
    largest = 0.0
    for i in range(c.rows):
        if holds_place(c, i):
            size = abs(phi[at[i]] - offset[i])
            if size > largest or size != size:
                largest = size
    return largest


@part
def close_places(c, residual, enough):
    """Move the coordinates in c.x, where places are evaluated and leave `residual`, to where all residuals of the mode
    are `enough` at most, by steps that are least in the metric of the mass in c.chol."""
    n = c.n
    phi, offset, at = reals(c.place_phi), reals(c.offset), wholes(c.place_of)
    q, along, step, aim = reals(c.x + c.q_start), reals(c.along), reals(c.step), reals(c.aim)
    fill(n, 0.0, c.shifted)
    for _ in range(NEWTON_STEPS):
        if not residual > enough:
            return
        size = 0
        for i in range(c.rows):
            if holds_place(c, i):
                to_z(c, c.place_rows + 8 * at[i] * n, c.span + 8 * size * n)
                aim[size] = -(phi[at[i]] - offset[i])
                size += 1
        along_basis(c, span_rows(c, size), c.z_other)
        from_z(c, c.z_other, c.step)
        copy_numbers(c.coordinates, c.x + c.q_start, c.kept)
        for i in range(c.coordinates):
            for j in range(n):
                q[i] += along[i * n + j] * step[j]
        after = place_residual(c)
        if not after < residual:
            if residual < ROUGH:
                copy_numbers(c.coordinates, c.kept, c.x + c.q_start)
            return
        add_multiple(n, c.shifted, 1.0, c.step)
        residual = after


@part
def list_rates(c):
    """Rows whose rates are to be zero in this mode, to c.rate_rows; how many."""
    rows, count = wholes(c.rate_rows), c.permanent
    for i in range(c.permanent):
        rows[i] = i
    for e in range(c.elements):
        for i in range(wholes(c.first)[e], wholes(c.first)[e] + wholes(c.length)[e]):
            if holds_rate(c, i, e):
                rows[count] = i
                count += 1
    return count


@part
def rates_left(c, size):
    """The largest rate of the rows in c.rate_rows beside what it is the sum of."""
    rate, rows, largest = reals(c.rate), wholes(c.rate_rows), 0.0
    for k in range(size):
        whole = rate_rounding(c, rows[k], c.x) / EPS
        if not abs(rate[rows[k]]) <= largest * whole:
            largest = abs(rate[rows[k]]) / whole
    return largest


@part
def change_of_speeds(c, size):
    """Set c.step to the change of the speeds that makes the rates of the rows in c.rate_rows zero with the least
    kinetic energy of the change; False where M is singular."""
    n, rate, rows, count = c.n, reals(c.rate), wholes(c.rate_rows), 0
    if size <= n:
        fill(n, 0.0, c.reduced + 8 * n * padded_length(n))
        for k in range(size):
            count = add_equation(c, count, c.a + 8 * rows[k] * n, -rate[rows[k]])
        if recombine(c, count, c.step):
            return True
    if not factor_mass(c):
        return False
    for k in range(size):
        to_z(c, c.a + 8 * rows[k] * n, c.span + 8 * k * n)
        reals(c.aim)[k] = -rate[rows[k]]
    along_basis(c, span_rows(c, size), c.z)
    from_z(c, c.z, c.step)
    return True


@part
def close_rates(c):
    """Move the speeds in c.x to where the rates of all rows of the mode are zero, with the least kinetic energy of the
    change. A speed of which nothing but rounding is left is zero. Whether there are any and all of them were zero but
    for rounding, so that nothing was moved and the outputs of terms are those at c.x."""
    u, step, size = reals(c.x + c.u_start), reals(c.step), list_rates(c)
    if size == 0:
        return False
    for _ in range(2):
        call(c.terms, c.x, c.qdot)
        left = rates_left(c, size)
        if left <= CANCELLED * EPS:
            return True
        if not change_of_speeds(c, size):
            return False
        for j in range(c.n):
            u[j] += step[j]
            if abs(u[j]) <= CANCELLED * EPS * abs(step[j]):
                u[j] = 0.0
        if left <= ALMOST_MET:
            return False
    return False


@part
def project_state(c, enough):
    """Move the state in c.x onto the rows of the mode, to where residuals of position are `enough` at most. Whether the
    outputs of terms are those at c.x."""
    if c.unit != 0:
        call(c.unit, c.x, c.y)
        copy_numbers(c.states, c.y, c.x + c.q_start)
    residual = place_residual(c) if c.holonomic > 0 else 0.0
    if residual > enough:
        call(c.terms, c.x, c.qdot)
        if not factor_mass(c):
            return False
        close_places(c, residual, enough)
    return close_rates(c)
