"""The whole pipeline on a pendulum: describe, formulate, count, compile, ask, simulate, check."""

from __future__ import annotations

import math

import numpy as np

from kane import Model
from kane.analysis import check
from kane.graph import parse

G, L, M = 9.81, 0.7, 1.3
ROUNDING = 1e-14


def pendulum() -> Model:
    """A particle on a massless rod of length L, hanging along −z at q = 0, turning about y."""
    model = Model("pendulum", gravity=[0, 0, -G])
    model.particle("bob", M, center=[0, 0, -L])
    model.joint("pivot", "revolute", "ground", "bob", axis="y", coordinates=["q"], speeds=["u"])
    return model


def test_efforts_and_accelerations_are_those_of_the_formula() -> None:
    """m l² q̈ + m g l sin q = tau."""
    model, (q, u, x) = pendulum(), (0.4, 1.1, -0.7)
    assert math.isclose(
        model.inverse_dynamics([q], [u], [x])[0], M * L**2 * x + M * G * L * math.sin(q), rel_tol=ROUNDING
    )
    assert math.isclose(
        model.forward_dynamics([q], [u], [x])[0], (x - M * G * L * math.sin(q)) / (M * L**2), rel_tol=ROUNDING
    )
    assert math.isclose(model.mass_matrix([q])[0, 0], M * L**2, rel_tol=ROUNDING)


def test_energy_and_momentum_are_those_of_the_formula() -> None:
    model, (q, u) = pendulum(), (0.4, 1.1)
    energy, momentum = model.energy([q], [u]), model.momentum([q], [u])
    assert math.isclose(energy.kinetic, 0.5 * M * (L * u) ** 2, rel_tol=ROUNDING)
    assert math.isclose(energy.potential, -M * G * L * math.cos(q), rel_tol=ROUNDING)
    assert np.allclose(momentum.angular, [0, M * L**2 * u, 0], atol=ROUNDING)
    assert np.allclose(momentum.linear, [-M * L * u * math.cos(q), 0, M * L * u * math.sin(q)], atol=ROUNDING)


def test_the_program_is_as_short_as_the_formula_and_can_be_read_back() -> None:
    program = pendulum().equations().program("inverse_dynamics")
    count = program.count()
    assert (count["mul"], count["add"], count["trig"]) == (2, 1, 1)
    assert parse(str(program)) == program


def test_a_swing_keeps_its_energy_and_every_law_holds() -> None:
    model = pendulum()
    report = check(model.mechanism)
    assert report.passed, str(report)
    swing = model.simulate(np.linspace(0.0, 2.0, 21), q=[1.0], rtol=1e-10, atol=1e-12)
    kept = swing.check(tolerance=1e-9)
    assert kept.passed, str(kept)
