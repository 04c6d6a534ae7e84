"""Where the mode of a motion ends: what closes, opens, sticks, slips, is imposed or let go, and the impulse it takes.

At a crossing of one of the functions that `changing` watches, and at the start of a motion, the mode is
chosen anew. First in velocities: contacts that approach, and rows that are imposed on a motion which does not have
them, give an impact, resolved by one of the laws in `impact`. Then in accelerations: among all contacts that touch and
neither approach nor separate, the Coulomb problem tells which stay closed, which stick and which slip where to. What
has just ended is not chosen again: a contact that lets go is open, friction that was overcome slips against it.

`c` is a record of type `changing.MEMORY`, `m` that of the loop, `records.MEMORY`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ...constraints.thresholds import (
    ALMOST_STILL,
    AT_REST,
    NO_ACCELERATION,
    NO_REACTION,
    ON_CONE,
    ROUNDING,
    SOLVED,
    TOUCHING,
)
from .call import call, part, reals, record_of, solve_by, wholes
from .changing import (
    BOUND,
    CONTACT,
    EPS,
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
    add_multiple,
    evaluate,
    fill,
    from_z,
    gap_rounding,
    inner,
    place_residual,
    project_state,
    record,
    slip_rows,
    solve_mode,
    time_to_stop,
    write_rates,
)
from .contact_programs import SOLVE
from .contacts import BOUND as BOUNDED
from .contacts import CONE, FREE, NORMAL, problem
from .impact import PATH_NEWTON
from .records import MEMORY
from .step import copy_numbers
from .store import program

CAUSES = START, IMPACT, RELEASE, STICK, SLIP, IMPOSED, FREED, TOUCH, PARADOX = range(9)
"""Why a mode ended: the motion started, something struck, a reaction would have pulled, slip ended, friction was
overcome, a condition imposed rows or let them go, a gap closed without an impact, no mode was consistent."""

GOES_ON, CYCLES, CONTRADICTS, HAS_NO_MASS, UNSOLVED = range(5)
"""What comes of a transition: the motion goes on; too many at one instant; no mode and no impulse is consistent; the
mass matrix is singular; the impact could not be resolved."""

MOST_AT_ONE_TIME = 200
"""Transitions at one instant at most."""

GAP = 1e-10
"""Gap (m, rad) at which a contact counts as touching when another one changes: simultaneous contacts are."""

TASKS = CHANGE, FIRST, LIMIT = range(3)
"""End the mode and begin the next, begin the first one, shorten a step."""

NEARLY = 0.95
"""Part of the time to the end of a slip that a step may take."""

NOT_CLOSED, NOT_STUCK = 1, 2
"""What an element must not be chosen to do."""

machine = record_of(MEMORY)


@part
def resting_speed(c, i):
    """Speed (m/s, rad/s) below which the normal of element i is at rest: what it would do from there is lost in the
    rounding of its gap."""
    fall = max(0.0, -reals(c.drift)[wholes(c.first)[i]])
    return max(AT_REST, math.sqrt(32.0 * fall * gap_rounding(c, i, c.x)), 64.0 * EPS * abs(reals(c.x)[0]) * fall)


@part
def time_to_turn(c):
    """The shortest time (s) until a contact that separates has its greatest gap, 0 if none turns back: a first step
    must not pass over a whole bounce."""
    rate, drift, shortest = reals(c.rate), reals(c.drift), 0.0
    for i in range(c.elements):
        row = wholes(c.first)[i]
        if wholes(c.type)[i] != CONTACT or wholes(c.state)[i] != OPEN or not touches(c, i):
            continue
        if rate[row] > 0.0 and drift[row] < 0.0:
            time = -rate[row] / drift[row]
            if shortest == 0.0 or time < shortest:
                shortest = time
    return shortest


@part
def touches(c, i):
    """Whether element i can act: a contact without a gap, or a one-way rate at its bound."""
    kind, row = wholes(c.type)[i], wholes(c.first)[i]
    if kind == CONTACT:
        return wholes(c.state)[i] != OPEN or reals(c.phi)[row] <= GAP + 64.0 * gap_rounding(c, i, c.x)
    if kind == ONE_WAY:
        return reals(c.rate)[row] <= AT_REST
    return False


@part
def slip_speed(c, i):
    """Speed of the slip of element i, its direction into c.slip."""
    at, slips = slip_rows(c, i)
    rate, slip = reals(c.rate), reals(c.slip)
    slip[0], slip[1] = 1.0, 0.0
    if slips == 0:
        return 0.0
    one = rate[at]
    two = rate[at + 1] if slips == 2 else 0.0
    size = math.sqrt(one * one + two * two)
    if size > 0.0:
        slip[0], slip[1] = one / size, two / size
    return size


@part
def set_direction(c, i, one, two):
    """Let the slip of element i begin along (one, two), which need not be a unit vector."""
    began = reals(c.direction + 16 * i)
    size = math.sqrt(one * one + two * two)
    began[0], began[1] = one / size, two / size


@part
def turn_directions(c):
    """Take the directions of all slips anew: those of one body turn together."""
    for i in range(c.elements):
        if wholes(c.state)[i] == SLIPS and slip_speed(c, i) > AT_REST:
            set_direction(c, i, reals(c.slip)[0], reals(c.slip)[1])


@part
def largest_normal(c):
    """The largest normal reaction of contacts in this mode (N, N m)."""
    largest = 0.0
    for i in range(c.elements):
        if wholes(c.type)[i] == CONTACT and wholes(c.state)[i] != OPEN:
            largest = max(largest, reals(c.reaction)[wholes(c.first)[i]])
    return largest


@part
def slip_together(c, which):
    """Let the slip of the element `which` begin, and of all that are at the edge of their friction like it: where what
    each of them holds is not determined, none of them does."""
    reaction, law = reals(c.reaction), reals(c.law)
    for i in range(c.elements):
        at, slips = slip_rows(c, i)
        if wholes(c.state)[i] != STICKS or slips == 0:
            continue
        holds = law[i * LAWS + STATIC]
        holds *= law[i * LAWS + BOUND] if wholes(c.type)[i] == FRICTION else reaction[wholes(c.first)[i]]
        one, two = reaction[at], reaction[at + 1] if slips == 2 else 0.0
        if i == which or math.sqrt(one * one + two * two) >= (1.0 - ON_CONE) * holds > 0.0:
            wholes(c.state)[i] = SLIPS
            wholes(c.barred)[i] = NOT_STUCK
            set_direction(c, i, -one, -two)


@part
def end_mode(c, slot):
    """End what the function `slot` watched; returns the cause, START where it was no end."""
    i = slot // 2
    state, kind, barred = wholes(c.state), wholes(c.type), wholes(c.barred)
    if slot % 2 == 0 and (kind[i] == SWITCHED or kind[i] == FRICTION):
        return IMPOSED if state[i] == OPEN else FREED
    if slot % 2 == 0:
        if state[i] == OPEN:
            return TOUCH
        state[i] = OPEN
        barred[i] = NOT_CLOSED
        return RELEASE
    if state[i] == SLIPS:
        if slip_speed(c, i) > AT_REST:
            turn_directions(c)
            return START
        state[i] = STICKS
        return STICK
    reaction = reals(c.reaction)
    if kind[i] == CONTACT and reaction[wholes(c.first)[i]] <= ON_CONE * largest_normal(c):
        state[i] = OPEN  # normal reaction and friction vanish together
        barred[i] = NOT_CLOSED
        return RELEASE
    slip_together(c, i)
    return SLIP


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
def set_matrix(c, size):
    """W of the contact problem: what a unit of each reaction does to each row."""
    w, row = reals(c.solver_w), wholes(c.solver_row)
    for i in range(size):
        for j in range(size):
            w[i * size + j] = inner(c.n, c.rows_z + 8 * row[i] * c.n, c.columns + 8 * j * c.n)


@part
def solve_problem(c, task, count, size, given):
    """Solve the contact problem, or resolve the impact, with the accelerations or velocities at the address `given`."""
    fill(size, 0.0, c.solver_r)
    contacts = (c.solver_first, c.solver_rows, c.solver_type, c.solver_mu, c.solver_e)
    c.residual = solve_by(c.solver, task, count, *contacts, size, c.solver_w, given, c.solver_r, c.solver_work)


@part
def is_impact(c, imposed):
    """Whether some contact approaches, or the rows of the element `imposed` have a rate."""
    rate = reals(c.rate)
    for i in range(c.elements):
        if touches(c, i) and rate[wholes(c.first)[i]] < -resting_speed(c, i):
            return True
    if imposed >= 0 and wholes(c.type)[imposed] == SWITCHED:
        for r in range(wholes(c.length)[imposed]):
            if rate[wholes(c.first)[imposed] + r] != 0.0:
                return True
    return False


@part
def strike(c, law):
    """Resolve the impact of everything that touches or is held: speeds in c.x, impulses added to c.impulse. Returns the
    energy it takes (J, negative: lost), nan where it could not be resolved."""
    n = c.n
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
    row, v, p, impulse = wholes(c.solver_row), reals(c.solver_v), reals(c.solver_r), reals(c.impulse)
    for i in range(size):
        v[i] = reals(c.rate)[row[i]]
    if law == PATH_NEWTON:  # no collision: what touches neither approaches nor separates
        for k in range(count):
            if wholes(c.solver_type)[k] != FREE:
                v[wholes(c.solver_first)[k]] = 0.0
    solve_problem(c, law, count, size, c.solver_v)
    if not c.residual <= SOLVED:
        return math.nan
    fill(n, 0.0, c.z_other)
    energy = 0.0
    for i in range(size):
        impulse[row[i]] += p[i]
        energy += p[i] * inner(n, c.a + 8 * row[i] * n, c.x + c.u_start)
        add_multiple(n, c.z_other, p[i], c.columns + 8 * i * n)
    energy += 0.5 * inner(n, c.z_other, c.z_other)
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
        if slip_rows(c, i)[1] > 0 and slip_speed(c, i) > AT_REST:
            set_direction(c, i, reals(c.slip)[0], reals(c.slip)[1])
            state[i] = SLIPS
        else:
            state[i] = STICKS


@part
def add_choice(c, count, size, i):
    """Add to the contact problem in accelerations what element i leaves to choose; known friction goes to c.z_other."""
    n, state, kind, law = c.n, wholes(c.state)[i], wholes(c.type)[i], reals(c.law + 8 * i * LAWS)
    at, slips = slip_rows(c, i)
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
    acted_on, size_of_friction = c.z_other, law[KINETIC]
    if kind == FRICTION:
        size_of_friction *= law[BOUND]
    else:
        count, size = add_to_problem(c, count, size, i, 1, NORMAL)
        acted_on = c.columns + 8 * (size - 1) * n
    for s in range(slips):
        along = -size_of_friction * reals(c.direction)[2 * i + s]
        add_multiple(n, acted_on, along, c.rows_z + 8 * (at + s) * n)
    return count, size


@part
def take_choice(c, count, size, small):
    """The mode that a solution of the contact problem in accelerations says; below `small` an acceleration is none."""
    state, kind, w, b, r = wholes(c.state), wholes(c.type), reals(c.solver_w), reals(c.solver_b), reals(c.solver_r)
    for k in range(count):
        i, first, rows = wholes(c.solver_element)[k], wholes(c.solver_first)[k], wholes(c.solver_rows)[k]
        for s in range(first, first + rows):
            total = b[s]
            for j in range(size):
                total += w[s * size + j] * r[j]
            reals(c.solver_v)[s] = total
        a = reals(c.solver_v + 8 * first)
        if kind[i] == SWITCHED:
            continue
        lead = 0 if kind[i] == FRICTION else 1
        if lead == 1 and a[0] > small:
            state[i] = OPEN
        elif state[i] == STICKS and rows > lead:
            one, two = a[lead], a[rows - 1] if rows > lead + 1 else 0.0
            if math.sqrt(one * one + two * two) > small:
                set_direction(c, i, one, two)
                state[i] = SLIPS


@part
def is_held(c):
    """Whether the reactions of the mode can keep what is closed closed and what sticks at rest."""
    state, kind, reaction, law = wholes(c.state), wholes(c.type), reals(c.reaction), reals(c.law)
    solve_mode(c)
    least = -ROUNDING * largest_normal(c)
    for i in range(c.elements):
        if state[i] == OPEN or kind[i] == SWITCHED:
            continue
        normal = law[i * LAWS + BOUND]
        if kind[i] != FRICTION:
            normal = reaction[wholes(c.first)[i]]
            if normal < least:
                return False
        at, slips = slip_rows(c, i)
        if state[i] == STICKS and slips > 0:
            one, two = reaction[at], reaction[at + 1] if slips == 2 else 0.0
            if math.sqrt(one * one + two * two) > (1.0 + ROUNDING) * law[i * LAWS + STATIC] * normal:
                return False
    return True


@part
def choose_mode(c):
    """The mode that goes on from these speeds, by the Coulomb problem in accelerations. False where there is none."""
    n, row, b = c.n, wholes(c.solver_row), reals(c.solver_b)
    count, size = 0, 0
    fill(n, 0.0, c.z_other)
    for i in range(c.elements):
        count, size = add_choice(c, count, size, i)
    if count == 0:
        return True
    set_matrix(c, size)
    largest = 0.0
    for i in range(size):
        b[i] = reals(c.drift)[row[i]] + inner(n, c.rows_z + 8 * row[i] * n, c.z_other)
        largest = max(largest, abs(b[i]))
    solve_problem(c, SOLVE, count, size, c.solver_b)
    c.possible = problem(c.solver_work).solutions
    if not c.residual <= SOLVED:
        return False
    take_choice(c, count, size, max(ALMOST_STILL * largest, NO_ACCELERATION))
    if not is_held(c):
        take_choice(c, count, size, max(ON_CONE * largest, NO_ACCELERATION))
    return True


@part
def note(c, t, cause, which, energy):
    """Remember a transition."""
    n, k = c.n, c.count
    reals(c.at)[k] = t
    reals(c.energy)[k] = energy
    wholes(c.cause)[k] = cause
    wholes(c.which)[k] = which
    wholes(c.choices)[k] = c.possible
    copy_numbers(c.rows, c.impulse, c.impulses + 8 * k * c.rows)
    copy_numbers(n, c.before, c.speeds + 16 * k * n)
    copy_numbers(n, c.x + c.u_start, c.speeds + 16 * k * n + 8 * n)
    copy_numbers(2 * c.elements, c.direction, c.directions + 16 * k * c.elements)
    for i in range(c.elements):
        wholes(c.states_after)[k * c.elements + i] = wholes(c.state)[i]
    c.count += 1


@part
def impose(c, i, t):
    """Let the rows of a switched constraint hold from now on, where they are."""
    wholes(c.state)[i] = STICKS
    reals(c.imposed)[i] = t
    if c.holonomic > 0:
        place_residual(c)
        for r in range(wholes(c.length)[i]):
            row = wholes(c.first)[i] + r
            if wholes(c.place_of)[row] >= 0:
                phi = reals(c.place_phi)[wholes(c.place_of)[row]]
                reals(c.offset)[row] = 0.0 if abs(phi) <= TOUCHING else phi


@part
def read_state(m, c):
    """The state of the loop and its inputs to c.x, speeds to c.before; sides of the events are taken anew."""
    reals(c.x)[0] = m.t
    copy_numbers(m.n, m.y, c.x + 8)
    copy_numbers(c.inputs - 1 - m.n, m.x + 8 * (1 + m.n), c.x + 8 * (1 + m.n))
    copy_numbers(c.n, c.x + c.u_start, c.before)
    fill(c.rows, 0.0, c.impulse)
    for i in range(c.elements):
        wholes(c.barred)[i] = 0
        wholes(m.g_sign)[2 * i] = 0
        wholes(m.g_sign)[2 * i + 1] = 0


@part
def switch(c, cause, which, t):
    """Impose rows, or let them go, if that is the cause; returns the element that was imposed, −1 for none."""
    if cause == IMPOSED:
        impose(c, which, t)
        return which
    if cause == FREED:
        wholes(c.state)[which] = OPEN
    return np.int64(-1)


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
def write_state(m, c, energy, at_start):
    """Give the loop the state in c.x, from which it starts anew."""
    set_slack(c)
    first_step = time_to_turn(c)
    project_state(c, 0.0)
    copy_numbers(c.states, c.x + c.q_start, m.y)
    reals(m.y)[c.states - 1] += energy
    if m.requested == 0 and not at_start:
        reals(m.out_t)[m.stored] = m.t
        copy_numbers(m.n, m.y, m.out_y + 8 * m.stored * m.n)
        m.stored += 1
    m.fresh, m.proven, m.tries, m.h, m.error = 1, 0, 0, -first_step, 1e-4
    if m.fixed:
        m.h, m.origin, m.grid = m.fixed_step, m.t, 0
    m.segment_start, m.limited = m.steps, 0
    for i in range(c.elements):
        if wholes(c.state)[i] == SLIPS and slip_rows(c, i)[1] == 2:
            m.limited = 1


@part
def strike_and_choose(c, cause, imposed):
    """(what comes of it, cause, energy): impacts, and the mode that goes on after them."""
    energy = 0.0
    if is_impact(c, imposed):
        energy = strike(c, c.impact_law)
        if energy != energy:
            return UNSOLVED, cause, energy
        cause = cause if cause == IMPOSED else IMPACT
        evaluate(c, c.x)
    sort_by_rates(c)
    if not choose_mode(c):
        lost = strike(c, PATH_NEWTON)
        cause = PARADOX
        if lost != lost:
            return CONTRADICTS, cause, energy
        energy += lost
        evaluate(c, c.x)
        sort_by_rates(c)
        if not choose_mode(c):
            return CONTRADICTS, cause, energy
    return GOES_ON, cause, energy


@part
def change_mode(m, c, at_start):
    """End the mode at the state of the loop and begin the next; says whether the motion goes on."""
    read_state(m, c)
    if c.fixed_laws and at_start:
        call(c.laws, c.x, c.law)
    if not evaluate(c, c.x):
        return HAS_NO_MASS
    c.possible = -1
    cause, which = START, np.int64(-1)
    if not at_start:
        which = m.stopped_by // 2
        copy_numbers(c.n, c.z, c.z_free)  # free of reactions, which the choice starts from again
        solve_mode(c)
        copy_numbers(c.n, c.z_free, c.z)
        cause = end_mode(c, m.stopped_by)
        if cause == START:
            m.fresh = 1
            return GOES_ON
    result, cause, energy = strike_and_choose(c, cause, switch(c, cause, which, m.t))
    if result != GOES_ON:
        return result
    write_state(m, c, energy, at_start)
    c.same_time = c.same_time + 1 if m.t - c.last_t <= 4.0 * EPS * abs(m.t) and not at_start else 0
    c.last_t = m.t
    note(c, m.t, cause, which, energy)
    m.transitions = c.count
    return CYCLES if c.same_time > MOST_AT_ONE_TIME else GOES_ON


@part
def limit_step(m, c):
    """Shorten the next step so that it does not reach the place where a slip in a plane stops."""
    reals(m.x)[0] = m.t
    copy_numbers(m.n, m.y, m.x + 8)
    write_rates(c, m.x, c.y)
    most = time_to_stop(c)
    if most > 0.0:
        m.h = min(m.h, max(NEARLY * most, 64.0 * EPS * abs(m.t)))
    return GOES_ON


@program(types.int64(types.int64, types.int64, types.int64))
def transition_program(loop_memory, memory, task):
    """Do one of the tasks for the motion in the memory of a loop."""
    if task == LIMIT:
        return limit_step(machine(loop_memory), record(memory))
    return change_mode(machine(loop_memory), record(memory), task == FIRST)
