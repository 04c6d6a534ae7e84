"""The compiled search of inverse kinematics: damped Newton steps on the exact Jacobian, from several starts.

One call solves a whole batch of poses, or follows a path of them, and enters no Python. The arm is a flat program
q → (pose, J), called by address. The error of a pose is the rotation vector from where the frame is to where it should
be, and the way between the two origins. With E = ½ |e|² a step solves

    (Jᵀ J + λ) δ = Jᵀ e,    λ = μ E,

so that damping fades with the error and convergence stays quadratic [SUG11]; μ grows where a step does not help and
shrinks where it does. Coordinates that stand at a limit and would leave are held for that step.

Importing this module imports numba; `inverse_kinematics` does so when the first pose is asked for.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..simulate.compiled.call import call, compiled, loop, source_digest

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


class Arm(NamedTuple):
    """The program of an arm, what its coordinates may do, and which part of the pose counts."""

    address: int
    first: int  # where q stands among the program's inputs
    lower: Any  # (n,) limits; ∓inf where there are none
    upper: Any
    column: Any  # (n,) int64: the column of J that belongs to a coordinate; -1 if it does not move the place
    counts: Any  # (6,) 1 for the rows of ω, v that count, 0 for the others
    in_tool: int  # 1: rows are along the axes of the target, 0: along those of N
    partial: int  # 1: some, not all, rotations count


class Search(NamedTuple):
    """Starts and how long to look.

    A start is near a target where |p − p_t|² + ½ |R − R_t|² is small, hence |p|² − 2 p·p_t − R:R_t: the rest is the
    same for all of them.
    """

    starts: Any  # (k, n)
    poses: Any  # (12, k) poses of the starts, R and 2 p; R zero where no rotation counts
    sizes: Any  # (k,) |p|² of the starts
    attempts: int
    iterations: int
    tolerance: float


class Work(NamedTuple):
    """Scratch of one thread."""

    x: Any  # inputs of the program, times and parameters filled in
    out: Any  # (12 + 6 n,): pose and J
    q: Any  # (n,)
    best: Any  # (n,)
    step: Any  # (n,)
    e: Any  # (6,) error
    e_new: Any
    J: Any  # (6, n rounded up to eights); zero in rows that do not count and in columns of held coordinates
    A: Any  # (6, 6)
    y: Any  # (6,)
    distance: Any  # (starts,)


@compiled
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


@compiled
def turned(target, e, at):
    """Three components at e[at:] from axes of N to axes of the target."""
    x, y, z = e[at], e[at + 1], e[at + 2]
    e[at] = target[0] * x + target[3] * y + target[6] * z
    e[at + 1] = target[1] * x + target[4] * y + target[7] * z
    e[at + 2] = target[2] * x + target[5] * y + target[8] * z


@compiled
def evaluated(arm, w, q, target, e):
    """Pose and J of q into w.out, the error into e; returns Σ e² of the rows that count."""
    for i in range(len(q)):
        w.x[arm.first + i] = q[i]
    call(arm.address, w.x.ctypes.data, w.out.ctypes.data)
    rotation_error(w.out, target, e)
    for k in range(3):
        e[3 + k] = target[9 + k] - w.out[9 + k]
    if arm.in_tool:
        turned(target, e, 0)
        turned(target, e, 3)
    total = 0.0
    for r in range(6):
        total += arm.counts[r] * e[r] * e[r]
    return total


@compiled
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


@compiled
def jacobian_rows(arm, w, target):
    """w.J of the rows that count, from the J that the program left in w.out."""
    n = len(w.q)
    column = w.y
    for i in range(n):
        c = arm.column[i]
        for r in range(6):
            column[r] = w.out[12 + n * r + c] if c >= 0 else 0.0
        if arm.in_tool:
            turned(target, column, 0)
            turned(target, column, 3)
        if arm.partial:
            rotation_slope(w.e, column)
        for r in range(6):
            w.J[r, i] = arm.counts[r] * column[r]


@compiled
def factored_solve(A, y):
    """y = A⁻¹ y for a symmetric positive definite A (6, 6), lower half, by Cholesky, in place; False if it is not.

    The diagonal of the factor is kept inverted. Loops of constant length are unrolled by the compiler.
    """
    for j in range(6):
        d = A[j, j]
        for i in range(j):
            d -= A[j, i] * A[j, i]
        if not d > 0.0:
            return False
        d = 1.0 / math.sqrt(d)
        A[j, j] = d
        for r in range(j + 1, 6):
            total = A[r, j]
            for i in range(j):
                total -= A[r, i] * A[j, i]
            A[r, j] = total * d
    for j in range(6):
        total = y[j]
        for i in range(j):
            total -= A[j, i] * y[i]
        y[j] = total * A[j, j]
    for j in range(5, -1, -1):
        total = y[j]
        for i in range(j + 1, 6):
            total -= A[i, j] * y[i]
        y[j] = total * A[j, j]
    return True


@compiled
def damped_step(arm, w, damping):
    """w.step = Jᵀ (J Jᵀ + λ)⁻¹ e, the same as (Jᵀ J + λ)⁻¹ Jᵀ e; False if the matrix is not positive definite."""
    J, A = w.J, w.A
    for a in range(6):
        for b in range(a + 1):
            A[a, b] = 0.0
        A[a, a] = damping
        w.y[a] = arm.counts[a] * w.e[a]
    for block in range(0, J.shape[1], 8):
        for a in range(6):
            for b in range(a + 1):
                total = 0.0
                for i in range(8):
                    total += J[a, block + i] * J[b, block + i]
                A[a, b] += total
    if not factored_solve(A, w.y):
        return False
    for i in range(len(w.q)):
        total = 0.0
        for r in range(6):
            total += J[r, i] * w.y[r]
        w.step[i] = total
    return True


@compiled
def hold_at_limits(arm, w):
    """Take out of w.J the coordinates that stand at a limit and that the error pushes beyond it."""
    for i in range(len(w.q)):
        if w.q[i] <= arm.lower[i] or w.q[i] >= arm.upper[i]:
            push = 0.0
            for r in range(6):
                push += w.J[r, i] * w.e[r]
            if (push < 0.0 and w.q[i] <= arm.lower[i]) or (push > 0.0 and w.q[i] >= arm.upper[i]):
                for r in range(6):
                    w.J[r, i] = 0.0


@compiled
def stepped(arm, w):
    """w.step turned into the next q, kept short and within the limits; False if that moves nothing."""
    n = len(w.q)
    longest = 0.0
    for i in range(n):
        longest = max(longest, abs(w.step[i]))
    scale = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    moved = False
    for i in range(n):
        value = min(max(w.q[i] + scale * w.step[i], arm.lower[i]), arm.upper[i])
        moved = moved or abs(value - w.q[i]) > 4.0 * ROUNDING * abs(value)
        w.step[i] = value
    return moved


@compiled
def descended(arm, w, target, iterations, tolerance):
    """Steps from w.q until the error is below the tolerance; (Σ e², steps). The last q is in w.q."""
    n = len(w.q)
    mu = FIRST_DAMPING
    square = evaluated(arm, w, w.q, target, w.e)
    jacobian_rows(arm, w, target)
    stalled = 0
    goal = tolerance * tolerance
    for count in range(iterations):
        if square <= goal:
            return square, count
        hold_at_limits(arm, w)
        damping = max(0.5 * mu * square, FLOOR)
        if not damped_step(arm, w, damping) or not stepped(arm, w):
            return square, count
        trial = evaluated(arm, w, w.step, target, w.e_new)
        if trial < square:
            if trial > STALLED * STALLED * square:
                stalled += 1
            mu = max(mu * SHRINK, LEAST_DAMPING)
            square = trial
            for i in range(n):
                w.q[i] = w.step[i]
            for k in range(6):
                w.e[k] = w.e_new[k]
            jacobian_rows(arm, w, target)
        else:
            stalled += 1
            mu = min(mu * GROW, MOST_DAMPING)
        if stalled > PATIENCE:
            return square, count + 1
    return square, iterations


@compiled
def distances(search, w, target):
    """How far the pose of each start is from the target, squared, less what is the same for all starts."""
    for k in range(len(w.distance)):
        w.distance[k] = search.sizes[k]
    for i in range(12):
        factor = target[i]
        for k in range(len(w.distance)):
            w.distance[k] -= search.poses[i, k] * factor


@compiled
def nearest(w):
    """The start with the smallest distance; it is not given again."""
    found = 0
    for k in range(1, len(w.distance)):
        if w.distance[k] < w.distance[found]:
            found = k
    w.distance[found] = USED
    return found


@compiled
def searched(arm, search, w, target, guess, guessed):
    """Attempts from the guess, if there is one, then from the nearest starts; (Σ e², steps, attempts), q in w.best."""
    n = len(w.q)
    best, steps, tried = math.inf, 0, 0
    if not guessed:
        distances(search, w, target)
    while tried < search.attempts:
        if tried == 0 and guessed:
            for i in range(n):
                w.q[i] = guess[i]
        else:
            if tried == 1 and guessed:
                distances(search, w, target)
            k = nearest(w)
            for i in range(n):
                w.q[i] = search.starts[k, i] if arm.column[i] >= 0 else guess[i]
        tried += 1
        square, count = descended(arm, w, target, search.iterations, search.tolerance)
        steps += count
        if square < best:
            best = square
            for i in range(n):
                w.best[i] = w.q[i]
        if best <= search.tolerance * search.tolerance:
            break
    return best, steps, tried


def _search_loop(digest):
    """The loop over poses; `digest` ties its cached code to the sources it is made of."""

    @loop
    def search_loop(arm, search, w, targets, guesses, mode, q, tally):
        """Coordinates q (k, n) for targets (k, 12); tally (k, 3) is |e|, steps, attempts.

        Each target is looked for from its guess (k, n) after `mode`: not at all, first, or, where the targets are a
        path, from the answer to the target before it.
        """
        for k in range(len(targets) if digest else 0):
            first = q[k - 1] if mode == FOLLOWED and k > 0 else guesses[k]
            square, steps, tried = searched(arm, search, w, targets[k], first, mode != UNGUESSED)
            for i in range(len(first)):
                q[k, i] = w.best[i]
            tally[k, 0], tally[k, 1], tally[k, 2] = math.sqrt(square), steps, tried

    return search_loop


search_loop = _search_loop(source_digest())
