"""Ten inertial parameters add, shift and turn like those of a cloud of points, which is what they are taken from."""

from __future__ import annotations

import numpy as np
import pytest

from kane.formulation.inertia import Inertia, part_without_effect_on_revolute
from kane.graph import Graph
from laws.trees import rotation
from seeds import generator
from unit.formulation.numbers import Array, matrix, ten, value, vector

ROUNDING = 1e-13


def cloud(seed: int) -> tuple[Array, Array]:
    """(masses, points)."""
    rng = generator(seed)
    return rng.uniform(0.2, 2.0, 5), rng.normal(size=(5, 3))


def about_origin(masses: Array, points: Array) -> tuple[float, Array, Array]:
    I = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    return float(masses.sum()), masses @ points, np.asarray(I)


def inertia_of(graph: Graph, masses: Array, points: Array) -> Inertia:
    m, h, _ = about_origin(masses, points)
    central = about_origin(masses, points - h / m)[2]
    return Inertia.of(graph.const(m), vector(graph, h / m), matrix(graph, central))


def same(body: Inertia, expected: tuple[float, Array, Array]) -> None:
    for here, there in zip(ten(body), expected, strict=True):
        assert np.allclose(here, there, rtol=ROUNDING, atol=ROUNDING)


def test_central_inertia_is_moved_to_the_reference_point() -> None:
    same(inertia_of(Graph(), *cloud(0)), about_origin(*cloud(0)))


def test_bodies_add_up_and_are_taken_apart() -> None:
    graph = Graph()
    (m, p), (n, r) = cloud(1), cloud(2)
    both = inertia_of(graph, m, p) + inertia_of(graph, n, r)
    same(both, about_origin(np.concatenate([m, n]), np.concatenate([p, r])))
    same(both - inertia_of(graph, n, r), about_origin(m, p))


def test_a_shift_moves_all_points() -> None:
    graph = Graph()
    masses, points = cloud(3)
    shift = np.array([0.4, -1.1, 0.7])
    same(inertia_of(graph, masses, points).shift(vector(graph, shift)), about_origin(masses, points + shift))


def test_a_turn_turns_all_points() -> None:
    graph = Graph()
    masses, points = cloud(4)
    R = rotation(generator(4))
    same(inertia_of(graph, masses, points).rotate(matrix(graph, R)), about_origin(masses, points @ R.T))


def test_momentum_energy_and_loads_are_sums_over_the_points() -> None:
    graph = Graph()
    masses, points = cloud(5)
    body = inertia_of(graph, masses, points)
    w, v, alpha, a = generator(5).normal(size=(4, 3))
    velocities = v + np.cross(w, points)
    accelerations = a + np.cross(alpha, points) + np.cross(w, np.cross(w, points))
    p, H = body.momentum(vector(graph, w), vector(graph, v))
    assert np.allclose(value(p), masses @ velocities, atol=ROUNDING)
    assert np.allclose(value(H), masses @ np.cross(points, velocities), atol=ROUNDING)
    T = body.kinetic_energy(vector(graph, w), vector(graph, v))
    assert np.isclose(value([T])[0], 0.5 * masses @ (velocities**2).sum(axis=1), rtol=ROUNDING)

    def skew(x: Array) -> Array:
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    U = matrix(graph, skew(alpha) + skew(w) @ skew(w))
    F, N = body.loads(vector(graph, w), vector(graph, alpha), U, vector(graph, a))
    assert np.allclose(value(F), masses @ accelerations, atol=100 * ROUNDING)
    assert np.allclose(value(N), masses @ np.cross(points, accelerations), atol=100 * ROUNDING)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, -1), (0.6, 0.0, 0.8), (1 / 3, -2 / 3, 2 / 3)])
def test_what_a_revolute_joint_cannot_feel_looks_the_same_at_every_angle(axis: tuple[float, ...]) -> None:
    graph = Graph()
    moved = part_without_effect_on_revolute(inertia_of(graph, *cloud(6)), vector(graph, axis))
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    for angle in (0.3, 1.9):
        R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        same(moved.rotate(matrix(graph, R)), ten(moved))
