"""One contact alone, solved exactly: u = W r + q of its own rows under its law, the other contacts held.

Where friction is fully used, u_t = −α r_t with some α ≥ 0, and r_t lies on a circle whose radius mu r_n depends on it:

    (A + α 1) r_t = −c,   r_n = h − g · r_t,   |r_t| = mu r_n

with A, c, g and h what elimination of the normal row, u_n = 0, leaves of W and q. α is found as in trust regions, since
mu r_n / |r_t| is almost linear in it; where W is positive definite there is one [BD11]. One tangential row is
treated as two of which the second does not move.
"""

from __future__ import annotations

import math

from .call import part, reals, stay_separate, wholes
from .contacts import BOUND, CONE, FREE, set_motion

SEARCHES = 60
"""Steps of the search for α at most; about five are usual, the rest are halvings."""

CLOSE = 1e-14
"""Relative error of |r_t| that ends the search."""

FLAT = 1e-12
"""det A, where W has diagonals of 1 at most, below which it is rounding; the search begins at this α then."""


@part
def tangential_reaction(a11, a12, a21, a22, c1, c2, alpha):
    """(r1, r2) of (A + α 1) r = −c."""
    d11, d22 = a11 + alpha, a22 + alpha
    inverse = -1.0 / (d11 * d22 - a12 * a21)
    return inverse * (d22 * c1 - a12 * c2), inverse * (d11 * c2 - a21 * c1)


@part
def friction_on_circle(a11, a12, a21, a22, c1, c2, mu, h, g1, g2):
    """(r1, r2), the r = −(A + α 1)⁻¹ c with α ≥ 0 and |r| ≤ mu (h − g · r), on the circle unless α = 0; h > 0."""
    stay_separate()
    alpha, low, high = 0.0, 0.0, math.inf
    if not a11 * a22 - a12 * a21 > FLAT:
        alpha = FLAT
    r1, r2 = 0.0, 0.0
    for search in range(SEARCHES):
        r1, r2 = tangential_reaction(a11, a12, a21, a22, c1, c2, alpha)
        size = math.sqrt(r1 * r1 + r2 * r2)
        normal = h - g1 * r1 - g2 * r2
        excess = mu * normal - size
        if (search == 0 and excess >= 0.0) or abs(excess) <= CLOSE * size:
            break
        if excess < 0.0:
            low = alpha
        else:
            high = alpha
        s1, s2 = tangential_reaction(a11, a12, a21, a22, r1, r2, alpha)  # dr/dα
        slope = mu * ((-g1 * s1 - g2 * s2) - normal * (r1 * s1 + r2 * s2) / (size * size))
        following = alpha - excess / slope
        if not (following > low and following < high):
            following = 0.5 * (low + high) if high < math.inf else 2.0 * alpha + abs(a11) + abs(a22)
        if following == alpha:
            break
        alpha = following
    return r1, r2


@part
def solve_disc(w, n, at, count, q1, q2, radius, r):
    """Set r of one or two tangential rows, `at` being the first: |r| ≤ radius, opposite to u = W r + q where u ≠ 0."""
    stay_separate()
    if not radius > 0.0:
        for j in range(at, at + count):
            r[j] = 0.0
        return
    corner = at * n + at
    if count == 1:
        if w[corner] > 0.0:
            r[at] = min(radius, max(-radius, -q1 / w[corner]))
        return
    r[at], r[at + 1] = friction_on_circle(
        w[corner], w[corner + 1], w[corner + n], w[corner + n + 1], q1, q2, 1.0, radius, 0.0, 0.0
    )


@part
def solve_cone(w, n, at, count, qn, q1, q2, mu, floor, r):
    """Set r of a normal row, `at`, and `count` tangential rows after it; u = W r + q."""
    corner = at * n + at
    wn = w[corner]
    h = -qn / wn if wn > 0.0 else 0.0
    if h > 0.0 and mu > 0.0:
        g1, v1, a11, a12, a21, a22 = w[corner + 1] / wn, w[corner + n], w[corner + n + 1], 0.0, 0.0, 1.0
        g2, v2 = 0.0, 0.0
        if count == 2:
            g2, v2 = w[corner + 2] / wn, w[corner + 2 * n]
            a12, a21, a22 = w[corner + n + 2], w[corner + 2 * n + 1], w[corner + 2 * n + 2]
            a12, a21, a22 = a12 - v1 * g2, a21 - v2 * g1, a22 - v2 * g2
        r1, r2 = friction_on_circle(a11 - v1 * g1, a12, a21, a22, q1 + v1 * h, q2 + v2 * h, mu, h, g1, g2)
        normal = h - g1 * r1 - g2 * r2
        if normal >= floor:
            r[at], r[at + 1] = normal, r1
            if count == 2:
                r[at + 2] = r2
            return
    if wn > 0.0 or qn >= 0.0:
        r[at] = max(floor, h) if mu == 0.0 else floor
    second = w[corner + 2 * n] * r[at] if count == 2 else 0.0
    solve_disc(w, n, at + 1, count, q1 + w[corner + n] * r[at], q2 + second, mu * r[at], r)


@part
def solve_contact(m, i):
    """Set r of contact i to what satisfies its law while the other contacts keep theirs."""
    n, at, count, kind = m.n, wholes(m.first)[i], wholes(m.rows)[i], wholes(m.kinds)[i]
    w, r, u = reals(m.w), reals(m.r), reals(m.u)
    if kind == FREE:
        for j in range(at, at + count):
            if w[j * n + j] > 0.0:
                r[j] -= set_motion(m, i, j) / w[j * n + j]
        return
    for j in range(at, at + count):
        set_motion(m, i, j)
    for j in range(at, at + count):
        for l in range(at, at + count):
            u[j] -= w[j * n + l] * r[l]
    mu, floor = reals(m.bound)[i], reals(m.floor)[i]
    if kind == BOUND:
        solve_disc(w, n, at, count, u[at], u[at + 1] if count == 2 else 0.0, mu, r)
    elif kind == CONE:
        solve_cone(w, n, at, count - 1, u[at], u[at + 1], u[at + 2] if count == 3 else 0.0, mu, floor, r)
    elif w[at * n + at] > 0.0:
        r[at] = max(floor, -u[at] / w[at * n + at])
    elif u[at] >= 0.0:
        r[at] = floor
