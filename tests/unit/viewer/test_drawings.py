"""Drawings and films show the bodies: what is in front hides what is behind, meshes are where they are, lines have a
width."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

import kane
from kane.model import Mechanism, Shape
from kane.viewer import drawings
from kane.viewer.appearance import LINE
from kane.viewer.drawings import Scene, corner_normals
from kane.viewer.raster import paint
from kane.viewer.shapes import size

DOTS = 0.03
"""What the dots along an edge are of a silhouette of some hundred dots across, relative."""

RED, BLUE = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])

MODEL = """
kane: 1
name: carrier
bodies:
  ball:
    mass: 1
    center: [0, 0, -1]
    shapes: [{{mesh: {file}, at: [0, 0, -1], color: red}}]
joints:
  hinge: {{type: revolute, parent: ground, child: ball, axis: y}}
"""


def square(x: float, y: float, side: float, depths: Any) -> np.ndarray:
    """A face, counter-clockwise where y goes down."""
    corners = [[x, y], [x, y + side], [x + side, y + side], [x + side, y]]
    return np.column_stack([corners, np.broadcast_to(depths, 4)])


def covered(scene: Scene, poses: np.ndarray, fineness: float) -> float:
    """The area (m²) of the silhouette."""
    low, high = scene.box(poses)
    wide, tall = np.ceil((high - low) * fineness).astype(int)
    shown = scene.picture(poses, np.array([low[0], high[1]]), fineness, (int(tall), int(wide)))
    return float(shown[..., 3].sum()) / 255 / fineness**2


def test_of_two_faces_that_cross_each_is_in_front_on_its_own_side() -> None:
    level, tilted = square(0, 0, 40, 0.0), square(0, 0, 40, [-1.0, -1.0, 1.0, 1.0])
    for faces, colors in (([level, tilted], [RED, BLUE]), ([tilted, level], [BLUE, RED])):
        shown = paint(np.array(faces), np.array(colors), np.ones((2, 4)), (40, 40))
        assert (shown[..., 3] == 255).all()
        assert (shown[:, :20, 0] == 255).all() and (shown[:, 20:, 2] == 255).all()


def test_the_inside_of_a_face_is_not_seen_and_a_dot_is_covered_by_its_share() -> None:
    assert not paint(square(2, 2, 4, 0.0)[None, ::-1], RED[None], np.ones((1, 4)), (8, 8)).any()
    half = paint(square(2.5, 2.0, 4, 0.0)[None], RED[None], np.ones((1, 4)), (8, 8))
    assert half[3, 2:7, 3].tolist() == [128, 255, 255, 255, 128]
    assert half[3, 2, :3].tolist() == [255, 0, 0]


def test_light_goes_over_from_corner_to_corner() -> None:
    shown = paint(square(0, 0, 100, 0.0)[None], RED[None], np.array([[0.0, 0.0, 1.0, 1.0]]), (100, 100))
    expected = 255 * (np.arange(100) + 0.5) / 100
    assert np.abs(shown[..., 0] - expected).max() <= 1.0


def test_a_mesh_is_drawn_as_large_as_it_is(tmp_path: Path) -> None:
    """A ball of 0.2 m covers π r² from any side."""
    trimesh.creation.icosphere(subdivisions=5, radius=0.2).export(tmp_path / "ball.stl")
    (tmp_path / "carrier.yaml").write_text(MODEL.format(file="ball.stl"), encoding="utf-8")
    m = kane.load(tmp_path / "carrier.yaml")
    for angle in (0.0, 1.0):
        poses = m.poses([angle])
        assert covered(Scene.of(m.mechanism, poses), poses, 500.0) == pytest.approx(np.pi * 0.04, rel=DOTS)
    path = m.simulate(np.linspace(0, 0.2, 3), u=[1.0]).animate(tmp_path / "ball.gif")
    with Image.open(path) as film:
        colors = np.asarray(film.convert("RGB"), dtype=int)
    assert ((colors[..., 0] > 100) & (colors[..., 1:].max(axis=2) < 20)).mean() > 0.1


def test_a_mesh_that_cannot_be_read_leaves_a_body_its_lines(tmp_path: Path) -> None:
    (tmp_path / "ball.stl").write_text("no mesh", encoding="utf-8")
    (tmp_path / "carrier.yaml").write_text(MODEL.format(file="ball.stl"), encoding="utf-8")
    m = kane.load(tmp_path / "carrier.yaml")
    poses = m.poses([0.0])
    with pytest.warns(UserWarning, match=r"mesh of '.*' is not drawn: .*ball\.stl"):
        scene = Scene.of(m.mechanism, poses)
    assert covered(scene, poses, 500.0) > 0.0


def test_a_film_tells_of_meshes_that_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "carrier.yaml").write_text(MODEL.format(file="ball.stl"), encoding="utf-8")
    run = kane.load(tmp_path / "carrier.yaml").simulate([0.0, 0.1])
    with pytest.warns(UserWarning, match=r"mesh not found, left out of pictures: ball.stl\n    fix: "):
        run.animate(tmp_path / "ball.gif")


def test_a_line_is_a_bar_of_visible_thickness() -> None:
    """Seen along x, a bar of length L and radius r covers 2 r L + π r²."""
    m = Mechanism("bar")
    m.body("bar", mass=1.0, shapes=[Shape("line", (0.0, 0.0, 1.0))])
    m.joint("hinge", "revolute", "ground", "bar", axis="x")
    poses = kane.Model.of(m).poses([0.0])
    scene = Scene.of(m, poses)
    scene = Scene(np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]), scene.body, scene.corners, scene.normals, scene.colors)
    assert covered(scene, poses, 2000.0) == pytest.approx(2 * LINE + np.pi * LINE**2, rel=DOTS)


def test_the_size_of_a_tree_is_its_longest_branch() -> None:
    m = Mechanism("comb")
    for name in "abcde":
        m.body(name, mass=1.0, center=[0.5, 0, 0])
        m.joint(f"at {name}", "revolute", "ground", name, axis="z", at=[1.0, 0, 0])
    m.body("end", mass=1.0)
    m.joint("last", "revolute", "a", "end", axis="z", at=[0, 2.0, 0], child_at=[0, 0, 0.25])
    assert size(m) == pytest.approx(1.0 + 2.0 + 0.25)


def test_the_light_on_a_round_mesh_is_that_of_the_surface_and_on_a_box_that_of_its_sides() -> None:
    ball, box = trimesh.creation.icosphere(subdivisions=3), trimesh.creation.box((1, 1, 1))
    corners, triangles = np.array(ball.vertices), np.array(ball.faces)
    assert np.abs(corner_normals(corners, triangles) - corners[triangles]).max() < 0.02  # of facets of 0.1 rad across
    found = corner_normals(np.array(box.vertices), np.array(box.faces))
    assert np.abs(found - np.array(box.face_normals)[:, None]).max() < 1e-12


def test_the_end_of_a_cylinder_lends_its_wall_of_long_triangles_no_light() -> None:
    body = trimesh.creation.cylinder(radius=1.0, height=10.0, sections=48)
    corners, triangles = np.array(body.vertices), np.array(body.faces)
    found, wall = corner_normals(corners, triangles), np.abs(np.array(body.face_normals)[:, 2]) < 0.5
    radial = corners[triangles[wall]] * [1.0, 1.0, 0.0]
    assert np.abs(found[wall] - radial).max() < 2.0 * np.pi / 48  # the angle between two sides
    assert np.abs(np.abs(found[~wall][..., 2]) - 1.0).max() < 1e-12


def test_labels_of_a_tree_lie_over_no_box_and_no_other_label() -> None:
    m = kane.Model("long names", gravity=(0, 0, -9.81))
    parent = "ground"
    for i in range(3):
        m.body(f"left_link_{i}", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
        names = [f"left_leg_{axis}{i}" for axis in ("xx", "yy", "yw")]
        m.joint(f"j{i}", "planar", parent, f"left_link_{i}", coordinates=names)
        parent = f"left_link_{i}"
    assert drawings.has_readable_tree(m.mechanism)
    figure = drawings.tree(m.mechanism)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    extents = [(text.get_bbox_patch() or text).get_window_extent(renderer) for text in texts]
    assert len(texts) == 4 + 2 * 3
    for first, second in combinations(extents, 2):
        assert not first.overlaps(second)
