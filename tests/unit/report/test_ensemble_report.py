"""The report of an ensemble is one file that asks nobody for anything; its figures are those of the members."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import InputError
from kane.report import write_ensemble
from unit.report.test_report import read

END, COUNT = 2.0, 400


def thrown(t: Any = END, **options: Any) -> Any:
    """Blocks that slide from x with v; some have no mass that can be. At the end they are at x + v END."""
    m = kane.Model("<b>slider</b>")
    m.parameter("m", 1.0)
    m.body("block", mass="m")
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    asked: dict[str, Any] = {"x": "uniform(-1, 1)"}
    return m.ensemble(
        t, n=COUNT, seed=5, q=asked, u={"v": "uniform(-1, 1)"}, parameters={"m": "uniform(-0.1, 1)"}, **options
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    found = thrown(np.linspace(0, END, 21), events={"zero": "x"}, watch={"<i>twice</i>": "2*x"})
    path = write_ensemble(found, tmp_path_factory.mktemp("report") / "blocks.html")
    return found, path.read_text(encoding="utf-8")


def words(page: str) -> str:
    """What a reader sees of a page but for its pictures."""
    return unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(svg|style).*?</\1>", " ", page, flags=re.DOTALL)))


def test_nothing_is_fetched_and_names_stay_text(shown: tuple[Any, str]) -> None:
    _, page = shown
    reader = read(page)
    assert {"members", "outcomes", "over-time", "what-matters"} <= reader.ids
    assert all(value.startswith(("#", "data:")) for value in reader.fetched)
    assert "default-src 'none'" in page and not {"script", "link", "iframe"} & set(reader.tags)
    assert "b" in reader.tags and "<b>slider" not in page and "<i>twice" not in page


def test_figures_are_those_of_the_members(shown: tuple[Any, str]) -> None:
    found, page = shown
    read_aloud = re.sub(r"\s+", " ", words(page))
    x, v = found.numbers["x"], found.numbers["v"]
    good = found.numbers["m"] >= 0
    crosses = good & (x * (x + v * END) < 0)
    assert f"{crosses.mean():.2%} have 'zero'" in read_aloud
    assert f"refused {np.count_nonzero(~good)} {np.mean(~good):.2%}" in read_aloud
    first = (-x / v)[crosses]
    assert f"{np.quantile(first, 0.5):.5g}" in read_aloud
    end = x[good] + END * v[good]
    assert f"x {np.count_nonzero(good)} {end.mean():.5g} {end.std(ddof=1):.5g}" in read_aloud
    assert "mass is not negative" in read_aloud
    assert page.count("<svg ") == 2 + 3 * 2  # fans and histograms, then scatter, map and ranks of each result


def test_a_report_of_an_event_is_of_whether_it_occurs(shown: tuple[Any, str], tmp_path: Path) -> None:
    found, _ = shown
    page = write_ensemble(found, tmp_path / "zero.html", result=["zero"]).read_text(encoding="utf-8")
    assert "share in which" in page and "whether" in page and "No member has one" not in page
    yes, counted = np.count_nonzero(found.crossings["zero"]), np.count_nonzero(found.success)
    assert f"{yes}, {yes / counted:.1%}" in page


def test_what_is_zero_throughout_is_named_and_not_drawn(tmp_path: Path) -> None:
    """The lateral speed of the contact of a bicycle is zero but for rounding."""
    found = kane.load("whipple-bicycle").ensemble(
        np.linspace(0, 0.5, 6), n=4, q={"steer": 0.02}, u={"ux": "uniform(4, 6)", "uroll": 0.1}
    )
    assert 0.0 < max(abs(found.tallies["uy"].high).max(), abs(found.tallies["uy"].low).max()) < 1e-12
    page = write_ensemble(found, tmp_path / "riders.html").read_text(encoding="utf-8")
    drawn = re.search(r'<svg[^>]*aria-label="what is watched over time".*?</svg>', page, re.DOTALL)
    assert drawn and ">zero throughout: uy<" in drawn.group()
    assert re.search(r">roll\b", drawn.group()) and not re.search(r">uy\b", drawn.group())


def test_indices_are_shown_where_all_members_have_the_result(tmp_path: Path) -> None:
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    found = m.ensemble(END, n=64, q={"x": "uniform(-1, 1)"}, u={"v": "uniform(-1, 1)"}, events={"zero": "x"})
    page = write_ensemble(found, tmp_path / "r.html", result=("end_x", "first_zero"), indices=256).read_text()
    assert "Sobol indices of end_x" in page and "Sobol indices of first_zero" not in page
    read_aloud = re.sub(r"\s+", " ", words(page))
    assert re.search(r"No Sobol indices: \d+ of 1024 members have no first_zero", read_aloud)
    (shares,) = re.findall(r"\bv \S+ \S+ (\d\.\d+) \([^)]*\) (\d\.\d+) \([^)]*\)", read_aloud)
    assert np.allclose(np.array(shares, dtype=float), END**2 / (1 + END**2), atol=0.04)


def test_tallies_alone_make_a_report(tmp_path: Path) -> None:
    page = write_ensemble(thrown(np.linspace(0, 1, 5), keep="tallies"), tmp_path / "r.html").read_text()
    assert "over-time" in read(page).ids and "what-matters" not in read(page).ids


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    found = thrown()
    with pytest.raises(InputError, match=r"a report ends in .html"):
        write_ensemble(found, tmp_path / "r.pdf")
    with pytest.raises(InputError, match="no such column"):
        write_ensemble(found, tmp_path / "r.html", result=("heigth",))
    with pytest.raises(InputError, match="n = 100 is no power of two"):
        write_ensemble(found, tmp_path / "r.html", indices=100)
    assert not list(tmp_path.iterdir())
