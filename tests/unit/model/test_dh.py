"""Hartenberg-Denavit tables: each convention places its frames as its formula says, and nothing is left to guess."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import ModelError
from kane.model import read_mechanism
from kane.model.dh import CONVENTIONS

Array = np.ndarray[Any, np.dtype[np.float64]]
Row = dict[str, Any]

ROUNDING = 1e-12  # sums and products of a few numbers of size one

ROWS: dict[str, Row] = {
    "one": {"a": 0.1, "alpha": 0.4, "d": 0.5, "theta": 0.3},
    "two": {"a": 0.6, "alpha": -math.pi / 2, "d": 0.2, "theta": -0.2, "type": "prismatic"},
    "three": {"a": 0.3, "alpha": 1.1, "d": -0.4, "theta": 0.0},
    "four": {"a": 0.0, "alpha": math.pi, "d": 0.25, "theta": 1.2, "type": "prismatic"},
}
INERTIA = {"xx": 0.2, "yy": 0.3, "zz": 0.25, "xy": 0.01, "xz": -0.02, "yz": 0.03}


def table(convention: str, rows: dict[str, Row] = ROWS) -> dict[str, Row]:
    """The rows with a body each; in convention hd the length is called b."""
    named = {}
    for name, row in rows.items():
        row = {**row, "body": f"link {name}", "mass": 1.3, "center": (0.1, -0.2, 0.15), "inertia": INERTIA}
        if convention == "hd":
            row["b"] = row.pop("d")
        named[name] = row
    return named


def arm(convention: str, **options: Any) -> kane.Model:
    model = kane.Model("arm", gravity=(0.3, -0.2, -9.81))
    model.dh(convention, table(convention), **options)
    return model


def turn(axis: str, angle: float) -> Array:
    c, s, T = math.cos(angle), math.sin(angle), np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def shift(x: float, z: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = x, 0.0, z
    return T


def step(convention: str, row: Row, q: float) -> Array:
    """T from frame i − 1 to frame i, written out as the convention defines it."""
    prismatic = row.get("type") == "prismatic"
    length, theta = row["d"] + (q if prismatic else 0.0), row["theta"] + (0.0 if prismatic else q)
    across, along = turn("x", row["alpha"]) @ shift(row["a"], 0.0), turn("z", theta)
    if convention == "standard":
        return along @ shift(0.0, length) @ shift(row["a"], 0.0) @ turn("x", row["alpha"])
    return across @ along @ shift(0.0, -length if convention == "hd" else length)


@pytest.mark.parametrize("convention", list(CONVENTIONS))
def test_frames_stand_where_the_product_of_the_steps_puts_them(convention: str) -> None:
    q = [0.7, -0.35, 1.9, 0.12]
    T = np.eye(4)
    for row, qi, pose in zip(ROWS.values(), q, arm(convention).poses(q), strict=True):
        T = T @ step(convention, row, qi)
        np.testing.assert_allclose(pose[:9].reshape(3, 3), T[:3, :3], atol=ROUNDING)
        np.testing.assert_allclose(pose[9:], T[:3, 3], atol=ROUNDING)


@pytest.mark.parametrize("convention", list(CONVENTIONS))
def test_an_arm_from_a_table_obeys_the_laws(convention: str) -> None:
    assert arm(convention).check().passed


def test_hd_is_modified_with_the_sign_of_the_lengths_turned() -> None:
    turned = {name: {**row, "d": -row["d"]} for name, row in ROWS.items()}
    modified = kane.Model("arm", gravity=(0.3, -0.2, -9.81))
    modified.dh("modified", table("modified", turned))
    sign = np.array([-1.0 if row.get("type") == "prismatic" else 1.0 for row in ROWS.values()])
    q, u, udot = np.random.default_rng(2).uniform(-1, 1, (3, 4))
    ours = arm("hd").inverse_dynamics(q, u, udot)
    np.testing.assert_allclose(ours, sign * modified.inverse_dynamics(sign * q, sign * u, sign * udot), rtol=1e-10)


def test_the_base_may_stand_anywhere() -> None:
    rotation = {"axis": "x", "angle": 0.6}
    placed, plain = arm("modified", at=(1.0, 2.0, 3.0), rotation=rotation), arm("modified")
    q = [0.7, -0.35, 1.9, 0.12]
    base = turn("x", 0.6)
    base[:3, 3] = 1.0, 2.0, 3.0
    for moved, pose in zip(placed.poses(q), plain.poses(q), strict=True):
        np.testing.assert_allclose(moved[9:], base[:3, :3] @ pose[9:] + base[:3, 3], atol=ROUNDING)


def test_right_angles_are_made_of_zeros_and_ones() -> None:
    mount = arm("modified").joints["two"].mount
    assert [mount[i][2].number for i in range(3)] == [0.0, 1.0, 0.0]


def rounded_arm(**options: Any) -> kane.Model:
    model = kane.Model("arm")
    row = {"a": 0.1, "d": 0.2, "theta": 0, "mass": 1.0, "inertia": INERTIA}
    rows = {"one": {**row, "alpha": 1.5707963}, "two": {**row, "alpha": -1.5708}, "three": {**row, "alpha": 1.571234}}
    model.dh("modified", rows, **options)
    return model


def test_right_angles_of_few_digits_are_remarked_and_taken_as_right_within_a_tolerance() -> None:
    (remark,) = rounded_arm().mechanism.remarks
    assert "at most 4e-06 rad off, in one, two" in remark.what and remark.fix.endswith("right_angle=... of 4e-06")
    right = rounded_arm(right_angle=4e-6)
    assert right.mechanism.remarks == []
    exact = kane.Model("arm")
    row = {"a": 0.1, "d": 0.2, "theta": 0, "mass": 1.0, "inertia": INERTIA}
    angles = {"one": math.pi / 2, "two": -math.pi / 2, "three": 1.571234}
    exact.dh("modified", {name: {**row, "alpha": alpha} for name, alpha in angles.items()})
    state = np.random.default_rng(0).normal(size=(3, 3))
    np.testing.assert_allclose(right.inverse_dynamics(*state), exact.inverse_dynamics(*state), rtol=ROUNDING)
    with pytest.raises(ModelError, match=r"right_angle=1 is not from 0 to 0\.02"):
        rounded_arm(right_angle=1)


def test_lengths_and_angles_may_be_parameters() -> None:
    model = kane.Model("arm")
    model.parameter("L", 0.7, free=True)
    model.parameter("tilt", 0.3, free=True)
    model.dh("modified", {"j": {"a": "2*L", "alpha": "tilt", "d": 0, "theta": 0, "body": "b", "mass": 1.0}})
    assert model.poses([0.0])[0][9] == pytest.approx(1.4)


# files ---------------------------------------------------------------------------------------------------------------

FILE = """
kane: 1
bodies:
  a: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}
  b: {mass: 2, center: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
dh:
  convention: standard
  rows:
    hip: {body: a, a: 0.5, alpha: 90*deg, d: 0.1, theta: 0, coordinate: q1, speed: u1}
    knee: {body: b, a: 0.4, alpha: 0, d: 0, theta: -30*deg, type: prismatic, coordinate: q2, speed: u2, initial: 0.2}
"""


def faults(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        read_mechanism(text, "arm.yaml")
    return str(caught.value)


def test_a_table_of_a_file_is_that_of_python() -> None:
    model = kane.Model("model")
    for name, mass, x in (("a", 1.0, 0.0), ("b", 2.0, 0.1)):
        model.body(name, mass=mass, center=(x, 0.0, 0.0), inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    hip = {"body": "a", "a": 0.5, "alpha": math.pi / 2, "d": 0.1, "theta": 0.0, "coordinate": "q1", "speed": "u1"}
    knee = {"body": "b", "a": 0.4, "alpha": 0.0, "d": 0.0, "theta": -math.pi / 6, "coordinate": "q2", "speed": "u2"}
    model.dh("standard", {"hip": hip, "knee": {**knee, "type": "prismatic", "initial": 0.2}})
    assert read_mechanism(FILE, "arm.yaml").description() == model.mechanism.description()


def test_a_table_without_convention_is_refused_with_the_difference() -> None:
    text = faults(FILE.replace("  convention: standard\n", ""))
    assert "arm.yaml:7: dh: the convention is not named" in text
    for name, what in CONVENTIONS.items():
        assert f"{name}: {what}" in text


def test_an_unknown_convention_is_refused_with_the_known_ones() -> None:
    assert "unknown convention 'craig'" in faults(FILE.replace("standard", "craig"))


@pytest.mark.parametrize("key", ["a: 0.5, ", "alpha: 90*deg, ", "d: 0.1, ", "theta: 0, "])
def test_a_row_that_lacks_one_of_the_four_is_refused(key: str) -> None:
    assert f"dh / hip: {key.split(':')[0]} missing" in faults(FILE.replace(key, "", 1))


def test_the_length_of_another_convention_is_refused_with_the_reason() -> None:
    assert "hd measures b against Z_i" in faults(FILE.replace("d: 0.1", "b: 0.1"))


def test_an_empty_table_is_refused() -> None:
    assert "the table is empty" in faults(FILE[: FILE.index("  rows:")])


def test_faults_of_rows_are_told_with_their_line() -> None:
    assert "arm.yaml:9: dh / hip" in faults(FILE.replace("body: a,", "body: x,"))
    assert "type 'ball'" in faults(FILE.replace("type: prismatic", "type: ball"))
    both = faults(FILE.replace("type: prismatic", "type: prismatc").replace("initial: 0.2", "initial: 2*dg"))
    assert "type 'prismatc'" in both and "did you mean 'prismatic'" in both and "unknown symbol 'dg'" in both


@pytest.mark.parametrize(("key", "angle"), [("alpha", 90), ("theta", -180.0)])
def test_an_angle_in_degrees_is_refused_and_one_in_radians_is_not(key: str, angle: float) -> None:
    row = {"a": 0.1, "alpha": 0, "d": 0, "theta": 0}
    with pytest.raises(ModelError, match=rf"{key} = {angle:g}\n    because angles are in radians.*\n.*{angle:g}\*deg"):
        kane.Model("arm").dh("standard", {"j": {**row, key: angle}})
    kane.Model("arm").dh("standard", {"j": {**row, key: f"{angle}*deg"}, "k": {**row, key: -2 * math.pi}})


def test_rows_without_names_are_refused_with_the_form() -> None:
    with pytest.raises(ModelError, match="numbers by name"):
        kane.Model("arm").dh("standard", [[0, 0, 0, 0]])  # pyright: ignore[reportArgumentType]


def test_the_tolerance_of_right_angles_may_be_in_the_table_of_a_file() -> None:
    text = FILE.replace("90*deg", "1.5708")
    (remark,) = read_mechanism(text, "arm.yaml").remarks
    assert "right angles are rounded" in remark.what and "in hip" in remark.what
    taken = read_mechanism(text.replace("standard\n", "standard\n  right_angle: 1e-5\n"), "arm.yaml")
    assert taken.remarks == []
    turned = [[e.number for e in row] for row in taken.joints["hip"].child_mount]
    assert sorted(abs(x or 0.0) for row in turned for x in row) == [0.0] * 6 + [1.0] * 3
