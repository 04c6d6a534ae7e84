"""Motions of constrained systems against closed forms: the embedding, its projection, its stabilisation."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from kane.simulate import Embedding, integrate
from unit.simulate.constrained_systems import (
    FOLDING,
    GRAVITY,
    HELIX_RADIUS,
    HELIX_RISE,
    INERTIA,
    SLEIGH_ARM,
    SLEIGH_INERTIA,
    SLEIGH_MASS,
    TURNING,
    embedded,
    folding,
    helix,
    level,
    pendulum,
    repeated,
    rhombi,
    rod,
    sleigh,
)

RTOL, ATOL = 1e-11, 1e-12

CLOSE = 1e-8
"""A motion over some seconds has gathered the errors of its steps."""

ON_CONSTRAINT = 1e-13
"""What is left of a residual after a projection: rounding."""

CONSERVED = 1e-10
"""Of the energy, over a run with the tolerances above."""


def motion(embedding: Embedding, y0: Any, t: Any, n: int, **options: Any) -> Any:
    """The motion with every step projected; (times, states)."""
    workspace = embedding.workspace()
    given = {"project_address": workspace.projection, "rtol": RTOL, "atol": ATOL} | options
    solution = integrate(workspace.rates, y0, t, parameters=np.zeros(n), **given)
    assert solution.outcome.success, solution
    return solution.t, solution.y


def moved(embedding: Embedding, x: Any, states: int) -> Any:
    """The state that the projection makes of the inputs x = [t, q, u, work, tau]."""
    target = embedding.workspace().projection(x)
    assert target.shape == (states,)
    return target


def test_a_point_on_a_circle_swings_like_a_pendulum() -> None:
    """From rest at the angle a off the lowest point: sin(θ/2) = k sn(K − ω t), k = sin(a/2)."""
    start = 2.0
    t, y = motion(embedded(pendulum, 2, 2), [np.sin(start), -np.cos(start), 0, 0, 0], np.linspace(0, 6, 40), 2)
    k = np.sin(start / 2)
    half = k * ellipj(ellipk(k * k) - np.sqrt(GRAVITY) * t, k * k)[0]
    assert np.abs(y[:, 0] - 2 * half * np.sqrt(1 - half**2)).max() < CLOSE
    assert np.abs(y[:, 1] + (1 - 2 * half**2)).max() < CLOSE


def test_every_step_is_on_the_constraints_and_energy_stays() -> None:
    _, y = motion(embedded(pendulum, 2, 2), [1, 0, 0, 0, 0], (0, 10), 2)
    x, h, a, b, work = y.T
    assert np.abs(x**2 + h**2 - 1).max() < ON_CONSTRAINT
    assert np.abs(x * a + h * b).max() < ON_CONSTRAINT * 10  # speeds are up to 4.4 m/s
    assert np.ptp(a**2 + b**2 + 2 * GRAVITY * h) < CONSERVED * 2 * GRAVITY
    assert np.ptp(a**2 + b**2 - work) < CONSERVED * 2 * GRAVITY


def test_a_bead_falls_along_a_helix_whatever_rows_are_said_twice() -> None:
    t, y = motion(embedded(helix, 3, 3, rank=2), [HELIX_RADIUS, 0, 0, 0, 0, 0, 0], np.linspace(0, 2, 30), 3)
    angle = -0.5 * GRAVITY * HELIX_RISE / (HELIX_RADIUS**2 + HELIX_RISE**2) * t**2
    expected = np.stack([HELIX_RADIUS * np.cos(angle), HELIX_RADIUS * np.sin(angle), HELIX_RISE * angle], axis=1)
    assert np.abs(y[:, :3] - expected).max() < CLOSE


def test_a_sleigh_turns_about_its_knife_edge() -> None:
    """With v of the edge and ω: v = V tanh βt, ω = V sqrt(m/J) sech βt, β = m a V / J, J = I + m a²."""
    inertia = SLEIGH_INERTIA + SLEIGH_MASS * SLEIGH_ARM**2
    top = 1.5
    beta, ratio = SLEIGH_MASS * SLEIGH_ARM * top / inertia, top * np.sqrt(SLEIGH_MASS / inertia)
    times = np.linspace(-1, 3, 50)
    v, w = top * np.tanh(beta * times), ratio / np.cosh(beta * times)
    heading = 2 * ratio / beta * np.arctan(np.tanh(beta * times / 2))
    c, s = np.cos(heading), np.sin(heading)
    speeds = np.stack([v * c - SLEIGH_ARM * w * s, v * s + SLEIGH_ARM * w * c, w], axis=1)
    t, y = motion(embedded(sleigh, 3, 3), [0, 0, heading[0], *speeds[0], 0], times, 3)
    assert np.array_equal(t, times)
    assert np.abs(y[:, 2] - heading).max() < CLOSE
    assert np.abs(y[:, 3:6] - speeds).max() < CLOSE


def test_a_row_said_twice_changes_nothing() -> None:
    """For a row of motion and for one that also has a place."""
    for system, n in ((sleigh, 3), (pendulum, 2)):

        def twice(v, system=system):
            plain = system(v)
            return type(plain)(plain.mass, plain.f, repeated(plain.rows), plain.power)

        y0 = [0.6, -0.8, 0.3, 0.8, 0.6, 0.2, 0.0] if n == 3 else [0.6, -0.8, 0.8, 0.6, 0.0]
        alone, again = embedded(system, n, n), embedded(twice, n, n, rank=1)
        y0 = moved(alone, [0, *y0, *[0] * n], 2 * n + 1)
        (_, one), (_, two) = (motion(e, y0, np.linspace(0, 2, 9), n) for e in (alone, again))
        assert np.abs(one - two).max() < CLOSE


def test_a_turned_rod_flings_its_bead_and_its_drive_does_the_work() -> None:
    """r = r0 cosh Ωt; the energy of the bead is what the drive puts in, all of it a reaction's."""
    t, y = motion(embedded(rod, 2, 2, driven=True), [0.1, 0, 0, 0.1 * TURNING, 0], np.linspace(0, 1, 20), 2)
    r, rate = 0.1 * np.cosh(TURNING * t), 0.1 * TURNING * np.sinh(TURNING * t)
    angle = TURNING * t
    assert np.abs(y[:, 0] - r * np.cos(angle)).max() < CLOSE
    assert np.abs(y[:, 1] - r * np.sin(angle)).max() < CLOSE
    energy = rate**2 + (r * TURNING) ** 2
    assert np.abs(y[:, 4] - (energy - energy[0])).max() < CLOSE


def test_without_a_drive_reactions_do_no_work() -> None:
    _, plain = motion(embedded(pendulum, 2, 2), [1, 0, 0, 0, 0], (0, 3), 2)
    _, driven = motion(embedded(pendulum, 2, 2, driven=True), [1, 0, 0, 0, 0], (0, 3), 2)
    assert abs(plain[-1, 4] - driven[-1, 4]) < CLOSE


def test_a_body_stays_level_with_its_quaternion_unit() -> None:
    turn = np.array([np.cos(0.4), 0, 0, np.sin(0.4)])  # about the vertical: the first axis is horizontal
    _, y = motion(embedded(level, 4, 3), [*turn, 1.1, 0, 0.7, 0], (0, 10), 3)
    w, x, h, z = y[:, :4].T
    assert np.abs(y[:, :4] ** 2 @ np.ones(4) - 1).max() < ON_CONSTRAINT
    assert np.abs(2 * (x * z - w * h)).max() < ON_CONSTRAINT
    energy = y[:, 4:7] ** 2 @ np.array(INERTIA)
    assert np.ptp(energy) < CONSERVED * energy[0]
    # spin about the level axis and turn about the vertical are both free
    upward = np.stack([2 * (x * z - w * h), 2 * (h * z + w * x), w**2 - x**2 - h**2 + z**2], axis=1)
    momentum = np.sum(upward * y[:, 4:7] * np.array(INERTIA), axis=1)
    assert np.ptp(momentum) < CONSERVED * 10


@functools.cache
def rhombus(count: int) -> Embedding:
    return embedded(rhombi(count), 2 * count + 1, 2 * count + 1, rank=2 * count)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("rtol", [1e-8, 1e-10])
def test_rhombi_pass_their_flat_position(count: int, rtol: float) -> None:
    """All cranks turn alike, energy is conserved, and the loops stay closed."""
    n = 2 * count + 1
    y0 = [*[np.pi / 2] * (count + 1), *[0.0] * count, *[-1.0] * (count + 1), *[0.0] * count, 0.0]
    options = {"rtol": rtol, "atol": rtol / 100}
    _, y = motion(rhombus(count), y0, (0, 5), n, **options)
    q, u = y[:, :n], y[:, n : 2 * n]
    cranks, bars, first = slice(0, count + 1), slice(count + 1, n), slice(0, count)
    energy = np.sum(u[:, cranks] ** 2 / 6 + GRAVITY / 2 * np.sin(q[:, cranks]), axis=1)
    energy += np.sum(u[:, first] ** 2 / 2 + u[:, bars] ** 2 / 6, axis=1)
    energy += np.sum(np.cos(q[:, first] - q[:, bars]) * u[:, first] * u[:, bars] / 2, axis=1)
    energy += GRAVITY * np.sum(np.sin(q[:, first]) + np.sin(q[:, bars]) / 2, axis=1)
    assert np.ptp(energy) < 20 * rtol * energy[0]
    assert np.ptp(q[:, cranks], axis=1).max() < 1e-8
    assert q[-1, 0] - q[0, 0] < -2 * np.pi
    gap = np.cos(q[:, first]) + np.cos(q[:, bars]) - np.cos(q[:, 1 : count + 1]) - 1
    assert np.abs(gap).max() < 1e-12


def test_a_folding_four_bar_goes_through_its_flat_position_again_and_again() -> None:
    """Two motions branch off there; momentum decides, energy stays, and the loop stays closed."""
    embedding = embedded(folding, 3, 3, rank=2, groups=["loop"] * 3)
    y0 = moved(embedding, [0, 2.0, 0.3, 1.6, 6.0, 0, 0, 0, 0, 0, 0], 7)
    _, y = motion(embedding, y0, (0, 10), 3, rtol=1e-10)
    q, u = y[:, :3], y[:, 3:6]
    a, b, c = FOLDING
    lean = np.cos(q[:, 0] - q[:, 1])
    kinetic = u[:, 0] ** 2 * (a**3 / 6 + b * a * a / 2) + u[:, 1] ** 2 * b**3 / 6 - u[:, 2] ** 2 * c**3 / 6
    kinetic += a * b * b / 2 * lean * u[:, 0] * u[:, 1]
    energy = kinetic + GRAVITY * np.sin(q) @ np.array([a * (a / 2 + b), b * b / 2, c * c / 2])
    assert np.ptp(energy) < 1e-8 * energy[0]
    assert np.abs(np.exp(1j * q) @ np.array(FOLDING) - 2).max() < 1e-12
    assert np.count_nonzero(np.diff(np.sign(np.sin(q[:, 0])))) > 15


def test_a_flat_position_is_announced() -> None:
    """The nearness to singular falls to zero with the angle, and is of the order of one away from it."""
    angles = np.array([1.0, 1e-2, 1e-4, 1e-6, 0.0])
    q = np.stack([angles, angles, 0 * angles], axis=1)
    zeros = np.zeros((5, 3))
    found = rhombus(1).accelerations(np.zeros(5), q, zeros, zeros)
    independent, near = found.independent, found.nearness
    assert near[0] > 0.1
    assert np.all((near[1:4] > 0.1 * angles[1:4]) & (near[1:4] < 10 * angles[1:4]))
    assert near[4] < 1e-15
    assert independent.sum(axis=1).tolist() == [1, 1, 1, 2, 2]


def test_a_violated_start_comes_back_like_a_damped_oscillator() -> None:
    """phi'' + 2 ζ ω phi' + ω² phi = 0: critically damped, phi = phi0 (1 + ω t) exp(−ω t)."""
    embedding = embedded(pendulum, 2, 2, baumgarte=(1.0, 5.0))
    t, y = motion(embedding, [1.1, 0, 0, 0, 0], np.linspace(0, 2, 20), 2, project_address=None)
    phi = y[:, 0] ** 2 + y[:, 1] ** 2 - 1
    assert np.abs(phi - phi[0] * (1 + 5 * t) * np.exp(-5 * t)).max() < CLOSE


def test_a_far_guess_comes_onto_the_constraints_and_work_stays() -> None:
    state = moved(embedded(pendulum, 2, 2), [0, 3, 4, 1, 2, 7, 0, 0], 5)
    assert np.allclose(state[:2], [0.6, 0.8], rtol=0, atol=ON_CONSTRAINT)
    # the speed along the circle, (1, 2)·(−0.8, 0.6), stays
    assert np.allclose(state[2:4], 0.4 * np.array([-0.8, 0.6]), rtol=0, atol=ON_CONSTRAINT)
    assert state[4] == 7


def test_a_state_on_the_constraints_is_left_alone() -> None:
    state = [0.6, -0.8, 0.8, 0.6, 1.5]
    assert np.allclose(moved(embedded(pendulum, 2, 2), [0, *state, 0, 0], 5), state, rtol=0, atol=ON_CONSTRAINT)


def test_a_speed_is_projected_with_the_least_change_in_the_metric_of_the_mass() -> None:
    """δu = −M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁻¹ (A u + c)."""
    heading, u = 0.7, np.array([0.3, -1.2, 0.8])
    state = moved(embedded(sleigh, 3, 3), [0, 1, 2, heading, *u, 0, 0, 0, 0], 7)
    a = np.array([-np.sin(heading), np.cos(heading), -SLEIGH_ARM])
    light = a / np.array([SLEIGH_MASS, SLEIGH_MASS, SLEIGH_INERTIA])
    assert np.allclose(state[3:6], u - light * (a @ u) / (a @ light), rtol=0, atol=ON_CONSTRAINT)


def test_a_state_that_is_not_a_number_stays_one_and_ends_the_motion() -> None:
    embedding = embedded(pendulum, 2, 2)
    assert np.isnan(moved(embedding, [0, np.nan, 1, 0, 0, 0, 0, 0], 5)[:4]).any()
    udot = embedding.accelerations([0.0], [[np.nan, 1.0]], [[0.0, 0.0]], [[0.0, 0.0]]).udot
    assert np.isnan(udot).all()


def test_the_same_motion_twice_is_the_same_to_the_bit() -> None:
    embedding = embedded(pendulum, 2, 2)
    first, second = (motion(embedding, [1, 0, 0, 0, 0], (0, 3), 2)[1] for _ in range(2))
    assert np.array_equal(first, second)
