"""`kane simulate -o` that is killed or interrupted leaves a file that can be read, and goes on to the same bytes.

More of them, at random moments, are a search of `tests/long`.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from kane.cli import main
from kane.cli.console import Bar
from kane.cli.files import read_columns
from long.killed_runs import fill_disk, kill_and_go_on

LINES = {
    "double-pendulum": ("double-pendulum", "--t", "3000", "--samples", "1000"),
    "four-bar-stop": ("four-bar-stop", "--t", "60", "--samples", "500"),
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("model", [pytest.param("double-pendulum", marks=pytest.mark.long), "four-bar-stop"])
def test_a_killed_run_goes_on_to_the_same_bytes(model: str) -> None:
    waits = [(0.02, signal.SIGKILL), (0.05, signal.SIGINT), (0.001, signal.SIGKILL)]
    assert kill_and_go_on(LINES[model], waits).endswith("times, the same bytes")


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_is_a_sentence_and_the_run_goes_on_with_room_again() -> None:
    # what is kept at first fits in, the whole file does not
    assert fill_disk(LINES["double-pendulum"], 45_000) == "went on with room again"


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every run is interrupted after its first chunk, as long as this holds."""

    def stop(self: object, fraction: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "__call__", stop)
    return monkeypatch


LONG = ["simulate", "double-pendulum", "--t", "1e6", "--samples", "100000"]


def test_another_run_is_refused_by_name_and_nothing_is_touched(
    interrupt: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.csv"
    assert main([*LONG, "-o", str(file)]) == 130
    kept = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert set(kept) == {"m.csv.part", "m.csv.resume"}
    capsys.readouterr()
    for other, said in (
        ([*LONG, "--rtol", "1e-5"], "rtol: 1e-08 there, 1e-05 here"),
        (["simulate", "pendulum", "--t", "1e6", "--samples", "100000"], "'double-pendulum'"),
        ([*LONG, "--set", "g=1.6"], "is kept of another run"),
    ):
        assert main([*other, "-o", str(file)]) == 1
        words = capsys.readouterr().err
        assert "is kept of another run" in words and said in words and "fix: " in words
        assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == kept


def test_anew_forgets_the_run_before(
    interrupt: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.csv"
    assert main([*LONG, "-o", str(file)]) == 130
    interrupt.undo()
    short = ["simulate", "double-pendulum", "--t", "1", "-o", str(file)]
    assert main(short) == 1
    assert main([*short, "--anew"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["m.csv"]
    assert len(read_columns(file)["t"]) == 1001


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_a_part_is_what_the_whole_begins_with(
    ending: str, interrupt: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"m.{ending}"
    line = ["simulate", "four-bar-stop", "--t", "5", "--samples", "3000", "--json", "-o", str(file)]
    assert main(line) == 130
    part, resume = tmp_path / f"m.{ending}.part", tmp_path / f"m.{ending}.resume"
    first, changes = part.read_bytes(), (tmp_path / "m.transitions.csv.part").read_bytes()
    assert resume.exists()
    interrupt.undo()
    capsys.readouterr()
    assert main(line) == 0
    said = capsys.readouterr()
    assert f"m.{ending}.resume: the run goes on from t = " in said.err and json.loads(said.out)["success"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([file.name, "m.transitions.csv"])
    assert (tmp_path / "m.transitions.csv").read_bytes().startswith(changes)
    if ending == "csv":
        assert file.read_bytes().startswith(first) and 2 <= first.count(b"\n") < file.read_bytes().count(b"\n")
    else:
        part.write_bytes(first)
        with part.open("rb") as stream, np.load(stream) as a, np.load(file) as b:
            rows = len(a["t"])
            assert 1 <= rows < len(b["t"])
            assert all(a[n].tobytes() == b[n][:rows].tobytes() for n in ("t", "q", "u", "udot", "tau"))


def test_a_folder_without_room_for_more_files_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output can be written in place, what is beside it cannot."""
    file = tmp_path / "m.csv"
    file.write_text("before")
    usual = os.open

    def no_new(path: str, flags: int, *mode: int, **more: int) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(tmp_path)):
            raise PermissionError(13, os.strerror(13))
        return usual(path, flags, *mode, **more)

    monkeypatch.setattr(os, "open", no_new)
    assert main(["simulate", "pendulum", "--t", "1", "-o", str(file)]) == 0
    assert "the run is not kept while it is under way" in capsys.readouterr().err
    assert len(read_columns(file)["t"]) == 1001
