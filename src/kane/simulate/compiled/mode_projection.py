"""The state moved onto the rows of the mode that holds now, by steps that are least in the metric of the mass."""

from __future__ import annotations

from ...constraints.thresholds import CANCELLED, ROUGH
from .call import call, part, reals, wholes
from .changing_record import CONTACT, FRICTION, LAWS, OPEN, SLIPS, STATIC, STICKS
from .mass_metric import add_multiple, along_basis, factor_mass, fill, from_z, span_rows, to_z
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
def close_places(c, enough):
    """Move the coordinates in c.x to where all residuals of the mode are `enough` at most, by steps that are least in
    the metric of the mass at the beginning."""
    n = c.n
    phi, offset, at = reals(c.place_phi), reals(c.offset), wholes(c.place_of)
    q, along, step, aim = reals(c.x + c.q_start), reals(c.along), reals(c.step), reals(c.aim)
    residual = place_residual(c)
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
def is_almost_met(c, i):
    """Whether the rate of row i is small beside what it is the sum of."""
    a, u, total = reals(c.a + 8 * i * c.n), reals(c.x + c.u_start), 0.0
    for j in range(c.n):
        total += abs(a[j] * u[j])
    return abs(reals(c.rate)[i]) <= ALMOST_MET * total


@part
def add_rate(c, size, i):
    """Add row i, whose rate is to become zero, to the `size` rows of a basis."""
    to_z(c, c.a + 8 * i * c.n, c.span + 8 * size * c.n)
    reals(c.aim)[size] = -reals(c.rate)[i]
    return is_almost_met(c, i)


@part
def close_rates(c):
    """Move the speeds in c.x to where the rates of all rows of the mode are zero, with the least kinetic energy of the
    change. A speed of which nothing but rounding is left is zero."""
    n = c.n
    u, step = reals(c.x + c.u_start), reals(c.step)
    for _ in range(2):
        call(c.terms, c.x, c.qdot)
        if not factor_mass(c):
            return
        size, met = c.permanent, True
        for i in range(c.permanent):
            met = add_rate(c, i, i) and met
        for e in range(c.elements):
            for r in range(wholes(c.length)[e]):
                i = wholes(c.first)[e] + r
                if holds_rate(c, i, e):
                    met = add_rate(c, size, i) and met
                    size += 1
        along_basis(c, span_rows(c, size), c.z)
        from_z(c, c.z, c.step)
        for j in range(n):
            u[j] += step[j]
            if abs(u[j]) <= CANCELLED * EPS * abs(step[j]):
                u[j] = 0.0
        if met:
            return


@part
def project_state(c, enough):
    """Move the state in c.x onto the rows of the mode, to where residuals of position are `enough` at most."""
    if c.unit != 0:
        call(c.unit, c.x, c.y)
        copy_numbers(c.states, c.y, c.x + c.q_start)
    if c.holonomic > 0:
        call(c.terms, c.x, c.qdot)
        if not factor_mass(c):
            return
        close_places(c, enough)
    close_rates(c)
