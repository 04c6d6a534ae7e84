"""Impacts: impulses P and velocities v⁺ = v + W P of contacts that close, by one of several laws; for compiled code.

    resolve_impact(law, k, first, rows, kinds, mu, e, n, W, v, P, work) -> natural residual
    impact_size(k, n) -> numbers (8 bytes each) of `work`, for Python

law, k and n are numbers, everything else is an address (int64), as in `coulomb`; e (k,) are the coefficients of
restitution, v (n,) the velocities of the rows before, P (n,) receives the impulses. W is symmetric here. FREE rows come
to rest; BOUND rows take no impulse, since a bounded force has none in an instant. Velocities after are at the address
`after` of the record `impact(work)`; its `law` says by which law they are, `guarded` whether the coefficients of
restitution had to be made equal, `impacts` how many impacts in sequence there were.

- POISSON [GP95]: compression until nothing approaches, P_C under Coulomb's law on v_C; then expansion with normal
  impulses of e P_C at least, under Coulomb's law on v⁺. With equal e, or without friction, no energy is gained;
  else it can be, and then the smallest e of the contacts that act is taken for all.
- NEWTON [MOR88]: v_n⁺ ≥ −e v_n of what approached, under Coulomb's law on v⁺. Where that gains energy: POISSON.
- PLASTIC: compression alone.
- SEQUENTIAL: contacts one after another, in their order and round again, each by itself by Poisson's law, which is
  Newton's where there is no friction, until nothing approaches.
- STRONGE [STR90], PATH_NEWTON, PATH_POISSON: one planar contact, along the path of Routh, Darboux and Keller, see
  `impact_path`. In other cases: POISSON. These laws alone find impacts without collision, where v_n = 0; PATH_NEWTON
  also that of one contact in space.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...constraints.thresholds import SOLVED
from .call import part, reals, record_of, stay_separate, wholes
from .contacts import BOUND, CONE, FREE, NORMAL, work_numbers, work_size
from .coulomb import SOLVING, set_problem, solve_problem
from .impact_path import BY_IMPULSE, BY_VELOCITY, BY_WORK, follow_in_space, follow_path
from .lanes import product
from .step import all_finite, copy_numbers

LAWS = POISSON, NEWTON, STRONGE, SEQUENTIAL, PLASTIC, PATH_NEWTON, PATH_POISSON = range(7)
"""Laws of impact."""

GAIN = 1e-9
"""Share of what impulses do with velocities that a gain of energy has to exceed: natural residuals are smaller."""

APPROACH = 1e-12
"""Share of the largest velocity by which a contact approaches that is none."""

ROUNDS = 50
"""Impacts in sequence per contact at most. Sequences that do not end (three balls of small restitution) have come
close to their limit by then; a simultaneous impact makes an end of what is left."""

FIRST, ALL = np.int64(0), np.int64(-1)
"""The first contact, and in place of one. For plain constants numba would compile parts anew."""

OF_EACH = -1.0
"""In place of a coefficient of restitution for all contacts."""

GIVEN = ("k", "first", "rows", "kinds", "mu", "e", "n", "w", "v", "p")
OWN = (
    "frictions",  # (k,): mu, 0 where a contact takes no impulse
    "before",  # (n,): velocities at the beginning of a stage
    "after",  # (n,): velocities after the impact
    "stage",  # (n,): impulses of a stage
    "problem",  # memory of a contact problem
    "chosen",  # (n,) int64: rows of one impact of a sequence
    "single",  # what that impact is given, and its memory
)
IMPACT = np.dtype([(name, "i8") for name in (*GIVEN, *OWN, "law", "guarded", "impacts")])
"""The record of an impact."""

impact: Callable[..., Any] = record_of(IMPACT)
"""The record of type IMPACT at an address."""

RECORD_NUMBERS = IMPACT.itemsize // 8


def impact_size(k: int, n: int) -> int:
    """How many numbers (8 bytes each) the memory of an impact of k contacts and n rows has."""
    simultaneous = RECORD_NUMBERS + k + 3 * n + work_size(k, n)
    return 2 * simultaneous + n + 5 * k + 2 * n + n * n


@part
def lay_out_impact(m, work):
    """Set the addresses of an impact's own memory, which begins at `work`."""
    m.frictions = work + 8 * RECORD_NUMBERS
    m.before = m.frictions + 8 * m.k
    m.after = m.before + 8 * m.n
    m.stage = m.after + 8 * m.n
    m.problem = m.stage + 8 * m.n
    m.chosen = m.problem + 8 * work_numbers(m.k, m.n)
    m.single = m.chosen + 8 * m.n
    m.guarded, m.impacts = 0, 0
    mu, kinds, frictions = reals(m.mu), wholes(m.kinds), reals(m.frictions)
    for i in range(m.k):
        frictions[i] = 0.0 if kinds[i] == BOUND else mu[i]


@part
def set_impact(k, first, rows, kinds, mu, e, n, w, v, p, work):
    """The record of an impact, laid out in `work`, with no impulses and the velocities before."""
    stay_separate()
    m = impact(work)
    m.k, m.first, m.rows, m.kinds, m.mu, m.e, m.n, m.w, m.v, m.p = k, first, rows, kinds, mu, e, n, w, v, p
    lay_out_impact(m, work)
    impulses = reals(p)
    for j in range(n):
        impulses[j] = 0.0
    copy_numbers(n, v, m.after)
    return m


@part
def is_normal(kind):
    """Whether contacts of this kind have a normal row."""
    return kind in (NORMAL, CONE)


@part
def set_after(m):
    """Set the velocities v⁺ = v + W P."""
    stay_separate()
    n, v, after = m.n, reals(m.v), reals(m.after)
    for j in range(n):
        after[j] = v[j] + product(n, m.w + 8 * j * n, m.p)


@part
def energy_gain(m):
    """(kinetic energy after minus before, what it is small beside): P · (v + v⁺) / 2, and the same with all signs +."""
    p, v, after = reals(m.p), reals(m.v), reals(m.after)
    gain, size = 0.0, 0.0
    for j in range(m.n):
        gain += 0.5 * p[j] * (v[j] + after[j])
        size += 0.5 * abs(p[j]) * (abs(v[j]) + abs(after[j]))
    return gain, size


@part
def gains_energy(m):
    """Whether the impact would add kinetic energy."""
    gain, size = energy_gain(m)
    return gain > GAIN * size


@part
def stage_problem(m, r):
    """The contact problem of a stage: velocities `before` at its beginning, impulses at the address r."""
    return set_problem(m.k, m.first, m.rows, m.kinds, m.frictions, m.n, m.w, m.before, r, m.problem)


@part
def compress(m):
    """Set P of compression and the velocities at its end; the natural residual."""
    stay_separate()
    copy_numbers(m.n, m.v, m.before)
    residual = solve_problem(stage_problem(m, m.p), SOLVING)
    set_after(m)
    return residual


@part
def expand(m, share):
    """Add the impulses of expansion to P, which are those of compression, and set v⁺; the natural residual.

    Restitution is `share` for all contacts, or OF_EACH.
    """
    stay_separate()
    n, e, p, stage = m.n, reals(m.e), reals(m.p), reals(m.stage)
    first, kinds = wholes(m.first), wholes(m.kinds)
    copy_numbers(n, m.after, m.before)
    for j in range(n):
        stage[j] = 0.0
    returns = False
    for i in range(m.k):
        if is_normal(kinds[i]):
            stage[first[i]] = (e[i] if share == OF_EACH else share) * max(p[first[i]], 0.0)
            returns = returns or stage[first[i]] > 0.0
    if not returns:
        return 0.0
    s = stage_problem(m, m.stage)
    floor, unit = reals(s.floor), reals(s.unit)
    for i in range(m.k):
        if is_normal(kinds[i]):
            floor[i] = stage[first[i]] * unit[i]
    residual = solve_problem(s, SOLVING)
    for j in range(n):
        p[j] += stage[j]
    set_after(m)
    return residual


@part
def least_restitution(m):
    """The smallest e of the contacts that have an impulse."""
    first, kinds, e, p = wholes(m.first), wholes(m.kinds), reals(m.e), reals(m.p)
    least = 1.0
    for i in range(m.k):
        if is_normal(kinds[i]) and p[first[i]] > 0.0:
            least = min(least, e[i])
    return least


@part
def poisson(m):
    """Compression and expansion; the natural residual."""
    stay_separate()
    residual = compress(m)
    share = least_restitution(m)
    worst = max(residual, expand(m, OF_EACH))
    if gains_energy(m):
        m.guarded = 1
        clear_impulses(m)
        worst = max(compress(m), expand(m, share))
    return worst


@part
def clear_impulses(m):
    """P = 0."""
    p = reals(m.p)
    for j in range(m.n):
        p[j] = 0.0


@part
def newton(m):
    """Newton's law, as Moreau states it; the natural residual."""
    first, kinds, e, v, before = wholes(m.first), wholes(m.kinds), reals(m.e), reals(m.v), reals(m.before)
    copy_numbers(m.n, m.v, m.before)
    for i in range(m.k):
        if is_normal(kinds[i]):
            before[first[i]] += e[i] * min(v[first[i]], 0.0)
    residual = solve_problem(stage_problem(m, m.p), SOLVING)
    set_after(m)
    return residual


@part
def along_path(m, path):
    """The impact of one planar contact along its path; the natural residual, 0 or, without an answer, inf."""
    at, n, w, v, p = wholes(m.first)[0], m.n, reals(m.w), reals(m.v), reals(m.p)
    e = reals(m.e)[0]
    if n == 1:
        p[at], _ = follow_path(path, w[0], 0.0, 0.0, 1.0, v[0], 0.0, 0.0, e)
    else:
        p[at], p[at + 1] = follow_path(path, w[0], w[1], w[2], w[3], v[0], v[1], reals(m.mu)[0], e)
    set_after(m)
    return 0.0 if all_finite(n, m.after) else math.inf


@part
def without_collision(m):
    """The impact without collision of one contact in space; the natural residual, 0 or, without an answer, inf."""
    if not follow_in_space(reals(m.w), reals(m.v), reals(m.mu)[0], reals(m.p)):
        return math.inf
    set_after(m)
    return 0.0 if all_finite(m.n, m.after) else math.inf


@part
def gather_single(m, chosen):
    """Copy what contact `chosen` and the FREE ones, or all if it is ALL, have of the impact, to the memory of a single
    one with the velocities after; the record of that."""
    k, n, single = m.k, m.n, m.single
    first, rows, kinds = wholes(m.first), wholes(m.rows), wholes(m.kinds)
    to_first, to_rows, to_kinds = wholes(single), wholes(single + 8 * k), wholes(single + 16 * k)
    to_mu, to_e, mu, e = reals(single + 24 * k), reals(single + 32 * k), reals(m.frictions), reals(m.e)
    v, p = single + 40 * k, single + 40 * k + 8 * n
    w = p + 8 * n
    to_v, to_w, of_w, after, row = reals(v), reals(w), reals(m.w), reals(m.after), wholes(m.chosen)
    contacts, count = 0, 0
    for i in range(k):
        if i == chosen or chosen == ALL or kinds[i] == FREE:
            to_first[contacts], to_rows[contacts], to_kinds[contacts] = count, rows[i], kinds[i]
            to_mu[contacts], to_e[contacts] = mu[i], e[i]
            for j in range(first[i], first[i] + rows[i]):
                row[count] = j
                count += 1
            contacts += 1
    for a in range(count):
        to_v[a] = after[row[a]]
        for c in range(count):
            to_w[a * count + c] = of_w[row[a] * n + row[c]]
    lists = single, single + 8 * k, single + 16 * k, single + 24 * k, single + 32 * k
    return set_impact(contacts, *lists, count, w, v, p, w + 8 * n * n)


@part
def largest_speed(m):
    """The largest |v| of a row before the impact."""
    v, largest = reals(m.v), 0.0
    for j in range(m.n):
        largest = max(largest, abs(v[j]))
    return largest


@part
def single_impact(m, chosen):
    """One impact of a sequence, by Poisson's law; its natural residual, relative to velocities at the beginning of all:
    what is left at the end can be rounding."""
    stay_separate()
    s = gather_single(m, chosen)
    residual = poisson(s) * largest_speed(s) / largest_speed(m)
    p, stage, row = reals(m.p), reals(s.p), wholes(m.chosen)
    for a in range(s.n):
        p[row[a]] += stage[a]
    set_after(m)
    m.impacts += 1
    return residual


@part
def sequence(m):
    """Contacts one after another, until nothing approaches; the largest natural residual."""
    k, first, kinds, after = m.k, wholes(m.first), wholes(m.kinds), reals(m.after)
    least, worst, i, quiet = -APPROACH * largest_speed(m), 0.0, FIRST, 0
    while quiet < k and m.impacts < ROUNDS * k:
        moves = kinds[i] == FREE and m.impacts == 0
        if moves or (is_normal(kinds[i]) and after[first[i]] < least):
            worst = max(worst, single_impact(m, i))
            quiet = 0
        else:
            quiet += 1
        i = i + 1 if i + 1 < k else FIRST
    return worst if quiet == k else max(worst, single_impact(m, ALL))


@part
def path_of(law):
    """Which path a law follows, or −1."""
    if law == PATH_NEWTON:
        return BY_VELOCITY
    if law == PATH_POISSON:
        return BY_IMPULSE
    return BY_WORK if law == STRONGE else -1


@part
def resolve_impact(law, k, first, rows, kinds, mu, e, n, w, v, p, work):
    """Set P to the impulses of the impact; returns the natural residual. See the head of the module."""
    m = set_impact(k, first, rows, kinds, mu, e, n, w, v, p, work)
    m.law = law
    if law == PLASTIC:
        return compress(m)
    if law == SEQUENTIAL:
        return sequence(m)
    if law == NEWTON:
        residual = newton(m)
        if residual <= SOLVED and not gains_energy(m):
            return residual
        clear_impulses(m)
    path = path_of(law)
    if law == PATH_NEWTON and k == 1 and n == 3 and wholes(kinds)[0] == CONE and reals(v)[0] == 0.0:
        return without_collision(m)
    if path >= 0 and k == 1 and n <= 2 and is_normal(wholes(kinds)[0]):
        residual = along_path(m, path)
        if path != BY_VELOCITY or not gains_energy(m):
            return residual
        m.law = PATH_POISSON
        return along_path(m, BY_IMPULSE)
    m.law = POISSON
    return poisson(m)
