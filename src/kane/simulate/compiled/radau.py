"""Radau IIA of order 5 with three stages, for stiff motions [HW96, IV.8].

The stages solve Z = h (A x I) F(y + Z). With T that makes inverse(A) = T diag(GAMMA, ALPHA +- i BETA) inverse(T), the
simplified Newton iteration for W = inverse(T) Z falls apart into one real and one complex system of n unknowns:
(GAMMA / h - J) and ((ALPHA + i BETA) / h - J). Their factors, and the Jacobian J, are kept for as long as the
iteration converges with them. The dense output is the cubic through y and the three stages.
"""

from __future__ import annotations

import math

from .call import call, call_with, complexes, part, reals, wholes
from .explicit import (
    BLIND_ERROR,
    BLIND_STEP,
    GROW,
    SAFETY,
    SHRINK,
    go_on,
    leap_over_jump,
    next_end,
    pass_jam,
    prepare,
    projection_jumps,
    too_small,
)
from .records import FULL, NOT_FINITE, REACHED, RUNNING
from .step import EPS, all_finite, copy_numbers, find_events, finish, has_room, limit_step, set_inputs
from .store import loop

ROOT = math.sqrt(6.0)

NODES = ((4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0)

GAMMA = 3.0 + 3.0 ** (2.0 / 3.0) - 3.0 ** (1.0 / 3.0)
ALPHA = 3.0 + 0.5 * (3.0 ** (1.0 / 3.0) - 3.0 ** (2.0 / 3.0))
BETA = 0.5 * (3.0 ** (5.0 / 6.0) + 3.0 ** (7.0 / 6.0))
POLE = complex(ALPHA, -BETA)
"""GAMMA and ALPHA +- i BETA are the eigenvalues of the inverse of the tableau A."""

T = (
    (0.09443876248897524, -0.14125529502095421, 0.03002919410514742),
    (0.25021312296533332, 0.20412935229379994, -0.38294211275726192),
    (1.0, 1.0, 0.0),
)
T_INVERSE = (
    (4.17871859155190428, 0.32768282076106237, 0.52337644549944951),
    (-4.17871859155190428, -0.32768282076106237, 0.47662355450055044),
    (0.50287263494578682, -2.57192694985560522, 0.59603920482822492),
)

ERROR = ((-13.0 - 7.0 * ROOT) / 3.0, (-13.0 + 7.0 * ROOT) / 3.0, -1.0 / 3.0)
"""Weights of the stages in the difference to an embedded method of order 3, as multiples of GAMMA_0 h."""

DENSE = (
    ((13.0 + 7.0 * ROOT) / 3.0, (-23.0 - 22.0 * ROOT) / 3.0, 10.0 / 3.0 + 5.0 * ROOT),
    ((13.0 - 7.0 * ROOT) / 3.0, (-23.0 + 22.0 * ROOT) / 3.0, 10.0 / 3.0 - 5.0 * ROOT),
    (1.0 / 3.0, -8.0 / 3.0, 10.0 / 3.0),
)
"""The cubic through the stages: the coefficient of s^(j+1) is the sum over stages i of DENSE[i][j] Z_i."""

WANTED, OLD, CURRENT = -1, 0, 1
"""Whether the Jacobian is to be evaluated before the next attempt, belongs to an earlier state, or to the present."""

ITERATIONS = 7
"""Newton iterations before the step is given up."""

KEEP = 1.2
"""A step that could grow by less than this keeps its length, so that the factors stay good."""

SLOW = 1e-3
"""A Newton iteration that contracts less than this asks for a new Jacobian."""


@part
def factor(n, a, pivots):
    """Factor the n by n matrix `a` (row by row, real or complex) in place with partial pivoting; False if singular."""
    for j in range(n):
        best, size = j, abs(a[j * n + j])
        for i in range(j + 1, n):
            trial = abs(a[i * n + j])
            if trial > size:
                best, size = i, trial
        pivots[j] = best
        if not size > 0.0:
            return False
        if best != j:
            for c in range(n):
                a[j * n + c], a[best * n + c] = a[best * n + c], a[j * n + c]
        inverse = 1.0 / a[j * n + j]
        for i in range(j + 1, n):
            multiple = a[i * n + j] * inverse
            a[i * n + j] = multiple
            if multiple != 0.0:
                for c in range(j + 1, n):
                    a[i * n + c] -= multiple * a[j * n + c]
    return True


@part
def solve(n, a, pivots, b):
    """Solve in place with the factors from `factor`."""
    for i in range(n):
        best = pivots[i]
        if best != i:
            b[i], b[best] = b[best], b[i]
    for i in range(n):
        total = b[i]
        for c in range(i):
            total -= a[i * n + c] * b[c]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for c in range(i + 1, n):
            total -= a[i * n + c] * b[c]
        b[i] = total / a[i * n + i]


@part
def jacobian(m):
    """Set the Jacobian of the right-hand side at the present state, from its program or by differences."""
    n = m.n
    matrix, x, y, f, k = reals(m.jacobian_matrix), reals(m.x + 8), reals(m.y), reals(m.f), reals(m.k)
    atol = reals(m.atol)
    set_inputs(m, m.t, m.y)
    m.jacobians += 1
    m.jacobian_current = CURRENT
    m.factored_h = 0.0
    if m.jacobian != 0:
        call(m.jacobian, m.x, m.jacobian_matrix)
        return
    for j in range(n):
        # Where the state is near zero, what counts as zero by the tolerance sets the scale, within reason.
        size = max(abs(y[j]), m.h * abs(f[j]), min(1.0, atol[j] / m.rtol))
        x[j] = y[j] + math.sqrt(EPS) * (size if f[j] >= 0.0 else -size)
        step = x[j] - y[j]
        call_with(m.rhs, m.rhs_memory, m.x, m.k)
        for i in range(n):
            matrix[i * n + j] = (k[i] - f[i]) / step
        x[j] = y[j]
    m.evaluations += n


@part
def factors(m, h):
    """Factor both systems for the signed step h; False if one is singular."""
    n = m.n
    matrix, real, imaginary = reals(m.jacobian_matrix), reals(m.real_factors), complexes(m.complex_factors)
    for i in range(n):
        for j in range(n):
            real[i * n + j] = -matrix[i * n + j]
            imaginary[i * n + j] = complex(-matrix[i * n + j], 0.0)
        real[i * n + i] += GAMMA / h
        imaginary[i * n + i] += POLE / h
    m.factorizations += 1
    good = factor(n, real, wholes(m.real_pivots)) and factor(n, imaginary, wholes(m.complex_pivots))
    m.factored_h = h if good else 0.0
    return good


@part
def predict(m, h):
    """Start the iteration from the polynomial of the last step, extrapolated, or from zero; Z and W."""
    n = m.n
    z, w, dense = reals(m.z), reals(m.w), reals(m.dense)
    for stage in range(3):
        s = 1.0 + NODES[stage] * h / m.h_before if m.extrapolates else 1.0
        for i in range(n):
            value = dense[n + i] + s * dense[2 * n + i]
            value = s * (dense[i] + (1.0 - s) * value) - dense[i]
            z[stage * n + i] = value if m.extrapolates else 0.0
    for row in range(3):
        a, b, c = T_INVERSE[row]
        for i in range(n):
            w[row * n + i] = a * z[i] + b * z[n + i] + c * z[2 * n + i]


@part
def correct(m, t, h):
    """One Newton iteration: updates W and Z, returns the size of the change in tolerances; nan if it cannot go on."""
    n = m.n
    z, w, x, y, k, atol = reals(m.z), reals(m.w), reals(m.x + 8), reals(m.y), reals(m.k), reals(m.atol)
    real, pair = reals(m.residual), complexes(m.complex_part)
    for stage in range(3):
        reals(m.x)[0] = t + NODES[stage] * h
        for i in range(n):
            x[i] = y[i] + z[stage * n + i]
        call_with(m.rhs, m.rhs_memory, m.x, m.k + 8 * stage * m.width)
    m.evaluations += 3
    width = m.width
    (a, b, c), (d, e, f), (o, p, q) = T_INVERSE
    for i in range(n):
        first, second, third = k[i], k[width + i], k[2 * width + i]
        real[i] = a * first + b * second + c * third - GAMMA / h * w[i]
        pair[i] = complex(d * first + e * second + f * third, o * first + p * second + q * third) - POLE / h * complex(
            w[n + i], w[2 * n + i]
        )
    solve(n, reals(m.real_factors), wholes(m.real_pivots), real)
    solve(n, complexes(m.complex_factors), wholes(m.complex_pivots), pair)
    total = 0.0
    for i in range(n):
        scale = atol[i] + m.rtol * abs(y[i])
        total += (real[i] / scale) ** 2 + (pair[i].real / scale) ** 2 + (pair[i].imag / scale) ** 2
        w[i] += real[i]
        w[n + i] += pair[i].real
        w[2 * n + i] += pair[i].imag
    for row in range(3):
        a, b, c = T[row]
        for i in range(n):
            z[row * n + i] = a * w[i] + b * w[n + i] + c * w[2 * n + i]
    return math.sqrt(total / (3 * n))


@part
def newton(m, t, h):
    """(iterations, rate) of the simplified Newton iteration; (0, rate) if it does not converge."""
    tolerance = max(10.0 * EPS / m.rtol, min(0.03, math.sqrt(m.rtol)))
    before, rate = 0.0, 0.0
    for iteration in range(1, ITERATIONS + 1):
        change = correct(m, t, h)
        if not math.isfinite(change):
            m.not_finite = 1
            return 0, rate
        if iteration > 1:
            rate = change / before
            if rate >= 1.0 or rate ** (ITERATIONS - iteration) / (1.0 - rate) * change > tolerance:
                break
        if change == 0.0 or (iteration > 1 and rate / (1.0 - rate) * change < tolerance):
            return iteration, rate
        before = change
    m.not_finite = 2
    return 0, rate


@part
def form_result(m, t, t_new, h):
    """Form the result in y_new, projected, and return its error in tolerances.

    The error is the difference to the embedded method, passed through the real system; where a step seems bad at the
    start or after a rejection it is passed through once more, which separates stiff components from wrong ones.
    """
    n = m.n
    y, y_new, z, x = reals(m.y), reals(m.y_new), reals(m.z), reals(m.x + 8)
    for i in range(n):
        y_new[i] = y[i] + z[2 * n + i]
    if m.project != 0:
        set_inputs(m, t_new, m.y_new)
        call_with(m.project, m.project_memory, m.x, m.y_new)
        m.jumped = 1 if m.project_error and projection_jumps(m, m.y) else 0
    error, f, atol = reals(m.scratch), reals(m.saved), reals(m.atol)
    copy_numbers(n, m.f, m.saved)
    size = 0.0
    for attempt in range(2):
        if attempt == 1:
            if not (size > 1.0 and (m.rejected_last or not m.proven)):
                break
            reals(m.x)[0] = t
            for i in range(n):
                x[i] = y[i] + error[i]
            call_with(m.rhs, m.rhs_memory, m.x, m.k)
            m.evaluations += 1
            copy_numbers(n, m.k, m.saved)
        for i in range(n):
            error[i] = f[i] + (ERROR[0] * z[i] + ERROR[1] * z[n + i] + ERROR[2] * z[2 * n + i]) / h
        solve(n, reals(m.real_factors), wholes(m.real_pivots), error)
        total = 0.0
        for i in range(n):
            total += (error[i] / (atol[i] + m.rtol * max(abs(y[i]), abs(y_new[i])))) ** 2
        size = math.sqrt(total / n)
    return size


@part
def polynomial(m):
    """Set the dense rows to the cubic through y and the stages, its end moved to the projected result."""
    n = m.n
    z, dense, y, y_new = reals(m.z), reals(m.dense), reals(m.y), reals(m.y_new)
    for i in range(n):
        square, cube = 0.0, 0.0
        for stage in range(3):
            square += DENSE[stage][1] * z[stage * n + i]
            cube += DENSE[stage][2] * z[stage * n + i]
        dense[i] = y_new[i] - y[i]
        dense[n + i] = -(square + cube)
        dense[2 * n + i] = -cube


@part
def attempt_implicit(m, t, t_new, h):
    """Try one step. Returns the factor by which the next may grow, minus the factor for a new attempt if it failed."""
    if m.jacobians == 0 or m.jacobian_current == WANTED:
        jacobian(m)
    if m.factored_h != h and not factors(m, h):
        m.not_finite = 2
        return -0.5
    predict(m, h)
    iterations, rate = newton(m, t, h)
    if iterations == 0:
        if m.jacobian_current == CURRENT:
            return -0.5
        m.jacobian_current = WANTED
        return -1.0
    error = form_result(m, t, t_new, h)
    m.not_finite = 0 if math.isfinite(error) else 1
    if m.not_finite or m.jumped:
        return -SHRINK
    growth = GROW
    if error > 0.0:
        growth = error**-0.25
        if m.h_before != 0.0 and m.error > 0.0:
            growth *= min(1.0, abs(h / m.h_before) * (m.error / error) ** 0.25)
    growth *= SAFETY * (2 * ITERATIONS + 1) / (2 * ITERATIONS + iterations)
    if error > 1.0:
        return -min(SAFETY, max(SHRINK, growth))
    growth = min(GROW, growth)
    if m.rejected_last:
        growth = min(1.0, growth)
    if error < BLIND_ERROR:
        growth = min(growth, max(1.0, BLIND_STEP * m.span / abs(h)))
    m.error = error
    m.jacobian_current = OLD
    if iterations > 2 and rate > SLOW:
        m.jacobian_current = WANTED
    elif growth < KEEP:
        growth = 1.0
    return growth


@part
def forget_past(m):
    """Start anew from the present state: no stage predicts the next ones, and the rates may be others."""
    m.extrapolates, m.h_before, m.rejected_last, m.jacobian_current = 0, 0.0, 0, WANTED


@part
def close_step(m, t_new, h):
    """Take the step to t_new; returns why the loop ends there, RUNNING if it does not."""
    if finish(m, t_new, h):
        forget_past(m)
        return go_on(m)
    set_inputs(m, m.t, m.y)
    call_with(m.rhs, m.rhs_memory, m.x, m.f)
    m.evaluations += 1
    return RUNNING if all_finite(m.n, m.f) else NOT_FINITE


@part
def continue_implicitly(m, budget):
    """Continue the motion by up to `budget` attempted steps; returns why it came back."""
    if m.fresh:
        m.extrapolates = 0
        m.jacobian_current = OLD
        if not prepare(m):
            return NOT_FINITE
    for _ in range(budget):
        if m.t == m.t_end:
            return REACHED
        if not has_room(m):
            return FULL
        limit_step(m)
        proposed = m.h
        t_new, clipped = next_end(m)
        h = m.sign * m.h
        if too_small(m, h, clipped):
            if not leap_over_jump(m):
                reason = pass_jam(m)
                if reason != RUNNING:
                    return reason
                forget_past(m)
                continue
            h, m.h = m.sign * m.h, 0.0
            t_new = m.t + h
        else:
            growth = attempt_implicit(m, m.t, t_new, h)
            m.h *= abs(growth)
            if growth < 0.0:
                if growth > -1.0:
                    m.rejected += 1
                    m.rejected_last = 1
                continue
            if clipped:
                m.h = max(m.h, proposed)
            polynomial(m)
        m.h_before, m.extrapolates, m.proven, m.rejected_last = h, 1, 1, 0
        if not find_events(m, t_new, h):
            return NOT_FINITE
        code = close_step(m, t_new, h)
        if code != RUNNING or m.fresh:
            return code
    return RUNNING


@loop
def radau_loop(memory, budget):
    """Continue the motion in `memory` by up to `budget` attempted steps; returns why it came back."""
    return continue_implicitly(memory[0], budget)
