"""Rotations against SciPy's, and angular velocities against differences of the matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kane.errors import ExpressionError
from kane.graph import Graph
from kane.space import rotations
from unit.space.numeric import DIFFERENCE, axial, matrix, rate, vector

ROUNDING = 1e-14  # a few products of numbers up to 1
AXES = [
    axes
    for n in (1, 2, 3)
    for axes in itertools.product("xyz", repeat=n)
    if all(a != b for a, b in itertools.pairwise(axes))
]
SEQUENCES = [f"{kind} {''.join(axes)}" for kind in ("body", "space") for axes in AXES]
ANGLES = {"a": 0.7, "b": -1.1, "c": 2.3}
RATES = {"a": 0.4, "b": 1.7, "c": -0.9}
angle = st.floats(-7, 7)
component = st.floats(-1, 1)


def test_every_euler_sequence_is_covered() -> None:
    assert sum(len(s.split()[1]) == 3 for s in SEQUENCES) == 24
    assert sum(len(s.split()[1]) == 2 for s in SEQUENCES) == 12


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_sequences_agree_with_scipy(sequence: str) -> None:
    kind, axes = sequence.split()
    g = Graph()
    names = "abc"[: len(axes)]
    R = matrix(rotations.euler(sequence, [g.input(n) for n in names]), ANGLES)
    letters = axes.upper() if kind == "body" else axes
    expected = Rotation.from_euler(letters, [ANGLES[n] for n in names]).as_matrix()
    np.testing.assert_allclose(R, expected, atol=ROUNDING)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_partials_of_euler_angles_give_the_angular_velocity(sequence: str) -> None:
    g = Graph()
    names = "abc"[: len(sequence.split()[1])]
    angles = [g.input(n) for n in names]
    R = rotations.euler(sequence, angles)

    def R_at(t: float) -> np.ndarray:
        return matrix(R, {n: ANGLES[n] + t * RATES[n] for n in names})

    columns = [vector(column, ANGLES) for column in rotations.euler_partials(sequence, angles)]
    w = sum(RATES[n] * column for n, column in zip(names, columns, strict=True))
    np.testing.assert_allclose(w, axial(R_at(0.0), rate(R_at)), atol=DIFFERENCE)


@pytest.mark.parametrize(
    ("digits", "letters"), [("body 321", "body zyx"), ("313", "body zxz"), ("Space 12", "space xy")]
)
def test_axes_may_be_digits_and_body_fixed_is_the_default(digits: str, letters: str) -> None:
    assert rotations.parse_sequence(digits) == rotations.parse_sequence(letters)


@pytest.mark.parametrize(
    "sequence", ["", "body", "body 11", "body 1234", "body 14", "fixed 123", "body space 123", "xxy"]
)
def test_what_is_no_euler_sequence_is_refused(sequence: str) -> None:
    with pytest.raises(ExpressionError, match="is not an Euler sequence: write 'body' or 'space'"):
        rotations.parse_sequence(sequence)


def test_the_number_of_angles_is_the_number_of_axes() -> None:
    g = Graph()
    with pytest.raises(ExpressionError, match="'body 321' takes 3 angles, 2 are given"):
        rotations.euler("body 321", [g.input("a"), g.input("b")])


@given(component, component, component, angle)
def test_rotation_about_an_axis_agrees_with_scipy(x: float, y: float, z: float, turn: float) -> None:
    length = float(np.linalg.norm([x, y, z]))
    axis = np.array([x, y, z]) / length if length > 1e-3 else np.array([0.0, 0.0, -1.0])
    g = Graph()
    R = rotations.about(rotations.triple(g, axis.tolist()), g.input("a"))
    expected = Rotation.from_rotvec(turn * axis).as_matrix()
    np.testing.assert_allclose(matrix(R, {"a": turn}), expected, atol=ROUNDING)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_coordinate_axis_costs_one_sine_and_one_cosine(axis: int, sign: float) -> None:
    g = Graph()
    e = [sign if k == axis else 0.0 for k in range(3)]
    rotations.about(rotations.triple(g, e), g.input("a"))
    assert sorted(op for op in g.ops if op not in ("const", "input", "neg")) == ["cos", "sin"]


@given(component, component, component, component)
def test_quaternions_agree_with_scipy(w: float, x: float, y: float, z: float) -> None:
    length = float(np.linalg.norm([w, x, y, z]))
    wxyz = np.array([w, x, y, z]) / length if length > 1e-3 else np.array([1.0, 0.0, 0.0, 0.0])
    g = Graph()
    R = rotations.quaternion([g.input(n) for n in "wxyz"])
    expected = Rotation.from_quat(wxyz, scalar_first=True).as_matrix()
    np.testing.assert_allclose(matrix(R, dict(zip("wxyz", wxyz.tolist(), strict=True))), expected, atol=ROUNDING)


@given(component, component, component, component, component, component)
def test_quaternion_rates_turn_the_frame_at_the_angular_velocity(
    a: float, b: float, c: float, p: float, q: float, r: float
) -> None:
    start = Rotation.from_rotvec([a, b, c])
    wxyz = start.as_quat(scalar_first=True)
    g = Graph()
    e, w = [g.input(n) for n in "wxyz"], rotations.triple(g, (p, q, r))
    values = dict(zip("wxyz", wxyz.tolist(), strict=True))
    computed = vector(rotations.quaternion_rates(e, w), values)

    def quaternion(t: float) -> np.ndarray:
        turned = (start * Rotation.from_rotvec(np.array([p, q, r]) * t)).as_quat(scalar_first=True)
        return turned * np.sign(turned @ wxyz)

    np.testing.assert_allclose(computed, rate(quaternion), atol=DIFFERENCE)


def test_angular_velocity_from_a_matrix_and_its_rate() -> None:
    g = Graph()
    R = rotations.euler("body zxz", [g.input(n) for n in "abc"])
    rates = [[g.input(f"r{i}{j}") for j in range(3)] for i in range(3)]

    def R_at(t: float) -> np.ndarray:
        return matrix(R, {n: ANGLES[n] + t * RATES[n] for n in "abc"})

    R_rate = rate(R_at)
    values = {**ANGLES, **{f"r{i}{j}": R_rate[i, j] for i in range(3) for j in range(3)}}
    w = vector(rotations.from_matrix(tuple(tuple(row) for row in rates), R), values)  # type: ignore[arg-type]
    np.testing.assert_allclose(w, axial(R_at(0.0), R_rate), atol=DIFFERENCE)


def test_only_orthonormal_right_handed_matrices_are_rotations() -> None:
    R = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix()
    assert rotations.is_rotation(R.tolist())
    assert not rotations.is_rotation((R * 1.001).tolist())
    assert not rotations.is_rotation((R * [1, 1, -1]).tolist()), "left-handed"
    assert not rotations.is_rotation([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]])
    assert not rotations.is_rotation([[float("nan")] * 3] * 3)
