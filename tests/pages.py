"""Pages that are open in a browser, for tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

STATE = "(async () => { const p = document.querySelector('kane-page'); await p.settled(); return p.state; })()"
"""The state when all that the user did before has reached the thread in which the motion is simulated."""


def open_page(browser: Browser, path: Path, script: str = "", **options: Any) -> tuple[Page, list[str]]:
    """A page that is ready, and everything that it asked for or complained about."""
    page = browser.new_page(viewport={"width": 1000, "height": 640}, **options)
    page.add_init_script(script)
    told: list[str] = []
    page.on("request", lambda r: None if r.url == path.as_uri() or r.url.startswith("blob:") else told.append(r.url))
    page.on("pageerror", lambda e: told.append(str(e)))
    page.on("console", lambda m: told.append(m.text) if m.type == "error" else None)
    page.goto(path.as_uri())
    page.wait_for_selector("kane-page[ready]", timeout=60_000)
    return page, told


def state(page: Page) -> dict[str, Any]:
    return page.evaluate(STATE)


def wait_for(page: Page, seen: Callable[[], bool]) -> None:
    """Until something is seen; the policy of pages lets Playwright's own waiting run nothing."""
    end = time.monotonic() + 120
    while not seen():
        assert time.monotonic() < end, state(page)
        page.wait_for_timeout(50)


def wait_until(page: Page, t: float) -> None:
    """Until the motion has come to a time (s)."""
    wait_for(page, lambda: state(page)["t"] > t)


def place(page: Page, body: int) -> tuple[float, float]:
    """Where the origin of a body is in the window (CSS pixels)."""
    x, y = page.evaluate(
        "(() => { const p = document.querySelector('kane-page');"
        " const b = p.shadowRoot.querySelector('canvas').getBoundingClientRect();"
        f" const at = p.locate({body}, [0, 0, 0]).pixel; return [b.x + at[0], b.y + at[1]]; }})()"
    )
    return x, y
