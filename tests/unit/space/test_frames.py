"""Vectors, dyadics and points: geometry does not depend on the frame in which it is written."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kane.errors import ExpressionError
from kane.graph import Graph
from kane.space import Dyadic, Frame, Point, Vector, position, rotations
from unit.space.numeric import Array, matrix, vector

ROUNDING = 1e-13
VALUES = {"q1": 0.4, "q2": -1.3, "q3": 2.2}


class Tree:
    """N with the branches A → B and D, oriented in three ways, and the same orientations by SciPy."""

    def __init__(self) -> None:
        self.g = g = Graph()
        q1, q2, q3 = (g.input(n) for n in VALUES)
        self.N = Frame("N", g)
        self.A = self.N.rotate_new("A", "y", q1)
        self.B = self.A.euler("B", "space 12", (q2, q3))
        self.D = self.N.rotate_new("D", (0.6, 0.0, 0.8), q3)
        self.E = self.D.quaternion("E", (0.5, 0.5, -0.5, 0.5))
        R_A = Rotation.from_euler("y", VALUES["q1"])
        R_D = Rotation.from_rotvec(VALUES["q3"] * np.array([0.6, 0.0, 0.8]))
        self.R: dict[str, Array] = {
            "N": np.eye(3),
            "A": R_A.as_matrix(),
            "B": (R_A * Rotation.from_euler("xy", [VALUES["q2"], VALUES["q3"]])).as_matrix(),
            "D": R_D.as_matrix(),
            "E": (R_D * Rotation.from_quat([0.5, 0.5, -0.5, 0.5], scalar_first=True)).as_matrix(),
        }

    def frames(self) -> list[Frame]:
        return [self.N, self.A, self.B, self.D, self.E]

    def in_N(self, v: Vector) -> Array:
        """Components in N, by SciPy's orientations."""
        return self.R[v.frame.name] @ vector(v.xyz, VALUES)


def test_re_expression_does_not_change_a_vector() -> None:
    tree = Tree()
    for frame in tree.frames():
        v = frame.vector(0.3, -2.0, 1.1)
        for other in tree.frames():
            moved = v.express(other)
            assert moved.frame is other
            np.testing.assert_allclose(tree.in_N(moved), tree.in_N(v), atol=ROUNDING)


def test_sums_and_products_do_not_depend_on_frames() -> None:
    tree = Tree()
    a, b = tree.B.vector(0.3, -2.0, 1.1), tree.E.vector(1.0, 0.5, -0.7)
    x, y = tree.in_N(a), tree.in_N(b)
    np.testing.assert_allclose(tree.in_N(a + b), x + y, atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(a - b), x - y, atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(-a), -x, atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(2.0 * a), 2 * x, atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(a.cross(b)), np.cross(x, y), atol=ROUNDING)
    np.testing.assert_allclose(vector([a.dot(b), a.magnitude()], VALUES), [x @ y, np.linalg.norm(x)], atol=ROUNDING)


def test_two_vectors_meet_in_the_frame_where_that_costs_less() -> None:
    tree = Tree()
    along_y = tree.A.y  # A turns about y, so A.y is N.y: no operation at all
    everywhere = tree.N.vector(*(tree.g.input(n) for n in ("x", "y", "z")))
    assert (along_y + everywhere).frame is tree.N
    assert (everywhere + along_y).frame is tree.N


def test_a_dyadic_maps_vectors_alike_in_every_frame() -> None:
    tree = Tree()
    g = tree.g
    rows = tuple(rotations.triple(g, row) for row in ((2.0, 0.1, -0.3), (0.1, 1.5, 0.2), (-0.3, 0.2, 1.0)))
    D = Dyadic(tree.B, rows)  # type: ignore[arg-type]
    v = tree.E.vector(0.3, -2.0, 1.1)
    expected = tree.in_N(D.dot(v))
    in_N = tree.R["B"] @ matrix(D.matrix, VALUES) @ tree.R["B"].T
    np.testing.assert_allclose(expected, in_N @ tree.in_N(v), atol=ROUNDING)
    for frame in tree.frames():
        moved = D.express(frame)
        R = tree.R[frame.name]
        np.testing.assert_allclose(R @ matrix(moved.matrix, VALUES) @ R.T, in_N, atol=ROUNDING)
        np.testing.assert_allclose(tree.in_N(moved.dot(v)), expected, atol=ROUNDING)
        np.testing.assert_allclose(tree.in_N((moved + D).dot(v)), 2 * expected, atol=ROUNDING)


def test_positions_add_along_the_tree_of_points_and_change_sign_backwards() -> None:
    tree = Tree()
    O = Point("O", tree.N)
    P = O.locate_new("P", tree.A.vector(1.0, 2.0, 3.0))
    Q = P.locate_new("Q", tree.B.vector(0.1, 0.0, -0.2))
    S = P.locate_new("S", tree.E.vector(0.0, 1.0, 0.5))
    p, q, s = (tree.in_N(x.offset) for x in (P, Q, S))
    np.testing.assert_allclose(tree.in_N(position(Q, O)), p + q, atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(position(O, Q)), -(p + q), atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(position(Q, S)), q - s, atol=ROUNDING)
    np.testing.assert_allclose(tree.in_N(position(Q, Q)), np.zeros(3), atol=ROUNDING)


def test_frames_that_are_not_connected_are_both_named() -> None:
    tree = Tree()
    stray = Frame("Stray", tree.g)
    with pytest.raises(
        ExpressionError, match=r"frames 'B' and 'Stray' are not connected: orient one in the other first"
    ):
        tree.B.x.express(stray)
    with pytest.raises(ExpressionError, match=r"'Stray'.*not connected"):
        _ = tree.B.x + stray.y


def test_points_that_are_not_connected_are_both_named() -> None:
    tree = Tree()
    with pytest.raises(ExpressionError, match=r"points 'Q' and 'P' are not connected: locate one from the other first"):
        position(Point("Q", tree.N), Point("P", tree.N))


def test_an_axis_that_is_not_a_unit_vector_is_refused() -> None:
    N = Frame("N", Graph())
    with pytest.raises(
        ExpressionError, match=r"axis \[1\.0, 1\.0, 0\.0\] has length 1\.41421: an axis is a unit vector"
    ):
        N.rotate_new("A", (1.0, 1.0, 0.0), 0.3)
    with pytest.raises(ExpressionError, match="'w' is not an axis: write x, y, z"):
        N.rotate_new("A", "w", 0.3)


def test_frames_of_two_models_do_not_mix() -> None:
    with pytest.raises(ExpressionError):
        _ = Tree().B.x + Tree().B.y


def test_a_vector_prints_its_components_and_its_frame() -> None:
    tree = Tree()
    assert repr(tree.A.vector(0, 2, 0)) == "2 A.y"
    assert repr(tree.A.vector(0, 0, 0)) == "0"
