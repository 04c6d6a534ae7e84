"""The loop of time stepping: one step after another, what becomes of the constraints in it, and where it ends.

The scheme and its contact problem are in `stepping_problem`, whose notation this module shares; memory and the motion
without contacts are in `stepping_motion`.
"""

from __future__ import annotations

import numpy as np

from ...constraints.thresholds import AT_REST, EXACT, TOUCHING
from .call import call, part, reals, wholes
from .changing_record import (
    CONTACT,
    FREED,
    FRICTION,
    GOES_ON,
    HAS_NO_MASS,
    IMPACT,
    IMPOSED,
    NO_CONDITION,
    OPEN,
    OVERLAPS,
    RELEASE,
    SLIP,
    SLIPS,
    START,
    STICK,
    STICKS,
    SWITCHED,
    TOUCH,
    UNSOLVED_STEP,
    record,
)
from .coulomb import SETTLED
from .explicit import next_end
from .mass_metric import add_multiple, fill, free_of_basis, to_z
from .mode_ends import condition_ahead
from .mode_forces import permanent_reactions
from .mode_projection import close_places, close_rates, place_residual
from .records import EVENT as STOPPED
from .records import FULL, NO_MODE, NOT_FINITE, REACHED, RUNNING
from .slips import set_direction, slip_rows, slip_speed
from .step import all_finite, copy_numbers, event_signs, find_events, finish, has_room
from .stepping_motion import correct_free_speeds, look_at, set_free_speeds, stepping
from .stepping_problem import PENETRATES, ROUNDS, find_impulses, may_close, set_rates, slips_at, smallest_slip
from .stepping_work import has_step_room, keep_impulses, set_impulse_work, shift_work, step_work
from .store import loop
from .transition_record import impose, note

CORRECTIONS = 5
"""How often accelerations are corrected for what contacts make of the motion. Gyroscopic terms do no work along the
speeds that they are those of, and else they add energy, of second order."""


# -- what has become of the constraints ----------------------------------------------------------------------------


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
def take_over_solution(c, s):
    """Impulses of the contact problem to s.impulse, and rates of all rows after them to s.final_rate."""
    set_rates(c, s, s.after, s.final_rate, 1)
    fill(c.rows, 0.0, s.impulse)
    for i in range(s.size):
        reals(s.impulse)[wholes(c.solver_row)[i]] = reals(c.solver_r)[i]


@part
def state_after(c, s, i, small):
    """What the element i does after the step by what the contact problem says, and the direction of its slip to
    c.direction. Speeds up to `small` are none."""
    first, state = wholes(c.first)[i], wholes(c.state)[i]
    final = reals(s.final_rate)
    if wholes(c.type)[i] == SWITCHED or (wholes(c.type)[i] == FRICTION and state == OPEN):
        return state
    struck = reals(s.impulse)[first] > 0.0
    if wholes(c.type)[i] != FRICTION and (not struck or final[first] > small):
        return np.int64(OPEN)
    if not slips_at(c, s, i, small):
        return np.int64(STICKS)
    at, slips = slip_rows(c, i)
    set_direction(c, i, final[at], final[at + 1] if slips == 2 else 0.0)
    return np.int64(SLIPS)


@part
def note_changes(c, s, t):
    """Take over what the contact problem says of every element, and remember what has changed."""
    state, kind = wholes(c.state), wholes(c.type)
    take_over_solution(c, s)
    fill(c.rows, 0.0, c.impulse)
    small = smallest_slip(c, s)
    for i in range(c.elements):
        first, length = wholes(c.first)[i], wholes(c.length)[i]
        before, after = state[i], state_after(c, s, i, small)
        struck = kind[i] == CONTACT and reals(s.impulse)[first] > 0.0
        cause = cause_of_change(c, s, i, before, after, struck)
        state[i] = after
        if cause == START:
            continue
        copy_numbers(length, s.impulse + 8 * first, c.impulse + 8 * first)
        added = energy_of(c, s, i)
        if cause not in (IMPACT, TOUCH):
            fill(length, 0.0, c.impulse + 8 * first)
        c.law_used = c.impact_law if cause == IMPACT else -1
        note(c, t, cause, i, added if cause == IMPACT else 0.0)
        fill(length, 0.0, c.impulse + 8 * first)


# -- motion along the speeds ---------------------------------------------------------------------------------------


@part
def touch_blocks(c, s, row):
    """Mark the blocks of M that a row moves; whether one was not."""
    a, block, touched, more = reals(c.a + 8 * row * c.n), wholes(c.block), wholes(s.touched), False
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
    touched, block, moving = wholes(s.touched), wholes(c.block), reals(s.moving)
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
            if may_close(c, i) and reals(c.phi)[row] + h * reals(s.final_rate)[row] < PENETRATES:
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
        if contacts and may_close(c, i):
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
    fill(c.n, 0.0, s.shift)
    if not look_at(c, s):
        return False
    for _ in range(ROUNDS):
        held = c.holonomic > 0 and hold_rows(c, s, 1)
        if held:
            residual = place_residual(c)
            held = residual > EXACT
            if held:
                close_places(c, residual, EXACT)
                add_multiple(c.n, s.shift, 1.0, c.shifted)
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
    deepest = 0.0
    for i in range(c.elements):
        if may_close(c, i):
            deepest = min(deepest, reals(c.phi)[wholes(c.first)[i]])
    return deepest < PENETRATES


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
            to_z(c, c.a + 8 * i * c.n, c.rows_z + 8 * i * c.n)
            free_of_basis(c, c.rank, c.rows_z + 8 * i * c.n)
            add_multiple(c.n, c.z, reaction[i], c.rows_z + 8 * i * c.n)
        permanent_reactions(c)
    copy_numbers(c.inputs, c.x, c.x_watch)
    copy_numbers(c.rows, c.reaction, c.x_watch + 8 * c.inputs)


@part
def let_slip(c, i):
    """Let an element that holds slip where it has a speed."""
    if wholes(c.state)[i] == STICKS and slip_speed(c, i) > AT_REST:
        wholes(c.state)[i] = SLIPS
        set_direction(c, i, reals(c.slip)[0], reals(c.slip)[1])


@part
def switch(c, i, t):
    """Impose the element i, or let it go, and remember that."""
    fill(c.rows, 0.0, c.impulse)
    copy_numbers(c.n, c.x + c.u_start, c.before)
    if wholes(c.present)[i]:
        wholes(c.state)[i], wholes(c.present)[i] = OPEN, 0
        note(c, t, FREED, i, 0.0)
    else:
        impose(c, i, t)
        let_slip(c, i)
        note(c, t, IMPOSED, i, 0.0)


@part
def overlaps(c, i, h):
    """Whether the contact i, which has just come into force, was closed too far before the step of length h."""
    row = wholes(c.first)[i]
    closing = max(0.0, -reals(c.rate)[row])
    return may_close(c, i) and reals(c.phi)[row] + h * closing < -TOUCHING


@part
def switch_by_conditions(c, s, t, h, at_start):
    """Impose or release what its condition says at the end of a step; what comes of it, 0 if it is good. What has come
    into force and may not stay so is let go at once, and what penetrates since the beginning of the step is moved
    apart."""
    ahead, imposed = reals(s.ahead), False
    if c.conditions != 0:
        set_reactions(c, s, h)
        call(c.conditions, c.x_watch, c.condition)
    for i in range(c.elements):
        if not (wholes(c.has_when)[i] or wholes(c.has_until)[i] or wholes(c.has_duration)[i]):
            continue
        now = condition_ahead(c, i, t)
        if now != now:
            c.culprit = i
            return NO_CONDITION
        if at_start:
            ahead[i] = 1.0 if wholes(c.present)[i] else now
        for _ in range(2):
            if not (ahead[i] > 0.0 and now <= 0.0):
                break
            switch(c, i, t)
            now = condition_ahead(c, i, t)
            ahead[i] = 1.0 if wholes(c.present)[i] else now
            imposed = imposed or wholes(c.present)[i] != 0
            if overlaps(c, i, h):
                c.culprit = i
                return OVERLAPS
        ahead[i] = now
    if imposed and penetrates(c) and not repair_state(c, s):
        return HAS_NO_MASS
    return GOES_ON


# -- the loop ------------------------------------------------------------------------------------------------------


@part
def read_inputs(m, c):
    """The state of the loop and its inputs to c.x."""
    reals(c.x)[0] = m.t
    copy_numbers(m.n, m.y, c.x + 8)
    copy_numbers(c.inputs - 1 - m.n, m.x + 8 * (1 + m.n), c.x + 8 * (1 + m.n))


@part
def solve_impulses(c, s, h):
    """Impulses of a step of length h, the speeds after it, and those that it moves with; what comes of it, 0 if it is
    good."""
    if not set_free_speeds(c, s, h):
        return HAS_NO_MASS
    if s.last_h > 0.0 and s.last_h != h:
        add_multiple(c.rows, s.impulse, h / s.last_h - 1.0, s.impulse)
    s.last_h = h
    for corrections in range(CORRECTIONS + 1):
        if corrections > 0 and not (s.bends and s.size > 0 and correct_free_speeds(c, s, h)):
            break
        if not find_impulses(c, s, h):
            return UNSOLVED_STEP
        set_impulse_work(c, s)
        set_moving_speeds(c, s, h)
    return GOES_ON


@part
def set_first_mode(c, s, h):
    """Let what holds at the start and has no speed do what a step of length h makes of it, in the transitions of the
    start too; what comes of it."""
    state = wholes(c.state)
    if not look_at(c, s):
        return HAS_NO_MASS
    fault = solve_impulses(c, s, h)
    if fault != GOES_ON:
        return fault
    take_over_solution(c, s)
    small = smallest_slip(c, s)
    for i in range(c.elements):
        after = state_after(c, s, i, small)
        if state[i] == OPEN or (state[i] == SLIPS and after != OPEN):
            continue
        state[i] = after
        for k in range(c.count):
            wholes(c.states_after)[k * c.elements + i] = state[i]
            copy_numbers(2, c.direction + 16 * i, c.directions + 16 * (k * c.elements + i))
    return GOES_ON


@part
def start_stepping(m, c, s, h):
    """The state at the start moved onto what holds, and the first entry of the transitions, with the mode that a step
    of length h begins in; what comes of it."""
    read_inputs(m, c)
    if c.fixed_laws:
        call(c.laws, c.x, c.law)
    fill(c.rows, 0.0, c.impulse)
    copy_numbers(c.n, c.x + c.u_start, c.before)
    if not look_at(c, s):
        return HAS_NO_MASS
    for i in range(c.elements):
        row = wholes(c.first)[i]
        closed = reals(c.phi)[row] <= TOUCHING and abs(reals(c.rate)[row]) <= AT_REST
        if wholes(c.type)[i] == CONTACT and closed and wholes(c.present)[i]:
            wholes(c.state)[i] = STICKS
    if c.permanent > 0 or s.switches:
        repair_state(c, s)
    for i in range(c.elements):
        let_slip(c, i)
    c.possible = -1
    note(c, m.t, START, np.int64(-1), 0.0)
    fault = switch_by_conditions(c, s, m.t, 0.0, 1)
    if fault == GOES_ON:
        fault = set_first_mode(c, s, h)
    copy_numbers(c.states, c.x + c.q_start, m.y)
    s.current = 0
    m.transitions = c.count
    return fault


@part
def note_residual(c, s, t):
    """Remember how well the contact problem of the step to t is solved."""
    if c.residual > SETTLED:
        s.rough += 1
    if c.residual > s.worst:
        s.worst, s.worst_t = c.residual, t


@part
def take_step(m, c, s, t_new, h):
    """One step of length h: the state at its end to m.y_new. What comes of it, 0 if it is good."""
    read_inputs(m, c)
    if (m.fresh or not s.current) and not look_at(c, s):
        return HAS_NO_MASS
    m.fresh = 0
    copy_numbers(c.n, c.x + c.u_start, c.before)
    fault = solve_impulses(c, s, h)
    if fault != GOES_ON:
        return fault
    note_residual(c, s, t_new)
    work = reals(m.y)[c.states - 1] + step_work(c, s, h)
    count = c.count
    note_changes(c, s, t_new)
    if s.keeps:
        keep_impulses(c, s)
    move(c, s, m.t, h)
    reals(c.x)[0] = t_new
    if not repair_state(c, s):
        return HAS_NO_MASS
    work += shift_work(c, s)
    for k in range(count, c.count):
        copy_numbers(c.n, c.x + c.u_start, c.speeds + 16 * k * c.n + 8 * c.n)
    fault = switch_by_conditions(c, s, t_new, h, 0) if s.switches else GOES_ON
    copy_numbers(c.states, c.x + c.q_start, m.y_new)
    reals(m.y_new)[c.states - 1] = work
    m.transitions = c.count
    m.evaluations += 1
    return fault


@part
def set_line(m):
    """The line from the beginning of the step to its end, for output and events between them."""
    y, y_new, dense = reals(m.y), reals(m.y_new), reals(m.dense)
    for i in range(m.n):
        dense[i] = y_new[i] - y[i]


@part
def continue_steps(m, budget):
    """Continue the motion by up to `budget` steps; returns why it came back."""
    s = stepping(m.transition_memory)
    c = record(s.changing)
    if m.steps == 0 and c.count == 0:
        m.transition_fault = start_stepping(m, c, s, m.h)
        if m.transition_fault != 0:
            return NO_MODE
        if m.stored == 1:
            copy_numbers(m.n, m.y, m.out_y)
    if m.fresh and m.events > 0:
        event_signs(m)
    for _ in range(budget):
        if m.t == m.t_end:
            return REACHED
        if not has_room(m) or c.count + 2 * c.elements >= c.room or not has_step_room(c, s):
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


@loop
def stepping_loop(memory, budget):
    """Continue the motion in `memory` by up to `budget` steps; returns why it came back."""
    return continue_steps(memory[0], budget)
