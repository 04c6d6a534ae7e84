"""`kane vehicle`: figures that are those of the trajectory, pictures where they were asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kane
from kane.cli import main

CIRCLE = ["vehicle", "tanner-mobile-manipulator", "--t", "3", "--samples", "61"]


def test_figures_are_those_of_the_motion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CIRCLE, "--set", "mu=0.2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    m = kane.load("tanner-mobile-manipulator")
    m.set_parameters(mu=0.2)
    run = m.simulate(3)
    ground, tip = run.ground(), run.tipover()
    assert told["friction"] == 0.2 and told["undetermined"] == list(ground.undetermined)
    expected = {c.what: float(c) for c in ground.violations}
    assert {v["what"]: v["t"] for v in told["violations"]} == pytest.approx(expected, abs=1e-7)
    assert "normal of left" in expected and "friction of left" in expected
    assert [c["t"] for c in told["tipover"]["crossings"]] == pytest.approx([float(c) for c in tip.crossings], abs=1e-7)
    assert told["wheels"]["left"]["normal"][0] == pytest.approx(ground.normal[:, 1].min(), rel=1e-3)


def test_a_vehicle_without_friction_is_told_how_to_have_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CIRCLE, "--set", "mu=0"]) == 0
    assert "give it a coefficient above that, by --set mu=VALUE" in capsys.readouterr().out


def test_words_name_wheels_times_and_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, page = tmp_path / "v.png", tmp_path / "v.html"
    assert main([*CIRCLE, "--plot", str(picture), "--animate", str(page)]) == 0
    told = capsys.readouterr().out
    assert "wheel left would have to pull from t = 1.16456 s" in told
    assert "would tip over: least measure" in told and "over right-front" in told
    assert "determined: left.lateral + right.lateral" in told
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "kane-data" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_margins_of_friction_are_told_or_that_slip_is_not_judged(
    friction: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CIRCLE, "--set", f"mu={friction}"]) == 0
    told = capsys.readouterr().out
    assert ("slip is not judged" in told) == ("the vehicle's friction is 0" in told) == (friction == 0.0)
    assert ("least margin" in told) == ("coefficient of friction 0.2" in told) == (friction == 0.2)
    assert "coefficient of friction 0\n" not in told


def test_a_model_without_a_vehicle_is_refused_before_it_is_simulated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kane.Model, "simulate", lambda *a, **k: pytest.fail("was simulated"))
    assert main(["vehicle", "pendulum"]) == 1
    said = capsys.readouterr().err
    assert "has no vehicle" in said and "vehicle: in the model file" in said and "m.vehicle" not in said
    assert main(["vehicle", "two-robots-one-beam"]) == 2
    assert "several vehicles" in capsys.readouterr().err


def test_the_report_has_a_chapter_about_the_vehicle(tmp_path: Path) -> None:
    from kane.report import write

    m = kane.load("tanner-mobile-manipulator")
    written = write(m, tmp_path / "r.html", trajectory=m.simulate(2.0), scene=False)
    page = written.path.read_text(encoding="utf-8")
    assert '<section id="vehicle">' in page and "What could not happen like that" in page
    assert "would have to pull" in page and "1.16456" in page
    plain = kane.load("pendulum")
    other = write(plain, tmp_path / "p.html", trajectory=plain.simulate(0.5), scene=False)
    assert '<section id="vehicle">' not in other.path.read_text(encoding="utf-8")
