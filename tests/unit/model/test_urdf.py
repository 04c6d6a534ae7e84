"""URDF read: what each element means, which faults are refused and where, and that nothing hostile gets further."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kane
from kane.errors import ModelError
from kane.graph import evaluate
from kane.model import UrdfOptions, read_urdf
from kane.model.joints import Coupled

ROUNDING = 1e-12  # relative; the same numbers in another order

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="{rpy}"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>'
)


def link(name: str, inside: str = INERTIAL.format(rpy="0 0 0")) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = '<axis xyz="0 0 1"/>') -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<origin xyz="0.5 0 0" rpy="0.3 0 0"/>{inside}</joint>'


def robot(*parts: str) -> str:
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>"


def read(*parts: str, **options: object) -> kane.Model:
    return kane.Model.of(read_urdf(robot(*parts), "r.urdf", options=UrdfOptions(**options)))  # type: ignore[arg-type]


def arm(inside: str = '<axis xyz="0 0 1"/>', kind: str = "revolute", **options: object) -> kane.Model:
    return read(link("base"), link("tip"), joint("elbow", kind, "base", "tip", inside), **options)


def faults(text: str | bytes, **options: object) -> str:
    with pytest.raises(ModelError) as caught:
        read_urdf(text, "r.urdf", options=UrdfOptions(**options))  # type: ignore[arg-type]
    return str(caught.value)


# meaning --------------------------------------------------------------------------------------------------------------


def test_the_inertia_of_a_turned_inertial_is_turned_into_the_link() -> None:
    model = read(link("base"), link("tip", INERTIAL.format(rpy="0.4 -0.7 1.1")), joint("j", "revolute", "base", "tip"))
    r, p, y = 0.4, -0.7, 1.1
    Rx = np.array([[1, 0, 0], [0, math.cos(r), -math.sin(r)], [0, math.sin(r), math.cos(r)]])
    Ry = np.array([[math.cos(p), 0, math.sin(p)], [0, 1, 0], [-math.sin(p), 0, math.cos(p)]])
    Rz = np.array([[math.cos(y), -math.sin(y), 0], [math.sin(y), math.cos(y), 0], [0, 0, 1]])
    I = np.array([[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])
    R = Rz @ Ry @ Rx
    found = [[e.number for e in row] for row in model.bodies["tip"].inertia]
    np.testing.assert_allclose(np.array(found, dtype=float), R @ I @ R.T, rtol=ROUNDING)


def test_axes_are_normalised() -> None:
    slow, fast = arm('<axis xyz="0 0 1"/>'), arm('<axis xyz="0 0 12.5"/>')
    state = ([0.3], [0.7], [-0.2])
    np.testing.assert_allclose(slow.inverse_dynamics(*state), fast.inverse_dynamics(*state), rtol=ROUNDING)


@pytest.mark.parametrize(
    ("kind", "speeds"),
    [("revolute", 1), ("continuous", 1), ("prismatic", 1), ("planar", 3), ("floating", 6)],
)
def test_each_type_of_joint_has_its_degrees_of_freedom(kind: str, speeds: int) -> None:
    assert len(arm(kind=kind).speeds) == speeds


def test_a_fixed_joint_adds_its_link_to_the_parent() -> None:
    jointed = read(link("a"), link("b"), link("c"), joint("j", "revolute", "a", "b"), joint("k", "fixed", "b", "c"))
    assert jointed.coordinates == ("q_j",)
    assert jointed.mass_matrix([0.0])[0, 0] > arm().mass_matrix([0.0])[0, 0]


@pytest.mark.parametrize("axis", ["0 0 1", "0 1 0", "1 2 -2"])
def test_a_planar_joint_slides_in_the_plane_normal_to_its_axis(axis: str) -> None:
    model = arm(f'<axis xyz="{axis}"/>', kind="planar")
    normal = np.array([float(x) for x in axis.split()])
    R = np.array([[1, 0, 0], [0, math.cos(0.3), -math.sin(0.3)], [0, math.sin(0.3), math.cos(0.3)]])
    tip = model.poses([0.0, 0.0, 0.0])[1]
    np.testing.assert_allclose(tip[:9].reshape(3, 3), R, atol=ROUNDING)
    for slide in ([0.4, 0.0, 0.0], [0.0, 0.9, 0.0]):
        moved = model.poses(slide)[1]
        assert np.dot(R @ normal, moved[9:] - tip[9:]) == pytest.approx(0.0, abs=ROUNDING)
        assert np.linalg.norm(moved[9:] - tip[9:]) == pytest.approx(max(slide))
    turned = model.poses([0.0, 0.0, 0.8])[1][:9].reshape(3, 3)
    np.testing.assert_allclose(turned @ normal, R @ normal, atol=ROUNDING)


def test_a_mimic_moves_by_multiplier_and_offset_and_has_no_coordinate() -> None:
    mimic = '<axis xyz="0 1 0"/><mimic joint="j" multiplier="-2" offset="0.3"/>'
    parts = (link("a"), link("b"), link("c"), joint("j", "revolute", "a", "b"))
    coupled = read(*parts, joint("k", "revolute", "b", "c", mimic))
    free = read(*parts, joint("k", "revolute", "b", "c", mimic), mimic=False)
    assert coupled.coordinates == ("q_j",) and free.coordinates == ("q_j", "q_k")
    q, u, udot = 0.4, 0.8, -0.5
    W = np.array([1.0, -2.0])
    theirs = free.inverse_dynamics([q, -2 * q + 0.3], W * u, W * udot)
    assert coupled.inverse_dynamics([q], [u], [udot])[0] == pytest.approx(W @ theirs, rel=ROUNDING)
    M = free.mass_matrix([q, -2 * q + 0.3])
    assert coupled.mass_matrix([q])[0, 0] == pytest.approx(W @ M @ W, rel=ROUNDING)


def test_a_chain_of_mimics_in_any_order_follows_the_first_joint() -> None:
    parts = [link(name) for name in "abcd"]
    parts += [
        joint("m", "revolute", "c", "d", '<mimic joint="k" multiplier="3" offset="1"/>'),
        joint("k", "revolute", "b", "c", '<mimic joint="j" multiplier="2" offset="0.1"/>'),
        joint("j", "revolute", "a", "b"),
    ]
    model = read(*parts)
    kind = model.joints["m"].type
    assert isinstance(kind, Coupled)
    assert kind.follows == "j" and kind.ratio.number == 6.0 and kind.offset.number == pytest.approx(1.3)


def test_damping_takes_energy_at_the_rate_of_its_coefficient() -> None:
    still, damped = arm(), arm('<axis xyz="0 0 1"/><dynamics damping="0.7"/>')
    extra = damped.inverse_dynamics([0.2], [1.5], [0.0]) - still.inverse_dynamics([0.2], [1.5], [0.0])
    assert extra[0] == pytest.approx(0.7 * 1.5, rel=ROUNDING)
    off = arm('<axis xyz="0 0 1"/><dynamics damping="0.7"/>', damping=False)
    assert not off.loads


@pytest.mark.parametrize("rate", [1.5, -1.5])
def test_friction_opposes_the_motion_with_its_own_size(rate: float) -> None:
    still = arm().inverse_dynamics([0.2], [rate], [0.0])[0]
    inside = '<axis xyz="0 0 1"/><dynamics friction="0.4"/>'
    for friction, slack in (("sign", ROUNDING), ("smooth", 1e-6)):
        held = arm(inside, friction=friction).inverse_dynamics([0.2], [rate], [0.0])[0]
        assert held - still == pytest.approx(0.4 * np.sign(rate), rel=slack)
    assert not arm(inside, friction="none").loads


def test_losses_of_a_mimic_act_along_the_coordinate_that_it_follows() -> None:
    mimic = '<axis xyz="0 1 0"/><mimic joint="j" multiplier="-2"/><dynamics damping="0.5" friction="0.3"/>'
    parts = (link("a"), link("b"), link("c"), joint("j", "revolute", "a", "b"), joint("k", "revolute", "b", "c", mimic))
    lossy, plain = read(*parts, friction="sign"), read(*parts, friction="none", damping=False)
    state = ([0.3], [0.9], [0.1])
    power = 0.9 * (lossy.inverse_dynamics(*state) - plain.inverse_dynamics(*state))[0]
    assert power == pytest.approx(0.5 * 1.8**2 + 0.3 * 1.8, rel=ROUNDING)


def test_limits_are_kept_by_coordinate() -> None:
    model = arm('<axis xyz="0 0 1"/><limit lower="-1" upper="2" velocity="3" effort="40"/>')
    limit = model.mechanism.limits["q_elbow"]
    assert (limit.lower, limit.upper, limit.velocity, limit.effort) == (-1.0, 2.0, 3.0, 40.0)
    turning = arm('<axis xyz="0 0 1"/><limit velocity="3" effort="inf"/>', kind="continuous").mechanism.limits[
        "q_elbow"
    ]
    assert turning.upper == math.inf and turning.effort == math.inf


def test_a_link_without_inertial_has_no_mass() -> None:
    model = read(link("a", ""), link("b"), joint("j", "revolute", "a", "b"))
    assert model.bodies["a"].mass.is_zero


def test_names_survive_and_symbols_are_different_identifiers() -> None:
    parts = [link("base link"), link("links/links.1"), link("größe")]
    parts += [
        joint("a-b", "revolute", "base link", "links/links.1"),
        joint("a b", "revolute", "links/links.1", "größe"),
    ]
    model = read(*parts)
    assert set(model.bodies) == {"base link", "links/links.1", "größe"}
    assert {"a-b", "a b"} <= set(model.joints)
    assert len(set(model.coordinates)) == 2 and all(name.isidentifier() for name in (*model.coordinates, *model.speeds))


def test_a_link_with_the_name_of_the_ground_gets_a_similar_one() -> None:
    assert "ground_link" in read(link("ground"), link("b"), joint("j", "revolute", "ground", "b")).bodies


def test_a_floating_base_has_six_speeds_more_and_conserves_momentum_without_gravity() -> None:
    model = arm(base="floating", gravity=(0.0, 0.0, 0.0))
    assert len(model.speeds) == 7 and len(model.coordinates) == 8
    motion = model.simulate((0.0, 0.5), u=[0.3, -0.2, 0.5, 0.1, 0.4, -0.3, 1.0])
    first, last = (model.momentum(motion.q[k], motion.u[k]) for k in (0, -1))
    np.testing.assert_allclose(last.angular, first.angular, atol=1e-7)
    np.testing.assert_allclose(last.linear, first.linear, atol=1e-7)


def test_an_inertia_that_no_body_has_is_remarked_upon_or_refused() -> None:
    odd = INERTIAL.format(rpy="0 0 0").replace('izz="0.25"', 'izz="0.5"')
    parts = (link("a"), link("b", odd), joint("j", "revolute", "a", "b"))
    assert "triangle inequality" in str(read(*parts).mechanism.remarks[0])
    assert "triangle inequality" in faults(robot(*parts), strict=True)


@pytest.mark.parametrize("wrong", [1, 2.0, -1, math.nan, math.inf, "1e-5", True])
def test_a_tolerance_of_right_angles_is_a_small_angle(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"right_angle=(.|\n)* is not from 0 to 0\.02 rad(.|\n)*1e-5"):
        UrdfOptions(right_angle=wrong)


def test_right_angles_are_exact_within_their_tolerance_only() -> None:
    for written, exact in (("1.57079632679", True), ("1.5708", False)):
        placed = f'<axis xyz="0 0 1"/><origin rpy="{written} 0 0"/>'
        ends = '<parent link="a"/><child link="b"/>'
        model = read(link("a"), link("b"), f'<joint name="j" type="revolute">{ends}{placed}</joint>')
        assert (model.joints["j"].mount[1][1].number == 0.0) is exact


# shapes ---------------------------------------------------------------------------------------------------------------

VISUALS = """
<visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
  <material name="red"><color rgba="1 0 0 1"/></material></visual>
<visual><geometry><cylinder radius="0.1" length="0.4"/></geometry><material name="sky"/></visual>
<visual><geometry><sphere radius="0.2"/></geometry></visual>
<visual><geometry><mesh filename="{mesh}" scale="0.001 0.001 0.001"/></geometry></visual>
"""


def test_an_undeclared_world_is_the_ground() -> None:
    declared = read('<link name="world"/>', link("tip"), joint("j", "revolute", "world", "tip"))
    implicit = read(link("tip"), joint("j", "revolute", "world", "tip"))
    assert implicit.speeds == declared.speeds == ("u_j",)
    assert implicit.inverse_dynamics([0.3], [0.7], [1.1]) == declared.inverse_dynamics([0.3], [0.7], [1.1])
    assert "link 'world' is not declared" in str(implicit.mechanism.remarks[0])


@pytest.mark.parametrize(
    ("visual", "remark"),
    [
        ("<visual/>", "<visual> has no <geometry>"),
        ('<visual><geometry><box size="0 1 1"/></geometry></visual>', "lengths of a shape are positive"),
    ],
)
def test_a_visual_that_shows_nothing_is_left_out(visual: str, remark: str) -> None:
    shown = link("tip", visual + INERTIAL.format(rpy="0 0 0"))
    model = read(link("base"), shown, joint("j", "revolute", "base", "tip"))
    assert model.bodies["tip"].shapes == ()
    assert remark in str(model.mechanism.remarks[0])


@pytest.mark.parametrize("rgba", ["red", "1 0 0", "nan 0 0 1"])
def test_a_bad_colour_of_the_robot_is_a_fault_of_its_line(rgba: str) -> None:
    material = f'<material name="m"><color rgba="{rgba}"/></material>'
    text = robot(link("base"), link("tip"), joint("j", "revolute", "base", "tip"), material)
    assert "r.urdf:5" in faults(text) and "rgba" in faults(text)


def test_all_visuals_are_kept_with_place_colour_and_size() -> None:
    material = '<material name="sky"><color rgba="0 0.5 1 1"/></material>'
    model = read(material, link("a"), link("b", VISUALS.format(mesh="m.stl")), joint("j", "floating", "a", "b"))
    box, cylinder, sphere, mesh = model.bodies["b"].shapes
    assert (box.kind, box.size, box.at, box.color) == ("box", (1.0, 2.0, 3.0), (1.0, 2.0, 3.0), "#ff0000")
    np.testing.assert_allclose(box.wxyz, [math.sqrt(0.5), 0, 0, math.sqrt(0.5)], atol=ROUNDING)
    assert (cylinder.size, cylinder.color) == ((0.1, 0.4), "#0080ff")
    assert sphere.size == (0.2,)
    assert (mesh.kind, mesh.file, mesh.size) == ("mesh", "m.stl", (0.001, 0.001, 0.001))


BALL = '<visual><geometry><sphere radius="0.1"/></geometry>{material}</visual>'
MADE = '<material name="steel"><color rgba="0.5 0.5 0.5 1"/></material>'


@pytest.mark.parametrize("first", ["defined", "used"])
def test_a_material_of_one_link_is_that_of_its_name_in_all(first: str) -> None:
    defined, used = BALL.format(material=MADE), BALL.format(material='<material name="steel"/>')
    a, b = (defined, used) if first == "defined" else (used, defined)
    model = read(link("a", a + INERTIAL.format(rpy="0 0 0")), link("b", b), joint("j", "floating", "a", "b"))
    assert [shape.color for shape in model.bodies["b"].shapes] == ["#808080"]
    if "a" in model.bodies:
        assert [shape.color for shape in model.bodies["a"].shapes] == ["#808080"]
    assert not model.mechanism.remarks


def test_a_material_that_is_defined_nowhere_is_remarked_once_with_what_was_meant() -> None:
    lost = BALL.format(material='<material name="stell"/>') * 2 + BALL.format(material=MADE)
    model = read(link("a"), link("b", lost), joint("j", "floating", "a", "b"))
    (remark,) = model.mechanism.remarks
    assert "no material 'stell' is defined" in str(remark) and "did you mean 'steel'?" in str(remark)
    assert [shape.color for shape in model.bodies["b"].shapes] == ["", "", "#808080"]


def test_a_bad_colour_in_a_link_is_one_fault() -> None:
    bad = BALL.format(material='<material name="m"><color rgba="1 0 0"/></material>')
    text = robot(link("base"), link("tip", bad), joint("j", "revolute", "base", "tip"))
    assert faults(text).count("rgba '1 0 0'") == 1


def test_shapes_of_collision_are_taken_on_request() -> None:
    parts = "".join(
        f'<{tag}><origin xyz="0 0 {z}"/><geometry><sphere radius="{r}"/></geometry></{tag}>'
        for tag, z, r in (("visual", 0.5, 0.1), ("collision", 0.7, 0.2))
    )
    text = (link("a"), link("b", parts + INERTIAL.format(rpy="0 0 0")), joint("j", "floating", "a", "b"))
    assert [(s.size, s.at) for s in read(*text).bodies["b"].shapes] == [((0.1,), (0.0, 0.0, 0.5))]
    model = read(*text, shapes="collision")
    assert [(s.size, s.at) for s in model.bodies["b"].shapes] == [((0.2,), (0.0, 0.0, 0.7))]
    (floor,) = model.contact("floor", "b", "ground")
    q = dict.fromkeys(model.coordinates, 0.0) | {"q_j_w": 1.0}
    height = model.at("b", (0, 0, 0.7)).pose(q)[1][2] - 0.2
    assert floor.rows[0].residual is not None
    assert evaluate([floor.rows[0].residual], q)[0] == pytest.approx(height, abs=ROUNDING)


def mesh_path(folder: Path, mesh: str, **options: Any) -> str:
    text = robot(link("a"), link("b", VISUALS.format(mesh=mesh)), joint("j", "revolute", "a", "b"))
    (folder / "r.urdf").write_text(text, encoding="utf-8")
    return kane.load(folder / "r.urdf", **options).bodies["b"].shapes[-1].path


def test_meshes_are_found_only_inside_the_folder_of_the_model_or_of_a_named_package(tmp_path: Path) -> None:
    home, package = tmp_path / "home", tmp_path / "packages" / "arm"
    for folder in (home, package):
        folder.mkdir(parents=True)
        (folder / "m.stl").write_text("solid", encoding="utf-8")
    (tmp_path / "secret.stl").write_text("solid", encoding="utf-8")
    (home / "link.stl").symlink_to(tmp_path / "secret.stl")
    assert mesh_path(home, "m.stl") == str((home / "m.stl").resolve())
    for outside in ("../secret.stl", str(tmp_path / "secret.stl"), "link.stl", "missing.stl", "file:///etc/hosts"):
        assert mesh_path(home, outside) == ""
    assert mesh_path(home, "package://arm/m.stl") == ""
    for packages in ({"arm": package}, [package.parent], [package]):
        assert mesh_path(home, "package://arm/m.stl", packages=packages) == str((package / "m.stl").resolve())
        assert mesh_path(home, "package://arm/../../secret.stl", packages=packages) == ""
        assert mesh_path(home, "package://../secret.stl", packages=packages) == ""


# faults ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="r"/>', "r.urdf:1: a DOCTYPE"),
        ('<!DOCTYPE robot SYSTEM "file:///etc/passwd">\n<robot/>', "r.urdf:1: a DOCTYPE"),
        ("<robot>\n<link>\n</robot>", "r.urdf:3: not valid XML, column 3: mismatched tag"),
        ("", "not valid XML"),
        ("\0\0\0", "not valid XML"),
        ("<sdf/>", "the root element is <sdf>, not <robot>"),
        ("<robot>" + "<a>" * 40 + "</a>" * 40 + "</robot>", "nested deeper"),
        (f'<robot name="{"x" * 5000}"/>', "a very long attribute"),
        ("<robot>\n<xacro:macro/></robot>", "r.urdf:2: <xacro:macro> is a macro"),
        ("<robot/>", "the robot has no link"),
    ],
)
def test_files_that_are_not_robots_are_refused_with_their_line(text: str, said: str) -> None:
    assert said in faults(text)


def test_large_files_are_refused_before_they_are_parsed(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(b"<robot>" + b" " * 16_000_001 + b"</robot>")
    with pytest.raises(ModelError, match="too large"):
        kane.load(path)


def test_more_elements_than_a_robot_has_are_refused() -> None:
    assert "the file has more" in faults("<robot>" + "<a/>" * 200_001 + "</robot>")


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "1e300", "0x10", "1_000", "two", "", "1 2"])
def test_numbers_that_are_not_finite_or_not_numbers_are_refused(number: str) -> None:
    text = robot(link("a", INERTIAL.format(rpy="0 0 0").replace('"2"', f'"{number}"')))
    assert "r.urdf:2: link 'a'" in faults(text)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([link("a"), link("b")], "link 'b': is a root like 'a'"),
        ([link("a"), link("a")], "the name is there already, on line 2"),
        (
            [link("a"), link("b"), joint("j", "revolute", "a", "b"), joint("j", "revolute", "a", "b")],
            "r.urdf:5: joint 'j'",
        ),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b"), joint("k", "revolute", "b", "a")], "every link is"),
        (
            [*map(link, "abc"), joint("j", "revolute", "b", "c"), joint("k", "revolute", "c", "b")],
            "does not hang on the root link 'a'",
        ),
        (
            [*map(link, "abc"), joint("j", "revolute", "a", "c"), joint("k", "revolute", "b", "c")],
            "already the child of joint 'j'",
        ),
        ([link("a"), joint("j", "revolute", "a", "b")], "unknown link 'b'"),
        ([link("a"), link("b"), '<joint name="j" type="revolute"/>'], "<joint> has no <parent>"),
        ([link("a"), link("b"), joint("j", "ball", "a", "b")], "unknown type 'ball'"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", '<axis xyz="0 0 0"/>')], "the axis is zero"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", '<axis xyz="0 1"/>')], "has 2 parts"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", '<mimic joint="x"/>')], "unknown joint 'x'"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", '<mimic joint="j"/>')], "which follows it"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", '<limit lower="2" upper="1"/>')], "lower limit"),
        ([link("a"), link("b"), joint("j", "revolute", "a", "b", '<dynamics damping="-1"/>')], "damping -1"),
        ([link("a", "<inertial/>")], "<inertial> has no <mass>"),
        ([link("a", '<inertial><mass value="1"/></inertial>')], "<inertial> has no <inertia>"),
        ([link("a", INERTIAL.format(rpy="0 0 0").replace('"2"', '"-2"'))], "mass is not negative"),
        ([link("a", INERTIAL.format(rpy="0 0 0").replace('"2"', '"4kg"'))], "'4kg' is not a number"),
        ([link("a", INERTIAL.format(rpy="0 0 0").replace('"2"', '"1e99"'))], "'1e99' is too large"),
        ([link("")], "'' is not a name"),
        ([link("a"), link("b"), joint("j", "fixed", "a", "b")], "nothing can move"),
    ],
)
def test_a_faulty_robot_is_refused_with_what_is_wrong(parts: list[str], said: str) -> None:
    assert said in faults(robot(*parts))


def test_all_faults_are_told_at_once_in_the_order_of_the_file() -> None:
    bad = INERTIAL.format(rpy="0 0 x")
    text = faults(robot(link("a", bad), link("b", bad), joint("j", "revolute", "a", "b")))
    assert text.index("r.urdf:2: link 'a'") < text.index("r.urdf:3: link 'b'")


def test_faults_of_different_kinds_are_told_together() -> None:
    parts = [
        link("base"),
        link("arm", INERTIAL.format(rpy="0 0 x").replace('"2"', '"4kg"')),
        joint("j", "revolute", "base", "amr", '<axis xyz="0 0 0"/><limit lower="a" upper="b"/>'),
        joint("k", "revolut", "base", "arm"),
    ]
    said = faults(robot(*parts))
    expected = ["'0 0 x' is not", "'4kg' is not", "unknown link 'amr'", "axis is zero", "lower 'a'", "upper 'b'"]
    assert [text for text in [*expected, "unknown type 'revolut'"] if text not in said] == []
    assert "did you mean 'arm'?" in said and "did you mean 'revolute'?" in said


def test_mistyped_names_are_faults_and_names_of_other_programs_are_not() -> None:
    wrong = '<axes xyz="0 0 1"/><limit lower="-1" uper="1"/><mimic joint="elbo"/>'
    mass = INERTIAL.format(rpy="0 0 0").replace("<mass", "<mas").replace("ixy", "iyx")
    said = faults(robot(link("base"), link("tip", mass), joint("elbow", "revolute", "base", "tip", wrong)))
    for written, meant in (("<mas>", "<mass>"), ("<axes>", "<axis>"), ("iyx", "ixy"), ("uper", "upper")):
        line = next(i for i, text in enumerate(said.splitlines()) if written in text)
        assert said.splitlines()[line + 1].endswith(f"did you mean {meant}?")
    assert "unknown joint 'elbo'" in said and "has no <mass>" not in said
    own = '<axis xyz="0 0 1" frame="x"/><dynamics friction_loss="3"/><limit lower="0" upper="1" limits="2"/><rest/>'
    assert arm(f'{own}<drake:axes xyz="1 0 0"/>').mechanism.remarks == []


def test_ranges_that_are_missing_are_remarked_once() -> None:
    parts = [link("a"), link("b"), link("c"), joint("j", "revolute", "a", "b"), joint("k", "revolute", "b", "c")]
    (remark,) = read(*parts).mechanism.remarks
    assert "'j', 'k' move without ends" in remark.what and "continuous" in remark.fix
    assert arm(kind="continuous").mechanism.remarks == []


@pytest.mark.parametrize(("roll", "right"), [("1.5708", 4e-6), ("-3.14", 2e-3), ("1.5707963", 3e-8)])
def test_right_angles_of_few_digits_are_remarked_with_the_tolerance_that_takes_them(roll: str, right: float) -> None:
    turned = joint("j", "continuous", "a", "b").replace('rpy="0.3 0 0"', f'rpy="{roll} 0 0"')
    parts = [link("a"), link("b"), turned]
    (remark,) = read(*parts).mechanism.remarks
    assert remark.what.endswith("in joint 'j'") and remark.fix.endswith(f"of {right:g}")
    assert read(*parts, right_angle=right).mechanism.remarks == []
    assert read(*(part.replace(roll, "1.570657") for part in parts)).mechanism.remarks == []  # measured, not rounded


def test_a_chain_of_thousands_of_links_is_read() -> None:
    n = 5000
    parts = [link(f"l{i}", "") for i in range(n - 1)] + [link(f"l{n - 1}")]
    parts += [joint(f"j{i}", "fixed" if i else "revolute", f"l{i}", f"l{i + 1}") for i in range(n - 1)]
    assert len(read(*parts).bodies) == n


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_file_is_read_or_refused_but_never_fails(data: st.DataObject) -> None:
    parts = [link("a"), link("b", VISUALS.format(mesh="m.stl")), joint("j", "revolute", "a", "b")]
    text = robot(*parts, joint("k", "continuous", "b", "c", '<mimic joint="j"/>'), link("c")).encode()
    words = [
        b"",
        b"nan",
        b"1e400",
        b"<",
        b"/>",
        b'"',
        b"a",
        b"b",
        b"\xff",
        b"&x;",
        b"-1",
        b"planar",
        b"joint",
        b"0 0 0",
    ]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(words)) + text[end:]
    try:
        model = read_urdf(text, "r.urdf")
    except ModelError as error:
        assert "r.urdf:" in str(error)
    else:
        assert model.speeds


def test_unknown_options_and_values_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(link("a")), encoding="utf-8")
    with pytest.raises(ModelError, match="base='flying'"):
        kane.load(path, base="flying")
    with pytest.raises(ModelError, match="bases"):
        kane.load(path, bases="fixed")
    with pytest.raises(ModelError, match="options base are those of a URDF"):
        kane.load("pendulum", base="fixed")
