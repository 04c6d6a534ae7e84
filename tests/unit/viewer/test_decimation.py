"""Meshes of fewer triangles are where the mesh is: flat sides stay flat, outlines and the borders of colours stay."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from scipy.spatial import KDTree

from kane.model import Shape
from kane.model.meshes import mesh_surface
from kane.viewer.decimation import decimate
from kane.viewer.meshes import Fineness

ROUND = 5e-3
"""How far triangles of which there are some thirty around leave a round surface, in its radii: 1 - cos(6°)."""

ALONG = 1e-3
"""What corners on flat or straight parts are pulled towards the middle of an edge, in lengths of that."""


def tube(sides: int, rings: int) -> tuple[np.ndarray, np.ndarray]:
    """An open tube about z of radius 1, from z = -1 to z = 1."""
    angle, z = np.meshgrid(2 * np.pi * np.arange(sides) / sides, np.linspace(-1, 1, rings))
    corners = np.stack([np.cos(angle), np.sin(angle), z], axis=-1).reshape(-1, 3)
    at = np.arange(sides * rings).reshape(rings, sides)
    a, b, c, d = at[:-1], np.roll(at, -1, axis=1)[:-1], np.roll(at, -1, axis=1)[1:], at[1:]
    faces = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)], axis=-1)
    return corners, faces.reshape(-1, 3)


def areas(corners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def test_a_mesh_of_few_triangles_stays_as_it_is() -> None:
    box = trimesh.creation.box((0.2, 0.4, 0.6))
    left = decimate(np.array(box.vertices), np.array(box.faces), np.zeros(12, dtype=int), 100)
    shown = trimesh.Trimesh(left.corners, left.triangles, process=False)
    assert len(left.triangles) == 12 and shown.is_watertight and shown.is_winding_consistent
    assert shown.volume == pytest.approx(0.2 * 0.4 * 0.6)


def test_a_box_of_many_triangles_becomes_one_of_few() -> None:
    box = trimesh.creation.box((0.2, 0.4, 0.6)).subdivide().subdivide().subdivide().subdivide()
    left = decimate(np.array(box.vertices), np.array(box.faces), np.zeros(len(box.faces), dtype=int), 40)
    shown = trimesh.Trimesh(left.corners, left.triangles, process=False)
    assert len(left.triangles) <= 40 and shown.is_watertight and shown.is_winding_consistent
    assert shown.volume == pytest.approx(0.2 * 0.4 * 0.6, rel=10 * ALONG)
    assert np.ptp(left.corners, axis=0) == pytest.approx([0.2, 0.4, 0.6], rel=10 * ALONG)


def test_a_ball_stays_round_and_closed() -> None:
    ball = trimesh.creation.icosphere(subdivisions=5)
    left = decimate(np.array(ball.vertices), np.array(ball.faces), np.zeros(len(ball.faces), dtype=int), 1500)
    shown = trimesh.Trimesh(left.corners, left.triangles, process=False)
    assert 1000 < len(left.triangles) <= 1500 and shown.is_watertight and shown.is_winding_consistent
    assert np.abs(np.linalg.norm(left.corners, axis=1) - 1.0).max() < ROUND
    assert np.linalg.norm(left.corners[left.triangles].mean(axis=1), axis=1).min() > 1.0 - 4 * ROUND


@pytest.mark.parametrize("most", [120, 400])
def test_rims_and_the_border_between_two_colours_stay_in_their_planes(most: int) -> None:
    corners, triangles = tube(60, 41)
    labels = (corners[triangles].mean(axis=1)[:, 2] > 0.0).astype(int)
    left = decimate(corners, triangles, labels, most)
    z = left.corners[left.triangles][..., 2]
    upper = labels[left.origin] == 1
    assert len(left.triangles) <= most
    assert z[upper].min() > -ALONG and z[~upper].max() < ALONG
    assert z.max() == pytest.approx(1.0, abs=ALONG) and z.min() == pytest.approx(-1.0, abs=ALONG)
    for which in (upper, ~upper):  # no hole, and nothing twice
        assert areas(left.corners, left.triangles[which]).sum() == pytest.approx(2 * np.pi, rel=4 * ROUND)
    edges = np.sort(np.concatenate([left.triangles[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1)
    found, count = np.unique(edges, axis=0, return_counts=True)
    rims = left.corners[found[count == 1]][..., 2]
    assert np.abs(np.abs(rims) - 1.0).max() < ALONG  # the surface ends there and nowhere else


def test_there_are_never_more_triangles_than_are_allowed() -> None:
    rng = np.random.default_rng(3)
    soup = rng.normal(size=(600, 3))
    triangles = np.arange(600).reshape(-1, 3)
    for most in (0, 1, 20, 150):
        left = decimate(soup, triangles, np.zeros(200, dtype=int), most)
        assert len(left.triangles) <= most
        assert left.triangles.size == 0 or left.triangles.max() < len(left.corners)


LINKS = ["link0", "link4", "link6", "hand"]


@pytest.mark.parametrize("link", LINKS)
def test_a_link_of_the_panda_with_a_tenth_of_its_triangles_is_not_torn(link: str) -> None:
    """All that was there is within 3 mm of what is left, and each colour covers what it did but for a screw or two."""
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    file = Path(str(robots)) / "panda_description" / "meshes" / "visual" / f"{link}.dae"
    whole: Any = mesh_surface(Shape("mesh", (1.0, 1.0, 1.0), file=file.name, path=str(file)))
    known, labels = np.unique(whole.colors, return_inverse=True)
    left = decimate(whole.places, whole.triangles, labels.reshape(-1), 2000)
    before, after = areas(whole.places, whole.triangles), areas(left.corners, left.triangles)
    for k in range(len(known)):
        kept = after[labels.reshape(-1)[left.origin] == k].sum()
        assert kept == pytest.approx(before[labels.reshape(-1) == k].sum(), rel=0.15, abs=3e-4)
    samples = trimesh.sample.sample_surface(trimesh.Trimesh(left.corners, left.triangles), 200_000, seed=1)[0]
    seen = whole.places[np.unique(whole.triangles)]
    assert KDTree(np.asarray(samples)).query(seen)[0].max() < 3e-3


def test_what_small_meshes_do_not_need_is_for_the_others() -> None:
    assert Fineness(4000, 30_000).share([624, 624, 20_000, 20_000]) == 4000
    assert Fineness(4000, 6000).share([500, 1500, 20_000, 20_000]) == 2000
    assert Fineness(4000, 6000).share([20_000] * 6) == 1000
    assert Fineness(4000, 6000).share([]) == Fineness(4000, 6000).share([10, 10]) == 4000
