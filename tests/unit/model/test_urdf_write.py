"""URDF written: what is read back has the same dynamics, and what URDF cannot say is named."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.errors import ModelError
from kane.model import Force, JointSpring, Mechanism, Shape, UrdfOptions, read_urdf, to_urdf

ROUNDING = 1e-11  # relative; poses are written as angles and come back through sine and cosine


def read_back(mechanism: Mechanism, **options: object) -> kane.Model:
    gravity = tuple(mechanism.number(g, "gravity") for g in mechanism.gravity)
    chosen = UrdfOptions(gravity=gravity, **options)  # type: ignore[arg-type]
    return kane.Model.of(read_urdf(to_urdf(mechanism), "again.urdf", options=chosen))


def same_dynamics(first: kane.Model, second: kane.Model) -> None:
    rng = np.random.default_rng(5)
    q, u = first.initial_state
    q = q + rng.uniform(-0.5, 0.5, len(q))
    for joint in first.joints.values():
        if joint.type.kind == "free":
            own = [first.coordinates.index(c.name) for c in joint.coordinates[:4]]
            q[own] /= np.linalg.norm(q[own])
    u, udot = rng.uniform(-1, 1, (2, len(u)))
    efforts = first.inverse_dynamics(q, u, udot)
    np.testing.assert_allclose(second.inverse_dynamics(q, u, udot), efforts, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(second.mass_matrix(q), first.mass_matrix(q), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("name", ["stanford-arm", "double-pendulum", "pendulum", "cart-pole", "free-body"])
def test_built_in_models_come_back_with_the_same_dynamics(name: str) -> None:
    model = kane.load(name)
    same_dynamics(model, read_back(model.mechanism))


def crooked() -> kane.Model:
    """A tree whose joints sit anywhere in both of their bodies."""
    model = kane.Model("crooked <&> 'tree'", gravity=(1.0, -2.0, -9.0))
    inertia = {"xx": 0.2, "yy": 0.3, "zz": 0.25, "xy": 0.01, "xz": -0.02, "yz": 0.03}
    for name in ("a/1", 'b "2"', "c", "d", "e"):
        shapes = (Shape("cylinder", (0.1, 0.5), (0.1, 0.0, 0.2), "x", "#336699"), Shape("sphere", (0.2,)))
        model.body(name, mass=1.5, center=(0.1, -0.2, 0.3), inertia=inertia, shapes=shapes)
    turn = {"euler": "body xyz", "angles": [0.4, -1.1, 2.0]}
    other = {"euler": "body zxz", "angles": [0.7, 0.2, -0.6]}
    placed = {"at": (0.3, 0.1, -0.2), "rotation": turn, "child_at": (-0.1, 0.4, 0.2), "child_rotation": other}
    model.joint("r", "revolute", "ground", "a/1", axis=(0.6, 0.0, 0.8), **placed)
    model.joint("s", "prismatic", "a/1", 'b "2"', axis="y", **placed)
    model.joint("p", "planar", 'b "2"', "c", **placed)
    model.joint("w", "weld", "c", "d", **placed)
    model.joint("m", "coupled", "d", "e", follows="r", ratio=-1.5, offset=0.2, axis="-x", **placed)
    model.limit("q_r", lower=-1.0, upper=2.0, velocity=3.0)
    model.load("s damping", JointSpring("s", damping=0.3))
    return model


def test_joints_placed_anywhere_come_back_with_the_same_dynamics() -> None:
    model = crooked()
    again = read_back(model.mechanism)
    same_dynamics(model, again)
    assert again.mechanism.limits["q_r"] == model.mechanism.limits["q_r"]
    assert set(model.bodies) <= set(again.bodies) and again.name == model.name


def test_a_shape_stays_where_it_was_in_space() -> None:
    model = crooked()
    again = read_back(model.mechanism)
    for name in model.bodies:
        ends = [axis_ends(m, name) for m in (model, again)]
        np.testing.assert_allclose(ends[1], ends[0], atol=ROUNDING)


def axis_ends(model: kane.Model, name: str) -> np.ndarray:
    """Both ends, in N, of the axis of the cylinder of a body."""
    pose = model.poses(np.zeros(len(model.coordinates)))[list(model.bodies).index(name)]
    shape = next(s for s in model.bodies[name].shapes if s.kind == "cylinder")
    w, x, y, z = shape.wxyz
    v = np.array([x, y, z])
    e = np.eye(3)["xyz".index(shape.axis)] * shape.size[1] / 2
    turned = e + 2 * np.cross(v, np.cross(v, e) + w * e)
    R, p = pose[:9].reshape(3, 3), pose[9:]
    return np.array([p + R @ (np.array(shape.at) + end) for end in (turned, -turned)])


def test_losses_come_back() -> None:
    text = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/><dynamics damping="0.25" friction="0.125"/></joint></robot>'
    )
    for friction in ("smooth", "sign"):
        first = read_urdf(text, "r.urdf", options=UrdfOptions(friction=friction))
        assert '<dynamics damping="0.25" friction="0.125"/>' in to_urdf(first)


@pytest.mark.parametrize("friction", ["smooth", "sign"])
@pytest.mark.parametrize("multiplier", [1.0, -2.5])
def test_losses_of_a_mimic_come_back_where_they_were(friction: str, multiplier: float) -> None:
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    text = (
        f'<robot name="r"><link name="a"/>{link.format("b")}{link.format("c")}'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<dynamics damping="0.5" friction="0.375"/></joint>'
        '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>'
        f'<dynamics damping="0.25" friction="0.125"/><mimic joint="j" multiplier="{multiplier}"/></joint></robot>'
    )
    first = read_urdf(text, "r.urdf", options=UrdfOptions(friction=friction))
    written = to_urdf(first)
    assert written.index('damping="0.5" friction="0.375"') < written.index('damping="0.25" friction="0.125"')
    same_dynamics(kane.Model.of(first), read_back(first, friction=friction))


def test_dampings_of_one_joint_add_up() -> None:
    model = crooked()
    model.load("more", JointSpring("s", damping=0.2))
    assert '<dynamics damping="0.5"' in to_urdf(model.mechanism)


def test_a_constraint_is_refused() -> None:
    with pytest.raises(ModelError, match="constraint 'pin': is of kind revolute"):
        to_urdf(kane.load("four-bar").mechanism)


def test_what_urdf_cannot_say_is_named_all_at_once() -> None:
    model = kane.Model("odd")
    for name in "abc":
        model.body(name, mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    model.joint("ball", "spherical", "ground", "a")
    model.joint("thread", "screw", "a", "b", pitch=0.1)
    model.joint("hinge", "revolute", "b", "c")
    model.load("wind", Force("c", (1.0, 0.0, 0.0)))
    model.load("coil", JointSpring("hinge", stiffness=3.0))
    with pytest.raises(ModelError) as caught:
        to_urdf(model.mechanism)
    for said in ("joint 'ball': is of type spherical", "joint 'thread': is of type screw", "'wind'", "'coil'"):
        assert said in str(caught.value)


def test_a_robot_that_was_read_is_written_and_read_again_without_a_world_link() -> None:
    model = read_back(kane.load("stanford-arm").mechanism)
    again = read_back(model.mechanism)
    assert tuple(again.bodies) == tuple(model.bodies)
    same_dynamics(model, again)
