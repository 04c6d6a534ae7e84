"""Impact of one planar contact along the path of Routh, Darboux and Keller: friction follows the slip as it changes.

The normal impulse P_n grows from 0, and v = (v_n, v_t) changes with it at rates that Coulomb's law gives. While the
contact slips, dP_t = −mu sign(v_t) dP_n. Where the slip stops it sticks if mu ≥ |W_tn| / W_tt, else it slips on, in the
direction of W_tn, for good. So v_n is linear in P_n with one kink at most. Compression ends where v_n rises through 0.
It may begin with v_n = 0, if the slip drives the contact together (the impact without collision of Painlevé's rod). How
much restitution follows is what laws differ in: v_n⁺ = −e v_n⁻, or P_n = (1 + e) P_c, or
a work of e² that of compression.
"""

from __future__ import annotations

import math

import numpy as np

from .call import part

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
    if vn > 0.0 or (vn == 0.0 and not (slope < 0.0 and kink < math.inf)):
        return 0.0, 0.0
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
