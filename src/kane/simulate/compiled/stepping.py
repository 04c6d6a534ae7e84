"""Time stepping under constraints that come and go: steps of one length, contacts solved in velocities.

A step from q, u has impulses P of all contacts that could close within it, with M the mass matrix at its beginning:

    u⁺ = u + h a + M⁻¹ Aᵀ P,   gap + h (A u⁺)_n ≥ 0 ⊥ P_n ≥ 0,   Coulomb's law between P_t and (A u⁺)_t

where a are the accelerations without contacts (explicit midpoint rule), permanent constraints embedded in them. The gap
that is left is taken along (speculative contact): nothing is ever inside another body, but for the curvature of paths.
A body without impulses moves by h (u + u⁺) / 2, others by h u⁺, so that free flight is exact under gravity and contact
never adds energy. Restitution is Newton's law as Moreau states it, u_n⁺ ≥ −e u_n, in the step in which a contact would
close, with e halved, and at last 0, where that would add energy. Dry friction with a bound has an impulse of h times
it. Conditions of switched constraints are looked at where steps end, and what penetrates there is moved apart.

Where M consists of blocks, as that of free bodies, only these are factorised, and rows have entries in few of them.
`c` is a record of type `changing.MEMORY`, `s` one of type `STEPPING`, `m` that of the loop, `records.MEMORY`.
"""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import AT_REST, EXACT, NO_MASS, TOUCHING
from .call import call, part, reals, record_of, solve_by, wholes
from .changing import (
    BOUND,
    CONTACT,
    FRICTION,
    KINETIC,
    LAWS,
    ONE_WAY,
    OPEN,
    RESTITUTION,
    SLIPS,
    STATIC,
    STICKS,
    SWITCHED,
    add_direction,
    add_multiple,
    along_basis,
    close_places,
    close_rates,
    condition_ahead,
    fill,
    free_of_basis,
    inner,
    permanent_reactions,
    place_residual,
    record,
    slip_rows,
)
from .contact_programs import SETTLE, SOLVE
from .contacts import BOUND as BOUNDED
from .contacts import CONE, FREE, NORMAL
from .explicit import next_end
from .records import EVENT as STOPPED
from .records import FULL, NO_MODE, NOT_FINITE, REACHED, RUNNING
from .step import all_finite, copy_numbers, event_signs, find_events, finish, has_room
from .store import loop
from .transitions import FREED, HAS_NO_MASS, IMPACT, IMPOSED, RELEASE, SLIP, START, STICK, TOUCH, impose, note

UNSOLVED_STEP = 5
"""What comes of a step whose contact problem has no solution: an index of `simulate.changing.FAULTS`."""

GOOD_ENOUGH = 1e-6
"""Relative natural residual of the contact problem of a step up to which the motion goes on."""

ROUNDS = 20
"""How often contacts are added that a solution would let penetrate."""

HALVINGS = 3
"""How often restitution is halved where it would add energy, before there is none."""

GAIN = 1e-9
"""Share of what impulses do with velocities that a gain of energy has to exceed."""

PENETRATES = -1e-9
"""Gap (m, rad) below which bodies are moved apart; above it the next step does it by its velocities."""

FEW_ROWS = 36
"""Rows up to which contact problems are solved to rounding; larger ones are settled by sweeps."""

STILL = 1e-7
"""Share of the largest velocity of the contact problem below which nothing slips."""

PROGRAMS = ("changing", "rates")
SIZES = (
    "steady",  # 1: mass and forces are constant, so that midpoints need not be looked at
    "terms",  # numbers that `changing.terms` writes
    "current",  # 1: the terms are those of the state that the loop is at
    "contacts",  # of the contact problem
    "size",  # its rows
    "solved",  # contact problems so far
    "switches",  # 1: there are switched or released constraints to look after
)
OWN_REALS = (
    "accelerations",  # (n,): without contacts, at the beginning of the step
    "midway",  # (n,): the same in its middle
    "free",  # (n,): speeds without contacts
    "after",  # (n,): speeds at the end of the step
    "moving",  # (n,): speeds with which it moves
    "change",  # (n,): of speeds
    "kept",  # (terms,): terms at the beginning of the step
    "qdot",  # (coordinates,)
    "free_rate",  # (rows,): rates of rows without contacts
    "final_rate",  # (rows,): rates at the end
    "impulse",  # (rows,): of the last step
    "ahead",  # (elements,): conditions at its end
)
OWN_WHOLES = (
    "start",  # (n,): first column of each row of L that is not zero
    "block",  # (n,): first row of the block that a row of M is in
    "touched",  # (n,): at the first row of a block: 1 where impulses act
    "entered",  # (elements,): 1 in the contact problem
    "kept_state",  # (elements,)
    "entries",  # (rows,): how many numbers of a row of the contact problem are not zero
    "entry",  # (rows, n): which
)
OWN = (*OWN_REALS, *OWN_WHOLES)
WHOLE = (*PROGRAMS, *SIZES, *OWN)
STEPPING = np.dtype([(name, "i8") for name in WHOLE] + [("share", "f8"), ("last_h", "f8")])

stepping = record_of(STEPPING)


# -- the mass matrix in blocks -------------------------------------------------------------------------------------


@part
def factor_blocks(c, s):
    """M = L Lᵀ into c.chol, without what lies before the first number of a row; False where M is singular."""
    n = c.n
    mass, chol, start, block = reals(c.mass), reals(c.chol), wholes(s.start), wholes(s.block)
    for i in range(n):
        first = 0
        while first < i and mass[i * n + first] == 0.0:
            first += 1
        start[i] = first
        for j in range(first, i + 1):
            total = mass[i * n + j]
            for k in range(max(first, start[j]), j):
                total -= chol[i * n + k] * chol[j * n + k]
            if i == j:
                if not total > NO_MASS * mass[i * n + i]:
                    return False
                chol[i * n + i] = math.sqrt(total)
            else:
                chol[i * n + j] = total / chol[j * n + j]
        for j in range(first):
            chol[i * n + j] = 0.0
    least = n
    for j in range(n):
        i = n - 1 - j
        least = min(least, start[i])
        block[i] = 1 if least == i else 0
    for i in range(n):
        block[i] = i if block[i] == 1 else block[i - 1]
    return True


@part
def to_blocks(c, s, source, target):
    """L⁻¹ times the numbers at `source`."""
    n = c.n
    chol, b, x, start = reals(c.chol), reals(source), reals(target), wholes(s.start)
    for i in range(n):
        total = b[i]
        for k in range(start[i], i):
            total -= chol[i * n + k] * x[k]
        x[i] = total / chol[i * n + i]


@part
def from_blocks(c, s, source, target):
    """L⁻ᵀ times the numbers at `source`, which may be the target."""
    n = c.n
    chol, x, start = reals(c.chol), reals(target), wholes(s.start)
    if source != target:
        copy_numbers(n, source, target)
    for j in range(n):
        i = n - 1 - j
        x[i] /= chol[i * n + i]
        for k in range(start[i], i):
            x[k] -= chol[i * n + k] * x[i]


# -- motion without contacts ---------------------------------------------------------------------------------------


@part
def reduce_terms(c, s, target):
    """Accelerations under the permanent constraints alone, from the terms; False where M is singular."""
    n = c.n
    if not factor_blocks(c, s):
        return False
    wanted, count = reals(c.wanted), 0
    for i in range(c.permanent):
        row = c.rows_z + 8 * i * n
        to_blocks(c, s, c.a + 8 * i * n, row)
        copy_numbers(n, row, c.step)
        count = add_direction(c, count, c.step, wanted[i])
    c.rank = count
    to_blocks(c, s, c.f, c.z_free)
    copy_numbers(n, c.z_free, c.z)
    if count > 0:
        along_basis(c, count, c.z_other)
        free_of_basis(c, count, c.z)
        add_multiple(n, c.z, 1.0, c.z_other)
    from_blocks(c, s, c.z, target)
    return True


@part
def look_at(c, s):
    """Terms and accelerations at the inputs in c.x; False where M is singular."""
    call(c.terms, c.x, c.qdot)
    if not c.fixed_laws:
        call(c.laws, c.x, c.law)
    s.current = 1
    return reduce_terms(c, s, s.accelerations)


@part
def set_free_speeds(c, s, h):
    """Speeds at the end of the step without contacts, from accelerations halfway; False where M is singular."""
    n = c.n
    u = c.x + c.u_start
    copy_numbers(n, s.accelerations, s.midway)
    if not s.steady:
        copy_numbers(s.terms, c.qdot, s.kept)
        copy_numbers(c.inputs, c.x, c.x_watch)
        reals(c.x_watch)[0] += 0.5 * h
        add_multiple(c.coordinates, c.x_watch + c.q_start, 0.5 * h, c.qdot)
        add_multiple(n, c.x_watch + c.u_start, 0.5 * h, s.accelerations)
        call(c.terms, c.x_watch, c.qdot)
        if not reduce_terms(c, s, s.midway):
            return False
        copy_numbers(s.terms, s.kept, c.qdot)
        reduce_terms(c, s, s.accelerations)
    copy_numbers(n, u, s.free)
    add_multiple(n, s.free, h, s.midway)
    return True


# -- the contact problem of a step ---------------------------------------------------------------------------------


@part
def set_rates(c, s, speeds, target, everything):
    """Rates of the changing rows at the speeds at an address; of normal rows and those in the problem, or of all."""
    n, kind, rate, found = c.n, wholes(c.type), reals(c.rate), reals(target)
    change, now, then = reals(s.change), reals(c.x + c.u_start), reals(speeds)
    for j in range(n):
        change[j] = then[j] - now[j]
    for i in range(c.elements):
        first, length = wholes(c.first)[i], wholes(c.length)[i]
        if kind[i] == CONTACT and not everything:
            length = 1
        for r in range(first, first + length):
            found[r] = rate[r] + inner(n, c.a + 8 * r * n, s.change)


@part
def bounces(c, s, i, h):
    """Whether the contact i would close within the step and has restitution to answer with."""
    row = wholes(c.first)[i]
    if wholes(c.type)[i] != CONTACT or s.share == 0.0 or reals(c.law)[i * LAWS + RESTITUTION] == 0.0:
        return False
    return reals(c.rate)[row] < -AT_REST and reals(c.phi)[row] + h * reals(s.free_rate)[row] < 0.0


@part
def enter_first(c, s, h):
    """Mark what the contact problem begins with: what could close, what had an impulse, what holds."""
    kind, state, entered = wholes(c.type), wholes(c.state), wholes(s.entered)
    rate, free, phi, impulse = reals(c.rate), reals(s.free_rate), reals(c.phi), reals(s.impulse)
    for i in range(c.elements):
        row = wholes(c.first)[i]
        if kind[i] == CONTACT:
            ahead = h * min(free[row], 0.5 * (free[row] + rate[row]))
            entered[i] = phi[row] + ahead < 0.0 or impulse[row] > 0.0
        elif kind[i] == ONE_WAY:
            entered[i] = free[row] < 0.0 or impulse[row] > 0.0
        else:
            entered[i] = state[i] != OPEN


@part
def set_row(c, s, at, row):
    """Put a row into the contact problem, at the place `at`: its numbers, and which of them are not zero."""
    n = c.n
    y = c.columns + 8 * at * n
    to_blocks(c, s, c.a + 8 * row * n, y)
    if c.rank > 0:
        free_of_basis(c, c.rank, y)
    numbers, entry, count = reals(y), wholes(s.entry + 8 * at * n), 0
    for j in range(n):
        if numbers[j] != 0.0:
            entry[count] = j
            count += 1
    wholes(s.entries)[at] = count
    wholes(c.solver_row)[at] = row
    reals(c.solver_b)[at] = reals(s.free_rate)[row]
    reals(c.solver_r)[at] = reals(s.impulse)[row]


@part
def set_contact(c, s, h, i):
    """Put element i into the contact problem."""
    count, size = s.contacts, s.size
    kind, law = wholes(c.type)[i], reals(c.law + 8 * i * LAWS)
    first, slips = wholes(c.first)[i], slip_rows(c, i)[1]
    rows, law_of_contact, bound = wholes(c.length)[i], FREE, 0.0
    friction = law[KINETIC] if wholes(c.state)[i] == SLIPS else law[STATIC]
    if kind == FRICTION:
        law_of_contact, bound = BOUNDED, h * friction * law[BOUND]
    elif kind == ONE_WAY:
        law_of_contact = NORMAL
    elif kind == CONTACT:
        rows, bound = 1 + slips, friction
        law_of_contact = CONE if slips > 0 else NORMAL
    wholes(c.solver_first)[count] = size
    wholes(c.solver_rows)[count] = rows
    wholes(c.solver_type)[count] = law_of_contact
    wholes(c.solver_element)[count] = i
    reals(c.solver_mu)[count] = bound
    for r in range(rows):
        set_row(c, s, size + r, first + r)
    if kind == CONTACT:
        b = reals(c.solver_b)
        if bounces(c, s, i, h):
            b[size] += s.share * law[RESTITUTION] * reals(c.rate)[first]
        else:
            b[size] += reals(c.phi)[first] / h
    s.contacts, s.size = count + 1, size + rows


@part
def set_problem_matrix(c, s):
    """W of the contact problem from the numbers of its rows that are not zero."""
    n, size, w = c.n, s.size, reals(c.solver_w)
    for i in range(size):
        one, entry = reals(c.columns + 8 * i * n), wholes(s.entry + 8 * i * n)
        for j in range(i + 1):
            other, total = reals(c.columns + 8 * j * n), 0.0
            for e in range(wholes(s.entries)[i]):
                total += one[entry[e]] * other[entry[e]]
            w[i * size + j] = total
            w[j * size + i] = total


@part
def solve_step(c, s, h):
    """Impulses of what has entered, and the speeds after them in s.after with the rates that matter in s.final_rate."""
    n = c.n
    s.contacts, s.size = 0, 0
    for i in range(c.elements):
        if wholes(s.entered)[i]:
            set_contact(c, s, h, i)
    fill(n, 0.0, c.z_other)
    c.residual = 0.0
    if s.contacts > 0:
        set_problem_matrix(c, s)
        given = (c.solver_first, c.solver_rows, c.solver_type, c.solver_mu, c.solver_e)
        at = (c.solver_w, c.solver_b, c.solver_r, c.solver_work)
        task = SOLVE if s.size <= FEW_ROWS else SETTLE
        c.residual = solve_by(c.solver, task, s.contacts, *given, s.size, *at)
        if task == SETTLE and c.residual > GOOD_ENOUGH:
            c.residual = solve_by(c.solver, SOLVE, s.contacts, *given, s.size, *at)
        s.solved += 1
    p = reals(c.solver_r)
    for i in range(s.size):
        add_multiple(n, c.z_other, p[i], c.columns + 8 * i * n)
    from_blocks(c, s, c.z_other, s.after)
    add_multiple(n, s.after, 1.0, s.free)
    set_rates(c, s, s.after, s.final_rate, 0)


@part
def enter_more(c, s, h):
    """Mark contacts that the speeds after would let penetrate; whether there are any."""
    kind, entered, more = wholes(c.type), wholes(s.entered), False
    final, phi = reals(s.final_rate), reals(c.phi)
    for i in range(c.elements):
        row = wholes(c.first)[i]
        missed = False
        if entered[i]:
            continue
        if kind[i] == CONTACT:
            missed = phi[row] + h * final[row] < PENETRATES
        elif kind[i] == ONE_WAY:
            missed = final[row] < -AT_REST
        if missed:
            entered[i] = 1
            more = True
    return more


@part
def gains_energy(c, s):
    """Whether the impulses would add kinetic energy, in the motion that contacts see."""
    gain, size, p, w = 0.0, 0.0, reals(c.solver_r), reals(c.solver_w)
    for i in range(s.size):
        before = reals(s.free_rate)[wholes(c.solver_row)[i]]
        after = before
        for j in range(s.size):
            after += w[i * s.size + j] * p[j]
        gain += 0.5 * p[i] * (before + after)
        size += 0.5 * abs(p[i]) * (abs(before) + abs(after))
    return gain > GAIN * size


@part
def find_impulses(c, s, h):
    """Solve the contact problem of the step, with all contacts that matter; False where that fails."""
    set_rates(c, s, s.free, s.free_rate, 1)
    s.share = 1.0
    enter_first(c, s, h)
    for halving in range(HALVINGS + 2):
        for _ in range(ROUNDS):
            solve_step(c, s, h)
            if not enter_more(c, s, h):
                break
        if s.share == 0.0 or not gains_energy(c, s):
            break
        s.share = 0.5 * s.share if halving < HALVINGS else 0.0
    return c.residual <= GOOD_ENOUGH


# -- what has become of the constraints ----------------------------------------------------------------------------


@part
def slips_at(c, s, i, small):
    """Whether the element i slips at the end of the step."""
    at, slips = slip_rows(c, i)
    final, total = reals(s.final_rate), 0.0
    for r in range(at, at + slips):
        total += final[r] * final[r]
    return math.sqrt(total) > small


@part
def energy_of(c, s, i):
    """(energy that the impulses of element i add, J); they are those in c.impulse."""
    total, first = 0.0, wholes(c.first)[i]
    for r in range(first, first + wholes(c.length)[i]):
        total += 0.5 * reals(c.impulse)[r] * (reals(s.free_rate)[r] + reals(s.final_rate)[r])
    return total


@part
def cause_of_change(c, s, i, before, after, struck):
    """Why the state of element i changed from `before` to `after`, START where it did not."""
    row = wholes(c.first)[i]
    if struck and before == OPEN:
        pull = abs(reals(s.free_rate)[row] - reals(c.rate)[row])
        return IMPACT if reals(c.rate)[row] < -max(pull, AT_REST) else TOUCH
    if before == after:
        return START
    if after == OPEN:
        return RELEASE
    return STICK if after == STICKS else SLIP


@part
def note_changes(c, s, t):
    """Take over what the contact problem says of every element, and remember what has changed; returns the energy that
    all impulses added (J)."""
    state, kind, p, impulse = wholes(c.state), wholes(c.type), reals(c.solver_r), reals(s.impulse)
    set_rates(c, s, s.after, s.final_rate, 1)
    fill(c.rows, 0.0, s.impulse)
    small = 0.0
    for i in range(s.size):
        impulse[wholes(c.solver_row)[i]] = p[i]
        small = max(small, STILL * abs(reals(c.solver_b)[i]))
    energy = 0.0
    for i in range(c.elements):
        first, length = wholes(c.first)[i], wholes(c.length)[i]
        fill(c.rows, 0.0, c.impulse)
        copy_numbers(length, s.impulse + 8 * first, c.impulse + 8 * first)
        added = energy_of(c, s, i)
        energy += added
        if kind[i] == SWITCHED or (kind[i] == FRICTION and state[i] == OPEN):
            continue
        struck, before = impulse[first] > 0.0, state[i]
        after = SLIPS if slips_at(c, s, i, max(small, AT_REST)) else STICKS
        if kind[i] != FRICTION and (not struck or reals(s.final_rate)[first] > max(small, AT_REST)):
            after = OPEN
        cause = cause_of_change(c, s, i, before, after, struck and kind[i] == CONTACT)
        state[i] = after
        if cause != START:
            if cause not in (IMPACT, TOUCH):
                fill(length, 0.0, c.impulse + 8 * first)
            note(c, t, cause, i, added if cause == IMPACT else 0.0)
    return energy


# -- motion along the speeds ---------------------------------------------------------------------------------------


@part
def touch_blocks(c, s, row):
    """Mark the blocks of M that a row moves; whether one was not."""
    a, block, touched, more = reals(c.a + 8 * row * c.n), wholes(s.block), wholes(s.touched), False
    for j in range(c.n):
        if a[j] != 0.0 and touched[block[j]] == 0:
            touched[block[j]] = 1
            more = True
    return more


@part
def set_moving_speeds(c, s, h):
    """Speeds with which the step moves: those at its end where impulses act, else the mean of both ends; and those at
    its end wherever the mean would let bodies penetrate."""
    n = c.n
    touched, block, moving = wholes(s.touched), wholes(s.block), reals(s.moving)
    z, after, before = reals(c.z_other), reals(s.after), reals(c.x + c.u_start)
    for j in range(n):
        touched[j] = 0
    for j in range(n):
        if z[j] != 0.0:
            touched[block[j]] = 1
    for _ in range(n):
        for j in range(n):
            moving[j] = after[j] if touched[block[j]] else 0.5 * (before[j] + after[j])
        set_rates(c, s, s.moving, s.final_rate, 0)
        more = False
        for i in range(c.elements):
            row = wholes(c.first)[i]
            if wholes(c.type)[i] == CONTACT and reals(c.phi)[row] + h * reals(s.final_rate)[row] < PENETRATES:
                more = touch_blocks(c, s, row) or more
        if not more:
            return


@part
def move(c, s, t, h):
    """Move the coordinates in c.x along the speeds, by the midpoint rule, and take the speeds at the end."""
    q, u = c.x + c.q_start, c.x + c.u_start
    copy_numbers(c.coordinates, q, c.kept)
    copy_numbers(c.n, s.moving, u)
    call(s.rates, c.x, s.qdot)
    add_multiple(c.coordinates, q, 0.5 * h, s.qdot)
    reals(c.x)[0] = t + 0.5 * h
    call(s.rates, c.x, s.qdot)
    copy_numbers(c.coordinates, c.kept, q)
    add_multiple(c.coordinates, q, h, s.qdot)
    copy_numbers(c.n, s.after, u)
    reals(c.x)[0] = t + h
    if c.unit != 0:
        call(c.unit, c.x, c.y)
        copy_numbers(c.states, c.y, c.x + c.q_start)


@part
def hold_rows(c, s, contacts):
    """Let only switched rows and, where asked, contacts that penetrate count as held; states are kept for later.
    Returns whether anything is held, permanent rows included."""
    state, kind, kept, phi = wholes(c.state), wholes(c.type), wholes(s.kept_state), reals(c.phi)
    any_held = c.permanent > 0
    for i in range(c.elements):
        kept[i] = state[i]
        held = kind[i] == SWITCHED and state[i] != OPEN
        if contacts and kind[i] == CONTACT:
            held = phi[wholes(c.first)[i]] < PENETRATES
        state[i] = STICKS if held else OPEN
        any_held = any_held or held
    return any_held


@part
def restore_states(c, s):
    """Take the states back that `hold_rows` kept."""
    for i in range(c.elements):
        wholes(c.state)[i] = wholes(s.kept_state)[i]


@part
def repair_state(c, s):
    """Move bodies apart, and the state onto the permanent and switched constraints; then terms at where it is. False
    where M is singular."""
    if not look_at(c, s):
        return False
    for _ in range(ROUNDS):
        held = c.holonomic > 0 and hold_rows(c, s, 1)
        if held:
            held = place_residual(c) > EXACT
            if held:
                close_places(c, EXACT)
        if c.holonomic > 0:
            restore_states(c, s)
        if not held:
            break
        call(c.terms, c.x, c.qdot)
        if c.permanent == 0 and not s.switches:
            if not look_at(c, s):
                return False
        elif not penetrates(c):
            break
    if c.permanent > 0 or s.switches:
        if hold_rows(c, s, 0):
            close_rates(c)
        restore_states(c, s)
        return look_at(c, s)
    return True


@part
def penetrates(c):
    """Whether some contact is closed too far."""
    for i in range(c.elements):
        if wholes(c.type)[i] == CONTACT and reals(c.phi)[wholes(c.first)[i]] < PENETRATES:
            return True
    return False


# -- conditions ----------------------------------------------------------------------------------------------------


@part
def set_reactions(c, s, h):
    """Mean reactions of the step behind the inputs, for conditions."""
    copy_numbers(c.rows, s.impulse, c.reaction)
    reaction = reals(c.reaction)
    for r in range(c.rows):
        reaction[r] = reaction[r] / h if h > 0.0 else 0.0
    if c.permanent > 0:
        for i in range(c.permanent, c.rows):
            to_blocks(c, s, c.a + 8 * i * c.n, c.rows_z + 8 * i * c.n)
            free_of_basis(c, c.rank, c.rows_z + 8 * i * c.n)
            add_multiple(c.n, c.z, reaction[i], c.rows_z + 8 * i * c.n)
        permanent_reactions(c)
    copy_numbers(c.inputs, c.x, c.x_watch)
    copy_numbers(c.rows, c.reaction, c.x_watch + 8 * c.inputs)


@part
def switch_by_conditions(c, s, t, h, at_start):
    """Impose or release what its condition says at the end of a step."""
    ahead = reals(s.ahead)
    if c.conditions != 0:
        set_reactions(c, s, h)
        call(c.conditions, c.x_watch, c.condition)
    for i in range(c.elements):
        if wholes(c.type)[i] not in (SWITCHED, FRICTION):
            continue
        now = condition_ahead(c, i, t)
        if ahead[i] > 0.0 and now <= 0.0 and not at_start:
            fill(c.rows, 0.0, c.impulse)
            copy_numbers(c.n, c.x + c.u_start, c.before)
            if wholes(c.state)[i] == OPEN:
                impose(c, i, t)
                note(c, t, IMPOSED, i, 0.0)
            else:
                wholes(c.state)[i] = OPEN
                note(c, t, FREED, i, 0.0)
            now = condition_ahead(c, i, t)
        ahead[i] = now


# -- the loop ------------------------------------------------------------------------------------------------------


@part
def read_inputs(m, c):
    """The state of the loop and its inputs to c.x."""
    reals(c.x)[0] = m.t
    copy_numbers(m.n, m.y, c.x + 8)
    copy_numbers(c.inputs - 1 - m.n, m.x + 8 * (1 + m.n), c.x + 8 * (1 + m.n))


@part
def start_stepping(m, c, s):
    """The state at the start moved onto what holds, and the first entry of the transitions; what comes of it."""
    read_inputs(m, c)
    if c.fixed_laws:
        call(c.laws, c.x, c.law)
    fill(c.rows, 0.0, c.impulse)
    copy_numbers(c.n, c.x + c.u_start, c.before)
    if not look_at(c, s):
        return HAS_NO_MASS
    for i in range(c.elements):
        row = wholes(c.first)[i]
        closed = reals(c.phi)[row] <= TOUCHING and reals(c.rate)[row] <= AT_REST
        if wholes(c.type)[i] == CONTACT and closed:
            wholes(c.state)[i] = STICKS
    if c.permanent > 0 or s.switches:
        repair_state(c, s)
    switch_by_conditions(c, s, m.t, 0.0, 1)
    copy_numbers(c.states, c.x + c.q_start, m.y)
    s.current = 0
    c.possible = -1
    note(c, m.t, START, np.int64(-1), 0.0)
    m.transitions = c.count
    return 0


@part
def take_step(m, c, s, t_new, h):
    """One step of length h: the state at its end to m.y_new. What comes of it, 0 if it is good."""
    read_inputs(m, c)
    if (m.fresh or not s.current) and not look_at(c, s):
        return HAS_NO_MASS
    m.fresh = 0
    copy_numbers(c.n, c.x + c.u_start, c.before)
    work = reals(m.y)[c.states - 1] + h * reals(c.power)[0]
    if not set_free_speeds(c, s, h):
        return HAS_NO_MASS
    if s.last_h > 0.0 and s.last_h != h:
        add_multiple(c.rows, s.impulse, h / s.last_h - 1.0, s.impulse)
    s.last_h = h
    if not find_impulses(c, s, h):
        return UNSOLVED_STEP
    set_moving_speeds(c, s, h)
    copy_numbers(c.n, s.after, c.step)
    count = c.count
    work += note_changes(c, s, t_new)
    move(c, s, m.t, h)
    reals(c.x)[0] = t_new
    if not repair_state(c, s):
        return HAS_NO_MASS
    for k in range(count, c.count):
        copy_numbers(c.n, c.x + c.u_start, c.speeds + 16 * k * c.n + 8 * c.n)
    if s.switches:
        switch_by_conditions(c, s, t_new, h, 0)
    copy_numbers(c.states, c.x + c.q_start, m.y_new)
    reals(m.y_new)[c.states - 1] = work
    m.transitions = c.count
    m.evaluations += 1
    return 0


@part
def set_line(m):
    """The line from the beginning of the step to its end, for output and events between them."""
    y, y_new, dense = reals(m.y), reals(m.y_new), reals(m.dense)
    for i in range(m.n):
        dense[i] = y_new[i] - y[i]


@loop
def stepping_loop(memory, budget):
    """Continue the motion in `memory` by up to `budget` steps; returns why it came back."""
    m = memory[0]
    s = stepping(m.transition_memory)
    c = record(s.changing)
    if m.steps == 0 and c.count == 0:
        m.transition_fault = start_stepping(m, c, s)
        if m.transition_fault != 0:
            return NO_MODE
        if m.stored == 1:
            copy_numbers(m.n, m.y, m.out_y)
    if m.fresh and m.events > 0:
        event_signs(m)
    for _ in range(budget):
        if m.t == m.t_end:
            return REACHED
        if not has_room(m) or c.count + 2 * c.elements >= c.room:
            return FULL
        t_new, _clipped = next_end(m)
        h = t_new - m.t
        m.transition_fault = take_step(m, c, s, t_new, h)
        if m.transition_fault != 0:
            return NO_MODE
        if not all_finite(m.n, m.y_new):
            return NOT_FINITE
        set_line(m)
        if not find_events(m, t_new, h):
            return NOT_FINITE
        m.grid += 1
        if finish(m, t_new, h):
            return STOPPED
    return RUNNING
