"""One stepper for every explicit Runge-Kutta method: fixed step, or a step that follows the tolerance.

Step control is proportional-integral [HNW93, IV.2]. A first step is proven before it is believed: it is compared with
two steps of half its length, so a start from rest, where derivatives mislead both the guess of the step and the error
estimate, costs two more steps instead of the truth of the result.
"""

from __future__ import annotations

import math

from .call import call, compiled, loop, source_digest
from .records import EVENT, FULL, NOT_FINITE, REACHED, RUNNING, SMALL_STEP
from .step import EPS, event_signs, finish, hermite, room, wants_between

SAFETY = 0.9
SHRINK, GROW = 0.2, 10.0
INTEGRAL = 0.2
"""Weight of the error before, relative to that of the present one."""

BLIND_ERROR, BLIND_STEP = 1e-10, 0.01
"""An error this far below the tolerance says nothing about the next step, which then takes at most this part of the
span: a motion at rest must not be stepped over in one stride."""

FIRST_STEP = 0.1
"""The first step takes at most this part of the span."""


@compiled
def combine(start, column, value, row, k, width, base, h, target, offset):
    """target[offset:] = base + h * (the entries of `row` times the stages k)."""
    n = base.size
    at, stop = start[row], start[row + 1]
    if stop - at == 1:
        v, j = value[at], column[at] * width
        for i in range(n):
            target[offset + i] = base[i] + h * (v * k[j + i])
        return
    for i in range(n):
        target[offset + i] = 0.0
    while stop - at >= 4:
        v, w, x, z = value[at], value[at + 1], value[at + 2], value[at + 3]
        a, b, c, d = column[at] * width, column[at + 1] * width, column[at + 2] * width, column[at + 3] * width
        for i in range(n):
            target[offset + i] += (v * k[a + i] + w * k[b + i]) + (x * k[c + i] + z * k[d + i])
        at += 4
    while at < stop:
        v, a = value[at], column[at] * width
        for i in range(n):
            target[offset + i] += v * k[a + i]
        at += 1
    for i in range(n):
        target[offset + i] = base[i] + h * target[offset + i]


@compiled
def stages(problem, method, state, work, first, last, t, t_new, h):
    """Rows first..last of the tableau, from work.base at t: stages in work.k, the result, projected, in work.y_new."""
    n = work.y.size
    width = work.f.size
    k, x = work.k, work.x
    for s in range(first, last + 1):
        combine(method.a_start, method.a_column, method.a_value, s, k, width, work.base, h, x, 1)
        x[0] = t + method.c[s] * h
        if s == method.stages:
            x[0] = t_new
            if problem.project != 0:
                call(problem.project, x, work.y_new, 0)
                for i in range(n):
                    x[1 + i] = work.y_new[i]
            else:
                for i in range(n):
                    work.y_new[i] = x[1 + i]
        call(problem.rhs, x, k, s * width)
    state.evaluations += last + 1 - first


@compiled
def attempt(problem, method, state, work, t, t_new, h, prove):
    """One step in work.y_new, work.k; if `prove`, first the same by two half steps, in work.scratch."""
    n = work.y.size
    width = work.f.size
    for part in range(0 if prove else 2, 3):
        begin, end, length = t, t_new, h
        if part == 1:
            for i in range(n):
                work.base[i] = work.y_new[i]
                work.k[i] = work.k[method.stages * width + i]
        else:
            for i in range(n):
                work.base[i] = work.y[i]
                work.k[i] = work.f[i]
        if part < 2:
            length = 0.5 * h
            begin = t + part * length
            end = begin + length
        stages(problem, method, state, work, 1, method.stages, begin, end, length)
        if part == 1:
            for i in range(n):
                work.scratch[i] = work.y_new[i]


@compiled
def dense_rows(problem, method, state, work, t, t_new, h):
    """Complete the stages that only dense output needs and set work.dense for this step."""
    n = work.y.size
    width = work.f.size
    if method.rows > method.stages + 1:
        stages(problem, method, state, work, method.stages + 1, method.rows - 1, t, t_new, h)
    hermite(work, h, method.stages * width)
    for row in range(method.dense_start.size - 1):
        at = (3 + row) * n
        for i in range(n):
            work.dense[at + i] = 0.0
        for entry in range(method.dense_start[row], method.dense_start[row + 1]):
            v, j = h * method.dense_value[entry], method.dense_column[entry] * width
            for i in range(n):
                work.dense[at + i] += v * work.k[j + i]


@compiled
def estimate(method, tolerance, work, h):
    """Error of the step just taken in units of the tolerance.

    With two estimates e5, e3 the order of the better one is raised: |e5|^2 / sqrt(|e5|^2 + 0.01 |e3|^2)
    [HNW93, II.10].
    """
    n = work.y.size
    width = work.f.size
    better, worse = 0.0, 0.0
    for row in range(method.error_start.size - 1):
        total = 0.0
        for i in range(n):
            value = 0.0
            for at in range(method.error_start[row], method.error_start[row + 1]):
                value += method.error_value[at] * work.k[method.error_column[at] * width + i]
            value /= tolerance.atol[i] + tolerance.rtol * max(abs(work.y[i]), abs(work.y_new[i]))
            total += value * value
        if row == 0:
            better = total
        else:
            worse = total
    if method.error_start.size == 2:
        return abs(h) * math.sqrt(better / n)
    if better == 0.0:
        return 0.0
    return abs(h) * better / math.sqrt((better + 0.01 * worse) * n)


@compiled
def distance(tolerance, a, b, size):
    """Root mean square of a - b in units of the tolerance at states of the size of `size`."""
    total = 0.0
    for i in range(size.size):
        value = (a[i] - b[i]) / (tolerance.atol[i] + tolerance.rtol * abs(size[i]))
        total += value * value
    return math.sqrt(total / size.size)


@compiled
def first_step(problem, tolerance, state, work, order):
    """A guess of the first step from the state, its derivative and the change of that [HNW93, II.4]."""
    n = work.y.size
    width = work.f.size
    zero = work.scratch[n : 2 * n]
    for i in range(n):
        zero[i] = 0.0
    size = distance(tolerance, work.y, zero, work.y)
    slope = distance(tolerance, work.f, zero, work.y)
    h = 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
    h = min(h, FIRST_STEP * state.span)
    work.x[0] = state.t + state.sign * h
    for i in range(n):
        work.x[1 + i] = work.y[i] + state.sign * h * work.f[i]
    call(problem.rhs, work.x, work.k, width)
    state.evaluations += 1
    bend = distance(tolerance, work.k[width:], work.f, work.y) / h
    most = max(slope, bend)
    guess = max(1e-6, 1e-3 * h) if most <= 1e-15 else (0.01 / most) ** (1.0 / (order + 1))
    if not guess < 100.0 * h:
        guess = 100.0 * h
    return min(guess, FIRST_STEP * state.span, tolerance.max_step)


@compiled
def controlled(method, state, error):
    """Accept or reject a step of error `error` (in tolerances) and set the next length; True if accepted."""
    used = state.h
    exponent = 1.0 / (method.error_order + 1)
    if not error <= 1.0:
        factor = SHRINK
        if math.isfinite(error):
            factor = max(SHRINK, SAFETY * error**-exponent)
        state.h = used * factor
        state.rejected += 1
        state.rejected_last = 1
        return False
    factor = GROW
    if error > 0.0:
        beta = INTEGRAL * exponent
        factor = SAFETY * error ** (0.75 * beta - exponent) * max(state.error, 1e-4) ** beta
        factor = min(GROW, max(SHRINK, factor))
    if state.rejected_last:
        factor = min(1.0, factor)
    state.h = used * factor
    if error < BLIND_ERROR:
        state.h = min(state.h, max(used, BLIND_STEP * state.span))
    state.error = error
    state.rejected_last = 0
    return True


@compiled
def prepare(problem, method, tolerance, state, work):
    """Derivative and event signs at a state or inputs that were set from outside, and a first step if there is none."""
    work.x[0] = state.t
    for i in range(work.y.size):
        work.x[1 + i] = work.y[i]
    call(problem.rhs, work.x, work.f, 0)
    state.evaluations += 1
    if problem.directions.size > 0:
        event_signs(problem, state, work)
    if state.h == 0.0:
        state.h = first_step(problem, tolerance, state, work, method.error_order)
    state.fresh = 0


@compiled
def all_finite(values, start, count):
    """Whether `count` values from `start` on are finite: x - x is 0 for those and nan for the others."""
    total = 0.0
    for i in range(start, start + count):
        total += values[i] - values[i]
    return total == 0.0


@compiled
def next_time(method, tolerance, state):
    """(end of the next step, whether it is the end of the run), and state.h shortened to what is allowed."""
    if method.fixed:
        t_new = state.origin + state.sign * (state.grid + 1) * state.h
        if state.sign * (state.t_end - t_new) < 1e-9 * state.h:
            return state.t_end, True
        return t_new, False
    state.h = min(state.h, tolerance.max_step)
    left = abs(state.t_end - state.t)
    if 1.01 * state.h >= left:
        state.h = left
        return state.t_end, True
    return state.t + state.sign * state.h, False


@compiled
def judged(method, tolerance, state, work, h, proposed, clipped):
    """Whether the attempted step is good; sets the length of the next attempt."""
    finite = all_finite(work.y_new, 0, work.y.size)
    if method.fixed:
        state.not_finite = 0 if finite else 1
        return finite
    error = estimate(method, tolerance, work, h)
    if not state.proven:
        error += distance(tolerance, work.scratch, work.y_new, work.y_new)
    finite = finite and math.isfinite(error) and all_finite(work.k, method.stages * work.f.size, work.y.size)
    state.not_finite = 0 if finite else 1
    if not controlled(method, state, error if finite else math.inf):
        return False
    if clipped:
        state.h = max(state.h, proposed)
    state.proven = 1
    return True


@compiled
def advance(problem, method, tolerance, state, work, out, budget):
    """Up to `budget` attempted steps; returns why it came back."""
    width = work.f.size
    for _ in range(budget):
        if state.t == state.t_end:
            return REACHED
        if not room(problem, state, out):
            return FULL
        proposed = state.h
        t_new, clipped = next_time(method, tolerance, state)
        t = state.t
        h = t_new - t
        if (not clipped and abs(h) <= 10.0 * EPS * abs(t)) or abs(h) <= 1e-24 * state.span:
            return NOT_FINITE if state.not_finite else SMALL_STEP
        attempt(problem, method, state, work, t, t_new, h, not (method.fixed or state.proven))
        if not judged(method, tolerance, state, work, h, proposed, clipped):
            if method.fixed:
                return NOT_FINITE
            continue
        if wants_between(problem, state, out, t_new):
            dense_rows(problem, method, state, work, t, t_new, h)
        state.grid += 1
        stopped = finish(problem, state, work, out, t_new, h)
        for i in range(width):
            work.f[i] = work.k[method.stages * width + i]
        if stopped:
            return EVENT
    return RUNNING


def _explicit_loop(digest):
    """The loop for explicit methods; `digest` ties its cached code to all the sources it is made of."""

    @loop
    def explicit(problem, method, tolerance, memory, work, out, budget):
        """Continue the motion in `memory` by up to `budget` attempted steps; returns why it came back."""
        state = memory[0]
        if digest < 0:
            return RUNNING
        if state.fresh:
            prepare(problem, method, tolerance, state, work)
            if not all_finite(work.f, 0, work.y.size):
                return NOT_FINITE
        return advance(problem, method, tolerance, state, work, out, budget)

    return explicit


explicit_loop = _explicit_loop(source_digest())
