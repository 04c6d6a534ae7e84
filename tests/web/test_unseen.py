"""Pages where a browser does not draw, or cannot run what is in them: all else works, and the reason is seen."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, expect

import kane
from browser import MISSING, chromium
from pages import STATE, open_page, wait_until

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)

NO_WEBGL = """{ const given = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return /webgl/.test(kind) ? null : given.call(this, kind, ...more); } }"""

LOSE = """window.gl = document.querySelector('kane-page').shadowRoot.querySelector('canvas').getContext('webgl2')
  .getExtension('WEBGL_lose_context'); window.gl.loseContext()"""


LOST = """document.querySelector('kane-page').shadowRoot.querySelector('canvas').getContext('webgl2').isContextLost()"""


def wait_for(frame: Frame, condition: str) -> None:
    """Until something is true in a frame."""
    end = time.monotonic() + 30
    while not frame.evaluate(condition):
        assert time.monotonic() < end, condition
        frame.page.wait_for_timeout(50)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return kane.load("pendulum").page(tmp_path / "page.html")


def test_a_browser_without_webgl_simulates_and_says_what_it_lacks(browser: Browser, written: Path) -> None:
    page, _ = open_page(browser, written, NO_WEBGL)
    expect(page.get_by_text("draws nothing in three dimensions")).to_be_visible()
    wait_until(page, 0.1)
    expect(page.get_by_text("Download CSV")).to_be_visible()
    page.close()


def test_a_drawing_that_is_taken_away_is_told_until_it_is_back(browser: Browser, written: Path) -> None:
    page, _ = open_page(browser, written)
    told = page.get_by_text("taken the drawing away")
    expect(told).not_to_be_visible()
    page.evaluate(LOSE)
    expect(told).to_be_visible()
    page.evaluate("window.gl.restoreContext()")
    expect(told).not_to_be_visible()
    page.close()


def test_a_browser_that_cannot_run_the_page_shows_why(browser: Browser, written: Path) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.WebAssembly; delete window.Worker")
    page.goto(written.as_uri())
    note = page.get_by_text("This page cannot be shown here")
    expect(note).to_be_visible()
    expect(note).to_be_in_viewport()
    page.close()


@pytest.mark.parametrize(
    "script", ["delete window.HTMLElement", "delete window.DecompressionStream", "delete window.customElements"]
)
def test_a_browser_that_cannot_load_the_page_shows_why(browser: Browser, written: Path, script: str) -> None:
    page = browser.new_page()
    page.add_init_script(script)
    page.goto(written.as_uri())
    expect(page.get_by_text("This page cannot be shown here")).to_be_in_viewport()
    page.close()


def test_a_browser_whose_language_has_no_tables_shows_the_page(browser: Browser, written: Path) -> None:
    language = "Object.defineProperty(navigator, 'language', { get: () => 'C', configurable: true })"
    page, told = open_page(browser, written, language)
    wait_until(page, 0.1)
    assert told == []
    page.close()


def test_a_page_out_of_view_keeps_nothing_that_browsers_draw_with_and_waits(browser: Browser, written: Path) -> None:
    """Browsers draw some sixteen pages at a time, and notebooks show more."""
    page = browser.new_page(viewport={"width": 800, "height": 600})
    frame = '<iframe sandbox="allow-scripts" style="height: 500px; width: 100%"></iframe>'
    page.set_content(f"<body>{frame}<div style='height: 5000px'></div></body>")
    page.evaluate("(text) => { document.querySelector('iframe').srcdoc = text; }", written.read_text())
    inside = page.frame_locator("iframe").locator("kane-page[ready]")
    inside.wait_for(state="attached", timeout=60_000)
    shown = page.frames[1]
    wait_for(shown, f"!({LOST})")
    page.evaluate("scrollTo(0, 4000)")
    wait_for(shown, LOST)
    t = shown.evaluate(STATE)["t"]
    page.wait_for_timeout(300)
    assert shown.evaluate(STATE)["t"] == t
    page.evaluate("scrollTo(0, 0)")
    wait_for(shown, f"!({LOST})")
    wait_for(shown, f"document.querySelector('kane-page').state.t > {t}")
    expect(page.frame_locator("iframe").get_by_text("taken the drawing away")).not_to_be_visible()
    page.close()
