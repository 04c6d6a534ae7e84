"""A model that runs in real time on this machine, pulled by a real mouse in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Playwright

from browser import FLAGS, MISSING, chromium
from hanging import hanging_mass
from kane.realtime.server import Play

DISPLACEMENT = 0.01
"""Relative error of where a dragged body comes to rest: what is left of a motion that dies out, and pixels."""

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)


def test_a_body_of_the_loop_follows_the_mouse_and_says_when_the_loop_has_ended(playwright: Playwright) -> None:
    element = "document.querySelector('kane-page')"
    flags = [flag for flag in FLAGS if "host-resolver" not in flag]
    browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
    page = browser.new_page(viewport={"width": 1000, "height": 640})
    told: list[str] = []
    page.on("pageerror", lambda e: told.append(str(e)))
    with Play(hanging_mass()) as play:
        page.goto(play.url)
        page.wait_for_selector("kane-page[ready]", timeout=60_000)
        box = page.evaluate(
            f"(() => {{ const b = {element}.shadowRoot.querySelector('canvas').getBoundingClientRect();"
            " return [b.x, b.y]; })()"
        )
        at = page.evaluate(f"{element}.locate(0, [0, 0, 0]).pixel")
        start = page.evaluate(f"{element}.state.q[0]")
        page.mouse.move(box[0] + at[0], box[1] + at[1])
        page.mouse.down()
        page.mouse.move(box[0] + at[0], box[1] + at[1] - 60, steps=5)
        page.wait_for_timeout(5000)
        held = page.evaluate(f"{element}.state")
        stiffness, target = held["coupler"]["stiffness"], held["coupler"]["target"][2]
        rest = (stiffness * (target - held["coupler"]["point"][2]) - 2 * 9.81) / (80 + stiffness)
        assert abs(rest - start) > 0.02, "it was moved"
        assert abs(held["q"][0] - rest) <= DISPLACEMENT * abs(rest - start)
        page.mouse.up()
    page.wait_for_timeout(500)
    assert "has ended" in page.evaluate(f"{element}.state.stopped")
    assert told == []
    browser.close()
