"""Arms on the command line: tables of counts, inverse kinematics that puts the link there, robots in URDF."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.cli.driving import ON_TARGET
from kane.cli.files import read_columns, write_columns
from kane.cli.parser import join_negative_values
from kane.model import to_urdf

REACHED = 2e-9
"""Twice the tolerance of the search: √(angle² + distance²), rad and m."""

EXACT = 1e-9
"""Efforts from files with all digits, relative to the largest: rounding, and right angles written with 17 digits."""

SPLINE = 1e-5
"""Accelerations by quintic splines through 200 samples of a smooth motion, relative to the largest effort."""


@pytest.fixture
def robot(tmp_path: Path) -> str:
    """A UR5 as a file, as others would write it."""
    path = tmp_path / "arm.urdf"
    path.write_text(to_urdf(kane.load("ur5").mechanism), encoding="utf-8")
    return str(path)


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


# counts --------------------------------------------------------------------------------------------------------------


def test_the_table_of_general_arms_has_the_papers_lines_and_ours_below(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--table"]) == 0
    text = capsys.readouterr().out
    assert "412n - 277" in text and "105n - 109" in text and "90n - 105" in text
    assert main(["ops", "--table", "--json"]) == 0
    *others, ours = printed_json(capsys)["table"]
    assert ours["source"] == "kane"
    assert all(ours["mul_six"] < row["mul_six"] and ours["add_six"] < row["add_six"] for row in others)


def test_known_arms_take_fewer_operations_than_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--arms", "--json"]) == 0
    rows = printed_json(capsys)["arms"]
    ours = {r["arm"]: r for r in rows if r["source"] == "kane"}
    assert set(ours) == {"PUMA 560", "Stanford arm", "UR5", "Panda", "LBR iiwa"}
    for row in (r for r in rows if r["mul"] is not None and r["source"] != "kane"):
        assert ours[row["arm"]]["mul"] < row["mul"] and ours[row["arm"]]["add"] < row["add"]
    assert main(["ops", "--arms"]) == 0
    assert "739" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        ["ops"],
        ["ops", "pendulum", "--table"],
        ["ops", "--arms", "--free"],
        ["info", "pendulum", "--base", "floating"],
        ["ik", "ur5"],
        ["ik", "ur5", "--position", "0.3,0.2,0.4"],
        ["ik", "ur5", "--body", "flang", "--position", "0.3,0.2,0.4"],
        ["ik", "ur5", "--body", "flange", "--position", "0.3,0.2"],
        ["ik", "ur5", "--body", "flange", "--position", "0.3,0.2,0.4", "--euler", "0,0,1"],
        ["ik", "ur5", "--body", "flange", "--position", "0,0,0", "--euler", "xyz:0,0,1", "--quaternion", "1,0,0,0"],
        ["ik", "ur5", "--body", "flange", "--position", "0,0,0", "--path", "poses.csv"],
        ["ik", "ur5", "--body", "flange", "--path", "nowhere.csv"],
        ["ik", "ur5", "--body", "flange", "--position", "0.3,0.2,0.4", "--start", "q9=1"],
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_has_status_two(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 2
    said = capsys.readouterr()
    assert not said.out and said.err and "Traceback" not in said.err


def test_a_value_may_start_with_a_minus() -> None:
    assert join_negative_values(["ik", "--position", "-0.3,1,2", "--json"]) == ["ik", "--position=-0.3,1,2", "--json"]
    assert join_negative_values(["derive", "m", "-o", "x.c"]) == ["derive", "m", "-o", "x.c"]


# inverse kinematics --------------------------------------------------------------------------------------------------


def test_the_link_is_where_it_was_asked_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    """The pose of the solution, by the model's own forward kinematics, is the one on the command line."""
    arm = kane.load("ur5")
    line = ["ik", "ur5", "--body", "flange", "--at", "0,0,0.1", "--position", "-0.3,0.2,0.5", "--json"]
    assert main([*line, "--euler", "xyz:180*deg,0,-30*deg"]) == 0
    by_euler = printed_json(capsys)
    assert by_euler["solved"] and by_euler["residual"] <= 1e-9 and by_euler["steps"] > 0
    R, p = arm.at("flange", (0, 0, 0.1)).pose(np.array(list(by_euler["q"].values())))
    s, c = np.sin(np.pi / 6), np.cos(np.pi / 6)
    assert np.abs(p - [-0.3, 0.2, 0.5]).max() < REACHED
    assert np.abs(R - np.diag([1, -1, -1]) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])).max() < REACHED
    assert main([*line, "--quaternion", "0,cos(15*deg),sin(15*deg),0"]) == 0
    again, _ = arm.at("flange").pose(np.array(list(printed_json(capsys)["q"].values())))
    assert np.abs(again - R).max() < 2 * REACHED


def test_without_an_orientation_only_the_position_counts(robot: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["ik", robot, "--body", "flange", "--position", "0.3,0.2,0.4", "--start", "q_elbow=1"]
    assert main([*line, "--json"]) == 0
    q = np.array(list(printed_json(capsys)["q"].values()))
    assert np.abs(kane.load(robot).at("flange").pose(q)[1] - [0.3, 0.2, 0.4]).max() < REACHED
    assert main(line) == 0
    assert "reached within" in capsys.readouterr().out


def test_out_of_reach_has_status_one_and_a_residual(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["ik", "ur5", "--body", "flange", "--position", "3,0,0"]
    assert main(line) == 1
    assert "not reached: the nearest of" in capsys.readouterr().out
    assert main([*line, "--json"]) == 1
    found = printed_json(capsys)
    assert not found["solved"] and 1.5 < found["residual"] < 3.0


def circle_of_poses(path: Path, radius: float) -> None:
    t = np.linspace(0.0, 2.0, 200)
    turn = 2 * np.pi * (t / 2 - np.sin(np.pi * t) / (2 * np.pi))
    x, y = 0.45 + radius * np.cos(turn), radius * np.sin(turn)
    w = np.zeros_like(t)
    columns = [t, x, y, 0 * t + 0.3, w, 0 * t + 1.0, w, w]
    write_columns(path, ["t", "x", "y", "z", "qw", "qx", "qy", "qz"], np.column_stack(columns))


def test_a_path_becomes_a_motion_that_has_efforts(tmp_path: Path) -> None:
    poses, motion, efforts = (tmp_path / name for name in ("poses.csv", "motion.csv", "efforts.csv"))
    circle_of_poses(poses, 0.1)
    assert main(["ik", "ur5", "--body", "flange", "--path", str(poses), "-o", str(motion)]) == 0
    assert main(["inverse", "ur5", "--trajectory", str(motion), "-o", str(efforts)]) == 0
    arm, asked, found = kane.load("ur5"), read_columns(poses), read_columns(motion)
    q = np.column_stack([found[c] for c in arm.coordinates])
    _, p = arm.at("flange").pose(q)
    assert np.array_equal(found["t"], asked["t"])
    assert np.abs(p - np.column_stack([asked["x"], asked["y"], asked["z"]])).max() < REACHED
    assert np.abs(np.diff(q, axis=0)).max() < 0.2
    assert np.all(np.isfinite(read_columns(efforts)[f"tau_{arm.speeds[0]}"]))


def test_a_path_out_of_reach_has_status_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    circle_of_poses(tmp_path / "poses.csv", 1.0)
    line = ["ik", "ur5", "--body", "flange", "--path", str(tmp_path / "poses.csv"), "--json"]
    assert main(line) == 1
    assert printed_json(capsys)["missed"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("x,y\n0,0\n", "it has to have x, y, z"), ("x,y,z,qw\n0,0,0,1\n", "all of qw, qx, qy, qz")],
)
def test_a_path_without_its_columns_is_refused(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "poses.csv"
    path.write_text(text, encoding="utf-8")
    assert main(["ik", "ur5", "--body", "flange", "--path", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_a_quaternion_that_is_no_rotation_is_refused_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "poses.csv"
    path.write_text("x,y,z,qw,qx,qy,qz\n0.3,0,0.4,1,0,0,0\n0.3,0,0.4,1,1,0,0\n", encoding="utf-8")
    assert main(["ik", "ur5", "--body", "flange", "--path", str(path)]) == 2
    assert "line 3: a quaternion of length 1.41" in capsys.readouterr().err


# robots in URDF ------------------------------------------------------------------------------------------------------


def test_a_robot_in_urdf_has_the_efforts_of_the_same_arm(robot: str, tmp_path: Path) -> None:
    """Through a file, the efforts of the URDF are those of the built-in arm from which it was written."""
    target, files = "1,-1,0.5,0.4,0.3,0.2", []
    for model in (robot, "ur5"):
        arm = kane.load(model)
        to = ",".join(f"{c}={x}" for c, x in zip(arm.coordinates, target.split(","), strict=True))
        files.append(tmp_path / f"{arm.name}-{len(files)}.csv")
        assert main(["inverse", model, "--to", to, "--duration", "2", "-o", str(files[-1])]) == 0
    by_urdf, built_in = (np.column_stack(list(read_columns(f).values())) for f in files)
    assert np.abs(by_urdf - built_in).max() < EXACT * np.abs(built_in).max()


@pytest.mark.parametrize("name", ["thomas-tesar-arm", "stanford-arm"])
def test_a_motion_in_a_file_has_the_efforts_of_the_motion_in_memory(name: str, tmp_path: Path) -> None:
    """Arms that a table describes; the file has no speeds, so that splines give them."""
    arm = kane.load(name)
    t = np.linspace(0.0, 2.0, 200)
    start = arm.initial_state[0]
    q, u, udot = (start * (k == 0) + np.outer(f, np.full(6, 0.3)) for k, f in enumerate(smooth(t)))
    write_columns(tmp_path / "m.csv", ["t", *arm.coordinates], np.column_stack([t, q]))
    picture = tmp_path / "efforts.png"
    line = ["inverse", name, "--trajectory", str(tmp_path / "m.csv"), "-o", str(tmp_path / "e.csv")]
    assert main([*line, "--plot", str(picture)]) == 0
    exact = arm.inverse_dynamics(q, u, udot)
    found = np.column_stack(list(read_columns(tmp_path / "e.csv").values()))[:, 1:]
    assert np.abs(found - exact).max() < SPLINE * np.abs(exact).max()
    assert picture.read_bytes().startswith(b"\x89PNG")


def smooth(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return 1 - np.cos(2 * t), 2 * np.sin(2 * t), 4 * np.cos(2 * t)


def test_the_base_of_a_robot_may_float(robot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", robot, "--json"]) == 0
    assert len(printed_json(capsys)["speeds"]) == 6
    assert main(["info", robot, "--base", "floating", "--json"]) == 0
    record = printed_json(capsys)
    assert len(record["speeds"]) == 12 and record["limits"]
    assert main(["ops", robot, "--base", "floating", "--json"]) == 0
    assert printed_json(capsys)["inverse_dynamics"]["mul"] > 0
    assert main(["info", robot]) == 0
    assert "limits" in capsys.readouterr().out


def test_a_duration_without_a_target_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("simulate", "report", "inverse"):
        more = ["--trajectory", "motion.csv"] if command == "inverse" else []
        assert main([command, "cart-pole", "--duration", "3", *more]) == 2
        assert "--duration 3: there is no --to" in capsys.readouterr().err


def test_a_target_that_limits_keep_out_of_reach_is_said_to_be_missed_and_by_how_much(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = ["simulate", "ur5", "--to", "q1=3", "--duration", "0.3"]
    assert main([*line, "--json"]) == 0
    near = json.loads(capsys.readouterr().out)
    assert near["off_target"]["q1"] == near["q"]["q1"] - 3.0
    assert max(map(abs, near["off_target"].values())) < ON_TARGET
    assert main([*line, "--saturate"]) == 0
    printed = capsys.readouterr().out
    told = re.search(r"target of --to: missed, q1 by (\S+) rad", printed)
    end = re.search(r"^q1 +(\S+)$", printed, re.MULTILINE)
    assert told and end
    assert float(told[1]) == pytest.approx(float(end[1]) - 3.0, rel=1e-3)  # four digits are printed
    assert float(told[1]) < -1.0  # 150 N m do not turn the arm that far


def test_what_follows_a_motion_is_called_an_arm_only_if_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    for model, name, subject in (("cart-pole", "x", "the mechanism"), ("ur5", "q1", "the arm")):
        main(["simulate", model, "--to", f"{name}=0.1", "--duration", "1"])
        assert capsys.readouterr().err.startswith(f"{subject} follows the motion of --to")
