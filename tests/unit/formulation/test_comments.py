"""Comments in a printed program: a line that is said to be a component of something is one, found here by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kane
from kane.model import read_mechanism

LINE = re.compile(r"(z\d+) = ([^#]*?)(?:  # (.*))?$")
ROUNDING = 1e-12


def commented(program: str, values: dict[str, float]) -> list[tuple[str, float]]:
    """(comment, value) of the lines that have one, in floating point."""
    known = {**values, "sin": np.sin, "cos": np.cos}
    found = []
    for line in program.splitlines():
        if match := LINE.match(line):
            name, text, comment = match.groups()
            known[name] = eval(text.replace("'", "_dot"), {}, known)
            if comment:
                found.append((comment, known[name]))
    return found


def turned(vector: complex, angle: float) -> list[float]:
    """Components of a vector in the plane along axes that are turned by an angle."""
    seen = vector * np.exp(-1j * angle)
    return [seen.real, seen.imag]


@pytest.mark.parametrize("seed", range(3))
def test_comments_of_a_double_pendulum_name_what_the_lines_are(seed: int) -> None:
    """Two point masses of 1 kg on rods of 1 m, in the plane x + iy, gravity along x: all by d²/dt² of exp(i angle)."""
    q1, q2, u1, u2, a1, a2 = np.random.default_rng(seed).uniform(-2, 2, 6)
    first, both, w, alpha = q1, q1 + q2, u1 + u2, a1 + a2
    g = 9.81 + 0j
    knee = (1j * a1 - u1**2) * np.exp(1j * first)
    end = knee + (1j * alpha - w**2) * np.exp(1j * both)

    def moment(arm: float, force: complex) -> float:
        return float((np.conj(np.exp(1j * arm)) * force).imag)

    expected = {
        "w_Nlower": [w],
        "alpha_Nlower": [alpha],
        "a_Nupper - g": turned(-g, first),
        "a_Nlower - g": [*turned(knee - g, first), *turned(knee - g, both)],
        "alpha x h + w x (w x h), upper, regrouped": turned(2 * knee, first),  # both masses at the knee
        "alpha x h + w x (w x h), lower, regrouped": turned(end - knee, both),  # the mass itself is the upper body's
        "I alpha + w x I w + h x (a - g), upper, regrouped": [2 * moment(first, knee - g)],
        "I alpha + w x I w + h x (a - g), lower, regrouped": [moment(both, end - g)],
    }
    values = {"q1": q1, "q2": q2, "u1": u1, "u2": u2, "u1_dot": a1, "u2_dot": a2}
    m = kane.load("double-pendulum")
    found = commented(str(m.equations().program("inverse_dynamics")), values)
    assert {comment for comment, _ in found} == set(expected)
    for comment, value in found:
        assert min(abs(abs(value) - abs(x)) for x in expected[comment]) < ROUNDING, (comment, value)


def test_bodies_about_their_mass_centres_have_no_moment_of_a_force_and_no_gravity_where_there_is_none() -> None:
    m = kane.load("free-body")
    values = {name: 0.5 for u in m.speeds for name in (u, f"tau_{u}")}
    found = commented(str(m.equations().program("forward_dynamics")), values)
    assert {comment for comment, _ in found} == {
        "a_Nbody, u' = 0",
        "I alpha + w x I w, body, u' = 0",
    }


ROD = """
kane: 1
name: rod
gravity: [0, 0, -g]
parameters: {g: 9.81, L: {value: 0.8, free: true}, m: {value: 1.5, free: true}, c: {value: 0.02, free: true}}
bodies: {rod: {mass: m, center: [0, 0, -L/2], inertia: {xx: m*L**2/12, yy: m*L**2/12, zz: 0.001}}}
joints: {hinge: {type: revolute, parent: ground, child: rod, axis: y, coordinate: phi, speed: w}}
loads: {bearing: {effort: -c*w, joint: hinge}}
"""


def test_lines_that_rewriting_made_anew_are_named_too() -> None:
    """A rod on a hinge with friction: inertia m L²/3 and first moment m L/2 about the hinge, weight and friction."""
    values = {"phi": 0.7, "w": 1.3, "tau_w": 0.4, "L": 0.8, "m": 1.5, "c": 0.02}
    m = kane.Model.of(read_mechanism(ROD, "rod.yaml"))
    found = commented(str(m.equations().program("forward_dynamics")), values)
    expected = {
        "I, rod": 1.5 * 0.8**2 / 3,
        "h, rod": 1.5 * 0.4,
        "I alpha + w x I w + h x (a - g), rod, u' = 0": 1.5 * 0.4 * 9.81 * np.sin(0.7),
        "load bearing": 0.02 * 1.3,
    }
    assert dict(found) == pytest.approx(expected, rel=ROUNDING)


def test_entries_of_the_mass_matrix_are_named() -> None:
    """M of a double pendulum of unit masses and lengths: 3 + 2 cos q2, 1 + cos q2, 1."""
    values = {name: 0.3 * k + 0.2 for k, name in enumerate(("q1", "q2", "u1", "u2", "tau_u1", "tau_u2"))}
    found = dict(commented(str(kane.load("double-pendulum").equations().program("forward_dynamics")), values))
    assert found["M, u1"] == pytest.approx(3 + 2 * np.cos(0.5), rel=ROUNDING)
    assert found["M, u1 and u2"] == pytest.approx(1 + np.cos(0.5), rel=ROUNDING)
