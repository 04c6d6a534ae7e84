"""Reports in a browser: tables fit into the window, long names wrap."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import kane
from browser import MISSING, chromium
from kane.report import write_ensemble

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)


def test_tables_of_an_ensemble_are_not_cut_in_a_window_of_a_thousand_pixels(browser: Browser, tmp_path: Path) -> None:
    watch = {"height_of_the_particle_over_the_lowest_point": "1 - cos(q)"}
    found = kane.load("pendulum").ensemble([0.0, 0.5, 1.0], n=8, q={"q": "uniform(-1, 1)"}, watch=watch, seed=0)
    path = tmp_path / "ensemble.html"
    write_ensemble(found, path)
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.goto(path.as_uri())
    widths = page.evaluate("[...document.querySelectorAll('.scroll')].map(e => [e.scrollWidth, e.clientWidth])")
    page.close()
    assert widths and all(inside <= shown for inside, shown in widths)
