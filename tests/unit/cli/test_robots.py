"""Robots at the command line: packages, macros, limits, and reports in which an arm does not collapse."""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.cli.driving import is_arm
from kane.cli.given import event_of

LINK = (
    '<inertial><origin xyz="0.1 0 0.2"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="0.5" upper="2" velocity="3" effort="50"/>'
ARM = (
    f'<robot name="arm"><link name="base"/><link name="upper">{LINK}'
    '<visual><geometry><mesh filename="package://arm_description/meshes/upper.stl"/></geometry></visual></link>'
    f'<link name="fore">{LINK}</link>'
    '<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>'
    f'<axis xyz="0 1 0"/>{LIMIT}</joint>'
    '<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/>'
    f'<axis xyz="0 1 0"/>{LIMIT}</joint></robot>'
)

MACROS = (
    '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="${{1 + 1}}"/>'
    '<link name="base"/><xacro:macro name="part" params="name"><link name="${{name}}">{}</link></xacro:macro>'
    '<xacro:part name="upper"/><joint name="j" type="continuous"><parent link="base"/><child link="upper"/>'
    '<axis xyz="0 1 0"/></joint></robot>'
).format(LINK.replace('value="2"', 'value="${m}"'))


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_limits_are_shown(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(arm)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"q_elbow +0\.5 +2 +3 +50", shown)


def test_losses_units_and_couplings_are_shown(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = arm.read_text().replace(LIMIT, f'{LIMIT}<dynamics damping="0.4" friction="1.2"/>', 1)
    text = text.replace('<origin xyz="0 0 0.4"/>', '<mimic joint="shoulder" multiplier="-2" offset="0.5"/>')
    arm.write_text(text)
    assert main(["info", str(arm)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"shoulder damping +joint_spring: shoulder, damping: 0\.4", shown)
    assert re.search(r"shoulder friction +effort: .*\*1\.2, joint: shoulder", shown)
    assert re.search(r"q_shoulder +0\.5 +2 +3 +50 +rad, rad/s, N m", shown)
    assert "elbow: coupled to shoulder, -2*q_shoulder + 0.5" in shown


def test_meshes_that_are_not_found_are_told_with_the_fix(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(arm)]) == 0
    said = capsys.readouterr().err
    assert "mesh not found, left out of pictures: package://arm_description/meshes/upper.stl\n" in said
    assert "fix: name the folder that holds package arm_description, --packages FOLDER" in said
    folder = arm.parent / "ws" / "arm_description" / "meshes"
    folder.mkdir(parents=True)
    (folder / "upper.stl").write_text("solid\nendsolid\n")
    assert main(["info", str(arm), "--packages", str(arm.parent / "ws")]) == 0
    assert "mesh" not in capsys.readouterr().err
    assert main(["info", str(arm), "--packages", str(arm.parent / "nowhere")]) == 2
    capsys.readouterr()
    assert main(["inverse", str(arm), "--to", "q_elbow=1", "--samples", "3"]) == 0  # draws no bodies
    assert not capsys.readouterr().err
    capsys.readouterr()
    for mesh in (arm.parent / "ws").rglob("*.stl"):
        mesh.unlink()
    assert main(["info", str(arm), "--packages", str(arm.parent / "ws")]) == 0
    said = capsys.readouterr().err
    assert "not found, left out of pictures" in said and str(arm.parent / "ws" / "arm_description") in said
    assert main(["info", "pendulum", "--packages", str(arm.parent)]) == 2


@pytest.mark.filterwarnings("default:mesh of")
def test_meshes_are_named_with_the_fix_of_their_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without a package is helped by no folder of packages; what is there and no mesh is named too."""
    files = ["plain.stl", *(f"package://foo/{k}.dae" for k in range(3)), "garbage.stl"]
    (tmp_path / "garbage.stl").write_text("garbage\n", encoding="utf-8")
    visuals = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in files)
    robot = tmp_path / "robot.urdf"
    robot.write_text(
        f'<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        f'<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{visuals}</link><joint name="j"'
        ' type="continuous"><parent link="base"/><child link="arm"/></joint></robot>',
        encoding="utf-8",
    )
    assert main(["page", str(robot), "-o", str(tmp_path / "robot.html")]) == 0
    said = capsys.readouterr().err
    first = "plain.stl, package://foo/0.dae, package://foo/1.dae and 1 more"
    assert f"4 meshes not found, left out of pictures: {first}\n    fix: put plain.stl into the folder" in said
    assert "; name the folder that holds package foo, --packages FOLDER" in said
    assert re.search(r"mesh of 'arm' is not drawn: .*garbage\.stl", said)
    (tmp_path / "foo").mkdir()
    assert main(["info", str(robot), "--packages", str(tmp_path)]) == 0
    assert f"put {tmp_path / 'foo' / '0.dae'}, " in capsys.readouterr().err


@pytest.mark.filterwarnings("always:mesh of")
def test_a_report_tells_a_mesh_that_cannot_be_read_once_and_in_its_text(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "garbage.stl").write_text("garbage\n", encoding="utf-8")
    robot, page = tmp_path / "robot.urdf", tmp_path / "robot.html"
    robot.write_text(re.sub(r'filename="[^"]*"', 'filename="garbage.stl"', arm.read_text(encoding="utf-8")), "utf-8")
    assert main(["report", str(robot), "--t", "0.1", "-o", str(page)]) == 0
    told = re.findall(r"mesh of .* is not drawn: .*", capsys.readouterr().err)
    assert len(told) == 1
    shown = re.sub(r"<(script|style).*?</\1>|<[^>]*>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert told[0] in html.unescape(shown)


def test_a_report_tells_meshes_that_are_not_found_in_the_words_of_the_shell(
    arm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (arm.parent / "ws" / "arm_description").mkdir(parents=True)
    for more in ([], ["--packages", str(arm.parent / "ws")]):
        page = arm.with_suffix(".html")
        assert main(["report", str(arm), "--t", "0.1", "-o", str(page), *more]) == 0
        what, fix = re.findall(r"(.* not found, left out of pictures: .*)\n    (fix: .*)", capsys.readouterr().err)[0]
        shown = re.sub(r"<(script|style).*?</\1>|<[^>]*>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert f"{what}; {fix}" in html.unescape(shown)


def test_a_report_of_an_arm_holds_it_inside_its_limits(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = arm.with_suffix(".html")
    assert main(["report", str(arm), "--t", "2", "-o", str(page)]) == 0
    assert "held where it starts" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "left its limits" not in text and "<h3>Limits</h3>" in text


def test_a_report_plays_the_motion_that_was_asked_for(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = arm.with_suffix(".html")
    options = ["--to", "q_shoulder=0.6,q_elbow=1.9", "--duration", "3"]
    assert main(["report", str(arm), "-o", str(page), *options]) == 0
    assert "follows the motion of --to" in capsys.readouterr().err
    assert "reached t = 3 s" in page.read_text(encoding="utf-8")


def test_a_robot_stops_at_its_limits_where_asked(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(arm), "--t", "1"]) == 0
    assert "left its limits: q_" in capsys.readouterr().out
    assert main(["simulate", str(arm), "--t", "1", "--limits", "stop"]) == 0
    out = capsys.readouterr().out
    assert "left its limits" not in out and "impact" in out


def test_macros_are_expanded_by_xacrodoc(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(MACROS)
    model = kane.load(path)
    assert model.coordinates == ("q_j",) and model.bodies["upper"].mass.number == 2.0
    path.write_text(MACROS.replace("${m}", "${missing}"))
    with pytest.raises(kane.ModelError, match="macros cannot be expanded"):
        kane.load(path)


def test_arguments_of_macros_are_given_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.urdf.xacro"
    given = MACROS.replace('<xacro:property name="m" value="${1 + 1}"/>', '<xacro:arg name="m" default="2"/>')
    path.write_text(given.replace('value="${m}"', 'value="$(arg m)"'))
    assert kane.load(path, mappings={"m": 7}).bodies["upper"].mass.number == 7
    assert main(["info", str(path), "--mappings", "m=7"]) == 0
    assert re.search(r"upper +7 ", capsys.readouterr().out)
    assert main(["info", str(path), "--mappings", "m"]) == 2
    capsys.readouterr()
    path.write_text(path.read_text().replace('"m"', '"mass"').replace("(arg m)", "(arg mass)"))
    assert main(["info", str(path), "--mappings", "mas=2"]) == 1
    told = capsys.readouterr().err
    assert re.search(r"no argument 'mas'(.|\n)*did you mean 'mass'", told)
    assert "<xacro:arg>" in told and "in Python" not in told
    assert kane.load(path, mappings={"mass": 7}).bodies["upper"].mass.number == 7
    with pytest.raises(kane.ModelError, match=r"a \.urdf has none"):
        path.with_suffix(".urdf").write_text(ARM)
        kane.load(path.with_suffix(".urdf"), mappings={"m": 7})


def test_right_angles_of_few_digits_are_told_with_the_option(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arm.write_text(arm.read_text().replace('<origin xyz="0 0 0.4"/>', '<origin xyz="0 0 0.4" rpy="1.5708 0 0"/>'))
    assert main(["ops", str(arm)]) == 0
    said = capsys.readouterr()
    assert "in joint 'elbow'" in said.err and "load with --right-angle RADIANS of 4e-06" in said.err
    assert main(["ops", str(arm), "--right-angle", "4e-6"]) == 0
    exact = capsys.readouterr()
    assert not exact.err and exact.out != said.out


def test_without_xacrodoc_the_fix_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(MACROS)
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(kane.ModelError, match=r"pip install 'kane\[xacro\]'"):
        kane.load(path)


@pytest.mark.parametrize("name", ["puma-560", "thomas-tesar-arm"])
def test_an_arm_of_six_axes_without_limits_or_laws_is_held(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, gains = tmp_path / "arm.html", "accelerations 25 1/s² times errors and 10 1/s times their rates"
    assert main(["report", name, "--t", "2", "-o", str(page)]) == 0
    held = f"arm is held where it starts, by computed torque: {gains}"
    assert capsys.readouterr().err == f"the {held} (--control none lets it go)\n"
    text = page.read_text(encoding="utf-8")
    assert f"The {held}. The simulation reached t = 2 s" in text
    weights = kane.load(name).bias(*kane.load(name).initial_state)
    assert f"{weights[1]:.4g}" in text  # N m: what holds the shoulder
    assert main(["report", name, "--t", "0.2", "--control", "none", "-o", str(page)]) == 0
    assert "No efforts along the speeds. " in page.read_text(encoding="utf-8")


def test_what_swings_is_no_arm() -> None:
    assert is_arm(kane.load("puma-560")) and is_arm(kane.load("ur5"))
    for name in ("double-pendulum", "free-flying-robot", "five-bar", "cart-pole"):
        assert not is_arm(kane.load(name)), name
    chain = kane.Model("chain", gravity=(0, 0, -9.81))
    for k in range(8):
        chain.body(f"b{k}", mass=1.0, center=(0, 0, -0.5), inertia={"xx": 0.1, "yy": 0.1})
        chain.joint(f"j{k}", "revolute", f"b{k - 1}" if k else "ground", f"b{k}", axis="y", at=(0, 0, -float(k > 0)))
    assert not is_arm(chain)  # eight axes in one plane


def test_an_arm_is_held_where_it_is_put(arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["simulate", str(arm), "--q", "q_elbow=1.5", "--t", "1", "--json"]
    assert main([*asked, "--control", "hold"]) == 0
    assert json.loads(capsys.readouterr().out)["q"]["q_elbow"] == pytest.approx(1.5, abs=1e-9)
    assert main([*asked, "--control", "none"]) == 0
    assert abs(json.loads(capsys.readouterr().out)["q"]["q_elbow"] - 1.5) > 0.1
    assert main(["simulate", "cart-pole", "--control", "hold", "--t", "0.1"]) == 0
    assert main(["simulate", "four-bar", "--control", "hold"]) == 2
    assert "without constraints" in capsys.readouterr().err


def test_a_simulation_follows_the_motion_that_was_asked_for(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["simulate", str(arm), "--q", "q_elbow=1", "--to", "q_elbow=1.9", "--duration", "2", "--json"]
    assert main(asked) == 0
    out = capsys.readouterr()
    found = json.loads(out.out)
    assert found["t"] == 2.0 and found["q"]["q_elbow"] == pytest.approx(1.9, abs=1e-6)
    assert "follows the motion of --to" in out.err
    assert main([*asked, "--control", "none"]) == 2


def test_efforts_stay_within_their_limits_where_asked(arm: Path, tmp_path: Path) -> None:
    table = tmp_path / "motion.csv"
    law = ["--control", "u_elbow=900*(1-q_elbow)-30*u_elbow", "--t", "0.5", "-o", str(table)]
    assert main(["simulate", str(arm), *law, "--saturate"]) == 0
    columns = table.read_text().splitlines()[0].split(",")
    efforts = np.loadtxt(table, delimiter=",", skiprows=1)[:, columns.index("tau_u_elbow")]
    assert abs(efforts).max() == 50.0


def test_the_shell_tells_how_long_efforts_were_at_their_limits(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """100 sin 2π t is beyond the 50 N m of the elbow for two thirds of the time, first after a twelfth of a second."""
    line = ["simulate", str(arm), "--control", "elbow=100*sin(2*pi*t)", "--t", "1", "--saturate"]
    assert main(line) == 0
    assert "saturated: q_elbow for 0.6667 s (66.7 % of the time), first at t = 0.08333 s" in capsys.readouterr().out
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["saturation"]
    assert list(found) == ["q_elbow"] and found["q_elbow"]["limit"] == 50.0
    assert found["q_elbow"]["share"] == pytest.approx(2 / 3, abs=1e-9)
    ends = [x for span in found["q_elbow"]["spans"] for x in span]
    assert ends == pytest.approx([1 / 12, 5 / 12, 7 / 12, 11 / 12], abs=1e-9)
    line = ["simulate", str(arm), "--control", "elbow=49*sin(2*pi*t)", "--t", "0.1", "--saturate"]
    assert main(line) == 0
    assert "\nno effort reached its limit\n" in capsys.readouterr().out
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["saturation"] == {}


def test_a_sweep_holds_efforts_within_their_limits_as_a_motion_alone_does(
    arm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = [str(arm), "--control", "u_elbow=900*(1-q_elbow)-30*u_elbow", "--t", "0.1", "--json"]
    assert main(["simulate", *law, "--samples", "3", "--saturate"]) == 0
    alone = json.loads(capsys.readouterr().out)["q"]["q_elbow"]
    found = []
    for more in (["--saturate"], []):
        assert main(["sweep", *law, "-n", "2", "--samples", "3", *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["at_the_end"]["q_elbow"]["mean"])
    assert found[0] == alone != found[1]


def test_joints_of_one_coordinate_are_named_as_such_wherever_values_are_given(
    arm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for q, u in (("q_elbow", "u_elbow"), ("elbow", "elbow")):
        assert main(["simulate", str(arm), "--q", f"{q}=1", "--u", f"{u}=0.5", "--t", "0.1", "--json"]) == 0
        said.append(json.loads(capsys.readouterr().out)["q"])
        assert main(["linearize", str(arm), "--at", f"{q}=1", "--json"]) == 0
        said.append(capsys.readouterr().out)
        assert main(["sweep", str(arm), "-n", "2", "--q", f"{q}=1", "--u", f"{u}=0.5", "--t", "0.1", "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert said[:3] == said[3:]
    assert main(["simulate", str(arm), "--q", "elbow=1,q_elbow=1"]) == 2
    assert main(["simulate", str(arm), "--control", "elbo=0"]) == 2
    assert "did you mean 'elbow'?" in capsys.readouterr().err
    assert main(["linearize", str(arm), "--control", "hold"]) == 2
    assert "kane simulate" in capsys.readouterr().err


def test_events_of_the_shell_have_a_direction(capsys: pytest.CaptureFixture[str]) -> None:
    assert event_of("q1", "e") == "q1"
    assert event_of("q1-", "e") == {"expression": "q1", "direction": -1}
    assert event_of("q1 + !", "e") == {"expression": "q1", "terminal": True, "direction": 1}
    asked = ["simulate", "pendulum", "--q", "q=1", "--u", "u=0", "--t", "9", "--json", "--event"]
    ends = []
    for sign in ("-", "+"):  # let go at rest, q falls through zero after T/4 and rises through it after 3 T/4
        assert main([*asked, f"down=q{sign}!"]) == 0
        ends.append(json.loads(capsys.readouterr().out)["t"])
    assert ends[1] == pytest.approx(3 * ends[0], rel=1e-6)
    assert main(["simulate", "pendulum", "--of", "efforts"]) == 2  # a plot that is nowhere written


def test_a_report_tells_of_saturation_what_the_motion_does(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A law of the state, whose times at the limit depend on where the motion is between its samples."""
    line = [str(arm), "--control", "u_elbow=900*(1-q_elbow)-30*u_elbow", "--t", "0.5", "--saturate"]
    assert main(["simulate", *line]) == 0
    told = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("saturated: "))
    assert main(["report", *line, "-o", str(tmp_path / "arm.html")]) in (0, 1)
    assert told in (tmp_path / "arm.html").read_text()


@pytest.mark.parametrize("of", ["q_elbow + x7", "r.elbw.x", "reactions of elbw", "force.elbw"])
def test_what_cannot_be_drawn_is_told_before_the_motion(
    of: str, arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kane.cli.motion.run_simulation", lambda *_: pytest.fail("it was simulated"))
    assert main(["simulate", str(arm), "--plot", str(tmp_path / "arm.png"), "--of", of]) == 2
    assert f"--of {of}" in capsys.readouterr().err
