"""Impact of one contact along the path of Routh, Darboux and Keller: friction follows the slip as it changes.

The normal impulse P_n grows from 0, and v = (v_n, v_t) changes with it at rates that Coulomb's law gives. While the
contact slips, dP_t = −mu sign(v_t) dP_n. Where the slip stops it sticks if mu ≥ |W_tn| / W_tt, else it slips on, in the
direction of W_tn, for good. So v_n is linear in P_n with one kink at most. Compression ends where v_n rises through 0.
It may begin with v_n = 0, if the slip drives the contact together (the impact without collision of Painlevé's rod). How
much restitution follows is what laws differ in: v_n⁺ = −e v_n⁻, or P_n = (1 + e) P_c, or
a work of e² that of compression.

In space the slip turns on its way, dv/dP_n = W (1, −mu d) with d its direction, and the path is integrated. There it
serves impacts without collision, which end where v_n is zero again.
"""

from __future__ import annotations

import math

import numpy as np

from ...constraints.thresholds import HARDLY_MOBILE, ROUNDING
from .call import part

PART_OF_SLIP = 0.02
"""Part of the slip by which it changes in one step along a path in space: an error of 1e-10 in all."""

MOST_STEPS = 4000
"""Steps along a path in space; from any slip down to STOPPED it takes 1500."""

STOPPED = 1e-12
"""Share of the slip at the beginning that is none."""

PATHS = BY_VELOCITY, BY_IMPULSE, BY_WORK = np.int64(0), np.int64(1), np.int64(2)
"""What of compression is restored: Newton's, Poisson's, Stronge's law."""


@part
def later_friction(wtn, wtt, mu):
    """dP_t / dP_n once the slip has stopped."""
    if wtt > 0.0 and abs(wtn) <= mu * wtt:
        return -wtn / wtt
    return -math.copysign(mu, wtn)


@part
def impulse_to_speed(speed, slope, kink, later, wanted):
    """P_n at which v_n has risen from `speed` to `wanted`: by `slope` up to P_n = kink, by `later` from there on."""
    at_kink = speed + slope * kink
    if slope > 0.0 and at_kink >= wanted:
        return (wanted - speed) / slope
    return kink + (wanted - at_kink) / later


@part
def impulse_to_work(slope, kink, later, work):
    """P_n at which v_n, which rises from 0 in the same way, has done so much work, the integral of v_n dP_n."""
    if kink <= 0.0:
        return math.sqrt(2.0 * work / later)
    before = 0.5 * slope * kink * kink
    if work <= before:
        return math.sqrt(2.0 * work / slope)
    speed = slope * kink
    return kink + (math.sqrt(speed * speed + 2.0 * later * (work - before)) - speed) / later


@part
def follow_path(path, wnn, wnt, wtn, wtt, vn, vt, mu, e):
    """(P_n, P_t) of the impact with velocities (vn, vt); zeros where nothing is pressed together."""
    later = later_friction(wtn, wtt, mu)
    early, kink = later, 0.0
    if vt != 0.0:
        early = -math.copysign(mu, vt)
        rate = wtn + early * wtt
        kink = -vt / rate if rate * vt < 0.0 else math.inf
    slope, slope_later = wnn + early * wnt, wnn + later * wnt
    if vn == 0.0:  # an impact without collision, if the slip drives the contact together or is about to
        if not (slope <= HARDLY_MOBILE * wnn and kink < math.inf):
            return 0.0, 0.0
        slope = min(slope, 0.0)
    elif vn > 0.0:
        return 0.0, 0.0
    if slope_later <= ROUNDING * wnn and kink < math.inf:  # what slips and what approaches are one motion: it is wedged
        return kink, early * kink
    compression = impulse_to_speed(vn, slope, kink, slope_later, 0.0)
    normal = (1.0 + e) * compression
    if path == BY_VELOCITY:
        normal = impulse_to_speed(vn, slope, kink, slope_later, -e * vn)
    elif path == BY_WORK:
        first = min(kink, compression)
        at_kink = vn + slope * first
        work = 0.5 * (vn + at_kink) * first + 0.5 * at_kink * (compression - first)
        normal = compression + impulse_to_work(slope, kink - compression, slope_later, -e * e * work)
    return normal, early * min(normal, kink) + later * max(normal - kink, 0.0)


@part
def slip_rates(w, mu, x, y):
    """(dv_n, dv_x, dv_y)/dP_n while the contact slips along (x, y); w is W, row by row."""
    size = math.sqrt(x * x + y * y)
    one, two = -mu * x / size, -mu * y / size
    return (
        w[0] + one * w[1] + two * w[2],
        w[3] + one * w[4] + two * w[5],
        w[6] + one * w[7] + two * w[8],
    )


@part
def slip_on(w, mu, x, y, h):
    """Impulses of friction (P_x, P_y) over a normal impulse h, by the classical Runge–Kutta method."""
    one, two, at_x, at_y = 0.0, 0.0, x, y
    for stage in range(4):
        weight = h / 6.0 if stage in (0, 3) else h / 3.0
        size = math.sqrt(at_x * at_x + at_y * at_y)
        one -= weight * mu * at_x / size
        two -= weight * mu * at_y / size
        _, dx, dy = slip_rates(w, mu, at_x, at_y)
        part = h if stage == 2 else 0.5 * h
        at_x, at_y = x + part * dx, y + part * dy
    return one, two


@part
def stick_from(w, mu, vn, p):
    """Let the contact stick from the normal velocity vn on until that is zero, impulses p so far being added to;
    whether friction can hold it. Where it can slip along one line only, W_tt = λ e eᵀ has the inverse W_tt / λ²."""
    size, det = w[4] + w[8], w[4] * w[8] - w[5] * w[7]
    a, b, c, d = w[8], -w[5], -w[7], w[4]
    if det <= ROUNDING * size * size:
        a, b, c, d, det = w[4], w[5], w[7], w[8], size * size
    one, two = -(a * w[3] + b * w[6]) / det, -(c * w[3] + d * w[6]) / det
    slope = w[0] + one * w[1] + two * w[2]
    if not one * one + two * two <= mu * mu:
        return False
    if slope <= ROUNDING * w[0]:  # wedged, and at rest with its slip
        return True
    normal = max(0.0, -vn / slope)
    p[0] += normal
    p[1] += one * normal
    p[2] += two * normal
    return True


@part
def follow_in_space(w, v, mu, p):
    """Impulses p of the impact without collision of a contact in space that slips with (v[1], v[2]); whether it comes
    to an end, with p = 0 where nothing is pressed together. W = w, (3, 3) row by row."""
    p[0], p[1], p[2] = 0.0, 0.0, 0.0
    vn, x, y = 0.0, v[1], v[2]
    least = STOPPED * math.sqrt(x * x + y * y)
    for _ in range(MOST_STEPS):
        size = math.sqrt(x * x + y * y)
        if size <= least:
            return stick_from(w, mu, vn, p)
        dn, dx, dy = slip_rates(w, mu, x, y)
        if vn >= 0.0 and dn > HARDLY_MOBILE * w[0]:
            return True
        h = PART_OF_SLIP * size / math.sqrt(dx * dx + dy * dy)
        one, two = slip_on(w, mu, x, y, h)
        dn = w[0] * h + w[1] * one + w[2] * two
        ends = vn < 0.0 and vn + dn >= 0.0
        if ends:
            h *= -vn / dn
            one, two = slip_on(w, mu, x, y, h)
        p[0] += h
        p[1] += one
        p[2] += two
        vn = w[0] * p[0] + w[1] * p[1] + w[2] * p[2]
        x, y = v[1] + w[3] * p[0] + w[4] * p[1] + w[5] * p[2], v[2] + w[6] * p[0] + w[7] * p[1] + w[8] * p[2]
        if ends:
            return True
    return False
