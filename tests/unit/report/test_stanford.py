"""The main job on the Stanford arm holds what the paper holds, and says so in one file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kane.cli import main
from kane.report.stanford import CIRCLE_LIMIT, MOMENTUM_LIMIT, SAME_LIMIT

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "stanford_arm.json").read_text(encoding="utf-8"))


def test_the_main_job_reproduces_the_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "made" / "arm.html"
    assert main(["demo", "-o", str(target), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["passed"] and figures["report"] == str(target)
    assert figures["angular_momentum_change"] <= MOMENTUM_LIMIT
    assert figures["circle_relative_error"] <= CIRCLE_LIMIT
    assert figures["speeds_of_the_paper_difference"] <= SAME_LIMIT
    last = REFERENCE["feedback_fig3"]["with_tau1"][-1]
    assert last["t"] == 10.0
    assert np.abs(np.array(list(figures["final_coordinates"].values())) - last["q"]).max() < 1e-8
    largest = np.abs([row["effort"] for row in REFERENCE["inverse_dynamics_fig1"]]).max(axis=0)
    assert np.all(np.array(list(figures["largest_efforts"].values())) >= largest * (1 - 1e-10))
    page = target.read_text(encoding="utf-8")
    for chapter in ("model", "equations", "inverse-dynamics", "simulation", "conservation", "checks"):
        assert f'<section id="{chapter}">' in page
    assert "the-checks-of-the-paper" in page and "kane-data" in page
