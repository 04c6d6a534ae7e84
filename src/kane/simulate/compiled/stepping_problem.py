"""Time stepping under constraints that come and go: steps of one length, contacts solved in velocities.

A step from q, u has impulses P of all contacts that could close within it, with M the mass matrix at its beginning:

    u⁺ = u + h a + M⁻¹ Aᵀ P,   gap + h (A u⁺)_n ≥ 0 ⊥ P_n ≥ 0,   Coulomb's law between P_t and (A u⁺)_t

where a are the accelerations without contacts, permanent constraints embedded in them, halfway along the motion that
the step has in the end: gyroscopic terms do no work along the speeds that they belong to. The gap that is left is taken
along (speculative contact): nothing is ever inside another body, but for the curvature of paths.
A body without impulses moves by h (u + u⁺) / 2, others by h u⁺, so that free flight is exact under gravity and contact
never adds energy. Restitution is Newton's law as Moreau states it, u_n⁺ ≥ −e u_n, in the step in which a contact would
close, with e halved, and at last 0, where that would add energy. Dry friction with a bound has an impulse of h times
it. What slips, lands slipping or is found to begin to slip has kinetic friction in the whole step. Conditions of
switched constraints are looked at where steps end, and what penetrates there is moved apart.

Where M consists of blocks, as that of free bodies, only these are factorised, and rows have entries in few of them.
`c` is a record of type `changing_record.MEMORY`, `s` one of type `STEPPING`, `m` that of the loop, `records.MEMORY`.
"""

from __future__ import annotations

import math

from ...constraints.thresholds import AT_REST, TOUCHING_IN_STEPS
from .call import part, reals, solve_by, stay_separate, wholes
from .changing_record import BOUND, CONTACT, FRICTION, KINETIC, LAWS, ONE_WAY, OPEN, RESTITUTION, SLIPS, STATIC
from .contact_programs import SETTLE, SOLVE
from .contacts import BOUND as BOUNDED
from .contacts import CONE, FREE, NORMAL
from .lanes import product
from .mass_metric import add_multiple, fill, free_of_basis, from_z, to_z
from .slips import slip_rows, slip_speed

GOOD_ENOUGH = 1e-2
"""Relative natural residual of the contact problem of a step up to which the motion goes on. What is left is told with
the outcome."""

ROUNDS = 20
"""How often contacts are added that a solution would let penetrate."""

HALVINGS = 3
"""How often restitution is halved where it would add energy, before there is none."""

GAIN = 1e-9
"""Share of what impulses do with velocities that a gain of energy has to exceed."""

PENETRATES = -1e-9
"""Gap (m, rad) below which bodies are moved apart; above it the next step does it by its velocities."""

STILL = 1e-7
"""Share of the largest velocity of the contact problem below which nothing slips."""

STATIC_FRICTION, KINETIC_FRICTION = 1, 2
"""How an element enters the contact problem, in s.entered; 0 where it does not."""

FEW_ROWS = 24
"""Rows up to which contact problems are solved to rounding; larger ones are settled by sweeps."""

YIELD = 1e-7
"""Share of its own mobility by which every row yields where it is asked how contacts share what is not determined. The
less, the nearer the answer is to a solution of the rigid problem, and the more of it is rounding."""


# -- the contact problem of a step ---------------------------------------------------------------------------------


@part
def set_change(c, s, speeds):
    """How the speeds at an address differ from those at the beginning of the step, to s.change."""
    change, now, then = reals(s.change), reals(c.x + c.u_start), reals(speeds)
    for j in range(c.n):
        change[j] = then[j] - now[j]


@part
def rate_of_row(c, s, row):
    """The rate of a row at the speeds of which s.change tells."""
    return reals(c.rate)[row] + product(c.n, c.a + 8 * row * c.n, s.change)


@part
def set_rates(c, s, speeds, target, slips):
    """Rates of the changing rows at the speeds at an address; of contacts those of their normal rows, and where
    `slips` of all rows of those in the contact problem."""
    kind, found = wholes(c.type), reals(target)
    set_change(c, s, speeds)
    for i in range(c.elements):
        first, length = wholes(c.first)[i], wholes(c.length)[i]
        if kind[i] == CONTACT and not (slips and wholes(s.entered)[i]):
            length = 1
        for r in range(first, first + length):
            found[r] = rate_of_row(c, s, r)


@part
def may_close(c, i):
    """Whether the element i is a contact, and in force."""
    return wholes(c.type)[i] == CONTACT and wholes(c.present)[i] != 0


@part
def bounces(c, s, i, h):
    """Whether the contact i would close within the step and has restitution to answer with."""
    row = wholes(c.first)[i]
    if not may_close(c, i) or s.share == 0.0 or reals(c.law)[i * LAWS + RESTITUTION] == 0.0:
        return False
    return reals(c.rate)[row] < -AT_REST and reals(c.phi)[row] + h * reals(s.free_rate)[row] < 0.0


@part
def enter_first(c, s, h):
    """Mark what the contact problem begins with: what could close, what had an impulse, what holds."""
    kind, state, entered = wholes(c.type), wholes(c.state), wholes(s.entered)
    rate, free, phi, impulse = reals(c.rate), reals(s.free_rate), reals(c.phi), reals(s.impulse)
    for i in range(c.elements):
        row = wholes(c.first)[i]
        if not wholes(c.present)[i]:
            entered[i] = 0
        elif kind[i] == CONTACT:
            ahead = h * min(free[row], 0.5 * (free[row] + rate[row]))
            entered[i] = phi[row] + ahead < 0.0 or impulse[row] > 0.0
        elif kind[i] == ONE_WAY:
            entered[i] = free[row] < 0.0 or impulse[row] > 0.0
        else:
            entered[i] = state[i] != OPEN
        if entered[i] and (state[i] == SLIPS or (state[i] == OPEN and slip_speed(c, i) > AT_REST)):
            entered[i] = KINETIC_FRICTION


@part
def set_row(c, s, at, row):
    """Put a row into the contact problem, at the place `at`: its numbers, and which of them are not zero."""
    n = c.n
    y = c.columns + 8 * at * n
    to_z(c, c.a + 8 * row * n, y)
    if c.rank > 0:
        free_of_basis(c, c.rank, y)
    numbers, entry, count = reals(y), wholes(s.entry + 8 * at * n), 0
    for j in range(n):
        if numbers[j] != 0.0:
            entry[count] = j
            count += 1
    wholes(s.entries)[at] = count
    wholes(c.solver_row)[at] = row
    reals(s.free_rate)[row] = rate_of_row(c, s, row)
    reals(c.solver_b)[at] = reals(s.free_rate)[row]
    reals(c.solver_r)[at] = reals(s.impulse)[row]


@part
def set_contact(c, s, h, i):
    """Put element i into the contact problem."""
    count, size = s.contacts, s.size
    kind, law = wholes(c.type)[i], reals(c.law + 8 * i * LAWS)
    first, slips = wholes(c.first)[i], slip_rows(c, i)[1]
    rows, law_of_contact, bound = wholes(c.length)[i], FREE, 0.0
    friction = law[KINETIC] if wholes(s.entered)[i] == KINETIC_FRICTION else law[STATIC]
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
        elif abs(reals(c.phi)[first]) > TOUCHING_IN_STEPS:
            b[size] += reals(c.phi)[first] / h
    s.contacts, s.size = count + 1, size + rows


@part
def mark_blocks(c, s, contact):
    """Mark in s.touched the blocks of M that the rows of a contact of the problem move, and no others."""
    block, touched, first = wholes(c.block), wholes(s.touched), wholes(c.solver_first)[contact]
    for j in range(c.n):
        touched[j] = 0
    for i in range(first, first + wholes(c.solver_rows)[contact]):
        entry = wholes(s.entry + 8 * i * c.n)
        for e in range(wholes(s.entries)[i]):
            touched[block[entry[e]]] = 1


@part
def moves_marked_blocks(c, s, contact):
    """Whether a contact of the problem moves a block of M that is marked."""
    block, touched, first = wholes(c.block), wholes(s.touched), wholes(c.solver_first)[contact]
    for i in range(first, first + wholes(c.solver_rows)[contact]):
        entry = wholes(s.entry + 8 * i * c.n)
        for e in range(wholes(s.entries)[i]):
            if touched[block[entry[e]]]:
                return True
    return False


@part
def set_coupling(c, s, one, other, coupled):
    """W between the rows of two contacts, from the numbers of rows that are not zero; 0 where they are not coupled."""
    n, size, w = c.n, s.size, reals(c.solver_w)
    first, rows = wholes(c.solver_first), wholes(c.solver_rows)
    for i in range(first[one], first[one] + rows[one]):
        mine, entry = reals(c.columns + 8 * i * n), wholes(s.entry + 8 * i * n)
        for j in range(first[other], first[other] + rows[other]):
            yours, total = reals(c.columns + 8 * j * n), 0.0
            if coupled:
                for e in range(wholes(s.entries)[i]):
                    total += mine[entry[e]] * yours[entry[e]]
            w[i * size + j] = total
            w[j * size + i] = total


@part
def set_problem_matrix(c, s):
    """W of the contact problem; contacts of different bodies do not move each other."""
    for one in range(s.contacts):
        mark_blocks(c, s, one)
        for other in range(one + 1):
            set_coupling(c, s, one, other, moves_marked_blocks(c, s, other))


@part
def share_impulses(c, s, given, at):
    """Where contacts are more than hold their bodies, let impulses begin as equally yielding contacts share them: W has
    a little more on its diagonal, and the smallest of all impulses that do the same are the only solution."""
    stay_separate()
    w, rigid = reals(c.solver_w), reals(c.solver_v)
    for i in range(s.size):
        rigid[i] = w[i * s.size + i]
        w[i * s.size + i] += YIELD * rigid[i]
    solve_by(c.solver, SOLVE, s.contacts, *given, s.size, *at)
    for i in range(s.size):
        w[i * s.size + i] = rigid[i]


@part
def solve_step(c, s, h):
    """Impulses of what has entered, and the speeds after them in s.after with the rates that matter in s.final_rate."""
    n = c.n
    s.contacts, s.size = 0, 0
    set_change(c, s, s.free)
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
        if task == SOLVE and s.contacts > 1:
            share_impulses(c, s, given, at)
        c.residual = solve_by(c.solver, task, s.contacts, *given, s.size, *at)
        s.solved += 1
    p = reals(c.solver_r)
    for i in range(s.size):
        add_multiple(n, c.z_other, p[i], c.columns + 8 * i * n)
        reals(s.impulse)[wholes(c.solver_row)[i]] = p[i]  # where the next search begins
    from_z(c, c.z_other, s.after)
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
        if entered[i] or not wholes(c.present)[i]:
            continue
        if kind[i] == CONTACT:
            missed = phi[row] + h * final[row] < PENETRATES
        elif kind[i] == ONE_WAY:
            missed = final[row] < -AT_REST
        if missed:
            entered[i] = KINETIC_FRICTION if slip_speed(c, i) > AT_REST else STATIC_FRICTION
            more = True
    return more


@part
def smallest_slip(c, s):
    """Speed (m/s, rad/s) above which rows of the contact problem slip: less is what its solution leaves."""
    small = AT_REST
    for i in range(s.size):
        small = max(small, STILL * abs(reals(c.solver_b)[i]))
    return small


@part
def slips_at(c, s, i, small):
    """Whether the element i slips faster than `small` at the speeds of which s.change tells."""
    at, slips = slip_rows(c, i)
    total = 0.0
    for r in range(at, at + slips):
        rate = rate_of_row(c, s, r)
        total += rate * rate
    return math.sqrt(total) > small


@part
def weaken_friction(c, s):
    """Let what static friction cannot hold have kinetic friction from the beginning of the step; whether there is
    any."""
    entered, law, small, more = wholes(s.entered), reals(c.law), smallest_slip(c, s), False
    for i in range(c.elements):
        weakens = law[i * LAWS + KINETIC] != law[i * LAWS + STATIC]
        if entered[i] == STATIC_FRICTION and weakens and slips_at(c, s, i, small):
            entered[i] = KINETIC_FRICTION
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
    set_rates(c, s, s.free, s.free_rate, 0)
    enter_first(c, s, h)
    s.share, bouncing = 1.0, False
    for i in range(c.elements):
        bouncing = bouncing or bounces(c, s, i, h)
    s.share = 1.0 if bouncing else 0.0
    for halving in range(HALVINGS + 2):
        for _ in range(ROUNDS):
            solve_step(c, s, h)
            if not enter_more(c, s, h) and not weaken_friction(c, s):
                break
        if s.share == 0.0 or not gains_energy(c, s):
            break
        s.share = 0.5 * s.share if halving < HALVINGS else 0.0
    return c.residual <= GOOD_ENOUGH
