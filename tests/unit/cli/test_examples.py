"""The examples run, and draw only when asked."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.py"))
LINES = 60  # what a reader takes in at one glance


def run(path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [path.name, *options])
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_the_example_runs_prints_and_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(path, monkeypatch, tmp_path)
    assert capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "path", [p for p in EXAMPLES if "--plot" in p.read_text(encoding="utf-8")], ids=lambda p: p.stem
)
def test_the_example_draws_on_request(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run(path, monkeypatch, tmp_path, "--plot", "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_examples_are_short() -> None:
    assert len(EXAMPLES) >= 5
    assert all(len(p.read_text(encoding="utf-8").splitlines()) <= LINES for p in EXAMPLES)
