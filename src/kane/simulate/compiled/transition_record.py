"""What both engines do where constraints change: remember a transition, and let an element be in force.

`c` is a record of type `changing_record.MEMORY`.
"""

from __future__ import annotations

from ...constraints.thresholds import TOUCHING
from .call import part, reals, wholes
from .changing_record import FRICTION, STICKS, SWITCHED
from .mode_projection import place_residual
from .step import copy_numbers


@part
def note(c, t, cause, which, energy):
    """Remember a transition."""
    n, k = c.n, c.count
    reals(c.at)[k] = t
    reals(c.energy)[k] = energy
    wholes(c.cause)[k] = cause
    wholes(c.which)[k] = which
    wholes(c.choices)[k] = c.possible
    wholes(c.laws_used)[2 * k], wholes(c.laws_used)[2 * k + 1] = c.law_used, c.guarded
    copy_numbers(c.rows, c.impulse, c.impulses + 8 * k * c.rows)
    copy_numbers(n, c.before, c.speeds + 16 * k * n)
    copy_numbers(n, c.x + c.u_start, c.speeds + 16 * k * n + 8 * n)
    copy_numbers(2 * c.elements, c.direction, c.directions + 16 * k * c.elements)
    for i in range(c.elements):
        wholes(c.states_after)[k * c.elements + i] = wholes(c.state)[i]
    c.count += 1


@part
def impose(c, i, t):
    """Let an element be in force from now on: rows of a switched constraint hold where they are."""
    wholes(c.present)[i] = 1
    reals(c.imposed)[i] = t
    if wholes(c.type)[i] not in (SWITCHED, FRICTION):
        return
    wholes(c.state)[i] = STICKS
    if c.holonomic > 0:
        place_residual(c)
        for r in range(wholes(c.length)[i]):
            row = wholes(c.first)[i] + r
            if wholes(c.place_of)[row] >= 0:
                phi = reals(c.place_phi)[wholes(c.place_of)[row]]
                reals(c.offset)[row] = 0.0 if abs(phi) <= TOUCHING else phi
