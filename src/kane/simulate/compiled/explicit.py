"""One stepper for every explicit Runge-Kutta method: fixed step, or a step that follows the tolerance.

Step control is proportional-integral [HNW93, II.4]. A first step is proven before it is believed: it is compared with
two steps of half its length, so a start from rest, where derivatives mislead both the guess of the step and the error
estimate, costs two more steps instead of the truth of the result.
"""

from __future__ import annotations

import math

import numpy as np

from .call import call_with, inline_part, part, reals, wholes
from .records import EVENT, FULL, LOOK, NO_CONVERGENCE, NO_MODE, NOT_FINITE, REACHED, RUNNING, SMALL_STEP, STIFF
from .step import (
    EPS,
    all_finite,
    changes_mode,
    copy_numbers,
    event_signs,
    find_events,
    finish,
    has_room,
    jams,
    limit_step,
    set_inputs,
    wants_dense_output,
)
from .store import loop

SAFETY = 0.9
SHRINK, GROW = 0.2, 10.0
INTEGRAL = 0.2
"""Weight of the error before, relative to that of the present one."""

BLIND_ERROR, BLIND_STEP = 1e-10, 0.01
"""An error this far below the tolerance says nothing about the next step, which then takes at most this part of the
span: a motion at rest must not be stepped over in one stride."""

TRUSTED = 0.1
"""Of two error estimates the better one counts at least this part where errors are judged after projection: raising its
order would hide the noise of accelerations near a singular position, which no shorter step takes away."""

NOISY, TRIES, DITHER = 0.05, 12, 0.93
"""An error that a step much shorter has not brought down to this part is noise: then as many more steps are tried, each
this part of the one before, and the best of them is taken. Shorter ones would end in the midst of what makes the noise,
where a long step passes it."""

HIDDEN_JUMP = 0.1
"""A projection that moves a state by more than this part of what the step moved it hides a jump. Motions that pass
singular positions need 1e-5 at most, whatever the tolerance."""

PAST = 10.0
"""How many of the shortest steps a leap takes: more than the last attempt that was rejected, so that it is beyond."""

LEAP = 1e3
"""A state that is moved this many times as far as its rates say, by a lapse of time alone, is moved by a jump of the
constraints in time."""

SIGNS, CLEAR = 15, 6
"""So many signs of stiffness are stiffness, unless there are as many steps free of them in a row before."""

QUIET = 1e-3
"""Two states closer to each other than this, in tolerances, differ by rounding, which tells no λ."""

FIRST = np.int64(1)
"""The first row of a tableau that has entries. For a plain constant numba would compile `stages` once more."""

FIRST_STEP = 0.1
"""The first step takes at most this part of the span."""


@inline_part
def combine(n, width, start, column, value, k, row, factor, target):
    """target[:n] = factor * (the entries of `row` times the stages k), where `row` has at least one entry."""
    at, stop = start[row], start[row + 1]
    left = (stop - at) % 4
    if left == 0:
        left = 4
    v, a = factor * value[at], column[at] * width
    if left == 1:
        for i in range(n):
            target[i] = v * k[a + i]
    else:
        w, b = factor * value[at + 1], column[at + 1] * width
        if left == 2:
            for i in range(n):
                target[i] = v * k[a + i] + w * k[b + i]
        else:
            x, c = factor * value[at + 2], column[at + 2] * width
            z, d = (factor * value[at + 3], column[at + 3] * width) if left == 4 else (0.0, c)
            for i in range(n):
                target[i] = (v * k[a + i] + w * k[b + i]) + (x * k[c + i] + z * k[d + i])
    for at in range(start[row] + left, stop, 4):
        v, a = factor * value[at], column[at] * width
        w, b = factor * value[at + 1], column[at + 1] * width
        x, c = factor * value[at + 2], column[at + 2] * width
        z, d = factor * value[at + 3], column[at + 3] * width
        for i in range(n):
            target[i] += (v * k[a + i] + w * k[b + i]) + (x * k[c + i] + z * k[d + i])


@part
def distance(m, scale, a, b, size):
    """Root mean square of a - scale * b in units of the tolerance at states of the size of `size`; addresses."""
    n = m.n
    x, y, big, atol = reals(a), reals(b), reals(size), reals(m.atol)
    total = 0.0
    for i in range(n):
        part = (x[i] - scale * y[i]) / (atol[i] + m.rtol * abs(big[i]))
        total += part * part
    return math.sqrt(total / n)


@part
def projection_jumps(m, y):
    """Whether projection moved the step from the address y, whose result is in m.x, more than it may, to y_new.

    A step that keeps to the constraints leaves projection its error, and a shorter one far less. Where a contact ends
    or a linkage is fully extended, what is taken away does not fall with the step: there is no motion beyond.
    """
    moved = distance(m, 1.0, m.y_new, m.x + 8, y)
    return moved > 1.0 and moved > HIDDEN_JUMP * distance(m, 1.0, m.x + 8, y, y)


@part
def shortest_step(m):
    """The length below which a step is lost in the rounding of t, or hopeless in view of the span."""
    return max(10.0 * EPS * abs(m.t), 1e-24 * m.span)


@part
def leap_over_jump(m):
    """Whether the constraints jump by themselves within the shortest of steps; then that is m.h, the state moved to
    where they are afterwards is in y_new, and the motion starts anew from there."""
    if not m.jumped:
        return False
    m.h = min(PAST * shortest_step(m), abs(m.t_end - m.t))
    set_inputs(m, m.t + m.sign * m.h, m.y)
    call_with(m.project, m.project_memory, m.x, m.y_new)
    moved = distance(m, 1.0, m.y_new, m.y, m.y)
    if not (moved > 1.0 and moved > LEAP * m.h * distance(m, 0.0, m.f, m.f, m.y)):
        return False
    n = m.n
    y, y_new, dense = reals(m.y), reals(m.y_new), reals(m.dense)
    for i in range((3 + m.dense_rows) * n):
        dense[i] = y_new[i] - y[i] if i < n else 0.0
    m.fresh, m.jumped = 1, 0
    return True


@part
def stages(m, first, last, y, t, t_new, h):
    """Rows first..last of the tableau from the state at the address y: stages in k, result, projected, in y_new."""
    n, width = m.n, m.width
    k, x, base, c = reals(m.k), reals(m.x + 8), reals(y), reals(m.c)
    start, column, value = wholes(m.a_start), wholes(m.a_column), reals(m.a_value)
    for s in range(first, last + 1):
        combine(n, width, start, column, value, k, s, h, x)
        for i in range(n):
            x[i] += base[i]
        time = t + c[s] * h
        if s == m.stages:
            time = t_new
            if m.project != 0:
                reals(m.x)[0] = time
                call_with(m.project, m.project_memory, m.x, m.y_new)
                m.jumped = 1 if m.project_error and projection_jumps(m, y) else 0
                copy_numbers(n, m.y_new, m.x + 8)
            else:
                copy_numbers(n, m.x + 8, m.y_new)
        reals(m.x)[0] = time
        call_with(m.rhs, m.rhs_memory, m.x, m.k + 8 * s * width)
    m.evaluations += last + 1 - first


@part
def attempt(m, t, t_new, h, prove):
    """One step in y_new and k; if `prove`, first the same by two half steps, in scratch.

    The derivative at y is the first stage: f and the first row of k are the same memory, save for the second half step.
    """
    end = m.k + 8 * m.stages * m.width
    if prove:
        copy_numbers(m.n, m.f, m.saved)
    for trial in range(0 if prove else 2, 3):
        start, stop, length = t, t_new, h
        if trial < 2:
            length = 0.5 * h
            start = t + trial * length
            stop = start + length
        if trial == 1:
            copy_numbers(m.n, end, m.k)
        stages(m, FIRST, m.stages, m.y_new if trial == 1 else m.y, start, stop, length)
        if trial == 1:
            copy_numbers(m.n, m.y_new, m.scratch)
            copy_numbers(m.n, m.saved, m.k)


@part
def dense_rows(m, t, t_new, h):
    """Complete the stages that only dense output needs and set the dense rows of this step."""
    n, width = m.n, m.width
    if m.rows > m.stages + 1:
        stages(m, m.stages + 1, m.rows - 1, m.y, t, t_new, h)
    y, y_new, f, f_new = reals(m.y), reals(m.y_new), reals(m.f), reals(m.k + 8 * m.stages * width)
    dense = reals(m.dense)
    for i in range(n):
        rise = y_new[i] - y[i]
        bend = h * f[i] - rise
        dense[i] = rise
        dense[n + i] = bend
        dense[2 * n + i] = rise - h * f_new[i] - bend
    start, column, value = wholes(m.dense_start), wholes(m.dense_column), reals(m.dense_value)
    for row in range(m.dense_rows):
        combine(n, width, start, column, value, reals(m.k), row, h, reals(m.dense + 8 * (3 + row) * n))


@part
def estimate_error(m, t_new, h):
    """Error of the step just taken in units of the tolerance.

    With two estimates e5, e3 the order of the better one is raised: |e5|^2 / sqrt(|e5|^2 + 0.01 |e3|^2)
    [HNW93, II.10]. Where the state is projected onto constraints, what the projection takes away is no error.
    """
    n = m.n
    x, y, y_new, atol = reals(m.x + 8), reals(m.y), reals(m.y_new), reals(m.atol)
    start, column, value = wholes(m.error_start), wholes(m.error_column), reals(m.error_value)
    better, worse = 0.0, 0.0
    for row in range(m.error_rows):
        combine(n, m.width, start, column, value, reals(m.k), row, h, x)
        if m.project_error:
            remove_drift(m, t_new)
        total = 0.0
        for i in range(n):
            part = x[i] / (atol[i] + m.rtol * max(abs(y[i]), abs(y_new[i])))
            total += part * part
        better, worse = (total, worse) if row == 0 else (better, total)
    return combine_errors(m, better, worse)


@part
def combine_errors(m, better, worse):
    """One error of the sums of squares of one or two estimates."""
    n = m.n
    if m.error_rows == 1:
        return math.sqrt(better / n)
    if better == 0.0:
        return 0.0
    raised = better / math.sqrt((better + 0.01 * worse) * n)
    return max(raised, TRUSTED * math.sqrt(better / n)) if m.project_error else raised


@part
def remove_drift(m, t_new):
    """Make of the error in m.x the difference of two projected states: y_new and y_new less the error."""
    n = m.n
    x, y_new, other = reals(m.x + 8), reals(m.y_new), reals(m.other)
    for i in range(n):
        x[i] = y_new[i] - x[i]
    reals(m.x)[0] = t_new
    call_with(m.project, m.project_memory, m.x, m.other)
    for i in range(n):
        x[i] = y_new[i] - other[i]


@part
def first_step(m, order):
    """A guess of the first step from the state, its derivative and the change of that [HNW93, II.4].

    Uses the second row of k as scratch: a derivative a small step ahead.
    """
    n = m.n
    ahead = m.k + 8 * m.width
    size = distance(m, 0.0, m.y, m.y, m.y)
    slope = distance(m, 0.0, m.f, m.f, m.y)
    h = 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
    h = min(h, FIRST_STEP * m.span)
    x, y, f = reals(m.x), reals(m.y), reals(m.f)
    x[0] = m.t + m.sign * h
    for i in range(n):
        x[1 + i] = y[i] + m.sign * h * f[i]
    call_with(m.rhs, m.rhs_memory, m.x, ahead)
    m.evaluations += 1
    bend = distance(m, 1.0, ahead, m.f, m.y) / h
    most = max(slope, bend)
    guess = max(1e-6, 1e-3 * h) if most <= 1e-15 else (0.01 / most) ** (1.0 / (order + 1))
    if not guess < 100.0 * h:
        guess = 100.0 * h
    return min(guess, FIRST_STEP * m.span, m.max_step)


@part
def prepare(m):
    """Derivative and event sides at a state or inputs set from outside, and a first step if there is none; −m.h > 0 is
    the longest that it may be.

    False if the derivative is not finite.
    """
    set_inputs(m, m.t, m.y)
    call_with(m.rhs, m.rhs_memory, m.x, m.f)
    m.evaluations += 1
    if m.events > 0:
        event_signs(m)
    m.fresh = 0
    if m.not_a_number or not all_finite(m.n, m.f):
        return False
    if m.h <= 0.0:
        most = -m.h
        m.h = first_step(m, m.error_order)
        if most > 0.0:
            m.h = min(m.h, most)
    return True


@part
def dither_step(m, used, error, shorter):
    """The length to try after a step of `used` that was rejected with `error`: `shorter`, unless the error is noise.

    m.tries is 0 before the first rejection, 1 after it, and counts on from there while lengths are tried near the first
    one; beyond TRIES the best of them is taken whatever its error.
    """
    if m.tries == 0 or error == math.inf:
        m.tries = 1
        m.noisy_h, m.noisy_error = used, error
        return shorter
    if m.tries == 1:
        if used > 0.7 * m.noisy_h or error < NOISY * m.noisy_error:
            m.noisy_h, m.noisy_error = used, error
            return shorter
        m.tried_h = m.noisy_h
    elif error < m.noisy_error:
        m.noisy_h, m.noisy_error = used, error
    m.tries += 1
    m.tried_h *= DITHER
    return m.noisy_h if m.tries > TRIES else m.tried_h


@part
def control_step(m, error):
    """Accept or reject a step of error `error` (in tolerances) and set the next length; True if accepted."""
    used = m.h
    exponent = 1.0 / (m.error_order + 1)
    if not error <= 1.0 and not (m.tries > TRIES and error < math.inf):
        shorter = used * max(SHRINK, SAFETY * error**-exponent)
        m.h = dither_step(m, used, error, shorter) if m.project_error else shorter
        m.rejected += 1
        m.rejected_last = 1
        return False
    if m.tries > TRIES:
        error = 1.0
    m.tries = 0
    factor = GROW
    if error > 0.0:
        beta = INTEGRAL * exponent
        factor = SAFETY * error ** (0.75 * beta - exponent) * max(m.error, 1e-4) ** beta
        factor = min(GROW, max(SHRINK, factor))
    if m.rejected_last:
        factor = min(1.0, factor)
    m.h = used * factor
    if error < BLIND_ERROR:
        m.h = min(m.h, max(used, BLIND_STEP * m.span))
    m.error = error
    m.rejected_last = 0
    return True


@part
def next_end(m):
    """(end of the next step, whether it is the end of the run), and m.h shortened to what is allowed."""
    if m.fixed:
        t_new = m.origin + m.sign * (m.grid + 1) * m.h
        if m.sign * (m.t_end - t_new) < 1e-9 * m.h:
            return m.t_end, True
        return t_new, False
    m.h = min(m.h, m.max_step)
    left = abs(m.t_end - m.t)
    if 1.01 * m.h >= left:
        m.h = left
        return m.t_end, True
    return m.t + m.sign * m.h, False


@part
def too_small(m, h, clipped):
    """Whether a step of length h is lost in the rounding of t, or hopeless in view of the span."""
    return (not clipped and abs(h) <= 10.0 * EPS * abs(m.t)) or abs(h) <= 1e-24 * m.span


@part
def accept_step(m, t_new, h, proposed, clipped):
    """Whether the attempted step is good; sets the length of the next attempt."""
    finite = all_finite(m.n, m.y_new)
    if m.fixed:
        return finite
    error = estimate_error(m, t_new, h)
    if not m.proven:
        error += distance(m, 1.0, m.scratch, m.y_new, m.y_new)
    finite = finite and all_finite(m.n, m.k + 8 * m.stages * m.width)
    return judge_step(m, error, finite, proposed, clipped)


@part
def judge_step(m, error, finite, proposed, clipped):
    """Whether a step of this error, in tolerances, is good; sets the length of the next attempt."""
    finite = finite and math.isfinite(error)
    m.not_finite = 0 if finite else 1
    if not control_step(m, error if finite and not m.jumped else math.inf):
        return False
    if clipped:
        m.h = max(m.h, proposed)
    m.proven = 1
    return True


@part
def look_for_stiffness(m, h):
    """See whether stability keeps the accepted step of length h short, by |λ| from its last two derivatives
    [HW96, IV.2]: both are at its end, at the result and at the last stage. Sets m.stiff after many signs of it. Does
    nothing where no look is due."""
    if m.steps < m.stiff_due:
        return
    n, last = m.n, m.k + 8 * (m.stages - 1) * m.width
    other, y, end, before = reals(m.other), reals(m.y), reals(m.k + 8 * m.stages * m.width), reals(last)
    combine(n, m.width, wholes(m.a_start), wholes(m.a_column), reals(m.a_value), reals(m.k), m.stages - 1, h, other)
    for i in range(n):
        other[i] += y[i]
    apart = distance(m, 1.0, m.y_new, m.other, m.y_new)
    change = distance(m, 1.0, m.k + 8 * m.stages * m.width, last, m.y_new)
    if apart > QUIET and abs(h) * change > m.stability * apart:
        m.clear_signs = 0
        m.stiff_signs += 1
        if m.stiff_rate == 0.0 and m.stiff_signs == SIGNS:
            m.stiff_rate, m.stiff_t = change / apart, m.t
            largest, y_new, atol = 0.0, reals(m.y_new), reals(m.atol)
            for i in range(n):
                size = abs(end[i] - before[i]) / (atol[i] + m.rtol * abs(y_new[i]))
                if size > largest:
                    largest, m.stiff_state = size, i
    else:
        m.clear_signs += 1
    if m.stiff_signs == SIGNS:
        m.stiff = 1
    if m.clear_signs == CLEAR or m.stiff:
        m.stiff_signs, m.clear_signs = 0, 0
    m.stiff_due = m.steps + (1 if m.stiff_signs > 0 else LOOK)


@part
def step_to_outputs(m, t, first):
    """Replace the rows of output from `first` on that lie within the step from t, whose state is in scratch: each by a
    step of its own to that time. Dense output has the noise of its stages, which projection does not take away.

    What the next step needs is put back: the derivative at the end of this one.
    """
    end = m.k + 8 * m.stages * m.width
    out_t = reals(m.out_t)
    copy_numbers(m.n, end, m.saved)
    for row in range(first, m.stored):
        time = out_t[row]
        if time != m.t:
            stages(m, FIRST, m.stages, m.scratch, t, time, time - t)
            if all_finite(m.n, m.y_new):
                copy_numbers(m.n, m.y_new, m.out_y + 8 * row * m.n)
    copy_numbers(m.n, m.saved, end)


@part
def go_on(m):
    """After a terminal event: RUNNING where it changed the constraints and the motion goes on, else why it does not."""
    return begin_mode(m) if changes_mode(m) else EVENT


@part
def begin_mode(m):
    """After constraints have changed: RUNNING where the motion goes on, else why it does not."""
    if m.transition_fault:
        return NO_MODE
    return RUNNING if prepare(m) else NOT_FINITE


@part
def pass_jam(m):
    """Where no step is short enough: RUNNING if friction jams a contact and the motion goes on after its impact, else
    why it does not."""
    if jams(m):
        return begin_mode(m)
    return NOT_FINITE if m.not_finite == 1 else NO_CONVERGENCE if m.not_finite == 2 else SMALL_STEP


@part
def pause(m):
    """Why the loop comes back before another step is tried; RUNNING if it does not."""
    if m.t == m.t_end:
        return REACHED
    if not has_room(m):
        return FULL
    return STIFF if m.stiff else RUNNING


@part
def continue_motion(m, budget):
    """Continue the motion by up to `budget` attempted steps; returns why it came back."""
    if m.fresh and not prepare(m):
        return NOT_FINITE
    for _ in range(budget):
        reason = pause(m)
        if reason != RUNNING:
            return reason
        limit_step(m)
        proposed = m.h
        t_new, clipped = next_end(m)
        t = m.t
        h = t_new - t
        if too_small(m, h, clipped):
            if not leap_over_jump(m):
                reason = pass_jam(m)
                if reason != RUNNING:
                    return reason
                continue
            h, m.h = m.sign * m.h, 0.0
            t_new = t + h
        else:
            attempt(m, t, t_new, h, not (m.fixed or m.proven))
            if not accept_step(m, t_new, h, proposed, clipped):
                if m.fixed:
                    return NOT_FINITE
                continue
            look_for_stiffness(m, h)
            if wants_dense_output(m, t_new):
                dense_rows(m, t, t_new, h)
        if not find_events(m, t_new, h):
            return NOT_FINITE
        m.grid += 1
        first = m.stored
        copy_numbers(m.n, m.y, m.scratch)
        stopped = finish(m, t_new, h)
        if m.project_error and not m.fresh:
            step_to_outputs(m, t, first)
        copy_numbers(m.width, m.k + 8 * m.stages * m.width, m.f)
        if stopped:
            reason = go_on(m)
            if reason != RUNNING:
                return reason
        elif m.fresh:
            return RUNNING
    return RUNNING


@loop
def explicit_loop(memory, budget):
    """Continue the motion in `memory` by up to `budget` attempted steps; returns why it came back."""
    return continue_motion(memory[0], budget)
