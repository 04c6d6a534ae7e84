"""Pages inside others: reports and notebooks show them from their own file, without rights, and run their script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Frame, Page

import kane
from browser import MISSING, chromium
from kane.report import write

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)

HOSTILE = "</script></iframe><script>window.taken=1</script><img src=x onerror=window.taken=2>"


def hostile_model() -> kane.Model:
    m = kane.Model(HOSTILE, gravity=(0, 0, -9.81), about=HOSTILE)
    m.body(HOSTILE, mass=1, center=(0, 0, -1), inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint(HOSTILE, "revolute", "ground", HOSTILE, axis="y", coordinates=["q"], speeds=["u"])
    return m


def open_file(browser: Browser, path: Path) -> tuple[Page, list[str]]:
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    told: list[str] = []
    page.on("request", lambda r: None if r.url.startswith(("file:", "blob:", "about:")) else told.append(r.url))
    page.on("pageerror", lambda e: told.append(str(e)))
    page.on("console", lambda m: told.append(m.text) if m.type == "error" else None)
    page.goto(path.as_uri())
    return page, told


def component(page: Page) -> Frame:
    """The frame of the page inside, when it is ready."""
    page.locator("iframe").first.scroll_into_view_if_needed()
    page.frame_locator("iframe").first.locator("kane-page[ready]").wait_for(timeout=60_000, state="attached")
    return page.frames[1]


def as_notebook(path: Path, *shown: Any) -> Path:
    """A page that shows objects as a notebook does."""
    outputs = "".join(f"<div class=output>{x._repr_html_()}</div>" for x in shown)
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{outputs}</body>", encoding="utf-8")
    return path


def test_a_report_plays_the_motion_under_its_own_policy(browser: Browser, tmp_path: Path) -> None:
    m = kane.load("four-bar")
    written = write(m, tmp_path / "report.html", trajectory=m.simulate(np.linspace(0, 1, 61)))
    page, told = open_file(browser, written.path)
    inside = component(page)
    page.wait_for_timeout(300)
    assert inside.evaluate("document.querySelector('kane-page').state.t") > 0.0
    assert inside.evaluate("document.querySelector('kane-page').drawing.frames") > 0
    assert told == []
    page.close()


def test_a_notebook_shows_models_motions_and_pages_and_no_text_becomes_markup(browser: Browser, tmp_path: Path) -> None:
    m = hostile_model()
    run = m.simulate(np.linspace(0, 1, 21), q={"q": 0.5})
    live = m.page(tmp_path / "live.html")
    shown = (m, run, live, m.equations(), m.equations().program("inverse_dynamics"), run.check())
    page, told = open_file(browser, as_notebook(tmp_path / "notebook.html", *shown))
    for i in range(3):
        frame = page.locator("iframe").nth(i)
        frame.scroll_into_view_if_needed()
        page.frame_locator("iframe").nth(i).locator("kane-page[ready]").wait_for(timeout=60_000, state="attached")
    assert page.evaluate("window.taken") is None and page.evaluate("document.images.length") == 0
    assert (
        page.evaluate("document.querySelectorAll('body > script, .output > script, p script, td script').length") == 0
    )
    assert HOSTILE in page.locator(".output").nth(0).inner_text()
    distrusted = page.locator(".kane-distrusted")
    assert distrusted.count() == 4 and not any(line.is_visible() for line in distrusted.all())
    assert page.locator("iframe").count() == 3 and len(page.workers) == 1, "what simulates has a thread"
    for inside in page.frames[1:]:
        assert inside.evaluate("window.taken") is None and inside.evaluate("window.origin") == "null"
        assert (
            inside.evaluate("document.querySelector('kane-page').shadowRoot.querySelector('h1').textContent") == HOSTILE
        )
    assert told == []
    page.close()


def test_a_notebook_without_trust_says_what_is_missing(browser: Browser, tmp_path: Path) -> None:
    """Without trust, notebooks leave out these elements, of formulas all but their text."""
    m = kane.load("pendulum")
    page, _ = open_file(
        browser, as_notebook(tmp_path / "notebook.html", m, m.simulate(0.1), m.equations(), m.explain())
    )
    page.evaluate("document.querySelectorAll('style, iframe').forEach((element) => element.remove())")
    page.evaluate("document.querySelectorAll('math').forEach((element) => element.replaceWith(element.textContent))")
    for output in page.locator(".output").all():
        assert "not trusted" in output.inner_text() and "Trust Notebook" in output.inner_text()
    page.close()


def test_a_model_is_a_picture_to_turn_and_a_page_goes_on(browser: Browser, tmp_path: Path) -> None:
    m = kane.load("pendulum")
    page, told = open_file(browser, as_notebook(tmp_path / "a.html", m))
    inside = component(page)
    state = inside.evaluate("document.querySelector('kane-page').state")
    assert state["q"] == pytest.approx(m.initial_state[0].tolist()) and not state["playing"]
    assert inside.locator("kane-page").get_by_text("Pause").count() == 0
    assert told == []
    page.close()
