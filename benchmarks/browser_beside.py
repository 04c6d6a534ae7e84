"""A page that simulates and draws in a browser while something else is measured: what a desktop has to do besides."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import kane

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-port=0",
)


@contextmanager
def page_beside(model: kane.Model) -> Iterator[str]:
    """A page of the model, open as long as this lasts; says in words whether there is a browser for it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        yield "no page beside it, for want of a browser"
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "page.html"
        model.page(page)
        command = [browser, *FLAGS, f"--user-data-dir={folder}/profile", page.as_uri()]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield "a page open beside it"
        finally:
            process.terminate()
            process.wait()
