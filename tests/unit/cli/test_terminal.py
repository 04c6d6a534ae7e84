"""Texts of a model cannot command the terminal, and a model is not what it calls itself."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import kane
from kane.cli import main
from kane.errors import KaneError, visible

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202ered\rover\x7f"
MODEL = """kane: 1
name: {name}
about: {about}
bodies:
  rod: {{mass: {mass}, center: [0, -1, 0]}}
joints:
  pin: {{type: revolute, parent: ground, child: rod, axis: z, coordinate: q, speed: u}}
"""

COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that no output of ours has, when it is not drawn."""


def evil_file(folder: Path, mass: str = "2") -> str:
    path = folder / "evil.yaml"
    name = json.dumps(EVIL)  # JSON writes escapes that YAML reads
    path.write_text(MODEL.format(name=name, about=name, mass=mass), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "info",
            "info --json",
            "ops",
            "derive",
            "derive --format c",
            "derive --format latex",
            "check",
            "check --json",
        ),
        *("simulate --t 0.1", "inverse --to q=1", "linearize --equilibrium", "ik --body rod --position 0,0,0"),
    ],
)
def test_no_command_passes_on_what_would_command_a_terminal(line: str, tmp_path: Path, capsys) -> None:
    command, *options = line.split()
    assert main([command, evil_file(tmp_path), *options]) in (0, 1)
    said = capsys.readouterr()
    assert said.out
    assert not COMMANDING.search(said.out) and not COMMANDING.search(said.err)


@pytest.mark.parametrize("option", ["--set", "--q", "--control", "-o"])
def test_no_refusal_passes_it_on(option: str, tmp_path: Path, capsys) -> None:
    assert main(["simulate", evil_file(tmp_path), option, EVIL]) == 2
    said = capsys.readouterr()
    assert said.err and not COMMANDING.search(said.err)


@pytest.mark.parametrize("line", [["info", EVIL], ["info", "pendulum", EVIL], ["simulate", "pendulum", "--t", EVIL]])
def test_no_word_of_the_command_line_is_passed_on_as_it_is(line: list[str], capsys) -> None:
    assert main(line) == 2  # words can be names of files that a shell has put there
    said = capsys.readouterr()
    assert said.err and not COMMANDING.search(said.err)


@pytest.mark.parametrize("where", ["mass", "key", "kind"])
def test_no_fault_of_a_file_passes_it_on(where: str, tmp_path: Path, capsys) -> None:
    path = Path(evil_file(tmp_path, mass=json.dumps(EVIL) if where == "mass" else "2"))
    text = path.read_text(encoding="utf-8")
    if where == "key":
        text += f"{json.dumps(EVIL)}: 1\n"
    if where == "kind":
        text = text.replace("type: revolute", f"type: {json.dumps(EVIL)}")
    path.write_text(text, encoding="utf-8")
    assert main(["info", str(path)]) == 1
    said = capsys.readouterr()
    assert said.err and not COMMANDING.search(said.err)
    with pytest.raises(KaneError) as caught:
        kane.load(path)
    assert not COMMANDING.search(str(caught.value))


def test_json_gives_the_text_back_as_it_is(tmp_path: Path, capsys) -> None:
    assert main(["info", evil_file(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["about"] == EVIL


def test_letters_lines_and_tabs_are_left_alone() -> None:
    text = "u̇ = M⁻¹ (τ − bias)\n\tgrün → 你好 ½"
    assert visible(text) == text
    assert visible("\x1b[0m\r") == "\\u001b[0m\\u000d"


def test_commands_print_through_the_console_alone() -> None:
    folder = Path(str(kane.__file__)).parent / "cli"
    for path in folder.glob("*.py"):
        if path.name in (
            "console.py",
            "streams.py",
            "parser.py",
        ):  # these make visible what they print, or print a version
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        assert not [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path.name


def test_published_counts_are_beside_the_built_in_arm_alone(tmp_path: Path, capsys) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MODEL.format(name="stanford-arm", about="not the paper's", mass=2), encoding="utf-8")
    assert main(["ops", str(path)]) == 0
    assert "[KL83]" not in capsys.readouterr().out
    assert main(["ops", "stanford-arm"]) == 0
    assert "[KL83]" in capsys.readouterr().out


def test_a_model_is_the_built_in_one_whatever_its_parameters_until_parts_are_added() -> None:
    arm = kane.load("stanford-arm")
    assert arm.mechanism.builtin == "stanford-arm"
    name = next(iter(arm.parameters))
    arm.set_parameters(**{name: arm.parameters[name].value * 1.5})
    assert arm.mechanism.builtin == "stanford-arm"
    speed = arm.speeds[0]
    arm.load("push", kane.Effort(next(iter(arm.joints)), 1.0))
    assert arm.mechanism.builtin == "" and speed in arm.speeds


def test_what_prints_itself_in_python_commands_nothing_either(tmp_path: Path) -> None:
    model = kane.load(evil_file(tmp_path))
    run = model.simulate((0.0, 0.1))
    for thing in (model, model.equations(), model.equations().program("energy"), run, run.check(), model.check()):
        assert not COMMANDING.search(repr(thing)) and not COMMANDING.search(str(thing))
