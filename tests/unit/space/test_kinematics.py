"""Velocities and accelerations against differences in time of orientations and positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.errors import ExpressionError
from kane.graph import Expr, Graph
from kane.space import Frame, Kinematics, Point, Vector, rotations
from unit.space.numeric import DIFFERENCE, Array, axial, matrix, rate, vector

TOLERANCE = 30 * DIFFERENCE  # accelerations of size 30
NAMES = ("q1", "q2", "q3")


class Motion:
    """q(t) = q0 + v t + ½ a t² for three coordinates, and a tree of frames and points that they move."""

    def __init__(self, q: list[float], v: list[float], a: list[float], given_rates: bool):
        self.start, self.speed, self.acceleration = np.array(q), np.array(v), np.array(a)
        self.g = g = Graph()
        self.q = [g.input(n) for n in NAMES]
        self.u = [g.input(f"{n}'") for n in NAMES]
        rates: dict[Expr, Expr | float] = {}
        for name, symbol, speed in zip(NAMES, self.q, self.u, strict=True):
            rates[symbol] = speed
            rates[speed] = g.input(f"{name}''")
        self.N = Frame("N", g)
        self.O = Point("O", self.N)
        q1, q2, q3 = self.q
        self.A = self.N.rotate_new("A", "y", q1)
        if given_rates:  # as a joint does: ω and ṗ are stated, not derived
            w = rotations.triple(g, (0, 0, 0))
            for column, speed in zip(rotations.euler_partials("body 31", (q2, q3)), self.u[1:], strict=True):
                w = (w[0] + speed * column[0], w[1] + speed * column[1], w[2] + speed * column[2])
            self.B = self.A.orient_new("B", rotations.euler("body 31", (q2, q3)), w)
        else:
            self.B = self.A.euler("B", "body 31", (q2, q3))
        self.P = self.O.locate_new("P", self.A.vector(0.4, 0.0, q3), home=self.B)
        slide = Vector(self.B, rotations.triple(g, (q1, 0.3, 0)))
        self.Q = self.P.locate_new("Q", slide, rotations.triple(g, (self.u[0], 0, 0)) if given_rates else None)
        self.kinematics = Kinematics(g, rates)

    def values(self, t: float) -> dict[str, float]:
        q = self.start + self.speed * t + 0.5 * self.acceleration * t * t
        u = self.speed + self.acceleration * t
        triples = (("", q), ("'", u), ("''", self.acceleration))
        return {f"{n}{mark}": float(x) for mark, xs in triples for n, x in zip(NAMES, xs, strict=True)}

    def orientation(self, frame: Frame, t: float) -> Array:
        R = np.eye(3)
        step: Frame | None = frame
        while step is not None:
            R = matrix(step.R_PF, self.values(t)) @ R
            step = step.parent
        return R

    def place(self, point: Point, t: float) -> Array:
        """Position from O, in N."""
        p = np.zeros(3)
        step: Point | None = point
        while step is not None:
            p = p + self.orientation(step.offset.frame, t) @ vector(step.offset.xyz, self.values(t))
            step = step.parent
        return p

    def w(self, frame: Frame, t: float) -> Array:
        return vector(self.kinematics.w(frame), self.values(t))

    def v_in_N(self, point: Point, t: float) -> Array:
        return self.orientation(point.home, t) @ vector(self.kinematics.v(point), self.values(t))


numbers = st.lists(st.floats(-2, 2), min_size=3, max_size=3)
motions = st.builds(Motion, numbers, numbers, numbers, st.booleans())


@given(motions)
def test_angular_velocity_is_the_rate_of_the_orientation(motion: Motion) -> None:
    for frame in (motion.A, motion.B):
        R_rate = rate(lambda t, f=frame: motion.orientation(f, t))
        np.testing.assert_allclose(motion.w(frame, 0.0), axial(motion.orientation(frame, 0.0), R_rate), atol=TOLERANCE)


@given(motions)
def test_angular_acceleration_is_the_rate_of_angular_velocity(motion: Motion) -> None:
    for frame in (motion.A, motion.B):
        expected = rate(lambda t, f=frame: motion.w(f, t))  # in the frame itself: ω × ω = 0
        np.testing.assert_allclose(vector(motion.kinematics.alpha(frame), motion.values(0)), expected, atol=TOLERANCE)


@given(motions)
def test_velocity_is_the_rate_of_position(motion: Motion) -> None:
    for point in (motion.P, motion.Q):
        expected = rate(lambda t, p=point: motion.place(p, t))
        np.testing.assert_allclose(motion.v_in_N(point, 0.0), expected, atol=TOLERANCE)


@given(motions)
def test_acceleration_is_the_rate_of_velocity(motion: Motion) -> None:
    for point in (motion.P, motion.Q):
        a = vector(motion.kinematics.a(point), motion.values(0))
        expected = rate(lambda t, p=point: motion.v_in_N(p, t))
        np.testing.assert_allclose(motion.orientation(point.home, 0.0) @ a, expected, atol=TOLERANCE)


@given(motions)
def test_velocities_set_by_the_analyst_give_the_same_accelerations(motion: Motion) -> None:
    derived = [vector(x, motion.values(0)) for x in (motion.kinematics.alpha(motion.B), motion.kinematics.a(motion.Q))]
    motion.B.set_angular_velocity(Vector(motion.B, motion.kinematics.w(motion.B)))
    motion.Q.set_velocity(Vector(motion.Q.home, motion.kinematics.v(motion.Q)))
    again = Kinematics(motion.g, motion.kinematics.rates)
    stated = [vector(x, motion.values(0)) for x in (again.alpha(motion.B), again.a(motion.Q))]
    np.testing.assert_allclose(stated, derived, atol=TOLERANCE)


def test_frames_that_are_not_connected_are_both_named() -> None:
    motion = Motion([0.3, 0.2, -0.5], [1.0, -0.4, 0.8], [0.2, 0.6, -0.1], True)
    with pytest.raises(ExpressionError, match="frames 'B' and 'Stray' are not connected"):
        motion.kinematics.turn(motion.B.x.xyz, motion.B, Frame("Stray", motion.g))


def test_gravity_acts_through_the_acceleration_of_the_base() -> None:
    motion = Motion([0.3, 0.2, -0.5], [1.0, -0.4, 0.8], [0.2, 0.6, -0.1], True)
    up = rotations.triple(motion.g, (0.0, 9.81, 0.0))
    lifted = Kinematics(motion.g, motion.kinematics.rates, base_acceleration=up)
    for point in (motion.P, motion.Q):
        difference = vector(lifted.a(point), motion.values(0)) - vector(motion.kinematics.a(point), motion.values(0))
        np.testing.assert_allclose(motion.orientation(point.home, 0.0) @ difference, [0.0, 9.81, 0.0], atol=1e-12)
    motion.Q.set_velocity(Vector(motion.Q.home, motion.kinematics.v(motion.Q)))
    lifted = Kinematics(motion.g, motion.kinematics.rates, base_acceleration=up)
    still = Kinematics(motion.g, motion.kinematics.rates)
    difference = vector(lifted.a(motion.Q), motion.values(0)) - vector(still.a(motion.Q), motion.values(0))
    np.testing.assert_allclose(motion.orientation(motion.Q.home, 0.0) @ difference, [0.0, 9.81, 0.0], atol=1e-12)
