"""The closed form M u̇ + F = B τ, u = S z, against accelerations, rows of constraints and differences in time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.backends import compile as compile_program
from seeds import generator

REFERENCE = Path(__file__).parents[1] / "reference" / "tanner_mobile_manipulator.json"

CASES = {
    "tanner-mobile-manipulator": {"v": "v.platform.x", "uphi": "uphi", "uq1": "uq1", "uq2": "uq2"},
    "ackermann-car": None,
    "mecanum-platform": None,
    "diff-drive-arm": None,
    "two-robots-one-beam": None,
    "forklift": None,
    "whipple-bicycle": None,
    "four-bar": None,
    "five-bar": None,
    "stewart-platform": None,
    "slider-crank": None,
    "rolling-disc": None,
    "cart-pole": None,
}
"""Models, and their independent speeds where these are not those that the constraints leave."""

TOLERANCE = 1e-8
"""Relative, of accelerations by two eliminations with other pivots, at states of ordinary condition."""


def random_state(m: kane.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A state on the constraints near where the model starts."""
    rng = generator(seed)
    q, u = m.initial_state
    return m.project(q + rng.normal(0, 0.1, len(q)), u + rng.normal(0, 0.5, len(u)))


def choose_z(m: kane.Model, form: kane.ClosedForm, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """z of a state: u = S z + u0."""
    terms = form(q, np.zeros(len(form.speeds)))
    return np.linalg.lstsq(terms.S, u - terms.u0, rcond=None)[0]


@pytest.mark.parametrize("name", list(CASES))
def test_the_closed_form_gives_the_accelerations_of_the_model(name: str) -> None:
    m = kane.load(name)
    form = m.closed_form(speeds=CASES[name])
    rng = generator(17)
    for k in range(3):
        q, u = random_state(m, k)
        z = choose_z(m, form, q, u)
        terms, reduced = form(q, z), form.reduce(q, z)
        size = 1.0 + np.abs(u).max()
        assert np.abs(terms.S @ z + terms.u0 - u).max() < 1e-9 * size
        tau = rng.normal(0, 1, len(m.speeds))
        zdot = np.linalg.solve(reduced.M, reduced.B @ tau - reduced.F)
        expected = m.forward_dynamics(q, u, tau)
        found = terms.S @ zdot + terms.Sdot_z
        assert np.abs(found - expected).max() < TOLERANCE * (1.0 + np.abs(expected).max())
        assert np.abs(terms.M - m.mass_matrix(q)).max() < 1e-9 * np.abs(terms.M).max()
        assert pytest.approx(m.bias(q, u), rel=1e-8, abs=1e-8 * (1.0 + np.abs(terms.F).max())) == terms.F
        S, M = terms.S, terms.M
        assert np.abs(reduced.M - S.T @ M @ S).max() < 1e-9 * np.abs(reduced.M).max()
        right = S.T @ (M @ terms.Sdot_z + terms.F)
        assert np.abs(reduced.F - right).max() < 1e-8 * (1.0 + np.abs(right).max())
        if m.constraints:
            rows = m.constraint_rows(q, u)
            lengths = np.linalg.norm(rows.A, axis=1) + 1e-9
            assert np.abs(rows.A @ S / lengths[:, None]).max() < 1e-8 * np.abs(S).max()
            rate = rows.A @ terms.Sdot_z - rows.b  # the constraint's second derivative
            assert np.abs(rate / lengths).max() < 1e-8 * (1.0 + np.abs(terms.Sdot_z).max())


@pytest.mark.parametrize("name", ["tanner-mobile-manipulator", "ackermann-car", "four-bar", "whipple-bicycle"])
def test_the_rate_of_S_is_that_of_a_difference_in_time(name: str) -> None:
    """S z along q + h q̇ at constant z: (S(q₊) − S(q₋)) z / 2h, on the constraints to the second order."""
    m = kane.load(name)
    form, h = m.closed_form(speeds=CASES[name]), 1e-5
    q, u = random_state(m, 5)
    z = choose_z(m, form, q, u)
    sides = []
    for sign in (1.0, -1.0):
        moved, _ = m.project(q + sign * h * m.qdot(q, u), u)
        terms = form(moved, z)
        sides.append(terms.S @ z + terms.u0)
    terms = form(q, z)
    difference = (sides[0] - sides[1]) / (2 * h)
    assert np.abs(difference - terms.Sdot_z).max() < 1e-4 * (1.0 + np.abs(terms.Sdot_z).max())


def test_the_reduced_form_of_the_paper_example_is_that_of_the_reference() -> None:
    """z = (v, φ̇, q̇₁, q̇₂); τ = steering, drives of three wheels, two joints."""
    told = json.loads(REFERENCE.read_text())["reduced_closed_form"]
    names = json.loads(REFERENCE.read_text())["motions"]
    order = next(iter(names.values() if isinstance(names, dict) else names))["coordinates"]
    m = kane.load("tanner-mobile-manipulator")
    form = m.closed_form(
        speeds=CASES["tanner-mobile-manipulator"],
        inputs=["uphi", "front", "left", "right", "shoulder", "elbow"],
    )
    own = [order.index(c) for c in m.coordinates]
    for state in told["states"]:
        q, z = np.array(state["q"])[own], np.array(state["z"])
        terms, reduced = form(q, z), form.reduce(q, z)
        assert np.abs(terms.S - np.array(state["S"])[own]).max() < 1e-10
        assert np.abs(terms.Sdot_z - np.array(state["S_dot_z"])[own]).max() < 1e-10
        assert np.abs(reduced.M - np.array(state["M"])).max() < 1e-9
        assert np.abs(reduced.F - np.array(state["F"])).max() < 1e-9
        assert np.abs(reduced.B - np.array(state["B"])).max() < 1e-9


def test_programs_of_a_closed_form_agree_with_its_numbers() -> None:
    m = kane.load("four-bar")
    form = m.closed_form(inputs=m.speeds[:1])
    q, u = m.project(u={m.speeds[0]: 1.0})
    z = u[:1]
    terms = form(q, z)
    names = ("M", "F", "B", "S", "Sdot_z")
    plain = compile_program(form.program(*names), "interpret")(q, z)
    for name, value in zip(names, plain, strict=True):
        assert value == pytest.approx(getattr(terms, name), rel=1e-12, abs=1e-12)
    symbolic = form.to_sympy(*names)
    numbers = dict(zip([*m.coordinates, *form.speeds], [*q, *z], strict=True))
    values = {symbolic.symbols[k]: v for k, v in numbers.items() if k in symbolic.symbols}
    found = symbolic.inline()["Sdot_z"]
    assert [float(e.subs(values)) for e in found] == pytest.approx(terms.Sdot_z, rel=1e-10, abs=1e-10)
    assert r"\begin{align*}" in form.to_latex("S")
    assert "void closed_form(" in form.to_c()[0]


def test_a_batch_has_one_form_for_each_state() -> None:
    m = kane.load("ackermann-car")
    form = m.closed_form()
    states = [random_state(m, k) for k in range(4)]
    q = np.array([s[0] for s in states])
    z = np.array([choose_z(m, form, *s) for s in states])
    batch = form(q, z)
    for k in range(4):
        for whole, one in zip(batch, form(q[k], z[k]), strict=True):
            assert whole[k] == pytest.approx(one, rel=1e-12, abs=1e-12)


def test_speeds_that_do_not_determine_the_motion_are_refused() -> None:
    m = kane.load("tanner-mobile-manipulator")
    with pytest.raises(kane.ModelError, match="3 speeds are chosen for 4 degrees of freedom"):
        m.closed_form(speeds=["ux", "uphi", "uq1"])
    with pytest.raises(kane.ModelError, match="do not tell all motions apart"):
        m.closed_form(speeds=["ux", "us1", "uq1", "uq2"])
    with pytest.raises(kane.InputError, match="unknown speed 'vx'"):
        m.closed_form(speeds=["vx", "uphi", "uq1", "uq2"])
    with pytest.raises(kane.InputError, match="a name of its own"):
        m.closed_form(speeds={"ux": "v.platform.x", "uphi": "uphi", "uq1": "uq1", "uq2": "uq2"})
    form = m.closed_form(speeds=["ux", "uphi", "uq1", "uq2"])
    q = m.initial_state[0].copy()
    q[2:4] = np.pi / 2, 0.0  # the platform goes along y: ux says nothing
    with pytest.raises(kane.SingularError, match="do not determine the motion at this state"):
        form(q, np.zeros(4))
    both = form(np.array([m.initial_state[0], q]), np.zeros((2, 4)))
    assert np.all(np.isfinite(both.S[0])) and np.all(np.isnan(both.S[1]))
    with pytest.raises(kane.InputError, match="no part of a closed form is called 'C'"):
        form.program("C")
