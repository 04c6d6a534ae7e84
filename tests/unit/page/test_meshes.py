"""Meshes in pages: few triangles that lie where the mesh does, and a sentence wherever less is drawn than there is."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import kane
from kane.page.meshes import MOST_TRIANGLES, simplify_mesh

MODEL = """
kane: 1
name: carrier
gravity: [0, 0, -9.81]
bodies:
  ball:
    mass: 1
    inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}
    shapes: [{{mesh: {file}, scale: [0.5, 0.5, 0.5], at: [0, 0, -1]}}]
joints:
  hinge: {{type: revolute, parent: ground, child: ball, axis: y}}
"""


def scene_of(path: Path) -> dict[str, Any]:
    found = re.search(r'id="kane-data">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])["scene"]


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(gzip.decompress(base64.b64decode(text)), dtype="<u2").astype(float)


def write_model(folder: Path, file: str) -> kane.Model:
    (folder / "carrier.yaml").write_text(MODEL.format(file=file), encoding="utf-8")
    return kane.load(folder / "carrier.yaml")


def test_a_mesh_is_drawn_where_it_is_with_the_triangles_that_are_allowed(tmp_path: Path) -> None:
    ball = trimesh.creation.icosphere(subdivisions=6, radius=0.2)
    ball.export(tmp_path / "ball.stl")
    m = write_model(tmp_path, "ball.stl")
    scene = scene_of(m.page(tmp_path / "page.html"))
    (piece,) = scene["bodies"][0]["pieces"]
    places = numbers(piece["corners"]).reshape(-1, 3) * piece["size"] + piece["at"]
    triangles = numbers(piece["triangles"]).reshape(-1, 3)
    assert 0.7 * MOST_TRIANGLES < len(triangles) <= MOST_TRIANGLES and triangles.max() < len(places)
    away = np.linalg.norm(places - [0, 0, -1], axis=1)
    assert np.abs(away - 0.1).max() < 0.004  # of a ball of 0.1 m in cells of some 8 mm
    assert scene["left_out"] == [f"mesh of 'ball' is drawn with {len(triangles)} of {len(ball.faces)} triangles"]
    assert scene["low"][2] == pytest.approx(-1.1, abs=0.06)


def test_a_small_mesh_stays_as_it_is() -> None:
    box = trimesh.creation.box((0.2, 0.4, 0.6))
    corners, triangles = simplify_mesh(np.array(box.vertices), np.array(box.faces), 100)
    shown = trimesh.Trimesh(corners, triangles, process=False)
    assert len(triangles) == 12 and shown.is_watertight and shown.is_winding_consistent
    assert shown.volume == pytest.approx(0.2 * 0.4 * 0.6)


@pytest.mark.parametrize("file", ["missing.stl", "ball.dae", "broken.stl"])
def test_what_cannot_be_drawn_is_said_and_something_stands_for_it(file: str, tmp_path: Path) -> None:
    (tmp_path / "ball.dae").write_text("<COLLADA/>", encoding="utf-8")
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    scene = scene_of(write_model(tmp_path, file).page(tmp_path / "page.html"))
    (told,) = scene["left_out"]
    assert told.startswith("mesh of 'ball' is not drawn: ") and scene["bodies"][0]["pieces"][0]["kind"] == "sphere"


def test_without_the_package_for_meshes_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "ball.stl")
    m = write_model(tmp_path, "ball.stl")
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    (told,) = scene_of(m.page(tmp_path / "page.html"))["left_out"]
    assert "trimesh" in told
