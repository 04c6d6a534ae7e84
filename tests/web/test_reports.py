"""Reports in a browser: tables fit into the window, long names wrap."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import kane
from browser import MISSING, chromium
from kane.report import write, write_ensemble

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


def test_tables_of_a_model_are_not_cut_and_break_no_word(browser: Browser, tmp_path: Path) -> None:
    """In a window of 1200 pixels: every table fits, and a word without signs to break behind stands on one line."""
    model = kane.load("panda")
    path = tmp_path / "panda.html"
    write(model, path, trajectory=model.simulate([0.0, 0.01], u=[0.1] * 7), scene=False)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(path.as_uri())
    widths = page.evaluate("[...document.querySelectorAll('.scroll')].map(e => [e.scrollWidth, e.clientWidth])")
    broken = page.evaluate(
        """[...document.querySelectorAll('.scroll td, .scroll th')].filter(e => {
            if (e.childNodes.length !== 1 || e.firstChild.nodeType !== Node.TEXT_NODE) return false;
            if (/[\\s-]/.test(e.textContent.trim())) return false;
            const range = document.createRange();
            range.selectNodeContents(e);
            return range.getClientRects().length > 1;
        }).map(e => e.textContent)"""
    )
    page.close()
    assert len(widths) > 5 and all(inside <= shown for inside, shown in widths)
    assert not broken
