"""The mode that goes on from a state: impacts first, then the Coulomb problem in accelerations.

Contacts that approach, and rows that are imposed on a motion which does not have them, give an impact, resolved by one
of the laws in `impact`. Then, among all contacts that touch and neither approach nor separate, the Coulomb problem
tells which stay closed, which stick and which slip where to. What has just ended is not chosen again (c.barred).
"""

from __future__ import annotations

import math

from ...constraints.thresholds import (
    ALMOST_STILL,
    AT_REST,
    HARDLY_MOBILE,
    NO_ACCELERATION,
    NO_REACTION,
    ON_CONE,
    OPENS,
    ROUNDING,
    SLIP_ROUNDINGS,
    SOLVED,
    WELL_SOLVED,
)
from .beginning_slips import excess, friction_excess
from .call import part, reals, wholes
from .changing_record import (
    BOUND,
    CONTACT,
    CONTRADICTS,
    FRICTION,
    GOES_ON,
    IMPACT,
    IMPOSED,
    KINETIC,
    LAWS,
    NONE,
    NOT_CLOSED,
    NOT_STUCK,
    OPEN,
    PARADOX,
    RESTITUTION,
    SLIPS,
    STATIC,
    STICKS,
    SWITCHED,
    UNSETTLED,
    UNSOLVED,
)
from .contact_programs import SOLVE
from .contacts import CONE, FREE, NORMAL, problem
from .elimination import eliminate, substitute_back
from .impact import PATH_NEWTON, impact
from .mass_metric import add_multiple, along_speeds, fill, free_of_basis, from_z, inner, span_rows, to_z
from .mode_ends import overcome_friction
from .mode_forces import evaluate, solve_mode
from .mode_problem import (
    add_choice,
    add_to_problem,
    balance_problem,
    begins_to_slip,
    set_matrix,
    set_motions,
    solve_problem,
)
from .shared_friction import capacity, first_sharer, friction_of, needed_usage, told_usage
from .slips import begin_slip, set_direction, slip_rows, slip_speed
from .step import EPS, copy_numbers
from .touch import largest_normal, resting_speed, touches

MOST_STRIKES = 20
"""Impacts after one another at one instant: an impact may drive what separated into its end, as a ratchet."""


@part
def moving_rate(c, row):
    """The rate of a row, 0 where it is what rounding leaves of the motion: a row that depends on others which hold has
    nothing else to bring to rest, and nothing that could do it. No row is faster than √(a M⁻¹ aᵀ · u M u)."""
    n, rate, energy = c.n, reals(c.rate)[row], 0.0
    u, y = reals(c.x + c.u_start), c.span
    for j in range(n):
        energy += u[j] * inner(n, c.mass + 8 * j * n, c.x + c.u_start)
    to_z(c, c.a + 8 * row * n, y)
    fastest = math.sqrt(max(0.0, energy) * inner(n, y, y))
    return rate if abs(rate) > SLIP_ROUNDINGS * EPS * fastest else 0.0


@part
def is_impact(c, imposed):
    """Whether some contact approaches, or the rows of the element `imposed` have a rate."""
    rate = reals(c.rate)
    for i in range(c.elements):
        if touches(c, i) and rate[wholes(c.first)[i]] < -resting_speed(c, i):
            return True
    if imposed >= 0 and wholes(c.type)[imposed] == SWITCHED:
        for r in range(wholes(c.length)[imposed]):
            if moving_rate(c, wholes(c.first)[imposed] + r) != 0.0:
                return True
    return False


@part
def approach_share(c):
    """How fast contacts approach at most, relative to the fastest motion along rows that can act of any that
    touches."""
    rate, approach, fastest = reals(c.rate), 0.0, 0.0
    for i in range(c.elements):
        if touches(c, i):
            first = wholes(c.first)[i]
            approach = max(approach, -rate[first])
            for r in range(1 + slip_rows(c, i)[1]):
                fastest = max(fastest, abs(rate[first + r]))
    return approach / fastest if fastest > 0.0 else 0.0


@part
def strike(c, law):
    """Resolve the impact of everything that touches or is held, as `take_impulses` does."""
    kind, state, law_of = wholes(c.type), wholes(c.state), reals(c.law)
    count, size = 0, 0
    for i in range(c.elements):
        if kind[i] == SWITCHED:
            if state[i] != OPEN:
                count, size = add_to_problem(c, count, size, i, wholes(c.length)[i], FREE)
        elif touches(c, i):
            slips = slip_rows(c, i)[1]
            reals(c.solver_mu)[count] = law_of[i * LAWS + KINETIC]
            reals(c.solver_e)[count] = law_of[i * LAWS + RESTITUTION]
            count, size = add_to_problem(c, count, size, i, 1 + slips, CONE if slips > 0 else NORMAL)
    set_matrix(c, size)
    for k in range(count):
        held = wholes(c.solver_type)[k] == FREE
        for i in range(wholes(c.solver_first)[k], wholes(c.solver_first)[k] + wholes(c.solver_rows)[k]):
            row = wholes(c.solver_row)[i]
            reals(c.solver_v)[i] = moving_rate(c, row) if held else reals(c.rate)[row]
    return take_impulses(c, law, count, size)


@part
def switched_basis(c):
    """Orthonormal basis of the rows of switched constraints that hold; returns its rank."""
    size = 0
    for i in range(c.elements):
        if wholes(c.type)[i] == SWITCHED and wholes(c.state)[i] != OPEN:
            rows = wholes(c.length)[i]
            copy_numbers(rows * c.n, c.rows_z + 8 * wholes(c.first)[i] * c.n, c.span + 8 * size * c.n)
            size += rows
    fill(size, 0.0, c.aim)
    return span_rows(c, size)


@part
def mobile_share(c, i, rank):
    """What friction leaves of the normal mobility of the slipping contact i, as a share; below zero it drives the
    contact together. 1 for all that is none. A basis of `rank` of the rows that switched constraints hold is known."""
    at, slips = slip_rows(c, i)
    if wholes(c.type)[i] != CONTACT or wholes(c.state)[i] != SLIPS or slips == 0:
        return 1.0
    normal, share = c.step, 1.0
    copy_numbers(c.n, c.rows_z + 8 * wholes(c.first)[i] * c.n, normal)
    free_of_basis(c, rank, normal)
    length = inner(c.n, normal, normal)
    if length == 0.0:
        return 1.0
    slip_speed(c, i)
    for s in range(slips):
        along = reals(c.law)[i * LAWS + KINETIC] * reals(c.slip)[s]
        share -= along * inner(c.n, normal, c.rows_z + 8 * (at + s) * c.n) / length
    return share


@part
def least_mobile(c, rank):
    """The slipping contact that its friction drives together most, or is about to; NONE where none is."""
    jammed, least = NONE, HARDLY_MOBILE
    for i in range(c.elements):
        share = mobile_share(c, i, rank)
        if share <= least:
            jammed, least = i, share
    return jammed


@part
def part_jams(c):
    """Open slipping contacts that friction drives together while they separate, slowly as it may be: they need no
    impact. Whether there are any."""
    found, rank = False, switched_basis(c)
    for i in range(c.elements):
        if mobile_share(c, i, rank) <= HARDLY_MOBILE and reals(c.rate)[wholes(c.first)[i]] > AT_REST:
            wholes(c.state)[i], wholes(c.barred)[i], found = OPEN, NOT_CLOSED, True
    return found


@part
def strike_jam(c):
    """Resolve the impact without collision of the slipping contact that its friction drives together most: by itself
    but for switched constraints, which hold; what it drives together is struck afterwards. Returns the energy as
    `strike` does, nan where there is none."""
    rank = switched_basis(c)
    jammed = least_mobile(c, rank)
    if jammed == NONE:
        return math.nan
    reals(c.solver_mu)[0], reals(c.solver_e)[0] = reals(c.law)[jammed * LAWS + KINETIC], 0.0
    count, size = add_to_problem(c, 0, 0, jammed, 1 + slip_rows(c, jammed)[1], CONE)
    for i in range(size):
        free_of_basis(c, rank, c.columns + 8 * i * c.n)
    set_matrix(c, size)
    for i in range(size):
        reals(c.solver_v)[i] = reals(c.rate)[wholes(c.solver_row)[i]] if i > 0 else 0.0
    energy = take_impulses(c, PATH_NEWTON, count, size)
    if rank > 0:
        add_switched_impulses(c, size)
    return energy


@part
def add_switched_impulses(c, size):
    """Add to c.impulse what the switched constraints answer to the impulses of the `size` rows of a problem: A_s M⁻¹
    (A_sᵀ p_s + A_cᵀ p_c) = 0."""
    n, row, p, k, unit, count = c.n, wholes(c.solver_row), reals(c.solver_r), reals(c.k), reals(c.scale), 0
    fill(n, 0.0, c.z_other)
    for i in range(size):
        add_multiple(n, c.z_other, p[i], c.rows_z + 8 * row[i] * n)
    for i in range(c.elements):
        if wholes(c.type)[i] == SWITCHED and wholes(c.state)[i] != OPEN:
            for r in range(wholes(c.length)[i]):
                wholes(c.unknown)[count] = wholes(c.first)[i] + r
                count += 1
    for i in range(count):
        one = c.rows_z + 8 * wholes(c.unknown)[i] * n
        length = math.sqrt(inner(n, one, one))
        unit[i] = 1.0 / length if length > 0.0 else 0.0
        reals(c.right)[i] = -inner(n, one, c.z_other)
        for j in range(count):
            k[i * count + j] = inner(n, one, c.rows_z + 8 * wholes(c.unknown)[j] * n)
    substitute_back(c, count, eliminate(c, count, c.k, c.right), c.k, c.right, NONE, c.solution)
    for i in range(count):
        reals(c.impulse)[wholes(c.unknown)[i]] += unit[i] * reals(c.solution)[i]


@part
def take_impulses(c, law, count, size):
    """Resolve the impact that is laid out, with the velocities in c.solver_v: speeds in c.x, impulses added to
    c.impulse. Returns the energy it takes (J, negative: lost), nan where it could not be resolved."""
    n, row, p, impulse = c.n, wholes(c.solver_row), reals(c.solver_r), reals(c.impulse)
    fill(size, 0.0, c.solver_r)
    solve_problem(c, law, count, size, c.solver_v)
    if not c.residual <= SOLVED:
        return math.nan
    used = impact(c.solver_work)
    if c.law_used in (-1, c.impact_law):
        c.law_used = used.law
    c.guarded = max(c.guarded, used.guarded)
    fill(n, 0.0, c.z_other)
    for i in range(size):
        impulse[row[i]] += p[i]
        add_multiple(n, c.z_other, p[i], c.columns + 8 * i * n)
    energy = along_speeds(c, c.x + c.u_start, c.z_other) + 0.5 * inner(n, c.z_other, c.z_other)
    from_z(c, c.z_other, c.step)
    add_multiple(n, c.x + c.u_start, 1.0, c.step)
    return energy


@part
def sort_by_rates(c):
    """Open what separates, and say of what touches whether it slips; what is neither may be chosen freely."""
    state, kind, barred, rate = wholes(c.state), wholes(c.type), wholes(c.barred), reals(c.rate)
    for i in range(c.elements):
        if kind[i] == SWITCHED or (kind[i] == FRICTION and state[i] == OPEN):
            continue
        if kind[i] != FRICTION:
            closed = touches(c, i) and rate[wholes(c.first)[i]] <= resting_speed(c, i) and barred[i] != NOT_CLOSED
            if not closed:
                state[i] = OPEN
                continue
        if barred[i] == NOT_STUCK:
            continue
        speed = slip_speed(c, i)
        if speed > AT_REST:
            set_direction(c, i, reals(c.slip)[0], reals(c.slip)[1])
            if state[i] != SLIPS:
                wholes(c.young)[i] = 0
            state[i] = SLIPS
        else:
            state[i] = STICKS


@part
def open_by_choice(c, count, small):
    """Open what a solution of the contact problem in accelerations opens, faster than `small`; whether anything is."""
    kind, opened = wholes(c.type), False
    for k in range(count):
        i, a = wholes(c.solver_element)[k], reals(c.solver_v)[wholes(c.solver_first)[k]]
        if kind[i] != SWITCHED and kind[i] != FRICTION and a > small:
            wholes(c.state)[i], opened = OPEN, True
    return opened


@part
def slip_by_choice(c, count, small):
    """Let slip what slips in a solution of the contact problem in accelerations, faster than `small`."""
    for k in range(count):
        i, rows = wholes(c.solver_element)[k], wholes(c.solver_rows)[k]
        a = reals(c.solver_v + 8 * wholes(c.solver_first)[k])
        lead = 0 if wholes(c.type)[i] == FRICTION else 1
        if wholes(c.type)[i] != SWITCHED and wholes(c.state)[i] == STICKS and rows > lead:
            one, two = a[lead], a[rows - 1] if rows > lead + 1 else 0.0
            if math.sqrt(one * one + two * two) > small:
                begin_slip(c, i, one, two)


@part
def set_slack(c):
    """What reactions are rounding errors: a share of what would give the free accelerations of the whole system. Bodies
    that move alike press on each other with nothing, and must not part and meet for ever."""
    size = math.sqrt(inner(c.n, c.z_free, c.z_free))
    for i in range(c.elements):
        row = c.rows_z + 8 * wholes(c.first)[i] * c.n
        length = math.sqrt(inner(c.n, row, row))
        reals(c.slack)[i] = NO_REACTION * size / length if length > 0.0 else 0.0


@part
def pushes(c, i):
    """Normal reaction (N, N m) of element i, below zero where it would pull, or opens in a mode in which slips
    begin."""
    row = wholes(c.first)[i]
    if begins_to_slip(c) and excess(c, row) > OPENS * reals(c.slack)[i]:
        return reals(c.reaction)[row] - excess(c, row)
    return reals(c.reaction)[row]


@part
def holds_beyond(c, i, normal):
    """How much (N, N m) element i, which sticks, holds beyond its friction; negative where it may."""
    if wholes(c.shared)[i]:
        over = told_usage(c) if i == first_sharer(c) else 0.0
        over = needed_usage(c) if over > 1.0 else over
        return (over - 1.0 - ON_CONE) * capacity(c, i)
    holds, slack = reals(c.law)[i * LAWS + STATIC] * normal, reals(c.slack)[i]
    beyond = friction_of(c, i) - holds
    if begins_to_slip(c):
        return friction_excess(c, i) + min(0.0, beyond) - OPENS * slack
    return beyond - ROUNDING * holds - slack


@part
def find_strain(c):
    """The element that pulls most or, if none does, that holds most beyond its friction; NONE if the reactions of the
    mode can keep what is closed closed and what sticks at rest."""
    state, kind, law = wholes(c.state), wholes(c.type), reals(c.law)
    solve_mode(c)
    largest, found, worst, pulls = largest_normal(c), NONE, 0.0, False
    for i in range(c.elements):
        if state[i] == OPEN or kind[i] == SWITCHED:
            continue
        normal = law[i * LAWS + BOUND]
        if kind[i] != FRICTION:
            normal = pushes(c, i)
            if normal < -max(reals(c.slack)[i], ROUNDING * largest) and (not pulls or normal < worst):
                found, worst, pulls = i, normal, True
        if pulls or state[i] != STICKS or slip_rows(c, i)[1] == 0:
            continue
        over = holds_beyond(c, i, normal)
        if over > 0.0 and over > worst:
            found, worst = i, over
    return found


@part
def settle_mode(c):
    """Open what would pull in the mode that was chosen, and let slip what holds more than its friction, one after
    another: where reactions are not determined, those of the mode need not be those of the contact problem. False where
    that does not end."""
    for _ in range(2 * c.elements + 1):
        i = find_strain(c)
        if i == NONE:
            return True
        c.culprit = i
        if wholes(c.type)[i] != FRICTION and pushes(c, i) < 0.0:
            wholes(c.state)[i] = OPEN
        else:
            overcome_friction(c, i)
    return False


@part
def set_choice(c):
    """(contacts, rows, largest free acceleration) of the contact problem in accelerations over all that touches."""
    n, row, b = c.n, wholes(c.solver_row), reals(c.solver_b)
    count, size, largest = 0, 0, 0.0
    fill(n, 0.0, c.z_other)
    for i in range(c.elements):
        count, size = add_choice(c, count, size, i)
    set_matrix(c, size)
    for i in range(size):
        b[i] = reals(c.drift)[row[i]] + inner(n, c.rows_z + 8 * row[i] * n, c.z_other)
        largest = max(largest, abs(b[i]))
    fill(size, 0.0, c.solver_r)
    return count, size, largest


@part
def choose_mode(c):
    """The mode that goes on from these speeds, by the Coulomb problem in accelerations. False where there is none.
    Where normal reactions are not determined, what opens is taken from it, and what slips from that in which they
    are those of equal stiffness."""
    set_slack(c)
    c.warm, c.loaded = 0, 0.0
    for turn in range(c.elements + 2):
        count, size, largest = set_choice(c)
        if count == 0:
            return True
        sets = balance_problem(c, count, size)
        known = sets == 0 or turn > 0
        if not known:
            set_matrix(c, size)
        solve_problem(c, SOLVE, count, size, c.solver_b)
        if turn == 0:
            c.possible = problem(c.solver_work).solutions
        if not c.residual <= SOLVED:
            return False
        set_motions(c, size, c.solver_b)
        small = max(ALMOST_STILL * largest, NO_ACCELERATION)
        opened = open_by_choice(c, count, small)
        if known and not (opened and sets > 0):
            slip_by_choice(c, count, small)
            return True
    return True


@part
def strike_and_choose(c, cause, imposed):
    """(what comes of it, cause, energy): impacts, and the mode that goes on after them. Where none is consistent, and
    where the reaction of a slip has grown beyond all bounds (PARADOX), there is an impact without collision; what that
    drives together is struck in turn, and may jam again."""
    energy = 0.0
    for jams in range(MOST_STRIKES):
        if (jams == 0 and cause == PARADOX) or (jams > 0 and not part_jams(c)):
            lost = strike_jam(c)
            if not lost < 0.0:
                return CONTRADICTS, PARADOX, energy
            energy += lost
            evaluate(c, c.x)
            cause, imposed = PARADOX, NONE
        result, struck, more = strike_all(c, cause, imposed)
        cause = PARADOX if cause == PARADOX else struck
        energy += more
        if result != GOES_ON:
            return result, cause, energy
        sort_by_rates(c)
        if choose_mode(c):
            return GOES_ON if settle_mode(c) else UNSETTLED, cause, energy
    return CONTRADICTS, PARADOX, energy


@part
def strike_all(c, cause, imposed):
    """(what comes of it, cause, energy): impacts, until nothing approaches."""
    energy, strikes = 0.0, 0
    while is_impact(c, imposed):
        left = approach_share(c) if strikes > 0 else 1.0
        if left <= WELL_SOLVED or (left <= SOLVED and strikes == MOST_STRIKES):
            break  # what is left is what the solver leaves
        energy += strike(c, c.impact_law)
        strikes += 1
        if energy != energy or strikes > MOST_STRIKES:
            return UNSOLVED, cause, energy
        cause = cause if cause == IMPOSED else IMPACT
        imposed = NONE
        evaluate(c, c.x)
    return GOES_ON, cause, energy
