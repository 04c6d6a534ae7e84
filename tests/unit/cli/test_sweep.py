"""`kane sweep`: figures of many members, stores that go on, and what is wrong in words."""

from __future__ import annotations

import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.api.ensemble_progress import MemberRate, Progress
from kane.cli import FAILED, FINE, USAGE, main
from kane.cli.sweep import _Watching

LINE = ["sweep", "pendulum", "-n", "200", "--seed", "1", "--q", "q=uniform(-1,1)", "--time", "1", "--samples", "5"]


def test_figures_are_those_of_the_ensemble(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--watch", "h=-L*cos(q)", "--event", "down=q", "--json"]) == FINE
    shown = json.loads(capsys.readouterr().out)
    t = np.linspace(0.0, 1.0, 5)
    found = kane.load("pendulum").ensemble(
        t, n=200, seed=1, q={"q": "uniform(-1,1)"}, watch={"h": "-L*cos(q)"}, events={"down": "q"}
    )
    assert shown["members"] == shown["succeeded"] == 200 and shown["reasons"] == {"end": 200}
    assert shown["events"]["down"]["share"] == found.share("down")
    assert shown["at_the_end"]["h"]["mean"] == pytest.approx(float(found.tallies["h"].mean[-1]), rel=1e-12)
    assert shown["extremes"]["h"]["greatest"] == pytest.approx(np.max(found.high["h"]), rel=1e-12)
    assert shown["extremes"]["h"]["low"]["0.5"] == pytest.approx(np.median(found.low["h"]), rel=1e-12)
    assert main([*LINE, "--event", "down=q!"]) == FINE  # which ends a motion
    assert "stopped by 'down'" in capsys.readouterr().out.splitlines()[0]


def test_shares_are_printed_with_their_interval_and_quantities_with_their_extremes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All of 200 pendulums come down within half a period: Wilson's lower end is n / (n + z²)."""
    line = [*LINE, "--event", "down=q", "--watch", "h=-L*cos(q)"]
    assert main(line) == FINE
    said = capsys.readouterr().out
    assert f"{200 / (200 + 1.959964**2):.4f} … 1.0000" in said
    assert "lowest and highest value of each member" in said
    low, *_, high = next(row.split()[1:] for row in reversed(said.splitlines()) if row.startswith("h "))
    length = kane.load("pendulum").parameters["L"].value
    assert -length <= float(low) < -0.9 * length and -length * np.cos(1.0) > float(high) > -0.6 * length


def test_quantiles_at_the_end_are_those_of_the_members(capsys: pytest.CaptureFixture[str]) -> None:
    """A pendulum let go from rest is never higher than at its start, so neither is any share of them."""
    assert main([*LINE, "--watch", "h=-L*cos(q)", "--json"]) == FINE
    kept = json.loads(capsys.readouterr().out)
    found = kane.load("pendulum").ensemble(
        np.linspace(0.0, 1.0, 5), n=200, seed=1, q={"q": "uniform(-1,1)"}, watch={"h": "-L*cos(q)"}
    )
    assert found.q is not None
    for share, shown in kept["at_the_end"]["q"]["quantiles"].items():
        assert shown == pytest.approx(np.quantile(found.q[:, -1, 0], float(share)), rel=1e-12)
        assert kept["at_the_end"]["h"]["quantiles"][share] <= kept["extremes"]["h"]["high"][share]
    assert main([*LINE, "--watch", "h=-L*cos(q)", "--json", "--keep", "tallies"]) == FINE
    tallied = json.loads(capsys.readouterr().out)["at_the_end"]["q"]["quantiles"]
    assert tallied == pytest.approx(kept["at_the_end"]["q"]["quantiles"], abs=2e-2)  # bins, and none between members


def test_one_option_takes_several_names_with_commas_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Commas inside a distribution belong to it."""
    shown = []
    line = ["sweep", "double-pendulum", "-n", "5", "--time", "0.1", "--samples", "3", "--json"]
    for given in (["--q", "q1=uniform(-1,1),q2=normal(0,0.1)"], ["--q", "q1=uniform(-1,1)", "--q", "q2=normal(0,0.1)"]):
        assert main([*line, *given]) == FINE
        shown.append(json.loads(capsys.readouterr().out)["at_the_end"])
    assert shown[0] == shown[1] and shown[0]["q2"]["deviation"] > 0


def test_members_that_fail_are_told_and_give_status_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--parameter", "m=uniform(-1,9)", "--json"]) == FAILED
    out, err = capsys.readouterr()
    shown = json.loads(out)
    assert 0 < shown["reasons"]["refused"] < 60 and shown["succeeded"] == 200 - shown["reasons"]["refused"]
    assert "mass is not negative" in err and "more failed" in err


def test_a_report_has_all_pictures_in_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.html"
    asked = [
        "--watch",
        "h=-L*cos(q)",
        "--report",
        str(file),
        "--sobol",
        "16",
        "--result",
        "high_h",
        "--result",
        "end_q",
    ]
    assert main([*LINE, *asked]) == FINE
    assert f"wrote {file}" in capsys.readouterr().err
    page = file.read_text()
    assert "Sobol indices of high_h" in page and "rank correlations of end_q" in page and "default-src 'none'" in page


def test_the_rate_is_that_of_the_last_while(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    watching, pace = _Watching(10_000), MemberRate(10_000)
    for now, done in ((12.0, 600), (12.001, 1200), (24.0, 1800), (24.001, 2400), (60.0, 2800)):
        clock[0] = now
        watching(pace.progress(done, 3))
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "600 of 10000 members, 3 failed, 50 per second, 3 min left"
    assert last == "2800 of 10000 members, 3 failed, 11.1 per second, 11 min left"  # 400 in 36 s


def test_the_rate_begins_when_compiling_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 members in the 2 s after a minute of compiling are 50 per second."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    pace = MemberRate(1000)
    clock[0] = 60.0
    pace.restart()
    clock[0] = 62.0
    found = pace.progress(100, 0)
    assert found.rate == pytest.approx(50.0) and found.left == pytest.approx(18.0)


def test_the_rate_of_other_processes_begins_when_each_has_done_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes start and compile for a minute, then do blocks of 100 members in 4 s each, 50 per second."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    pace = MemberRate(1000, first=2)
    told: list[str] = []
    for now, done in ((64.0, 100), (64.1, 200), (68.0, 300), (68.1, 400)):
        clock[0] = now
        found = pace.progress(done, 0)
        told.append(str(found))
    assert told[:2] == ["100 of 1000 members", "200 of 1000 members"] and "per second" in told[2]
    assert found.rate == pytest.approx(50.0, rel=0.03) and found.left == pytest.approx(12.0, rel=0.03)


def test_a_pool_of_processes_tells_its_rate_without_its_start() -> None:
    told: list[Progress] = []
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        began = time.perf_counter()
        kane.load("pendulum").ensemble(5.0, n=3000, q={"q": "uniform(-1, 1)"}, executor=pool, progress=told.append)
        whole = 3000 / (time.perf_counter() - began)
    assert np.isnan(told[0].rate) and told[-1].rate > whole  # seconds of importing and compiling are no part of it


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-n", "0"], "one member at least"),
        (["--seed", "-1"], "a seed is not negative"),
        (["--time", "0"], "ends after its start"),
        (["--samples", "1"], "three or more"),
        (["--resume"], "add --out FOLDER.zarr"),
        (["--processes", "0"], "give one at least"),
        (["--processes", "2", "--dask", "tcp://127.0.0.1:9"], "leave out the other"),
        (["--q", "p=1"], "unknown name 'p'"),
        (["--q", "q"], "expected NAME=VALUE"),
        (["--parameter", "L=gauss(0,1)"], "no distribution 'gauss'\n    fix: give normal(…)"),
        (["--q", "q=1"], "'q' is given twice"),
        (["--parameter", "mass=uniform(0,1)"], "unknown name 'mass'"),
        (["--method", "rk4"], "add --step SECONDS"),
        (["--plot", "picture.bmp"], "the ending says the format"),
        (["--report", "runs.pdf"], "the ending says the format"),
        (["--report", "runs.html", "--sobol", "100"], "no power of two"),
        (["--sobol", "128"], "add --report FILE.html"),
        (["--control", "none"], "unknown control law"),
        (["--over", "q,u"], "--over: is for maps; add --plot FILE --kind map"),
        (["--cells", "5"], "--cells: is for maps"),
        (["--over", "q,w", "--kind", "map", "--plot", "x.png"], "--over q,w: 'w' is not drawn"),
        (["--over", "q", "--kind", "map", "--plot", "x.png"], "give two names"),
        (["--cells", "1x9", "--kind", "map", "--plot", "x.png"], "from 2 to 1000"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_named(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LINE, *options]) == USAGE
    assert words in capsys.readouterr().err


def test_a_distribution_that_makes_no_sense_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for value, words in (
        ("uniform(1)", "does not take 1 numbers"),
        ("normal(0,-1)", "≥ 0"),
    ):
        assert main([*LINE[:6], "--q", f"q={value}"]) == FAILED
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kind", "map", "--q", "q=uniform(0,1)"], "two things that differ, and here 1 is drawn"),
        (["--keep", "tallies"], "--kind fan, or --keep ends"),
        (["--kind", "fan", "--samples", "0"], "--samples 0 keeps the end alone"),
    ],
)
def test_a_picture_that_there_will_not_be_is_refused_before_the_sweep(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "pendulum", "-n", "1000000000", *words, "--plot", str(tmp_path / "x.png")]) == USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--result", "hgh_h", "--report"], "--result hgh_h: no such column; did you mean 'high_h'"),
        (["--result", "h", "--keep", "tallies", "--report"], "--result h: no such column"),
        (["--result", "w", "--kind", "fan", "--plot"], "--result w: is not watched"),
    ],
)
def test_a_result_that_there_will_not_be_is_refused_before_the_sweep(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ("x.html" if words[-1] == "--report" else "x.png")
    line = ["sweep", "pendulum", "-n", "1000000000", "--watch", "h=-L*cos(q)", *words, str(file)]
    assert main(line) == USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("result", ["h", "high_h"])
def test_what_is_watched_names_a_fan_and_a_column_of_the_report(result: str, tmp_path: Path) -> None:
    picture, page = tmp_path / "fan.png", tmp_path / "runs.html"
    asked = ["--watch", "h=-L*cos(q)", "--plot", str(picture), "--kind", "fan", "--report", str(page)]
    assert main([*LINE, *asked, "--result", result]) == FINE
    assert picture.stat().st_size and "rank correlations of high_h" in page.read_text()


@pytest.mark.parametrize("result", ["over", "occurs_over"])
def test_an_event_names_a_map_of_shares_and_a_chapter_of_the_report(result: str, tmp_path: Path) -> None:
    picture, page = tmp_path / "map.svg", tmp_path / "runs.html"
    line = ["sweep", "pendulum", "-n", "200", "--q", "q=uniform(-2,2)", "--u", "u=uniform(0,8)", "--t", "3"]
    asked = ["--event", "over=q**2 - pi**2!", "--kind", "map", "--plot", str(picture), "--report", str(page)]
    assert main([*line, *asked, "--result", result, "--over", "u,q", "--cells", "5x7"]) == FINE
    assert "share in which" in picture.read_text() and "map of occurs_over" in page.read_text()
