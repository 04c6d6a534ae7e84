"""One browser for all tests of pages that a process runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from browser import FLAGS, chromium


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as found:  # a process can have one only
        yield found


@pytest.fixture(scope="session")
def chrome(playwright: Playwright) -> Iterator[Browser]:
    found = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
    yield found
    found.close()


@pytest.fixture
def browser(chrome: Browser) -> Iterator[Browser]:
    """The browser without a page, before and after: one that is left open moves on and takes half a core."""
    yield chrome
    for context in chrome.contexts:
        context.close()
