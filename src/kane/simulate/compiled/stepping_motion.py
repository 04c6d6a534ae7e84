"""The memory of time stepping, and the motion of a step as it would be without contacts.

The scheme is said in `stepping_problem`, whose notation this module shares. Accelerations are those in the middle of
the step, by the midpoint rule.
"""

from __future__ import annotations

import math

import numpy as np

from .call import call, part, reals, record_of
from .mass_metric import add_multiple, along_basis, factor_mass, free_of_basis, from_z, span_rows, to_z
from .step import copy_numbers

MIDPOINTS = 5
"""Iterations of the midpoint rule at most: the implicit one conserves the energy of bodies that tumble."""

SAME = 1e-14
"""Relative change of the accelerations at which that iteration is at its end: bodies that do not tumble need one."""

PROGRAMS = ("changing", "rates")
SIZES = (
    "steady",  # 1: mass and forces are constant, so that midpoints need not be looked at
    "terms",  # numbers that `changing.terms` writes
    "current",  # 1: the terms are those of the state that the loop is at
    "contacts",  # of the contact problem
    "size",  # its rows
    "solved",  # contact problems so far
    "rough",  # steps whose contact problem was left with more than `coulomb.SETTLED`
    "bends",  # 1: accelerations change within the step
    "switches",  # 1: there are switched or released constraints to look after
    "idle",  # 1: no load does work but tau
    "tau_start",  # bytes from the inputs to tau
    "keeps",  # 1: impulses of every step are kept
    "kept_steps",  # how many so far
    "step_room",  # how many fit in
    "hits",  # impulses that are not zero, of all of them
    "hit_room",  # how many fit in
)
OWN_REALS = (
    "accelerations",  # (n,): without contacts, at the beginning of the step
    "midway",  # (n,): the same in its middle
    "free",  # (n,): speeds without contacts
    "after",  # (n,): speeds at the end of the step
    "moving",  # (n,): speeds with which it moves
    "guess",  # (n,): accelerations halfway before they were corrected
    "change",  # (n,): of speeds
    "shift",  # (n,): how far the state was moved onto the constraints at its end, along the speeds
    "kept",  # (terms,): terms in the middle of the step
    "qdot",  # (coordinates,)
    "free_rate",  # (rows,): rates of rows without contacts
    "final_rate",  # (rows,): rates at the end
    "impulse",  # (rows,): of the last step
    "ahead",  # (elements,): conditions at its end
    "hit_impulse",  # (hit_room,): impulses of all steps, one after another
)
OWN_WHOLES = (
    "touched",  # (n,): at the first row of a block: 1 where impulses act
    "entered",  # (elements,): 1 in the contact problem
    "kept_state",  # (elements,)
    "entries",  # (rows,): how many numbers of a row of the contact problem are not zero
    "entry",  # (rows, n): which
    "hit_row",  # (hit_room,): their rows
    "hit_end",  # (step_room,): how many there are at the end of each step
)
OWN = (*OWN_REALS, *OWN_WHOLES)
WHOLE = (*PROGRAMS, *SIZES, *OWN)
REALS = (
    "share",  # of restitution that is left
    "last_h",
    "worst",  # largest natural residual of the contact problem of a step so far
    "worst_t",  # where that step ends
    "impulse_work",  # of the impulses of the step along the mean of its speeds, J
    "given",  # work of loads in the step, and of what drives constraints, J
)
STEPPING = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])

stepping = record_of(STEPPING)


# -- motion without contacts ---------------------------------------------------------------------------------------


@part
def reduce_terms(c, target):
    """Accelerations under the permanent constraints alone, from the terms; False where M is singular."""
    n = c.n
    if not factor_mass(c):
        return False
    for i in range(c.permanent):
        to_z(c, c.a + 8 * i * n, c.rows_z + 8 * i * n)
    copy_numbers(c.permanent * n, c.rows_z, c.span)
    copy_numbers(c.permanent, c.wanted, c.aim)
    count = span_rows(c, c.permanent)
    c.rank = count
    to_z(c, c.f, c.z_free)
    copy_numbers(n, c.z_free, c.z)
    if count > 0:
        along_basis(c, count, c.z_other)
        free_of_basis(c, count, c.z)
        add_multiple(n, c.z, 1.0, c.z_other)
    from_z(c, c.z, target)
    return True


@part
def look_at(c, s):
    """Terms and accelerations at the inputs in c.x; False where M is singular."""
    call(c.terms, c.x, c.qdot)
    if not c.fixed_laws:
        call(c.laws, c.x, c.law)
    s.current = 1
    return reduce_terms(c, s.accelerations)


@part
def move_terms(c, shift):
    """Let the terms be so many bytes further on in memory."""
    c.qdot += shift
    c.mass += shift
    c.f += shift
    c.a += shift
    c.rate += shift
    c.wanted += shift
    c.phi += shift
    c.power += shift


@part
def largest_change(n, one, other):
    """The largest difference of n numbers at two addresses, relative to the largest of the first."""
    x, y, change, size = reals(one), reals(other), 0.0, 0.0
    for i in range(n):
        change = max(change, abs(x[i] - y[i]))
        size = max(size, abs(x[i]))
    return change / size if size > 0.0 else 0.0


@part
def look_halfway(c, s, h, speeds):
    """Terms in the middle of a step that moves with the speeds at an address, in memory of their own, s.kept."""
    x = c.x_watch
    copy_numbers(c.inputs, c.x, x)
    copy_numbers(c.n, speeds, x + c.u_start)
    call(s.rates, x, s.qdot)
    add_multiple(c.coordinates, x + c.q_start, 0.5 * h, s.qdot)
    reals(x)[0] += 0.5 * h
    call(c.terms, x, s.kept)


@part
def accelerate_halfway(c, s, h, speeds):
    """Accelerations in the middle of a step that moves with the speeds at an address, to s.midway; what was there to
    s.guess. Returns the relative change, nan where M is singular."""
    n, qdot = c.n, c.qdot
    look_halfway(c, s, h, speeds)
    copy_numbers(n, s.midway, s.guess)
    move_terms(c, s.kept - qdot)
    regular = reduce_terms(c, s.midway)
    move_terms(c, qdot - s.kept)
    return largest_change(n, s.midway, s.guess) if regular else math.nan


@part
def set_free_speeds(c, s, h):
    """Speeds at the end of the step without contacts, from accelerations halfway; False where M is singular."""
    n, u, change = c.n, c.x + c.u_start, 0.0
    copy_numbers(n, s.accelerations, s.midway)
    s.bends = 0
    if not s.steady:
        for _ in range(MIDPOINTS):
            copy_numbers(n, u, s.moving)
            add_multiple(n, s.moving, 0.5 * h, s.midway)
            change = accelerate_halfway(c, s, h, s.moving)
            if not change > SAME:
                break
            s.bends = 1
        if change != change:
            return False
        reduce_terms(c, s.accelerations)
    copy_numbers(n, u, s.free)
    add_multiple(n, s.free, h, s.midway)
    return True


@part
def correct_free_speeds(c, s, h):
    """Speeds without contacts once more, from accelerations along the motion that contacts have let the step have;
    whether they have changed."""
    if not accelerate_halfway(c, s, h, s.moving) > SAME:
        copy_numbers(c.n, s.guess, s.midway)
        return False
    reduce_terms(c, s.accelerations)
    copy_numbers(c.n, c.x + c.u_start, s.free)
    add_multiple(c.n, s.free, h, s.midway)
    return True
