"""An explanation in a browser: wide equations scroll within their boxes, the page itself does not."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

import kane


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
    heads = page.evaluate("[...document.querySelectorAll('.grid')][0].querySelectorAll('th').length")
    assert heads == 7 and not faults
    page.close()
