"""Pages in a real browser: opened from disk, without network, seen, touched, and safe whatever a model is called."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

import kane
from browser import MISSING, chromium
from hanging import hanging_mass
from pages import STATE, open_page, place, state, wait_for, wait_until

SMALL = 1_000_000
"""Bytes of a page at most."""

DISPLACEMENT = 0.01
"""Relative error of where a dragged body comes to rest: what is left of a motion that dies out, and pixels."""

ROOM = 0.01
"""Of the picture, around the mechanism in the first frame."""

LEAST = 0.05
"""Of the picture, that the mechanism takes up at least: a ball that is thrown far."""

SHOWN = [
    "pendulum",
    "stanford-arm",
    "whipple-bicycle",
    "stewart-platform",
    "four-bar",
    "free-body",
    "rolling-disc",
    "cart-pole",
    "puma-560",
    "satellite-with-panels",
]

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)


def picture(page: Page) -> np.ndarray:
    """The canvas, (height, width, 3)."""
    box = page.evaluate(
        "(() => { const b = document.querySelector('kane-page').shadowRoot.querySelector('canvas')"
        ".getBoundingClientRect(); return { x: b.x, y: b.y, width: b.width, height: b.height }; })()"
    )
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB"), dtype=float)


def assert_inside(page: Page) -> None:
    """Nothing of the mechanism is cut off: all points of its bodies are in the picture, with room."""
    seen = page.evaluate("document.querySelector('kane-page').outline")
    points = np.array(seen["points"]) / [seen["width"], seen["height"]]
    assert points.min() >= ROOM and points.max() <= 1 - ROOM, (points.min(axis=0), points.max(axis=0))
    assert np.ptp(points, axis=0).max() >= LEAST, "and it is not too small to be seen"


def is_mechanism(seen: np.ndarray) -> np.ndarray:
    """Pixels that are dark or coloured: the floor, its shadows and the background are light and gray."""
    return (seen.max(axis=2) - seen.min(axis=2) > 45) | (seen.mean(axis=2) < 140)


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_is_one_file_that_asks_for_nothing_and_shows_the_mechanism_whole(
    name: str, browser: Browser, tmp_path: Path
) -> None:
    path = kane.load(name).page(tmp_path / "page.html")
    assert path.stat().st_size < SMALL
    page, told = open_page(browser, path)
    page.keyboard.press(" ")
    page.keyboard.press("r")
    page.wait_for_timeout(300)
    seen = is_mechanism(picture(page))
    assert state(page)["t"] == 0.0
    assert seen.mean() > 0.003, "the mechanism is seen in the first frame"
    edge = np.concatenate([seen[:2].ravel(), seen[-2:].ravel(), seen[:, :2].ravel(), seen[:, -2:].ravel()])
    assert not edge.any(), "and nothing of it is cut off"
    assert_inside(page)
    page.keyboard.press(" ")
    wait_until(page, 0.05)
    assert told == []
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("name", kane.models())
@pytest.mark.parametrize("size", [(1000, 640), (390, 760)])
def test_every_built_in_model_is_seen_whole(name: str, size: tuple[int, int], browser: Browser, tmp_path: Path) -> None:
    page, told = open_page(browser, kane.load(name).page(tmp_path / "page.html"))
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.keyboard.press(" ")
    page.keyboard.press("r")
    page.wait_for_timeout(300)
    assert_inside(page)
    for preset in "2345":
        page.keyboard.press(preset)
        page.wait_for_timeout(100)
        assert_inside(page)
    assert told == []
    page.close()


COUNTED = """(() => { window.instances = []; const kind = WebGL2RenderingContext.prototype;
const draw = kind.drawElementsInstanced;
kind.drawElementsInstanced = function (...x) {
  if (!document.querySelector('kane-page[ready]')) window.instances.push(x[4]);
  return draw.apply(this, x);
}; })()"""
"""Notes how many arrows and points are drawn at a time in the first frame."""


@pytest.mark.parametrize("name", ["bouncing-ball", "rolling-disc"])
def test_the_first_frame_has_no_arrows_or_points_without_a_force(name: str, browser: Browser, tmp_path: Path) -> None:
    path = kane.load(name).page(tmp_path / "page.html")
    page, _ = open_page(browser, path, script=COUNTED)
    assert page.evaluate("window.instances") == {"bouncing-ball": [], "rolling-disc": [1]}[name]
    page.close()


def test_a_dragged_body_rests_where_spring_weight_and_coupler_balance(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, hanging_mass().page(tmp_path / "page.html"))
    x, y = place(page, 0)
    start = state(page)["q"][0]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=5)
    wait_until(page, 6)
    held = state(page)
    stiffness, target = held["coupler"]["stiffness"], held["coupler"]["target"][2]
    grabbed = held["coupler"]["point"][2]
    rest = (stiffness * (target - grabbed) - 2 * 9.81) / (80 + stiffness)
    assert stiffness == pytest.approx(2 * 9.81 / (0.1 / 36), rel=1e-9), "its weight displaces it by 1/36 of its size"
    assert abs(rest - start) > 0.02, "it was moved"
    assert abs(held["q"][0] - rest) <= DISPLACEMENT * abs(rest - start)
    page.mouse.up()
    page.wait_for_timeout(200)
    assert state(page)["coupler"] is None
    page.close()


def test_names_of_a_model_are_text_whatever_they_are(browser: Browser, tmp_path: Path) -> None:
    hostile = "</script><script>window.taken=1</script><img src=x onerror=window.taken=2>"
    m = kane.Model(hostile, gravity=(0, 0, -9.81), about=hostile)
    m.body(hostile, mass=1, center=(0, 0, -1), inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("hinge", "revolute", "ground", hostile, axis="y", coordinates=["q"], speeds=["u"])
    page, told = open_page(browser, m.page(tmp_path / "page.html"))
    page.get_by_text("Show", exact=True).click()
    page.get_by_text("Labels").click()
    page.wait_for_timeout(300)
    root = "document.querySelector('kane-page').shadowRoot"
    assert page.evaluate("window.taken") is None
    assert page.evaluate(f"{root}.querySelector('.labels span').textContent") == hostile
    assert page.evaluate(f"{root}.querySelector('h1').textContent") == hostile
    assert page.evaluate(f"{root}.querySelectorAll('img, script').length") == 0
    assert told == []
    page.close()


def test_a_page_may_not_reach_out(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, kane.load("pendulum").page(tmp_path / "page.html"))
    tried = "fetch('http://127.0.0.1:9/').then(() => 'reached', (e) => e.name)"
    assert page.evaluate(tried) == "TypeError"
    policy = page.evaluate("document.querySelector('meta[http-equiv]').content")
    assert (
        "connect-src 'none'" in policy
        and "default-src 'none'" in policy
        and "unsafe-eval" not in policy.replace("'wasm-unsafe-eval'", "")
    )
    page.close()


def test_keys_play_step_and_reset(browser: Browser, tmp_path: Path) -> None:
    page, _ = open_page(browser, kane.load("pendulum").page(tmp_path / "page.html"))
    page.keyboard.press(" ")
    assert not state(page)["playing"]
    before = state(page)["t"]
    page.keyboard.press("ArrowRight")
    assert state(page)["t"] == pytest.approx(before + 1e-3, abs=1e-12)
    page.keyboard.press("r")
    assert state(page)["t"] == 0.0
    page.keyboard.press(" ")
    wait_until(page, 0.02)
    page.close()


def test_a_slider_changes_the_motion(browser: Browser, tmp_path: Path) -> None:
    m = kane.load("pendulum", free=["g"])
    page, _ = open_page(browser, m.page(tmp_path / "page.html", q={"q": 0.5}))
    page.keyboard.press(" ")
    page.keyboard.press("r")
    slider = page.locator("kane-page").locator(".slider input")
    slider.evaluate("(e) => { e.min = '0'; e.value = '0'; e.dispatchEvent(new Event('input')); }")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    found = state(page)
    run = m.simulate(0.02, method="rk4", step=1e-3, q={"q": 0.5}, parameters={"g": 0})
    assert found["q"][0] == pytest.approx(run.q[-1, 0], abs=1e-14)
    assert found["u"][0] == pytest.approx(run.u[-1, 0], abs=1e-14)
    page.close()


def test_an_arm_is_held_until_the_page_lets_it_go(browser: Browser, tmp_path: Path) -> None:
    m = kane.load("ur5")
    start = m.initial_state[0].tolist()
    law = kane.planning.ComputedTorque(start, stiffness=25.0, damping=10.0)
    page, told = open_page(browser, m.page(tmp_path / "page.html", control=law))
    wait_until(page, 0.3)
    assert state(page)["q"] == pytest.approx(start, abs=1e-9)
    page.locator("kane-page").locator("select[title='control law']").select_option(label="control: none")
    wait_until(page, state(page)["t"] + 0.3)
    assert np.abs(np.subtract(state(page)["q"], start)).max() > 0.05, "it falls"
    assert told == []
    page.close()


def test_dark_mode_and_a_phone_show_it_too(browser: Browser, tmp_path: Path) -> None:
    path = kane.load("double-pendulum").page(tmp_path / "page.html")
    page, told = open_page(browser, path, color_scheme="dark")
    assert picture(page)[2, 2].mean() < 60
    page.set_viewport_size({"width": 390, "height": 760})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    seen = picture(page)
    assert seen.shape[1] >= 380 and seen.shape[0] >= 200
    assert told == []
    page.close()


def test_a_recorded_motion_is_played(browser: Browser, tmp_path: Path) -> None:
    run = kane.load("four-bar").simulate(1.0)
    page, told = open_page(browser, run.page(tmp_path / "page.html"))
    page.keyboard.press(" ")
    page.keyboard.press("r")
    assert state(page)["q"] == pytest.approx(run.q[0].tolist(), abs=1e-15)
    page.keyboard.press("ArrowRight")
    assert state(page)["t"] == pytest.approx(1 / 60, rel=1e-9)
    assert told == []
    page.close()


SLOW_FRAMES = "(() => { window.requestAnimationFrame = (f) => setTimeout(() => f(performance.now()), 400); })()"
"""Frames that take 0.4 s each, as where there is no graphics processor and little else."""


def test_a_recorded_motion_is_tabled_whole_however_rare_frames_are(browser: Browser, tmp_path: Path) -> None:
    run = kane.load("pendulum").simulate(1.0)
    page, _ = open_page(browser, run.page(tmp_path / "page.html"), SLOW_FRAMES)
    wait_until(page, 0.99)
    with page.expect_download() as download:
        page.get_by_text("Download CSV").click()
    t = np.loadtxt(download.value.path(), delimiter=",", skiprows=1)[:, 0]
    assert len(t) >= 59 and np.diff(t) == pytest.approx(1 / 60, rel=1e-6)
    page.close()


@pytest.mark.parametrize("speed", ["1×", "0.05×"])
def test_the_motion_keeps_to_the_clock_however_long_frames_take(speed: str, browser: Browser, tmp_path: Path) -> None:
    page, told = open_page(browser, kane.load("double-pendulum").page(tmp_path / "page.html"))
    page.locator("kane-page").locator("select[title=speed]").select_option(label=speed)
    page.evaluate(SLOW_FRAMES)
    page.wait_for_timeout(800)
    both = f"{STATE}.then((state) => [state.t, performance.now() / 1000])"
    before = page.evaluate(both)
    page.wait_for_timeout(3000)
    after = page.evaluate(both)
    rate = (after[0] - before[0]) / (after[1] - before[1])
    assert rate == pytest.approx(float(speed[:-1]), rel=0.15)
    assert told == []
    page.close()


def test_a_camera_that_follows_is_back_at_the_start_at_once(browser: Browser, tmp_path: Path) -> None:
    page, told = open_page(browser, kane.load("rolling-disc").page(tmp_path / "page.html"))
    wait_until(page, 1.0)
    page.keyboard.press(" ")
    page.evaluate("(() => { window.requestAnimationFrame = () => 0; })()")  # no frame after this one
    page.wait_for_timeout(200)
    page.keyboard.press("r")
    assert state(page)["t"] == 0.0
    assert_inside(page)
    assert told == []
    page.close()


TOO_SHORT = 2e-8
"""Steps (s) that no machine takes as fast as the clock: 5 · 10⁷ of them in a second."""


def is_held(page: Page, body: int) -> bool:
    """Whether a body is held by the pointer that is put where it was last seen, and moved on."""
    x, y = place(page, body)
    page.mouse.up()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y, steps=4)
    return state(page)["coupler"] is not None


def test_a_motion_that_is_too_slow_says_so_and_answers_the_pointer(browser: Browser, tmp_path: Path) -> None:
    page, told = open_page(browser, kane.load("double-pendulum").page(tmp_path / "page.html", step=TOO_SHORT))
    root = "document.querySelector('kane-page').shadowRoot"
    page.wait_for_timeout(2500)
    note = page.evaluate(f"{root}.querySelector('.note').textContent")
    assert float(note.partition(" × real time")[0]) < 0.9, note
    wait_for(page, lambda: is_held(page, 1))  # it falls on while the pointer is on its way, and may be missed
    held, frames = state(page), page.evaluate("document.querySelector('kane-page').drawing.frames")
    page.wait_for_timeout(1500)
    assert page.evaluate("document.querySelector('kane-page').drawing.frames") > frames, "frames go on"
    assert state(page)["t"] > held["t"], "and so does the motion"
    page.mouse.up()
    page.keyboard.press(" ")
    assert state(page)["coupler"] is None and not state(page)["playing"]
    assert told == []
    page.close()


SHOWN_DIGITS = 5e-4
"""Relative error of forces of which four digits are shown."""


def test_forces_in_the_panel_are_components_in_N_with_their_signs(browser: Browser, tmp_path: Path) -> None:
    m = kane.load("four-bar")
    page, told = open_page(browser, m.page(tmp_path / "page.html"))
    for key in (" ", "r", "o"):
        page.keyboard.press(key)
    expected = m.simulate(0.01).reactions()["pin"].force[0]
    row = page.locator("table.forces tr").last

    def is_shown() -> bool:
        found = [float(text.replace("−", "-")) for text in row.locator("td").all_inner_texts()]
        return len(found) == 3 and np.abs(found - expected).max() <= SHOWN_DIGITS * np.abs(expected).max()

    wait_for(page, is_shown)  # on a busy machine a frame takes its time
    assert state(page)["t"] == 0.0 and row.locator("th").inner_text() == "pin" and told == []
    assert np.abs(expected).max() > 0.1 and expected.min() < 0, "and a sign is there to be lost"
