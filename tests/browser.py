"""The browser that tests of pages use: Chromium as the system has it. Run as a script, it says if there is none."""

from __future__ import annotations

import shutil

FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
"""No sandbox, since tests may run as root; drawing by software; no name is resolved."""

MISSING = "tests in a browser (tests/web) are left out: no chromium on this machine (Debian: apt install chromium)"


def chromium() -> str | None:
    """Where Chromium is; None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


if __name__ == "__main__" and chromium() is None:
    print(MISSING)
