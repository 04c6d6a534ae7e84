"""The shell: completion, laws and events as expressions, tables that are asked for, one meaning of each exit status."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.advice import KEEPS
from kane.api.run_pictures import GROUPS
from kane.catalogue import builtin_controls, builtin_names, builtin_text
from kane.cli import USAGE, main
from kane.cli.completion import bash, commands, fish, zsh
from kane.cli.given import coordinates_of
from kane.cli.parser import COMMANDS, DRAWN, FILES, parser
from kane.model import ROBOTS
from kane.model.files.loading import SUFFIXES


def complete(words: list[str]) -> list[str]:
    """What bash offers for the last word."""
    script = "\n".join(
        [
            f"kane() {{ '{sys.executable}' -m kane \"$@\"; }}",
            bash(commands()),
            f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}",
            'case "${COMP_WORDS[COMP_CWORD]}" in _) COMP_WORDS[COMP_CWORD]="" ;; esac; _kane; echo "${COMPREPLY[@]}"',
        ]
    )
    shell = shutil.which("bash")
    assert shell is not None
    return subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_models_options_and_their_words() -> None:
    assert complete(["kane", "_"]) == [*COMMANDS, "--help", "--version"]
    assert complete(["kane", "simulate", "stan"]) == [name for name in builtin_names() if name.startswith("stan")]
    assert complete(["kane", "simulate", "pendulum", "--met"]) == ["--method"]
    assert complete(["kane", "simulate", "pendulum", "--method", "r"]) == ["rk45", "rk23", "rk4", "radau"]
    assert complete(["kane", "completion", "_"]) == ["bash", "zsh", "fish"]
    assert complete(["kane", "simulate", "pendulum", "motion"]) == []  # files, by the shell itself


def test_bash_completes_behind_an_equals_sign() -> None:
    """As bash cuts words at = by default, and as it does where COMP_WORDBREAKS has none."""
    methods = ["rk45", "rk23", "rk4", "radau"]
    assert complete(["kane", "simulate", "pendulum", "--method", "=", "r"]) == methods
    assert complete(["kane", "sweep", "pendulum", "--keep", "="]) == list(KEEPS)
    assert complete(["kane", "simulate", "pendulum", "--method=r"]) == [f"--method={name}" for name in methods]


def test_bash_completes_names_of_coordinates_and_speeds() -> None:
    arm = ["kane", "simulate", "double-pendulum"]
    assert complete([*arm, "--q", "_"]) == ["q1=", "q2="]
    assert complete([*arm, "--u", "=", "u"]) == ["u1=", "u2="]
    assert complete([*arm, "--q", "q1", "=", "0.1,q"]) == ["0.1,q1=", "0.1,q2="]
    assert complete(["kane", "simulate", "no-such-model", "--q", "_"]) == []


def test_bash_completes_control_laws_and_what_is_drawn() -> None:
    assert complete(["kane", "simulate", "cart-pole", "--control", "_"]) == ["balance", "hold", "none"]
    assert complete(["kane", "sweep", "cart-pole", "-n", "3", "--control", "_"]) == ["balance"]
    assert complete(["kane", "simulate", "pendulum", "--of", "e"]) == ["efforts", "energy"]
    assert set(DRAWN) == set(GROUPS)
    assert (*SUFFIXES, *ROBOTS) == FILES


def test_bash_completes_files_of_models_beside_the_built_in_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pendant.yaml", "pen robot.urdf", "pencil.txt", "pens/arm.urdf"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("", encoding="utf-8")
    assert complete(["kane", "simulate", "pen"]) == ["pendulum", "pendant.yaml", "pen", "robot.urdf", "pens"]
    assert complete(["kane", "simulate", "pens/"]) == ["pens/arm.urdf"]
    assert complete(["kane", "completion", "pen"]) == []


def test_the_catalogue_knows_the_control_laws_of_every_model() -> None:
    for name in builtin_names():
        may_have = any(word in builtin_text(name) for word in ("controls", "extends"))
        assert builtin_controls(name) == (tuple(kane.load(name).controls) if may_have else ())


@pytest.mark.parametrize(("shell", "write"), [("zsh", zsh), ("fish", fish)])
def test_other_shells_know_every_command_and_option(shell: str, write: object) -> None:
    text = {"zsh": zsh, "fish": fish}[shell](commands())
    for command in commands():
        assert command.name in text
        for option, _ in command.options:
            assert (option if shell == "zsh" else option.lstrip("-")) in text
    assert text.count("'") % 2 == 0


HALF = np.sqrt(0.5)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("axis(z,90*deg)", [HALF, 0, 0, HALF]),
        ("axis(0.6,0.8,0,90*deg)", [HALF, 0.6 * HALF, 0.8 * HALF, 0]),
        ("euler(body 123,0,90*deg,0)", [HALF, 0, HALF, 0]),
        ("quaternion(0,1,0,0)", [0, 1, 0, 0]),
    ],
)
def test_a_free_joint_starts_in_any_orientation(said: str, expected: list[float]) -> None:
    found = coordinates_of(kane.load("free-body"), [f"flight={said},x=2"])
    assert list(found) == ["e0", "e1", "e2", "e3", "x"] and found["x"] == 2.0
    assert [found[name] for name in ("e0", "e1", "e2", "e3")] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("model", "said", "told"),
    [
        ("free-body", "flight=0.1", "'flight' is a free joint"),
        ("free-body", "flight=axis(z)", "flight=axis(z,90*deg), euler("),
        ("free-body", "fligt=axis(z,1)", "did you mean 'flight'?"),
        ("satellite-with-panels", "gimbal=axis(z,1)", "its coordinates by name: az, el"),
        ("free-body", "flight=quaternion(1,1,0,0)", "quaternion of length 1.41421"),
        ("free-body", "flight=axis(0,0,0,1)", "the axis has length 0"),
    ],
)
def test_what_is_no_orientation_is_told(model: str, said: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", model, "--t", "1", "--q", said]) != 0
    assert told in capsys.readouterr().err


def test_an_axis_of_another_length_is_told_as_the_shell_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A turn by 30° about (1, 1, 0): the quaternion is [cos 15°, sin 15° (√½, √½, 0)]."""
    line = ["simulate", "free-body", "--t", "0.1", "--q"]
    assert main([*line, "flight=axis(1,1,0,30*deg)"]) == USAGE
    advised = capsys.readouterr().err.partition("fix: ")[2].strip()
    found = coordinates_of(kane.load("free-body"), [f"flight={advised}"])
    half, across = np.radians(15.0), np.sin(np.radians(15.0)) * HALF
    assert list(found.values()) == pytest.approx([np.cos(half), across, across, 0.0], abs=1e-9)


def test_a_step_that_is_not_taken_is_told_in_words_of_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "pendulum", "--t", "1", "--step", "0.1"]) == USAGE
    assert "leave out --step 0.1, or bound it by --max-step SECONDS, or add --method rk4" in capsys.readouterr().err
    assert main(["sweep", "pendulum", "-n", "2", "--step", "0.1"]) == USAGE
    assert "leave out --step 0.1, or add --method rk4" in capsys.readouterr().err  # it has no --max-step
    assert main(["simulate", "pendulum", "--t", "1", "--step", "0.1", "--method", "rk4"]) == 0


@pytest.mark.parametrize("laws", [["u1=-3*q1-max(u1,0),elbow=-u2"], ["u1=-3*q1-max(u1,0)", "elbow=-u2"]])
def test_a_law_may_be_given_as_expressions(laws: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options = [word for law in laws for word in ("--control", law)]
    assert main(["simulate", "double-pendulum", "--t", "1", "--q", "q1=1", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    run = kane.load("double-pendulum").simulate(
        np.linspace(0, 1, 1001), q={"q1": 1.0}, control={"u1": "-3*q1-max(u1,0)", "elbow": "-u2"}
    )
    assert found["q"]["q2"] == run["q2"][-1]


@pytest.mark.parametrize("laws", [["feedback", "u1=0"], ["u1=0,feedback"], ["hold", "u1=0"]])
def test_a_law_by_name_is_not_mixed_with_expressions(laws: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options = [word for law in laws for word in ("--control", law)]
    assert main(["simulate", "stanford-arm", "--t", "0.1", *options]) == USAGE
    said = capsys.readouterr().err
    assert "cannot be mixed" in said and "alone, or --control 'u1=0'" in said


def test_events_are_counted_and_end_the_motion(capsys: pytest.CaptureFixture[str]) -> None:
    start = ["simulate", "pendulum", "--t", "5", "--q", "q=1", "--rtol", "1e-11"]
    assert main([*start, "--event", "down=q", "--json"]) == 0
    down = json.loads(capsys.readouterr().out)["events"]["down"]
    period = 2 * (down[1] - down[0])  # of a pendulum of 1 m, amplitude 1 rad: 4 K(sin 1/2) sqrt(L/g)
    from scipy.special import ellipk

    assert period == pytest.approx(4 * ellipk(np.sin(0.5) ** 2) / np.sqrt(9.81), rel=1e-8)
    assert main([*start, "--events", "down=q!"]) == 0
    said = capsys.readouterr().out
    assert "down" in said and f"{down[0]:.6g}"[:6] in said


def commands_of_models() -> list[str]:
    """The commands that take a MODEL, from the parser itself."""
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return [name for name, command in commands.choices.items() if any(a.dest == "model" for a in command._actions)]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["simulate", "pendulum", "--t", "0.1"], 0),
        (["simulate", "pendulm"], 2),  # no such model: usage
        (["simulate", "pendulum", "--control", "nothing"], 2),
        (["simulate", "pendulum", "--control", "u="], 2),
        (["simulate", "pendulum", "--event", "q"], 2),
        (["simulate", "pendulum", "--control", "u=q9"], 1),  # an expression of the model that is wrong
        (["simulate", "pendulum", "--event", "e=q9"], 1),
        (["simulate", "pendulum", "--of", "sped", "--t", "0.1", "--plot", "x.png"], 2),
        (["simulate", "pendulum", "--step", "0.1"], 2),
        (["sweep", "pendulum", "-n", "2", "--step", "0.1"], 2),
        (["sweep", "pendulum", "-n", "2", "--q", "q=gauss(0,1)"], 2),
        (["sweep", "pendulum", "-n", "2", "--q", "q=normal(0,q9)"], 1),
        (["vehicle", "pendulum"], 1),
        (["vehicle", "two-robots-one-beam"], 2),
        (["vehicle", "two-robots-one-beam", "--vehicle", "third"], 2),
        (["simulate", "pendulum", "--plot", "x.bmp"], 2),
        (["simulate", "pendulum", "--animate", "x.avi"], 2),
        (["simulate", "pendulum", "-o", "x.txt"], 2),
        (["check", "pendulum"], 0),
        (["nothing"], 2),
        (["--help"], 0),
    ],
)
def test_the_exit_status_has_one_meaning(
    words: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == status


NO_MODELS = {  # what stands in place of MODEL → exit status: 2 where that can be no model, 1 for a faulty one
    "notes.md": 2,
    "folder": 2,
    "folder.yaml": 2,
    "folder.urdf": 2,
    "binary": 2,
    "empty": 2,
    "dangling.yaml": 2,
    "missing.yaml": 2,
    "missing.urdf": 2,
    "no/such/folder.yaml": 2,
    "pendulm": 2,
    "": 2,
    "\0.yaml": 2,
    "x" * 5000: 2,
    "binary.yaml": 1,
    "binary.urdf": 1,
    "empty.yaml": 1,
    "empty.urdf": 1,
    "words.yaml": 1,
    "words.urdf": 1,
    "cut.urdf": 1,
}
NEEDED = {"sweep": ["-n", "2"], "ik": ["--body", "b", "--position", "0,0,0"], "inverse": ["--to", "q=1"]}


@pytest.fixture
def no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that describe no model."""
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "folder.yaml", "folder.urdf"):
        (tmp_path / name).mkdir()
    for ending in ("", ".yaml", ".urdf"):
        (tmp_path / f"binary{ending}").write_bytes(bytes(range(128, 256)))
        (tmp_path / f"empty{ending}").touch()
    for name, text in {
        "notes.md": "# Notes",
        "words.yaml": "words",
        "words.urdf": "words",
        "cut.urdf": "<robot",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere.yaml")
    return tmp_path


@pytest.mark.parametrize("command", commands_of_models())
def test_what_is_no_model_has_the_same_status_with_every_command(
    command: str, no_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(no_models.iterdir())
    found: dict[str, int] = {}
    for name in NO_MODELS:
        found[name] = main([command, name, *NEEDED.get(command, [])])
        said = capsys.readouterr()
        assert not said.out and said.err.startswith(f"kane {command}: ") and "Traceback" not in said.err
        assert f"did you mean '{name}'" not in said.err
    assert found == NO_MODELS
    assert sorted(no_models.iterdir()) == before


def test_files_that_options_name_have_the_status_of_models(no_models: Path) -> None:
    """Not there, or a folder: 2. There, and not what it should be: 1."""
    (no_models / "cut.json").write_text("{", encoding="utf-8")
    (no_models / "list.json").write_text("[1]", encoding="utf-8")
    for words in (["inverse", "pendulum", "--trajectory"], ["ik", "ur5", "--body", "wrist_3", "--path"]):
        assert [main([*words, name]) for name in ("missing.csv", "folder", "empty", "binary")] == [2, 2, 1, 1]
    at = [main(["linearize", "pendulum", "--at", name]) for name in ("missing.json", "cut.json", "list.json")]
    assert at == [2, 1, 1]


def test_a_file_that_is_no_model_is_called_that_in_python_too(no_models: Path) -> None:
    with pytest.raises(kane.ModelError, match=r"its ending is none of \.yaml, \.yml, \.urdf, \.xacro"):
        kane.load("notes.md")
    with pytest.raises(kane.ModelError, match="no such built-in model"):
        kane.load("x" * 5000)


def test_a_benchmark_that_is_not_there_is_no_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "no-such-benchmark"]) == 2
    assert "no benchmark has no-such-benchmark in its name" in capfd.readouterr().err


def test_what_cannot_be_drawn_is_told_before_the_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["-o", str(tmp_path / "run.csv"), "--plot", str(tmp_path / "run.png")]
    assert main(["simulate", "pendulum", "--t", "0.1", "--of", "q,sped", *files]) == USAGE
    assert "did you mean 'speeds'?" in capsys.readouterr().err
    assert main(["simulate", "pendulum", "--t", "0.1", "--of", "attitude", *files]) == USAGE
    assert "'pendulum' has none" in capsys.readouterr().err
    assert main(["simulate", "pendulum", "--t", "0.1", "--of", "q and u", *files]) == USAGE
    assert "--of q and u: curves of one panel have different units: q in rad, u in rad/s" in capsys.readouterr().err
    assert main(["simulate", "pendulum", "--t", "0.1", "--of", "zzzzzzz", *files]) == USAGE
    listed = capsys.readouterr().err
    assert "tau_u" in listed and "q'" in listed  # which are drawn, as the next line shows
    kane.load("pendulum").simulate(0.1).plot(None, ["tau_u", "q'"])
    assert not list(tmp_path.iterdir())


def test_a_misspelt_model_is_told_with_the_nearest_few(capsys: pytest.CaptureFixture[str]) -> None:
    for name, near in {
        "pendulm": "did you mean 'pendulum'?",
        "stanford": "did you mean 'stanford-arm' or 'stanford-arm-kane'?",
        "bicycle": "did you mean 'whipple-bicycle'?",
    }.items():
        assert main(["info", name]) == USAGE
        said = capsys.readouterr().err
        assert f"fix: {near} `kane list` names" in said and "rattleback" not in said
        with pytest.raises(kane.ModelError, match=re.escape(f"fix: {near} kane.models() lists all")):
            kane.load(name)
    assert main(["info", "zzzz"]) == USAGE
    assert "did you mean" not in (said := capsys.readouterr().err) and "fix: `kane list` names" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "sweep pendulum -n 2 --q q=uniform(1,2",
            "--q: a ')' is missing: nothing closes this '('\n    q=uniform(1,2\n",
        ),
        ("sweep pendulum -n 2 --parameter L=uniform(1,2))", "--parameter: a '(' is missing before this ')'"),
        ("sweep pendulum -n 2 --q q=uniform[1,2]", "its numbers in parentheses\n    fix: give uniform(low, high)"),
        ("sweep pendulum -n 2 --q q=normal(0,1)*deg", "a distribution stands by itself"),
        ("sweep pendulum -n 2 --event e=(q", "--event: a ')' is missing"),
        ("sweep pendulum -n 2 --watch e=sin(q", "--watch: a ')' is missing"),
        ("simulate pendulum --q q=sin(1,u=2", "--q: a ')' is missing"),
        ("simulate pendulum --u u=1)", "--u: a '(' is missing before this ')'\n    u=1)\n       ^"),
        ("simulate pendulum --set L=(1", "--set: a ')' is missing"),
        ("simulate pendulum --control u=-2*(q-u", "--control: a ')' is missing"),
        ("simulate pendulum --plot x.png --of sin(q", "--of: a ')' is missing"),
        ("simulate free-body --q flight=axis(z,90*deg", "--q: a ')' is missing"),
        ("linearize pendulum --at u=(1", "--at: a ')' is missing"),
        ("ik ur5 --body wrist_3 --position 0.3,(0,1", "--position: a ')' is missing"),
        ("simulate pendulum --q q=1,5", "because a comma ends a VALUE; a decimal point is '.'"),
        ("simulate pendulum --event down=q!-", "! stands last\n    fix: --event 'down=q-!'"),
        ("simulate pendulum --event down=!", "there is no expression before the marks"),
        ("simulate pendulum --event down=q=1", "fix: --event 'down=q - (1)'"),
    ],
)
def test_a_slip_in_an_option_is_told_where_it_is(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == USAGE
    assert said in capsys.readouterr().err


def test_words_with_and_between_share_a_panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()
    monkeypatch.setattr(kane.Trajectory, "plot", lambda run, path, what: asked.append(what))
    words = ["simulate", "double-pendulum", "--t", "0.02", "--plot", str(tmp_path / "x.png")]
    assert main([*words, "--of", "q1 and q2,speeds,sin(q1) and  cos(q2)", "--of", "energy"]) == 0
    assert asked == [[["q1", "q2"], "speeds", ["sin(q1)", "cos(q2)"], "energy"]]


def test_path_tables_are_shown_when_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "stanford-arm"]) == 0
    assert "path table" not in capsys.readouterr().out
    assert main(["info", "stanford-arm", "--paths"]) == 0
    assert capsys.readouterr().out.count("path table") == 2
    assert main(["info", "free-body"]) == 0
    assert "w.body.x" in capsys.readouterr().out


def test_runs_are_written_in_every_format_and_come_back(tmp_path: Path) -> None:
    for suffix in (".npz", ".parquet", ".csv"):
        path = tmp_path / f"run{suffix}"
        assert main(["simulate", "pendulum", "--t", "1", "--samples", "11", "-o", str(path)]) == 0
        back = kane.Trajectory.load(path, model=kane.load("pendulum") if suffix == ".csv" else None)
        assert len(back) == 11
        assert back.check().passed


def test_tip_over_and_joints_are_drawn_by_name(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ["simulate", "diff-drive-arm", "--t", "0.02", "--plot", str(tmp_path / "x.png"), "--of"]
    assert main([*words, "tipovr"]) == USAGE
    run = kane.load("diff-drive-arm").simulate(0.02)
    lines = [axes.lines[0] for axes in run.plot(what=["tipover", "tipover*1", "elbow"]).axes]
    drawn = [line.get_ydata() for line in lines]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    rows = np.searchsorted(lines[2].get_xdata(), run.t)  # the curve goes through all of them
    np.testing.assert_array_equal(drawn[2][rows], run[run.model.mechanism.joints["elbow"].coordinates[0].name])


def test_a_target_names_joints_or_coordinates(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["inverse", "double-pendulum", "--duration", "1", "--samples", "3", "--to"]
    assert main([*words, "shoulder=1,q2=0.5"]) == main([*words, "q1=1,q2=0.5"]) == 0
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :] != ""
    assert main([*words, "sholder=1"]) == 2
    assert "did you mean 'shoulder'?" in capsys.readouterr().err
    assert main([*words, "shoulder=1,q1=2"]) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("simulat pendulum", "kane: there is no command 'simulat'; did you mean 'simulate'?"),
        ("simulate pendulum --tt 3", "kane simulate: there is no option --tt; did you mean --t?"),
        ("simulate pendulum --plto=x.png", "kane simulate: there is no option --plto; did you mean --plot?"),
        (
            "simulate pendulum --method radu",
            "kane simulate: argument --method: there is no 'radu'; did you mean 'radau'?",
        ),
        ("simulate pendulum 3", "kane simulate: '3' is not expected here"),
    ],
)
def test_mistyped_commands_and_options_are_told_what_was_meant(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    first, usage = capsys.readouterr().err.splitlines()
    assert first == told
    assert usage == "    usage: kane simulate MODEL [OPTION ...]; kane simulate --help says more"
