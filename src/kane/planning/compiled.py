"""The compiled search of inverse kinematics: damped Newton steps on the exact Jacobian, from several starts.

One call solves a whole batch of poses, or follows a path of them, and enters no Python. The arm is a flat program
q → (pose, J), called by address. The error of a pose is the rotation vector from where the frame is to where it should
be, and the way between the two origins. With E = ½ |e|² a step solves

    (Jᵀ J + λ) δ = Jᵀ e,    λ = μ E,

so that damping fades with the error and convergence stays quadratic [SUG11]; μ grows where a step does not help and
shrinks where it does. Coordinates that stand at a limit and would leave are held for that step.

All that a search reads and writes is one record of numbers and addresses of arrays, which is quick to compile and to
pass on; whoever fills it in keeps the arrays alive. Importing this module imports numba; `inverse_kinematics` does so
when the first pose is asked for.
"""

from __future__ import annotations

import math

import numpy as np

from ..simulate.compiled.call import call, part, reals, wholes
from ..simulate.compiled.store import loop

ROUNDING = 2.220446049250313e-16
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 0.03, 1e-3, 1e6
GROW, SHRINK = 8.0, 0.5
"""μ: at the first step, its bounds, and by what it changes. Found by trial on arms of six and seven axes."""

FLOOR = 1e-12
"""Least λ: far below the squares of singular values at which an arm is used, far above the rounding of J Jᵀ."""

LONGEST_STEP = 1.0
"""No coordinate moves further in one step (rad or m): beyond that the Jacobian says little."""

STALLED = 0.95
"""A step that leaves more than this fraction of the error counts as one of few that are granted."""

PATIENCE = 4
"""How many such steps, or refused ones, end an attempt."""

UNGUESSED, GUESSED, FOLLOWED = range(3)
"""Where the first attempt at a target starts: at the nearest known pose, at a guess, at the answer before it."""

USED = 1e300  # distance of a start that has been tried


SIZES = (
    "n",  # coordinates
    "width",  # of a row of J: n rounded up to eights
    "known",  # starts
    "targets_given",
    "start_kind",  # UNGUESSED, GUESSED or FOLLOWED
    "attempts",
    "iterations",  # of one attempt
    "program",  # address of the flat program q → (pose, J)
    "first",  # where q stands among the program's inputs
    "in_target",  # 1: rows are along the axes of the target, 0: along those of N
    "partial",  # 1: some, not all, rotations count
)

ADDRESSES = (
    "lower",  # (n,) limits; ∓inf where there are none
    "upper",  # (n,)
    "column",  # (n,) int64: the column of J that belongs to a coordinate; -1 if it does not move the place
    "counts",  # (6,) 1 for the rows of ω, v that count, 0 for the others
    "starts",  # (known, n)
    "poses",  # (12, known) poses of the starts, R and 2 p; R zero where no rotation counts
    "sizes",  # (known,) |p|² of the starts
    "targets",  # (targets_given, 12)
    "guesses",  # (targets_given, n)
    "answers",  # (targets_given, n)
    "tally",  # (targets_given, 3): |e|, steps, attempts
    "x",  # inputs of the time and parameters filled in
    "out",  # (12 + 6 n,): pose and J
    "q",  # (n,)
    "best",  # (n,)
    "step",  # (n,): the next q
    "e",  # (6,)
    "e_new",  # (6,)
    "J",  # (6, width); zero in rows that do not count and in columns of held coordinates
    "A",  # (6, 6)
    "y",  # (6,)
    "distance",  # (known,)
)

MEMORY = np.dtype([(name, "i8") for name in (*SIZES, *ADDRESSES)] + [("tolerance", "f8")])
"""What a search knows."""


@part
def rotation_error(out, target, e):
    """e[:3] = rotation vector, in N, from the orientation in `out` to that in `target`; both R by rows."""
    t0 = t1 = t2 = c = 0.0
    for k in range(3):
        t0 += target[6 + k] * out[3 + k] - target[3 + k] * out[6 + k]
        t1 += target[k] * out[6 + k] - target[6 + k] * out[k]
        t2 += target[3 + k] * out[k] - target[k] * out[3 + k]
        c += target[k] * out[k] + target[3 + k] * out[3 + k] + target[6 + k] * out[6 + k]
    s = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    angle = math.atan2(s, c - 1.0)
    if s > 1e-6 or c > 1.0:
        scale = angle / s if s > 1e-14 else 0.5
        e[0], e[1], e[2] = scale * t0, scale * t1, scale * t2
        return
    # Half a turn: the axis is the longest column of R_error + 1.
    longest = -1.0
    for j in range(3):
        d0 = target[0] * out[3 * j] + target[1] * out[3 * j + 1] + target[2] * out[3 * j + 2]
        d1 = target[3] * out[3 * j] + target[4] * out[3 * j + 1] + target[5] * out[3 * j + 2]
        d2 = target[6] * out[3 * j] + target[7] * out[3 * j + 1] + target[8] * out[3 * j + 2]
        d0, d1, d2 = d0 + (j == 0), d1 + (j == 1), d2 + (j == 2)
        size = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if size > longest:
            longest = size
            e[0], e[1], e[2] = angle * d0 / size, angle * d1 / size, angle * d2 / size


@part
def turn_to_target(target, e, at):
    """Three components at e[at:] from axes of N to axes of the target."""
    x, y, z = e[at], e[at + 1], e[at + 2]
    e[at] = target[0] * x + target[3] * y + target[6] * z
    e[at + 1] = target[1] * x + target[4] * y + target[7] * z
    e[at + 2] = target[2] * x + target[5] * y + target[8] * z


@part
def evaluate_pose(m, target):
    """Pose and J at the q in m.step into m.out, the error into m.e_new; returns Σ e² of the rows that count."""
    x, out, q, e, counts = reals(m.x), reals(m.out), reals(m.step), reals(m.e_new), reals(m.counts)
    for i in range(m.n):
        x[m.first + i] = q[i]
    call(m.program, m.x, m.out)
    rotation_error(out, target, e)
    for k in range(3):
        e[3 + k] = target[9 + k] - out[9 + k]
    if m.in_target:
        turn_to_target(target, e, 0)
        turn_to_target(target, e, 3)
    total = 0.0
    for r in range(6):
        total += counts[r] * e[r] * e[r]
    return total


@part
def rotation_slope(e, column):
    """The rate of the rotation vector e under the angular velocity column[:3], in place, its sign changed.

    ė = −Jr⁻¹ ω with Jr⁻¹ = 1 + ½ ê + k ê², k = 1/θ² − (1 + cos θ)/(2 θ sin θ).
    """
    x, y, z = e[0], e[1], e[2]
    square = x * x + y * y + z * z
    k = 1.0 / 12.0 + square / 720.0
    if square > 1e-4:
        angle = math.sqrt(square)
        k = 1.0 / square - 0.5 * (1.0 + math.cos(angle)) / (angle * max(math.sin(angle), 1e-9))
    a0, a1, a2 = column[0], column[1], column[2]
    b0, b1, b2 = y * a2 - z * a1, z * a0 - x * a2, x * a1 - y * a0
    column[0] = a0 + 0.5 * b0 + k * (y * b2 - z * b1)
    column[1] = a1 + 0.5 * b1 + k * (z * b0 - x * b2)
    column[2] = a2 + 0.5 * b2 + k * (x * b1 - y * b0)


@part
def jacobian_rows(m, target):
    """m.J of the rows that count, from the J that the program left in m.out."""
    n, width = m.n, m.width
    out, J, column, place, counts = reals(m.out), reals(m.J), reals(m.y), wholes(m.column), reals(m.counts)
    for i in range(n):
        c = place[i]
        for r in range(6):
            column[r] = out[12 + n * r + c] if c >= 0 else 0.0
        if m.in_target:
            turn_to_target(target, column, 0)
            turn_to_target(target, column, 3)
        if m.partial:
            rotation_slope(reals(m.e), column)
        for r in range(6):
            J[r * width + i] = counts[r] * column[r]


@part
def factored_solve(A, y):
    """y = A⁻¹ y for a symmetric positive definite A (6, 6), lower half, by Cholesky, in place; False if it is not.

    The diagonal of the factor is kept inverted. Loops of constant length are unrolled by the compiler.
    """
    for j in range(6):
        d = A[7 * j]
        for i in range(j):
            d -= A[6 * j + i] * A[6 * j + i]
        if not d > 0.0:
            return False
        d = 1.0 / math.sqrt(d)
        A[7 * j] = d
        for r in range(j + 1, 6):
            total = A[6 * r + j]
            for i in range(j):
                total -= A[6 * r + i] * A[6 * j + i]
            A[6 * r + j] = total * d
    for j in range(6):
        total = y[j]
        for i in range(j):
            total -= A[6 * j + i] * y[i]
        y[j] = total * A[7 * j]
    for j in range(5, -1, -1):
        total = y[j]
        for i in range(j + 1, 6):
            total -= A[6 * i + j] * y[i]
        y[j] = total * A[7 * j]
    return True


@part
def damped_step(m, damping):
    """m.step = Jᵀ (J Jᵀ + λ)⁻¹ e, the same as (Jᵀ J + λ)⁻¹ Jᵀ e; False if the matrix is not positive definite."""
    width = m.width
    J, A, y, e, counts, step = reals(m.J), reals(m.A), reals(m.y), reals(m.e), reals(m.counts), reals(m.step)
    for a in range(6):
        for b in range(a + 1):
            A[6 * a + b] = 0.0
        A[7 * a] = damping
        y[a] = counts[a] * e[a]
    for block in range(0, width, 8):
        for a in range(6):
            for b in range(a + 1):
                total = 0.0
                for i in range(8):
                    total += J[a * width + block + i] * J[b * width + block + i]
                A[6 * a + b] += total
    if not factored_solve(A, y):
        return False
    for i in range(m.n):
        total = 0.0
        for r in range(6):
            total += J[r * width + i] * y[r]
        step[i] = total
    return True


@part
def hold_at_limits(m):
    """Take out of m.J the coordinates that stand at a limit and that the error pushes beyond it."""
    J, q, e, lower, upper = reals(m.J), reals(m.q), reals(m.e), reals(m.lower), reals(m.upper)
    for i in range(m.n):
        if q[i] <= lower[i] or q[i] >= upper[i]:
            push = 0.0
            for r in range(6):
                push += J[r * m.width + i] * e[r]
            if (push < 0.0 and q[i] <= lower[i]) or (push > 0.0 and q[i] >= upper[i]):
                for r in range(6):
                    J[r * m.width + i] = 0.0


@part
def step_within_limits(m):
    """m.step turned into the next q, kept short and within the limits; False if that moves nothing."""
    q, step, lower, upper = reals(m.q), reals(m.step), reals(m.lower), reals(m.upper)
    longest = 0.0
    for i in range(m.n):
        longest = max(longest, abs(step[i]))
    scale = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    moved = False
    for i in range(m.n):
        value = min(max(q[i] + scale * step[i], lower[i]), upper[i])
        moved = moved or abs(value - q[i]) > 4.0 * ROUNDING * abs(value)
        step[i] = value
    return moved


@part
def descend(m, target):
    """Steps from the q in m.step until the error is below the tolerance; (Σ e², steps). The last good q is in m.q."""
    q, step, e, e_new = reals(m.q), reals(m.step), reals(m.e), reals(m.e_new)
    square, mu, stalled = math.inf, FIRST_DAMPING / SHRINK, 0
    for count in range(m.iterations + 1):
        trial = evaluate_pose(m, target)
        if trial < square:
            if trial > STALLED * STALLED * square:
                stalled += 1
            mu = max(mu * SHRINK, LEAST_DAMPING)
            square = trial
            for i in range(m.n):
                q[i] = step[i]
            for k in range(6):
                e[k] = e_new[k]
            jacobian_rows(m, target)
        else:
            stalled += 1
            mu = min(mu * GROW, MOST_DAMPING)
        if square <= m.tolerance * m.tolerance or stalled > PATIENCE:
            return square, count
        hold_at_limits(m)
        if not damped_step(m, max(0.5 * mu * square, FLOOR)) or not step_within_limits(m):
            return square, count
    return square, m.iterations


@part
def distances(m, target):
    """How far the pose of each start is from the target, squared, less what is the same for all starts.

    That is |p − p_t|² + ½ |R − R_t|², or |p|² − 2 p·p_t − R:R_t and a rest that does not depend on the start.
    """
    distance, sizes = reals(m.distance), reals(m.sizes)
    for k in range(m.known):
        distance[k] = sizes[k]
    for i in range(12):
        factor = target[i]
        row = reals(m.poses + 8 * i * m.known)
        for k in range(m.known):
            distance[k] -= row[k] * factor


@part
def nearest(m):
    """The start with the smallest distance; it is not given again."""
    distance = reals(m.distance)
    found = 0
    for k in range(1, m.known):
        if distance[k] < distance[found]:
            found = k
    distance[found] = USED
    return found


@part
def search(m, target, guess):
    """Attempts from the guess, unless there is none, then from the nearest starts; (Σ e², steps, attempts).

    The answer is in m.best. `guess` is also where coordinates stay that do not move the place.
    """
    q, best_q, step, starts, place = reals(m.q), reals(m.best), reals(m.step), reals(m.starts), wholes(m.column)
    guessed = m.start_kind != UNGUESSED
    best, steps, tried = math.inf, 0, 0
    while tried < m.attempts:
        if tried == (1 if guessed else 0):
            distances(m, target)
        k = -1 if tried == 0 and guessed else nearest(m)
        for i in range(m.n):
            step[i] = starts[k * m.n + i] if k >= 0 and place[i] >= 0 else guess[i]
        square, count = descend(m, target)
        steps += count
        if tried == 0 or square < best:
            best = square
            for i in range(m.n):
                best_q[i] = q[i]
        tried += 1
        if best <= m.tolerance * m.tolerance:
            break
    return best, steps, tried


@loop
def search_loop(memory):
    """Answers and tally for all targets in `memory`."""
    m = memory[0]
    for k in range(m.targets_given):
        guess = m.guesses + 8 * k * m.n
        if m.start_kind == FOLLOWED and k > 0:
            guess = m.answers + 8 * (k - 1) * m.n
        square, steps, tried = search(m, reals(m.targets + 96 * k), reals(guess))
        answer, best, tally = reals(m.answers + 8 * k * m.n), reals(m.best), reals(m.tally + 24 * k)
        for i in range(m.n):
            answer[i] = best[i]
        tally[0], tally[1], tally[2] = math.sqrt(square), steps, tried
