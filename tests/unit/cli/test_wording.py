"""Sentences that the shell shows advise options of the shell, and who follows the advice is helped."""

from __future__ import annotations

import json
import re
import shlex

import pytest

import kane
from kane.advice import Option, reword, terminal_event
from kane.cli import main
from kane.cli.parser import parser
from kane.cli.wording import in_shell

OPTIONS = (
    Option("saturate", (True,)),
    Option("method", ("auto", "radau")),
    Option("method", ("radau",)),
    Option("step"),
    Option("resume", (True,)),
    Option("control", ({"u1": "-2*q1 - u1"},)),
    terminal_event("fallen", "abs(q2) - 80*deg"),
)
PYTHON = re.compile(r"\w+=(True|\{|'|\.\.\.|…)")


@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_an_option_is_read_back_from_a_sentence(option: Option) -> None:
    found: list[Option] = []
    text = f"it went wrong: x=1.5, y = 'z'; fix: {option}, or wait"
    reword(text, lambda x: found.append(x) or "")
    assert found == [option]


@pytest.mark.parametrize("option", [o for o in OPTIONS if o.name != "resume" and o.values], ids=str)
def test_what_the_shell_advises_is_what_its_parser_takes(option: Option) -> None:
    words = in_shell(option, "simulate")
    assert not PYTHON.search(words)
    arguments = parser().parse_args(["simulate", "pendulum", *shlex.split(words.partition(" or ")[0])])
    value = getattr(arguments, "event" if option.name == "events" else option.name)
    assert value in ([option.values[0], "u1=-2*q1 - u1", ["fallen=abs(q2) - 80*deg!"]])


@pytest.mark.parametrize(
    ("model", "values", "named"),
    [
        ("box-on-incline", "mu=-1,m=2", "mu"),
        ("pendulum", "m=-1,L=2", "m"),
        ("bouncing-ball", "e=2", "e"),
        ("ackermann-car", "mu=-0.3", "mu"),
    ],
)
def test_a_parameter_with_a_value_that_cannot_be_is_named_with_the_option_that_sets_it(
    model: str, values: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", model, "--set", values]) != 0
    assert f", by --set {named}=VALUE\n" in capsys.readouterr().err
    m = kane.load(model)
    with pytest.raises(kane.KaneError) as refused:
        m.set_parameters(dict(pair.split("=") for pair in values.split(",")))
    assert str(refused.value).endswith(f", by set_parameters({named}=...)")


def test_an_option_that_a_command_has_not_is_said_to_be_one_of_python() -> None:
    assert in_shell("fix: saturate=True", "info") == "fix: saturate=True (in Python)"
    assert in_shell("fix: give step=..., in seconds", "simulate") == "fix: give --step SECONDS, in seconds"
    assert (
        in_shell("with store=… and resume=True it goes on", "sweep") == "with --out FOLDER.zarr and --resume it goes on"
    )


def test_following_what_an_outcome_advises_ends_the_fall_before_the_disc_lies_flat(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = ["simulate", "rolling-disc", "--u", "wy=0,vx=0", "--q", "lean=0.1", "--t", "3", "--json"]
    main(line)
    told = json.loads(capsys.readouterr().out)["sentence"]
    advised = re.search(r'--event "[^"]*"', told)
    assert advised and not PYTHON.search(told)
    assert main([*line, *shlex.split(advised[0])]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "event"


def test_efforts_beyond_their_limits_name_the_option_that_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["simulate", "ur5", "--to", "q1=3", "--duration", "0.3", "--json"]
    assert main(line) == 0
    assert "--saturate holds them there" in json.loads(capsys.readouterr().out)["sentence"]
    assert main([*line, "--saturate"]) == 0
    assert "efforts beyond" not in json.loads(capsys.readouterr().out)["sentence"]


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_errors_and_warnings_speak_of_options_of_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["simulate", "pendulum", "--t", "1", "--samples", "3"]
    assert main([*line, "--event", "often=sin(1e7*t)"]) == 0
    printed = capsys.readouterr()
    assert "kane simulate: event 'often' changes too fast" in printed.err
    assert "--max-step SECONDS" in printed.err and "--max-step SECONDS" in printed.out
    assert ".py" not in printed.err
    assert main([*line, "--max-steps", "3"]) == 1
    assert "the allowed 3 steps are used up" in capsys.readouterr().out


def test_options_of_a_state_are_one_where_a_command_has_one() -> None:
    assert in_shell("give speeds, u=...", "linearize") == "give speeds, --at NAME=VALUE"
    assert in_shell("give speeds, u=...", "simulate") == "give speeds, --u NAME=VALUE"
