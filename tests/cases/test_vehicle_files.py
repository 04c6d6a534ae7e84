"""Robots on wheels from URDF: loaded with wheels, and extended by model files; against the same described by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

G = 9.81
ROBOT = """
<robot name="rover">
  <link name="base_footprint"/>
  <link name="base_link">
    <inertial><origin xyz="-0.04 0 0.06"/><mass value="12"/><inertia ixx="0.2" iyy="0.3" izz="0.4"/></inertial>
  </link>
  <link name="left_wheel">
    <inertial><mass value="0.8"/><inertia ixx="0.0025" iyy="0.0025" izz="0.005"/></inertial>
  </link>
  <link name="right_wheel">
    <inertial><mass value="0.8"/><inertia ixx="0.0025" iyy="0.0025" izz="0.005"/></inertial>
  </link>
  <link name="caster"/>
  <joint name="base_joint" type="fixed">
    <parent link="base_footprint"/><child link="base_link"/><origin xyz="0 0 HEIGHT"/>
  </joint>
  <joint name="left_wheel_joint" type="continuous">
    <parent link="base_link"/><child link="left_wheel"/>
    <origin xyz="0 0.2 0.02" rpy="-1.57079632679 0 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="right_wheel_joint" type="continuous">
    <parent link="base_link"/><child link="right_wheel"/>
    <origin xyz="0 -0.2 0.02" rpy="1.57079632679 0 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="caster_joint" type="fixed">
    <parent link="base_link"/><child link="caster"/><origin xyz="-0.15 0 -0.06"/>
  </joint>
</robot>
"""
WHEELS: dict[str, Any] = {"left_wheel": 0.12, "right_wheel": 0.12, "caster": {"radius": 0.04, "ball": True}}


def robot_file(folder: Path, height: str = "0.1") -> Path:
    path = folder / "robot.urdf"
    path.write_text(ROBOT.replace("HEIGHT", height), encoding="utf-8")
    return path


def by_hand(friction: float = 0.0) -> kane.Model:
    """The same robot, its wheels made with the vehicle, both spinning forward about y."""
    m = kane.Model("rover", gravity=(0, 0, -G))
    m.body("base", mass=12, center=(-0.04, 0, 0.06), inertia={"xx": 0.2, "yy": 0.3, "zz": 0.4})
    wheel = {"radius": 0.12, "mass": 0.8, "inertia": 0.005}
    sides = {"left": {**wheel, "at": (0, 0.2, 0.02)}, "right": {**wheel, "at": (0, -0.2, 0.02)}}
    caster = {"at": (-0.15, 0, -0.06), "radius": 0.04, "ball": True}
    m.vehicle("base", {**sides, "caster": caster}, friction=friction)
    return m


TIMES = np.linspace(0, 2, 9)


def test_a_urdf_on_wheels_moves_and_stands_as_the_robot_by_hand(tmp_path: Path) -> None:
    """Axes of wheels point where the file has them, here to opposite sides: the right spin is the other way round."""
    m = kane.load(robot_file(tmp_path), base="planar", wheels=WHEELS)
    own = by_hand()
    assert m.freedom().degrees == own.freedom().degrees == 2
    a = m.simulate(TIMES, control={"left_wheel_joint": 0.3, "right_wheel_joint": -0.5}, rtol=1e-12)
    b = own.simulate(TIMES, control={"left": 0.3, "right": 0.5}, rtol=1e-12)
    place = [m.coordinates.index(c.name) for c in m.joints["root"].coordinates]
    assert np.abs(a.q[:, place] - b.q[:, :3]).max() < 1e-10
    for what in ("longitudinal", "lateral", "normal"):
        assert np.abs(getattr(a.ground(), what) - getattr(b.ground(), what)).max() < 1e-9
    assert np.abs(a.tipover().alpha - b.tipover().alpha).max() < 1e-9  # about the mass centre of what is welded


@pytest.mark.parametrize("height", ["0.1", "0.37"])
def test_a_urdf_stands_so_high_that_its_wheels_touch(tmp_path: Path, height: str) -> None:
    m = kane.load(robot_file(tmp_path, height), base="planar", wheels=WHEELS)
    _, place = m.at("left_wheel").pose(m.simulate([0, 0.1]).q[0])
    assert place[2] == pytest.approx(0.12, abs=1e-12)


def test_a_urdf_on_a_floating_base_may_lift_and_slide(tmp_path: Path) -> None:
    options = {"contact": "unilateral", "friction": 0.7}
    m = kane.load(robot_file(tmp_path), base="floating", wheels=WHEELS, vehicle=options)
    own = by_hand(0.7)
    a = m.simulate(TIMES, control={"left_wheel_joint": 0.3, "right_wheel_joint": -0.3}, rtol=1e-12)
    b = own.simulate(TIMES, control={"left": 0.3, "right": 0.3}, rtol=1e-12)
    x = m.joints["root"].coordinates[4].name
    assert np.abs(a.q[:, m.coordinates.index(x)] - b.q[:, 0]).max() < 1e-9
    assert np.abs(a.ground().normal - b.ground().normal).max() < 1e-6
    assert set(a.transitions[0].mode.values()) == {"sticks"}


MODEL = """
kane: 1
extends: robot.urdf
name: rover on a slope
gravity: [-0.5, 0, -9.8]
parameters: {mu: 0.6}
vehicle:
  platform: base_footprint
  friction: mu
  wheels:
    left_wheel: {body: left_wheel, radius: 0.12}
    right_wheel: {body: right_wheel, radius: 0.12}
    caster: {body: caster, radius: 0.04, ball: true}
loads:
  wind: {force: [-2, 0, 0], body: base_link}
constraints:
  straight: {type: motion, equations: u_left_wheel_joint = -u_right_wheel_joint}
controls:
  drive: {left_wheel_joint: 0.5}
"""


def test_a_model_file_extends_a_urdf(tmp_path: Path) -> None:
    """Forces balance: the wheels carry the weight, and gravity, wind and drive give the acceleration."""
    robot_file(tmp_path)
    (tmp_path / "rover.yaml").write_text(MODEL, encoding="utf-8")
    m = kane.load(tmp_path / "rover.yaml")
    assert m.name == "rover on a slope" and "left_wheel_joint" in m.joints
    run = m.simulate([0.0, 1.0], control="drive")
    ground = run.ground()
    assert ground.normal.sum(axis=1) == pytest.approx(13.6 * 9.8, rel=1e-12)
    a = (0.5 / 0.12 - 2.0 - 13.6 * 0.5) / (13.6 + 2 * 0.005 / 0.12**2)
    assert ground.longitudinal.sum(axis=1) == pytest.approx(13.6 * a + 2 + 13.6 * 0.5, rel=1e-9)
    x = run.q[-1, m.coordinates.index(m.joints["root"].coordinates[0].name)]
    assert x == pytest.approx(0.5 * a, rel=1e-9)
    m.save(tmp_path / "whole.yaml")
    again = kane.load(tmp_path / "whole.yaml").simulate([0.0, 1.0], control="drive")
    assert np.abs(again.q - run.q).max() < 1e-12


def test_a_model_file_says_how_its_urdf_is_read(tmp_path: Path) -> None:
    robot_file(tmp_path)
    for text, kind in (("robot.urdf", "weld"), ("{file: robot.urdf, base: floating}", "free")):
        (tmp_path / "own.yaml").write_text(f"kane: 1\nextends: {text}\n", encoding="utf-8")
        m = kane.load(tmp_path / "own.yaml")
        assert m.joints["root_joint"].type.kind == kind


@pytest.mark.parametrize(
    ("extends", "told"),
    [
        ("../robot.urdf", "'../robot.urdf' is not a built-in model"),
        ("none.urdf", "does not exist"),
        ("{file: robot.urdf, base: wheeled}", "base='wheeled' is not one of fixed, floating, planar"),
        ("{file: robot.urdf, bse: planar}", "unknown option 'bse'"),
        ("{file: robot.urdf, mimic: perhaps}", "expected true or false"),
        ("{file: pendulum}", "expected a URDF with its options"),
    ],
)
def test_a_urdf_that_cannot_be_extended_is_named(tmp_path: Path, extends: str, told: str) -> None:
    robot_file(tmp_path)
    (tmp_path / "own.yaml").write_text(f"kane: 1\nextends: {extends}\n", encoding="utf-8")
    with pytest.raises(kane.ModelError, match=told.replace("(", r"\(")):
        kane.load(tmp_path / "own.yaml")


def test_a_urdf_link_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "link.urdf").symlink_to(robot_file(tmp_path))
    (tmp_path / "inner" / "own.yaml").write_text("kane: 1\nextends: link.urdf\n", encoding="utf-8")
    with pytest.raises(kane.ModelError, match="leads out of the folder"):
        kane.load(tmp_path / "inner" / "own.yaml")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"wheels": {"left_wheel": 0.12}}, "base='planar', or 'floating'"),
        ({"base": "planar", "wheels": {"left_whel": 0.12}}, "wheel 'left_whel' is no link"),
        ({"base": "planar", "wheels": {**WHEELS, "caster": {"radius": 0.05, "ball": True}}}, "0.01 m below the ground"),
        ({"base": "planar", "wheels": {**WHEELS, "caster": 0.04}}, "body 'caster' has a weld joint"),
        ({"base": "planar", "vehicle": {"friction": 1}}, "vehicle, without wheels"),
    ],
)
def test_wheels_that_a_urdf_cannot_have_are_named(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(kane.ModelError, match=told):
        kane.load(robot_file(tmp_path), **options)
