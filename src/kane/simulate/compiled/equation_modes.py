"""Rates of the state in a mode in which all that acts are rows that hold and dry friction whose size is known."""

from __future__ import annotations

from .call import call, part, reals, wholes
from .changing_record import BOUND, FRICTION, KINETIC, LAWS, SLIPS, SWITCHED
from .lanes import LANES, add_rows, clear
from .linear import NUMBER, padded_length
from .mode_forces import acts
from .recombination import add_equation, copy_row, recombine
from .slips import slip_direction
from .step import copy_numbers


@part
def only_equations(c):
    """Whether this mode is one of these."""
    held = c.permanent
    for e in range(c.elements):
        if acts(c, e):
            if wholes(c.type)[e] != SWITCHED and wholes(c.type)[e] != FRICTION:
                return False
            held += wholes(c.length)[e]
    return held <= c.n


@part
def add_known_friction(c, e, f):
    """Add the dry friction of the element e, which slips, to the efforts at an address."""
    n, law = c.n, reals(c.law + 8 * e * LAWS)
    slip_direction(c, e)
    for s in range(wholes(c.length)[e]):
        a, known = reals(c.a + 8 * (wholes(c.first)[e] + s) * n), -law[KINETIC] * law[BOUND] * reals(c.slip)[s]
        for j in range(n):
            reals(f)[j] += known * a[j]


@part
def set_equations(c):
    """The rows that hold in this mode, how many, and the efforts with known friction."""
    n, wanted, count, f = c.n, reals(c.wanted), 0, c.reduced + 8 * c.n * padded_length(c.n)
    copy_row(n, c.f, f)
    for i in range(c.permanent):
        count = add_equation(c, count, c.a + 8 * i * n, wanted[i])
    for e in range(c.elements):
        if not acts(c, e):
            continue
        if wholes(c.type)[e] == FRICTION and wholes(c.state)[e] == SLIPS:
            add_known_friction(c, e, f)
            continue
        for i in range(wholes(c.first)[e], wholes(c.first)[e] + wholes(c.length)[e]):
            count = add_equation(c, count, c.a + 8 * i * n, wanted[i])
    return count


@part
def reaction_power(c, speeds, accelerations):
    """u · (M u̇ − f), the power of all reactions, as (M u)·u̇ − f·u: the first product need not wait for u̇."""
    n, momentum = c.n, c.reduced
    u, udot, f, power, supplied = reals(speeds), reals(accelerations), reals(c.f), 0.0, 0.0
    for j in range(0, 8 * n, 8 * LANES):
        clear(momentum + j)
        add_rows(momentum + j, n, speeds, NUMBER, c.mass + j, 8 * n)
    for i in range(n):
        supplied += f[i] * u[i]
        power += reals(momentum)[i] * udot[i]
    return power - supplied


@part
def recombine_rates(c, source, target, evaluated):
    """Write [q̇, u̇, power] for the inputs at `source`, at which terms may have been `evaluated`; False, and nothing of
    use is written, where that has to be done in the metric of the mass."""
    if not only_equations(c):
        return False
    if not evaluated:
        call(c.terms, source, c.qdot)
    if not c.fixed_laws:
        call(c.laws, source, c.law)
    first = target + 8 * c.coordinates
    if not recombine(c, set_equations(c), first):
        return False
    copy_numbers(c.coordinates, c.qdot, target)
    power = reals(c.power)[0] + reaction_power(c, source + c.u_start, first)
    reals(target)[c.states - 1] = power
    return True
