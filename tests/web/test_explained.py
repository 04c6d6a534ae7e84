"""An explanation in a browser: wide equations scroll within their boxes, the page itself does not."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright

import kane
from browser import FLAGS, chromium


def test_wide_equations_scroll_in_their_boxes(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "arm.html"
    path.write_text(kane.load("stanford-arm-kane").explain(beside=None).to_html(), encoding="utf-8")
    page = browser.new_page(viewport={"width": 700, "height": 900})
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.goto(path.as_uri())
    root = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert root[0] <= root[1]
    boxes = page.evaluate("[...document.querySelectorAll('.wide')].map(e => [e.scrollWidth, e.clientWidth])")
    assert any(inside > shown for inside, shown in boxes), "some equations are wider than the page"
    heads = page.evaluate("[...document.querySelectorAll('.grid:not(.count) th')].filter(e => e.textContent).length")
    assert heads == 6 and not faults, "each speed has one column, in one block of the table"
    page.close()


def test_what_is_cut_off_has_a_scroll_bar_that_is_seen(playwright: Playwright, tmp_path: Path) -> None:
    """Where the browser's own bars lie over a box and take no room until it is scrolled, as on telephones."""
    explanation = tmp_path / "arm.html"
    explanation.write_text(kane.load("stanford-arm").explain(beside=None).to_html(), encoding="utf-8")
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<div>{kane.load('double-pendulum').equations()._repr_html_()}</div>", encoding="utf-8")
    browser = playwright.chromium.launch(
        executable_path=chromium(), args=list(FLAGS), ignore_default_args=["--hide-scrollbars"]
    )
    for path, boxes in ((explanation, ".wide"), (notebook, ".kane-wide")):
        page = browser.new_page(viewport={"width": 400, "height": 900}, is_mobile=True)
        page.goto(path.as_uri())
        found = page.evaluate(
            "boxes => [...document.querySelectorAll(boxes)].map("
            "e => [e.scrollWidth - e.clientWidth, e.offsetHeight - e.clientHeight])",
            boxes,
        )
        assert all((bar > 0) == (cut > 0) for cut, bar in found) and any(bar for _, bar in found), path
    browser.close()


PRINTED = 680  # of a page of A4 between its margins, pixels of 1/96 inch


@pytest.mark.parametrize("name", ["stanford-arm-kane", "whipple-bicycle"])
def test_nothing_is_cut_off_on_paper(browser: Browser, tmp_path: Path, name: str) -> None:
    """Boxes do not scroll there: equations and tables are as narrow as the sheet, lists that are folded stand open."""
    path = tmp_path / "told.html"
    path.write_text(kane.load(name).explain(beside=None).to_html(), encoding="utf-8")
    page = browser.new_page(viewport={"width": PRINTED, "height": 900})
    page.emulate_media(media="print")
    page.goto(path.as_uri())
    edges = page.evaluate("[...document.querySelectorAll('math, .note')].map(e => e.getBoundingClientRect().right)")
    assert max(edges) <= PRINTED
    heights = page.evaluate("[...document.querySelectorAll('details math')].map(e => e.getBoundingClientRect().height)")
    assert heights and min(heights) > 0
    page.close()


@pytest.mark.parametrize("width", [800, 1200])
@pytest.mark.parametrize("name", ["cart-pole", "double-pendulum", "spinning-top"])
def test_small_systems_are_seen_whole(browser: Browser, tmp_path: Path, name: str, width: int) -> None:
    """Equations are wrapped between their terms, with reasons beside them; no line of a sum touches that above it."""
    path = tmp_path / "told.html"
    path.write_text(kane.load(name).explain().to_html(), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    boxes = page.evaluate("[...document.querySelectorAll('.wide')].map(e => [e.scrollWidth, e.clientWidth])")
    assert all(inside <= shown for inside, shown in boxes)
    for what in (".note", "math"):
        edges = page.evaluate(
            "what => [...document.querySelectorAll(what)].map(e => e.getBoundingClientRect().right)", what
        )
        assert edges and max(edges) <= width
    rows = page.evaluate(
        "[...document.querySelectorAll('.sum')].map(e => [...e.querySelectorAll('math')].map("
        "m => { const r = m.getBoundingClientRect(); return [r.left, r.top, r.bottom] }))"
    )
    for terms in rows:
        for (left, _, bottom), (next_left, top, _) in pairwise(terms):
            assert next_left > left or top >= bottom, "a new line begins below the one before"
    page.close()
