"""Meshes in pages: few triangles that lie where the mesh does, and a sentence wherever less is drawn than there is."""

from __future__ import annotations

import base64
import gzip
import json
import re
import warnings
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import kane
from kane.model import Shape
from kane.model.meshes import mesh_surface
from kane.page.scene import TRIANGLES

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
    assert 0.7 * TRIANGLES.each < len(triangles) <= TRIANGLES.each and triangles.max() < len(places)
    away = np.linalg.norm(places - [0, 0, -1], axis=1)
    assert np.abs(away - 0.1).max() < 0.001  # of a ball of 0.1 m in triangles of some 8 mm
    assert scene["left_out"] == [f"mesh of 'ball' is drawn with {len(triangles)} of {len(ball.faces)} triangles"]
    assert scene["low"][2] == pytest.approx(-1.1, abs=0.06)


def test_beside_meshes_nothing_stands_for_frames_without_mass(tmp_path: Path) -> None:
    trimesh.creation.box((0.2, 0.1, 0.1)).export(tmp_path / "ball.stl")
    frame = "  lens: {{mass: 0}}\njoints:\n  mount: {{type: weld, parent: ball, child: lens, at: [0.3, 0, 0]}}\n"
    text = MODEL.replace("joints:\n", frame).format(file="ball.stl")
    (tmp_path / "carrier.yaml").write_text(text, encoding="utf-8")
    ball, lens = scene_of(kane.load(tmp_path / "carrier.yaml").page(tmp_path / "page.html"))["bodies"]
    assert [p["kind"] for p in ball["pieces"]] == ["mesh"] and lens["pieces"] == []


COLLADA = """<?xml version="1.0"?>
{doctype}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01</created><modified>2020-01-01</modified><unit name="cm" meter="0.01"/>{up}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 10 0 0 0 20 0 0 0 30</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="4"><input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3 3 3</vcount>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><translate>100 0 0</translate><scale>1 1 2</scale>
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
"""A tetrahedron in centimetres, twice as long along z and moved by a metre along x."""


@pytest.mark.parametrize(
    ("up", "corners"),
    [
        ("<up_axis>Z_UP</up_axis>", [(1, 0, 0), (1.1, 0, 0), (1, 0.2, 0), (1, 0, 0.6)]),
        ("<up_axis>Y_UP</up_axis>", [(1, 0, 0), (1.1, 0, 0), (1, 0, 0.2), (1, -0.6, 0)]),
        ("", [(1, 0, 0), (1.1, 0, 0), (1, 0, 0.2), (1, -0.6, 0)]),
        ("<up_axis>X_UP</up_axis>", [(0, 1, 0), (0, 1.1, 0), (-0.2, 1, 0), (0, 1, 0.6)]),
    ],
)
def test_collada_has_units_nodes_and_an_upward_axis(up: str, corners: list[tuple[float, ...]], tmp_path: Path) -> None:
    (tmp_path / "wedge.dae").write_text(COLLADA.format(doctype="", up=up), encoding="utf-8")
    assert np.allclose(np.sort(kane.convex_hull(tmp_path / "wedge.dae").vertices, axis=0), np.sort(corners, axis=0))
    scene = scene_of(write_model(tmp_path, "wedge.dae").page(tmp_path / "page.html"))
    (piece,) = scene["bodies"][0]["pieces"]
    places = numbers(piece["corners"]).reshape(-1, 3) * piece["size"] + piece["at"]
    expected = 0.5 * np.array(corners) + [0, 0, -1]
    assert scene["left_out"] == [] and len(numbers(piece["triangles"])) == 12
    assert np.abs(np.sort(places, axis=0) - np.sort(expected, axis=0)).max() < 1e-4


def outward_volume(file: Path, size: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> float:
    """∫ x · n dA / 3 over a mesh as it is drawn: its volume, negative where its inside is turned out."""
    surface = mesh_surface(Shape("mesh", size, file=file.name, path=str(file)))
    a, b, c = (surface.places[surface.triangles[:, k]] for k in range(3))
    return float(np.sum(np.cross(a, b) * c)) / 6.0


@pytest.mark.parametrize("size", [(1, 1, 1), (1, -1, 1), (-1, -1, 1), (-2, -1, -1)])
def test_a_mesh_that_is_mirrored_keeps_its_outside(size: tuple[float, float, float], tmp_path: Path) -> None:
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "box.stl")
    assert outward_volume(tmp_path / "box.stl", size) == pytest.approx(0.048 * abs(np.prod(size)))
    mirrored = COLLADA.format(doctype="", up="").replace(
        "<scale>1 1 2</scale>", f"<scale>{size[0]} {size[1]} 2</scale>"
    )
    (tmp_path / "wedge.dae").write_text(mirrored, encoding="utf-8")
    assert outward_volume(tmp_path / "wedge.dae") == pytest.approx(0.1 * 0.2 * 0.6 / 6 * abs(size[0] * size[1]))


MATERIALS = "".join(
    f'<effect id="e{i}"><profile_COMMON><technique sid="t"><lambert><diffuse><color>{color}</color></diffuse></lambert>'
    "</technique></profile_COMMON></effect>"
    for i, color in enumerate(("1 0.5 0 1", "0 0.2 2 1"))
)
PAINTED = (
    COLLADA.replace(
        "<library_geometries>",
        f"<library_effects>{MATERIALS}</library_effects><library_materials>"
        '<material id="m0"><instance_effect url="#e0"/></material>'
        '<material id="m1"><instance_effect url="#e1"/></material>'
        "</library_materials><library_geometries>",
    )
    .replace('<polylist count="4">', '<polylist count="3" material="a">')
    .replace("<vcount>3 3 3 3</vcount>", "<vcount>3 3 3</vcount>")
    .replace(
        " 1 2 3</p></polylist>",
        '</p></polylist><triangles count="1" material="b"><input semantic="VERTEX" source="#v" offset="0"/>'
        "<p>1 2 3</p></triangles>",
    )
    .replace(
        '<instance_geometry url="#g"/>',
        '<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="a" target="#m0"/>'
        '<instance_material symbol="b" target="#m1"/></technique_common></bind_material></instance_geometry>',
    )
)
"""The tetrahedron with three sides in orange and one in blue, of which there is more than all."""


def test_collada_is_drawn_in_its_colours_unless_a_shape_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "wedge.dae").write_text(PAINTED.format(doctype="", up=""), encoding="utf-8")
    m = write_model(tmp_path, "wedge.dae")
    pieces = scene_of(m.page(tmp_path / "page.html"))["bodies"][0]["pieces"]
    assert {p["color"]: len(numbers(p["triangles"])) // 3 for p in pieces} == {"#ff8000": 3, "#0033ff": 1}
    text = MODEL.format(file="wedge.dae").replace("at: [0, 0, -1]", "at: [0, 0, -1], color: gold")
    (tmp_path / "gold.yaml").write_text(text, encoding="utf-8")
    (piece,) = scene_of(kane.load(tmp_path / "gold.yaml").page(tmp_path / "page.html"))["bodies"][0]["pieces"]
    assert piece["color"] == "gold" and len(numbers(piece["triangles"])) == 12


def test_a_collada_file_that_would_grow_is_refused_before_it_is_read(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    (tmp_path / "bomb.dae").write_text(COLLADA.format(doctype=bomb, up=""), encoding="utf-8")
    with pytest.raises(kane.InputError, match="DOCTYPE"):
        kane.convex_hull(tmp_path / "bomb.dae")


def test_a_robot_of_collada_meshes_is_drawn_with_them(tmp_path: Path) -> None:
    """As large as trimesh, which reads nodes by itself, says; the files are in metres with z up."""
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    file = Path(str(robots)) / "go1_description" / "meshes" / "thigh.dae"
    (tmp_path / "thigh.dae").write_bytes(file.read_bytes())
    loaded: Any = trimesh.load(file, force="mesh")
    hull = np.array(kane.convex_hull(tmp_path / "thigh.dae", vertices=150).vertices)
    assert np.allclose(hull.min(axis=0), loaded.vertices.min(axis=0), atol=1e-3)
    assert np.allclose(hull.max(axis=0), loaded.vertices.max(axis=0), atol=1e-3)
    scene = scene_of(write_model(tmp_path, "thigh.dae").page(tmp_path / "page.html"))
    assert scene["bodies"][0]["pieces"][0]["kind"] == "mesh"


@pytest.mark.parametrize("file", ["missing.stl", "ball.dae", "broken.stl"])
def test_what_cannot_be_drawn_is_said_and_something_stands_for_it(file: str, tmp_path: Path) -> None:
    (tmp_path / "ball.dae").write_text("<COLLADA/>", encoding="utf-8")
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        scene = scene_of(write_model(tmp_path, file).page(tmp_path / "page.html"))
    (told,) = scene["left_out"]
    assert [str(w.message) for w in warned] == ([told] if (tmp_path / file).exists() else [])
    assert told.startswith("mesh of 'ball' is not drawn: ") and scene["bodies"][0]["pieces"][0]["kind"] == "sphere"


def test_without_the_package_for_meshes_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "ball.stl")
    m = write_model(tmp_path, "ball.stl")
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.warns(UserWarning, match="trimesh"):
        path = m.page(tmp_path / "page.html")
    (told,) = scene_of(path)["left_out"]
    assert "trimesh" in told
