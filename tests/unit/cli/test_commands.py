"""Commands print what scripts can read, end with the right status, and refuse with a sentence."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.cli.parser import COMMANDS, METHODS, PROGRAMS, STEPS, parser
from kane.formulation import Equations
from kane.simulate import METHODS as KNOWN_METHODS

PENDULUM = """kane: 1
name: {name}
about: {about}
gravity: [0, -9.81, 0]
bodies:
  rod: {{mass: {mass}, center: [0, -1, 0]}}
joints:
  pin: {{type: revolute, parent: ground, child: rod, axis: z, coordinate: q1, speed: u1}}
initial: {{q1: 0.5}}
"""


def model_file(folder: Path, name: str = "rod", about: str = "a rod", mass: float = 2.0) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(PENDULUM.format(name=name, about=about, mass=mass), encoding="utf-8")
    return str(path)


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        assert f"  kane {command}" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"kane {kane.__version__}\n"


def test_the_parser_offers_what_the_layers_below_know() -> None:
    assert set(METHODS) == set(KNOWN_METHODS)
    assert set(PROGRAMS) <= set(Equations.SIGNATURES)


@pytest.mark.parametrize(
    "line",
    [
        [],
        ["unheard-of"],
        ["info"],
        ["simulate", "pendulum", "--t", "soon"],
        ["simulate", "pendulum", "--t", "-1"],
        ["simulate", "pendulum", "--method", "rk4"],
        ["simulate", "bouncing-ball", "--contacts", "stepping"],
        ["simulate", "pendulum", "--samples", "1"],
        ["simulate", "pendulum", "--q", "q1"],
        ["simulate", "pendulum", "--q", "q9=1"],
        ["simulate", "pendulum", "--control", "magic"],
        ["simulate", "pendulum", "-o", "motion.xlsx"],
        ["simulate", "pendulum", "-o", "no/such/folder/motion.csv"],
        ["simulate", "pendulum", "--set", "weight=3"],
        ["inverse", "pendulum"],
        ["inverse", "pendulum", "--trajectory", "nowhere.csv"],
        ["derive", "pendulum", "--what", "nothing"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_makes_no_sense_has_status_two_and_no_traceback(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 2
    said = capsys.readouterr()
    assert not said.out and said.err and "Traceback" not in said.err


def test_an_unknown_model_is_answered_with_the_nearest_and_where_the_others_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["info", "stanford-am"]) == 2
    said = capsys.readouterr().err
    assert "did you mean 'stanford-arm' or 'stanford-arm-kane'?" in said
    assert "`kane list`" in said and "double-pendulum" not in said


def test_a_file_with_another_ending_is_found_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kane.load("pendulum").save(tmp_path / "swing.yaml")
    assert main(["info", str(tmp_path / "swing.yml")]) == 2
    assert f"did you mean '{tmp_path / 'swing.yaml'}'?" in capsys.readouterr().err


def test_a_faulty_model_has_status_one_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", model_file(tmp_path, mass=-2.0)]) == 1
    said = capsys.readouterr()
    assert "mass" in said.err and "Traceback" not in said.err and not said.out


def test_counts_are_those_of_the_equations(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "double-pendulum", "--json"]) == 0
    counts = printed_json(capsys)
    equations = kane.load("double-pendulum").equations()
    for name in ("inverse_dynamics", "forward_dynamics"):
        assert {k: counts[name][k] for k in ("mul", "add", "div", "trig")} == {
            k: equations.count(name)[k] for k in ("mul", "add", "div", "trig")
        }
        stages = counts[name]["stages"]
        assert sum(stages[s]["mul"] for s in ("q", "u", "rest")) == counts[name]["mul"]


def test_info_names_every_part_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    arm = kane.load("stanford-arm")
    assert main(["info", "stanford-arm"]) == 0
    text = capsys.readouterr().out
    for name in (*arm.bodies, *arm.joints, *arm.coordinates, *arm.speeds, *arm.parameters, *arm.controls):
        assert name in text
    assert main(["info", "stanford-arm", "--json"]) == 0
    record = printed_json(capsys)
    assert list(record["bodies"]) == list(arm.bodies)
    assert record["coordinates"]["q2"] == pytest.approx(np.pi / 2)


def test_info_lists_what_comes_and_goes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = (
        "kane: 1\nextends: double-pendulum\n"
        "contacts:\n  floor: {between: [lower, ground], shape: {point: [0, -1, 0]}, at: [0, -3, 0], friction: 0.2}\n"
        "constraints:\n  end: {type: stop, of: q2, lower: -1, upper: 1}\n"
    )
    (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    assert main(["info", str(tmp_path / "m.yaml")]) == 0
    shown = capsys.readouterr().out
    assert "what comes and goes (3)" in shown
    for words in (("floor", "contact", "ground and lower", "normal, x"), ("end.lower", "stop"), ("end.upper", "stop")):
        assert any(all(word in line for word in words) for line in shown.splitlines()), words
    assert main(["info", str(tmp_path / "m.yaml"), "--json"]) == 0
    changing = printed_json(capsys)["changing"]
    assert changing["floor"] == {"type": "contact", "holds": "contact", "rows": ["floor.normal", "floor.x"]}


def test_the_derived_program_reads_back_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    from kane.graph import parse

    assert main(["derive", "double-pendulum", "--what", "mass_matrix"]) == 0
    assert parse(capsys.readouterr().out) == kane.load("double-pendulum").equations().program("mass_matrix")


def test_the_only_control_law_of_a_model_is_printed_without_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    from kane.graph import parse

    for name in ([], ["--control", "balance"]):
        assert main(["derive", "cart-pole", "--what", "control", *name]) == 0
        assert parse(capsys.readouterr().out) == kane.load("cart-pole").equations().control("balance")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["stanford-arm", "--what", "control"], "has 2 control laws: feedback, feedback-free-base\n    fix: name one"),
        (["stanford-arm", "--what", "control", "--control", "fedback"], "did you mean 'feedback'"),
        (["stanford-arm", "--control", "feedback"], "with --what control, not with --what inverse_dynamics"),
        (["pendulum", "--what", "control"], "'pendulum' has no control laws\n    fix: write one under 'controls'"),
        (["pendulum", "--what", "control", "--control", "feedback"], "'pendulum' has no control laws"),
    ],
)
def test_which_control_laws_there_are_is_told(line: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", *line]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("what", STEPS)
def test_the_steps_of_the_method_are_programs_of_the_shell(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    from kane.graph import parse

    assert main(["derive", "double-pendulum", "--what", what]) == 0
    assert parse(capsys.readouterr().out) == kane.load("double-pendulum").equations().program(what)


@pytest.mark.parametrize(
    ("kind", "sign"), [("latex", r"\begin{align*}"), ("sympy", "z1 = "), ("c", "#include <math.h>")]
)
def test_other_formats_are_printed(kind: str, sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "pendulum", "--format", kind]) == 0
    assert sign in capsys.readouterr().out or kind == "latex"


def test_c_goes_into_a_pair_of_files(tmp_path: Path) -> None:
    assert main(["derive", "pendulum", "--format", "c", "-o", str(tmp_path / "rod.c")]) == 0
    assert '#include "rod.h"' in (tmp_path / "rod.c").read_text(encoding="utf-8")
    header = (tmp_path / "rod.h").read_text(encoding="utf-8")
    assert "void rod(" in header
    assert "#define ROD_OUT_tau_u 0" in header and "[0] tau: u" in header, "outputs have the names of the speeds"


def test_free_parameters_become_inputs_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "pendulum", "--free"]) == 0
    assert "input parameters [parameters]:" in capsys.readouterr().out


def test_values_on_the_command_line_are_expressions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["simulate", model_file(tmp_path), "--t", "1", "--q", "q1=max(30, 60)*deg", "--json", "--samples", "5"]
    assert main([*line, "-o", str(tmp_path / "m.csv")]) == 0
    assert printed_json(capsys)["success"] is True
    first = (tmp_path / "m.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    assert float(first[1]) == pytest.approx(np.pi / 3)


def test_parameters_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "pendulum", "--set", "g=0", "--q", "q=0.3", "--t", "2", "--json"]) == 0
    assert printed_json(capsys)["q"]["q"] == pytest.approx(0.3)


def test_a_check_that_passes_has_status_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", model_file(tmp_path), "--json"]) == 0
    report = printed_json(capsys)
    assert report["passed"] is True and len(report["rows"]) > 5


def test_a_check_that_fails_has_status_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from kane import analysis

    failed = analysis.CheckReport("rod", "one state", (analysis.CheckRow("weight", "nothing falls", 1.0, 1e-9),))
    monkeypatch.setattr(kane.Model, "check", lambda self: failed)
    assert main(["check", "pendulum"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_an_early_end_of_the_simulation_keeps_the_motion_and_has_status_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after Ctrl-C: the outcome is not a success, the file is there."""
    simulate = kane.Model.simulate
    monkeypatch.setattr(kane.Model, "simulate", lambda self, t, **o: simulate(self, t, **{**o, "max_steps": 3}))
    target = tmp_path / "m.csv"
    assert main(["simulate", "pendulum", "--q", "q=2", "--samples", "0", "-o", str(target)]) == 1
    assert len(target.read_text(encoding="utf-8").splitlines()) > 2
    assert "stopped at" in capsys.readouterr().out


def test_without_the_source_the_benchmarks_say_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Path, "is_file", lambda self: False)
    assert main(["bench"]) == 2
    assert "make bench" in capsys.readouterr().err


def test_a_missing_optional_package_is_named(tmp_path: Path) -> None:
    words = ["inverse", "pendulum", "--to", "q=1", "--plot", str(tmp_path / "x.png")]
    script = f"import sys; sys.modules['matplotlib'] = None; from kane.cli import main; sys.exit(main({words}))"
    done = run(sys.executable, "-c", script)
    assert done.returncode == 1
    assert "kane[viewer]" in done.stderr


def test_a_film_without_its_program_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    motion = tmp_path / "motion.csv"
    line = ["simulate", "pendulum", "--t", "0.1", "-o", str(motion), "--animate"]
    assert main([*line, str(tmp_path / "c.mp4")]) == 2
    said = capsys.readouterr()
    assert "ffmpeg, which is not installed" in said.err and "fix:" in said.err and not said.out
    assert not motion.exists()
    assert main([*line, str(tmp_path / "c.gif")]) == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("q=90", "--q q = 90 rad is 14.3 turns; for degrees write q=90*deg"),
        ("pivot=-45.0", "--q pivot = -45 rad is 7.16 turns; for degrees write pivot=-45*deg"),
        ("q=90*deg", ""),
        ("q=5", ""),  # less than a turn
        ("q=7", ""),
        ("q=30*pi", ""),
    ],
)
def test_angles_that_look_like_degrees_are_remarked(given: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "pendulum", "--t", "0.01", "--q", given]) == 0
    assert capsys.readouterr().err.strip() == said


def test_angles_about_which_is_linearized_are_remarked_where_they_look_like_degrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = tmp_path / "about.json"
    about.write_text('{"q": 0.5}', encoding="utf-8")
    for given, said in (("q=90", "--at q = 90 rad is 14.3 turns; for degrees write q=90*deg"), (str(about), "")):
        assert main(["linearize", "pendulum", "--at", given]) == 0
        assert capsys.readouterr().err.strip() == said


def test_lengths_are_never_taken_for_degrees_and_the_sign_of_degrees_is_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["simulate", "cart-pole", "--t", "0.01", "--q", "x=90"]) == 0
    assert not capsys.readouterr().err
    assert main(["simulate", "pendulum", "--t", "0.01", "--q", "q=12.5°"]) == 1
    assert "unexpected '°'; 12.5 degrees are written 12.5*deg" in capsys.readouterr().err


def test_a_report_is_written_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "rod.html"
    line = ["report", model_file(tmp_path), "--t", "1", "--to", "q1=1", "--duration", "2", "-o", str(target)]
    assert main(line) == 0
    assert capsys.readouterr().out.strip() == str(target)
    assert 'id="inverse-dynamics"' in target.read_text(encoding="utf-8")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)


def test_a_reader_who_has_seen_enough_is_no_fault() -> None:
    shell = f"{sys.executable} -m kane derive stanford-arm | head -2"
    done = run("sh", "-c", shell)
    assert done.stdout.startswith("program inverse_dynamics") and not done.stderr


def test_output_in_a_pipe_has_no_escape_codes() -> None:
    done = run(sys.executable, "-m", "kane", "ops", "pendulum")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "inverse_dynamics" in done.stdout


def test_the_parser_starts_without_the_heavy_packages() -> None:
    """Help must not wait for LLVM, numba or matplotlib."""
    heavy = ("numba", "matplotlib", "rich")
    code = f"import sys, kane.cli; kane.cli.parser(); print([m for m in {heavy} if m in sys.modules])"
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_the_parser_is_complete() -> None:
    assert set(COMMANDS) == set(parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr]


def test_the_list_of_models_is_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    assert printed_json(capsys) == dict(kane.models())
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["model", *kane.models()]


OPEN_LOOP = """
constraints:
  close: {type: revolute, first: outer, second: ground, first_at: [1, 0, 0], second_at: [5, 0, 0], axis: z}
"""

TWO_RODS = """kane: 1
bodies:
  inner: {{mass: {inner}, center: [0.5, 0, 0]}}
  outer: {{mass: {outer}, center: [0.5, 0, 0]}}
joints:
  first: {{type: revolute, parent: ground, child: inner, axis: z, coordinate: q1, speed: u1}}
  second: {{type: revolute, parent: inner, child: outer, axis: z, coordinate: q2, speed: u2, at: [1, 0, 0]}}
"""


def test_a_check_of_a_loop_that_cannot_close_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.yaml"
    path.write_text(TWO_RODS.format(inner=1, outer=1) + OPEN_LOOP, encoding="utf-8")
    assert main(["check", str(path)]) == 1  # two rods of 1 m end at most 2 m away, not 5
    said = capsys.readouterr().err
    assert "'close.x' by 3" in said and "cannot be met near the initial state" in said and "fix:" in said


@pytest.mark.parametrize("constraints", ["", OPEN_LOOP.replace("[5, 0, 0]", "[1, 0, 0]")], ids=["tree", "loop"])
@pytest.mark.parametrize("masses", [(0, 0), (1, 0)], ids=str)
def test_a_check_where_no_mass_moves_is_a_table(
    constraints: str, masses: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "light.yaml"
    path.write_text(TWO_RODS.format(inner=masses[0], outer=masses[1]) + constraints, encoding="utf-8")
    assert main(["check", str(path), "--json"]) == 1
    report = printed_json(capsys)
    row = next(r for r in report["rows"] if r["name"] == "positive mass")
    assert not row["passed"] and row["value"] is None and "moves no mass" in row["note"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["simulate", "pendulum", "--t", "10s"], "'10s' is not a number; give a number of seconds, without a unit"),
        (["sweep", "pendulum", "-n", "ten"], "'ten' is not a whole number; give a whole number"),
        (["simulate", "pendulum", "--plt", "x.png"], "there is no option --plt; did you mean --plot?"),
        (["list", "--frobnicate"], "there is no option --frobnicate\n"),
    ],
)
def test_what_is_no_number_or_option_is_told_with_what_is(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(("name", "law"), [("stanford-arm", "feedback"), ("snakeboard", "drive")])
def test_control_laws_that_are_shown_are_those_that_act(
    name: str, law: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is printed, given as expressions, drives the model in the same way."""
    assert main(["info", name, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["controls"][law]
    m, times = kane.load(name), np.linspace(0.0, 1.0, 11)
    given, named = (m.simulate(times, control=control).tau for control in (shown, law))
    assert np.abs(named).max() > 0.1 and np.allclose(given, named, rtol=1e-7, atol=1e-9)
    assert main(["info", name]) == 0
    printed = capsys.readouterr().out
    assert main(["report", name, "--t", "0.1", "-o", str(tmp_path / "x.html")]) == 0
    page = re.sub(r"<[^>]*>", "", html.unescape((tmp_path / "x.html").read_text(encoding="utf-8")))
    for along, effort in shown.items():
        assert f"{along}  {effort}\n" in re.sub(r" {2,}", "  ", printed) and effort in page
