"""Surfaces are closed and have the right volume; every body is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.model import Shape
from kane.model.mechanism import Mechanism
from kane.viewer.shapes import faces, pieces, up_direction

SHAPES = [
    Shape("box", (0.2, 0.3, 0.5), (1.0, 2.0, 3.0)),
    Shape("cylinder", (0.1, 0.7), (0.0, -1.0, 0.0), "x"),
    Shape("cylinder", (0.1, 0.7), (0.3, 0.0, 0.0), "y"),
    Shape("cylinder", (0.1, 0.7)),
    Shape("sphere", (0.4,), (0.0, 0.0, 2.0)),
]
VOLUMES = [0.03, *[np.pi * 0.01 * 0.7] * 3, 4 / 3 * np.pi * 0.064]
FACETS = 0.06
"""What polygons lose of a round body, relative."""


def area_vector(face: np.ndarray) -> np.ndarray:
    return np.cross(face, np.roll(face, -1, axis=0)).sum(axis=0) / 2


@pytest.mark.parametrize(("shape", "volume"), list(zip(SHAPES, VOLUMES, strict=True)), ids=str)
def test_a_surface_is_closed_points_outward_and_holds_the_volume(shape: Shape, volume: float) -> None:
    surface = faces(shape)
    areas = np.array([area_vector(face) for face in surface])
    assert np.abs(areas.sum(axis=0)).max() < 1e-12
    center = np.array(shape.at)
    held = sum((face.mean(axis=0) - center) @ area for face, area in zip(surface, areas, strict=True)) / 3
    assert held == pytest.approx(volume, rel=FACETS)


def test_a_cylinder_lies_along_its_axis() -> None:
    for axis in "xyz":
        points = np.concatenate(faces(Shape("cylinder", (0.1, 2.0), axis=axis)))
        assert int(np.argmax(np.ptp(points, axis=0))) == "xyz".index(axis)


@pytest.mark.parametrize("name", ["pendulum", "stanford-arm", "free-body"])
def test_every_body_with_mass_is_seen(name: str) -> None:
    model = kane.load(name)
    assert {p.body for p in pieces(model.mechanism)} == set(model.bodies)


def test_a_body_without_shapes_gets_lines_to_its_joints() -> None:
    model = Mechanism("two", gravity=[0, 0, -9.81])
    model.body("upper", mass=1.0, center=[0, 0, -0.5])
    model.body("lower", mass=1.0, center=[0, 0, -0.5])
    model.joint("hip", "revolute", "ground", "upper", axis="x")
    model.joint("knee", "revolute", "upper", "lower", axis="x", at=[0, 0, -1])
    kinds = [(p.body, p.shape.kind) for p in pieces(model)]
    assert kinds.count(("upper", "line")) == 2 and kinds.count(("lower", "line")) == 1
    assert ("upper", "sphere") in kinds


def test_a_body_that_floats_without_shapes_is_the_uniform_box_of_its_inertia() -> None:
    """Sides of 0.2, 0.4 and 0.6 m, turned by 0.5 rad about x."""
    a, b, c, m = 0.2, 0.4, 0.6, 3.0
    own = m / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    R = np.array([[1, 0, 0], [0, np.cos(0.5), -np.sin(0.5)], [0, np.sin(0.5), np.cos(0.5)]])
    I = R @ own @ R.T
    model = Mechanism("craft")
    model.body("bus", mass=m, inertia={"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "yz": I[1, 2]})
    model.joint("flight", "free", "ground", "bus")
    (box,) = (p.shape for p in pieces(model))
    corners = np.concatenate(faces(box)) @ R  # in the principal axes
    assert np.ptp(corners, axis=0) == pytest.approx([a, b, c], rel=1e-9)


@pytest.mark.parametrize("axis", ["y", "-x", [0.6, 0.0, 0.8]])
def test_a_body_that_rolls_without_shapes_is_a_wheel_about_its_axis(axis: Any) -> None:
    model = Mechanism("wheel")
    model.body("disc", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    model.joint("free", "free", "ground", "disc")
    model.constrain("road", kane.Rolling("disc", radius=0.3, axis=axis, center=(0, 0.1, 0)))
    (wheel,) = (p.shape for p in pieces(model) if p.shape.kind == "cylinder")
    along = np.array({"y": [0, 1, 0], "-x": [1, 0, 0]}[axis] if isinstance(axis, str) else axis)
    offsets = np.concatenate(faces(wheel)) - [0, 0.1, 0]
    assert np.abs(offsets @ along).max() == pytest.approx(wheel.size[1] / 2, rel=1e-12)
    assert np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1).max() == pytest.approx(0.3, rel=1e-12)


def test_up_is_against_gravity() -> None:
    assert up_direction(kane.load("stanford-arm").mechanism) == (0.0, 1.0, 0.0)
    assert up_direction(Mechanism("nowhere")) == (0.0, 0.0, 1.0)
