"""Meshes that touch by the vertices of their convex hulls, and shapes of collision of a URDF."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import kane
from kane.errors import InputError
from kane.graph import evaluate

ROUNDING = 1e-12  # m, of bodies of a metre
Array = np.ndarray[Any, Any]


def random_rotation(rng: np.random.Generator) -> Array:
    """A rotation (3, 3) by QR."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def quaternion(R: Array) -> Array:
    """wxyz of a rotation by less than half a turn."""
    w = 0.5 * math.sqrt(max(0.0, 1.0 + np.trace(R)))
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w))])


def egg(folder: Path, subdivisions: int = 3) -> tuple[Path, Array]:
    """An ellipsoid of triangles with a dent, and its vertices (m)."""
    mesh = trimesh.creation.icosphere(subdivisions=subdivisions, radius=1.0)
    mesh.apply_scale([0.3, 0.2, 0.1])
    vertices = np.array(mesh.vertices)
    vertices[np.argmax(vertices[:, 0])] *= 0.5
    path = folder / "egg.stl"
    trimesh.Trimesh(vertices, mesh.faces).export(path)
    written: Any = trimesh.load(path, process=False)  # in single precision
    return path, np.array(written.vertices)


def gap(model: kane.Model, name: str, q: dict[str, float]) -> float:
    """The smallest gap of a contact with several places."""
    parts = [c for n, c in model.changing.items() if n == name or n.startswith(f"{name}.")]
    return min(evaluate([c.rows[0].residual], q)[0] for c in parts if c.rows[0].residual is not None)


def floating(name: str = "stone") -> kane.Model:
    m = kane.Model("stone", gravity=(0, 0, -9.81))
    m.body(name, mass=2.0, inertia={"xx": 0.02, "yy": 0.03, "zz": 0.04})
    m.joint("free", "free", "ground", name, velocity="parent")
    return m


def test_the_whole_hull_touches_where_the_mesh_does(tmp_path: Path) -> None:
    """The gap to a plane is that of the lowest of all vertices of the mesh, whatever its pose."""
    path, vertices = egg(tmp_path, 2)
    hull = kane.convex_hull(path, vertices=1000)
    assert len(hull.vertices) == hull.of < len(vertices) and hull.distance == 0.0
    m = floating()
    m.contact("floor", "stone", "ground", shape=hull.shape)
    rng = np.random.default_rng(2)
    for _ in range(20):
        R, height = random_rotation(rng), rng.uniform(0.5, 1.0)
        values = [*quaternion(R), 0.0, 0.0, height]
        wanted = (vertices @ R.T)[:, 2].min() + height
        found = gap(m, "floor", dict(zip(m.coordinates, values, strict=True)))
        assert found == pytest.approx(wanted, abs=ROUNDING)


@pytest.mark.parametrize("count", [4, 12, 40])
def test_a_reduced_hull_says_how_much_it_is_too_small(count: int, tmp_path: Path) -> None:
    """In every direction it reaches less far than the mesh, by at most the distance, which is no exaggeration."""
    path, vertices = egg(tmp_path)
    hull = kane.convex_hull(path, vertices=count)
    assert len(hull.vertices) == count < hull.of
    assert f"{count} of {hull.of} vertices" in repr(hull)
    kept = np.array(hull.vertices)
    directions = np.random.default_rng(3).normal(size=(20_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    short = (directions @ vertices.T).max(axis=1) - (directions @ kept.T).max(axis=1)
    assert short.min() >= -ROUNDING
    assert 0.8 * hull.distance <= short.max() <= hull.distance * (1.0 + 1e-9)


def test_more_vertices_miss_less(tmp_path: Path) -> None:
    path, _ = egg(tmp_path)
    missed = [kane.convex_hull(path, vertices=n).distance for n in (8, 16, 32, 64, 128)]
    assert missed == sorted(missed, reverse=True) and missed[-1] < 0.1 * missed[0]


def test_a_mesh_of_a_box_falls_as_a_box(tmp_path: Path) -> None:
    """The same motion as with the box itself: it lands on an edge, tips over and comes to rest."""
    sides = (0.25, 0.125, 0.5)  # exact in single precision, which STL has
    trimesh.creation.box(sides).export(tmp_path / "box.stl")
    runs = []
    for shape in ({"box": sides}, kane.convex_hull(tmp_path / "box.stl").shape):
        m = floating()
        m.contact("floor", "stone", "ground", shape=shape, friction=0.4)
        start = [math.cos(0.3), math.sin(0.3), 0.0, 0.0, 0.0, 0.0, 0.4]
        runs.append(m.simulate(0.8, q=start, contacts="stepping", step=2e-3))
    assert all(run.outcome.success for run in runs) and len(runs[0].transitions) > 3
    assert abs(runs[0].q[-1, 6] - 0.4) > 0.05
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-6)


def test_coal_agrees_on_the_distance_of_a_convex_mesh_to_a_plane(tmp_path: Path) -> None:
    coal = pytest.importorskip("coal")
    path, _ = egg(tmp_path, 2)
    hull = kane.convex_hull(path, vertices=1000)
    m = floating()
    m.contact("floor", "stone", "ground", shape=hull.shape)
    model = coal.MeshLoader(coal.NODE_TYPE.BV_OBBRSS).load(str(path), np.ones(3))
    model.buildConvexHull(True, "Qt")
    plane, still = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), coal.Transform3s.Identity()
    rng = np.random.default_rng(4)
    for _ in range(10):
        R, height = random_rotation(rng), rng.uniform(0.5, 1.0)
        pose = coal.Transform3s(R, np.array([0.0, 0.0, height]))
        wanted = coal.distance(model.convex, pose, plane, still, coal.DistanceRequest(), coal.DistanceResult())
        values = [*quaternion(R), 0.0, 0.0, height]
        assert gap(m, "floor", dict(zip(m.coordinates, values, strict=True))) == pytest.approx(wanted, abs=1e-9)


# shapes of collision of a URDF ---------------------------------------------------------------------------------------

URDF = """<robot name="parts">
  <link name="base"/>
  {links}
</robot>"""
LINK = """<link name="{name}">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="9"/></geometry></visual>
    <collision><origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 0.6"/><geometry>{geometry}</geometry></collision>
  </link>
  <joint name="j_{name}" type="floating"><parent link="base"/><child link="{name}"/></joint>"""
GEOMETRIES = {
    "box": '<box size="0.2 0.3 0.4"/>',
    "sphere": '<sphere radius="0.25"/>',
    "cylinder": '<cylinder radius="0.15" length="0.5"/>',
    "mesh": '<mesh filename="egg.stl" scale="2 2 3"/>',
}


def lowest(kind: str, R: Array, at: Array, vertices: Array) -> float:
    """Height of the lowest point of a shape that is turned by R and stands at `at`, from its support along −z."""
    down = -R[2]
    if kind == "sphere":
        return at[2] - 0.25
    if kind == "box":
        return at[2] - 0.5 * float(np.abs(down) @ [0.2, 0.3, 0.4])
    if kind == "cylinder":
        return at[2] - 0.25 * abs(down[2]) - 0.15 * math.hypot(down[0], down[1])
    return at[2] - float((vertices * [2, 2, 3] @ down).max())


def from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """R of a URDF: about fixed axes x, y, z in this order."""
    (a, b), (c, d), (e, f) = ((math.cos(x), math.sin(x)) for x in (roll, pitch, yaw))
    X = np.array([[1, 0, 0], [0, a, -b], [0, b, a]])
    Y = np.array([[c, 0, d], [0, 1, 0], [-d, 0, c]])
    Z = np.array([[e, -f, 0], [f, e, 0], [0, 0, 1]])
    return Z @ Y @ X


def test_shapes_of_collision_touch_where_they_stand(tmp_path: Path) -> None:
    """Box, sphere, cylinder and mesh of a URDF, each turned and shifted in its link, against supports by hand."""
    _, vertices = egg(tmp_path, 2)
    links = "\n".join(LINK.format(name=name, geometry=text) for name, text in GEOMETRIES.items())
    (tmp_path / "parts.urdf").write_text(URDF.format(links=links), encoding="utf-8")
    m = kane.load(tmp_path / "parts.urdf", shapes="collision")
    for name in GEOMETRIES:
        (shape,) = m.bodies[name].shapes
        assert shape.kind == name
        hull = kane.convex_hull(shape, vertices=1000).shape if name == "mesh" else None
        m.contact(f"floor_{name}", name, "ground", shape=hull)
    rng, place = np.random.default_rng(6), np.array([0.1, -0.2, 0.3])
    for _ in range(10):
        R, height = random_rotation(rng), rng.uniform(1.0, 2.0)
        q = dict.fromkeys(m.coordinates, 0.0)
        for name in GEOMETRIES:
            own = [c for c in m.coordinates if c.startswith(f"q_j_{name}")]
            q |= dict(zip(own, [*quaternion(R), 0.0, 0.0, height], strict=True))
        for name in GEOMETRIES:
            turned, at = R @ from_rpy(0.4, -0.5, 0.6), R @ place + [0.0, 0.0, height]
            wanted = lowest(name, turned, at, vertices)
            assert gap(m, f"floor_{name}", q) == pytest.approx(wanted, abs=1e-11), name


def test_a_mesh_alone_does_not_touch_and_it_is_said_how_it_would(tmp_path: Path) -> None:
    egg(tmp_path, 2)
    text = URDF.format(links=LINK.format(name="mesh", geometry=GEOMETRIES["mesh"]))
    (tmp_path / "parts.urdf").write_text(text, encoding="utf-8")
    m = kane.load(tmp_path / "parts.urdf", shapes="collision")
    with pytest.raises(kane.ModelError, match="convex_hull"):
        m.contact("floor", "mesh", "ground")


# refused -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n", "is flat"),
        ("few.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "is no mesh"),
        ("words.stl", "once upon a time", "no mesh|cannot be read"),
        ("nothing.obj", "", "no mesh|cannot be read"),
        ("odd.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", "no mesh|cannot be read"),
        ("mesh.dae", "<COLLADA/>", "no triangles"),
        ("mesh.ply", "ply", "give one of .stl, .obj"),
    ],
)
def test_files_that_are_no_bodies_are_refused(name: str, content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        kane.convex_hull(tmp_path / name)


def test_arguments_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    path, _ = egg(tmp_path, 1)
    for options in ({"vertices": 3}, {"vertices": 1e9}, {"vertices": True}, {"scale": -1.0}, {"scale": "x"}):
        with pytest.raises(InputError, match="give a"):
            kane.convex_hull(path, **options)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="cannot be read"):
        kane.convex_hull(tmp_path / "gone.stl")
    with pytest.raises(InputError, match="is no mesh"):
        kane.convex_hull(None)  # pyright: ignore[reportArgumentType]
    sphere = kane.load("bouncing-ball").bodies["ball"].shapes[0]
    with pytest.raises(InputError, match="a sphere is no mesh"):
        kane.convex_hull(sphere)


def test_a_mesh_outside_the_folder_of_its_model_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    egg(tmp_path, 1)
    text = URDF.format(links=LINK.format(name="mesh", geometry='<mesh filename="../egg.stl"/>'))
    (tmp_path / "home" / "parts.urdf").write_text(text, encoding="utf-8")
    (shape,) = kane.load(tmp_path / "home" / "parts.urdf", shapes="collision").bodies["mesh"].shapes
    with pytest.raises(InputError, match="outside the folder of the model"):
        kane.convex_hull(shape)
