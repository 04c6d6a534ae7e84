"""`kane explain` and `kane speeds` from the shell: what they print, the files they write, what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import FAILED, FINE, USAGE, main
from unit.explain.reading_back import partial_velocities, section


def test_the_derivation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "cart-pole"]) == FINE
    printed = capsys.readouterr().out
    assert printed == kane.load("cart-pole").explain().to_text()
    assert "v(pole*)   N.x   L pole.x" in printed


@pytest.mark.parametrize("width", [60, 110, 1000])
def test_the_table_of_partial_velocities_fits_into_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In blocks of columns, each of which has all rows; every entry is that of the record, whatever the width."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("kane.cli.explaining.can_draw", lambda: True)
    assert main(["explain", "stanford-arm", "--beside", "none"]) == FINE
    printed = capsys.readouterr().out
    lines = section(printed, "Partial velocities")
    rows = kane.load("stanford-arm").explain(beside=None).partial_velocities
    blocks = len(lines) // (len(rows) + 1)
    assert len(lines) == blocks * (len(rows) + 1) and (blocks == 1) == (width == 1000)
    longest = max(len(str(vector)) for row in rows for vector in row.entries)
    assert max(map(len, lines)) + 2 <= max(width, longest + len("  v(F*)   "))
    assert partial_velocities(printed) == {
        f"{row.what}({row.body}{'*' if row.what == 'v' else ''})": {
            f"u{r}": str(vector) for r, vector in enumerate(row.entries, 1)
        }
        for row in rows
    }


@pytest.mark.parametrize(
    ("name", "begins"),
    [("arm.txt", "double-pendulum:"), ("arm.tex", r"\documentclass"), ("arm.html", "<!doctype html>")],
)
def test_the_ending_of_a_file_says_how_it_is_written(name: str, begins: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert main(["explain", "double-pendulum", "-o", str(path)]) == FINE
    assert path.read_text(encoding="utf-8").startswith(begins)


def test_other_speeds_are_given_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "double-pendulum", "--beside", "a=q1', b=w.lower.z"]) == FINE
    assert "b = q1' + q2'    [ω of lower along its z axis]" in capsys.readouterr().out
    assert main(["explain", "double-pendulum", "--beside", "none"]) == FINE
    assert "other speeds" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (["explain", "double-pendulum", "--beside", "best"], USAGE, "expected suggested, rates, none or NAME"),
        (["explain", "double-pendulum", "--beside", "a=q1', b=q1'"], FAILED, "cannot be solved for the rates"),
        (["speeds", "double-pendulum", "--tries", "0"], USAGE, "at least one choice"),
    ],
)
def test_what_cannot_be_is_refused(line: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == status
    assert said in capsys.readouterr().err


def test_choices_of_speeds_are_listed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "better.yaml"
    assert main(["speeds", "stanford-arm", "--json", "-o", str(path)]) == FINE
    found = json.loads(capsys.readouterr().out)
    assert found["choices"][0]["cost"] <= min(c["cost"] for c in found["choices"])
    m = kane.load(path)
    count = m.equations().count("forward_dynamics")
    assert count["mul"] + count["div"] == found["choices"][0]["forward_dynamics"]["mul"]
    one, two = (x.simulate(np.linspace(0, 0.5, 3), control="feedback") for x in (m, kane.load("stanford-arm")))
    assert np.abs(one.q - two.q).max() < 1e-7


def test_latex_says_what_the_model_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pendulum", "--format", "latex"]) == 0
    assert "\\section*{pendulum}\n" + kane.models()["pendulum"] in capsys.readouterr().out


def test_the_axes_of_reaction_wheels_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "dual-spin"]) == 0
    told = capsys.readouterr().out
    wheels = kane.load("dual-spin").mechanism.reaction_wheels
    assert told.count("reaction wheel") >= len(wheels)
    m = kane.load("satellite-with-panels")
    e = [m.mechanism.number(x, "axis") for x in m.mechanism.reaction_wheels["wheel 1"].axis]
    assert main(["info", "satellite-with-panels"]) == 0
    assert f"about ({', '.join(f'{x:.6g}' for x in e)}) of bus" in capsys.readouterr().out
