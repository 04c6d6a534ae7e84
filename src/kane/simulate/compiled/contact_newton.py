"""Newton's method on the function of Alart and Curnier, whose roots are the solutions of a contact problem [AC91].

For every contact, measured in its unit, it says that with p = max(floor, r_n − u_n)

    r_n = p,   r_t = the point of the disc of radius mu p that is nearest to r_t − u_t

and is smooth but for where a contact changes between open, sticking and slipping. Reactions of open contacts are known
in a step, so its equations are those of the others. A small share is added to the diagonal of W in them, the less the
closer a solution is: a singular W then has the step of least norm, and the solution is the same.
"""

from __future__ import annotations

import math

import numpy as np

from .call import part, reals, stay_separate, wholes
from .contacts import BOUND, CONE, FREE, TIGHT, evaluate
from .step import copy_numbers

LEAST_SHARE, MOST_SHARE, SHARE_OF_RESIDUAL = 1e-12, 1e-5, 1e-2
"""What is added to the diagonal of W, which is 1 at most: bounds, and the part of the natural residual in between."""

PATIENCE, DAMPED = 20, 6
"""Steps without a better r before the search is given up, and before steps are halved. Full steps that make the
residual larger for a while find more solutions than steps that never do; half ones leave cycles."""

FINE, SETTLED = 1e-10, 1
"""A natural residual from which on rounding is what such steps meet, and how many of them are then taken."""

NOTHING, NO_ROW = np.int64(0), np.int64(-1)
"""A count before the first, and in place of a row. For plain constants numba would compile parts anew."""


@part
def fix_row(m, j, value):
    """Let the step bring r of row j to `value`."""
    reals(m.step)[j] = value - reals(m.r)[j]


@part
def add_active(m, count, j):
    """Row j is unknown in the step; returns how many are, with it."""
    wholes(m.active)[count] = j
    return count + 1


@part
def disc_rows(m, count, at, tangents, radius):
    """Sort the tangential rows of a disc into fixed and active ones; returns the number of active rows so far."""
    for j in range(at, at + tangents):
        if radius > 0.0:
            count = add_active(m, count, j)
        else:
            fix_row(m, j, 0.0)
    return count


@part
def sort_rows(m):
    """Decide which rows the step fixes, with steps for them, and which are active; returns how many are active."""
    first, rows, kinds, mu, floor = wholes(m.first), wholes(m.rows), wholes(m.kinds), reals(m.bound), reals(m.floor)
    r, u, closed = reals(m.r), reals(m.u), wholes(m.choice)
    count = NOTHING
    for i in range(m.k):
        at = first[i]
        closed[i] = 1
        if kinds[i] == FREE:
            for j in range(at, at + rows[i]):
                count = add_active(m, count, j)
        elif kinds[i] == BOUND:
            count = disc_rows(m, count, at, rows[i], mu[i])
        else:
            normal = r[at] - u[at]
            if normal > floor[i]:
                count = add_active(m, count, at)
            else:
                closed[i] = 0
                normal = floor[i]
                fix_row(m, at, normal)
            count = disc_rows(m, count, at + 1, rows[i] - 1, mu[i] * normal)
    return count


@part
def compress_row(m, count, row, right):
    """Keep of a row of n coefficients those of active rows, the right side after them, what is fixed gone into it."""
    step, active, a = reals(m.step), wholes(m.active), 0
    for j in range(m.n):
        if a < count and active[a] == j:
            row[a] = row[j]
            a += 1
        else:
            right -= row[j] * step[j]
    row[count] = right


@part
def add_multiple(n, factor, x, y):
    """y += factor x of n numbers."""
    for j in range(n):
        y[j] += factor * x[j]


@part
def motion_row(m, j, share, count, row):
    """Write the equation that u of row j becomes 0."""
    stay_separate()
    n, w = m.n, reals(m.w + 8 * j * m.n)
    for l in range(n):
        row[l] = w[l]
    row[j] += share
    compress_row(m, count, row, -reals(m.u)[j])


@part
def slip_row(m, j, at, tangents, size, radius, normal, mu, share, count, row):
    """Write the equation of row j of a disc on whose rim r is: r_t − radius d, differentiated.

    d = z / |z| with z = r_t − u_t of length `size`. `normal` is the row on which the radius depends, or −1.
    """
    stay_separate()
    n, r, u = m.n, reals(m.r), reals(m.u)
    d = (r[j] - u[j]) / size
    turn = radius / size
    for l in range(n):
        row[l] = 0.0
    row[j] = 1.0
    right = radius * d - r[j]
    for s in range(at, at + tangents):
        across = (1.0 if s == j else 0.0) - d * (r[s] - u[s]) / size
        if across != 0.0:
            add_multiple(n, turn * across, reals(m.w + 8 * s * n), row)
            row[s] -= turn * across * (1.0 - share)
    if normal >= 0:
        row[normal] -= mu * d
        right += mu * d * u[normal]
    compress_row(m, count, row, right)


@part
def disc_equations(m, equation, at, tangents, radius, normal, mu, share, count):
    """Write the equations of the tangential rows of one disc; returns the number of equations so far."""
    stay_separate()
    r, u, width = reals(m.r), reals(m.u), 8 * (m.n + 1)
    if not radius > 0.0:
        return equation
    total = 0.0
    for j in range(at, at + tangents):
        z = r[j] - u[j]
        total += z * z
    size = math.sqrt(total)
    for j in range(at, at + tangents):
        row = reals(m.matrix + equation * width)
        if size <= radius:
            motion_row(m, j, share, count, row)
        else:
            slip_row(m, j, at, tangents, size, radius, normal, mu, share, count, row)
        equation += 1
    return equation


@part
def write_equations(m, share, count):
    """Write the equations of a step for the active rows, in their order."""
    first, rows, kinds, mu, floor = wholes(m.first), wholes(m.rows), wholes(m.kinds), reals(m.bound), reals(m.floor)
    r, u, closed, width = reals(m.r), reals(m.u), wholes(m.choice), 8 * (m.n + 1)
    equation = NOTHING
    for i in range(m.k):
        at = first[i]
        if kinds[i] == BOUND:
            equation = disc_equations(m, equation, at, rows[i], mu[i], NO_ROW, mu[i], share, count)
            continue
        for j in range(at, at + (rows[i] if kinds[i] == FREE else closed[i])):
            motion_row(m, j, share, count, reals(m.matrix + equation * width))
            equation += 1
        if kinds[i] == CONE:
            normal = at if closed[i] else NO_ROW
            radius = mu[i] * (r[at] - u[at] if closed[i] else floor[i])
            equation = disc_equations(m, equation, at + 1, rows[i] - 1, radius, normal, mu[i], share, count)


@part
def solve_equations(m, count):
    """Solve the equations by elimination with row pivots into m.step; False if they are singular."""
    width, active, step = m.n + 1, wholes(m.active), reals(m.step)
    a = reals(m.matrix)
    for c in range(count):
        best, largest = c, abs(a[c * width + c])
        for i in range(c + 1, count):
            if abs(a[i * width + c]) > largest:
                best, largest = i, abs(a[i * width + c])
        if not (largest > 0.0 and largest < math.inf):
            return False
        if best != c:
            for j in range(c, count + 1):
                a[c * width + j], a[best * width + j] = a[best * width + j], a[c * width + j]
        inverse = 1.0 / a[c * width + c]
        source = reals(m.matrix + 8 * (c * width + c + 1))
        for i in range(c + 1, count):
            factor = a[i * width + c] * inverse
            if factor != 0.0:
                add_multiple(count - c, -factor, source, reals(m.matrix + 8 * (i * width + c + 1)))
    for i in range(count - 1, -1, -1):
        total = a[i * width + count]
        for j in range(i + 1, count):
            total -= a[i * width + j] * step[active[j]]
        step[active[i]] = total / a[i * width + i]
    return True


@part
def take_step(m, share):
    """r += share · step, and the natural residual of that."""
    stay_separate()
    add_multiple(m.n, share, reals(m.step), reals(m.r))
    return evaluate(m)


@part
def newton_steps(m, steps):
    """Take Newton steps from r on, so many at most; the natural residual of the best r, which is where it ends."""
    best = evaluate(m)
    copy_numbers(m.n, m.r, m.kept)
    since = 0
    for _ in range(steps):
        if best <= TIGHT or since > (SETTLED if best <= FINE else PATIENCE):
            break
        share = min(MOST_SHARE, max(LEAST_SHARE, SHARE_OF_RESIDUAL * m.residual))
        count = sort_rows(m)
        write_equations(m, share, count)
        if not solve_equations(m, count):
            break
        m.steps += 1
        since += 1
        if take_step(m, 1.0 if since <= DAMPED else 0.5) < best:
            best, since = m.residual, 0
            copy_numbers(m.n, m.r, m.kept)
    copy_numbers(m.n, m.kept, m.r)
    return evaluate(m)
