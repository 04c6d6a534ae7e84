"""Curves and the CSV of a page that simulates: the same rows, to the bit, however rare its frames are."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

import kane
import node
from browser import MISSING, chromium
from pages import open_page, wait_until

SPACING = 0.005
"""Seconds between two rows, as docs/page.md has it."""

ROUNDED = 1e-9
"""Relative error of times and speeds against the closed form: integration is exact for free fall, but for rounding."""

COMPARED = 0.6
"""Seconds of the motion of which tables are compared, with one impact."""

RARE = "(() => { window.requestAnimationFrame = (f) => setTimeout(() => f(performance.now()), 400); })()"
"""Frames that take 0.4 s each."""


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kane.load("bouncing-ball").page(tmp_path_factory.mktemp("pages") / "page.html")


def test_rows_are_those_of_a_native_run_whenever_frames_are_asked_for(ball: Path) -> None:
    often, rarely = map(json.loads, node.run("tests/run_samples.mjs", ball, "1", "1", "55").splitlines())
    assert often == rarely
    rows = np.loadtxt(io.StringIO(often), delimiter=",", skiprows=1)
    run = kane.load("bouncing-ball").simulate(1.0, method="rk4", step=1e-3)
    native = set(map(tuple, np.column_stack([run.t, run.q, run.u]).tolist()))
    assert set(map(tuple, rows.tolist())) <= native
    t, z, v = rows.T
    impact = math.sqrt(2 / 9.81)
    (before,) = np.flatnonzero(np.diff(t) == 0.0)
    assert t[before] == pytest.approx(impact, rel=ROUNDED) and z[before] == pytest.approx(0.0, abs=ROUNDED)
    assert v[before : before + 2] == pytest.approx([-9.81 * impact, 0.9 * 9.81 * impact], rel=ROUNDED)
    for part in (t[:before], t[before + 1 :]):
        assert np.diff(part) == pytest.approx(SPACING, rel=ROUNDED)


@pytest.mark.skipif(chromium() is None, reason=MISSING)
def test_the_table_of_a_page_does_not_depend_on_its_frames(browser: Browser, ball: Path) -> None:
    opened = [open_page(browser, ball, script) for script in ("", RARE)]
    tables: list[list[str]] = []
    for page, told in opened:
        page.wait_for_timeout(300)  # without asking for frames
        wait_until(page, COMPARED)
        with page.expect_download() as download:
            page.locator("kane-page").get_by_text("Download CSV").click()
        tables.append(Path(download.value.path()).read_text().splitlines())
        assert told == []
        page.close()
    often, rarely = ([line for line in table[1:] if float(line.split(",")[0]) < COMPARED] for table in tables)
    fallen = math.sqrt(2 / 9.81)
    assert often == rarely
    assert len(often) == 1 + int(fallen / SPACING) + 2 + int((COMPARED - fallen) / SPACING)
